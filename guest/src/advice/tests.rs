mod devices;
mod references;
mod support;
