//! The record of what was installed, which drives installation, repair and removal.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ManifestType;
use crate::{
    absence::{absent_spec_is_empty, is_default, or_default},
    condition,
};

/// One of the two sets of objects that make up an installation. It lives in no namespace, because it owns objects that
/// live in none.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "operator.connectors.alauda.io",
    version = "v1alpha1",
    kind = "InstallManifest",
    plural = "installmanifests",
    singular = "installmanifest",
    shortname = "im",
    status = "InstallManifestStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "The record of what a Connector has installed. The operator writes it; there is no need to create one.",
    printcolumn = r#"{"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"}"#,
    printcolumn = r#"{"name": "Reason", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].reason"}"#,
    printcolumn = r#"{"name": "Version", "type": "string", "jsonPath": ".status.connectorVersion"}"#,
    printcolumn = r#"{"name": "Type", "type": "string", "jsonPath": ".metadata.labels.cpaas\\.io/install-type"}"#,
    printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct InstallManifestSpec {
    /// What is recorded of each object, as the Connector says.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub manifest_type: ManifestType,

    /// The objects, in the order in which they are installed.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(schema_with = "manifests")]
    pub manifests: Vec<Value>,
}

absent_spec_is_empty!(InstallManifestSpec);

/// What became of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstallManifestStatus {
    /// What the operator has to say about each phase of the installation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "condition::list_by_type")]
    pub conditions: Vec<Condition>,

    /// Release version that was installed last as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connector_version: Option<String>,

    /// The last generation that was looked at to the end, whether that went well or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// Hash of the set that was looked at last to the end, whether that went well or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_hash: Option<String>,

    /// Where objects were put and may still be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inventory: Vec<InventoryEntry>,
}

/// Where an object was put.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct InventoryEntry {
    /// API group; empty for the core group.
    pub group: String,
    /// API version.
    pub version: String,
    /// Kind.
    pub kind: String,
    /// Namespace, if the kind has one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Name.
    pub name: String,
}

fn manifests(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["apiVersion", "kind"],
            "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}},
            "x-kubernetes-preserve-unknown-fields": true,
        },
    })
}
