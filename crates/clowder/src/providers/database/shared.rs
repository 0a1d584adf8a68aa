//! Mode `shared`: a server for each version that apps ask for, and in it a database for each app.

use std::collections::BTreeMap;

use k8s_openapi::{ByteString, api::core::v1::Secret};

use super::{UNIT, borrowed, config};
use crate::{
    names::{self, Labels},
    providers::{
        app_config::DatabaseConfig,
        component::Component,
        credentials::{self, Generator},
        effect::{Effect, Hidden},
        images,
        postgres::{self, Login, Server, Size},
        provider::{AppRender, Context, EnvironmentRender, ProviderError},
    },
};

/// A server for each version in use. One that is not needed any more stays: there is data in it.
pub(super) fn environment(ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
    let context = ctx.shared;
    let mut sizes: BTreeMap<i32, Size> = BTreeMap::new();
    for app in context.lookup.apps(context.environment_name()) {
        if app.database.is_empty() {
            continue;
        }
        let version = app.database_version.unwrap_or(postgres::DEFAULT_VERSION);
        let wanted = Size::from(&app.database_volume_size.as_str().into());
        let size = sizes.entry(version).or_insert(wanted);
        *size = wanted.max(*size);
    }
    for (version, size) in sizes {
        add_server(ctx, version, size)?;
    }
    Ok(())
}

fn add_server(
    ctx: &mut EnvironmentRender<'_>,
    version: i32,
    size: Size,
) -> Result<(), ProviderError> {
    let context = ctx.shared;
    let component = Component::of_environment(&context, server_name(&context, version));
    let login = Login::of(ctx, UNIT, &component, postgres::LOGIN, |generator| {
        generate(generator, &component.host(), context.environment_name())
    })?;
    let persistent = context.environment.spec.providers.database.persistent;
    let server = Server {
        component,
        role: format!("shared_db_{version}"),
        // Parity: the one image fits every app, whether it uses Cyndi or not.
        image: images::postgres(version, true)?,
        username: login.username,
        password: login.password,
        administrator_password: login.administrator_password,
        database: context.environment_name().to_owned(),
        resources: Size::ExtraSmall.resources(),
        claim: persistent.then(|| size.volume()),
    };
    server.add(context.lookup, ctx.set, UNIT)
}

fn server_name(context: &Context<'_>, version: i32) -> String {
    names::part(context.environment_name(), &format!("db-v{version}"))
}

fn generate(generator: &Generator<'_>, host: &str, name: &str) -> BTreeMap<String, String> {
    let values = [
        ("hostname", host.to_owned()),
        ("port", postgres::PORT.to_string()),
        ("username", generator.password("username")),
        ("password", generator.password("password")),
        ("pgPass", generator.password("pgPass")),
        ("name", name.to_owned()),
    ];
    values.map(|(key, value)| (key.to_owned(), value)).into()
}

pub(super) fn app(ctx: &mut AppRender<'_>) -> Result<DatabaseConfig, ProviderError> {
    let database = &ctx.app.spec.database;
    if !database.shared_database_app_name.is_empty() {
        return borrowed(ctx);
    }
    let context = ctx.shared;
    let version = database.version.unwrap_or(postgres::DEFAULT_VERSION);
    let server = server_name(&context, version);
    let secret = credentials::stored(context.lookup, context.target_namespace, &server)?
        .map_err(ProviderError::Failed)?;
    credentials::require(&secret, context.target_namespace, postgres::LOGIN)?;
    let config = DatabaseConfig {
        name: database.name.clone(),
        ..config(|key| secret.text(key))?
    };
    create_database(&context, &config)?;
    ctx.set.add(UNIT, &secret_for_app(ctx, &config))?;
    Ok(config)
}

fn create_database(context: &Context<'_>, config: &DatabaseConfig) -> Result<(), ProviderError> {
    let port = u16::try_from(config.port)
        .map_err(|_| ProviderError::Failed(credentials::NO_PORT.to_owned()))?;
    let effect = Effect::Database {
        host: config.hostname.clone(),
        port,
        admin_password: Hidden(config.admin_password.clone()),
        maintenance: context.environment_name().to_owned(),
        name: config.name.clone(),
        owner: config.username.clone(),
    };
    context
        .lookup
        .effect(effect)?
        .map_err(ProviderError::Failed)?;
    Ok(())
}

/// What apps read that share the database of this one.
fn secret_for_app(ctx: &AppRender<'_>, config: &DatabaseConfig) -> Secret {
    let values = [
        ("hostname", config.hostname.clone()),
        ("port", postgres::PORT.to_string()),
        ("username", config.username.clone()),
        ("password", config.password.clone()),
        ("pgPass", config.admin_password.clone()),
        ("name", config.name.clone()),
    ];
    let data = values.map(|(key, value)| (key.to_owned(), ByteString(value.into_bytes())));
    let (name, owner) = (ctx.part("db"), names::app_owner(ctx.app));
    Secret {
        metadata: names::metadata((ctx.namespace(), &name), Labels::new(), &owner),
        type_: Some("Opaque".to_owned()),
        data: Some(data.into()),
        ..Secret::default()
    }
}
