//! One walk over environments, apps and invocations from the command line, with the operator's own machinery.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use kube::Client;
use mainstay_clowder::{
    app::AppCorridor, environment::EnvironmentCorridor, errand::Errand, job::JobCorridor, kinds,
    offline,
};
use mainstay_cluster::{
    fence::Fence,
    referenced::{Interest, Referenced},
    root::RootObject,
};
use mainstay_engine::{
    key::ObjectKey,
    outcome::Outcome,
    plan::{Action, Goal},
};
use mainstay_runtime::{
    metrics::Metrics,
    pass::{Look, Middle, Observe, PassResult},
    session::{Session, SessionError},
};
use serde_json::Value;

use crate::{
    errands::{ErrandResult, Port},
    look::Surroundings,
    neighbours::Neighbours,
    operator::{self, OperatorSettings, Parts},
};

/// Reads for errands that only read, and takes the others as done: for plans, which change nothing.
pub struct Onlooker(pub Arc<dyn Port>);

impl fmt::Debug for Onlooker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Onlooker")
    }
}

impl Port for Onlooker {
    fn carry_out<'errand>(
        &'errand self,
        errand: &'errand Errand,
    ) -> Pin<Box<dyn Future<Output = ErrandResult> + Send + 'errand>> {
        match errand {
            Errand::Fetch { .. } => self.0.carry_out(errand),
            Errand::Database { .. } | Errand::Bucket { .. } => {
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
    referenced: Arc<Referenced>,
    environments: EnvironmentCorridor,
    apps: AppCorridor,
    jobs: JobCorridor,
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
            referenced: system.referenced.clone(),
            session: Session::open(system).await?,
            surroundings,
            neighbours,
            environments: EnvironmentCorridor {
                settings: settings.clone(),
            },
            apps: AppCorridor {
                settings: settings.clone(),
            },
            jobs: JobCorridor { settings },
        })
    }

    /// The stores and watches.
    pub const fn session(&self) -> &Session {
        &self.session
    }

    /// Goes on as if an object of the user existed, as it will when it is applied.
    pub fn suppose(&self, object: &Value) {
        let Some(key) = ObjectKey::of(object) else {
            return;
        };
        self.neighbours.with(|index| index.learn(&key, object));
        let interest = Interest::Object(key);
        self.referenced
            .learn(interest, "", vec![Arc::new(object.clone())]);
    }

    /// What a pass over a root would do. An environment that is about to change counts as ready afterwards, so that
    /// the plans of its apps show what follows.
    pub async fn plan(&self, root: &RootObject) -> Result<Middle, SessionError> {
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

    async fn plan_app(&self, root: &RootObject) -> Result<Middle, SessionError> {
        let observe = &*self.surroundings;
        let planned = self.session.plan(&self.apps, root, observe).await?;
        self.suppose_created(&planned);
        if let Middle::Planned(plan) = &planned {
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

    async fn plan_environment(&self, root: &RootObject) -> Result<Middle, SessionError> {
        let plan = async |root: &RootObject| {
            let observe = &*self.surroundings;
            self.session.plan(&self.environments, root, observe).await
        };
        let mut planned = plan(root).await?;
        let mut root = root.clone();
        while let Middle::Held(hold, _) = &planned
            && offline::keep_choice(&mut root.value, hold)
        {
            planned = plan(&root).await?;
        }
        if let Middle::Planned(plan) = &planned
            && !plan.is_noop()
        {
            let look = self.surroundings.look(&root.root.key);
            let ready = offline::reconciled(&self.environments, root.value, look.observed());
            self.suppose(&ready);
        }
        self.suppose_created(&planned);
        Ok(planned)
    }

    /// Goes on as if the Secrets of a plan existed: others read what is made up in them.
    fn suppose_created(&self, planned: &Middle) {
        let Middle::Planned(plan) = planned else {
            return;
        };
        for step in &plan.steps {
            if let (Action::Create, Goal::Present { body, .. }) = (&step.action, &step.goal)
                && step.key.kind == kinds::SECRET
            {
                self.suppose(body);
            }
        }
    }

    /// The pass that the operator makes, and those that follow at once: an environment chooses its names first, an
    /// invocation that was changed meanwhile is looked at again.
    pub async fn pass(&self, root: RootObject) -> PassResult {
        self.suppose(&root.value);
        let key = root.root.key.clone();
        let mut result = self.pass_once(root).await;
        while result.outcome == Outcome::Again
            && let Some(root) = self.current(&key)
        {
            result = self.pass_once(root).await;
        }
        result
    }

    async fn pass_once(&self, root: RootObject) -> PassResult {
        let observe = &*self.surroundings;
        let session = &self.session;
        match root.root.key.kind.kind.as_ref() {
            "ClowdEnvironment" => session.pass(&self.environments, root, observe).await,
            "ClowdApp" => session.pass(&self.apps, root, observe).await,
            _ => session.pass(&self.jobs, root, observe).await,
        }
    }

    /// The newest known version of a root.
    pub fn current(&self, key: &ObjectKey) -> Option<RootObject> {
        self.session.root(key)
    }
}
