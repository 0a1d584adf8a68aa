//! The provider contract: the original's word for a unit of the render step.
//!
//! An environment reconcile runs [`Provider::environment`] of every provider, an app reconcile [`Provider::app`], both in the
//! order of [`crate::providers::PROVIDERS`]. The first failure ends the reconcile and nothing is written.

use mainstay_api::clowder::{ClowdApp, ClowdEnvironment};
use mainstay_engine::{
    ObjectKey, ObjectSet,
    object_set::SetError,
    unit::{RenderError, UnitFailure},
};

use crate::{
    names,
    providers::{self, PROVIDERS, app_config::AppConfig, confighash::Associations, service},
    settings::Settings,
    views::lookup::Lookup,
};
use mainstay_engine::snapshot::Unknown;

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

    /// Something that the reconcile depends on is missing.
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

/// What both kinds of reconciles have in common.
#[derive(Clone, Copy)]
pub struct Context<'render> {
    /// The environment.
    pub environment: &'render ClowdEnvironment,
    /// Its target namespace.
    pub target_namespace: &'render str,
    /// The operator's configuration.
    pub settings: &'render Settings,
    /// The facts.
    pub lookup: Lookup<'render>,
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Context")
            .field("environment", &self.environment_name())
            .finish_non_exhaustive()
    }
}

impl<'render> Context<'render> {
    /// Name of the environment.
    pub fn environment_name(&self) -> &'render str {
        names::name(&self.environment.metadata)
    }

    /// Whether Services that honour it are of type `NodePort`.
    pub fn node_port(&self) -> bool {
        self.environment.spec.service_config.service_type.as_str() == "NodePort"
    }
}

/// A reconcile over an environment.
#[derive(Debug)]
pub struct EnvironmentRender<'render> {
    /// Environment, settings and facts.
    pub shared: Context<'render>,
    /// The objects.
    pub set: &'render mut ObjectSet,
}

/// A reconcile over an app.
#[derive(Debug)]
pub struct AppRender<'render> {
    /// Environment, settings and facts.
    pub shared: Context<'render>,
    /// The app.
    pub app: &'render ClowdApp,
    /// `cdappconfig.json` under construction.
    pub config: AppConfig,
    /// Objects whose changes restart the pods of the app.
    pub associations: Associations,
    /// The objects.
    pub set: &'render mut ObjectSet,
}

impl<'render> AppRender<'render> {
    /// Name of the app.
    pub fn app_name(&self) -> &'render str {
        names::name(&self.app.metadata)
    }

    /// Namespace of the app.
    pub fn namespace(&self) -> &'render str {
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

    /// Its part of an environment reconcile.
    fn environment(&self, _pass: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
        Ok(())
    }

    /// Its part of an app reconcile.
    fn app(&self, _pass: &mut AppRender<'_>) -> Result<(), ProviderError> {
        Ok(())
    }
}

/// Runs all providers over an environment. A failure holds what does not wait for the provider that failed.
pub fn render_environment(ctx: &mut EnvironmentRender<'_>) -> Result<(), UnitFailure> {
    run_environment(PROVIDERS, ctx)
}

/// Runs providers over an environment.
pub(crate) fn run_environment(
    providers: &[&dyn Provider],
    ctx: &mut EnvironmentRender<'_>,
) -> Result<(), UnitFailure> {
    let mut unknown = Ok(());
    for provider in providers {
        let name = provider.name();
        let (lookup, mut done) = (ctx.shared.lookup, Ok(()));
        lookup.run_unit(name, &mut || done = provider.environment(ctx));
        let failure = |error| failure(name, "runprov", error, ctx.set);
        go_on(done, &mut unknown, failure)?;
    }
    unknown
}

/// Runs all providers over an app. A failure holds what does not wait for the provider that failed.
pub fn render_app(ctx: &mut AppRender<'_>) -> Result<(), UnitFailure> {
    run_app(PROVIDERS, ctx)
}

/// Runs providers over an app.
pub(crate) fn run_app(
    providers: &[&dyn Provider],
    ctx: &mut AppRender<'_>,
) -> Result<(), UnitFailure> {
    let mut unknown = Ok(());
    for provider in providers {
        let name = provider.name();
        let (lookup, mut done) = (ctx.shared.lookup, Ok(()));
        lookup.run_unit(name, &mut || done = provider.app(ctx));
        let failure = |error| failure(name, "runapp", error, ctx.set);
        go_on(done, &mut unknown, failure)?;
    }
    unknown?;
    service::refuse_collisions(ctx.set).map_err(|text| UnitFailure {
        unit: providers::web::UNIT,
        source: RenderError::Input(text),
        early: ctx.set.early(),
    })
}

/// Goes on after a provider that asked for something unknown: those after it ask for theirs, and all of it is fetched
/// together. What they render or say meanwhile is rendered anew and does not count.
fn go_on(
    done: Result<(), ProviderError>,
    unknown: &mut Result<(), UnitFailure>,
    failure: impl FnOnce(ProviderError) -> UnitFailure,
) -> Result<(), UnitFailure> {
    match done {
        Err(error @ ProviderError::Unknown(_)) if unknown.is_ok() => *unknown = Err(failure(error)),
        Err(error) if unknown.is_ok() => return Err(failure(error)),
        _ => {}
    }
    Ok(())
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
