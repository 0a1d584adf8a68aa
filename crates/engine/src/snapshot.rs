//! What one reconcile may know of the cluster.
//!
//! Every read names a [`View`]: a pure projection of an object, declared by a system. Stores keep and compare views,
//! never whole objects; that bounds their memory, and a root is woken only if a view that it asked for differs. In the
//! cluster the answers come from watch caches, over files from a list of objects; the calls are the same.
//!
//! A question whose answer is not at hand is answered [`Unknown`]: it is noted, the reconcile fetches everything that
//! was noted and renders again. A render goes on after an unknown where it can, so that the number of rounds is the
//! depth of the chain of references and not the number of objects. In a round with an unknown nothing but reads is
//! noted: effects and fresh reads wait for a round in which everything before them is known.

mod files;
mod index;
mod view;

use std::{any::Any, fmt, sync::Arc};

use serde_json::Value;

pub use self::{
    files::{Facts, FileSnapshot, store_plain_texts},
    index::{AnyIndex, Index, IndexStore, Slot},
    view::{AnyView, Projected, View},
};
use crate::{
    key::{Kind, ObjectKey},
    live::LiveView,
};

/// The answer is not known yet. It was noted what was asked; the reconcile fetches it and renders again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not known yet")]
pub struct Unknown;

/// An answer, or the note that it has to be fetched.
pub type Answer<T> = Result<T, Unknown>;

/// Answers of a loop over references: all of them are asked for before the first unknown ends it.
pub fn all_known<T>(answers: impl IntoIterator<Item = Answer<T>>) -> Answer<Vec<T>> {
    let answers: Vec<Answer<T>> = answers.into_iter().collect();
    answers.into_iter().collect()
}

/// Letters that a generated value is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// `A-Z a-z 0-9`.
    Alphanumeric,
    /// `a-z 0-9`.
    LowerAlphanumeric,
    /// `a-f 0-9`.
    Hexadecimal,
}

impl Alphabet {
    /// The letters.
    pub const fn letters(self) -> &'static str {
        match self {
            Self::Alphanumeric => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            Self::LowerAlphanumeric => "abcdefghijklmnopqrstuvwxyz0123456789",
            Self::Hexadecimal => "abcdef0123456789",
        }
    }
}

/// What came of an effect: its result, or a text for people.
pub type EffectResult = Result<String, String>;

/// Something to be done outside the Kubernetes API, as a value. Doing it twice does no harm.
pub trait Effect: Any + fmt::Debug + Send + Sync {
    /// Tells it from other effects. Holds no secret, but differs if a secret does: a hash, for example.
    fn fingerprint(&self) -> String;

    /// The object that holds its result. When that object is not ready its result may be lost, so that it is done
    /// again afterwards.
    fn held_by(&self) -> Option<ObjectKey> {
        None
    }

    /// Effects of one share take turns, so that a server that hangs holds up no more than those who need it.
    fn share(&self) -> String {
        String::new()
    }

    /// What it would have brought, where nothing is done.
    fn dry_run(&self) -> String {
        String::new()
    }
}

/// What one reconcile may know. See the [module](self) for the rules.
pub trait Snapshot: LiveView + Send + Sync {
    /// A view of one object, ours or not; `None` if it does not exist or the view has nothing to say about it.
    fn object(&self, key: &ObjectKey, view: &'static dyn AnyView) -> Answer<Option<Projected>>;

    /// Views of the objects of a kind in a namespace, in ascending order of their names. Objects that the view has
    /// nothing to say about are left out.
    fn objects(
        &self,
        kind: &Kind,
        namespace: &str,
        view: &'static dyn AnyView,
    ) -> Answer<Vec<Projected>>;

    /// The roots that a declared index has under a key, in ascending order of namespace and name.
    fn members(&self, index: &'static dyn AnyIndex, key: &str) -> Vec<Projected>;

    /// What an index with a fold makes of its members under a key; `None` if there are none.
    fn folded(&self, index: &'static dyn AnyIndex, key: &str) -> Option<Projected>;

    /// Whether an object exists, whoever it belongs to.
    fn exists(&self, key: &ObjectKey) -> Answer<bool>;

    /// What is kept of an object that is followed as a whole, ours or not; `None` if there is no such object. Whoever
    /// asks is woken when the answer changes.
    fn reported(&self, key: &ObjectKey) -> Option<Value>;

    /// The resource version of a root, read in this very reconcile; `None` if it does not exist. Asked last, for what
    /// must not start from what a lagging watch says.
    fn fresh(&self, root: &ObjectKey) -> Answer<Option<String>>;

    /// What came of an effect.
    fn effect(&self, effect: Arc<dyn Effect>) -> Answer<EffectResult>;

    /// A value that has never been used before, for a field of an object. Over files: a placeholder that says so.
    fn generated(&self, field: &str, alphabet: Alphabet, length: usize) -> String;

    /// Lets a unit do its part. Who has a clock can look at it; the pure part has none.
    fn run_unit(&self, _unit: &'static str, work: &mut dyn FnMut()) {
        work();
    }
}

impl dyn Snapshot + '_ {
    /// A view of one object.
    pub fn view<V: Any + Send + Sync>(
        &self,
        key: &ObjectKey,
        view: &'static View<V>,
    ) -> Answer<Option<Arc<V>>>
    where
        View<V>: AnyView,
    {
        Ok(self.object(key, view)?.and_then(Projected::downcast))
    }

    /// Views of the objects of a kind in a namespace.
    pub fn list<V: Any + Send + Sync>(
        &self,
        kind: &Kind,
        namespace: &str,
        view: &'static View<V>,
    ) -> Answer<Vec<Arc<V>>>
    where
        View<V>: AnyView,
    {
        let projected = self.objects(kind, namespace, view)?.into_iter();
        Ok(projected.filter_map(Projected::downcast).collect())
    }

    /// The roots that an index has under a key.
    pub fn indexed<V: Any + Send + Sync, A>(
        &self,
        index: &'static Index<V, A>,
        key: &str,
    ) -> Vec<Arc<V>>
    where
        Index<V, A>: AnyIndex,
    {
        let members = self.members(index, key).into_iter();
        members.filter_map(Projected::downcast).collect()
    }

    /// What the fold of an index makes of its members under a key.
    pub fn aggregate<V, A: Any + Default + Clone + Send + Sync>(
        &self,
        index: &'static Index<V, A>,
        key: &str,
    ) -> Arc<A>
    where
        Index<V, A>: AnyIndex,
    {
        let folded = self.folded(index, key).and_then(Projected::downcast);
        folded.unwrap_or_default()
    }
}
