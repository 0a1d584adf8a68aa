//! Keycloak, the login server of the environment, and its database.

use std::collections::BTreeMap;

use k8s_openapi::{
    ByteString,
    api::core::v1::{
        Container, EnvVar, HTTPHeader, PodSpec, Probe, Secret, SecretVolumeSource, Volume,
        VolumeMount,
    },
};

use super::{super::UNIT, AUTH_PORT_NAME, hostname, realm, stand_in};
use crate::{
    names,
    providers::{
        component::{self, Check, Component, Pace, variable, variable_from},
        credentials::{self, Generator},
        images, ingress, pod,
        postgres::{self, Login, Server, Size},
        provider::{Context, EnvironmentRender, ProviderError},
    },
};
use mainstay_engine::snapshot::Alphabet;

/// Key of the administrator's name.
pub(super) const USERNAME: &str = "username";
/// Key of the administrator's password.
pub(super) const PASSWORD: &str = "password";
/// Key of the version.
pub(super) const VERSION: &str = "version";
const DEFAULT_PASSWORD: &str = "defaultPassword";
const BOP_URL: &str = "bopurl";

/// Parity: every environment has it under the same name, so two of them cannot share a target namespace.
const DATABASE: &str = "keycloak-db";
const DATABASE_NAME: &str = "keycloak";
const DATABASE_VERSION: i32 = 16;

const PORT: i32 = 8080;
const PORT_NAME: &str = "keycloak";
const DEFAULT_VERSION: &str = "23.0.1";
const REALM_VOLUME: &str = "realm-import";
const REALM_DIRECTORY: &str = "/opt/keycloak/data/import/";
const ARGUMENTS: [&str; 14] = [
    "start",
    "--import-realm",
    "--hostname-strict",
    "false",
    "--http-enabled",
    "true",
    "--http-relative-path",
    "/auth",
    "--health-enabled",
    "true",
    "--metrics-enabled",
    "true",
    "--proxy",
    "edge",
];

/// Name of the server and of the Secret with its passwords.
pub(super) fn name(context: &Context<'_>) -> String {
    names::part(context.environment_name(), "keycloak")
}

/// Address of the server.
pub(super) fn url(context: &Context<'_>) -> String {
    let host = names::host(&name(context), context.target_namespace);
    format!("http://{host}:{PORT}")
}

/// Adds the database.
pub(super) fn add_database(ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
    let context = ctx.shared;
    let component = Component::of_environment(&context, DATABASE.to_owned());
    let login = Login::of(ctx, UNIT, &component, postgres::LOGIN, |generator| {
        generate_connection(generator, &component.host())
    })?;
    let persistent = context.environment.spec.providers.web.keycloak_persistent;
    let server = Server {
        component,
        role: "keycloak".to_owned(),
        image: images::postgres(DATABASE_VERSION, false)?,
        username: login.username,
        password: login.password,
        administrator_password: login.administrator_password,
        database: DATABASE_NAME.to_owned(),
        resources: component::resources(("50m", "100Mi"), ("100m", "200Mi")),
        claim: persistent.then(|| Size::ExtraSmall.volume()),
    };
    server.add(context.lookup, ctx.set, UNIT)
}

fn generate_connection(generator: &Generator<'_>, host: &str) -> BTreeMap<String, String> {
    let values = [
        ("hostname", host.to_owned()),
        ("port", postgres::PORT.to_string()),
        (USERNAME, generator.password(USERNAME)),
        (PASSWORD, generator.password(PASSWORD)),
        ("pgPass", generator.password("pgPass")),
        ("name", DATABASE_NAME.to_owned()),
    ];
    values.map(|(key, value)| (key.to_owned(), value)).into()
}

/// Adds the server. Returns the address of the back office that its Secret names.
pub(super) fn add(ctx: &mut EnvironmentRender<'_>) -> Result<String, ProviderError> {
    let context = ctx.shared;
    let component = Component::of_environment(&context, name(&context));
    let values = add_passwords(ctx, &component)?;
    let value = |key: &str| values.get(key).cloned().unwrap_or_default();
    let realm = realm_secret(&context, &value(DEFAULT_PASSWORD))?;
    ctx.set.add(UNIT, &realm)?;

    let labels = component.labels(&[("env-app", &component.name)]);
    let pod = pod_spec(&context, &component);
    let deployment = component.deployment(context.lookup, labels.clone(), pod);
    ctx.set.add(UNIT, &deployment)?;
    let port = (PORT_NAME, PORT);
    let service = component.service(context.lookup, labels, port, context.node_port());
    ctx.set.add(UNIT, &service)?;

    let name = names::part(context.environment_name(), "auth");
    let auth = Component::of_environment(&context, name);
    let paths = vec![
        ingress::below("/", &component.name, PORT_NAME),
        ingress::below(
            "/auth/realms/redhat-external/apis/service_accounts/v1",
            &stand_in::entitlements_name(&context),
            AUTH_PORT_NAME,
        ),
    ];
    let host = hostname::of_part(&context, "auth");
    let metadata = auth.metadata(auth.base_labels.clone());
    let ingress = ingress::build(&context, metadata, Some(&host), paths);
    ctx.set.add(UNIT, &ingress::with_tls(ingress))?;
    Ok(value(BOP_URL))
}

