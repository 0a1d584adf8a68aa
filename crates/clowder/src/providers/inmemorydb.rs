//! Provider `inmemorydb`: a cache for each app that asks for one.

mod elasticache;
mod redis;

use std::sync::Arc;

use mainstay_api::clowder::environment::in_memory_database::InMemoryDatabaseMode;
use mainstay_engine::ObjectSet;

use crate::{
    kinds,
    providers::provider::{AppRender, EnvironmentRender, Provider, ProviderError},
    views::summary::AppSummary,
};

const UNIT: &str = "inmemorydb";

/// The provider.
#[derive(Debug)]
pub struct InMemoryDb;

impl Provider for InMemoryDb {
    fn name(&self) -> &'static str {
        UNIT
    }

    fn environment(&self, ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
        let mode = &ctx
            .shared
            .environment
            .spec
            .providers
            .in_memory_database
            .mode;
        set_up(mode, ctx.set)
    }

    fn app(&self, ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
        let mode = &ctx
            .shared
            .environment
            .spec
            .providers
            .in_memory_database
            .mode;
        set_up(mode, ctx.set)?;
        if !ctx.app.spec.in_memory_database {
            return Ok(());
        }
        ctx.config.in_memory_db = match mode {
            InMemoryDatabaseMode::Redis => Some(redis::app(ctx)?),
            InMemoryDatabaseMode::Elasticache => Some(elasticache::app(ctx)?),
            _ => None,
        };
        Ok(())
    }
}

fn set_up(mode: &InMemoryDatabaseMode, set: &mut ObjectSet) -> Result<(), ProviderError> {
    match mode.as_str() {
        "redis" => {
            for kind in [
                kinds::DEPLOYMENT,
                kinds::SERVICE,
                kinds::CONFIG_MAP,
                kinds::SECRET,
            ] {
                set.prune.kind(kind);
            }
            Ok(())
        }
        "elasticache" | "none" | "" => Ok(()),
        mode => Err(ProviderError::no_mode("in-memory db", mode)),
    }
}

/// The app whose cache this app shares, if it does. It has to be a dependency: optional ones may be missing.
fn lender(ctx: &AppRender<'_>) -> Result<Option<Arc<AppSummary>>, ProviderError> {
    let spec = &ctx.app.spec;
    let name = &spec.shared_in_memory_database_app_name;
    if name.is_empty() {
        return Ok(None);
    }
    if !spec.dependencies.contains(name) {
        return Err(ProviderError::bare(
            "The requested app's in memory db was not found in the dependencies",
        ));
    }
    let apps = ctx.shared.lookup.apps_named(&spec.environment_name, name);
    let app = apps.into_iter().next();
    app.map(Some).ok_or_else(|| {
        ProviderError::Failed("could not get app for in memory db in env".to_owned())
    })
}

#[cfg(test)]
mod tests;
