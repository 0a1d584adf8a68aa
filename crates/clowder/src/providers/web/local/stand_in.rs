//! Stand-ins for what the login server and the sidecars ask: the back office and the entitlements of users.

use k8s_openapi::api::core::v1::{Container, PodSpec, Probe};

use super::{
    super::UNIT,
    AUTH_PORT_NAME,
    auth::{self, AuthConfig},
    hostname, keycloak,
};
use crate::{
    names,
    providers::{
        component::{self, Check, Component, Pace, variable, variable_from},
        images, ingress, pod,
        provider::{Context, EnvironmentRender, ProviderError},
    },
};

const BACK_OFFICE: &str = "mbop";
const ENTITLEMENTS: &str = "mocktitlements";
const PORT: i32 = 8090;
/// Port of the sidecar, which the pod webhook adds.
const AUTH_PORT: i32 = 8080;

/// Address of the back office.
pub(super) fn back_office_url(context: &Context<'_>) -> String {
    format!("http://{}:{PORT}", back_office_host(context))
}

/// Host and port of the back office.
pub(super) fn back_office_dial(context: &Context<'_>) -> String {
    format!("{}:{PORT}", back_office_host(context))
}

fn back_office_host(context: &Context<'_>) -> String {
    let name = names::part(context.environment_name(), BACK_OFFICE);
    names::host(&name, context.target_namespace)
}

/// Name of the stand-in for entitlements.
pub(super) fn entitlements_name(context: &Context<'_>) -> String {
    names::part(context.environment_name(), ENTITLEMENTS)
}

/// One of the two.
pub(super) struct StandIn<'render> {
    name: &'static str,
    image: &'render str,
    /// Where its sidecar asks for users.
    bop_url: String,
    /// Paths of the environment's host that lead to it.
    paths: &'static [&'static str],
}

impl<'render> StandIn<'render> {
    /// The back office. It knows the users itself.
    pub(super) fn back_office(context: &Context<'render>) -> Self {
        let given = &context.environment.spec.providers.web.images.mock_bop;
        let configured = &context.settings.config.images.mbop;
        Self {
            name: BACK_OFFICE,
            image: images::first(&[given, configured, images::MOCK_BOP]),
            bop_url: format!("http://127.0.0.1:{PORT}"),
            paths: &["/v1/registrations", "/v1/check_registration"],
        }
    }

    /// Entitlements. Its sidecar is told of the back office by the Secret of the login server.
    pub(super) fn entitlements(context: &Context<'render>, bop_url: String) -> Self {
        let given = &context.environment.spec.providers.web.images.mocktitlements;
        let configured = &context.settings.config.images.mocktitlements;
        Self {
            name: ENTITLEMENTS,
            image: images::first(&[given, configured, images::MOCKTITLEMENTS]),
            bop_url,
            paths: &["/api/entitlements/"],
        }
    }

    /// Adds Deployment, Service, what the sidecar is told, and the way in from outside.
    pub(super) fn add(self, ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
        let context = ctx.shared;
        let name = names::part(context.environment_name(), self.name);
        let component = Component::of_environment(&context, name);
        let config_name = auth::secret_name(self.name);
        let config = AuthConfig {
            bop_url: self.bop_url,
            keycloak_url: keycloak::url(&context),
            whitelist: String::new(),
        };
        let secret = config.secret(&context, (context.target_namespace, &config_name));
        ctx.set.add(UNIT, &secret)?;

        let labels = component.labels(&[("env-app", &component.name)]);
        let pod = pod_spec(&context, &component, self.image);
        let mut deployment = component.deployment(context.lookup, labels.clone(), pod);
        let mut annotations = auth::annotations(&context, PORT, &config_name);
        annotations.insert(auth::CONFIG_HASH.to_owned(), config.hash());
        auth::annotate(&mut deployment, annotations);
        ctx.set.add(UNIT, &deployment)?;

        let ports = [(self.name, PORT), (AUTH_PORT_NAME, AUTH_PORT)];
        let service = component.service_of(context.lookup, labels, &ports, context.node_port());
        ctx.set.add(UNIT, &service)?;

        let paths = self.paths.iter();
        let paths = paths.map(|path| ingress::below(path, &component.name, AUTH_PORT_NAME));
        let metadata = component.metadata(component.base_labels.clone());
        let host = Some(hostname::of(&context));
        let ingress = ingress::build(&context, metadata, host, paths.collect());
        ctx.set.add(UNIT, &ingress::with_tls(ingress))?;
        Ok(())
    }
}

/// Parity: as all components of this mode it runs under the default account of its namespace.
fn pod_spec(context: &Context<'_>, component: &Component<'_>, image: &str) -> PodSpec {
    let login = keycloak::name(context);
    PodSpec {
        containers: vec![Container {
            env: Some(vec![
                variable("KEYCLOAK_SERVER", &keycloak::url(context)),
                variable_from("KEYCLOAK_USERNAME", &login, keycloak::USERNAME),
                variable_from("KEYCLOAK_PASSWORD", &login, keycloak::PASSWORD),
                variable_from("KEYCLOAK_VERSION", &login, keycloak::VERSION),
            ]),
            ports: Some(vec![pod::port("service", PORT)]),
            liveness_probe: Some(connect(10)),
            readiness_probe: Some(connect(20)),
            resources: Some(component::resources(("50m", "100Mi"), ("100m", "200Mi"))),
            ..component.container(image)
        }],
        ..PodSpec::default()
    }
}

fn connect(delay: i32) -> Probe {
    let pace = Pace {
        delay,
        timeout: 2,
        period: 10,
    };
    component::probe(Check::Connect(PORT), pace)
}
