//! The systems at work for one command: what `plan` shows and `apply` does is what their operators would do.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use kube::Client;
use mainstay_clowder::settings::Settings;
use mainstay_clowder_operator::{
    effects::{ClowderPort, DryRun},
    operator::OperatorSettings,
    session::ClowderSession,
};
use mainstay_clowder_ports::Ports;
use mainstay_cluster::{
    effects::{EffectPort, NoEffects},
    fence::Fence,
    root::{RootObject, Trigger},
    source::Source,
};
use mainstay_engine::{
    field_manager::FieldManager,
    key::{Kind, ObjectKey},
    kind::{KindTable, Role},
    reconciler::Reconciler,
};
use mainstay_kaoto::KaotoReconciler;
use mainstay_runtime::{
    controller::facts,
    metrics::Metrics,
    reconcile::{ReconcileResult, RenderResult},
    session::{Session, Unread},
    system::{System as Stores, SystemSettings},
};
use serde_json::Value;

use crate::{
    args::{ResolveArgs, System},
    commands::kaoto_reconciler,
    own_kinds::OwnKind,
};

/// Whether effects outside the cluster are carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effects {
    CarriedOut,
    Supposed,
}

/// The sessions, each opened when it is needed.
pub(crate) struct Sessions {
    client: Client,
    clowder_settings: Arc<Settings>,
    port: Arc<dyn EffectPort>,
    effects: Effects,
    /// By namespace: who may look at one may not look at all of them.
    kaoto: BTreeMap<String, KaotoSession>,
    clowder: Option<ClowderSession>,
}

struct KaotoSession {
    reconciler: Arc<KaotoReconciler>,
    source: Arc<Source>,
    session: Session,
}

impl Sessions {
    pub(crate) fn new(
        client: &Client,
        clowder_settings: &Arc<Settings>,
        resolve: &ResolveArgs,
        effects: Effects,
    ) -> Self {
        let ports = Arc::new(ClowderPort(Ports::new(resolve.table())));
        Self {
            client: client.clone(),
            clowder_settings: clowder_settings.clone(),
            port: match effects {
                Effects::CarriedOut => ports,
                Effects::Supposed => Arc::new(DryRun(ports)),
            },
            effects,
            kaoto: BTreeMap::new(),
            clowder: None,
        }
    }

    /// The kinds that could not be looked at so far.
    pub(crate) fn unread(&self) -> Vec<Unread> {
        let mut unread: Vec<Unread> = Vec::new();
        for session in self.opened() {
            let more = session.unread().into_iter();
            let more: Vec<Unread> = more.filter(|kind| !unread.contains(kind)).collect();
            unread.extend(more);
        }
        unread
    }

    /// Whether the cluster is known not to serve a kind.
    pub(crate) fn is_absent(&self, kind: &Kind) -> bool {
        self.opened().any(|session| session.is_absent(kind))
    }

    fn opened(&self) -> impl Iterator<Item = &Session> {
        let kaoto = self.kaoto.values().map(|kaoto| &kaoto.session);
        kaoto.chain(self.clowder.iter().map(ClowderSession::session))
    }

    /// What a reconcile over an object would do; `None` for objects that are only looked at.
    pub(crate) async fn plan(
        &mut self,
        own: &OwnKind,
        root: &RootObject,
    ) -> anyhow::Result<Option<RenderResult>> {
        if own.row.role != Role::Root {
            self.suppose(own.system, &root.value, false).await?;
            return Ok(None);
        }
        Ok(Some(match own.system {
            System::Kaoto => {
                let kaoto = self.kaoto(&root.root.key.namespace).await?;
                let session = &kaoto.session;
                session
                    .plan(&*kaoto.reconciler, root, &kaoto.source)
                    .await?
            }
            System::Clowder => self.clowder().await?.plan(root).await?,
        }))
    }

    /// The reconcile that the operator makes; `None` for objects that are only looked at.
    pub(crate) async fn reconcile(
        &mut self,
        own: &OwnKind,
        root: RootObject,
    ) -> anyhow::Result<Option<ReconcileResult>> {
        if own.row.role != Role::Root {
            self.suppose(own.system, &root.value, false).await?;
            return Ok(None);
        }
        Ok(Some(match own.system {
            System::Kaoto => {
                let kaoto = self.kaoto(&root.root.key.namespace).await?;
                let session = &kaoto.session;
                session
                    .reconcile(&*kaoto.reconciler, root, &kaoto.source)
                    .await
            }
            System::Clowder => self.clowder().await?.reconcile(root).await,
        }))
    }

