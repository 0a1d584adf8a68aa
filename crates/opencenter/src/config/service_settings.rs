//! The typed settings of each catalog service, beyond the fields that all services share.

use std::collections::BTreeMap;

use super::{
    field::{Literal, choice, section},
    format::Format,
};
use crate::finding::Code;

section! {
    /// Services without settings of their own.
    struct NoSettings {
    }

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

    /// Settings of Harbor.
    struct Harbor {
        /// Host name of the registry.
        hostname: String [rule("`harbor.<cluster_fqdn>`"), format(Format::DnsName)];
        /// Address of the registry as clients see it.
        external_url: String [rule("`https://<hostname>`")];
        /// Where images are kept.
        storage_type: HarborStorage [word("s3")];
        /// Size of the registry volume in GB.
        registry_volume_size: i64 [number(100), minimum(0), code(Code::Oc3144)];
        /// Bucket for images.
        s3_bucket: String [rule("`<cluster_name>-harbor`"), format(Format::Line)];
        /// Region of the bucket.
        s3_region: String [rule("`opencenter.meta.region` in upper case"), format(Format::Line)];
        /// Where the database runs.
        database_type: DatabaseType [word("internal")];
        /// Host of the external database.
        database_host: Option<String> [required_when("the database is external"), format(Format::Line)];
        /// Port of the external database.
        database_port: Option<i64> [required_when("the database is external")];
        /// Name of the external database.
        database_name: Option<String> [required_when("the database is external"), format(Format::Line)];
        /// User of the external database.
        database_user: Option<String> [required_when("the database is external"), format(Format::Line)];
        /// Whether a certificate is rendered.
        emit_certificate: bool [flag(false)];
    }

    /// Settings of Headlamp.
    struct Headlamp {
        /// Host name of the dashboard.
        hostname: String [rule("`headlamp.<cluster_fqdn>`"), format(Format::DnsName)];
        /// Address of the OIDC issuer.
        oidc_issuer_url: Option<String> [rule("the realm of Keycloak"), format(Format::Url)];
        /// Client at the issuer.
        oidc_client_id: String [word("opencenter"), format(Format::Line)];
    }

    /// Settings of Keycloak.
    struct Keycloak {
        /// Host name of Keycloak.
        hostname: String [rule("`auth.<cluster_fqdn>`"), format(Format::DnsName)];
        /// Address of Keycloak as browsers see it.
        frontend_url: Option<String>;
        /// Name of the realm.
        realm: String [word("opencenter"), format(Format::Line)];
        /// Client of the cluster's services.
        client_id: String [word("opencenter"), format(Format::Line)];
        /// Whether the realm is imported.
        realm_import_enabled: bool [flag(true)];
        /// Groups beside the built-in ones.
        realm_groups: Vec<String> [format(Format::Line)];
        /// Address of the first administrator.
        realm_admin_email: Option<String> [format(Format::Email)];
        /// Whether the server starts from an optimized image.
        start_optimized: bool [flag(true)];
        /// Whether the distributed cache is on.
        cache_enabled: bool [flag(true)];
        /// The cache.
        cache_stack: CacheStack [word("ispn"), code(Code::Oc3119)];
        /// Requested processor time of each instance.
        resource_requests_cpu: String [word("2"), format(Format::Line)];
        /// Requested memory of each instance.
        resource_requests_memory: String [word("1250M"), format(Format::Line)];
        /// Largest processor time of each instance.
        resource_limits_cpu: String [word("6"), format(Format::Line)];
        /// Largest memory of each instance.
        resource_limits_memory: String [word("2250M"), format(Format::Line)];
        /// Number of instances.
        instances: i64 [number(3)];
        /// Fewest instances when autoscaling; autoscaling needs both bounds.
        min_replicas: Option<i64>;
        /// Most instances when autoscaling.
        max_replicas: Option<i64>;
        /// Host of an external database.
        database_host: Option<String> [format(Format::Line)];
        /// Port of the database.
        database_port: i64 [number(5432), minimum(1), maximum(65535)];
        /// Name of the database.
        database_name: Option<String> [format(Format::Line)];
        /// User of the database.
        database_user: Option<String> [format(Format::Line)];
        /// Fewest connections in the pool.
        db_pool_min_size: i64 [number(30)];
        /// Connections in the pool at the start.
        db_pool_initial_size: i64 [number(30)];
        /// Most connections in the pool.
        db_pool_max_size: i64 [number(30)];
        /// Whether metrics are served.
        metrics_enabled: bool [flag(true)];
        /// Whether user events are counted.
        event_metrics_enabled: bool [flag(true)];
        /// Whether health is served.
        health_enabled: bool [flag(true)];
        /// Detail of the log.
        log_level: LogLevel [word("INFO"), code(Code::Oc3119)];
        /// Form of the log.
        log_format: LogFormat [word("json"), code(Code::Oc3119)];
        /// Secret with the certificate.
        tls_secret_name: String [word("keycloak-tls-secret"), format(Format::DnsName)];
        /// Whether Keycloak itself serves TLS.
        tls_enabled: bool [flag(true)];
        /// Whether realms are backed up.
        backup_enabled: bool [flag(false)];
        /// When realms are backed up.
        backup_schedule: String [word("0 2 * * *")];
        /// Host of the mail server.
        smtp_host: Option<String> [format(Format::Line)];
        /// Port of the mail server.
        smtp_port: i64 [number(587), minimum(1), maximum(65535)];
        /// Sender of mails.
        smtp_from: Option<String> [format(Format::Email)];
        /// Whether mails are sent over TLS.
        smtp_starttls: bool [flag(true)];
        /// Whether the version of the operator is fixed.
        pin_operator_version: bool [rule("true in region ord1")];
        /// Version of the operator, if it is fixed.
        operator_csv: String [word("keycloak-operator.v26.4.2"), format(Format::DnsName)];
        /// Whether the bindings below are rendered.
        emit_rbac_users: bool [flag(false)];
        /// Roles of groups.
        rbac_bindings: Vec<RbacBinding>;
    }

    /// A role of a group.
    struct RbacBinding {
        /// Name of the binding.
        name: Option<String> [required, format(Format::DnsName)];
        /// Group in the realm.
        group: Option<String> [required, format(Format::Line)];
        /// Role in the cluster.
        cluster_role: Option<String> [required, format(Format::Line)];
        /// Namespace in which the role holds; absent means everywhere.
        namespace: Option<String> [format(Format::DnsLabel)];
    }

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

    /// Settings of Longhorn. Only what is set is written to the chart's values.
    struct Longhorn {
        /// Host name of the user interface.
        hostname: String [rule("`longhorn.<cluster_fqdn>`"), format(Format::DnsName)];
        /// Number of replicas of a volume.
        default_replica_count: Option<i64> [chart(Literal::Number(3)), minimum(1)];
        /// Directory on the nodes.
        default_data_path: Option<String> [chart(Literal::Word("/var/lib/longhorn")), format(Format::Line)];
        /// How far storage may be promised beyond what is there, in percent.
        storage_over_provisioning_percentage: Option<i64> [chart(Literal::Number(200)), minimum(0)];
        /// Share of a disk that stays free, in percent.
        storage_minimal_available_percentage: Option<i64> [chart(Literal::Number(25)), minimum(0), maximum(100)];
        /// Address of the backup store.
        backup_target: Option<String> [format(Format::Line)];
        /// Secret for the backup store.
        backup_target_credential_secret: Option<String> [format(Format::DnsName)];
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

    /// Settings of Velero.
    struct Velero {
        /// Bucket for backups.
        backup_bucket: String [rule("`<name>-velero`"), format(Format::Line)];
        /// Region of the bucket.
        region: Option<String> [format(Format::Line)];
        /// Kind of the object store.
        storage_type: StorageType [rule("swift on openstack, else s3")];
        /// Whether rights for snapshots are rendered.
        emit_snapshot_rbac: bool [flag(false)];
    }

    /// Settings of the vSphere storage driver.
    struct VSphereCsi {
        /// Storage classes.
        storage_classes: Vec<StorageClass>;
        /// Which of the two classes of older files are rendered, if no classes are listed.
        reclaim_policy: ReclaimSelection [word("Retain")];
    }

    /// A storage class on vSphere.
    struct StorageClass {
        /// Name of the class.
        name: Option<String> [required, format(Format::DnsName)];
        /// Datastore of the volumes.
        datastore_url: Option<String> [required, missing(Code::Oc3160)];
        /// What happens to a volume that is no longer claimed.
        reclaim_policy: ReclaimPolicy [word("Retain")];
        /// When a volume is made.
        volume_binding_mode: BindingMode [word("Immediate")];
        /// Whether volumes may grow.
        allow_expansion: bool [flag(true)];
    }

    /// Settings of the etcd backup.
    struct EtcdBackup {
        /// Address of the S3 store.
        s3_host: String [rule("`https://swift.api.<region>.rackspacecloud.com`"), format(Format::Line)];
        /// Region of the S3 store.
        s3_region: String [rule("`opencenter.meta.region`"), format(Format::Line)];
    }

    /// Settings of Weave GitOps.
    struct WeaveGitops {
        /// Host name of the user interface.
        hostname: String [rule("`gitops.<cluster_fqdn>`"), format(Format::DnsName)];
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

choice! {
    /// Kind of a further issuer.
    enum IssuerType {
        /// An ACME issuer.
        Letsencrypt = "letsencrypt",
        /// An issuer that signs with the certificate's own key.
        Selfsigned = "selfsigned",
        /// An issuer that signs with the internal CA.
        Ca = "ca",
    }

    /// Who serves the DNS zones.
    enum DnsProvider {
        /// AWS Route 53.
        Route53 = "route53",
        /// OpenStack Designate.
        Designate = "designate",
        /// Cloudflare.
        Cloudflare = "cloudflare",
        /// Google Cloud DNS.
        Clouddns = "clouddns",
        /// Azure DNS.
        Azuredns = "azuredns",
    }

    /// Protocol of a listener.
    enum ListenerProtocol {
        /// Plain HTTP.
        Http = "HTTP",
        /// HTTP over TLS.
        Https = "HTTPS",
    }

    /// Where Harbor keeps images.
    enum HarborStorage {
        /// In a volume.
        Filesystem = "filesystem",
        /// In an S3 store.
        S3 = "s3",
        /// In OpenStack Swift.
        Swift = "swift",
    }

    /// Where a database runs.
    enum DatabaseType {
        /// Beside the service.
        Internal = "internal",
        /// Elsewhere.
        External = "external",
    }

    /// The cache of Keycloak.
    enum CacheStack {
        /// Infinispan with its own discovery.
        Ispn = "ispn",
        /// Infinispan with discovery by Kubernetes.
        Kubernetes = "kubernetes",
    }

    /// Detail of a log.
    enum LogLevel {
        /// What happens.
        Info = "INFO",
        /// Details.
        Debug = "DEBUG",
        /// What may be wrong.
        Warn = "WARN",
        /// What is wrong.
        Error = "ERROR",
        /// All details.
        Trace = "TRACE",
    }

    /// Form of a log.
    enum LogFormat {
        /// For machines.
        Json = "json",
        /// For people.
        Default = "default",
    }

    /// Kind of an object store.
    enum StorageType {
        /// S3.
        S3 = "s3",
        /// OpenStack Swift.
        Swift = "swift",
        /// Google Cloud Storage.
        Gcs = "gcs",
        /// Azure Blob Storage.
        Azure = "azure",
    }

    /// How collectors run.
    enum CollectorMode {
        /// Some of them, anywhere.
        Deployment = "deployment",
        /// One on each node.
        Daemonset = "daemonset",
        /// Some of them, with names.
        Statefulset = "statefulset",
    }

    /// Kind of an exporter.
    enum ExporterType {
        /// OpenTelemetry protocol.
        Otlp = "otlp",
        /// Prometheus.
        Prometheus = "prometheus",
        /// Jaeger.
        Jaeger = "jaeger",
    }

    /// What happens to a volume that is no longer claimed.
    enum ReclaimPolicy {
        /// It stays.
        Retain = "Retain",
        /// It goes.
        Delete = "Delete",
    }

    /// Which of the two storage classes of older files are rendered.
    enum ReclaimSelection {
        /// The one that keeps volumes.
        Retain = "Retain",
        /// The one that deletes volumes.
        Delete = "Delete",
        /// Both.
        Both = "Both",
    }

    /// When a volume is made.
    enum BindingMode {
        /// At once.
        Immediate = "Immediate",
        /// When a pod needs it.
        WaitForFirstConsumer = "WaitForFirstConsumer",
    }
}
