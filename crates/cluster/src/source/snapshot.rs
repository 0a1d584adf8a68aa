//! What one reconcile may know, from the stores of a system; what they do not hold is noted and fetched.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::{StreamExt as _, stream};
use mainstay_engine::{
    definition::Definition,
    key::{Kind, ObjectKey},
    kind::Following,
    live::{LiveObject, LiveView},
    snapshot::{
        Alphabet, Answer, AnyIndex, AnyView, Effect, EffectResult, Projected, Slot, Snapshot,
        Unknown, View,
    },
};
use serde_json::{Value, json};

use super::Source;
use crate::{
    cache::Known,
    error::causes,
    random,
    views::{Interest, Subject},
};

/// Reads of one reconcile at the same time.
const PARALLEL_READS: usize = 16;

/// Whether an object exists.
static EXISTENCE: View<bool> = View::new("existence", |_| Some(true));
/// Nothing is read: the store of our own objects has what is asked.
static REPORTED: View<bool> = View::new("reported", |_| None);

/// What the end of a round brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// All that was asked for was known.
    Nothing,
    /// The next round may come to another result.
    Something,
    /// Effects were started. The reconcile ends; the next one begins when one of them has ended.
    Pending,
}

/// A read to be made.
enum Read {
    View(Arc<Subject>, &'static dyn AnyView),
    Own(ObjectKey),
}

/// What was asked in one round.
#[derive(Default)]
struct Round {
    interests: BTreeSet<Interest>,
    /// Answers that were given: the same question has the same answer in one round.
    answers: HashMap<Interest, Vec<Projected>>,
    reads: BTreeMap<ReadKey, Read>,
    fresh: BTreeSet<ObjectKey>,
    effects: BTreeMap<String, Arc<dyn Effect>>,
    /// The machine had no random value to give.
    lacks_randomness: bool,
}

/// Tells reads apart.
type ReadKey = (Subject, &'static str);

impl Round {
    /// Whether something was asked that nobody knows. What depends on it is not asked for: it may turn out to be
    /// something else.
    fn has_unknown(&self) -> bool {
        !self.reads.is_empty()
    }
}

/// What one reconcile may know.
pub struct ClusterSnapshot {
    root: ObjectKey,
    source: Arc<Source>,
    round: Mutex<Round>,
    /// Versions of roots that were read in this reconcile; `None` of those that do not exist.
    fresh: Mutex<BTreeMap<ObjectKey, Option<String>>>,
}

impl fmt::Debug for ClusterSnapshot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ClusterSnapshot")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

impl ClusterSnapshot {
    pub(super) fn new(root: ObjectKey, source: Arc<Source>) -> Self {
        Self {
            root,
            source,
            round: Mutex::default(),
            fresh: Mutex::default(),
        }
    }

    /// Ends a round: fetches what was asked for and not known. Effects are only started, and the root is enqueued when one
    /// of them has ended, unless this source waits for them.
    pub async fn fetch(&self) -> Result<Fetched, String> {
        let (fetched, effects) = self.fetch_known().await?;
        if effects.is_empty() {
            return Ok(fetched);
        }
        if !self.source.waits_for_effects {
            for effect in effects {
                let source = self.source.clone();
                self.source.effects.start(&self.root, effect, source);
            }
            return Ok(Fetched::Pending);
        }
        let effects = effects.into_iter();
        let effects: Vec<_> = effects
            .map(|effect| self.source.effects.run(&self.root, effect))
            .collect();
        let effects = stream::iter(effects).buffer_unordered(PARALLEL_READS);
        effects.collect::<()>().await;
        Ok(Fetched::Something)
    }

    /// Fetches what can be read. Returns the effects that nothing unknown stands before.
    async fn fetch_known(&self) -> Result<(Fetched, Vec<Arc<dyn Effect>>), String> {
        let round = std::mem::take(&mut *self.round());
        if round.lacks_randomness {
            return Err("the machine has no random values to give".to_owned());
        }
        let is_complete =
            round.reads.is_empty() && round.fresh.is_empty() && round.effects.is_empty();
        if is_complete {
            self.source.views.retain(&self.root, round.interests);
            return Ok((Fetched::Nothing, Vec::new()));
        }
        if !round.reads.is_empty() {
            self.read(round.reads.into_values()).await?;
            return Ok((Fetched::Something, Vec::new()));
        }
        // What is done outside the cluster is a write like any other.
        if !round.effects.is_empty() && !self.source.fence.is_open() {
            return Err("leadership was lost".to_owned());
        }
        for key in round.fresh {
            let version = self.source.fetch_fresh(&key).await;
            let version = version.map_err(|error| text(&error))?;
            lock(&self.fresh).insert(key, version);
        }
        let effects = round.effects.into_values().collect();
        Ok((Fetched::Something, effects))
    }

    async fn read(&self, reads: impl Iterator<Item = Read> + Send) -> Result<(), String> {
        let source = &self.source;
        let reads = reads.map(|read| async move {
            match read {
                Read::View(subject, view) => source.fetch(subject, view).await,
                Read::Own(key) => source.fetch_own(&key).await,
            }
        });
        let reads: Vec<_> = reads.collect();
        let mut reads = stream::iter(reads).buffer_unordered(PARALLEL_READS);
        while let Some(read) = reads.next().await {
            read.map_err(|error| text(&error))?;
        }
        Ok(())
    }

    fn round(&self) -> MutexGuard<'_, Round> {
        lock(&self.round)
    }

    /// Answers from what is known, and notes what is not.
    fn ask(
        &self,
        subject: Subject,
        view: &'static dyn AnyView,
        absence: Absence,
    ) -> Answer<Vec<Projected>> {
        let interest = Interest {
            subject: Arc::new(subject),
            view: view.name(),
        };
        if let Some(known) = self.round().answers.get(&interest) {
            return Ok(known.clone());
        }
        let source = &self.source;
        source.views.extend(&self.root, &interest.subject, view);
        // Roots are in stores of their own.
        let kind = interest.subject.kind();
        let is_root = kind.is_some_and(|kind| source.roots.contains_key(kind));
        let confirmed = absence != Absence::Watched || is_root;
        let mut answer = source.views.answer(&interest.subject, view, confirmed);
        if answer.is_none()
            && let Subject::Object(key) = &*interest.subject
            && let Some((version, views)) = source.root_view(key, view)
        {
            source.views.learn(&interest, &version, views.clone());
            answer = Some(views);
        }
        let mut round = self.round();
        // No watch would tell that it is there after all, so the next reconcile reads it again.
        let is_forgotten =
            absence == Absence::Unwatched && answer.as_ref().is_some_and(Vec::is_empty);
        if !is_forgotten {
            round.interests.insert(interest.clone());
        }
        let Some(views) = answer else {
            let key = (Subject::clone(&interest.subject), view.name());
            let read = Read::View(interest.subject, view);
            round.reads.insert(key, read);
            return Err(Unknown);
        };
        round.answers.insert(interest, views.clone());
        Ok(views)
    }

    fn ask_one(
        &self,
        key: &ObjectKey,
        view: &'static dyn AnyView,
        absence: Absence,
    ) -> Answer<Option<Projected>> {
        let views = self.ask(Subject::Object(key.clone()), view, absence)?;
        Ok(views.into_iter().next())
    }

    fn read_own(&self, key: &ObjectKey) {
        let subject = (Subject::Object(key.clone()), "own");
        self.round().reads.insert(subject, Read::Own(key.clone()));
    }

    fn slot(&self, index: &'static dyn AnyIndex, key: &str, is_folded: bool) {
        let subject = Arc::new(Subject::Indexed(Slot {
            index: index.name(),
            key: key.to_owned(),
            is_folded,
        }));
        self.source.views.extend(&self.root, &subject, index.view());
        let interest = Interest {
            subject,
            view: index.view().name(),
        };
        self.round().interests.insert(interest);
    }

    /// Whether the mark of an object is all that is ever needed of it.
    fn is_marked(&self, kind: &Kind) -> bool {
        let row = self.source.row(kind);
        row.is_some_and(|row| row.mark.is_some() && row.following == Following::Metadata)
    }

    /// How far the absence of an object of a kind can be relied on.
    fn absence(&self, kind: &Kind) -> Absence {
        match self.source.row(kind) {
            Some(row) if row.confirm_absence => Absence::Confirmed,
            _ => Absence::Watched,
        }
    }
}

/// What is known of objects that are not there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Absence {
    /// The watch of the kind shows every object.
    Watched,
    /// It is confirmed by a read; after that the watch tells when it ends.
    Confirmed,
    /// The watch of the kind shows our own objects only, so every reconcile reads.
    Unwatched,
}

