//! Reconciles of environments, apps and invocations from the command line, with the operator's own machinery.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::future::BoxFuture;
use kube::Client;
use mainstay_api::clowder::{ClowdApp, ClowdJobInvocation};
use mainstay_clowder::{
    app::{AppReconciler, shared_name},
    environment::EnvironmentReconciler,
    job::{self, JobReconciler},
    kinds, offline, views,
};
use mainstay_cluster::{fence::Fence, root::RootObject, source::Source};
use mainstay_engine::{
    key::ObjectKey,
    outcome::Outcome,
    plan::{Action, DesiredState},
    snapshot::store_plain_texts,
};
use mainstay_runtime::{
    metrics::Metrics,
    reconcile::{ReconcileResult, RenderResult},
    session::{Session, SessionError},
};
use mainstay_system::{EffectMode, SystemSession, session::Reconcilers};
use serde_json::Value;

use crate::operator::{self, OperatorSettings};

/// The system with its stores filled.
pub struct ClowderSession {
    reconcilers: Reconcilers,
    followers: Mutex<BTreeSet<ObjectKey>>,
    /// Roots as they were supposed to be last.
    supposed: Mutex<BTreeMap<ObjectKey, Value>>,
    environments: EnvironmentReconciler,
    apps: AppReconciler,
}

impl fmt::Debug for ClowderSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ClowderSession")
    }
}

impl ClowderSession {
    /// Follows the kinds of the system until everything has been seen once.
    pub async fn open(
        client: Client,
        operator: OperatorSettings,
        effects: EffectMode,
    ) -> Result<Self, SessionError> {
        let settings = operator.settings.clone();
        let stores = operator::stores(client, &operator, Metrics::new(), Fence::open());
        let environments = EnvironmentReconciler {
            settings: settings.clone(),
        };
        let apps = AppReconciler {
            settings: settings.clone(),
        };
        let reconcilers = Reconcilers::open(stores, effects).await?;
        let reconcilers = reconcilers
            .with(environments.clone())
            .with(apps.clone())
            .with(JobReconciler { settings });
        Ok(Self {
            reconcilers,
            followers: Mutex::default(),
            supposed: Mutex::default(),
            environments,
            apps,
        })
    }

    fn source(&self) -> &Arc<Source> {
        &self.reconcilers.source
    }

    /// The roots that see a difference between two states of an environment, an app or a reference.
    fn who_sees(&self, key: &ObjectKey, before: Option<&Value>, after: &Value) -> Vec<ObjectKey> {
        let apps = |environment: &str| {
            self.source()
                .indexed(&views::APPS_BY_ENVIRONMENT, environment)
        };
        let seen = views::who_sees(key, before, after, apps);
        let invocations = seen.iter().filter(|root| root.kind == kinds::CLOWD_APP);
        let invocations = invocations.chain((key.kind == kinds::CLOWD_APP).then_some(key));
        let invocations: Vec<ObjectKey> =
            invocations.flat_map(|app| self.waiting_for(app)).collect();
        seen.into_iter().chain(invocations).collect()
    }

    /// The invocations that have not run and are for an app.
    fn waiting_for(&self, app: &ObjectKey) -> Vec<ObjectKey> {
        let name = Value::from(app.name.as_str()).to_string();
        let found = self
            .stores()
            .find_roots(&kinds::CLOWD_JOB_INVOCATION, |root, text| {
                root.namespace == app.namespace && text.contains(&name)
            });
        let found = found.into_iter().filter(|key| {
            let root = self.current(key);
            let invocation = root.and_then(|root| serde_json::from_value(root.value).ok());
            invocation.is_some_and(|invocation: ClowdJobInvocation| {
                invocation.spec.app_name == app.name && !job::has_run(&invocation)
            })
        });
        found.collect()
    }

    /// What a reconcile over a root would do. An environment that is about to change counts as ready afterwards, so that
    /// the plans of its apps show what follows.
    async fn plan_root(&self, root: &RootObject) -> Result<RenderResult, SessionError> {
        self.suppose(&root.value);
        match root.root.key.kind.kind.as_ref() {
            "ClowdEnvironment" => self.plan_environment(root).await,
            "ClowdApp" => self.plan_app(root).await,
            _ => self.reconcilers.plan(root).await,
        }
    }

    async fn plan_app(&self, root: &RootObject) -> Result<RenderResult, SessionError> {
        let source = self.source();
        let planned = self.reconcilers.plan(root).await?;
        self.suppose_created(&planned);
        if let RenderResult::Planned(plan) = &planned {
            // Whoever runs its jobs sees it as it will be when all of the plan is done, or as it is.
            let app = if plan.is_noop() {
                root.value.clone()
            } else {
                let snapshot = source.snapshot(&root.root.key);
                offline::reconciled(&self.apps, root.value.clone(), &snapshot)
            };
            source.suppose(&root.root.key, app);
        }
        Ok(planned)
    }

