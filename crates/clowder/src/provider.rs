//! The provider contract: the original's word for a unit of the render step.
//!
//! An environment pass runs [`Provider::environment`] of every provider, an app pass [`Provider::app`], both in the
//! order of [`crate::providers::PROVIDERS`]. The first failure ends the pass and nothing is written.

use mainstay_api::clowder::{ClowdApp, ClowdEnvironment};
use mainstay_engine::{
    ObjectKey, ObjectSet,
    object_set::SetError,
    unit::{RenderError, UnitFailure},
};

use crate::{
    app_config::AppConfig,
    names,
    providers::{self, PROVIDERS, confighash::Associations, service},
    settings::Settings,
    world::{Unknown, World},
};

/// Why a provider could not do its part. Texts end up in conditions, word for word as the original's.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// A fact is not known yet.
    #[error(transparent)]
    Unknown(#[from] Unknown),
    /// The provider cannot be set up: an unknown mode, or a component that its setup needs.
    #[error("{0}")]
    Setup(String),
    /// The provider cannot do its part.
    #[error("{0}")]
    Failed(String),
    /// The provider misused the object set: a defect of ours.
    #[error(transparent)]
    Set(#[from] SetError),
}

impl ProviderError {
    /// The original prints a colon and a space after its own messages even if no cause follows.
    pub fn bare(message: impl std::fmt::Display) -> Self {
        Self::Failed(format!("{message}: "))
    }

    /// A message with its cause.
    pub fn caused(message: impl std::fmt::Display, cause: impl std::fmt::Display) -> Self {
        Self::Failed(format!("{message}: {cause}"))
    }

    /// The same as a failure to set the provider up.
    #[must_use]
    pub fn of_setup(self) -> Self {
        match self {
            Self::Failed(cause) => Self::Setup(cause),
            other @ (Self::Setup(_) | Self::Unknown(_) | Self::Set(_)) => other,
        }
    }

    /// The same with a message in front. What is no failure of the input stays as it is.
    #[must_use]
    pub fn within(self, message: impl std::fmt::Display) -> Self {
        match self {
            Self::Setup(cause) | Self::Failed(cause) => Self::caused(message, cause),
            other @ (Self::Unknown(_) | Self::Set(_)) => other,
        }
    }

    /// Something that the pass depends on is missing.
    pub fn missing<'detail>(source: &str, details: impl IntoIterator<Item = &'detail str>) -> Self {
        let details: Vec<String> = details
            .into_iter()
            .map(|detail| format!("source: {source}, details: {detail}"))
            .collect();
        Self::Failed(format!("Missing dependencies: [{}]", details.join("; ")))
    }

    /// No implementation for a mode.
    pub fn no_mode(what: &str, mode: impl std::fmt::Display) -> Self {
        Self::Setup(format!("No matching {what} mode for {mode}: "))
    }
}

/// What both kinds of passes have in common.
#[derive(Clone, Copy)]
pub struct Scene<'pass> {
    /// The environment.
    pub environment: &'pass ClowdEnvironment,
    /// Its target namespace.
    pub target_namespace: &'pass str,
    /// The operator's configuration.
    pub settings: &'pass Settings,
    /// The facts.
    pub world: &'pass dyn World,
}

impl std::fmt::Debug for Scene<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Scene")
            .field("environment", &self.environment_name())
            .finish_non_exhaustive()
    }
}

impl<'pass> Scene<'pass> {
    /// Name of the environment.
    pub fn environment_name(&self) -> &'pass str {
        names::name(&self.environment.metadata)
    }

    /// Whether Services that honour it are of type `NodePort`.
    pub fn node_port(&self) -> bool {
        self.environment.spec.service_config.service_type.as_str() == "NodePort"
    }
}

/// A pass over an environment.
#[derive(Debug)]
pub struct EnvironmentPass<'pass> {
    /// Environment, settings and facts.
    pub scene: Scene<'pass>,
    /// The objects.
    pub set: &'pass mut ObjectSet,
}

