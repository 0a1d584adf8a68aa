//! The reconciler of the `ClowdEnvironment` kind.

mod status;

use std::sync::Arc;

use k8s_openapi::{api::core::v1::Namespace, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use mainstay_api::clowder::ClowdEnvironment;
use mainstay_engine::{
    Kind, ObjectKey, ObjectSet,
    decode::decode,
    field_manager::FieldManager,
    kind::KindTable,
    live::LiveObject,
    options::Options,
    plan::{Deletion, Lifecycle},
    reconciler::{Cleanup, Event, Reconciler, Rejection, Report, ReportInput, ValidateError},
    snapshot::Snapshot,
    unit::{RenderError, UnitFailure},
};
use serde_json::Value;

use crate::{
    gates::{self, waiting},
    kinds, names, options,
    providers::{
        provider::{self, Context, EnvironmentRender},
        web::local::hostname,
    },
    settings::Settings,
    views::{facts, lookup::Lookup},
};
use mainstay_engine::snapshot::{Alphabet, Unknown};

/// Unit that makes the namespace of an environment that names none.
const NAMESPACE_UNIT: &str = "target-namespace";

/// Letters at the end of the name of such a namespace.
const CHOSEN_LETTERS: usize = 6;

/// The pure part of the environment controller.
#[derive(Clone, Debug)]
pub struct EnvironmentReconciler {
    /// The operator's configuration.
    pub settings: Arc<Settings>,
}

/// An environment whose turn has come.
#[derive(Clone, Debug)]
pub struct EnvironmentInput {
    target_namespace: String,
    /// The namespace has a chosen name and has to be made.
    makes_namespace: bool,
}

impl Reconciler for EnvironmentReconciler {
    type Object = ClowdEnvironment;
    type Input = EnvironmentInput;

    fn name(&self) -> &'static str {
        "clowdenvironment"
    }

    fn declared(&self) -> KindTable {
        kinds::KINDS
    }

    fn root_kind(&self) -> Kind {
        kinds::CLOWD_ENVIRONMENT
    }

    fn field_manager(&self) -> FieldManager {
        names::MANAGER
    }

    fn lifecycle(&self) -> Lifecycle {
        Lifecycle {
            finalizer: Some(names::ENVIRONMENT_FINALIZER),
            early_finalizer: true,
            deletion: Deletion::ByOwnerReference,
        }
    }

    fn facts(&self, kind: &Kind, object: &Value) -> Value {
        facts::facts(kind, object)
    }

    fn decode(&self, root: &Value) -> Result<ClowdEnvironment, Rejection> {
        decode(root)
    }

    fn validate(
        &self,
        environment: &ClowdEnvironment,
        snapshot: &dyn Snapshot,
    ) -> Result<EnvironmentInput, ValidateError> {
        let lookup = Lookup::new(snapshot, &self.settings);
        if environment.spec.disabled {
            return Err(waiting(gates::DISABLED, "the environment is disabled"));
        }
        let (target_namespace, makes_namespace) = target_namespace(environment, lookup)?;
        hostname::check(environment, &self.settings, lookup)?;
        Ok(EnvironmentInput {
            target_namespace,
            makes_namespace,
        })
    }

    fn render(
        &self,
        environment: &ClowdEnvironment,
        input: &EnvironmentInput,
        snapshot: &dyn Snapshot,
    ) -> Result<ObjectSet, UnitFailure> {
        let mut set =
            ObjectSet::with_options(self.declared(), options::of_operator(&self.settings));
        set.prune.only(is_labelled_for_its_environment);
        if input.makes_namespace {
            add_namespace(&mut set, &input.target_namespace, environment)?;
        }
        let mut ctx = EnvironmentRender {
            shared: Context {
                environment,
                target_namespace: &input.target_namespace,
                settings: &self.settings,
                lookup: Lookup::new(snapshot, &self.settings),
            },
            set: &mut set,
        };
        provider::render_environment(&mut ctx)?;
        Ok(set)
    }

    fn cleanup(&self, root: &Value, snapshot: &dyn Snapshot) -> Cleanup {
        let Ok(environment) = decode::<ClowdEnvironment>(root) else {
            return Cleanup::default();
        };
        let lookup = Lookup::new(snapshot, &self.settings);
        if !environment.spec.target_namespace.is_empty()
            || !made_its_namespace(&environment, lookup)
        {
            return Cleanup::default();
        }
        let status = environment.status.unwrap_or_default();
        let name = names::name(&environment.metadata);
        let message = format!(
            "Clowder Environment [{name}] had no targetNamespace, deleting generated namespace"
        );
        Cleanup {
            places: Vec::new(),
            objects: vec![ObjectKey::new(
                kinds::NAMESPACE,
                "",
                status.target_namespace,
            )],
            events: vec![Event {
                warning: true,
                reason: "NamespaceDeletion",
                message,
            }],
        }
    }

    fn report(&self, input: &ReportInput<'_, Self>) -> Report {
        status::report(&self.settings, input)
    }
}

