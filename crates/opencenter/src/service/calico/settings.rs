//! Settings in the config.

use crate::config::{field::section, format::Format};

section! {
    /// Settings of Calico.
    struct Calico {
        /// Host of the API server for Calico.
        kube_api_server: Option<String> [format(Format::Line)];
    }
}
