//! One walk over environments, apps and invocations from the command line, with the operator's own machinery.

use std::{
    collections::BTreeSet,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kube::Client;
use mainstay_api::clowder::ClowdApp;
use mainstay_clowder::{
    app::{AppReconciler, shared_name},
    effect::Effect,
    environment::EnvironmentReconciler,
    index::{Index, app_key},
    job::JobReconciler,
    kinds, offline,
    world::files::store_plain_texts,
};
use mainstay_cluster::{fence::Fence, root::RootObject};
use mainstay_engine::{
    key::ObjectKey,
    outcome::Outcome,
    plan::{Action, DesiredState},
};
use mainstay_runtime::{
    metrics::Metrics,
    reconcile::{Look, Observe, ReconcileResult, RenderResult},
    session::{Session, SessionError},
};
use serde_json::Value;

use crate::{
    effects::{EffectResult, Port},
    look::Surroundings,
    neighbours::Neighbours,
    operator::{self, OperatorSettings, Parts},
};

/// Reads for effects that only read, and takes the others as done: for plans, which change nothing.
pub struct DryRun(pub Arc<dyn Port>);

impl fmt::Debug for DryRun {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("DryRun")
    }
}

impl Port for DryRun {
    fn run<'effect>(
        &'effect self,
        effect: &'effect Effect,
    ) -> Pin<Box<dyn Future<Output = EffectResult> + Send + 'effect>> {
        match effect {
            Effect::Fetch { .. } => self.0.run(effect),
            Effect::Database { .. } | Effect::Bucket { .. } => {
                Box::pin(std::future::ready(Ok(String::new())))
            }
        }
    }
}

/// The system with its stores filled.
pub struct ClowderSession {
    session: Session,
    surroundings: Arc<Surroundings>,
    neighbours: Arc<Neighbours>,
    followers: Mutex<BTreeSet<ObjectKey>>,
    environments: EnvironmentReconciler,
    apps: AppReconciler,
    jobs: JobReconciler,
}

impl fmt::Debug for ClowderSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ClowderSession")
    }
}

impl ClowderSession {
    /// Follows the kinds of the system until everything has been seen once.
    pub async fn open(client: Client, operator: OperatorSettings) -> Result<Self, SessionError> {
        let settings = operator.settings.clone();
        let Parts {
            system,
            surroundings,
            neighbours,
            ..
        } = operator::parts(client, &operator, Metrics::new(), Fence::open());
        Ok(Self {
            followers: Mutex::default(),
            session: Session::open(system).await?,
            surroundings,
            neighbours,
            environments: EnvironmentReconciler {
                settings: settings.clone(),
            },
            apps: AppReconciler {
                settings: settings.clone(),
            },
            jobs: JobReconciler { settings },
        })
    }

    /// Ends the watches, see [`Session::stop_watching`].
    pub async fn stop_watching(&mut self) {
        self.session.stop_watching().await;
    }

    /// The stores and watches.
    pub const fn session(&self) -> &Session {
        &self.session
    }

    /// Goes on as if an object existed like this, as it will when it is applied. Roots that see a difference follow.
    pub fn suppose(&self, object: &Value) {
        let mut object = object.clone();
        store_plain_texts(&mut object);
        let Some(key) = ObjectKey::of(&object) else {
            return;
        };
        let news = self.neighbours.with(|index| index.learn(&key, &object));
        lock(&self.followers).extend(news.roots());
        self.surroundings.suppose(&key, &object);
    }

    /// An object that is no root of ours will differ: roots that may refer to it follow. Who refers to what is known
    /// only of roots that were planned, so this is by name and place, and their plans tell whether they see it.
    pub fn touch(&self, object: &Value) {
        let Some(key) = ObjectKey::of(object) else {
            return;
        };
        let name = Value::from(key.name.as_str()).to_string();
        let find = |kind, with_namespace: bool| {
            self.session.find_roots(&kind, |root, text| {
                let is_near = with_namespace && root.namespace == key.namespace;
                is_near || text.contains(&name)
            })
        };
        let environments = find(kinds::CLOWD_ENVIRONMENT, false);
        let apps = find(kinds::CLOWD_APP, true);
        let members = environments.iter().flat_map(|environment| {
            let members = self.neighbours.with(|index| index.apps(&environment.name));
            members
                .into_iter()
                .map(|app| app_key(&(app.namespace.clone(), app.name.clone())))
        });
        let members: Vec<ObjectKey> = members.collect();
        let all = environments.into_iter().chain(apps).chain(members);
        lock(&self.followers).extend(all);
    }