/// The target namespace, and whether it has to be made. A name that was chosen once stays, whatever the spec says later.
fn target_namespace(
    environment: &ClowdEnvironment,
    lookup: Lookup<'_>,
) -> Result<(String, bool), ValidateError> {
    let status = environment.status.clone().unwrap_or_default();
    let asked = &environment.spec.target_namespace;
    let name = names::name(&environment.metadata);
    if status.target_namespace.is_empty() && asked.is_empty() {
        let suffix = lookup.generated("namespace", Alphabet::LowerAlphanumeric, CHOSEN_LETTERS);
        let chosen = format!("{}{suffix}", chosen_prefix(name));
        return Err(waiting(gates::NAMESPACE_CHOSEN, chosen));
    }
    if status.target_namespace.is_empty() {
        gates::check_namespace(lookup, asked, gates::NAMESPACE_MISSING)?;
        return Ok((asked.clone(), false));
    }
    let target = status.target_namespace;
    let key = ObjectKey::new(kinds::NAMESPACE, "", target.as_str());
    // One that was just made may not have been seen by the watch yet.
    let is_made = lookup.live(&key).is_some();
    let seen = lookup.namespace(&target)?;
    let is_known = is_made || seen.is_some();
    // The name is stored before the namespace is made, so that a crash in between leaves nothing behind.
    if asked.is_empty() && status.generation == 0 && !is_known {
        return Ok((target, true));
    }
    if seen.is_some() || !is_made {
        gates::check_namespace(lookup, &target, gates::NO_TARGET_NAMESPACE)?;
    }
    Ok((target, false))
}

/// Beginning of the names that are chosen for the namespace of an environment.
fn chosen_prefix(environment: &str) -> String {
    format!("clowdenv-{environment}-")
}

/// Whether an environment made its target namespace. One that bears a mark says so itself; others are of the original,
/// which left none: they are known by a name that was chosen for the environment, and that nobody else uses.
fn made_its_namespace(environment: &ClowdEnvironment, lookup: Lookup<'_>) -> bool {
    let status = environment.status.as_ref();
    let target = status.map_or("", |status| status.target_namespace.as_str());
    let name = names::name(&environment.metadata);
    match lookup.namespace_maker(target) {
        Ok(Some(maker)) => environment.metadata.uid.as_ref() == Some(&*maker),
        Ok(None) => is_chosen(target, name) && !lookup.is_target_of_another(target, name),
        Err(Unknown) => false,
    }
}

/// Whether a name was chosen for the namespace of an environment.
fn is_chosen(target: &str, environment: &str) -> bool {
    let suffix = target.strip_prefix(&chosen_prefix(environment));
    let letters = Alphabet::LowerAlphanumeric.letters();
    suffix.is_some_and(|suffix| {
        suffix.len() == CHOSEN_LETTERS && suffix.chars().all(|letter| letters.contains(letter))
    })
}

fn add_namespace(
    set: &mut ObjectSet,
    name: &str,
    environment: &ClowdEnvironment,
) -> Result<(), UnitFailure> {
    let maker = environment.metadata.uid.clone();
    let maker = maker.map(|uid| [(names::MAKER.to_owned(), uid)].into());
    let namespace = Namespace {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            annotations: maker,
            ..ObjectMeta::default()
        },
        ..Namespace::default()
    };
    let added = set.add_with(NAMESPACE_UNIT, &namespace, Options::generated);
    added.map_err(|error| UnitFailure {
        unit: NAMESPACE_UNIT,
        source: RenderError::Set(error),
        early: None,
    })
}

/// Parity: only what carries the label `env` is ever cleaned up after an environment.
fn is_labelled_for_its_environment(live: &LiveObject) -> bool {
    let owner = live
        .owners
        .iter()
        .find(|owner| owner.kind == "ClowdEnvironment");
    owner.is_some_and(|owner| facts::label(live, "env") == Some(&owner.name))
}
