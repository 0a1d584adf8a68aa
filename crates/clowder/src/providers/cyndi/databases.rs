//! The two databases that a pipeline connects.

use std::sync::Arc;

use mainstay_api::clowder::environment::database::DatabaseMode;

use crate::{
    names,
    providers::{
        credentials, database,
        provider::{AppRender, ProviderError},
    },
    views::{SecretFacts, summary::AppSummary},
};

/// The app with the inventory.
pub(super) const INVENTORY: &str = "host-inventory";

/// How to reach a database.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Database {
    pub(super) host: String,
    pub(super) port: String,
    pub(super) name: String,
    pub(super) user: String,
    pub(super) password: String,
}

impl Database {
    fn of(secret: &SecretFacts) -> Self {
        let text = |key| secret.text(key).unwrap_or_default();
        Self {
            host: text("hostname"),
            port: text("port"),
            name: text("name"),
            user: text("username"),
            password: text("password"),
        }
    }
}

/// The one app of this name in the environment.
fn only_app(ctx: &AppRender<'_>, name: &str) -> Result<Arc<AppSummary>, ProviderError> {
    let environment = &ctx.app.spec.environment_name;
    let mut apps = ctx.shared.lookup.apps_named(environment, name);
    let app = apps.pop().ok_or_else(|| {
        ProviderError::bare(format!("unable to locate '{name}' ClowdApp in environment"))
    })?;
    if apps.is_empty() {
        return Ok(app);
    }
    Err(ProviderError::bare(format!(
        "found more than one '{name}' ClowdApp in environment"
    )))
}

fn stored(ctx: &AppRender<'_>, app: &AppSummary) -> Result<Database, ProviderError> {
    let name = names::part(&app.name, "db");
    let secret = credentials::stored(ctx.shared.lookup, &app.namespace, &name)?;
    let secret = secret.map_err(|cause| unreadable(&name, cause))?;
    Ok(Database::of(&secret))
}

fn unreadable(secret: &str, cause: impl std::fmt::Display) -> ProviderError {
    ProviderError::caused(format!("couldn't get '{secret}' secret"), cause)
}

/// The database of the inventory.
pub(super) fn of_inventory(ctx: &AppRender<'_>) -> Result<Database, ProviderError> {
    let app = only_app(ctx, INVENTORY)?;
    stored(ctx, &app)
}

/// The database of the app, as the provider of databases has just told it.
pub(super) fn of_app(ctx: &AppRender<'_>) -> Result<Database, ProviderError> {
    let app = only_app(ctx, ctx.app_name())?;
    if app.name == INVENTORY {
        return stored(ctx, &app);
    }
    let wanted = &ctx.app.spec.database;
    if !wanted.shared_database_app_name.is_empty() {
        return Err(ProviderError::bare("Shared DB app cannot use Cyndi"));
    }
    match &ctx.shared.environment.spec.providers.database.mode {
        DatabaseMode::Local | DatabaseMode::Shared => {
            let told = ctx.config.database.as_ref().ok_or_else(|| {
                let name = names::part(&app.name, "db");
                unreadable(&name, "object cache not found, cannot get")
            })?;
            Ok(Database {
                host: told.hostname.clone(),
                port: told.port.to_string(),
                name: told.name.clone(),
                ..Database::default()
            })
        }
        DatabaseMode::AppInterface if !wanted.name.is_empty() => {
            let lookup = ctx.shared.lookup;
            let secret = database::find_secret(lookup, &app.name, &app.namespace, &wanted.name)
                .map_err(|error| error.within("could not get database config"))?;
            // Parity: only the keys that Clowder itself writes are looked at.
            Ok(Database::of(&secret))
        }
        _ => Ok(Database::default()),
    }
}
