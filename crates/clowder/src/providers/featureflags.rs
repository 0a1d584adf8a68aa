//! Provider `featureflags`: an Unleash server that tells apps what is switched on.
//!
//! Parity: the app's own field `featureFlags` is not looked at; every app is told.

mod app_interface;
mod local;

use mainstay_api::clowder::environment::feature_flags::FeatureFlagsMode;
use mainstay_engine::ObjectSet;

use crate::{
    kinds,
    providers::provider::{AppRender, Context, EnvironmentRender, Provider, ProviderError},
};

const UNIT: &str = "featureflags";

/// The provider.
#[derive(Debug)]
pub struct FeatureFlags;

impl Provider for FeatureFlags {
    fn name(&self) -> &'static str {
        UNIT
    }

    fn environment(&self, ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
        let mode = &ctx.shared.environment.spec.providers.feature_flags.mode;
        set_up(mode, ctx.set)?;
        if *mode == FeatureFlagsMode::Local {
            local::environment(ctx)?;
        }
        Ok(())
    }

    fn app(&self, ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
        let mode = &ctx.shared.environment.spec.providers.feature_flags.mode;
        set_up(mode, ctx.set)?;
        ctx.config.feature_flags = match mode {
            FeatureFlagsMode::Local => Some(local::app(ctx)?),
            FeatureFlagsMode::AppInterface => Some(app_interface::app(ctx)?),
            _ => None,
        };
        Ok(())
    }
}

/// Names of the Deployments of mode `local`.
pub(crate) fn deployments(context: &Context<'_>) -> [String; 3] {
    [
        local::DATABASE.to_owned(),
        local::server_name(context),
        local::edge_name(context),
    ]
}

fn set_up(mode: &FeatureFlagsMode, set: &mut ObjectSet) -> Result<(), ProviderError> {
    match mode.as_str() {
        "local" => {
            for kind in [
                kinds::DEPLOYMENT,
                kinds::SERVICE,
                kinds::INGRESS,
                kinds::SECRET,
                kinds::PERSISTENT_VOLUME_CLAIM,
            ] {
                set.prune.kind(kind);
            }
            Ok(())
        }
        "app-interface" | "none" | "" => Ok(()),
        mode => Err(ProviderError::no_mode("featureflags", mode)),
    }
}

#[cfg(test)]
mod tests;
