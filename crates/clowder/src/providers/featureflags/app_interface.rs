//! Mode `app-interface`: a server that somebody else runs.

use crate::providers::{
    app_config::FeatureFlagsConfig,
    credentials,
    provider::{AppRender, ProviderError},
};

pub(super) fn app(ctx: &mut AppRender<'_>) -> Result<FeatureFlagsConfig, ProviderError> {
    let provider = &ctx.shared.environment.spec.providers.feature_flags;
    let reference = &provider.credential_ref;
    let missing = [
        (
            reference.name.is_empty() && reference.namespace.is_empty(),
            "no feature flag secret defined",
        ),
        (provider.hostname.is_empty(), "hostname is not defined"),
        (provider.port == 0, "port is not defined"),
    ];
    if let Some((_, what)) = missing.into_iter().find(|(missing, _)| *missing) {
        return Err(ProviderError::bare(what));
    }
    let (namespace, name) = (&reference.namespace, &reference.name);
    let lookup = ctx.shared.lookup;
    let secret = credentials::stored(lookup, namespace, name)?.map_err(ProviderError::Failed)?;
    ctx.associations
        .track_for_environment(lookup, namespace, name)?;
    let token = secret.text("CLIENT_ACCESS_TOKEN");
    let token = token.ok_or_else(|| ProviderError::bare("Missing data"))?;
    Ok(FeatureFlagsConfig {
        client_access_token: Some(token),
        hostname: provider.hostname.clone(),
        port: provider.port,
        scheme: "https".to_owned(),
    })
}
