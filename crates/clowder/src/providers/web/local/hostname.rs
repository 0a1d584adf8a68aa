//! The host that an environment is published under: chosen once and kept in its status.

use mainstay_api::clowder::{ClowdEnvironment, environment::web::WebMode};
use mainstay_engine::reconciler::ValidateError;

use crate::{
    gates::{self, waiting},
    names,
    providers::provider::Context,
    settings::Settings,
    views::lookup::Lookup,
};
use mainstay_engine::snapshot::{Alphabet, Answer};

/// Waits until the host has been chosen and stored: everything that is published depends on it.
pub(crate) fn check(
    environment: &ClowdEnvironment,
    settings: &Settings,
    lookup: Lookup<'_>,
) -> Result<(), ValidateError> {
    let status = environment.status.as_ref();
    let is_chosen = status.is_some_and(|status| !status.hostname.is_empty());
    if environment.spec.providers.web.mode != WebMode::Local || is_chosen {
        return Ok(());
    }
    let chosen = choose(names::name(&environment.metadata), settings, lookup)?;
    Err(waiting(gates::HOSTNAME_CHOSEN, chosen))
}

/// Below the cluster's own domain a host that nobody can guess, or one with the name of the environment. A cluster
/// without a domain has the name alone.
fn choose(environment: &str, settings: &Settings, lookup: Lookup<'_>) -> Answer<String> {
    Ok(match lookup.ingress_domain()? {
        None => environment.to_owned(),
        Some(domain) if settings.config.features.disable_random_routes => {
            format!("{environment}.{domain}")
        }
        Some(domain) => {
            let random = lookup.generated("hostname", Alphabet::LowerAlphanumeric, 8);
            format!("ee-{random}.{domain}")
        }
    })
}

/// The host of the environment.
pub(super) fn of<'render>(context: &Context<'render>) -> &'render str {
    let status = context.environment.status.as_ref();
    status.map_or("", |status| &status.hostname)
}

/// The host of one of its parts: the same with a word behind its first label.
pub(super) fn of_part(context: &Context<'_>, part: &str) -> String {
    let host = of(context);
    match host.split_once('.') {
        None => format!("{host}-{part}"),
        Some((first, domain)) => format!("{first}-{part}.{domain}"),
    }
}
