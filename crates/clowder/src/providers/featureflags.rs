//! Provider `featureflags`: an Unleash server that tells apps what is switched on.
//!
//! Parity: the app's own field `featureFlags` is not looked at; every app is told.

mod app_interface;
mod local;

use mainstay_api::clowder::environment::feature_flags::FeatureFlagsMode;
use mainstay_engine::ObjectSet;

use crate::{
    kinds,
    provider::{AppPass, EnvironmentPass, Provider, ProviderError, Scene},
};

const UNIT: &str = "featureflags";

/// The provider.
#[derive(Debug)]
pub struct FeatureFlags;

impl Provider for FeatureFlags {
    fn name(&self) -> &'static str {
        UNIT
    }

    fn environment(&self, pass: &mut EnvironmentPass<'_>) -> Result<(), ProviderError> {
        let mode = &pass.scene.environment.spec.providers.feature_flags.mode;
        set_up(mode, pass.set)?;
        if *mode == FeatureFlagsMode::Local {
            local::environment(pass)?;
        }
        Ok(())
    }

    fn app(&self, pass: &mut AppPass<'_>) -> Result<(), ProviderError> {
        let mode = &pass.scene.environment.spec.providers.feature_flags.mode;
        set_up(mode, pass.set)?;
        pass.config.feature_flags = match mode {
            FeatureFlagsMode::Local => Some(local::app(pass)?),
            FeatureFlagsMode::AppInterface => Some(app_interface::app(pass)?),
            _ => None,
        };
        Ok(())
    }
}

/// Names of the Deployments of mode `local`.
pub(crate) fn deployments(scene: &Scene<'_>) -> [String; 3] {
    [
        local::DATABASE.to_owned(),
        local::server_name(scene),
        local::edge_name(scene),
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
                set.prune_left_over(kind);
            }
            Ok(())
        }
        "app-interface" | "none" | "" => Ok(()),
        mode => Err(ProviderError::no_mode("featureflags", mode)),
    }
}

#[cfg(test)]
mod tests;
