//! Settings in the config.

use crate::{
    config::{field::section, format::Format},
    finding::Code,
};

section! {
    /// Settings of Kube-OVN.
    struct KubeOvn {
        /// Whether it runs together with Cilium.
        cilium_integration: Option<bool> [not_rendered];
        /// Network of pods without a subnet of their own.
        default_subnet: Option<String> [format(Format::CidrV4), code(Code::Oc3162), not_rendered];
        /// Version of Kube-OVN.
        version: Option<String> [not_rendered];
        /// Whether the built-in load balancer is on.
        enable_lb: Option<bool> [not_rendered];
    }
}
