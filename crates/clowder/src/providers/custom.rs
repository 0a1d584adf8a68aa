//! Objects of kinds that belong to other operators, whose types are not ours to know.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use mainstay_engine::{Kind, ObjectKey};
use serde::Serialize;
use serde_json::Value;

use crate::names;

/// An object of a kind of another operator.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomObject {
    api_version: String,
    #[serde(rename = "kind")]
    kind_name: String,
    metadata: ObjectMeta,
    spec: Value,
    #[serde(skip)]
    kind: Kind,
}

impl CustomObject {
    /// An object with this metadata and specification.
    pub fn new(kind: Kind, metadata: ObjectMeta, spec: Value) -> Self {
        Self {
            api_version: kind.api_version(),
            kind_name: kind.kind.to_string(),
            metadata,
            spec,
            kind,
        }
    }

    /// Its identity.
    pub fn key(&self) -> ObjectKey {
        let metadata = &self.metadata;
        ObjectKey::new(
            self.kind.clone(),
            names::namespace(metadata),
            names::name(metadata),
        )
    }
}
