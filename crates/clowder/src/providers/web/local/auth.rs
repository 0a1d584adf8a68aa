//! What the authenticating sidecar is told. The pod webhook adds it where annotations ask for it.

use std::collections::BTreeMap;

use k8s_openapi::api::{apps::v1::Deployment, core::v1::Secret};

use crate::{
    admission::pod as sidecar,
    names::{self, Labels},
    providers::{app_config, confighash, credentials, images, provider::Context},
};

/// Annotation of pods that changes with what the sidecar is told, so that they restart.
pub const CONFIG_HASH: &str = "clowder/authsidecar-confighash";

/// Name of the Secret for a deployment or component.
pub fn secret_name(of: &str) -> String {
    format!("caddy-config-{of}")
}

/// The annotations that ask for the sidecar in front of a port.
pub fn annotations(context: &Context<'_>, port: i32, config: &str) -> Labels {
    let given = &context.environment.spec.providers.web.images.caddy;
    let configured = &context.settings.config.images.caddy;
    let image = images::first(&[given, configured, images::CADDY]);
    names::overlaid(
        Labels::new(),
        &[
            (sidecar::IMAGE, image),
            (sidecar::ENABLED, "true"),
            (sidecar::PORT, &port.to_string()),
            (sidecar::CONFIG, config),
        ],
    )
}

/// Adds annotations to the pods of a Deployment.
pub(super) fn annotate(deployment: &mut Deployment, annotations: Labels) {
    let template = &mut deployment.spec.get_or_insert_default().template;
    let metadata = template.metadata.get_or_insert_default();
    metadata
        .annotations
        .get_or_insert_default()
        .extend(annotations);
}

/// What the sidecar is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AuthConfig {
    /// Who knows the users.
    pub(super) bop_url: String,
    /// Who logs them in.
    pub(super) keycloak_url: String,
    /// Paths that need no login, with commas between them.
    pub(super) whitelist: String,
}

impl AuthConfig {
    fn values(&self) -> BTreeMap<String, String> {
        let values = [
            ("bopurl", &self.bop_url),
            ("keycloakurl", &self.keycloak_url),
            ("whitelist", &self.whitelist),
        ];
        values
            .map(|(key, value)| (key.to_owned(), value.clone()))
            .into()
    }

    /// Hash of the values, as the original computes it.
    pub(super) fn hash(&self) -> String {
        let text = app_config::to_json(&self.values());
        confighash::hexadecimal_sha256(text.as_bytes())
    }

    /// The Secret with the values. Parity: it belongs to the environment and has no labels.
    pub(super) fn secret(&self, context: &Context<'_>, place: (&str, &str)) -> Secret {
        let owner = names::environment_owner(context.environment);
        credentials::secret(place, &owner, &self.values())
    }
}
