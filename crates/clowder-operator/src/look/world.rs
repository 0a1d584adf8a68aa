//! The world as one reconcile sees it: what caches know, and a note of what they do not.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use mainstay_api::clowder::{ClowdApp, ClowdAppRef, ClowdEnvironment};
use mainstay_clowder::{
    effect::Effect,
    kinds,
    summary::AppSummary,
    topics::TopicWishes,
    world::{
        Alphabet, Fact, NamespaceFacts, SecretFacts, TrackedFacts, TrackedKind, Unknown, World,
        files::secret_facts,
    },
};
use mainstay_cluster::{
    cache::Known,
    referenced::{Answer, Interest},
};
use mainstay_engine::{
    key::{Kind, ObjectKey},
    live::{LiveObject, LiveView},
};
use serde_json::Value;

use super::Shared;
use crate::random;

/// What a look asked for.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) interests: BTreeSet<Interest>,
    pub(super) missing: BTreeSet<Interest>,
    pub(super) missing_own: BTreeSet<ObjectKey>,
    pub(super) missing_roots: BTreeSet<ObjectKey>,
    pub(super) missing_effects: BTreeSet<Effect>,
    /// The machine had no random value to give.
    pub(super) lacks_randomness: bool,
}

/// The world as one reconcile sees it.
pub(super) struct ClusterWorld {
    pub(super) root: ObjectKey,
    pub(super) shared: Arc<Shared>,
    asked: Mutex<Asked>,
}

impl fmt::Debug for ClusterWorld {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ClusterWorld")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

impl ClusterWorld {
    pub(super) fn new(root: ObjectKey, shared: Arc<Shared>) -> Self {
        Self {
            root,
            shared,
            asked: Mutex::default(),
        }
    }

    pub(super) fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, interest: Interest) -> Fact<Vec<Arc<Value>>> {
        // Nothing goes on without its namespace, so its absence is made sure of; other absences are common and heal.
        let is_confirmed = *interest.kind() == kinds::NAMESPACE || is_unseen(&interest);
        let answer = if is_confirmed {
            self.shared.referenced.get_confirmed(&interest)
        } else {
            self.shared.referenced.get(&interest)
        };
        let mut asked = self.asked();
        // No watch would tell that it is there after all, so the next reconcile reads it again.
        let is_told_apart = is_unseen(&interest) && answer == Answer::Known(Vec::new());
        if !is_told_apart {
            asked.interests.insert(interest.clone());
        }
        match answer {
            Answer::Known(objects) => Ok(objects),
            Answer::Unknown => {
                asked.missing.insert(interest);
                Err(Unknown)
            }
        }
    }

    fn ask_one(&self, kind: Kind, namespace: &str, name: &str) -> Fact<Option<Arc<Value>>> {
        let interest = Interest::Object(ObjectKey::new(kind, namespace, name));
        Ok(self.ask(interest)?.into_iter().next())
    }

    pub(super) fn get(&self, key: &ObjectKey) -> Option<Arc<LiveObject>> {
        match self.shared.cache.known(key) {
            Known::Nothing => None,
            Known::Whole(live) => Some(live),
            Known::Metadata(_) => {
                self.asked().missing_own.insert(key.clone());
                None
            }
        }
    }
}

impl World for ClusterWorld {
    fn environment(&self, name: &str) -> Option<Arc<ClowdEnvironment>> {
        let neighbours = &self.shared.neighbours;
        neighbours.with(|index| index.environment(name))
    }

    fn apps(&self, environment: &str) -> Vec<Arc<AppSummary>> {
        let neighbours = &self.shared.neighbours;
        neighbours.with(|index| index.apps(environment))
    }

    fn apps_named(&self, environment: &str, name: &str) -> Vec<Arc<AppSummary>> {
        let neighbours = &self.shared.neighbours;
        neighbours.with(|index| index.apps_named(environment, name))
    }

    fn app(&self, namespace: &str, name: &str) -> Option<Arc<ClowdApp>> {
        let key = ObjectKey::new(kinds::CLOWD_APP, namespace, name);
        self.shared.newest.app(&key)
    }

    fn newest(&self, root: &ObjectKey) -> Fact<Option<String>> {
        let known = self.shared.newest.version(&self.root, root);
        known.inspect_err(|_| {
            self.asked().missing_roots.insert(root.clone());
        })
    }

