//! A system at work for one command: what `plan` shows and `apply` does is what its operator would do.

use std::{collections::BTreeSet, fmt, sync::Arc};

use futures::future::BoxFuture;
use mainstay_cluster::{root::RootObject, source::Source};
use mainstay_engine::{
    key::{Kind, ObjectKey},
    reconciler::Reconciler,
};
use mainstay_runtime::{
    reconcile::{ReconcileResult, RenderResult},
    session::{Session, SessionError},
    stores::Stores,
};
use serde_json::Value;

/// Whether effects outside the cluster are carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectMode {
    /// They are.
    CarriedOut,
    /// They are taken for done. The stores stand still, too: a plan is about one moment.
    Supposed,
}

/// A system whose stores are filled.
pub trait SystemSession: Send + Sync {
    /// The stores and watches.
    fn stores(&self) -> &Session;

    /// What a reconcile over a resource would do.
    fn plan<'call>(
        &'call self,
        root: &'call RootObject,
    ) -> BoxFuture<'call, Result<RenderResult, SessionError>>;

    /// The reconcile that the operator makes.
    fn reconcile(&self, root: RootObject) -> BoxFuture<'_, ReconcileResult>;

    /// Goes on as if an object existed like this.
    fn suppose(&self, _object: &Value) {}

    /// An object that is no resource of the system will differ: resources that may refer to it follow.
    fn touch(&self, _object: &Value) {}

    /// The resources that see something else than before, as far as is known.
    fn followers(&self) -> BTreeSet<ObjectKey> {
        BTreeSet::new()
    }

    /// What a person who plans a resource should know about it besides.
    fn warning(&self, _resource: &Value) -> Option<String> {
        None
    }
}

/// A reconciler of whatever kind.
trait AnyReconciler: Send + Sync {
    fn root_kind(&self) -> Kind;

    fn plan<'call>(
        &'call self,
        session: &'call Session,
        root: &'call RootObject,
        source: &'call Arc<Source>,
    ) -> BoxFuture<'call, Result<RenderResult, SessionError>>;

    fn reconcile<'call>(
        &'call self,
        session: &'call Session,
        root: RootObject,
        source: &'call Arc<Source>,
    ) -> BoxFuture<'call, ReconcileResult>;
}

impl<R: Reconciler> AnyReconciler for R {
    fn root_kind(&self) -> Kind {
        Reconciler::root_kind(self)
    }

    fn plan<'call>(
        &'call self,
        session: &'call Session,
        root: &'call RootObject,
        source: &'call Arc<Source>,
    ) -> BoxFuture<'call, Result<RenderResult, SessionError>> {
        Box::pin(session.plan(self, root, source))
    }

    fn reconcile<'call>(
        &'call self,
        session: &'call Session,
        root: RootObject,
        source: &'call Arc<Source>,
    ) -> BoxFuture<'call, ReconcileResult> {
        Box::pin(session.reconcile(self, root, source))
    }
}

/// Reconcilers over filled stores: a session without anything special, and the core of those that have something.
pub struct Reconcilers {
    session: Session,
    /// Where snapshots come from.
    pub source: Arc<Source>,
    by_kind: Vec<Box<dyn AnyReconciler>>,
}

impl fmt::Debug for Reconcilers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Reconcilers")
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

impl Reconcilers {
    /// Follows the kinds of a system until everything has been seen once.
    pub async fn open(stores: Stores, effects: EffectMode) -> Result<Self, SessionError> {
        let source = stores.session_source();
        let mut session = Session::open(stores).await?;
        if effects == EffectMode::Supposed {
            session.stop_watching().await;
        }
        Ok(Self {
            session,
            source,
            by_kind: Vec::new(),
        })
    }

    /// With the reconciler of one more kind.
    #[must_use]
    pub fn with(mut self, reconciler: impl Reconciler) -> Self {
        self.by_kind.push(Box::new(reconciler));
        self
    }

    fn of(&self, root: &RootObject) -> Result<&dyn AnyReconciler, SessionError> {
        let key = &root.root.key;
        let mut all = self.by_kind.iter();
        let found = all.find(|reconciler| reconciler.root_kind().is_like(&key.kind));
        found
            .map(AsRef::as_ref)
            .ok_or_else(|| SessionError::Unknown {
                key: Box::new(key.clone()),
                message: "no controller is for this kind".to_owned(),
            })
    }
}

impl SystemSession for Reconcilers {
    fn stores(&self) -> &Session {
        &self.session
    }

    fn plan<'call>(
        &'call self,
        root: &'call RootObject,
    ) -> BoxFuture<'call, Result<RenderResult, SessionError>> {
        Box::pin(async move {
            let reconciler = self.of(root)?;
            reconciler.plan(&self.session, root, &self.source).await
        })
    }

    fn reconcile(&self, root: RootObject) -> BoxFuture<'_, ReconcileResult> {
        match self.of(&root) {
            Ok(reconciler) => reconciler.reconcile(&self.session, root, &self.source),
            Err(error) => Box::pin(async move { ReconcileResult::impossible(error.to_string()) }),
        }
    }
}
