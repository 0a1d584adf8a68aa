//! `ReportProcessor`: where reports of Puppet runs go.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;

use super::shared::{Authentication, ConfigMapKeyRef, SecretKeyRef, UsedPhase};
use crate::{absence::absent_spec_is_empty, condition, object::object, word::word};

object! {
    /// Where reports go, and how.
    #[derive(CustomResource)]
    #[kube(
        group = "openvox.voxpupuli.org",
        version = "v1alpha1",
        kind = "ReportProcessor",
        plural = "reportprocessors",
        singular = "reportprocessor",
        shortname = "rp",
        namespaced,
        status = "ReportProcessorStatus",
        derive = "Default",
        derive = "PartialEq",
        doc = "An endpoint that gets the report of every Puppet run.",
        annotation("controller-gen.kubebuilder.io/version", "v0.20.1"),
        printcolumn = r#"{"name": "URL", "type": "string", "jsonPath": ".spec.url"}"#,
        printcolumn = r#"{"name": "Processor", "type": "string", "jsonPath": ".spec.processor"}"#,
        printcolumn = r#"{"name": "Phase", "type": "string", "jsonPath": ".status.phase"}"#,
        printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
    )]
    #[serde(remote = "Self")]
    pub struct ReportProcessorSpec {
        required {
            /// The Config whose servers send reports.
            #[schemars(length(min = 1))]
            config_ref: String,

            /// Address of the endpoint.
            url: String,
        }
        optional {
            /// How a report is written.
            processor: ReportFormat,

            /// Seconds that the endpoint may take.
            #[schemars(extend("default" = 30))]
            timeout_seconds: i32,

            /// How to identify to it.
            auth: Option<Authentication>,

            /// Further headers.
            headers: Vec<ReportHeader>,
        }
    }
}

absent_spec_is_empty!(ReportProcessorSpec);

word! {
    /// How a report is written.
    pub enum ReportFormat {
        /// As a command of PuppetDB.
        PuppetDb = "puppetdb",
        /// As it is.
        Plain = "",
    }
}

object! {
    /// A header.
    #[schemars(extend("x-kubernetes-validations" = [{
        "rule": "!(has(self.value) && size(self.value) > 0 && has(self.valueFrom))",
        "message": "value and valueFrom are mutually exclusive"
    }]))]
    pub struct ReportHeader {
        required {
            /// Its name.
            name: String,
        }
        optional {
            /// Its value.
            value: String,

            /// Where its value is.
            value_from: Option<HeaderSource>,
        }
    }
}

object! {
    /// Where the value of a header is.
    pub struct HeaderSource {
        optional {
            /// In a Secret. Wins over `configMapKeyRef`.
            secret_key_ref: Option<SecretKeyRef>,

            /// In a ConfigMap.
            config_map_key_ref: Option<ConfigMapKeyRef>,
        }
    }
}

object! {
    /// What became of it.
    pub struct ReportProcessorStatus {
        optional {
            /// Whether it is in use.
            phase: UsedPhase,

            /// What the operator has to say about each aspect of the object.
            #[schemars(schema_with = "condition::list")]
            conditions: Vec<Condition>,
        }
    }
}