impl LiveView for ClusterSnapshot {
    fn get(&self, key: &ObjectKey) -> Option<Arc<LiveObject>> {
        match self.source.cache.known(key) {
            Known::Nothing => None,
            Known::Whole(live) => Some(live),
            // The mark tells all that is ever asked.
            Known::Metadata(live) if self.is_marked(&key.kind) => Some(live),
            Known::Metadata(_) => {
                self.read_own(key);
                None
            }
        }
    }

    fn owned_by(&self, owner_uid: &str) -> Vec<Arc<LiveObject>> {
        self.source.cache.owned_by(owner_uid)
    }

    fn definition(&self, kind: &Kind) -> Option<Arc<Definition>> {
        self.source.cache.definition(kind)
    }
}

impl Snapshot for ClusterSnapshot {
    fn object(&self, key: &ObjectKey, view: &'static dyn AnyView) -> Answer<Option<Projected>> {
        if let Some(object) = self.source.supposed.lock().get(key) {
            return Ok(view.project(object));
        }
        match self.source.cache.known(key) {
            // Values that we generated are among the facts of the Secret that holds them.
            Known::Whole(live) if live.facts.get("data").is_some() => {
                let mut object = live.facts.clone();
                if let Some(fields) = object.as_object_mut() {
                    fields.insert("metadata".to_owned(), json!({"name": key.name}));
                }
                return Ok(view.project(&object));
            }
            Known::Metadata(live) if live.facts.is_null() && !self.is_marked(&key.kind) => {
                self.read_own(key);
                return Err(Unknown);
            }
            _ => {}
        }
        self.ask_one(key, view, self.absence(&key.kind))
    }

