//! The typed settings of each catalog service, beyond the fields that all services share.

mod choices;
mod identity;
mod network;
mod observability;
mod storage;

pub use choices::*;
pub use identity::*;
pub use network::*;
pub use observability::*;
pub use storage::*;

use super::{field::section, format::Format};

section! {
    /// Services without settings of their own.
    struct NoSettings {
    }

    /// Settings of Weave GitOps.
    struct WeaveGitops {
        /// Host name of the user interface.
        hostname: String [rule("`gitops.<cluster_fqdn>`"), format(Format::DnsName)];
    }
}
