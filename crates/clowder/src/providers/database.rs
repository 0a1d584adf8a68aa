//! Provider `database`: a PostgreSQL database for each app that asks for one.

mod app_interface;
mod local;
mod shared;

use std::sync::Arc;

use mainstay_api::clowder::environment::database::DatabaseMode;
use mainstay_engine::ObjectSet;

pub use self::app_interface::find_credentials;
pub(super) use self::app_interface::find_secret;
use super::postgres::{self, ADMINISTRATOR};
use crate::{
    kinds, names,
    providers::{
        app_config::DatabaseConfig,
        credentials,
        provider::{AppRender, EnvironmentRender, Provider, ProviderError},
    },
    views::summary::AppSummary,
};

const UNIT: &str = "database";
/// Why a Secret could not be used.
const NO_SECRET: &str = "Couldn't set/get secret";

/// The provider.
#[derive(Debug)]
pub struct Database;

impl Provider for Database {
    fn name(&self) -> &'static str {
        UNIT
    }

    fn environment(&self, ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
        match &ctx.shared.environment.spec.providers.database.mode {
            DatabaseMode::Local => register(ctx.set),
            DatabaseMode::Shared => {
                register(ctx.set);
                shared::environment(ctx)?;
            }
            DatabaseMode::AppInterface => app_interface::environment(ctx)?,
            mode => no_database(mode)?,
        }
        Ok(())
    }

    fn app(&self, ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
        let mode = &ctx.shared.environment.spec.providers.database.mode;
        if matches!(mode, DatabaseMode::Local | DatabaseMode::Shared) {
            register(ctx.set);
        }
        let wanted = &ctx.app.spec.database;
        let wanted = !(wanted.name.is_empty() && wanted.shared_database_app_name.is_empty());
        let config = match mode {
            DatabaseMode::Local if wanted => local::app(ctx)?,
            DatabaseMode::Shared if wanted => shared::app(ctx)?,
            DatabaseMode::AppInterface if wanted => app_interface::app(ctx)?,
            DatabaseMode::Local | DatabaseMode::Shared | DatabaseMode::AppInterface => {
                return Ok(());
            }
            mode => return no_database(mode),
        };
        ctx.config.database = Some(config);
        Ok(())
    }
}

fn no_database(mode: &DatabaseMode) -> Result<(), ProviderError> {
    match mode.as_str() {
        "none" | "" => Ok(()),
        mode => Err(ProviderError::no_mode("db", mode)),
    }
}

/// What is left over of these kinds goes.
fn register(set: &mut ObjectSet) {
    for kind in [
        kinds::DEPLOYMENT,
        kinds::SERVICE,
        kinds::PERSISTENT_VOLUME_CLAIM,
        kinds::SECRET,
    ] {
        set.prune.kind(kind);
    }
}

/// The app whose database this app shares. It has to be a dependency: optional ones may be missing.
fn lender(ctx: &AppRender<'_>) -> Result<Arc<AppSummary>, ProviderError> {
    let spec = &ctx.app.spec;
    let name = &spec.database.shared_database_app_name;
    if !spec.dependencies.contains(name) {
        return Err(ProviderError::bare(
            "The requested app's db was not found in the dependencies",
        ));
    }
    let apps = ctx.shared.lookup.apps_named(&spec.environment_name, name);
    let app = apps.into_iter().next();
    app.ok_or_else(|| ProviderError::Failed("could not get app for db in env".to_owned()))
}

/// The database of the lender, as its Secret says.
fn borrowed(ctx: &AppRender<'_>) -> Result<DatabaseConfig, ProviderError> {
    let lender = lender(ctx)?;
    let secret = names::part(&lender.name, "db");
    let secret = credentials::stored(ctx.shared.lookup, &lender.namespace, &secret)?
        .map_err(|cause| ProviderError::caused(NO_SECRET, cause))?;
    credentials::require(&secret, &lender.namespace, postgres::LOGIN)?;
    config(|key| secret.text(key))
}

/// Reads the configuration off the values of a Secret.
fn config(value: impl Fn(&str) -> Option<String>) -> Result<DatabaseConfig, ProviderError> {
    let text = |key| value(key).unwrap_or_default();
    let port = credentials::integer(&text("port"))
        .map_err(|cause| ProviderError::caused("couldn't convert to int", cause))?;
    Ok(DatabaseConfig {
        admin_password: text("pgPass"),
        admin_username: ADMINISTRATOR.to_owned(),
        hostname: text("hostname"),
        name: text("name"),
        password: text("password"),
        port,
        rds_ca: None,
        ssl_mode: "disable".to_owned(),
        username: text("username"),
    })
}

#[cfg(test)]
mod tests;
