//! Settings of networks, gateways and certificates.

use super::choices::{DnsProvider, IssuerType, ListenerProtocol};
use crate::{
    config::{field::section, format::Format},
    finding::Code,
};

section! {
    /// Settings of Calico.
    struct Calico {
        /// Host of the API server for Calico.
        kube_api_server: Option<String> [format(Format::Line)];
    }

    /// Settings of Cilium.
    struct Cilium {
        /// Whether the operator runs.
        operator_enabled: Option<bool> [not_rendered];
        /// Whether Cilium takes over from kube-proxy.
        kube_proxy_replacement: Option<bool> [not_rendered];
        /// Source of the provisioning module.
        module_source: Option<String> [not_rendered];
    }

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

    /// Settings of cert-manager.
    struct CertManager {
        /// Directory address of the ACME server.
        letsencrypt_server: String [word("https://acme-v02.api.letsencrypt.org/directory")];
        /// Address for notices of the ACME server.
        email: String [word("mpk-support@rackspace.com")];
        /// Region of Route 53 credentials that do not name one.
        region: String [word("us-east-1"), format(Format::Line)];
        /// Zones of issuers whose credential names none.
        dns_zones: Vec<String> [format(Format::DnsName)];
        /// Whether ACME issuers are rendered.
        create_cluster_issuer: bool [flag(true)];
        /// Further issuers.
        issuers: Vec<Issuer>;
        /// Who serves the DNS zones; `designate` renders its issuer.
        dns_provider: Option<DnsProvider>;
        /// Whether the internal CA is rendered.
        internal_ca_enabled: bool [flag(true)];
    }

    /// A further issuer.
    struct Issuer {
        /// Name of the issuer.
        name: Option<String> [required, missing(Code::Oc3104), format(Format::DnsName)];
        /// Kind of the issuer.
        kind as "type": Option<IssuerType> [required, missing(Code::Oc3104)];
        /// Directory address of its ACME server.
        server: Option<String> [format(Format::Url)];
    }

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

    /// Settings of MetalLB.
    struct MetalLb {
        /// Pools of addresses for load balancers.
        ip_address_pools: Vec<AddressPool>;
        /// Which pools are announced where; absent means all of them everywhere.
        l2_advertisements: Vec<L2Advertisement>;
    }

    /// A pool of addresses.
    struct AddressPool {
        /// Name of the pool.
        name: Option<String> [required, missing(Code::Oc3154), format(Format::DnsName)];
        /// Ranges `a-b`, networks, or single addresses.
        addresses: Vec<String> [required, missing(Code::Oc3154)];
        /// Whether services get addresses of this pool without asking.
        auto_assign: bool [flag(true)];
    }

    /// Which pools are announced where.
    struct L2Advertisement {
        /// Name of the advertisement.
        name: Option<String> [required, format(Format::DnsName)];
        /// Pools; absent means all.
        ip_address_pools: Vec<String> [format(Format::DnsName)];
        /// Network interfaces; absent means all.
        interfaces: Vec<String> [format(Format::Line)];
    }
}
