//! `NodeClassifier`: who says what a node is.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;

use super::shared::{Authentication, UsedPhase};
use crate::{absence::absent_spec_is_empty, condition, object::object, word::word};

object! {
    /// Where to ask, and how.
    #[derive(CustomResource)]
    #[kube(
        group = "openvox.voxpupuli.org",
        version = "v1alpha1",
        kind = "NodeClassifier",
        plural = "nodeclassifiers",
        singular = "nodeclassifier",
        shortname = "nc",
        namespaced,
        status = "NodeClassifierStatus",
        derive = "Default",
        derive = "PartialEq",
        doc = "An external node classifier: an endpoint that says which classes and environment a node has.",
        annotation("controller-gen.kubebuilder.io/version", "v0.20.1"),
        printcolumn = r#"{"name": "URL", "type": "string", "jsonPath": ".spec.url"}"#,
        printcolumn = r#"{"name": "Method", "type": "string", "jsonPath": ".spec.request.method"}"#,
        printcolumn = r#"{"name": "Phase", "type": "string", "jsonPath": ".status.phase"}"#,
        printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
    )]
    #[serde(remote = "Self")]
    pub struct NodeClassifierSpec {
        required {
            /// Its address.
            url: String,

            /// What is asked.
            request: ClassifierRequest,

            /// What is answered.
            response: ClassifierResponse,
        }
        optional {
            /// Seconds that an answer may take.
            #[schemars(extend("default" = 10))]
            timeout_seconds: i32,

            /// How to identify to it.
            auth: Option<Authentication>,

            /// Answers that are kept for times in which it is away.
            cache: ClassifierCache,
        }
    }
}

absent_spec_is_empty!(NodeClassifierSpec);

object! {
    /// What is asked.
    #[schemars(extend("x-kubernetes-validations" = [
        {
            "rule": "self.method == 'GET' || self.method == 'POST'",
            "message": "method must be GET or POST"
        },
        {
            "rule": "self.method == 'POST' || !has(self.body) || size(self.body) == 0",
            "message": "body is only allowed with POST method"
        }
    ]))]
    pub struct ClassifierRequest {
        required {
            /// `GET` or `POST`.
            #[schemars(extend("default" = "GET"))]
            method: String,

            /// Path after the address; `{certname}` stands for the name of the node.
            #[schemars(extend("default" = "/node/{certname}"))]
            path: String,
        }
        optional {
            /// What is sent with `POST`.
            body: ClassifierBody,
        }
    }
}

word! {
    /// What is sent to a classifier.
    pub enum ClassifierBody {
        /// The facts of the node.
        Facts = "facts",
        /// The name of the node.
        Certname = "certname",
        /// Nothing.
        Nothing = "",
    }
}

object! {
    /// What is answered.
    pub struct ClassifierResponse {
        required {
            /// Its format.
            #[schemars(extend("default" = "yaml"))]
            format: ClassifierFormat,
        }
    }
}

word! {
    /// Format of an answer.
    pub enum ClassifierFormat {
        /// YAML.
        Yaml = "yaml",
        /// JSON.
        Json = "json",
    }
}

object! {
    /// Answers that are kept for times in which the classifier is away.
    pub struct ClassifierCache {
        required {
            /// Whether they are kept.
            #[schemars(extend("default" = false))]
            enabled: bool,
        }
        optional {
            /// Where.
            #[schemars(extend("default" = "/var/cache/openvox-enc"))]
            directory: String,
        }
    }
}

object! {
    /// What became of it.
    pub struct NodeClassifierStatus {
        optional {
            /// Whether it is in use.
            phase: UsedPhase,

            /// What the operator has to say about each aspect of the object.
            #[schemars(schema_with = "condition::list")]
            conditions: Vec<Condition>,
        }
    }
}
