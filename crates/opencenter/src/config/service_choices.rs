//! The words that settings of services take.

use crate::config::field::choice;

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