    fn app_refs_named(&self, environment: &str, name: &str) -> Vec<Arc<ClowdAppRef>> {
        let neighbours = &self.shared.neighbours;
        neighbours.with(|index| index.app_refs_named(environment, name))
    }

    fn ingress_domain(&self) -> Option<String> {
        let neighbours = &self.shared.neighbours;
        neighbours.with(|index| index.ingress_domain())
    }

    fn namespace(&self, name: &str) -> Fact<Option<NamespaceFacts>> {
        let namespace = self.ask_one(kinds::NAMESPACE, "", name)?;
        Ok(namespace.map(|namespace| NamespaceFacts {
            terminating: namespace.pointer("/metadata/deletionTimestamp").is_some(),
        }))
    }

    fn secret(&self, namespace: &str, name: &str) -> Fact<Option<Arc<SecretFacts>>> {
        let key = ObjectKey::new(kinds::SECRET, namespace, name);
        match self.shared.cache.known(&key) {
            // Values that we generated are among the facts of the Secret that holds them.
            Known::Whole(live) if live.facts.get("data").is_some() => {
                let mut facts = secret_facts(&live.facts);
                name.clone_into(&mut facts.name);
                return Ok(Some(Arc::new(facts)));
            }
            Known::Metadata(live) if live.facts.is_null() => {
                self.asked().missing_own.insert(key);
                return Err(Unknown);
            }
            _ => {}
        }
        let secret = self.ask_one(kinds::SECRET, namespace, name)?;
        Ok(secret.map(|secret| Arc::new(secret_facts(&secret))))
    }

    fn secrets_in(&self, namespace: &str) -> Fact<Vec<Arc<SecretFacts>>> {
        let secrets = self.ask(Interest::All(kinds::SECRET, namespace.to_owned()))?;
        let secrets = secrets.iter().map(|secret| Arc::new(secret_facts(secret)));
        Ok(secrets.collect())
    }

    fn tracked(
        &self,
        kind: TrackedKind,
        namespace: &str,
        name: &str,
    ) -> Fact<Option<TrackedFacts>> {
        let interest = Interest::Digest(ObjectKey::new(kind.kind(), namespace, name));
        let digest = self.ask(interest)?.into_iter().next();
        Ok(digest.map(|digest| TrackedFacts {
            hash: digest["hash"].as_str().unwrap_or_default().to_owned(),
            restarts: digest["restarts"] == true,
        }))
    }

    fn live(&self, key: &ObjectKey) -> Option<Arc<LiveObject>> {
        self.get(key)
    }

    fn topic(&self, environment: &str, topic: &str) -> TopicWishes {
        let neighbours = &self.shared.neighbours;
        neighbours.with(|index| index.topic(environment, topic))
    }

    fn reported(&self, key: &ObjectKey) -> Option<Value> {
        self.asked().interests.insert(Interest::Object(key.clone()));
        let live = self.shared.cache.get(key);
        live.map(|live| live.facts.clone())
    }

    fn service_exists(&self, namespace: &str, name: &str) -> Fact<bool> {
        let key = ObjectKey::new(kinds::SERVICE, namespace, name);
        if !matches!(self.shared.cache.known(&key), Known::Nothing) {
            return Ok(true);
        }
        Ok(self.ask_one(kinds::SERVICE, namespace, name)?.is_some())
    }

    fn effect(&self, effect: &Effect) -> Fact<Result<String, String>> {
        let known = self.shared.effects.result(&self.root, effect);
        known.ok_or_else(|| {
            self.asked().missing_effects.insert(effect.clone());
            Unknown
        })
    }

    fn random(&self, _field: &str, alphabet: Alphabet, length: usize) -> String {
        random::text(alphabet, length).unwrap_or_else(|| {
            // What is rendered from it is never written: the look ends in a failure.
            self.asked().lacks_randomness = true;
            String::new()
        })
    }

    fn watch_provider(&self, provider: &'static str, work: &mut dyn FnMut()) {
        let accounts = &self.shared.accounts;
        accounts.watch_provider(&self.root, provider, work);
    }
}

/// Whether no watch shows what somebody is interested in: of Services only ours are followed.
fn is_unseen(interest: &Interest) -> bool {
    *interest.kind() == kinds::SERVICE
}
