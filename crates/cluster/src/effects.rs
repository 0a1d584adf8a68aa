//! Who does what has to be done outside the cluster, and what of it is done.

use std::{
    collections::{BTreeSet, HashMap},
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

/// An effect that roots asked for.
#[derive(Debug)]
enum State {
    Running,
    Done(String),
}

#[derive(Debug)]
struct Entry {
    state: State,
    /// Who asked for it.
    roots: BTreeSet<ObjectKey>,
}

#[derive(Debug, Default)]
struct Memory {
    /// By fingerprint.
    entries: HashMap<String, Entry>,
    /// Failures that were not told yet.
    failures: HashMap<ObjectKey, HashMap<String, String>>,
    by_root: HashMap<ObjectKey, BTreeSet<String>>,
}

/// The port and the memory of what it did. What succeeded is not done again as long as a root asks for it and what holds
/// its result stays ready; a failure is told once to each root that asked, and tried again by its next reconcile.
pub struct Effects {
    port: Arc<dyn EffectPort>,
    memory: Mutex<Memory>,
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
            memory: Mutex::default(),
            pool: Arc::new(Semaphore::new(MOST_RUNNING)),
            shares: Mutex::default(),
        }
    }

    /// What came of an effect that a root asked for; `None` if it runs or has to be started.
    pub(crate) fn result(&self, root: &ObjectKey, effect: &dyn Effect) -> Option<EffectResult> {
        let fingerprint = effect.fingerprint();
        let mut memory = lock(&self.memory);
        if let Some(error) = memory.take_failure(root, &fingerprint) {
            return Some(Err(error));
        }
        let entry = memory.entries.get_mut(&fingerprint)?;
        let State::Done(result) = &entry.state else {
            return None;
        };
        let result = result.clone();
        memory.ask(root, &fingerprint);
        Some(Ok(result))
    }

    /// Runs an effect for a root.
    pub(crate) async fn run(&self, root: &ObjectKey, effect: Arc<dyn Effect>) {
        let fingerprint = effect.fingerprint();
        lock(&self.memory).begin(root, &fingerprint);
        let result = self.port.run(&*effect).await;
        lock(&self.memory).end(&fingerprint, Some(result));
    }

    /// Starts an effect for a root, unless it runs already; who asked is enqueued when it has ended. Reconciles do not
    /// wait for effects: a server that hangs would hold up those who do not need it.
    pub(crate) fn start(&self, root: &ObjectKey, effect: Arc<dyn Effect>, source: Arc<Source>) {
        let fingerprint = effect.fingerprint();
        if !lock(&self.memory).begin(root, &fingerprint) {
            return;
        }
        let (pool, share) = (self.pool.clone(), self.share(&effect.share()));
        let port = self.port.clone();
        tokio::spawn(async move {
            // Neither is ever closed.
            let _turn = share.acquire().await;
            let _place = pool.acquire().await;
            let fence = &source.fence;
            let result = tokio::select! {
                biased;
                () = fence.closed() => None,
                result = port.run(&*effect) => Some(result),
            };
            let roots = lock(&source.effects.memory).end(&fingerprint, result);
            roots.into_iter().for_each(&*source.wake);
        });
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

    /// What was done may be lost: what held it was not ready.
    pub(crate) fn forget(&self, effect: &dyn Effect) {
        lock(&self.memory).forget(&effect.fingerprint());
    }

    /// The root is gone. What nobody else asked for is forgotten.
    pub(crate) fn forget_root(&self, root: &ObjectKey) {
        let mut memory = lock(&self.memory);
        memory.failures.remove(root);
        for fingerprint in memory.by_root.remove(root).unwrap_or_default() {
            if let Some(entry) = memory.entries.get_mut(&fingerprint) {
                entry.roots.remove(root);
                if entry.roots.is_empty() {
                    memory.entries.remove(&fingerprint);
                }
            }
        }
    }
}

impl Memory {
    fn take_failure(&mut self, root: &ObjectKey, fingerprint: &str) -> Option<String> {
        let of_root = self.failures.get_mut(root)?;
        let error = of_root.remove(fingerprint);
        if of_root.is_empty() {
            self.failures.remove(root);
        }
        error
    }

    /// A root asked for an effect that is known.
    fn ask(&mut self, root: &ObjectKey, fingerprint: &str) {
        if let Some(entry) = self.entries.get_mut(fingerprint)
            && entry.roots.insert(root.clone())
        {
            let of_root = self.by_root.entry(root.clone()).or_default();
            of_root.insert(fingerprint.to_owned());
        }
    }

    /// A root wants an effect. Says whether it has to be run.
    fn begin(&mut self, root: &ObjectKey, fingerprint: &str) -> bool {
        let is_new = !self.entries.contains_key(fingerprint);
        if is_new {
            let entry = Entry {
                state: State::Running,
                roots: BTreeSet::new(),
            };
            self.entries.insert(fingerprint.to_owned(), entry);
        }
        self.ask(root, fingerprint);
        is_new
    }

    /// An effect ended, or was abandoned. Returns who asked for it; of what nobody asks for any more nothing is kept.
    fn end(&mut self, fingerprint: &str, result: Option<EffectResult>) -> BTreeSet<ObjectKey> {
        let Some(entry) = self.entries.get_mut(fingerprint) else {
            return BTreeSet::new();
        };
        let roots = entry.roots.clone();
        match result {
            Some(Ok(result)) => entry.state = State::Done(result),
            Some(Err(error)) => {
                for root in &roots {
                    let of_root = self.failures.entry(root.clone()).or_default();
                    of_root.insert(fingerprint.to_owned(), error.clone());
                }
                self.forget(fingerprint);
            }
            None => self.forget(fingerprint),
        }
        roots
    }

    fn forget(&mut self, fingerprint: &str) {
        let Some(entry) = self.entries.remove(fingerprint) else {
            return;
        };
        for root in entry.roots {
            if let Some(of_root) = self.by_root.get_mut(&root) {
                of_root.remove(fingerprint);
                if of_root.is_empty() {
                    self.by_root.remove(&root);
                }
            }
        }
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
            let result = if number.is_multiple_of(2) {
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
        let other = ObjectKey::new(Kind::new("example.io", "v1", "Thing"), "shop", "other");
        assert_eq!(
            effects.result(&other, &bucket),
            done,
            "it is done for everybody"
        );
        effects.forget_root(&root);
        assert_eq!(
            effects.result(&other, &bucket),
            done,
            "somebody still asks for it"
        );
        effects.forget(&bucket);
        assert_eq!(effects.result(&other, &bucket), None, "it may be lost");
        effects.run(&other, Arc::new(Bucket("a"))).await;
        effects.forget_root(&other);
        let memory = lock(&effects.memory);
        assert!(
            memory.entries.is_empty() && memory.failures.is_empty() && memory.by_root.is_empty()
        );
    }
}
