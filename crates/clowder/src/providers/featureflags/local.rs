//! Mode `local`: an Unleash server for the environment, with a database and an edge for clients outside.

use std::collections::BTreeMap;

use k8s_openapi::api::{
    core::v1::{Container, PodSpec, Probe},
    networking::v1::Ingress,
};

use super::UNIT;
use crate::{
    names::{self, Labels},
    providers::{
        app_config::FeatureFlagsConfig,
        component::{self, Check, Component, Pace, variable, variable_from},
        credentials::{self, Generator},
        images, ingress, pod,
        postgres::{self, Login, Server, Size},
        provider::{AppRender, Context, EnvironmentRender, ProviderError},
    },
};
use mainstay_engine::snapshot::Alphabet;

/// Database of the server. Parity: every environment has it under the same name.
pub(crate) const DATABASE: &str = "featureflags-db";

const PORT: i32 = 4242;
const EDGE_PORT: i32 = 3063;
const EDGE_SERVICE_PORT: &str = "unleash-edge";
const DATABASE_NAME: &str = "unleash";
const DATABASE_VERSION: i32 = 16;
const CLIENT_TOKEN: &str = "clientAccessToken";
const ADMINISTRATOR_TOKEN: &str = "adminAccessToken";
const CONNECTION: &str = "connectionURL";
const REQUESTS: (&str, &str) = ("50m", "100Mi");
const LIMITS: (&str, &str) = ("100m", "200Mi");

/// Name of the server.
pub(crate) fn server_name(context: &Context<'_>) -> String {
    names::part(context.environment_name(), "featureflags")
}

/// Name of the edge.
pub(crate) fn edge_name(context: &Context<'_>) -> String {
    names::part(context.environment_name(), "featureflags-edge")
}

pub(super) fn environment(ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
    let context = ctx.shared;
    let server = Component::of_environment(&context, server_name(&context));
    credentials::get_or_generate(
        context.lookup,
        ctx.set,
        UNIT,
        server.generated(&[ADMINISTRATOR_TOKEN, CLIENT_TOKEN]),
        generate_tokens,
    )?;
    add_server(ctx, &server)?;
    add_database(ctx)?;
    let edge = Component::of_environment(&context, edge_name(&context));
    add_edge(ctx, &edge, &server)?;
    ctx.set.add(UNIT, &ingress(&context, &server, &edge))?;
    Ok(())
}

fn generate_tokens(generator: &Generator<'_>) -> BTreeMap<String, String> {
    let tokens = [
        (ADMINISTRATOR_TOKEN, "*:*."),
        (CLIENT_TOKEN, "default:development."),
    ];
    tokens
        .map(|(key, prefix)| {
            let random = generator.random(key, Alphabet::Hexadecimal, 32);
            (key.to_owned(), format!("{prefix}{random}"))
        })
        .into()
}

/// Labels of server or edge. Parity: the edge, too, is labelled with the name of the server.
fn labels(context: &Context<'_>, service: &str) -> Labels {
    let base = names::environment_labels(context.environment_name());
    names::overlaid(
        base,
        &[("env-app", &server_name(context)), ("service", service)],
    )
}

fn add_server(
    ctx: &mut EnvironmentRender<'_>,
    server: &Component<'_>,
) -> Result<(), ProviderError> {
    let context = ctx.shared;
    let given = &context
        .environment
        .spec
        .providers
        .feature_flags
        .images
        .unleash;
    let configured = &context.settings.config.images.feature_flags_unleash;
    let image = images::first(&[given, configured, images::UNLEASH]);
    let health = |delay| {
        let pace = Pace {
            delay,
            timeout: 4,
            period: 10,
        };
        Some(component::probe(Check::Http("/health", PORT), pace))
    };
    let container = Container {
        env: Some(vec![
            variable("DATABASE_SSL", "false"),
            variable_from("DATABASE_URL", DATABASE, CONNECTION),
            variable_from("INIT_CLIENT_API_TOKENS", &server.name, CLIENT_TOKEN),
            variable_from("INIT_ADMIN_API_TOKENS", &server.name, ADMINISTRATOR_TOKEN),
        ]),
        ports: Some(vec![pod::port("service", PORT)]),
        liveness_probe: health(20),
        readiness_probe: health(40),
        resources: Some(component::resources(REQUESTS, LIMITS)),
        ..server.container(image)
    };
    let labels = labels(&context, UNIT);
    let deployment = server.deployment(context.lookup, labels.clone(), pod_of(container));
    let service = server.service(context.lookup, labels, (UNIT, PORT), context.node_port());
    ctx.set.add(UNIT, &deployment)?;
    ctx.set.add(UNIT, &service)?;
    Ok(())
}

