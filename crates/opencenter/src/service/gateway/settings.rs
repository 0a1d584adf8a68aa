//! Settings in the config.

#![expect(clippy::struct_field_names, reason = "the names of the config")]

use crate::config::{ListenerProtocol, field::section, format::Format};

section! {
    /// Settings of the shared gateway.
    struct Gateway {
        /// Name of the Gateway.
        gateway_name: String [word("rmpk-gateway"), format(Format::DnsName)];
        /// Namespace of the Gateway.
        gateway_namespace: String [word("rackspace-system"), format(Format::DnsLabel)];
        /// Name of the GatewayClass.
        gateway_class: String [word("eg"), format(Format::DnsName)];
        /// Issuer of the listeners' certificates.
        default_issuer: Option<String>
            [rule("the only ACME issuer that is rendered, else letsencrypt-default"), format(Format::DnsName)];
        /// Listeners beside the generated ones.
        listeners: Vec<Listener>;
    }

    /// A listener of the gateway.
    struct Listener {
        /// Name of the listener.
        name: Option<String> [required, format(Format::DnsName)];
        /// Port of the listener.
        port: Option<i64> [required, minimum(1), maximum(65535)];
        /// Protocol of the listener.
        protocol: Option<ListenerProtocol> [required];
        /// Host name that the listener answers for.
        hostname: Option<String> [format(Format::Line)];
        /// Secret with the certificate.
        tls_secret_name: Option<String> [required_when("the protocol is HTTPS"), format(Format::DnsName)];
    }
}
