//! Integration tests.

use k8s_openapi::api::core::v1::ResourceRequirements;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    absence::{is_default, or_default},
    clowder::{access::AccessLevel, reference::NamespacedName},
    embedded,
    word::word,
};

/// Integration tests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestingProvider {
    /// What tests may do with the Kubernetes API.
    #[serde(rename = "k8sAccessLevel", default)]
    #[schemars(!default)]
    pub access_level: AccessLevel,

    /// Which configuration tests may read.
    #[serde(default)]
    #[schemars(!default)]
    pub config_access: ConfigAccess,

    /// The IQE test runner.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub iqe: Iqe,
}

word! {
    /// Which configuration tests may read.
    pub enum ConfigAccess {
        /// None.
        None = "none",
        /// That of the application and its dependencies.
        App = "app",
        /// Nothing was said, the same as [`None`](Self::None).
        Unset = "",
        /// That of every application in the environment.
        Environment = "environment",
    }
}

/// The IQE test runner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Iqe {
    /// Image without a tag.
    #[serde(default)]
    #[schemars(!default)]
    pub image_base: String,

    /// Resources of the test container.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(schema_with = "embedded::value::<ResourceRequirements>")]
    pub resources: ResourceRequirements,

    /// Secret with the credentials of the vault, copied to where tests run.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub vault_secret_ref: NamespacedName,

    /// Browsers beside the tests.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub ui: IqeUi,
}

/// Browsers beside the tests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IqeUi {
    /// Selenium.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub selenium: IqeBrowser,

    /// Playwright.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub playwright: IqeBrowser,
}

/// A browser beside the tests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IqeBrowser {
    /// Image without a tag.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub image_base: String,

    /// Tag of the image if the run does not name one.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub default_image_tag: String,

    /// Resources of the container.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(schema_with = "embedded::value::<ResourceRequirements>")]
    pub resources: ResourceRequirements,
}
