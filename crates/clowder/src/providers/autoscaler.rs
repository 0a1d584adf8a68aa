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
    providers::provider::{AppRender, Context, EnvironmentRender, Provider, ProviderError},
};

const UNIT: &str = "autoscaler";

/// The provider.
#[derive(Debug)]
pub struct Autoscaler;

impl Provider for Autoscaler {
    fn name(&self) -> &'static str {
        UNIT
    }

    fn environment(&self, ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
        register(ctx.shared, ctx.set);
        Ok(())
    }

    fn app(&self, ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
        register(ctx.shared, ctx.set);
        if !is_active(ctx.shared) {
            return Ok(());
        }
        for deployment in &ctx.app.spec.deployments {
            if let Some(scaler) = &deployment.auto_scaler_simple {
                let object = simple::build(ctx, &deployment.name, scaler)?;
                ctx.set.add(UNIT, &object)?;
            } else if let Some(scaler) = &deployment.auto_scaler {
                let object = keda::build(ctx, &deployment.name, scaler)?;
                ctx.set.add(UNIT, &object)?;
            }
        }
        Ok(())
    }
}

fn is_active(context: Context<'_>) -> bool {
    let mode = &context.environment.spec.providers.auto_scaler.mode;
    matches!(mode, AutoScalerMode::Enabled | AutoScalerMode::Keda)
}

/// Without KEDA its objects are left alone.
fn register(context: Context<'_>, set: &mut ObjectSet) {
    if is_active(context) {
        set.prune.kind(kinds::HORIZONTAL_POD_AUTOSCALER);
        if context.settings.config.features.enable_keda_resources {
            set.prune.kind(kinds::SCALED_OBJECT);
        }
    }
}

#[cfg(test)]
mod tests;
