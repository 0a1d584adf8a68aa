//! Mode `elasticache`: a cache that somebody else runs, found by the one Secret that describes it.

use super::lender;
use crate::providers::{
    app_config::InMemoryDbConfig,
    credentials,
    provider::{AppRender, ProviderError},
};

const SECRET: &str = "in-memory-db";

pub(super) fn app(ctx: &mut AppRender<'_>) -> Result<InMemoryDbConfig, ProviderError> {
    let lender = lender(ctx)?;
    let namespace = lender
        .as_ref()
        .map_or(ctx.namespace(), |lender| &lender.namespace);
    let Some(secret) = ctx.shared.lookup.secret(namespace, SECRET)? else {
        let details =
            format!("No inmemorydb secret named '{SECRET}' found in namespace '{namespace}'");
        return Err(ProviderError::missing("inmemorydb", [details.as_str()]));
    };
    let text = |key| secret.text(key).unwrap_or_default();
    let port = credentials::integer(&text("db.port")).map_err(|cause| {
        let what =
            format!("failed to parse port from secret '{SECRET}' in namespace '{namespace}'");
        ProviderError::caused(what, cause)
    })?;
    Ok(InMemoryDbConfig {
        hostname: text("db.endpoint"),
        password: Some(text("db.auth_token")).filter(|token| !token.is_empty()),
        port,
        ssl_mode: Some(true),
        username: None,
    })
}
