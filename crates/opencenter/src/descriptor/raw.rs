//! Descriptors as they stand in a file: every part may be missing or wrong.

use serde::Deserialize;
use serde_json::Value;

use super::condition::RawCondition;

#[derive(Debug, Deserialize)]
pub(super) struct RawDescriptor {
    pub(super) name: Option<String>,
    #[serde(rename = "type")]
    pub(super) category: Option<String>,
    pub(super) layer: Option<String>,
    pub(super) owner: Option<RawOwner>,
    pub(super) service: Option<String>,
    pub(super) managed_service: Option<String>,
    pub(super) lifecycle: Option<String>,
    #[serde(default)]
    pub(super) dependencies: Vec<String>,
    #[serde(default)]
    pub(super) soft_dependencies: Vec<String>,
    pub(super) plugin: Option<RawPlugin>,
    pub(super) enabled_when: Option<RawCondition>,
    pub(super) aggregate_targets: Option<Vec<String>>,
    pub(super) aggregate: Option<RawAggregate>,
    #[serde(default)]
    pub(super) render: RawRender,
    #[serde(default)]
    pub(super) files: Vec<RawFile>,
    #[serde(default)]
    pub(super) roots: Vec<RawRoot>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawOwner {
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) name: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawPlugin {
    pub(super) mode: Option<String>,
    pub(super) renderer: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawAggregate {
    pub(super) order: Option<i32>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct RawRender {
    #[serde(default)]
    pub(super) sources: Vec<RawSource>,
    #[serde(default)]
    pub(super) flux_units: Vec<RawFluxUnit>,
    pub(super) flux_file: Option<String>,
    #[serde(default)]
    pub(super) overlay: RawOverlay,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct RawOverlay {
    pub(super) root: Option<String>,
    #[serde(default)]
    pub(super) files: Vec<RawFile>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawSource {
    pub(super) name: Option<String>,
    pub(super) file: Option<String>,
    pub(super) source: Option<String>,
    pub(super) url: Option<String>,
    pub(super) ref_type: Option<String>,
    pub(super) ref_value: Option<String>,
    pub(super) interval: Option<String>,
    pub(super) secret_name: Option<String>,
    pub(super) override_from: Option<String>,
    #[serde(default)]
    pub(super) include: Vec<RawInclude>,
    #[serde(default)]
    pub(super) shared: bool,
    pub(super) when: Option<RawCondition>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawInclude {
    pub(super) repository: String,
    pub(super) from_path: String,
    pub(super) to_path: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawFluxUnit {
    pub(super) name: Option<String>,
    pub(super) role: Option<String>,
    pub(super) file: Option<String>,
    pub(super) source_ref: Option<String>,
    pub(super) path: Option<String>,
    pub(super) namespace: Option<String>,
    pub(super) depends_on: Option<Vec<RawDependency>>,
    pub(super) interval: Option<String>,
    pub(super) retry_interval: Option<String>,
    pub(super) timeout: Option<String>,
    pub(super) prune: Option<bool>,
    pub(super) wait: Option<bool>,
    pub(super) force: Option<RawAdoption>,
    pub(super) suspend: Option<RawAdoption>,
    pub(super) sops_decryption: Option<bool>,
    pub(super) health_checks: Option<Vec<RawHealthCheck>>,
    #[serde(default)]
    pub(super) health_check_exprs: Vec<RawHealthCheckExpression>,
    #[serde(default)]
    pub(super) patches: Vec<RawPatch>,
    pub(super) part_of: Option<String>,
    pub(super) managed_by: Option<String>,
    pub(super) when: Option<RawCondition>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum RawDependency {
    Name(String),
    Detailed {
        name: String,
        when_enabled: Option<String>,
        when: Option<RawCondition>,
    },
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum RawAdoption {
    Pinned(bool),
    Word(String),
}

#[derive(Debug, Deserialize)]
pub(super) struct RawHealthCheck {
    pub(super) api_version: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) name: String,
    pub(super) namespace: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawHealthCheckExpression {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) current: String,
    pub(super) failed: Option<String>,
    pub(super) in_progress: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawPatch {
    #[serde(default)]
    pub(super) target: Value,
    pub(super) patch: String,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum RawFile {
    Name(String),
    Detailed(RawFileDetails),
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct RawFileDetails {
    pub(super) name: Option<String>,
    pub(super) template: Option<String>,
    pub(super) output: Option<String>,
    pub(super) render: Option<bool>,
    pub(super) sensitive: Option<bool>,
    pub(super) resource: Option<bool>,
    #[serde(default)]
    pub(super) patch: bool,
    pub(super) when: Option<RawCondition>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawRoot {
    pub(super) path: String,
    pub(super) output: Option<String>,
    #[serde(default)]
    pub(super) excludes: Vec<String>,
    pub(super) when: Option<RawCondition>,
}
