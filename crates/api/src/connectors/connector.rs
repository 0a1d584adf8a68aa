//! What users write: which application, and what is different about it here.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector};
use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ManifestType, rule};
use crate::{
    absence::{absent_spec_is_empty, is_default, or_default},
    condition,
    definition::Rule,
    embedded,
};

/// Rules over the whole object, because they concern its name, or hold although the spec is left out.
pub(super) const RULES: [Rule; 2] = [
    rule(
        "size(self.metadata.name) <= 63",
        "the name is the value of a label, so it must not be longer than 63 characters",
    ),
    rule(
        "!has(oldSelf.spec) || !has(oldSelf.spec.application) || (has(self.spec) && has(self.spec.application) && self.spec.application == oldSelf.spec.application)",
        "the application cannot be changed once it is set; create another Connector",
    ),
];

/// An application that is packaged with the operator, and how it is adjusted before it is installed. Everything is
/// optional: an empty spec installs the default application as it is packaged.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "operator.connectors.alauda.io",
    version = "v1alpha1",
    kind = "Connector",
    plural = "connectors",
    singular = "connector",
    shortname = "cnr",
    namespaced,
    status = "ConnectorStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "An application from YAML that is packaged with the operator, installed into the namespace of this object.",
    printcolumn = r#"{"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"}"#,
    printcolumn = r#"{"name": "Reason", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].reason"}"#,
    printcolumn = r#"{"name": "Version", "type": "string", "jsonPath": ".status.version", "priority": 1}"#,
    printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct ConnectorSpec {
    /// What the `InstallManifests` record of each object: `Metadata`, its identity, or `All` of it. `All` puts the
    /// content of Secrets into objects that live in no namespace, and is bound by the size of one object.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(schema_with = "manifest_type")]
    pub manifest_type: ManifestType,

    /// Further manifests: URLs and paths in the operator's image, separated by commas. An object in them replaces the
    /// packaged one of the same identity; others are added.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub additional_manifests: Option<String>,

    /// Labels on every packaged object, but not on pods.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(schema_with = "labels")]
    pub labels: BTreeMap<String, String>,

    /// Annotations on every packaged object, but not on pods.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(schema_with = "annotations")]
    pub annotations: BTreeMap<String, String>,

    /// Registry of all packaged images, with a path if need be, or a template with `${NAME}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "registry")]
    pub registry: Option<String>,

    /// What is different about Deployments and `StatefulSets`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(schema_with = "workloads")]
    pub workloads: Vec<Workload>,

    /// The application: a directory among those that are packaged. Absent: the one that the operator was started for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63), regex(pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub application: Option<String>,

    /// Version of the application: exact, `MAJOR.MINOR` for the highest of these, or `latest`. Absent: the highest.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 128),
        regex(
            pattern = r"^(latest|v?[0-9]+\.[0-9]+(\.[0-9]+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?)?)$"
        )
    )]
    pub version: Option<String>,

    /// Images by `workload/container`, by `container`, and values by the name of an environment variable.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub registry_overrides: BTreeMap<String, String>,

    /// Secrets that every pod pulls its images with, besides those that it has.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub image_pull_secrets: Vec<PullSecret>,
}

absent_spec_is_empty!(ConnectorSpec);

/// What is different about one Deployment or `StatefulSet`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Workload {
    /// Name of the Deployment or `StatefulSet`.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,

    /// How many pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub replicas: Option<i32>,

    /// Merged into the selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "embedded::value::<LabelSelector>")]
    pub selector: Option<LabelSelector>,

    /// Merged into the pod template, lists of named items by their names; null removes a field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "open_object")]
    pub template: Option<Value>,
}

/// A Secret in the namespace of the Connector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PullSecret {
    /// Its name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// What became of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConnectorStatus {
    /// What the operator has to say about each aspect of the object.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "condition::list_by_type")]
    pub conditions: Vec<Condition>,

    /// The last generation that was looked at to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// Release version that is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,

    /// Hash of everything that is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifests_hash: Option<String>,

    /// Names of the `InstallManifests` that record it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub install_manifests: Vec<String>,

    /// The pages of `additionalManifests` as they were fetched last. Everything that is installed is rendered from
    /// exactly these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub additional_pages: Vec<AdditionalPage>,
}

/// A page that was fetched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdditionalPage {
    /// Where it is.
    pub url: String,
    /// SHA-256 of its content.
    pub digest: String,
}

fn manifest_type(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = ManifestType::json_schema(generator);
    schema.insert("default".to_owned(), Value::from("Metadata"));
    schema
}

/// What is reserved is refused by name; whether a key is well-formed at all is found when it is written.
const RESERVED: &str = "!('cpaas.io/last-applied-hash' in self) && !('cpaas.io/release-version' in self) && !('cpaas.io/connector-name' in self) && !('cpaas.io/connector-namespace' in self) && !('cpaas.io/install-type' in self) && !('cpaas.io/managed-by' in self) && !('cpaas.io/install-manifest' in self) && !('cpaas.io/preserve-namespace' in self) && !('connectors.operator.cpaas.io/ignore-install' in self)";

const RESERVED_MESSAGE: &str = "the keys cpaas.io/* that the operator writes itself, and its marks on single objects, cannot be set for all";

fn labels(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": {
            "type": "string",
            "maxLength": 63,
            "pattern": "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$",
        },
        "x-kubernetes-validations": [{"rule": RESERVED, "message": RESERVED_MESSAGE}],
    })
}

fn annotations(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": {"type": "string"},
        "x-kubernetes-validations": [{"rule": RESERVED, "message": RESERVED_MESSAGE}],
    })
}

fn registry(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string",
        "maxLength": 512,
        "pattern": r"^\S*$",
        "x-kubernetes-validations": [{
            "rule": "!self.startsWith('http://') && !self.startsWith('https://')",
            "message": "a registry is a host with an optional path, without http:// or https://",
        }],
    })
}

fn workloads(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": Workload::json_schema(generator),
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
    })
}

fn open_object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}
