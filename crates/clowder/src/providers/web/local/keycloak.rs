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
    credentials::{self, Generator},
    images, names,
    provider::{EnvironmentPass, ProviderError, Scene},
    providers::{
        component::{self, Check, Component, Pace, variable, variable_from},
        ingress, pod,
        postgres::{self, Login, Server, Size},
    },
    world::Alphabet,
};

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
pub(super) fn name(scene: &Scene<'_>) -> String {
    names::part(scene.environment_name(), "keycloak")
}

/// Address of the server.
pub(super) fn url(scene: &Scene<'_>) -> String {
    let host = names::host(&name(scene), scene.target_namespace);
    format!("http://{host}:{PORT}")
}

/// Adds the database.
pub(super) fn add_database(pass: &mut EnvironmentPass<'_>) -> Result<(), ProviderError> {
    let scene = pass.scene;
    let component = Component::of_environment(&scene, DATABASE.to_owned());
    let login = Login::of(pass, UNIT, &component, postgres::LOGIN, |generator| {
        generate_connection(generator, &component.host())
    })?;
    let persistent = scene.environment.spec.providers.web.keycloak_persistent;
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
    server.add(scene.world, pass.set, UNIT)
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
pub(super) fn add(pass: &mut EnvironmentPass<'_>) -> Result<String, ProviderError> {
    let scene = pass.scene;
    let component = Component::of_environment(&scene, name(&scene));
    let values = add_passwords(pass, &component)?;
    let value = |key: &str| values.get(key).cloned().unwrap_or_default();
    let realm = realm_secret(&scene, &value(DEFAULT_PASSWORD))?;
    pass.set.add(UNIT, &realm)?;

    let labels = component.labels(&[("env-app", &component.name)]);
    let pod = pod_spec(&scene, &component);
    let deployment = component.deployment(scene.world, labels.clone(), pod);
    pass.set.add(UNIT, &deployment)?;
    let port = (PORT_NAME, PORT);
    let service = component.service(scene.world, labels, port, scene.node_port());
    pass.set.add(UNIT, &service)?;

    let name = names::part(scene.environment_name(), "auth");
    let auth = Component::of_environment(&scene, name);
    let paths = vec![
        ingress::below("/", &component.name, PORT_NAME),
        ingress::below(
            "/auth/realms/redhat-external/apis/service_accounts/v1",
            &stand_in::entitlements_name(&scene),
            AUTH_PORT_NAME,
        ),
    ];
    let host = hostname::of_part(&scene, "auth");
    let metadata = auth.metadata(auth.base_labels.clone());
    let ingress = ingress::build(&scene, metadata, Some(&host), paths);
    pass.set.add(UNIT, &ingress::with_tls(ingress))?;
    Ok(value(BOP_URL))
}

/// The Secret with the passwords. Only the version in it ever changes.
fn add_passwords(
    pass: &mut EnvironmentPass<'_>,
    component: &Component<'_>,
) -> Result<BTreeMap<String, String>, ProviderError> {
    let scene = pass.scene;
    let given = &scene.environment.spec.providers.web.keycloak_version;
    let version = images::first(&[given, DEFAULT_VERSION]);
    let mut values = credentials::get_or_generate(
        scene.world,
        pass.set,
        UNIT,
        component.generated(&[USERNAME, PASSWORD, DEFAULT_PASSWORD]),
        |generator| generate_passwords(&scene, generator, version),
    )?;
    if values.get(VERSION).map(String::as_str) != Some(version) {
        values.insert(VERSION.to_owned(), version.to_owned());
        let secret = credentials::secret(component.place(), &component.owner, &values);
        pass.set.add(UNIT, &secret)?;
    }
    Ok(values)
}

fn generate_passwords(
    scene: &Scene<'_>,
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
        (BOP_URL, stand_in::back_office_url(scene)),
    ];
    values.map(|(key, value)| (key.to_owned(), value)).into()
}

fn realm_name(scene: &Scene<'_>) -> String {
    names::part(scene.environment_name(), "keycloak-realm-import")
}

fn realm_secret(scene: &Scene<'_>, password: &str) -> Result<Secret, ProviderError> {
    let component = Component::of_environment(scene, realm_name(scene));
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

fn pod_spec(scene: &Scene<'_>, component: &Component<'_>) -> PodSpec {
    let given = &scene.environment.spec.providers.web.images.keycloak;
    let configured = &scene.settings.config.images.keycloak;
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
                secret_name: Some(realm_name(scene)),
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