    /// Goes on as if an object of the user existed. If it differs from what is there, those who may see it are looked at.
    pub(crate) async fn suppose(
        &mut self,
        system: System,
        object: &Value,
        has_changed: bool,
    ) -> anyhow::Result<()> {
        if system == System::Clowder {
            let clowder = self.clowder().await?;
            clowder.suppose(object);
            if has_changed {
                clowder.touch(object);
            }
        }
        Ok(())
    }

    /// What a person who plans a custom resource should know about it besides.
    pub(crate) fn warning(&self, own: &OwnKind, root: &RootObject) -> Option<String> {
        if own.row.kind != mainstay_clowder::kinds::CLOWD_APP {
            return None;
        }
        self.clowder.as_ref()?.warning(&root.value)
    }

    /// Whether the cluster has the kinds of Clowder; one that cannot be asked has not.
    pub(crate) async fn serves_clowder(&self) -> bool {
        let version = System::Clowder.group_version();
        let served = mainstay_cluster::discovery::serves(&self.client, version).await;
        served.unwrap_or_default()
    }

    /// A root that sees something else than before and is not among these, in the order of applying.
    pub(crate) fn next_follower(
        &self,
        known: &BTreeSet<ObjectKey>,
    ) -> Option<(&'static OwnKind, RootObject)> {
        let clowder = self.clowder.as_ref()?;
        let followers = clowder.followers();
        let left = followers.iter().filter(|key| !known.contains(key));
        let found = left.filter_map(|key| {
            let root = clowder.current(key).filter(|root| !root.deleting)?;
            Some((OwnKind::find(&key.kind)?, root))
        });
        found.min_by_key(|(own, _)| own.position())
    }

    /// Another pass over an object that waits for others, if its system has such objects.
    pub(crate) async fn pass_again(
        &mut self,
        own: &OwnKind,
        key: &ObjectKey,
    ) -> anyhow::Result<()> {
        if own.system == System::Clowder && own.row.role == Role::Root {
            let clowder = self.clowder().await?;
            if let Some(root) = clowder.current(key) {
                clowder.reconcile(root).await;
            }
        }
        Ok(())
    }

    async fn kaoto(&mut self, namespace: &str) -> anyhow::Result<&KaotoSession> {
        Ok(match self.kaoto.entry(namespace.to_owned()) {
            Entry::Occupied(open) => open.into_mut(),
            Entry::Vacant(place) => {
                let reconciler = Arc::new(kaoto_reconciler(&self.client).await?);
                let settings = kaoto_system(&reconciler, namespace.to_owned());
                let client = self.client.clone();
                // A person at the command line needs no lease.
                let fence = Fence::open();
                let stores = Stores::new(settings, client, Metrics::new(), fence);
                let source = stores.session_source();
                let session = Session::open(stores).await;
                let mut session =
                    session.with_context(|| format!("could not look at namespace {namespace}"))?;
                if self.effects == Effects::Supposed {
                    session.stop_watching().await;
                }
                place.insert(KaotoSession {
                    reconciler,
                    source,
                    session,
                })
            }
        })
    }

    async fn clowder(&mut self) -> anyhow::Result<&ClowderSession> {
        if self.clowder.is_none() {
            let operator = OperatorSettings {
                settings: self.clowder_settings.clone(),
                namespace: String::new(),
                concurrency: 1,
                port: self.port.clone(),
            };
            let session = ClowderSession::open(self.client.clone(), operator).await;
            let mut session = session.context("could not look at the cluster")?;
            // A plan is about one moment.
            if self.effects == Effects::Supposed {
                session.stop_watching().await;
            }
            self.clowder = Some(session);
        }
        self.clowder.as_ref().context("the session is not open")
    }
}

/// How Kaoto reaches the cluster.
pub(crate) fn kaoto_system(reconciler: &Arc<KaotoReconciler>, namespace: String) -> SystemSettings {
    SystemSettings {
        declared: reconciler.declared(),
        manager: reconciler.field_manager(),
        facts: facts(reconciler),
        namespace,
        trigger: Trigger::Spec,
        deadline: Duration::from_mins(1),
        indexes: &[],
        effects: Arc::new(NoEffects),
    }
}

/// The field manager of a system.
pub(crate) const fn manager(system: System) -> FieldManager {
    match system {
        System::Kaoto => FieldManager::new(mainstay_kaoto::names::FIELD_MANAGER),
        System::Clowder => mainstay_clowder::names::MANAGER,
    }
}

/// The kinds of a system.
pub(crate) const fn kinds(system: System) -> KindTable {
    match system {
        System::Kaoto => mainstay_kaoto::kinds::KINDS,
        System::Clowder => mainstay_clowder::kinds::KINDS,
    }
}
