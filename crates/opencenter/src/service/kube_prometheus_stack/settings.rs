//! Settings in the config.

use crate::{
    config::{field::section, format::Format},
    finding::Code,
};

section! {
    /// Settings of the Prometheus stack.
    struct PrometheusStack {
        /// Host name of Grafana.
        hostname: String [rule("`grafana.<cluster_fqdn>`"), format(Format::DnsName)];
        /// Host name of Prometheus.
        prometheus_hostname: String [rule("`prometheus.<cluster_fqdn>`"), format(Format::DnsName)];
        /// Host name of Alertmanager.
        alertmanager_hostname: String [rule("`alertmanager.<cluster_fqdn>`"), format(Format::DnsName)];
        /// Size of Grafana's volume in GB.
        grafana_volume_size: Option<i64> [minimum(0), code(Code::Oc3152)];
        /// Storage class of Grafana's volume.
        grafana_storage_class: Option<String> [format(Format::DnsName)];
        /// Size of Prometheus' volume in GB.
        prometheus_volume_size: Option<i64> [minimum(0), code(Code::Oc3152)];
        /// Storage class of Prometheus' volume.
        prometheus_storage_class: Option<String> [format(Format::DnsName)];
        /// Size of Alertmanager's volume in GB.
        alertmanager_volume_size: Option<i64> [minimum(0), code(Code::Oc3152)];
        /// Storage class of Alertmanager's volume.
        alertmanager_storage_class: Option<String> [format(Format::DnsName)];
        /// Address that warnings are sent to.
        webhook_url: Option<String> [format(Format::Url)];
        /// Whether Alertmanager asks for sign-in.
        alertmanager_policy_enabled: bool [flag(true)];
        /// Whether Prometheus asks for sign-in.
        prometheus_policy_enabled: bool [flag(true)];
        /// Whether Grafana offers sign-in with OAuth.
        grafana_oauth_enabled: bool [flag(false)];
        /// Whether dashboards about Flux are rendered.
        flux_dashboards_enabled: bool [flag(false)];
    }
}
