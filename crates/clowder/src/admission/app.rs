//! Which `ClowdApp` may be stored.

mod judged;

use std::{collections::BTreeSet, fmt};

use serde_json::{Value, json};

pub use self::judged::JudgedApp;
use self::judged::{Deployment, PodSpec, Spec};
use crate::names::GROUP;

/// Parity: what a refusal says of the object, whose name it leaves out.
const SUBJECT: &str = "ClowdApp.cloud.redhat.com \"\" is invalid: ";
/// Code of a refusal.
pub const CODE: u16 = 422;
/// Most violations that are told: nobody reads more, and an app can hold many more than it is bytes long.
const MOST_VIOLATIONS: usize = 1_000;
/// The strategy that a public service cannot have.
pub(super) const RECREATE: &str = "Recreate";

/// What is wrong, in the words of the original.
pub(super) mod detail {
    pub(in crate::admission) const TWO_DATABASES: &str =
        "cannot set db name and sharedDbApp Name together";
    pub(in crate::admission) const SHARED_CYNDI: &str = "cannot use cyndi with a shared database";
    pub(in crate::admission) const UNKNOWN_SIDECAR: &str =
        "Sidecar is of unknown type, must be one of [token-refresher] or [otel-collector]";
    pub(in crate::admission) const UNNAMED: &str = "multiple initcontainers must have a name";
    pub(in crate::admission) const PUBLIC_RECREATE: &str =
        "privateStrategy cannot be set to recreate for public web enabled deployments";
}

/// Where the rules about single fields look. Parity: two names run together.
pub(super) mod path {
    pub(in crate::admission) const TWO_DATABASES: &str =
        "spec.Database.Name.spec.Database.SharedDBAppName";
    pub(in crate::admission) const SHARED_CYNDI: &str =
        "spec.Database.SharedDBAppName.spec.Cyndi.Enabled";
}

/// A rule that an app breaks. Its display is what the refusal says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The field as the refusal names it. Parity: in the words of the original's code, which are not those of the API.
    pub path: String,
    /// The field as a JSON pointer, for people with a file.
    pub pointer: String,
    /// What is wrong.
    pub detail: &'static str,
}

impl Violation {
    fn new(path: impl Into<String>, pointer: impl Into<String>, detail: &'static str) -> Self {
        Self {
            path: path.into(),
            pointer: pointer.into(),
            detail,
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: Forbidden: {}", self.path, self.detail)
    }
}

/// All rules that an app breaks, in the original's order.
///
/// An app on its way out breaks none: whoever takes its finalizer off must not be refused, or it would stay for ever.
pub fn violations(app: &JudgedApp) -> Vec<Violation> {
    if app.is_leaving() {
        return Vec::new();
    }
    let spec = &app.spec;
    let deployments = || spec.deployments.iter().enumerate();
    let of_deployments = deployments()
        .flat_map(|(index, deployment)| sidecars("deployments", index, &deployment.pod_spec));
    // Parity: jobs without a schedule are not looked at, and those with one are called deployments.
    let jobs = spec.jobs.iter().enumerate();
    let of_jobs = jobs
        .filter(|(_, job)| job.is_scheduled)
        .flat_map(|(index, job)| sidecars("jobs", index, &job.pod_spec));
    let unnamed =
        deployments().flat_map(|(index, deployment)| init_containers(index, &deployment.pod_spec));
    let recreated = deployments().filter_map(|(index, deployment)| strategy(index, deployment));
    databases(spec)
        .into_iter()
        .chain(of_deployments)
        .chain(of_jobs)
        .chain(unnamed)
        .chain(recreated)
        .take(MOST_VIOLATIONS)
        .collect()
}

fn databases(spec: &Spec) -> Vec<Violation> {
    let database = &spec.database;
    let mut found = Vec::new();
    if !database.is_shared {
        return found;
    }
    let pointer = "/spec/database/sharedDbAppName";
    if database.is_named {
        found.push(Violation::new(
            path::TWO_DATABASES,
            pointer,
            detail::TWO_DATABASES,
        ));
    }
    if spec.cyndi.enabled {
        found.push(Violation::new(
            path::SHARED_CYNDI,
            pointer,
            detail::SHARED_CYNDI,
        ));
    }
    found
}

fn sidecars(list: &str, index: usize, pod: &PodSpec) -> impl Iterator<Item = Violation> {
    let sidecars = pod.sidecars.iter().enumerate();
    let unknown = sidecars.filter(|(_, sidecar)| !sidecar.is_known);
    unknown.map(move |(position, _)| {
        Violation::new(
            format!("spec.Deployment[{index}].Sidecars[{position}]"),
            format!("/spec/{list}/{index}/podSpec/sidecars/{position}/name"),
            detail::UNKNOWN_SIDECAR,
        )
    })
}

/// Parity: init containers of jobs are not looked at; a reconcile over the app fails later.
fn init_containers(index: usize, pod: &PodSpec) -> impl Iterator<Item = Violation> {
    let containers = &pod.init_containers;
    let several = containers.len() > 1;
    let unnamed = containers.iter().enumerate();
    let unnamed = unnamed.filter(move |(_, container)| several && !container.is_named);
    unnamed.map(move |(position, _)| {
        Violation::new(
            format!("spec.Deployments[{index}].PodSpec.InitContainers[{position}]"),
            format!("/spec/deployments/{index}/podSpec/initContainers/{position}"),
            detail::UNNAMED,
        )
    })
}

/// Parity: the older `web: true` makes a deployment public too, and is not looked at.
fn strategy(index: usize, deployment: &Deployment) -> Option<Violation> {
    let refused = deployment.strategy.recreates && deployment.web_services.public.enabled;
    refused.then(|| {
        Violation::new(
            format!("spec.Deployment[{index}]"),
            format!("/spec/deployments/{index}/deploymentStrategy/privateStrategy"),
            detail::PUBLIC_RECREATE,
        )
    })
}

/// What a refusal says. Violations that read the same are told once.
pub fn message(violations: &[Violation]) -> String {
    let mut told = BTreeSet::new();
    let texts = violations.iter().map(ToString::to_string);
    let texts: Vec<String> = texts.filter(|text| told.insert(text.clone())).collect();
    match texts.as_slice() {
        [one] => format!("{SUBJECT}{one}"),
        several => format!("{SUBJECT}[{}]", several.join(", ")),
    }
}

/// The refusal as a `Status` of the API.
pub fn status(violations: &[Violation]) -> Value {
    let causes = violations.iter().map(|violation| {
        json!({
            "reason": "FieldValueForbidden",
            "message": format!("Forbidden: {}", violation.detail),
            "field": violation.path,
        })
    });
    json!({
        "status": "Failure",
        "message": message(violations),
        "reason": "Invalid",
        "details": {"group": GROUP, "kind": "ClowdApp", "causes": causes.collect::<Vec<_>>()},
        "code": CODE,
    })
}

#[cfg(test)]
mod tests;
