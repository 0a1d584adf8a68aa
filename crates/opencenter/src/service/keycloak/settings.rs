//! Settings in the config.

use crate::{
    config::{CacheStack, LogFormat, LogLevel, field::section, format::Format},
    finding::Code,
};

section! {
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
}
