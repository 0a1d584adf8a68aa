//! Who does what has to be done outside the cluster, and what of it is done.

use std::{
    collections::HashMap,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use mainstay_engine::{
    key::ObjectKey,
    snapshot::{Effect, EffectResult},
};
use tokio::sync::Semaphore;

use crate::source::Source;

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

/// Effects that run at the same time.
const MOST_RUNNING: usize = 16;
/// Effects of one share that run at the same time. A server that hangs holds up no more than these.
const MOST_OF_A_SHARE: usize = 4;

/// An effect that a root asked for.
#[derive(Debug)]
enum State {
    Running,
    Ended(EffectResult),
}

/// The effects of one root, by fingerprint.
type OfRoot = HashMap<String, State>;

/// The port and the memory of what it did, by root. What succeeded is not done again as long as the root asks for it and
/// what holds its result stays ready; a failure is told to the reconcile that asked, and tried again by the next.
pub struct Effects {
    port: Arc<dyn EffectPort>,
    roots: Mutex<HashMap<ObjectKey, OfRoot>>,
    pool: Arc<Semaphore>,
    shares: Mutex<HashMap<String, Weak<Semaphore>>>,
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
            roots: Mutex::default(),
            pool: Arc::new(Semaphore::new(MOST_RUNNING)),
            shares: Mutex::default(),
        }
    }

    /// What came of an effect that a root asked for; `None` if it runs or has to be started.
    pub(crate) fn result(&self, root: &ObjectKey, effect: &dyn Effect) -> Option<EffectResult> {
        let mut roots = lock(&self.roots);
        let of_root = roots.get_mut(root)?;
        let fingerprint = effect.fingerprint();
        match of_root.get(&fingerprint)? {
            State::Running => None,
            State::Ended(Ok(result)) => Some(Ok(result.clone())),
            State::Ended(Err(error)) => {
                let error = error.clone();
                of_root.remove(&fingerprint);
                Some(Err(error))
            }
        }
    }

    /// Runs an effect for a root.
    pub(crate) async fn run(&self, root: &ObjectKey, effect: Arc<dyn Effect>) {
        let result = self.port.run(&*effect).await;
        let mut roots = lock(&self.roots);
        let of_root = roots.entry(root.clone()).or_default();
        of_root.insert(effect.fingerprint(), State::Ended(result));
    }

    /// Starts an effect for a root, unless it runs already; the root is enqueued when it has ended. Reconciles do not wait
    /// for effects: a server that hangs would hold up those who do not need it.
    pub(crate) fn start(&self, root: ObjectKey, effect: Arc<dyn Effect>, source: Arc<Source>) {
        let fingerprint = effect.fingerprint();
        {
            let mut roots = lock(&self.roots);
            let of_root = roots.entry(root.clone()).or_default();
            if matches!(of_root.get(&fingerprint), Some(State::Running)) {
                return;
            }
            of_root.insert(fingerprint.clone(), State::Running);
        }
        let (pool, share) = (self.pool.clone(), self.share(&effect.share()));
        let port = self.port.clone();
        tokio::spawn(async move {
            // Closed never.
            let _share = share.acquire().await;
            let _place = pool.acquire().await;
            let result = if source.fence.is_open() {
                tokio::select! {
                    result = port.run(&*effect) => Some(result),
                    () = source.fence.closed() => None,
                }
            } else {
                None
            };
            source.effects.ended(&root, &fingerprint, result);
            (source.wake)(root);
        });
    }

    /// An effect ended, or was abandoned. Of a root that is gone nothing is kept.
    fn ended(&self, root: &ObjectKey, fingerprint: &str, result: Option<EffectResult>) {
        let mut roots = lock(&self.roots);
        let Some(of_root) = roots.get_mut(root) else {
            return;
        };
        match result {
            Some(result) if of_root.contains_key(fingerprint) => {
                of_root.insert(fingerprint.to_owned(), State::Ended(result));
            }
            _ => {
                of_root.remove(fingerprint);
            }
        }
    }

    fn share(&self, name: &str) -> Arc<Semaphore> {
        let mut shares = lock(&self.shares);
        if let Some(share) = shares.get(name).and_then(Weak::upgrade) {
            return share;
        }
        shares.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(MOST_OF_A_SHARE));
        shares.insert(name.to_owned(), Arc::downgrade(&share));
        share
    }

    /// What was done for a root may be lost: what held it was not ready.
    pub(crate) fn forget(&self, root: &ObjectKey, effect: &dyn Effect) {
        if let Some(of_root) = lock(&self.roots).get_mut(root) {
            of_root.retain(|fingerprint, state| {
                matches!(state, State::Running) || *fingerprint != effect.fingerprint()
            });
        }
    }

    /// The root is gone.
    pub(crate) fn forget_root(&self, root: &ObjectKey) {
        lock(&self.roots).remove(root);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
        assert!(lock(&effects.roots).is_empty());
    }
}