    fn objects(
        &self,
        kind: &Kind,
        namespace: &str,
        view: &'static dyn AnyView,
    ) -> Answer<Vec<Projected>> {
        let subject = Subject::List(kind.clone(), namespace.to_owned());
        self.ask(subject, view, Absence::Watched)
    }

    fn members(&self, index: &'static dyn AnyIndex, key: &str) -> Vec<Projected> {
        self.slot(index, key, false);
        self.source.views.members(index, key)
    }

    fn folded(&self, index: &'static dyn AnyIndex, key: &str) -> Option<Projected> {
        self.slot(index, key, true);
        self.source.views.folded(index, key)
    }

    fn exists(&self, key: &ObjectKey) -> Answer<bool> {
        if self.source.supposed.lock().contains_key(key)
            || !matches!(self.source.cache.known(key), Known::Nothing)
        {
            return Ok(true);
        }
        Ok(self.ask_one(key, &EXISTENCE, Absence::Unwatched)?.is_some())
    }

    fn reported(&self, key: &ObjectKey) -> Option<Value> {
        let subject = Arc::new(Subject::Object(key.clone()));
        self.source.views.extend(&self.root, &subject, &REPORTED);
        let interest = Interest {
            subject,
            view: REPORTED.name,
        };
        self.round().interests.insert(interest);
        let live = self.source.cache.get(key);
        live.map(|live| live.facts.clone())
    }

    fn fresh(&self, root: &ObjectKey) -> Answer<Option<String>> {
        if self.source.supposed.lock().contains_key(root) {
            return Ok(Some(String::new()));
        }
        if let Some(version) = lock(&self.fresh).get(root) {
            return Ok(version.clone());
        }
        let mut round = self.round();
        if !round.has_unknown() {
            round.fresh.insert(root.clone());
        }
        Err(Unknown)
    }

    fn effect(&self, effect: Arc<dyn Effect>) -> Answer<EffectResult> {
        let effects = &self.source.effects;
        if let Some(holder) = effect.held_by()
            && let Known::Whole(live) = self.source.cache.known(&holder)
            && live.facts.get("ready") == Some(&Value::Bool(false))
        {
            effects.forget(&*effect);
        }
        if let Some(result) = effects.result(&self.root, &*effect) {
            return Ok(result);
        }
        let mut round = self.round();
        if !round.has_unknown() {
            round.effects.insert(effect.fingerprint(), effect);
        }
        Err(Unknown)
    }

    fn generated(&self, _field: &str, alphabet: Alphabet, length: usize) -> String {
        random::text(alphabet, length).unwrap_or_else(|| {
            // What is rendered from it is never written: the round ends in a failure.
            self.round().lacks_randomness = true;
            String::new()
        })
    }

    fn run_unit(&self, unit: &'static str, work: &mut dyn FnMut()) {
        match &self.source.timer {
            Some(timer) => timer.time(&self.root, unit, work),
            None => work(),
        }
    }
}

fn text(error: &kube::Error) -> String {
    causes(error).join(": ")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
