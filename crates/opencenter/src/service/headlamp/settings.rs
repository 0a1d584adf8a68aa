//! Settings in the config.

use crate::config::{field::section, format::Format};

section! {
    /// Settings of Headlamp.
    struct Headlamp {
        /// Host name of the dashboard.
        hostname: String [rule("`headlamp.<cluster_fqdn>`"), format(Format::DnsName)];
        /// Address of the OIDC issuer.
        oidc_issuer_url: Option<String> [rule("the realm of Keycloak"), format(Format::Url)];
        /// Client at the issuer.
        oidc_client_id: String [word("opencenter"), format(Format::Line)];
    }
}
