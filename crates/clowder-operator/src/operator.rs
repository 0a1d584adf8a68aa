//! The three controllers as one system.

use std::{fmt, sync::Arc, time::Duration};

use kube::Client;
use mainstay_clowder::{
    app::AppReconciler,
    environment::EnvironmentReconciler,
    job::JobReconciler,
    kinds, names,
    settings::Settings,
    views::{self, facts},
};
use mainstay_cluster::{effects::EffectPort, fence::Fence, root::Trigger};
use mainstay_engine::{Kind, backoff::Backoff};
use mainstay_runtime::{
    controller::{Controller, ControllerSettings},
    metrics::Metrics,
    stores::{StoreSettings, Stores},
    work::ControllerTask,
};
use tokio::net::TcpListener;

use crate::{introspection, metrics::OperatorMetrics};

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
    /// Who runs effects.
    pub port: Arc<dyn EffectPort>,
}

impl fmt::Debug for OperatorSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("OperatorSettings")
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

/// The stores of the system.
pub(crate) fn stores(
    client: Client,
    operator: &OperatorSettings,
    metrics: Metrics,
    fence: Fence,
) -> Stores {
    let settings = StoreSettings {
        declared: kinds::KINDS,
        manager: names::MANAGER,
        facts: Arc::new(facts::facts),
        namespace: operator.namespace.clone(),
        // Labels and annotations of an app are copied to what it consists of.
        trigger: Trigger::SpecAndMetadata,
        deadline: Duration::from_mins(2),
        indexes: views::INDEXES,
        effects: operator.port.clone(),
    };
    Stores::new(settings, client, metrics, fence)
}

/// Makes the system and its controllers, and answers on the introspection API from now on, leader or not.
pub fn start(
    client: Client,
    operator: OperatorSettings,
    introspection: Option<TcpListener>,
    metrics: Metrics,
    fence: Fence,
) -> (Stores, Vec<ControllerTask>) {
    let stores = stores(client, &operator, metrics, fence);
    let config = &operator.settings.config;
    let own = OperatorMetrics::new(&stores.metrics, &config.features, stores.views.clone());
    let own = Arc::new(own);
    let source = stores.source(Some(own.clone()));
    if let Some(listener) = introspection {
        tokio::spawn(introspection::serve(listener, config, own.clone()));
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
            source.clone(),
            own.clone(),
            environment,
            &stores,
        ),
        Controller::task(Arc::new(apps), source.clone(), own.clone(), app, &stores),
        Controller::task(Arc::new(jobs), source, own, job, &stores),
    ];
    (stores, controllers)
}
