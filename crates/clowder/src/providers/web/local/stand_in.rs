//! Stand-ins for what the login server and the sidecars ask: the back office and the entitlements of users.

use k8s_openapi::api::core::v1::{Container, PodSpec, Probe};

use super::{
    super::UNIT,
    AUTH_PORT_NAME,
    auth::{self, AuthConfig},
    hostname, keycloak,
};
use crate::{
    images, names,
    provider::{EnvironmentPass, ProviderError, Scene},
    providers::{
        component::{self, Check, Component, Pace, variable, variable_from},
        ingress, pod,
    },
};

const BACK_OFFICE: &str = "mbop";
const ENTITLEMENTS: &str = "mocktitlements";
const PORT: i32 = 8090;
/// Port of the sidecar, which the pod webhook adds.
const AUTH_PORT: i32 = 8080;

/// Address of the back office.
pub(super) fn back_office_url(scene: &Scene<'_>) -> String {
    format!("http://{}:{PORT}", back_office_host(scene))
}

/// Host and port of the back office.
pub(super) fn back_office_dial(scene: &Scene<'_>) -> String {
    format!("{}:{PORT}", back_office_host(scene))
}

fn back_office_host(scene: &Scene<'_>) -> String {
    let name = names::part(scene.environment_name(), BACK_OFFICE);
    names::host(&name, scene.target_namespace)
}

/// Name of the stand-in for entitlements.
pub(super) fn entitlements_name(scene: &Scene<'_>) -> String {
    names::part(scene.environment_name(), ENTITLEMENTS)
}

/// One of the two.
pub(super) struct StandIn<'pass> {
    name: &'static str,
    image: &'pass str,
    /// Where its sidecar asks for users.
    bop_url: String,
    /// Paths of the environment's host that lead to it.
    paths: &'static [&'static str],
}

impl<'pass> StandIn<'pass> {
    /// The back office. It knows the users itself.
    pub(super) fn back_office(scene: &Scene<'pass>) -> Self {
        let given = &scene.environment.spec.providers.web.images.mock_bop;
        let configured = &scene.settings.config.images.mbop;
        Self {
            name: BACK_OFFICE,
            image: images::first(&[given, configured, images::MOCK_BOP]),
            bop_url: format!("http://127.0.0.1:{PORT}"),
            paths: &["/v1/registrations", "/v1/check_registration"],
        }
    }

    /// Entitlements. Its sidecar is told of the back office by the Secret of the login server.
    pub(super) fn entitlements(scene: &Scene<'pass>, bop_url: String) -> Self {
        let given = &scene.environment.spec.providers.web.images.mocktitlements;
        let configured = &scene.settings.config.images.mocktitlements;
        Self {
            name: ENTITLEMENTS,
            image: images::first(&[given, configured, images::MOCKTITLEMENTS]),
            bop_url,
            paths: &["/api/entitlements/"],
        }
    }

    /// Adds Deployment, Service, what the sidecar is told, and the way in from outside.
    pub(super) fn add(self, pass: &mut EnvironmentPass<'_>) -> Result<(), ProviderError> {
        let scene = pass.scene;
        let name = names::part(scene.environment_name(), self.name);
        let component = Component::of_environment(&scene, name);
        let config_name = auth::secret_name(self.name);
        let config = AuthConfig {
            bop_url: self.bop_url,
            keycloak_url: keycloak::url(&scene),
            whitelist: String::new(),
        };
        let secret = config.secret(&scene, (scene.target_namespace, &config_name));
        pass.set.add(UNIT, &secret)?;

        let labels = component.labels(&[("env-app", &component.name)]);
        let pod = pod_spec(&scene, &component, self.image);
        let mut deployment = component.deployment(scene.world, labels.clone(), pod);
        let mut annotations = auth::annotations(&scene, PORT, &config_name);
        annotations.insert(auth::CONFIG_HASH.to_owned(), config.hash());
        auth::annotate(&mut deployment, annotations);
        pass.set.add(UNIT, &deployment)?;

        let ports = [(self.name, PORT), (AUTH_PORT_NAME, AUTH_PORT)];
        let service = component.service_of(scene.world, labels, &ports, scene.node_port());
        pass.set.add(UNIT, &service)?;

        let paths = self.paths.iter();
        let paths = paths.map(|path| ingress::below(path, &component.name, AUTH_PORT_NAME));
        let metadata = component.metadata(component.base_labels.clone());
        let host = Some(hostname::of(&scene));
        let ingress = ingress::build(&scene, metadata, host, paths.collect());
        pass.set.add(UNIT, &ingress::with_tls(ingress))?;
        Ok(())
    }
}

/// Parity: as all components of this mode it runs under the default account of its namespace.
fn pod_spec(scene: &Scene<'_>, component: &Component<'_>, image: &str) -> PodSpec {
    let login = keycloak::name(scene);
    PodSpec {
        containers: vec![Container {
            env: Some(vec![
                variable("KEYCLOAK_SERVER", &keycloak::url(scene)),
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
