//! Mode `app-interface`: databases that somebody else runs, found by the Secrets that describe them.

use std::sync::Arc;

use mainstay_engine::snapshot::View;

use super::lender;
use crate::{
    providers::{
        app_config::DatabaseConfig,
        credentials,
        effect::Effect,
        images,
        provider::{AppRender, Context, EnvironmentRender, ProviderError},
    },
    views::{SecretFacts, lookup::Lookup},
};

/// Where the certificates come from unless the environment says otherwise.
const CA_BUNDLE: &str = "https://s3.amazonaws.com/rds-downloads/rds-combined-ca-bundle.pem";
/// Annotation of a Secret that names the app it is for.
const ANNOTATION: &str = "clowder/database";
/// What an inventory reads of such a Secret.
const MORE_KEYS: &[&str] = &["hostname", "name", "password", "port", "username"];
const KEYS: &[&str] = &["db.host", "db.port", "db.user", "db.password", "db.name"];

/// The Secrets that may describe a database.
static DESCRIPTIONS: View<SecretFacts> = View::new("database-secrets", |object| {
    SecretFacts::describing(object, ANNOTATION, KEYS, MORE_KEYS)
});

/// Makes sure that the certificates can be had.
pub(super) fn environment(ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
    ca_bundle(&ctx.shared).map(drop)
}

fn ca_bundle(context: &Context<'_>) -> Result<String, ProviderError> {
    let given = &context.environment.spec.providers.database.ca_bundle_url;
    let effect = Effect::Fetch {
        url: images::first(&[given, CA_BUNDLE]).to_owned(),
    };
    let fetched = context.lookup.effect(effect)?.and_then(|bundle| {
        if bundle.starts_with("-----BEGIN CERTIFICATE") {
            Ok(bundle)
        } else {
            Err("Invalid RDS CA bundle: ".to_owned())
        }
    });
    fetched.map_err(|cause| ProviderError::caused("Failed to fetch RDS CA bundle", cause))
}

pub(super) fn app(ctx: &mut AppRender<'_>) -> Result<DatabaseConfig, ProviderError> {
    let database = &ctx.app.spec.database;
    let shares = !database.shared_database_app_name.is_empty();
    if shares && !database.name.is_empty() {
        return Err(ProviderError::bare(
            "Cannot set dbName & shared db app name",
        ));
    }
    let lookup = ctx.shared.lookup;
    let found = if shares {
        let lender = lender(ctx)?;
        find_credentials(lookup, &lender.name, &lender.namespace, &lender.database)?
    } else {
        find_credentials(lookup, ctx.app_name(), ctx.namespace(), &database.name)?
    };
    Ok(DatabaseConfig {
        rds_ca: Some(ca_bundle(&ctx.shared)?),
        ..found
    })
}

/// The database of an app: by the Secret that names the app, else by the host that is named like the database.
pub fn find_credentials(
    lookup: Lookup<'_>,
    app: &str,
    namespace: &str,
    database: &str,
) -> Result<DatabaseConfig, ProviderError> {
    let secret = find_secret(lookup, app, namespace, database)?;
    config(&secret).ok_or_else(unreadable_port)
}

/// The Secret that describes the database of an app.
pub(in crate::providers) fn find_secret(
    lookup: Lookup<'_>,
    app: &str,
    namespace: &str,
    database: &str,
) -> Result<Arc<SecretFacts>, ProviderError> {
    let secrets = lookup.secrets_in(namespace, &DESCRIPTIONS)?;
    let annotated = secrets
        .iter()
        .find(|secret| secret.annotations.get(ANNOTATION).map(String::as_str) == Some(app));
    if let Some(secret) = annotated
        && secret.has_keys(KEYS)
    {
        config(secret).ok_or_else(unreadable_port)?;
        return Ok(secret.clone());
    }
    let is_wanted = |secret: &&Arc<SecretFacts>| {
        secret.has_keys(KEYS)
            && config(secret).is_some_and(|config| is_host_of(&config.hostname, database))
    };
    secrets.iter().find(is_wanted).cloned().ok_or_else(|| {
        let details =
            format!("DB secret matching app '{app}' not found in namespace '{namespace}'");
        ProviderError::missing("database", [details.as_str()])
    })
}

fn unreadable_port() -> ProviderError {
    ProviderError::bare("failed to extract annotated secret: Failed to parse DB port")
}

/// Whether a host like `<database>-<stage>.<domain>` is the one for writing.
fn is_host_of(host: &str, database: &str) -> bool {
    let label = host.split('.').next().unwrap_or_default();
    let (name, stage) = label.rsplit_once('-').unwrap_or(("", label));
    stage != "readonly" && name == database
}

fn config(secret: &SecretFacts) -> Option<DatabaseConfig> {
    let text = |key| secret.text(key).unwrap_or_default();
    let port = credentials::integer(&text("db.port")).ok()?;
    Some(DatabaseConfig {
        admin_password: text("db.password"),
        admin_username: text("db.user"),
        hostname: text("db.host"),
        name: text("db.name"),
        password: text("db.password"),
        port,
        rds_ca: None,
        ssl_mode: "verify-full".to_owned(),
        username: text("db.user"),
    })
}
