//! Mode `shared`: a server for each version that apps ask for, and in it a database for each app.

use std::collections::BTreeMap;

use k8s_openapi::{ByteString, api::core::v1::Secret};

use super::{UNIT, borrowed, config};
use crate::{
    app_config::DatabaseConfig,
    credentials::{self, Generator},
    effect::{Effect, Hidden},
    images,
    names::{self, Labels},
    provider::{AppPass, EnvironmentPass, ProviderError, Scene},
    providers::{
        component::Component,
        postgres::{self, Login, Server, Size},
    },
};

/// A server for each version in use. One that is not needed any more stays: there is data in it.
pub(super) fn environment(pass: &mut EnvironmentPass<'_>) -> Result<(), ProviderError> {
    let scene = pass.scene;
    let mut sizes: BTreeMap<i32, Size> = BTreeMap::new();
    for app in scene.world.apps(scene.environment_name()) {
        if app.database.is_empty() {
            continue;
        }
        let version = app.database_version.unwrap_or(postgres::DEFAULT_VERSION);
        let wanted = Size::from(&app.database_volume_size.as_str().into());
        let size = sizes.entry(version).or_insert(wanted);
        *size = wanted.max(*size);
    }
    for (version, size) in sizes {
        add_server(pass, version, size)?;
    }
    Ok(())
}

fn add_server(
    pass: &mut EnvironmentPass<'_>,
    version: i32,
    size: Size,
) -> Result<(), ProviderError> {
    let scene = pass.scene;
    let component = Component::of_environment(&scene, server_name(&scene, version));
    let login = Login::of(pass, UNIT, &component, postgres::LOGIN, |generator| {
        generate(generator, &component.host(), scene.environment_name())
    })?;
    let persistent = scene.environment.spec.providers.database.persistent;
    let server = Server {
        component,
        role: format!("shared_db_{version}"),
        // Parity: the one image fits every app, whether it uses Cyndi or not.
        image: images::postgres(version, true)?,
        username: login.username,
        password: login.password,
        administrator_password: login.administrator_password,
        database: scene.environment_name().to_owned(),
        resources: Size::ExtraSmall.resources(),
        claim: persistent.then(|| size.volume()),
    };
    server.add(scene.world, pass.set, UNIT)
}

fn server_name(scene: &Scene<'_>, version: i32) -> String {
    names::part(scene.environment_name(), &format!("db-v{version}"))
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

pub(super) fn app(pass: &mut AppPass<'_>) -> Result<DatabaseConfig, ProviderError> {
    let database = &pass.app.spec.database;
    if !database.shared_database_app_name.is_empty() {
        return borrowed(pass);
    }
    let scene = pass.scene;
    let version = database.version.unwrap_or(postgres::DEFAULT_VERSION);
    let server = server_name(&scene, version);
    let secret = credentials::stored(scene.world, scene.target_namespace, &server)?
        .map_err(ProviderError::Failed)?;
    credentials::require(&secret, scene.target_namespace, postgres::LOGIN)?;
    let config = DatabaseConfig {
        name: database.name.clone(),
        ..config(|key| secret.text(key))?
    };
    create_database(&scene, &config)?;
    pass.set.add(UNIT, &secret_for_app(pass, &config))?;
    Ok(config)
}

fn create_database(scene: &Scene<'_>, config: &DatabaseConfig) -> Result<(), ProviderError> {
    let port = u16::try_from(config.port)
        .map_err(|_| ProviderError::Failed(credentials::NO_PORT.to_owned()))?;
    let effect = Effect::Database {
        host: config.hostname.clone(),
        port,
        admin_password: Hidden(config.admin_password.clone()),
        maintenance: scene.environment_name().to_owned(),
        name: config.name.clone(),
        owner: config.username.clone(),
    };
    scene
        .world
        .effect(&effect)?
        .map_err(ProviderError::Failed)?;
    Ok(())
}

/// What apps read that share the database of this one.
fn secret_for_app(pass: &AppPass<'_>, config: &DatabaseConfig) -> Secret {
    let values = [
        ("hostname", config.hostname.clone()),
        ("port", postgres::PORT.to_string()),
        ("username", config.username.clone()),
        ("password", config.password.clone()),
        ("pgPass", config.admin_password.clone()),
        ("name", config.name.clone()),
    ];
    let data = values.map(|(key, value)| (key.to_owned(), ByteString(value.into_bytes())));
    let (name, owner) = (pass.part("db"), names::app_owner(pass.app));
    Secret {
        metadata: names::metadata((pass.namespace(), &name), Labels::new(), &owner),
        type_: Some("Opaque".to_owned()),
        data: Some(data.into()),
        ..Secret::default()
    }
}
