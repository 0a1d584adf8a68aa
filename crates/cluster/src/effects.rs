//! Who does what has to be done outside the cluster, and what of it is done.

use std::{
    collections::HashMap,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use mainstay_engine::{
    key::ObjectKey,
    snapshot::{Effect, EffectResult},
};

/// Runs the effects of a system.
pub trait EffectPort: Send + Sync {
    /// Does it, within a time of its own. Doing it twice does no harm.
    fn run<'effect>(
        &'effect self,
        effect: &'effect dyn Effect,
    ) -> Pin<Box<dyn Future<Output = EffectResult> + Send + 'effect>>;
}

/// The port of a system without effects.
#[derive(Clone, Copy, Debug)]
pub struct NoEffects;

impl EffectPort for NoEffects {
    fn run<'effect>(
        &'effect self,
        effect: &'effect dyn Effect,
    ) -> Pin<Box<dyn Future<Output = EffectResult> + Send + 'effect>> {
        Box::pin(std::future::ready(Ok(effect.dry_run())))
    }
}

/// The results of one root, by fingerprint.
type Results = HashMap<String, EffectResult>;

/// The port and the memory of what it did, by root. What succeeded is not done again as long as the root asks for it and
/// what holds its result stays ready; a failure is told to the reconcile that asked, and tried again by the next.
pub struct Effects {
    port: Arc<dyn EffectPort>,
    results: Mutex<HashMap<ObjectKey, Results>>,
}

impl fmt::Debug for Effects {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Effects")
    }
}

impl Effects {
    /// Nothing is done yet.
    pub fn new(port: Arc<dyn EffectPort>) -> Self {
        Self {
            port,
            results: Mutex::default(),
        }
    }

    /// What came of an effect that a root asked for; `None` if it has to be done.
    pub(crate) fn result(&self, root: &ObjectKey, effect: &dyn Effect) -> Option<EffectResult> {
        let mut results = self.lock();
        let results = results.get_mut(root)?;
        let fingerprint = effect.fingerprint();
        match results.get(&fingerprint)? {
            Ok(result) => Some(Ok(result.clone())),
            Err(_) => results.remove(&fingerprint),
        }
    }

    /// Runs an effect for a root.
    pub(crate) async fn run(&self, root: &ObjectKey, effect: Arc<dyn Effect>) {
        let result = self.port.run(&*effect).await;
        let mut results = self.lock();
        let results = results.entry(root.clone()).or_default();
        results.insert(effect.fingerprint(), result);
    }

    /// What was done for a root may be lost: what held it was not ready, or nobody asks for it any more.
    pub(crate) fn forget(&self, root: &ObjectKey, effect: &dyn Effect) {
        if let Some(results) = self.lock().get_mut(root) {
            results.remove(&effect.fingerprint());
        }
    }

    /// The root is gone.
    pub(crate) fn forget_root(&self, root: &ObjectKey) {
        self.lock().remove(root);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ObjectKey, Results>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use mainstay_engine::Kind;

    use super::*;

    #[derive(Debug)]
    struct Bucket(&'static str);

    impl Effect for Bucket {
        fn fingerprint(&self) -> String {
            self.0.to_owned()
        }
    }

    /// Counts runs; every second one fails.
    #[derive(Default)]
    struct Unsteady(AtomicU32);

    impl EffectPort for Unsteady {
        fn run<'effect>(
            &'effect self,
            _effect: &'effect dyn Effect,
        ) -> Pin<Box<dyn Future<Output = EffectResult> + Send + 'effect>> {
            let number = self.0.fetch_add(1, Ordering::SeqCst);
            let result = if number % 2 == 0 {
                Err("no".to_owned())
            } else {
                Ok("yes".to_owned())
            };
            Box::pin(std::future::ready(result))
        }
    }

    #[tokio::test]
    async fn a_failure_is_told_once_and_a_success_is_kept_until_it_may_be_lost() {
        let effects = Effects::new(Arc::new(Unsteady::default()));
        let root = ObjectKey::new(Kind::new("example.io", "v1", "Thing"), "shop", "thing");
        let bucket = Bucket("a");
        assert_eq!(effects.result(&root, &bucket), None);
        effects.run(&root, Arc::new(Bucket("a"))).await;
        assert_eq!(effects.result(&root, &bucket), Some(Err("no".to_owned())));
        assert_eq!(effects.result(&root, &bucket), None);
        effects.run(&root, Arc::new(Bucket("a"))).await;
        let done = Some(Ok("yes".to_owned()));
        assert_eq!(effects.result(&root, &bucket), done);
        assert_eq!(effects.result(&root, &bucket), done);
        effects.forget(&root, &bucket);
        assert_eq!(effects.result(&root, &bucket), None);
        effects.forget_root(&root);
        assert!(effects.lock().is_empty());
    }
}