/// A pass over an app.
#[derive(Debug)]
pub struct AppPass<'pass> {
    /// Environment, settings and facts.
    pub scene: Scene<'pass>,
    /// The app.
    pub app: &'pass ClowdApp,
    /// `cdappconfig.json` under construction.
    pub config: AppConfig,
    /// Objects whose changes restart the pods of the app.
    pub associations: Associations,
    /// The objects.
    pub set: &'pass mut ObjectSet,
}

impl<'pass> AppPass<'pass> {
    /// Name of the app.
    pub fn app_name(&self) -> &'pass str {
        names::name(&self.app.metadata)
    }

    /// Namespace of the app.
    pub fn namespace(&self) -> &'pass str {
        names::namespace(&self.app.metadata)
    }

    /// Name of the objects of a deployment or job.
    pub fn part(&self, part: &str) -> String {
        names::part(self.app_name(), part)
    }

    /// Key of the Deployment of a deployment.
    pub fn deployment_key(&self, deployment: &str) -> ObjectKey {
        self.key(crate::kinds::DEPLOYMENT, deployment)
    }

    /// Key of the Service of a deployment.
    pub fn service_key(&self, deployment: &str) -> ObjectKey {
        self.key(crate::kinds::SERVICE, deployment)
    }

    /// Key of the CronJob of a job.
    pub fn cron_job_key(&self, job: &str) -> ObjectKey {
        self.key(crate::kinds::CRON_JOB, job)
    }

    fn key(&self, kind: mainstay_engine::Kind, part: &str) -> ObjectKey {
        ObjectKey::new(kind, self.namespace(), self.part(part))
    }
}

/// One provider.
pub trait Provider: Send + Sync {
    /// Its registered name, which error texts carry.
    fn name(&self) -> &'static str;

    /// Its part of an environment pass.
    fn environment(&self, _pass: &mut EnvironmentPass<'_>) -> Result<(), ProviderError> {
        Ok(())
    }

    /// Its part of an app pass.
    fn app(&self, _pass: &mut AppPass<'_>) -> Result<(), ProviderError> {
        Ok(())
    }
}

/// Runs all providers over an environment. A failure holds what does not wait for the provider that failed.
pub fn render_environment(pass: &mut EnvironmentPass<'_>) -> Result<(), UnitFailure> {
    run_environment(PROVIDERS, pass)
}

/// Runs providers over an environment.
pub(crate) fn run_environment(
    providers: &[&dyn Provider],
    pass: &mut EnvironmentPass<'_>,
) -> Result<(), UnitFailure> {
    for provider in providers {
        let name = provider.name();
        let (world, mut done) = (pass.scene.world, Ok(()));
        world.watch_provider(name, &mut || done = provider.environment(pass));
        done.map_err(|error| failure(name, "runprov", error, pass.set))?;
    }
    Ok(())
}

/// Runs all providers over an app. A failure holds what does not wait for the provider that failed.
pub fn render_app(pass: &mut AppPass<'_>) -> Result<(), UnitFailure> {
    run_app(PROVIDERS, pass)
}

/// Runs providers over an app.
pub(crate) fn run_app(
    providers: &[&dyn Provider],
    pass: &mut AppPass<'_>,
) -> Result<(), UnitFailure> {
    for provider in providers {
        let name = provider.name();
        let (world, mut done) = (pass.scene.world, Ok(()));
        world.watch_provider(name, &mut || done = provider.app(pass));
        done.map_err(|error| failure(name, "runapp", error, pass.set))?;
    }
    service::refuse_collisions(pass.set).map_err(|text| UnitFailure {
        unit: providers::web::UNIT,
        source: RenderError::Input(text),
        early: pass.set.early(),
    })
}

fn failure(unit: &'static str, phase: &str, error: ProviderError, set: &ObjectSet) -> UnitFailure {
    let source = match error {
        ProviderError::Unknown(_) => RenderError::Unknown,
        ProviderError::Setup(text) => RenderError::Input(format!("getprov: {unit}: {text}")),
        ProviderError::Failed(text) => RenderError::Input(format!("{phase}: {unit}: {text}")),
        ProviderError::Set(error) => RenderError::Set(error),
    };
    UnitFailure {
        unit,
        source,
        early: set.early(),
    }
}