    async fn plan_environment(&self, root: &RootObject) -> Result<RenderResult, SessionError> {
        let mut planned = self.reconcilers.plan(root).await?;
        let mut root = root.clone();
        while let RenderResult::Waiting(hold, _) = &planned
            && offline::keep_choice(&mut root.value, hold)
        {
            planned = self.reconcilers.plan(&root).await?;
        }
        if let RenderResult::Planned(plan) = &planned
            && (!plan.is_noop() || !is_at_rest(&root.value))
        {
            let snapshot = self.source().snapshot(&root.root.key);
            let ready = offline::reconciled(&self.environments, root.value, &snapshot);
            self.suppose(&ready);
        }
        self.suppose_created(&planned);
        Ok(planned)
    }

    /// Goes on as if the Secrets of a plan existed: others read what is made up in them.
    fn suppose_created(&self, planned: &RenderResult) {
        let RenderResult::Planned(plan) = planned else {
            return;
        };
        for step in &plan.steps {
            if let (Action::Create, DesiredState::Present { body, .. }) =
                (&step.action, &step.desired)
                && step.key.kind == kinds::SECRET
            {
                self.suppose(body);
            }
        }
    }

    async fn reconcile_all(&self, root: RootObject) -> ReconcileResult {
        self.stores().learn(&root);
        self.source().suppose_no_more(&root.root.key);
        let key = root.root.key.clone();
        let mut result = self.reconcilers.reconcile(root).await;
        while result.outcome == Outcome::Again
            && let Some(root) = self.current(&key)
        {
            result = self.reconcilers.reconcile(root).await;
        }
        result
    }

    fn current(&self, key: &ObjectKey) -> Option<RootObject> {
        self.stores().root(key)
    }
}

impl SystemSession for ClowderSession {
    fn stores(&self) -> &Session {
        self.reconcilers.stores()
    }

    fn plan<'call>(
        &'call self,
        root: &'call RootObject,
    ) -> BoxFuture<'call, Result<RenderResult, SessionError>> {
        Box::pin(self.plan_root(root))
    }

    /// The reconcile that the operator makes, and those that follow at once: an environment chooses its names first, an
    /// invocation that was changed meanwhile is looked at again.
    fn reconcile(&self, root: RootObject) -> BoxFuture<'_, ReconcileResult> {
        Box::pin(self.reconcile_all(root))
    }

    /// Goes on as if an object existed like this, as it will when it is applied. Roots that see a difference follow.
    fn suppose(&self, object: &Value) {
        let mut object = object.clone();
        store_plain_texts(&mut object);
        let Some(key) = ObjectKey::of(&object) else {
            return;
        };
        let before = match lock(&self.supposed).insert(key.clone(), object.clone()) {
            Some(before) => Some(before),
            None => self.current(&key).map(|root| root.value),
        };
        match key.kind.kind.as_ref() {
            // Whoever runs jobs of an app goes by what the operator has made of it.
            "ClowdApp" => self.source().suppose_indexed(&key, &object),
            "ClowdJobInvocation" => Vec::new(),
            _ => self.source().suppose(&key, object.clone()),
        };
        let followers = self.who_sees(&key, before.as_ref(), &object);
        lock(&self.followers).extend(followers);
    }

    /// An object that is no root of ours will differ: roots that may refer to it follow. Who refers to what is known
    /// only of roots that were planned, so this is by name and place, and their plans tell whether they see it.
    fn touch(&self, object: &Value) {
        let Some(key) = ObjectKey::of(object) else {
            return;
        };
        let name = Value::from(key.name.as_str()).to_string();
        let find = |kind, with_namespace: bool| {
            self.stores().find_roots(&kind, |root, text| {
                let is_near = with_namespace && root.namespace == key.namespace;
                is_near || text.contains(&name)
            })
        };
        let environments = find(kinds::CLOWD_ENVIRONMENT, false);
        let apps = find(kinds::CLOWD_APP, true);
        let members = environments.iter().flat_map(|environment| {
            let members = self
                .source()
                .indexed(&views::APPS_BY_ENVIRONMENT, &environment.name);
            members
                .into_iter()
                .map(|app| kinds::app_key(&app.namespace, &app.name))
        });
        let members: Vec<ObjectKey> = members.collect();
        let all = environments.into_iter().chain(apps).chain(members);
        lock(&self.followers).extend(all);
    }

    /// The roots that see something else than before, as far as is known.
    fn followers(&self) -> BTreeSet<ObjectKey> {
        lock(&self.followers).clone()
    }

    /// What a person who plans an object should know about it besides.
    fn warning(&self, object: &Value) -> Option<String> {
        let app: ClowdApp = serde_json::from_value(object.clone()).ok()?;
        let name = app.metadata.name.as_deref()?;
        let environment = &app.spec.environment_name;
        let key = views::within(environment, name);
        shared_name(&self.source().indexed(&views::PLACES_BY_NAME, &key))
    }
}

/// Whether the operator has nothing to do for an environment that it knows in this form.
fn is_at_rest(environment: &Value) -> bool {
    let generation = environment.pointer("/metadata/generation");
    generation.is_some()
        && environment.pointer("/status/generation") == generation
        && environment.pointer("/status/ready") == Some(&Value::Bool(true))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
