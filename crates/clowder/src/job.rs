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
    field_manager::FieldManager,
    kind::DeclaredKind,
    object_set::Policy,
    plan::{Deletion, Strategy},
    reconciler::{Reconciler, RelatedEvents, Report, ReportInput, ValidateError},
    unit::{RenderError, UnitFailure},
};
use serde_json::Value;

use crate::{
    facts, gates, index, kinds, names,
    provider::{Context, ProviderError},
    settings::Settings,
    world::World,
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

/// An invocation whose turn has come, or one that needs nothing any more.
#[derive(Clone, Debug)]
pub struct JobInput {
    invocation: ClowdJobInvocation,
    launch: Option<Launch>,
}

/// What jobs are started from.
#[derive(Clone)]
struct Launch {
    app: Arc<ClowdApp>,
    environment: Arc<ClowdEnvironment>,
    wants_tests: bool,
    world: Arc<dyn World>,
}

impl std::fmt::Debug for Launch {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Launch")
            .field("app", &self.app.metadata.name)
            .finish_non_exhaustive()
    }
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
    type Observed = Arc<dyn World>;
    type Input = JobInput;

    fn name(&self) -> &'static str {
        "clowdjobinvocation"
    }

    fn declared(&self) -> &'static [DeclaredKind] {
        kinds::KINDS
    }

    fn root_kind(&self) -> Kind {
        kinds::CLOWD_JOB_INVOCATION
    }

    fn field_manager(&self) -> FieldManager {
        names::MANAGER
    }

    fn strategy(&self) -> Strategy<'static> {
        Strategy {
            stage: kinds::stage,
            all_essential: true,
            deletion: Deletion::ByOwnerReference,
            ..Strategy::PLAIN
        }
    }

    fn facts(&self, kind: &Kind, object: &Value) -> Value {
        facts::facts(kind, object)
    }

    fn validate(&self, root: &Value, world: &Arc<dyn World>) -> Result<JobInput, ValidateError> {
        let invocation: ClowdJobInvocation = gates::decode(root)?;
        let wants_tests = wants_tests(root, &invocation);
        if has_run(&invocation) || (invocation.spec.jobs.is_empty() && !wants_tests) {
            return Ok(JobInput {
                invocation,
                launch: None,
            });
        }
        let (app, environment) = preconditions::check(&invocation, &**world)?;
        Ok(JobInput {
            invocation,
            launch: Some(Launch {
                app,
                environment,
                wants_tests,
                world: world.clone(),
            }),
        })
    }

    fn render(&self, input: &JobInput) -> Result<ObjectSet, UnitFailure> {
        let mut set = ObjectSet::new(self.declared());
        let Some(launch) = &input.launch else {
            return Ok(set);
        };
        let stage = launch.stage(&input.invocation, &self.settings);
        plain::render(&stage, &mut set).map_err(|error| failure(JOBS_UNIT, error))?;
        if launch.wants_tests {
            iqe::render(&stage, &mut set).map_err(|error| failure(IQE_UNIT, error))?;
        }
        // The last question, because the answer is a request: whoever cannot start anything need not ask.
        is_current(&stage).map_err(|error| failure(CURRENCY_UNIT, error))?;
        Ok(set)
    }

    fn related_events(&self, ending: &ReportInput<'_, Arc<dyn World>>) -> Option<RelatedEvents> {
        status::related_events(ending, &self.settings)
    }

    fn report(&self, ending: ReportInput<'_, Arc<dyn World>>) -> Report {
        status::report(&ending, &self.settings)
    }
}

impl Launch {
    fn stage<'render>(
        &'render self,
        invocation: &'render ClowdJobInvocation,
        settings: &'render Settings,
    ) -> Stage<'render> {
        Stage {
            invocation,
            app: &self.app,
            shared: Context {
                environment: &self.environment,
                // Jobs are in the namespace of their invocation, and nowhere else.
                target_namespace: "",
                settings,
                world: &*self.world,
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
    Ok(set.add_with(unit, job, Policy::CreateOnce)?)
}

/// Goes on only with the newest state of the app and of the invocation itself.
fn is_current(stage: &Stage<'_>) -> Result<(), ProviderError> {
    let place = |metadata| {
        let (namespace, name) = (names::namespace(metadata), names::name(metadata));
        (namespace.to_owned(), name.to_owned())
    };
    let world = stage.shared.world;
    let (app, invocation) = (&stage.app.metadata, &stage.invocation.metadata);
    let read = world.newest(&index::app_key(&place(app)));
    // Who is not stored yet, because somebody only asks what would happen, cannot have changed.
    if let Some(version) = &invocation.resource_version {
        let newest = world.newest(&index::invocation_key(&place(invocation)))?;
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
