//! Settings of metrics, logs, traces and alerts.

use std::collections::BTreeMap;

use super::choices::{CollectorMode, ExporterType, StorageType};
use crate::{
    config::{field::section, format::Format},
    finding::Code,
};

section! {
    /// Settings of Loki.
    struct Loki {
        /// Kind of the object store.
        storage_type: StorageType [word("s3"), code(Code::Oc3131), advertise(&["s3", "swift"])];
        /// Bucket for logs.
        bucket_name: String [rule("`<name>-loki`"), format(Format::Line)];
        /// Size of the volume in GB.
        volume_size: Option<i64> [minimum(0), code(Code::Oc3137)];
        /// Storage class of the volume.
        storage_class: Option<String> [format(Format::DnsName)];
        /// Identity address of Swift, ending in /v3.
        swift_auth_url: Option<String> [required_when("storage is swift"), format(Format::Url)];
        /// Region of Swift.
        swift_region: String [rule("`opencenter.meta.region`"), format(Format::Line)];
        /// Version of the Swift identity protocol.
        swift_auth_version: i64 [number(3)];
        /// Id of the application credential.
        swift_application_credential_id: Option<String> [required_when("storage is swift"), format(Format::Line)];
        /// Container for logs.
        swift_container_name: String [rule("`bucket_name`"), format(Format::Line)];
        /// Domain of the Swift user.
        swift_user_domain_name: Option<String> [format(Format::Line)];
        /// Domain of the Swift project.
        swift_domain_name: Option<String> [format(Format::Line)];
        /// Address of the S3 store.
        s3_endpoint: String [rule("`https://swift.api.<region>.rackspacecloud.com`"), format(Format::Line)];
        /// Region of the S3 store.
        s3_region: String [rule("`opencenter.meta.region`"), format(Format::Line)];
        /// Whether buckets are part of the path instead of the host.
        s3_force_path_style: bool [flag(false)];
        /// Whether the S3 store is spoken to without TLS.
        s3_insecure: bool [flag(false)];
    }

    /// Settings of Tempo.
    struct Tempo {
        /// Kind of the object store.
        storage_type: StorageType [word("s3"), code(Code::Oc3131), advertise(&["s3", "swift"])];
        /// Bucket for traces.
        bucket_name: String [rule("`<name>-tempo`"), format(Format::Line)];
        /// Size of the volume in GB.
        volume_size: Option<i64> [minimum(0), code(Code::Oc3137)];
        /// Storage class of the volume.
        storage_class: Option<String> [format(Format::DnsName)];
        /// Identity address of Swift, ending in /v3.
        swift_auth_url: Option<String> [required_when("storage is swift"), format(Format::Url)];
        /// Region of Swift.
        swift_region: String [rule("`opencenter.meta.region`"), format(Format::Line)];
        /// Version of the Swift identity protocol.
        swift_auth_version: i64 [number(3)];
        /// Id of the application credential.
        swift_application_credential_id: Option<String> [required_when("storage is swift"), format(Format::Line)];
        /// Container for traces.
        swift_container_name: String [rule("`bucket_name`"), format(Format::Line)];
        /// Domain of the Swift user.
        swift_user_domain_name: Option<String> [format(Format::Line)];
        /// Domain of the Swift project.
        swift_domain_name: Option<String> [format(Format::Line)];
        /// Host of the S3 store.
        s3_endpoint: String [rule("`swift.api.<region>.rackspacecloud.com`"), format(Format::Line)];
        /// Region of the S3 store.
        s3_region: String [rule("`opencenter.meta.region`"), format(Format::Line)];
        /// Whether buckets are part of the path instead of the host.
        s3_force_path_style: bool [flag(false)];
        /// Whether the S3 store is spoken to without TLS.
        s3_insecure: bool [flag(false)];
    }

    /// Settings of the OpenTelemetry stack.
    struct OpenTelemetry {
        /// How collectors run.
        collector_mode: CollectorMode [word("deployment")];
        /// Number of collectors.
        collector_replicas: i64 [number(1), minimum(0)];
        /// Exporters beside the built-in ones.
        exporters: Vec<Exporter>;
        /// Processors beside the built-in ones.
        processors: Vec<String> [format(Format::Line)];
    }

    /// An exporter of the collectors.
    struct Exporter {
        /// Name of the exporter.
        name: Option<String> [required, format(Format::Line)];
        /// Kind of the exporter.
        kind as "type": Option<ExporterType> [required];
        /// Where data are sent.
        endpoint: Option<String> [format(Format::Line)];
        /// Headers that are sent along.
        headers: BTreeMap<String, String>;
    }

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

    /// Settings of the alert proxy.
    struct AlertProxy {
        /// Address of the Alertmanager API.
        alert_manager_base_url: Option<String>
            [rule("the Alertmanager of this cluster, if it is active"), format(Format::Url)];
        /// Host name that alerts arrive at.
        http_route_fqdn: Option<String> [format(Format::DnsName)];
    }
}
