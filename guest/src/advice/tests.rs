mod devices;
mod support;
