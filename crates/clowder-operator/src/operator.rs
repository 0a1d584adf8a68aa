//! The three controllers as one system.

use std::{fmt, sync::Arc, time::Duration};

use kube::Client;
use mainstay_clowder::{
    app::AppReconciler, environment::EnvironmentReconciler, facts, job::JobReconciler, kinds,
    names, settings::Settings,
};
use mainstay_cluster::{fence::Fence, root::Trigger};
use mainstay_engine::Kind;
use mainstay_runtime::{
    controller::{Controller, ControllerSettings},
    metrics::Metrics,
    queue::Backoff,
    system::{ControllerTask, System, SystemSettings},
};
use tokio::net::TcpListener;

use crate::{
    accounts::Accounts,
    effects::{Effects, Port},
    introspection,
    look::Surroundings,
    neighbours::Neighbours,
};

/// Name of the system.
pub const NAME: &str = "clowder";

/// Without all apps an environment would tell that it has fewer, and a gateway would lose paths.
const ENVIRONMENT_NEEDS: &[Kind] = &[
    kinds::CLOWD_ENVIRONMENT,
    kinds::CLOWD_APP,
    kinds::CLOWD_APP_REF,
    kinds::CLUSTER_INGRESS,
];
/// Without its environment an app would say that there is none, and without others that its dependencies are missing.
const APP_NEEDS: &[Kind] = &[
    kinds::CLOWD_APP,
    kinds::CLOWD_ENVIRONMENT,
    kinds::CLOWD_APP_REF,
];
/// Without its app an invocation would say that there is none.
const JOB_NEEDS: &[Kind] = &[
    kinds::CLOWD_JOB_INVOCATION,
    kinds::CLOWD_APP,
    kinds::CLOWD_ENVIRONMENT,
];

/// What the operator is told at its start.
pub struct OperatorSettings {
    /// Configuration.
    pub settings: Arc<Settings>,
    /// Only this namespace; empty means all.
    pub namespace: String,
    /// Passes over apps at the same time.
    pub concurrency: usize,
    /// Who carries effects out.
    pub port: Arc<dyn Port>,
}

impl fmt::Debug for OperatorSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("OperatorSettings")
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

/// The system and what its reconciles look around in.
pub(crate) struct Parts {
    pub(crate) system: System,
    pub(crate) surroundings: Arc<Surroundings>,
    pub(crate) neighbours: Arc<Neighbours>,
    pub(crate) accounts: Arc<Accounts>,
}

/// Makes the system without its controllers.
pub(crate) fn parts(
    client: Client,
    operator: &OperatorSettings,
    metrics: Metrics,
    fence: Fence,
) -> Parts {
    let system_settings = SystemSettings {
        declared: kinds::KINDS,
        manager: names::MANAGER,
        facts: Arc::new(facts::facts),
        namespace: operator.namespace.clone(),
        // Labels and annotations of an app are copied to what it consists of.
        trigger: Trigger::SpecAndMetadata,
        deadline: Duration::from_mins(2),
    };
    let mut neighbours = None;
    let system = System::new(system_settings, client, metrics, fence, |router| {
        let shared = Arc::new(Neighbours::new(router.clone()));
        neighbours = Some(shared.clone());
        Some(shared)
    });
    let neighbours = neighbours.expect("the system calls back once");
    let effects = Arc::new(Effects::new(operator.port.clone()));
    let settings = operator.settings.clone();
    let features = &settings.config.features;
    let accounts = Arc::new(Accounts::new(&system.metrics, features, neighbours.clone()));
    let surroundings = Surroundings::new(
        &system,
        settings,
        neighbours.clone(),
        effects,
        accounts.clone(),
    );
    Parts {
        surroundings: Arc::new(surroundings),
        system,
        neighbours,
        accounts,
    }
}

/// Makes the system and its controllers, and answers on the introspection API from now on, leader or not.
pub fn start(
    client: Client,
    operator: OperatorSettings,
    introspection: Option<TcpListener>,
    metrics: Metrics,
    fence: Fence,
) -> (System, Vec<ControllerTask>) {
    let Parts {
        system,
        surroundings,
        accounts,
        ..
    } = parts(client, &operator, metrics, fence);
    if let Some(listener) = introspection {
        let config = &operator.settings.config;
        tokio::spawn(introspection::serve(listener, config, accounts));
    }
    let backoff = Backoff {
        base: Duration::from_millis(500),
        cap: Duration::from_mins(1),
    };
    let environment = ControllerSettings {
        concurrency: 4,
        backoff,
        resync: Duration::from_hours(10),
        // An environment lists its apps; while hundreds of them are created it does so twice a second.
        pause: Duration::from_millis(500),
        component: "env",
        needs: ENVIRONMENT_NEEDS,
    };
    let app = ControllerSettings {
        concurrency: operator.concurrency,
        pause: Duration::ZERO,
        component: "app",
        needs: APP_NEEDS,
        ..environment.clone()
    };
    let job = ControllerSettings {
        component: "clowdjobinvocation",
        needs: JOB_NEEDS,
        ..app.clone()
    };
    let settings = operator.settings;
    let environments = EnvironmentReconciler {
        settings: settings.clone(),
    };
    let apps = AppReconciler {
        settings: settings.clone(),
    };
    let jobs = JobReconciler { settings };
    let controllers = vec![
        Controller::task(
            Arc::new(environments),
            surroundings.clone(),
            environment,
            &system,
        ),
        Controller::task(Arc::new(apps), surroundings.clone(), app, &system),
        Controller::task(Arc::new(jobs), surroundings, job, &system),
    ];
    (system, controllers)
}
