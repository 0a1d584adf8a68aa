//! Who runs Clowder's effects.

use std::{any::Any, fmt, future::Future, pin::Pin, sync::Arc};

use mainstay_clowder::providers::effect::Effect as ClowderEffect;
use mainstay_clowder_ports::Ports;
use mainstay_cluster::effects::EffectPort;
use mainstay_engine::snapshot::{Effect, EffectResult};

/// Runs them with real clients.
#[derive(Debug)]
pub struct ClowderPort(pub Ports);

impl EffectPort for ClowderPort {
    fn run<'effect>(
        &'effect self,
        effect: &'effect dyn Effect,
    ) -> Pin<Box<dyn Future<Output = EffectResult> + Send + 'effect>> {
        match of_clowder(effect) {
            Some(effect) => Box::pin(self.0.run(effect)),
            None => Box::pin(std::future::ready(Ok(effect.dry_run()))),
        }
    }
}

/// Runs effects that only read, and takes the others as done: for plans, which change nothing.
pub struct DryRun(pub Arc<dyn EffectPort>);

impl fmt::Debug for DryRun {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("DryRun")
    }
}

impl EffectPort for DryRun {
    fn run<'effect>(
        &'effect self,
        effect: &'effect dyn Effect,
    ) -> Pin<Box<dyn Future<Output = EffectResult> + Send + 'effect>> {
        match of_clowder(effect) {
            Some(ClowderEffect::Fetch { .. }) => self.0.run(effect),
            _ => Box::pin(std::future::ready(Ok(effect.dry_run()))),
        }
    }
}

fn of_clowder(effect: &dyn Effect) -> Option<&ClowderEffect> {
    let effect: &dyn Any = effect;
    effect.downcast_ref()
}
