//! Provider `objectstore`: buckets for apps.

mod app_interface;
pub(crate) mod minio;

use mainstay_api::clowder::environment::object_store::ObjectStoreMode;
use mainstay_engine::ObjectSet;

use crate::{
    kinds,
    providers::provider::{AppRender, EnvironmentRender, Provider, ProviderError},
};

const UNIT: &str = "objectstore";

/// The provider.
#[derive(Debug)]
pub struct ObjectStore;

impl Provider for ObjectStore {
    fn name(&self) -> &'static str {
        UNIT
    }

    fn environment(&self, ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
        let mode = &ctx.shared.environment.spec.providers.object_store.mode;
        set_up(mode, ctx.set)?;
        if *mode == ObjectStoreMode::Minio {
            minio::add_server(&ctx.shared, ctx.set)?;
            minio::add_policy(ctx)?;
        }
        Ok(())
    }

    fn app(&self, ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
        let mode = &ctx.shared.environment.spec.providers.object_store.mode;
        set_up(mode, ctx.set)?;
        if *mode == ObjectStoreMode::Minio {
            // Parity: the server belongs to the environment, and every app sees to it that it is there.
            minio::add_server(&ctx.shared, ctx.set)?;
        }
        if ctx.app.spec.object_store.is_empty() {
            return Ok(());
        }
        ctx.config.object_store = match mode {
            ObjectStoreMode::Minio => Some(minio::app(ctx)?),
            ObjectStoreMode::AppInterface => Some(app_interface::app(ctx)?),
            _ => None,
        };
        Ok(())
    }
}

fn set_up(mode: &ObjectStoreMode, set: &mut ObjectSet) -> Result<(), ProviderError> {
    match mode.as_str() {
        "minio" => {
            for kind in [
                kinds::DEPLOYMENT,
                kinds::SERVICE,
                kinds::PERSISTENT_VOLUME_CLAIM,
                kinds::SECRET,
                kinds::NETWORK_POLICY,
            ] {
                set.prune.kind(kind);
            }
            Ok(())
        }
        "app-interface" | "none" | "" => Ok(()),
        mode => Err(ProviderError::no_mode("object store", mode)),
    }
}

#[cfg(test)]
mod tests;