fn add_database(ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
    let context = ctx.shared;
    let component = Component::of_environment(&context, DATABASE.to_owned());
    let keys = [postgres::LOGIN, &[CONNECTION]].concat();
    let login = Login::of(ctx, UNIT, &component, &keys, |generator| {
        generate_connection(generator, &component.host())
    })?;
    let persistent = context.environment.spec.providers.feature_flags.persistent;
    let server = Server {
        component,
        role: "feature_flags".to_owned(),
        image: images::postgres(DATABASE_VERSION, false)?,
        username: login.username,
        password: login.password,
        administrator_password: login.administrator_password,
        database: DATABASE_NAME.to_owned(),
        resources: component::resources(REQUESTS, LIMITS),
        claim: persistent.then(|| Size::ExtraSmall.volume()),
    };
    server.add(context.lookup, ctx.set, UNIT)
}

/// Letters and digits need no escapes in an address.
fn generate_connection(generator: &Generator<'_>, host: &str) -> BTreeMap<String, String> {
    let (username, password) = (
        generator.password("username"),
        generator.password("password"),
    );
    let connection = format!("postgres://{username}:{password}@{host}/{DATABASE_NAME}");
    let values = [
        ("hostname", host.to_owned()),
        ("port", postgres::PORT.to_string()),
        ("username", username),
        ("password", password),
        ("pgPass", generator.password("pgPass")),
        ("name", DATABASE_NAME.to_owned()),
        (CONNECTION, connection),
    ];
    values.map(|(key, value)| (key.to_owned(), value)).into()
}

fn add_edge(
    ctx: &mut EnvironmentRender<'_>,
    edge: &Component<'_>,
    server: &Component<'_>,
) -> Result<(), ProviderError> {
    let context = ctx.shared;
    let given = &context
        .environment
        .spec
        .providers
        .feature_flags
        .images
        .unleash_edge;
    let configured = &context.settings.config.images.feature_flags_unleash_edge;
    let image = images::first(&[given, configured, images::UNLEASH_EDGE]);
    let upstream = format!("http://{}:{PORT}", server.name);
    let container = Container {
        args: Some(vec!["edge".to_owned()]),
        env: Some(vec![
            variable("UPSTREAM_URL", &upstream),
            variable_from("TOKENS", &server.name, CLIENT_TOKEN),
        ]),
        ports: Some(vec![pod::port("service", EDGE_PORT)]),
        readiness_probe: Some(edge_probe("ready", 1)),
        liveness_probe: Some(edge_probe("health", 30)),
        resources: Some(component::resources(("100m", "200Mi"), ("200m", "400Mi"))),
        termination_message_path: None,
        termination_message_policy: None,
        ..edge.container(image)
    };
    let labels = labels(&context, EDGE_SERVICE_PORT);
    let deployment = edge.deployment(context.lookup, labels.clone(), pod_of(container));
    let port = (EDGE_SERVICE_PORT, EDGE_PORT);
    let service = edge.service(context.lookup, labels, port, context.node_port());
    ctx.set.add(UNIT, &deployment)?;
    ctx.set.add(UNIT, &service)?;
    Ok(())
}

fn edge_probe(question: &str, delay: i32) -> Probe {
    let pace = Pace {
        delay,
        timeout: 5,
        period: 30,
    };
    component::probe(Check::Command(&["/unleash-edge", question]), pace)
}

fn pod_of(container: Container) -> PodSpec {
    PodSpec {
        containers: vec![container],
        ..PodSpec::default()
    }
}

/// The way to the edge; it carries the name of the server.
fn ingress(context: &Context<'_>, server: &Component<'_>, edge: &Component<'_>) -> Ingress {
    let path = ingress::below("/api/client/features", &edge.name, EDGE_SERVICE_PORT);
    let metadata = server.metadata(server.base_labels.clone());
    ingress::build(context, metadata, None, vec![path])
}

/// Apps talk to the server itself.
pub(super) fn app(ctx: &mut AppRender<'_>) -> Result<FeatureFlagsConfig, ProviderError> {
    let context = ctx.shared;
    let name = server_name(&context);
    let secret = credentials::stored(context.lookup, context.target_namespace, &name)?
        .map_err(ProviderError::Failed)?;
    credentials::require(&secret, context.target_namespace, &[CLIENT_TOKEN])?;
    Ok(FeatureFlagsConfig {
        client_access_token: Some(secret.text(CLIENT_TOKEN).unwrap_or_default()),
        hostname: names::host(&name, context.target_namespace),
        port: PORT,
        scheme: "http".to_owned(),
    })
}
