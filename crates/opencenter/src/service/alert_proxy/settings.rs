//! Settings in the config.

use crate::config::{field::section, format::Format};

section! {
    /// Settings of the alert proxy.
    struct AlertProxy {
        /// Address of the Alertmanager API.
        alert_manager_base_url: Option<String>
            [rule("the Alertmanager of this cluster, if it is active"), format(Format::Url)];
        /// Host name that alerts arrive at.
        http_route_fqdn: Option<String> [format(Format::DnsName)];
    }
}
