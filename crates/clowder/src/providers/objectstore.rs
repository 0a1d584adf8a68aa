//! Provider `objectstore`: buckets for apps.

mod app_interface;
pub(crate) mod minio;

use mainstay_api::clowder::environment::object_store::ObjectStoreMode;
use mainstay_engine::ObjectSet;

use crate::{
    kinds,
    provider::{AppPass, EnvironmentPass, Provider, ProviderError},
};

const UNIT: &str = "objectstore";

/// The provider.
#[derive(Debug)]
pub struct ObjectStore;

impl Provider for ObjectStore {
    fn name(&self) -> &'static str {
        UNIT
    }

    fn environment(&self, pass: &mut EnvironmentPass<'_>) -> Result<(), ProviderError> {
        let mode = &pass.scene.environment.spec.providers.object_store.mode;
        set_up(mode, pass.set)?;
        if *mode == ObjectStoreMode::Minio {
            minio::add_server(&pass.scene, pass.set)?;
            minio::add_policy(pass)?;
        }
        Ok(())
    }

    fn app(&self, pass: &mut AppPass<'_>) -> Result<(), ProviderError> {
        let mode = &pass.scene.environment.spec.providers.object_store.mode;
        set_up(mode, pass.set)?;
        if *mode == ObjectStoreMode::Minio {
            // Parity: the server belongs to the environment, and every app sees to it that it is there.
            minio::add_server(&pass.scene, pass.set)?;
        }
        if pass.app.spec.object_store.is_empty() {
            return Ok(());
        }
        pass.config.object_store = match mode {
            ObjectStoreMode::Minio => Some(minio::app(pass)?),
            ObjectStoreMode::AppInterface => Some(app_interface::app(pass)?),
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
                set.prune_left_over(kind);
            }
            Ok(())
        }
        "app-interface" | "none" | "" => Ok(()),
        mode => Err(ProviderError::no_mode("object store", mode)),
    }
}

#[cfg(test)]
mod tests;
