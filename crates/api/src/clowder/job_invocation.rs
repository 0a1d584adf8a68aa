//! `ClowdJobInvocation`: run jobs of an application once, or its integration tests.

use std::collections::BTreeMap;

use k8s_openapi::{api::core::v1::EnvVar, apimachinery::pkg::apis::meta::v1::Condition};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    absence::{absent_spec_is_empty, is_default, or_default},
    condition, embedded,
    word::word,
};

/// Which jobs to run.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "cloud.redhat.com",
    version = "v1alpha1",
    kind = "ClowdJobInvocation",
    plural = "clowdjobinvocations",
    singular = "clowdjobinvocation",
    shortname = "cji",
    namespaced,
    status = "ClowdJobInvocationStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "Runs jobs of a ClowdApp once, or its integration tests.",
    printcolumn = r#"{"name": "Completed", "type": "boolean", "jsonPath": ".status.completed"}"#
)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct ClowdJobInvocationSpec {
    /// The ClowdApp in the same namespace whose jobs are run.
    #[serde(default)]
    #[schemars(!default)]
    pub app_name: String,

    /// Names of jobs of the application.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub jobs: Vec<String>,

    /// Integration tests to run.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub testing: JobTesting,

    /// Runs the jobs even if the application is not ready.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub run_on_not_ready: bool,

    /// Completes without running anything.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub disabled: bool,
}

absent_spec_is_empty!(ClowdJobInvocationSpec);

/// Integration tests to run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobTesting {
    /// A run of IQE; there is one if anything is set here.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub iqe: IqeJob,
}

/// A run of IQE.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IqeJob {
    /// Tag of the IQE image. Empty: made from the plugin.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub image_tag: String,

    /// Plugins to run, separated by commas. Empty: the one that the application names.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub plugins: String,

    /// Browsers beside the tests.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub ui: IqeJobUi,

    /// Environment variables for the tests. An empty list is not the same as none: it already asks for a run.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(schema_with = "embedded::list::<EnvVar>")]
    pub env: Option<Vec<EnvVar>>,

    /// Starts the test container for debugging instead of running the tests.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub debug: bool,

    /// Deprecated: marker expression that selects tests.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub marker: String,

    /// Deprecated: name of the Dynaconf environment.
    #[serde(
        rename = "dynaconfEnvName",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub dynaconf_environment_name: String,

    /// Deprecated: keyword expression that selects tests.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub filter: String,

    /// Deprecated: requirements whose tests are run.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub requirements: Vec<String>,

    /// Deprecated: priorities of requirements whose tests are run.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub requirements_priority: Vec<String>,

    /// Deprecated: importances of tests that are run.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub test_importance: Vec<String>,

    /// How much the tests log.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub log_level: IqeLogLevel,

    /// Deprecated: whether tests run in parallel, as a text.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub parallel_enabled: String,

    /// Deprecated: how many tests run at once, as a text.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub parallel_worker_count: String,

    /// Deprecated: arguments for the report portal.
    #[serde(
        rename = "rpArgs",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub report_portal_arguments: String,

    /// Deprecated: source that results are stored under in Ibutsu.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub ibutsu_source: String,
}

/// Browsers beside the tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IqeJobUi {
    /// Not used.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub enabled: bool,

    /// A Selenium container beside the tests.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub selenium: IqeJobBrowser,

    /// A Playwright container beside the tests.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub playwright: IqeJobBrowser,
}

/// A browser beside the tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IqeJobBrowser {
    /// Whether to run it.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub deploy: bool,

    /// Tag of its image. Empty: the one of the environment.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub image_tag: String,
}

word! {
    /// How much the tests log.
    pub enum IqeLogLevel {
        /// Nothing was said.
        Unset = "",
        /// Critical errors.
        Critical = "critical",
        /// Errors.
        Error = "error",
        /// Warnings, too.
        Warning = "warning",
        /// What is going on, too.
        Info = "info",
        /// Every detail.
        Debug = "debug",
        /// As the test framework decides.
        NotSet = "notset",
    }
}

/// What became of the jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClowdJobInvocationStatus {
    /// Whether every job has ended, well or not.
    #[serde(default)]
    #[schemars(!default)]
    pub completed: bool,

    /// Deprecated: names of the jobs that were started.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub jobs: Vec<String>,

    /// State of each job, by the name of its Job: `Invoked`, `Complete` or `Failed`.
    #[serde(default)]
    #[schemars(!default)]
    pub job_map: BTreeMap<String, String>,

    /// What the operator has to say about each aspect of the object.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(schema_with = "condition::list")]
    pub conditions: Vec<Condition>,
}