    /// What a person who plans an object should know about it besides.
    pub fn warning(&self, object: &Value) -> Option<String> {
        let app: ClowdApp = serde_json::from_value(object.clone()).ok()?;
        let name = app.metadata.name.as_deref()?;
        let environment = &app.spec.environment_name;
        let named = |index: &mut Index| index.apps_named(environment, name);
        shared_name(&self.neighbours.with(named))
    }

    /// The roots that see something else than before, as far as is known.
    pub fn followers(&self) -> BTreeSet<ObjectKey> {
        lock(&self.followers).clone()
    }

    /// What a reconcile over a root would do. An environment that is about to change counts as ready afterwards, so that
    /// the plans of its apps show what follows.
    pub async fn plan(&self, root: &RootObject) -> Result<RenderResult, SessionError> {
        self.suppose(&root.value);
        match root.root.key.kind.kind.as_ref() {
            "ClowdEnvironment" => self.plan_environment(root).await,
            "ClowdApp" => self.plan_app(root).await,
            _ => {
                self.session
                    .plan(&self.jobs, root, &*self.surroundings)
                    .await
            }
        }
    }

    async fn plan_app(&self, root: &RootObject) -> Result<RenderResult, SessionError> {
        let observe = &*self.surroundings;
        let planned = self.session.plan(&self.apps, root, observe).await?;
        self.suppose_created(&planned);
        if let RenderResult::Planned(plan) = &planned {
            // Whoever runs its jobs sees it as it will be when all of the plan is done, or as it is.
            let app = if plan.is_noop() {
                root.value.clone()
            } else {
                let look = observe.look(&root.root.key);
                offline::reconciled(&self.apps, root.value.clone(), look.observed())
            };
            observe.suppose_app(root.root.key.clone(), app);
        }
        Ok(planned)
    }

    async fn plan_environment(&self, root: &RootObject) -> Result<RenderResult, SessionError> {
        let plan = async |root: &RootObject| {
            let observe = &*self.surroundings;
            self.session.plan(&self.environments, root, observe).await
        };
        let mut planned = plan(root).await?;
        let mut root = root.clone();
        while let RenderResult::Waiting(hold, _) = &planned
            && offline::keep_choice(&mut root.value, hold)
        {
            planned = plan(&root).await?;
        }
        if let RenderResult::Planned(plan) = &planned
            && (!plan.is_noop() || !is_at_rest(&root.value))
        {
            let look = self.surroundings.look(&root.root.key);
            let ready = offline::reconciled(&self.environments, root.value, look.observed());
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

    /// The reconcile that the operator makes, and those that follow at once: an environment chooses its names first, an
    /// invocation that was changed meanwhile is looked at again.
    pub async fn reconcile(&self, root: RootObject) -> ReconcileResult {
        self.session.learn(&root);
        self.suppose(&root.value);
        let key = root.root.key.clone();
        let mut result = self.reconcile_once(root).await;
        while result.outcome == Outcome::Again
            && let Some(root) = self.current(&key)
        {
            result = self.reconcile_once(root).await;
        }
        result
    }

    async fn reconcile_once(&self, root: RootObject) -> ReconcileResult {
        let observe = &*self.surroundings;
        let session = &self.session;
        match root.root.key.kind.kind.as_ref() {
            "ClowdEnvironment" => session.reconcile(&self.environments, root, observe).await,
            "ClowdApp" => session.reconcile(&self.apps, root, observe).await,
            _ => session.reconcile(&self.jobs, root, observe).await,
        }
    }

    /// The newest known version of a root.
    pub fn current(&self, key: &ObjectKey) -> Option<RootObject> {
        self.session.root(key)
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
