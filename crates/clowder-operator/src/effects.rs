//! Who does what has to be done outside the cluster, and what of it is done.

use std::{
    collections::HashMap,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use mainstay_clowder::effect::Effect;
use mainstay_clowder_ports::Ports;
use mainstay_engine::key::ObjectKey;

/// What comes of an effect: its result, or the text of the error.
pub type EffectResult = Result<String, String>;

/// Carries effects out.
pub trait Port: Send + Sync {
    /// Does it. Doing it twice does no harm.
    fn run<'effect>(
        &'effect self,
        effect: &'effect Effect,
    ) -> Pin<Box<dyn Future<Output = EffectResult> + Send + 'effect>>;
}

impl Port for Ports {
    fn run<'effect>(
        &'effect self,
        effect: &'effect Effect,
    ) -> Pin<Box<dyn Future<Output = EffectResult> + Send + 'effect>> {
        Box::pin(Self::run(self, effect))
    }
}

/// The port and the memory of what it did. What succeeded is not done again as long as nothing about it changes; what
/// failed is told to the reconcile that asked, and tried again by the next.
pub struct Effects {
    port: Arc<dyn Port>,
    done: Mutex<HashMap<Effect, String>>,
    failed: Mutex<HashMap<(ObjectKey, Effect), String>>,
}

impl fmt::Debug for Effects {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Effects")
    }
}

impl Effects {
    /// Nothing is done yet.
    pub fn new(port: Arc<dyn Port>) -> Self {
        Self {
            port,
            done: Mutex::default(),
            failed: Mutex::default(),
        }
    }

    /// What came of an effect that a root asked for; `None` if it has to be done.
    pub(crate) fn result(&self, root: &ObjectKey, effect: &Effect) -> Option<EffectResult> {
        if let Some(result) = lock(&self.done).get(effect) {
            return Some(Ok(result.clone()));
        }
        let failure = lock(&self.failed).remove(&(root.clone(), effect.clone()));
        failure.map(Err)
    }

    /// Carries an effect out for a root.
    pub(crate) async fn run(&self, root: &ObjectKey, effect: Effect) {
        match self.port.run(&effect).await {
            Ok(result) => {
                lock(&self.done).insert(effect, result);
            }
            Err(error) => {
                lock(&self.failed).insert((root.clone(), effect), error);
            }
        }
    }

    /// The root is gone; nobody will ask for its failures.
    pub(crate) fn forget(&self, root: &ObjectKey) {
        lock(&self.failed).retain(|(asked_by, _), _| asked_by != root);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
