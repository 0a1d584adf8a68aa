//! Settings in the config.

use crate::config::field::section;

section! {
    /// Settings of Cilium.
    struct Cilium {
        /// Whether the operator runs.
        operator_enabled: Option<bool> [not_rendered];
        /// Whether Cilium takes over from kube-proxy.
        kube_proxy_replacement: Option<bool> [not_rendered];
        /// Source of the provisioning module.
        module_source: Option<String> [not_rendered];
    }
}
