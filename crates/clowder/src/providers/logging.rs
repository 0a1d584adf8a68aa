//! Provider `logging`: where apps send their logs.

use mainstay_api::clowder::environment::observability::LoggingMode;

use crate::providers::{
    app_config::{CloudWatchConfig, LoggingConfig},
    credentials,
    provider::{AppRender, EnvironmentRender, Provider, ProviderError},
};

const UNIT: &str = "logging";
const SECRET: &str = "cloudwatch";

/// The provider.
#[derive(Debug)]
pub struct Logging;

impl Provider for Logging {
    fn name(&self) -> &'static str {
        UNIT
    }

    fn environment(&self, ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
        is_known(&ctx.shared.environment.spec.providers.logging.mode)
    }

    fn app(&self, ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
        let mode = &ctx.shared.environment.spec.providers.logging.mode;
        is_known(mode)?;
        ctx.config.logging = if *mode == LoggingMode::AppInterface {
            cloud_watch(ctx)?
        } else {
            // Parity: the type is a text, and the block is there although nothing is in it.
            LoggingConfig {
                cloudwatch: Some(CloudWatchConfig::default()),
                kind: "null".to_owned(),
            }
        };
        Ok(())
    }
}

fn is_known(mode: &LoggingMode) -> Result<(), ProviderError> {
    match mode.as_str() {
        "app-interface" | "none" | "null" | "" => Ok(()),
        mode => Err(ProviderError::no_mode("logging", mode)),
    }
}

fn cloud_watch(ctx: &mut AppRender<'_>) -> Result<LoggingConfig, ProviderError> {
    let secret = credentials::stored(ctx.shared.lookup, ctx.namespace(), SECRET)?
        .map_err(|cause| ProviderError::caused("Failed to fetch cloudwatch secret", cause))?;
    let namespace = ctx.namespace();
    ctx.associations
        .track_for_environment(ctx.shared.lookup, namespace, SECRET)?;
    let text = |key| secret.text(key).unwrap_or_default();
    Ok(LoggingConfig {
        cloudwatch: Some(CloudWatchConfig {
            access_key_id: text("aws_access_key_id"),
            log_group: text("log_group_name"),
            region: text("aws_region"),
            secret_access_key: text("aws_secret_access_key"),
        }),
        kind: SECRET.to_owned(),
    })
}

#[cfg(test)]
mod tests;
