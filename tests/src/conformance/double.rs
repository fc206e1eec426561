//! The API server and the caches of the recordings.
