//! CEL as Kubernetes speaks it in device selectors.
