//! `Database`: where facts, catalogs and reports are stored.

use k8s_openapi::{
    api::core::v1::ResourceRequirements, apimachinery::pkg::apis::meta::v1::Condition,
};
use kube::CustomResource;

use super::shared::{DisruptionBudgetSpec, ImageSpec, NetworkPolicySpec, Texts, WorkloadPhase};
use crate::{absence::absent_spec_is_empty, condition, embedded, object::object, word::word};

object! {
    /// What runs, and on which PostgreSQL.
    #[derive(CustomResource)]
    #[kube(
        group = "openvox.voxpupuli.org",
        version = "v1alpha1",
        kind = "Database",
        plural = "databases",
        singular = "database",
        shortname = "db",
        namespaced,
        status = "DatabaseStatus",
        derive = "Default",
        derive = "PartialEq",
        doc = "Pods of the database program, which keeps facts, catalogs and reports in PostgreSQL.",
        annotation("controller-gen.kubebuilder.io/version", "v0.20.1"),
        printcolumn = r#"{"name": "CertificateRef", "type": "string", "jsonPath": ".spec.certificateRef"}"#,
        printcolumn = r#"{"name": "Replicas", "type": "integer", "jsonPath": ".spec.replicas"}"#,
        printcolumn = r#"{"name": "Ready", "type": "integer", "jsonPath": ".status.ready"}"#,
        printcolumn = r#"{"name": "Phase", "type": "string", "jsonPath": ".status.phase"}"#,
        printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
    )]
    #[serde(remote = "Self")]
    pub struct DatabaseSpec {
        required {
            /// The Certificate.
            certificate_ref: String,

            /// Image of the pods.
            image: ImageSpec,

            /// The PostgreSQL server.
            postgres: PostgresSpec,
        }
        optional {
            /// Memory and processor time.
            #[schemars(schema_with = "embedded::value::<ResourceRequirements>")]
            resources: ResourceRequirements,

            /// Number of pods. Absent: 1.
            #[schemars(extend("default" = 1))]
            replicas: Option<i32>,

            /// Arguments of the virtual machine.
            java_args: String,

            /// How many pods may be taken away at a time.
            pdb: DisruptionBudgetSpec,

            /// Who may connect.
            network_policy: NetworkPolicySpec,

            /// Priority of the pods.
            priority_class_name: String,

            /// The Service.
            service: DatabaseService,
        }
    }
}

absent_spec_is_empty!(DatabaseSpec);

object! {
    /// A database of a PostgreSQL server.
    pub struct PostgresSpec {
        required {
            /// Its host.
            host: String,

            /// Secret with `username` and `password`.
            credentials_secret_ref: String,
        }
        optional {
            /// Its port.
            #[schemars(extend("default" = 5432))]
            port: i32,

            /// Name of the database.
            #[schemars(extend("default" = "openvoxdb"))]
            database: String,

            /// Whether and how the connection is encrypted.
            #[schemars(extend("default" = "require"))]
            ssl_mode: SslMode,
        }
    }
}

word! {
    /// Whether and how a connection to PostgreSQL is encrypted.
    pub enum SslMode {
        /// Never.
        Disable = "disable",
        /// If the server insists.
        Allow = "allow",
        /// If the server can.
        Prefer = "prefer",
        /// Always, with whoever answers.
        Require = "require",
        /// Always, with a server that a known authority signed.
        VerifyCa = "verify-ca",
        /// Always, with the server of that name.
        VerifyFull = "verify-full",
    }
}

object! {
    /// The Service of a database.
    pub struct DatabaseService {
        optional {
            /// Its type.
            #[serde(rename = "type")]
            #[schemars(extend("default" = "ClusterIP"))]
            service_type: String,

            /// Its port.
            #[schemars(extend("default" = 8081))]
            port: i32,

            /// Its annotations.
            annotations: Texts,
        }
    }
}

object! {
    /// What became of it.
    pub struct DatabaseStatus {
        optional {
            /// How far it is.
            phase: WorkloadPhase,

            /// Its address.
            url: String,

            /// Number of pods that are ready.
            ready: i32,

            /// Number of pods that there should be.
            desired: i32,

            /// What the operator has to say about each aspect of the object.
            #[schemars(schema_with = "condition::list")]
            conditions: Vec<Condition>,
        }
    }
}
