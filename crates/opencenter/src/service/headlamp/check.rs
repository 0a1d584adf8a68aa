//! Rules about the config.

use crate::{
    config::{OidcSource, Validator},
    finding::{Code, Finding},
};

pub(super) fn check(validator: &mut Validator<'_>) {
    let config = validator.config;
    let service = "opencenter.services.headlamp";
    let configured = ["oidc_issuer_url", "oidc_client_id"]
        .map(|field| format!("{service}.{field}"))
        .into_iter()
        .find(|path| validator.is_explicit(path));
    let has_keycloak = config
        .services()
        .get("keycloak")
        .is_some_and(|keycloak| keycloak.enabled);
    if let Some(path) = configured
        && !has_keycloak
        && config.opencenter.identity.oidc.source == OidcSource::Internal
    {
        validator.push(
            Finding::new(
                Code::Oc3164,
                path,
                "headlamp signs users in, but keycloak is not enabled and the identity source is internal",
            )
            .help("enable keycloak, or set `opencenter.identity.oidc.source: external`"),
        );
    }
}

pub(super) fn secrets(validator: &mut Validator<'_>) {
    let config = validator.config;
    let service = config.services().headlamp.as_ref();
    let has_issuer = service.is_some_and(|service| service.settings.oidc_issuer_url.is_some());
    let uses_oidc = config.opencenter.identity.oidc.enabled || has_issuer;
    if uses_oidc && !config.has_internal_client_secrets() {
        let secret = config.secrets.headlamp.oidc_client_secret.as_ref();
        validator.need("secrets.headlamp.oidc_client_secret", secret);
    }
}
