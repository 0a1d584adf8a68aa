//! Mode `local`: a server for each app.

use std::collections::BTreeMap;

use super::{UNIT, borrowed, config};
use crate::providers::{
    app_config::DatabaseConfig,
    component::Component,
    credentials::{self, Generator},
    images,
    postgres::{self, Server, Size},
    provider::{AppRender, ProviderError},
};

pub(super) fn app(ctx: &mut AppRender<'_>) -> Result<DatabaseConfig, ProviderError> {
    let database = &ctx.app.spec.database;
    if !database.shared_database_app_name.is_empty() {
        return borrowed(ctx);
    }
    let version = database.version.unwrap_or(postgres::DEFAULT_VERSION);
    let image = images::postgres(version, ctx.app.spec.cyndi.enabled)?;
    let component = Component::of_app(ctx, ctx.part("db"));
    let lookup = ctx.shared.lookup;
    let values = credentials::get_or_generate(
        lookup,
        ctx.set,
        UNIT,
        component.generated(postgres::LOGIN),
        |generator| generate(generator, &component.host(), &database.name),
    )?;
    // Parity: what the Secret says is what apps are told, even if the app has renamed its database since.
    let config = config(|key| values.get(key).cloned())?;
    let persistent = ctx.shared.environment.spec.providers.database.persistent;
    let server = Server {
        component,
        role: "local_db".to_owned(),
        image,
        username: config.username.clone(),
        password: config.password.clone(),
        administrator_password: config.admin_password.clone(),
        database: database.name.clone(),
        resources: Size::from(&database.resource_size).resources(),
        claim: persistent.then(|| Size::from(&database.volume_size).volume()),
    };
    server.add(lookup, ctx.set, UNIT)?;
    Ok(config)
}

/// Each value has two names: apps read the first, tools of the platform the second.
fn generate(generator: &Generator<'_>, host: &str, name: &str) -> BTreeMap<String, String> {
    let values = [
        ("hostname", "db.host", host.to_owned()),
        ("port", "db.port", postgres::PORT.to_string()),
        ("username", "db.user", generator.password("username")),
        ("password", "db.password", generator.password("password")),
        ("name", "db.name", name.to_owned()),
    ];
    let mut named: BTreeMap<String, String> = values
        .into_iter()
        .flat_map(|(name, twin, value)| {
            [(name.to_owned(), value.clone()), (twin.to_owned(), value)]
        })
        .collect();
    named.insert("pgPass".to_owned(), generator.password("pgPass"));
    named
}
