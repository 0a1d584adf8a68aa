//! `Server`: pods that compile catalogs, sign certificates, or both.

use k8s_openapi::{
    api::core::v1::{Affinity, ResourceRequirements, TopologySpreadConstraint},
    apimachinery::pkg::apis::meta::v1::Condition,
};
use kube::CustomResource;

use super::shared::{CodeSpec, DisruptionBudgetSpec, ImageSpec, NetworkPolicySpec, WorkloadPhase};
use crate::{absence::absent_spec_is_empty, condition, embedded, object::object};

object! {
    /// What the pods do and how many they are.
    #[derive(CustomResource)]
    #[kube(
        group = "openvox.voxpupuli.org",
        version = "v1alpha1",
        kind = "Server",
        plural = "servers",
        singular = "server",
        namespaced,
        status = "ServerStatus",
        derive = "Default",
        derive = "PartialEq",
        doc = "Pods of the server program with one configuration and one certificate.",
        annotation("controller-gen.kubebuilder.io/version", "v0.20.1"),
        printcolumn = r#"{"name": "Config", "type": "string", "jsonPath": ".spec.configRef"}"#,
        printcolumn = r#"{"name": "CA", "type": "boolean", "jsonPath": ".spec.ca"}"#,
        printcolumn = r#"{"name": "Replicas", "type": "integer", "jsonPath": ".spec.replicas"}"#,
        printcolumn = r#"{"name": "Ready", "type": "integer", "jsonPath": ".status.ready"}"#,
        printcolumn = r#"{"name": "Phase", "type": "string", "jsonPath": ".status.phase"}"#,
        printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
    )]
    #[serde(remote = "Self")]
    pub struct ServerSpec {
        required {
            /// The Config.
            config_ref: String,

            /// The Certificate.
            certificate_ref: String,
        }
        optional {
            /// Pools that it belongs to.
            pool_refs: Vec<String>,

            /// Image in place of that of the Config.
            image: ImageSpec,

            /// Whether it is the authority.
            #[schemars(extend("default" = false))]
            ca: bool,

            /// Whether it compiles catalogs.
            #[schemars(extend("default" = true))]
            server: bool,

            /// Number of pods. Absent: 1.
            #[schemars(extend("default" = 1))]
            replicas: Option<i32>,

            /// Scaling by processor time.
            autoscaling: AutoscalingSpec,

            /// Memory and processor time.
            #[schemars(schema_with = "embedded::value::<ResourceRequirements>")]
            resources: ResourceRequirements,

            /// Arguments of the virtual machine.
            #[schemars(extend("default" = "-Xms512m -Xmx1024m"))]
            java_args: String,

            /// Number of interpreters.
            #[schemars(extend("default" = 1))]
            max_active_instances: i32,

            /// Where Puppet environments come from, in place of what the Config says.
            code: Option<CodeSpec>,

            /// How pods are spread.
            #[schemars(schema_with = "embedded::list::<TopologySpreadConstraint>")]
            topology_spread_constraints: Vec<TopologySpreadConstraint>,

            /// Where pods run.
            #[schemars(schema_with = "embedded::value::<Affinity>")]
            affinity: Option<Affinity>,

            /// Priority of the pods.
            priority_class_name: String,

            /// How many pods may be taken away at a time.
            pdb: DisruptionBudgetSpec,

            /// Who may connect.
            network_policy: NetworkPolicySpec,
        }
    }
}

absent_spec_is_empty!(ServerSpec);

object! {
    /// Scaling by processor time.
    pub struct AutoscalingSpec {
        required {
            /// Whether the number of pods follows the load.
            #[schemars(extend("default" = false))]
            enabled: bool,
        }
        optional {
            /// The fewest pods.
            #[schemars(extend("default" = 1))]
            min_replicas: Option<i32>,

            /// The most pods.
            #[schemars(extend("default" = 5))]
            max_replicas: i32,

            /// Percentage of the requested processor time to aim at.
            #[serde(rename = "targetCPU")]
            #[schemars(extend("default" = 75))]
            target_cpu: i32,
        }
    }
}

object! {
    /// What became of it.
    pub struct ServerStatus {
        optional {
            /// How far it is.
            phase: WorkloadPhase,

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
