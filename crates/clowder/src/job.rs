//! The reconciler of the `ClowdJobInvocation` kind: it runs jobs of an app, or its tests, once.
//!
//! Once means once, whatever happens between two writes. The names of Jobs follow from the uid of their invocation, so
//! a reconcile that does not know what the one before it did asks for the same objects, and an object that exists is never
//! written again. A reconcile starts Jobs only after it has read the app and the invocation itself from the cluster: what it
//! starts is made from the newest app, and nothing is started for an invocation that others know to have run.

#[cfg(test)]
mod fixture;
mod iqe;
mod naming;
mod plain;
mod preconditions;
mod status;

use std::sync::Arc;

use mainstay_api::clowder::{
    ClowdApp, ClowdEnvironment, ClowdJobInvocation, job_invocation::IqeJob,
};
use mainstay_engine::{
    Kind, ObjectSet,
    decode::decode,
    field_manager::FieldManager,
    kind::KindTable,
    options::Options,
    plan::{Deletion, Lifecycle},
    reconciler::{Reconciler, Rejection, RelatedEvents, Report, ReportInput, ValidateError},
    snapshot::Snapshot,
    unit::{RenderError, UnitFailure},
};
use serde_json::Value;

use crate::{
    gates::grants,
    kinds, names, options,
    providers::provider::{Context, ProviderError},
    settings::Settings,
    views::{facts, lookup::Lookup},
};

/// Unit of the jobs of the app.
const JOBS_UNIT: &str = "job";
/// Unit of the test run.
const IQE_UNIT: &str = "iqe";
/// Unit that makes sure that the invocation is seen as it is.
const CURRENCY_UNIT: &str = "invocation";

/// The pure part of the invocation controller.
#[derive(Clone, Debug)]
pub struct JobReconciler {
    /// The operator's configuration.
    pub settings: Arc<Settings>,
}

/// An invocation.
#[derive(Clone, Debug)]
pub struct Invocation {
    invocation: ClowdJobInvocation,
    /// A test run is asked for.
    wants_tests: bool,
}

/// What the jobs of an invocation are started from; `None` if it needs nothing any more.
#[derive(Clone, Debug)]
pub struct JobInput(Option<Launch>);

/// What jobs are started from.
#[derive(Clone, Debug)]
struct Launch {
    app: Arc<ClowdApp>,
    environment: Arc<ClowdEnvironment>,
}

/// What the builders of Jobs see.
#[derive(Clone, Copy, Debug)]
struct Stage<'render> {
    invocation: &'render ClowdJobInvocation,
    app: &'render ClowdApp,
    shared: Context<'render>,
}

impl Stage<'_> {
    fn namespace(&self) -> &str {
        names::namespace(&self.invocation.metadata)
    }
}

/// Whether the jobs of an invocation were started, by this operator or an older one, or need not be.
pub fn has_run(invocation: &ClowdJobInvocation) -> bool {
    invocation.spec.disabled
        || invocation.status.as_ref().is_some_and(|status| {
            status.completed || !status.jobs.is_empty() || !status.job_map.is_empty()
        })
}

/// Whether a test run is asked for: by any setting, also by an empty list.
fn wants_tests(root: &Value, invocation: &ClowdJobInvocation) -> bool {
    const LISTS: [&str; 4] = [
        "env",
        "requirements",
        "requirementsPriority",
        "testImportance",
    ];
    let asked = root.pointer("/spec/testing/iqe");
    let is_list = |name| asked.is_some_and(|asked| asked.get(name).is_some_and(Value::is_array));
    invocation.spec.testing.iqe != IqeJob::default() || LISTS.into_iter().any(is_list)
}

impl Reconciler for JobReconciler {
    type Object = Invocation;
    type Input = JobInput;

