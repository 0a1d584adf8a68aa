//! Settings in the config.

use crate::config::{field::section, format::Format};

section! {
    /// Settings of Weave GitOps.
    struct WeaveGitops {
        /// Host name of the user interface.
        hostname: String [rule("`gitops.<cluster_fqdn>`"), format(Format::DnsName)];
    }
}
