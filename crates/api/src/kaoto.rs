//! Kaoto: a visual editor for Apache Camel, declared as one object.

use k8s_openapi::{
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::Condition,
};
use kube::{CustomResource, CustomResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{absence::absent_spec_is_empty, condition, definition};

/// What the editor should look like. Everything is optional: an empty spec gives an editor inside the cluster.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, CustomResource, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "designer.kaoto.io",
    version = "v1alpha1",
    kind = "Kaoto",
    plural = "kaotoes",
    singular = "kaoto",
    shortname = "kd",
    category = "integration",
    category = "camel",
    namespaced,
    status = "KaotoStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "An instance of the Kaoto editor: a Deployment, a Service and, if asked for, access from outside the cluster.",
    printcolumn = r#"{"name": "Phase", "type": "string", "jsonPath": ".status.phase", "description": "The phase"}"#,
    printcolumn = r#"{"name": "Endpoint", "type": "string", "jsonPath": ".status.endpoint", "description": "The endpoint"}"#
)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct KaotoSpec {
    /// Container image of the editor. Empty or absent: the image that this release of the operator was built for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,

    /// Asks for access from outside the cluster: an Ingress, or a Route on OpenShift. Its presence alone counts,
    /// `{}` is enough; removing it removes the access.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress: Option<KaotoIngress>,
}

absent_spec_is_empty!(KaotoSpec);

/// Access from outside the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KaotoIngress {
    /// Host name under which the editor is reached. Empty or absent: any host, or one that OpenShift allocates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,

    /// Path under which the editor is reached. Empty or absent: the name of the object, or `/` on OpenShift.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// What became of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KaotoStatus {
    /// `Ready` if every object was accepted by the cluster, else `Error`; the conditions say why.
    pub phase: String,

    /// What the operator has to say about each aspect of the object, sorted by type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "condition::list")]
    pub conditions: Vec<Condition>,

    /// The last generation that was brought to the cluster without an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// Address of the editor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
}

/// The custom resource definition of [`Kaoto`].
pub fn crd() -> CustomResourceDefinition {
    definition::complete(Kaoto::crd())
}

#[cfg(test)]
mod tests;
