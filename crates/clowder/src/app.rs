//! The reconciler of the `ClowdApp` kind.

mod status;

use std::sync::Arc;

use mainstay_api::clowder::{ClowdApp, ClowdEnvironment};
use mainstay_engine::{
    Kind, ObjectSet,
    decode::decode,
    field_manager::FieldManager,
    kind::KindTable,
    live::LiveObject,
    plan::{Deletion, Lifecycle},
    reconciler::{Reconciler, Rejection, Report, ReportInput, ValidateError},
    snapshot::Snapshot,
    unit::UnitFailure,
};
use serde_json::Value;

pub use self::status::shared_name;
use crate::{
    gates::{self, grants, waiting},
    kinds, names, options,
    providers::{
        app_config::{AppConfig, AppMetadata, DeploymentMetadata},
        confighash::Associations,
        provider::{self, AppRender, Context},
    },
    settings::Settings,
    views::{facts, lookup::Lookup},
};

/// The pure part of the app controller.
#[derive(Clone, Debug)]
pub struct AppReconciler {
    /// The operator's configuration.
    pub settings: Arc<Settings>,
}

/// An app whose turn has come.
#[derive(Clone, Debug)]
pub struct AppInput {
    environment: Arc<ClowdEnvironment>,
    target_namespace: String,
}

impl Reconciler for AppReconciler {
    type Object = ClowdApp;
    type Input = AppInput;

    fn name(&self) -> &'static str {
        "clowdapp"
    }

    fn declared(&self) -> KindTable {
        kinds::KINDS
    }

    fn root_kind(&self) -> Kind {
        kinds::CLOWD_APP
    }

    fn field_manager(&self) -> FieldManager {
        names::MANAGER
    }

    fn lifecycle(&self) -> Lifecycle {
        Lifecycle {
            finalizer: Some(names::APP_FINALIZER),
            early_finalizer: true,
            deletion: Deletion::ByOwnerReference,
        }
    }

    fn facts(&self, kind: &Kind, object: &Value) -> Value {
        facts::facts(kind, object)
    }

    fn decode(&self, root: &Value) -> Result<ClowdApp, Rejection> {
        decode(root)
    }

    fn validate(&self, app: &ClowdApp, snapshot: &dyn Snapshot) -> Result<AppInput, ValidateError> {
        let lookup = Lookup::new(snapshot, &self.settings);
        if app.spec.disabled {
            return Err(waiting(gates::DISABLED, "the app is disabled"));
        }
        let name = &app.spec.environment_name;
        let namespace = names::namespace(&app.metadata);
        gates::check_namespace(lookup, namespace, gates::NO_TARGET_NAMESPACE)?;
        let Some(environment) = lookup.environment(name)? else {
            let missing = format!("ClowdEnvironment.cloud.redhat.com \"{name}\" not found");
            return Err(waiting(gates::ENVIRONMENT_MISSING, missing));
        };
        grants::check_app(lookup, app, &environment)?;
        let status = environment.status.clone().unwrap_or_default();
        let target = &status.target_namespace;
        gates::check_namespace(lookup, target, gates::NO_TARGET_NAMESPACE)?;
        if environment.metadata.generation.unwrap_or_default() != status.generation {
            return Err(waiting(
                gates::ENVIRONMENT_NOT_RECONCILED,
                "clowd env not reconciled",
            ));
        }
        if !status.ready || status.conditions.is_empty() {
            return Err(waiting(gates::ENVIRONMENT_NOT_READY, "clowd env not ready"));
        }
        Ok(AppInput {
            target_namespace: status.target_namespace,
            environment,
        })
    }

    fn render(
        &self,
        app: &ClowdApp,
        input: &AppInput,
        snapshot: &dyn Snapshot,
    ) -> Result<ObjectSet, UnitFailure> {
        let mut set =
            ObjectSet::with_options(self.declared(), options::of_operator(&self.settings));
        set.prune.only(is_labelled_for_its_app);
        let mut ctx = AppRender {
            shared: Context {
                environment: &input.environment,
                target_namespace: &input.target_namespace,
                settings: &self.settings,
                lookup: Lookup::new(snapshot, &self.settings),
            },
            app,
            config: AppConfig {
                metadata: Some(metadata(app)),
                ..AppConfig::default()
            },
            associations: Associations::default(),
            set: &mut set,
        };
        provider::render_app(&mut ctx)?;
        Ok(set)
    }

    fn report(&self, input: &ReportInput<'_, Self>) -> Report {
        status::report(&self.settings, input)
    }
}

/// What the app is told about itself.
fn metadata(app: &ClowdApp) -> AppMetadata {
    let deployments = app.spec.deployments.iter();
    let deployments = deployments.map(|deployment| DeploymentMetadata {
        image: deployment.pod_spec.image.clone(),
        name: deployment.name.clone(),
    });
    AppMetadata {
        deployments: deployments.collect(),
        env_name: Some(app.spec.environment_name.clone()),
        name: Some(names::name(&app.metadata).to_owned()),
    }
}

/// What is left over of an app goes if it carries the app's own label. Parity: what has no labels stays.
fn is_labelled_for_its_app(live: &LiveObject) -> bool {
    let owner = live.owners.iter().find(|owner| owner.kind == "ClowdApp");
    owner.is_some_and(|owner| facts::label(live, "app") == Some(&owner.name))
}
