//! The systems at work for one command: what `plan` shows and `apply` does is what their operators would do.

use std::collections::BTreeSet;

use anyhow::Context;
use clap::ArgMatches;
use kube::Client;
use mainstay_cluster::root::RootObject;
use mainstay_engine::{
    key::{Kind, ObjectKey},
    kind::Role,
};
use mainstay_runtime::{
    reconcile::{ReconcileResult, RenderResult},
    session::{Session, Unread},
};
use mainstay_system::{EffectMode, Reach, System, SystemSession};
use serde_json::Value;

use crate::{
    commands::prepare::{self, PreparedSystem},
    input::Input,
    systems::{OwnKind, SYSTEMS},
};

/// The sessions, each opened when it is needed.
pub(crate) struct Sessions<'command> {
    client: Client,
    input: &'command Input,
    flags: &'command ArgMatches,
    prepared: &'command mut Vec<PreparedSystem>,
    effects: EffectMode,
    opened: Vec<Opened>,
}

/// A session, and the namespace that it is about; empty if it is about all.
struct Opened {
    system: &'static System,
    namespace: String,
    session: Box<dyn SystemSession>,
}

impl<'command> Sessions<'command> {
    pub(crate) fn new(
        client: &Client,
        input: &'command Input,
        flags: &'command ArgMatches,
        prepared: &'command mut Vec<PreparedSystem>,
        effects: EffectMode,
    ) -> Self {
        Self {
            client: client.clone(),
            input,
            flags,
            prepared,
            effects,
            opened: Vec::new(),
        }
    }

    /// The kinds that could not be looked at so far.
    pub(crate) fn unread(&self) -> Vec<Unread> {
        let mut unread: Vec<Unread> = Vec::new();
        for session in self.stores() {
            let more = session.unread().into_iter();
            let more: Vec<Unread> = more.filter(|kind| !unread.contains(kind)).collect();
            unread.extend(more);
        }
        unread
    }

    /// Whether the cluster is known not to serve a kind.
    pub(crate) fn is_absent(&self, kind: &Kind) -> bool {
        self.stores().any(|session| session.is_absent(kind))
    }

    fn stores(&self) -> impl Iterator<Item = &Session> {
        self.opened.iter().map(|opened| opened.session.stores())
    }

    /// What a reconcile over an object would do; `None` for objects that are only looked at.
    pub(crate) async fn plan(
        &mut self,
        own: OwnKind,
        root: &RootObject,
    ) -> anyhow::Result<Option<RenderResult>> {
        let session = self.of(own.system, &root.root.key.namespace).await?;
        if own.row.role != Role::Root {
            session.suppose(&root.value);
            return Ok(None);
        }
        Ok(Some(session.plan(root).await?))
    }

    /// The reconcile that the operator makes; `None` for objects that are only looked at.
    pub(crate) async fn reconcile(
        &mut self,
        own: OwnKind,
        root: RootObject,
    ) -> anyhow::Result<Option<ReconcileResult>> {
        let session = self.of(own.system, &root.root.key.namespace).await?;
        if own.row.role != Role::Root {
            session.suppose(&root.value);
            return Ok(None);
        }
        Ok(Some(session.reconcile(root).await))
    }

    /// Goes on as if a resource existed.
    pub(crate) async fn suppose(&mut self, own: OwnKind, object: &Value) -> anyhow::Result<()> {
        if own.system.interdependent {
            self.of(own.system, "").await?.suppose(object);
        }
        Ok(())
    }

    /// Goes on as if an object beside the resources existed. If it differs from what is there, those who may see it are
    /// looked at.
    pub(crate) async fn suppose_beside(
        &mut self,
        system: &'static System,
        object: &Value,
        has_changed: bool,
    ) -> anyhow::Result<()> {
        let session = self.of(system, "").await?;
        session.suppose(object);
        if has_changed {
            session.touch(object);
        }
        Ok(())
    }

    /// The systems that look at what stands beside their resources: those of the files, or if there is none those whose
    /// kinds the cluster has. A cluster that cannot be asked has none.
    pub(crate) async fn onlookers(&self) -> Vec<&'static System> {
        let looks = |system: &&'static System| system.interdependent;
        let mut found: Vec<&System> = prepare::systems_of(self.input).collect();
        if !found.is_empty() {
            found.retain(looks);
            return found;
        }
        for system in SYSTEMS.iter().copied().filter(looks) {
            let version = system.group_version();
            let served = mainstay_cluster::discovery::serves(&self.client, &version).await;
            found.extend(served.unwrap_or_default().then_some(system));
        }
        found
    }

    /// What a person who plans a custom resource should know about it besides.
    pub(crate) fn warning(&self, own: OwnKind, root: &RootObject) -> Option<String> {
        let mut opened = self.opened.iter();
        let opened = opened.find(|opened| opened.system == own.system)?;
        opened.session.warning(&root.value)
    }

    /// A root that sees something else than before and is not among these, in the order of applying.
    pub(crate) fn next_follower(
        &self,
        known: &BTreeSet<ObjectKey>,
    ) -> Option<(OwnKind, RootObject)> {
        let found = self.opened.iter().flat_map(|opened| {
            let followers = opened.session.followers().into_iter();
            let left = followers.filter(|key| !known.contains(key));
            left.filter_map(|key| {
                let root = opened.session.stores().root(&key)?;
                let own = OwnKind::find(&key.kind)?;
                (!root.deleting).then_some((own, root))
            })
        });
        found.min_by_key(|(own, _)| own.position())
    }

    /// Another reconcile over a resource that may wait for others.
    pub(crate) async fn reconcile_again(
        &mut self,
        own: OwnKind,
        key: &ObjectKey,
    ) -> anyhow::Result<()> {
        if own.system.interdependent && own.row.role == Role::Root {
            let session = self.of(own.system, &key.namespace).await?;
            if let Some(root) = session.stores().root(key) {
                session.reconcile(root).await;
            }
        }
        Ok(())
    }

    /// The session of a system for resources in a namespace.
    async fn of(
        &mut self,
        system: &'static System,
        namespace: &str,
    ) -> anyhow::Result<&dyn SystemSession> {
        let namespace = match system.reach {
            Reach::AnyNamespace if !system.interdependent => namespace,
            _ => "",
        };
        let is_it = |opened: &Opened| opened.system == system && opened.namespace == namespace;
        if !self.opened.iter().any(is_it) {
            if !self.prepared.iter().any(|(known, _)| *known == system) {
                let client = Some(&self.client);
                let prepared = prepare::one(self.input, system, self.flags, client).await?;
                self.prepared.push((system, prepared));
            }
            let mut all = self.prepared.iter();
            let prepared = all.find(|(known, _)| *known == system);
            let (_, prepared) = prepared.context("the system is not prepared")?;
            let client = self.client.clone();
            let session = prepared.open(client, namespace, self.effects).await?;
            self.opened.push(Opened {
                system,
                namespace: namespace.to_owned(),
                session,
            });
        }
        let opened = self.opened.iter().find(|opened| is_it(opened));
        let opened = opened.context("the session is not open")?;
        Ok(opened.session.as_ref())
    }
}
