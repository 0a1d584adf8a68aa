//! Who does what has to be done outside the cluster, and what of it is done.

use std::{
    collections::HashMap,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use mainstay_clowder::errand::Errand;
use mainstay_clowder_ports::Ports;
use mainstay_engine::key::ObjectKey;

/// What comes of an errand: its result, or the text of the error.
pub type ErrandResult = Result<String, String>;

/// Carries errands out.
pub trait Port: Send + Sync {
    /// Does it. Doing it twice does no harm.
    fn carry_out<'errand>(
        &'errand self,
        errand: &'errand Errand,
    ) -> Pin<Box<dyn Future<Output = ErrandResult> + Send + 'errand>>;
}

impl Port for Ports {
    fn carry_out<'errand>(
        &'errand self,
        errand: &'errand Errand,
    ) -> Pin<Box<dyn Future<Output = ErrandResult> + Send + 'errand>> {
        Box::pin(Self::carry_out(self, errand))
    }
}

/// The port and the memory of what it did. What succeeded is not done again as long as nothing about it changes; what
/// failed is told to the pass that asked, and tried again by the next.
pub struct Errands {
    port: Arc<dyn Port>,
    done: Mutex<HashMap<Errand, String>>,
    failed: Mutex<HashMap<(ObjectKey, Errand), String>>,
}

impl fmt::Debug for Errands {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Errands")
    }
}

impl Errands {
    /// Nothing is done yet.
    pub fn new(port: Arc<dyn Port>) -> Self {
        Self {
            port,
            done: Mutex::default(),
            failed: Mutex::default(),
        }
    }

    /// What came of an errand that a root asked for; `None` if it has to be done.
    pub(crate) fn result(&self, root: &ObjectKey, errand: &Errand) -> Option<ErrandResult> {
        if let Some(result) = lock(&self.done).get(errand) {
            return Some(Ok(result.clone()));
        }
        let failure = lock(&self.failed).remove(&(root.clone(), errand.clone()));
        failure.map(Err)
    }

    /// Carries an errand out for a root.
    pub(crate) async fn run(&self, root: &ObjectKey, errand: Errand) {
        match self.port.carry_out(&errand).await {
            Ok(result) => {
                lock(&self.done).insert(errand, result);
            }
            Err(error) => {
                lock(&self.failed).insert((root.clone(), errand), error);
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