    fn name(&self) -> &'static str {
        "clowdjobinvocation"
    }

    fn declared(&self) -> KindTable {
        kinds::KINDS
    }

    fn root_kind(&self) -> Kind {
        kinds::CLOWD_JOB_INVOCATION
    }

    fn field_manager(&self) -> FieldManager {
        names::MANAGER
    }

    fn lifecycle(&self) -> Lifecycle {
        Lifecycle {
            deletion: Deletion::ByOwnerReference,
            ..Lifecycle::PLAIN
        }
    }

    fn facts(&self, kind: &Kind, object: &Value) -> Value {
        facts::facts(kind, object)
    }

    fn decode(&self, root: &Value) -> Result<Invocation, Rejection> {
        let invocation: ClowdJobInvocation = decode(root)?;
        Ok(Invocation {
            wants_tests: wants_tests(root, &invocation),
            invocation,
        })
    }

    fn validate(
        &self,
        object: &Invocation,
        snapshot: &dyn Snapshot,
    ) -> Result<JobInput, ValidateError> {
        let Invocation {
            invocation,
            wants_tests,
        } = object;
        if has_run(invocation) || (invocation.spec.jobs.is_empty() && !wants_tests) {
            return Ok(JobInput(None));
        }
        let lookup = Lookup::new(snapshot, &self.settings);
        let (app, environment) = preconditions::check(invocation, lookup)?;
        grants::check_invocation(lookup, invocation, (&app, &environment), *wants_tests)?;
        Ok(JobInput(Some(Launch { app, environment })))
    }

    fn render(
        &self,
        object: &Invocation,
        input: &JobInput,
        snapshot: &dyn Snapshot,
    ) -> Result<ObjectSet, UnitFailure> {
        let mut set = ObjectSet::with_options(self.declared(), options::in_phases);
        let JobInput(Some(launch)) = input else {
            return Ok(set);
        };
        let stage = launch.stage(&object.invocation, &self.settings, snapshot);
        plain::render(&stage, &mut set).map_err(|error| failure(JOBS_UNIT, error))?;
        if object.wants_tests {
            iqe::render(&stage, &mut set).map_err(|error| failure(IQE_UNIT, error))?;
        }
        // The last question, because the answer is a request: whoever cannot start anything need not ask.
        is_current(&stage).map_err(|error| failure(CURRENCY_UNIT, error))?;
        Ok(set)
    }

    fn related_events(&self, input: &ReportInput<'_, Self>) -> Option<RelatedEvents> {
        status::related_events(input, &self.settings)
    }

    fn report(&self, input: &ReportInput<'_, Self>) -> Report {
        status::report(input, &self.settings)
    }
}

impl Launch {
    fn stage<'render>(
        &'render self,
        invocation: &'render ClowdJobInvocation,
        settings: &'render Settings,
        snapshot: &'render dyn Snapshot,
    ) -> Stage<'render> {
        Stage {
            invocation,
            app: &self.app,
            shared: Context {
                environment: &self.environment,
                // Jobs are in the namespace of their invocation, and nowhere else.
                target_namespace: "",
                settings,
                lookup: Lookup::new(snapshot, settings),
            },
        }
    }
}

/// Adds a Job, which is written once and never again.
fn add(
    set: &mut ObjectSet,
    unit: &'static str,
    job: &k8s_openapi::api::batch::v1::Job,
) -> Result<(), ProviderError> {
    Ok(set.add_with(unit, job, Options::once)?)
}

/// Goes on only with the newest state of the app and of the invocation itself.
fn is_current(stage: &Stage<'_>) -> Result<(), ProviderError> {
    let lookup = stage.shared.lookup;
    let (app, invocation) = (&stage.app.metadata, &stage.invocation.metadata);
    let read = lookup.fresh(&kinds::app_key(names::namespace(app), names::name(app)));
    // Who is not stored yet, because somebody only asks what would happen, cannot have changed.
    if let Some(version) = &invocation.resource_version {
        let key = kinds::invocation_key(names::namespace(invocation), names::name(invocation));
        let newest = lookup.fresh(&key)?;
        if newest.as_ref() != Some(version) {
            return Err(ProviderError::Failed(
                "it was changed meanwhile and is looked at again".to_owned(),
            ));
        }
    }
    read?;
    Ok(())
}

fn failure(unit: &'static str, error: ProviderError) -> UnitFailure {
    let source = match error {
        ProviderError::Unknown(_) => RenderError::Unknown,
        ProviderError::Setup(text) | ProviderError::Failed(text) => RenderError::Input(text),
        ProviderError::Set(error) => RenderError::Set(error),
    };
    UnitFailure {
        unit,
        source,
        early: None,
    }
}

#[cfg(test)]
mod tests;
