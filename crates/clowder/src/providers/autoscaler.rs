//! Provider `autoscaler`: scales deployments that ask for it, by KEDA or the simple way.
//!
//! | Module | Content |
//! |---|---|
//! | [`keda`] | `ScaledObjects` of KEDA |
//! | [`simple`] | `HorizontalPodAutoscalers` |

pub mod keda;
pub mod simple;

use mainstay_api::clowder::environment::autoscaler::AutoScalerMode;
use mainstay_engine::ObjectSet;

use crate::{
    kinds,
    provider::{AppPass, EnvironmentPass, Provider, ProviderError, Scene},
};

const UNIT: &str = "autoscaler";

/// The provider.
#[derive(Debug)]
pub struct Autoscaler;

impl Provider for Autoscaler {
    fn name(&self) -> &'static str {
        UNIT
    }

    fn environment(&self, pass: &mut EnvironmentPass<'_>) -> Result<(), ProviderError> {
        register(pass.scene, pass.set);
        Ok(())
    }

    fn app(&self, pass: &mut AppPass<'_>) -> Result<(), ProviderError> {
        register(pass.scene, pass.set);
        if !is_active(pass.scene) {
            return Ok(());
        }
        for deployment in &pass.app.spec.deployments {
            if let Some(scaler) = &deployment.auto_scaler_simple {
                let object = simple::build(pass, &deployment.name, scaler)?;
                pass.set.add(UNIT, &object)?;
            } else if let Some(scaler) = &deployment.auto_scaler {
                let object = keda::build(pass, &deployment.name, scaler)?;
                pass.set.add(UNIT, &object)?;
            }
        }
        Ok(())
    }
}

fn is_active(scene: Scene<'_>) -> bool {
    let mode = &scene.environment.spec.providers.auto_scaler.mode;
    matches!(mode, AutoScalerMode::Enabled | AutoScalerMode::Keda)
}

/// Without KEDA its objects are left alone.
fn register(scene: Scene<'_>, set: &mut ObjectSet) {
    if is_active(scene) {
        set.prune_left_over(kinds::HORIZONTAL_POD_AUTOSCALER);
        if scene.settings.config.features.enable_keda_resources {
            set.prune_left_over(kinds::SCALED_OBJECT);
        }
    }
}

#[cfg(test)]
mod tests;