/// The Secret with the passwords. Only the version in it ever changes.
fn add_passwords(
    ctx: &mut EnvironmentRender<'_>,
    component: &Component<'_>,
) -> Result<BTreeMap<String, String>, ProviderError> {
    let context = ctx.shared;
    let given = &context.environment.spec.providers.web.keycloak_version;
    let version = images::first(&[given, DEFAULT_VERSION]);
    let mut values = credentials::get_or_generate(
        context.lookup,
        ctx.set,
        UNIT,
        component.generated(&[USERNAME, PASSWORD, DEFAULT_PASSWORD]),
        |generator| generate_passwords(&context, generator, version),
    )?;
    if values.get(VERSION).map(String::as_str) != Some(version) {
        values.insert(VERSION.to_owned(), version.to_owned());
        let secret = credentials::secret(component.place(), &component.owner, &values);
        ctx.set.add(UNIT, &secret)?;
    }
    Ok(values)
}

fn generate_passwords(
    context: &Context<'_>,
    generator: &Generator<'_>,
    version: &str,
) -> BTreeMap<String, String> {
    let username = generator.random(USERNAME, Alphabet::Alphanumeric, 8);
    let values = [
        (USERNAME, username),
        (PASSWORD, generator.password(PASSWORD)),
        ("defaultUsername", realm::USER.to_owned()),
        (DEFAULT_PASSWORD, generator.password(DEFAULT_PASSWORD)),
        (VERSION, version.to_owned()),
        (BOP_URL, stand_in::back_office_url(context)),
    ];
    values.map(|(key, value)| (key.to_owned(), value)).into()
}

fn realm_name(context: &Context<'_>) -> String {
    names::part(context.environment_name(), "keycloak-realm-import")
}

fn realm_secret(context: &Context<'_>, password: &str) -> Result<Secret, ProviderError> {
    let component = Component::of_environment(context, realm_name(context));
    let document = realm::document(password)?;
    let labels = component.labels(&[("env-app", &component.name)]);
    let data = (realm::FILE.to_owned(), ByteString(document.into_bytes()));
    Ok(Secret {
        metadata: component.metadata(labels),
        type_: Some("Opaque".to_owned()),
        data: Some([data].into()),
        ..Secret::default()
    })
}

fn pod_spec(context: &Context<'_>, component: &Component<'_>) -> PodSpec {
    let given = &context.environment.spec.providers.web.images.keycloak;
    let configured = &context.settings.config.images.keycloak;
    // Parity: the version that the environment names does not choose the image.
    let image = images::first(&[given, configured, images::KEYCLOAK]);
    PodSpec {
        containers: vec![Container {
            args: Some(ARGUMENTS.map(str::to_owned).into()),
            env: Some(variables(component)),
            ports: Some(vec![pod::port("service", PORT)]),
            liveness_probe: Some(health("auth/health/live")),
            readiness_probe: Some(health("auth/health/ready")),
            resources: Some(component::resources(("100m", "400Mi"), ("1", "750Mi"))),
            volume_mounts: Some(vec![VolumeMount {
                name: REALM_VOLUME.to_owned(),
                mount_path: REALM_DIRECTORY.to_owned(),
                ..VolumeMount::default()
            }]),
            ..component.container(image)
        }],
        volumes: Some(vec![Volume {
            name: REALM_VOLUME.to_owned(),
            secret: Some(SecretVolumeSource {
                secret_name: Some(realm_name(context)),
                ..SecretVolumeSource::default()
            }),
            ..Volume::default()
        }]),
        ..PodSpec::default()
    }
}

fn variables(component: &Component<'_>) -> Vec<EnvVar> {
    vec![
        variable("KC_DB", "postgres"),
        variable("KC_DB_URL_PORT", &postgres::PORT.to_string()),
        variable("PROXY_ADDRESS_FORWARDING", "true"),
        variable("KEYCLOAK_IMPORT", &format!("/json/{}", realm::FILE)),
        variable_from("KC_DB_USERNAME", DATABASE, USERNAME),
        variable_from("KC_DB_PASSWORD", DATABASE, PASSWORD),
        variable_from("KC_DB_URL_DATABASE", DATABASE, "name"),
        variable_from("KC_DB_URL_HOST", DATABASE, "hostname"),
        variable_from("KEYCLOAK_ADMIN", &component.name, USERNAME),
        variable_from("KEYCLOAK_ADMIN_PASSWORD", &component.name, PASSWORD),
    ]
}

fn health(path: &str) -> Probe {
    let pace = Pace {
        delay: 60,
        timeout: 2,
        period: 10,
    };
    let mut probe = component::probe(Check::Http(path, PORT), pace);
    if let Some(action) = &mut probe.http_get {
        action.scheme = Some("HTTP".to_owned());
        action.http_headers = Some(vec![HTTPHeader {
            name: "Accept".to_owned(),
            value: "application/json".to_owned(),
        }]);
    }
    probe
}
