//! What the operator tells about its reconciles: who is looked after, and the metrics of the original under their names.

mod roots;

use std::{fmt, sync::Arc, time::Instant};

use mainstay_clowder::{
    kinds,
    settings::Features,
    views::{self, summary::AppSummary},
};
use mainstay_cluster::{root::RootObject, source::UnitTimer, views::Views};
use mainstay_engine::{key::ObjectKey, outcome::Outcome, snapshot::Projected};
use mainstay_runtime::{
    metrics::Metrics,
    reconcile::{ReconcileHooks, ReconcileResult},
};
use prometheus_client::{
    encoding::{EncodeLabelSet, EncodeMetric, MetricEncoder},
    metrics::{
        MetricType, TypedMetric, counter::Counter, family::Family, gauge::Gauge,
        histogram::Histogram,
    },
};
use serde_json::Value;

use self::roots::Ended;
pub use self::roots::{Ident, ReconciledRoots};

/// The buckets that every Prometheus client has by default, in seconds.
const BUCKETS: [f64; 11] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

/// Counts passes. Parity: the name of the series has no `_total` at its end, which the text format wants of every
/// counter that says so; this one does not say so.
#[derive(Clone, Debug, Default)]
struct Requests(Counter);

impl TypedMetric for Requests {
    const TYPE: MetricType = MetricType::Unknown;
}

impl EncodeMetric for Requests {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        encoder.encode_gauge(&self.0.get())
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ProviderLabel {
    provider: &'static str,
    source: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabel {
    r#type: &'static str,
    name: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AppLabel {
    app: String,
    env: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DependencyLabel {
    app: String,
    dependency: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct VersionLabel {
    version: &'static str,
}

/// The apps or the environments: who they are, and the gauges of how many.
#[derive(Debug, Default)]
struct Group {
    roots: Arc<ReconciledRoots>,
    present: Gauge,
    managed: Gauge,
}

impl Group {
    fn gauge(&self) {
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let (present, managed) = self.roots.sizes();
        self.present.set(number(present));
        self.managed.set(number(managed));
    }
}

/// The metrics, and who is looked after.
pub struct OperatorMetrics {
    apps: Group,
    environments: Group,
    provider_runtime: Family<ProviderLabel, Histogram>,
    requests: Option<Family<RequestLabel, Requests>>,
    app_time: Option<Family<AppLabel, Histogram>>,
    availability: Option<Family<DependencyLabel, Gauge>>,
    views: Arc<Views>,
}

impl fmt::Debug for OperatorMetrics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("OperatorMetrics")
    }
}

impl OperatorMetrics {
    /// Registers the metrics, except those that the configuration does not ask for.
    pub fn new(metrics: &Metrics, features: &Features, views: Arc<Views>) -> Self {
        let histogram = (|| Histogram::new(BUCKETS)) as fn() -> Histogram;
        let own = Self {
            apps: Group::default(),
            environments: Group::default(),
            provider_runtime: Family::new_with_constructor(histogram),
            requests: features.per_provider_metrics.then(Family::default),
            app_time: features
                .reconciliation_metrics
                .then(|| Family::new_with_constructor(histogram)),
            availability: features.enable_dependency_metrics.then(Family::default),
            views,
        };
        own.register(metrics);
        own
    }

    fn register(&self, metrics: &Metrics) {
        let gauges = [
            (
                "clowd_app_managed_apps",
                "ClowdApp Managed Apps",
                &self.apps.managed,
            ),
            (
                "clowd_app_present_apps",
                "ClowdApp Present Apps",
                &self.apps.present,
            ),
            (
                "clowd_env_managed_envs",
                "ClowdEnv Managed Envs",
                &self.environments.managed,
            ),
            (
                "clowd_env_present_envs",
                "ClowdEnv Present Envs",
                &self.environments.present,
            ),
        ];
        for (name, help, gauge) in gauges {
            metrics.register(name, help, gauge.clone());
        }
        let version: Family<VersionLabel, Gauge> = Family::default();
        let label = VersionLabel {
            version: concat!("v", env!("CARGO_PKG_VERSION")),
        };
        version.get_or_create(&label).set(1);
        metrics.register(
            "clowder_version",
            "ClowderVersion 1 if present, 0 if not",
            version,
        );
        let runtime = self.provider_runtime.clone();
        metrics.register("clowder_provider_runtime", "Provider runtime", runtime);
        if let Some(requests) = self.requests.clone() {
            metrics.register(
                "clowder_reconcile_requests",
                "Clowder reconciliation requests",
                requests,
            );
        }
        if let Some(time) = self.app_time.clone() {
            metrics.register(
                "clowder_app_reconciliation_time",
                "Clowder App reconciliation time",
                time,
            );
        }
        if let Some(availability) = self.availability.clone() {
            metrics.register(
                "clowder_dependency_availability",
                "Whether the dependencies of an app are ready",
                availability,
            );
        }
    }

    /// The apps that are looked after.
    pub fn apps(&self) -> &Arc<ReconciledRoots> {
        &self.apps.roots
    }

    /// The environments that are looked after.
    pub fn environments(&self) -> &Arc<ReconciledRoots> {
        &self.environments.roots
    }

    fn group(&self, root: &ObjectKey) -> &Group {
        if is_app(root) {
            &self.apps
        } else {
            &self.environments
        }
    }

    /// An app is as declared.
    fn succeeded(&self, root: &ObjectKey, ended: &Ended) {
        let Some(environment) = environment_of(root, &ended.ident) else {
            return;
        };
        if let Some(time) = &self.app_time {
            let label = AppLabel {
                app: root.name.clone(),
                env: environment.to_owned(),
            };
            time.get_or_create(&label)
                .observe(ended.duration.as_secs_f64());
        }
        let Some(availability) = &self.availability else {
            return;
        };
        let namesakes = self.apps_named(environment, &root.name);
        let Some(app) = namesakes.iter().find(|app| app.namespace == root.namespace) else {
            return;
        };
        for dependency in app.dependencies.iter().chain(&app.optional_dependencies) {
            let Some(other) = self.apps_named(environment, dependency).into_iter().next() else {
                continue;
            };
            let label = DependencyLabel {
                app: app.name.clone(),
                dependency: dependency.clone(),
            };
            availability.get_or_create(&label).set(other.ready.into());
        }
    }

    fn apps_named(&self, environment: &str, name: &str) -> Vec<Arc<AppSummary>> {
        let key = views::within(environment, name);
        let members = self.views.members(&views::APPS_BY_NAME, &key).into_iter();
        members.filter_map(Projected::downcast).collect()
    }

    /// The series of somebody who is gone would stay for ever, and environments come and go by the hundred.
    fn forget(&self, root: &ObjectKey, ident: &Ident) {
        if let Some(requests) = &self.requests {
            requests.remove(&request_label(root, ident.to_string()));
        }
        if let (Some(time), Some(environment)) = (&self.app_time, environment_of(root, ident)) {
            time.remove(&AppLabel {
                app: root.name.clone(),
                env: environment.to_owned(),
            });
        }
    }
}

impl ReconcileHooks for OperatorMetrics {
    fn began(&self, root: &RootObject) {
        let key = &root.root.key;
        if !is_counted(key) {
            return;
        }
        let ident = ident(root);
        let group = self.group(key);
        if !group.roots.begin(key, &ident, root.deleting) {
            return;
        }
        group.gauge();
        if let Some(requests) = &self.requests {
            requests.get_or_create(&request_label(key, ident)).0.inc();
        }
    }

    fn ended(&self, root: &ObjectKey, result: Option<&ReconcileResult>) {
        if !is_counted(root) {
            return;
        }
        let group = self.group(root);
        let Some(result) = result else {
            if let Some(ident) = group.roots.forget(root) {
                self.forget(root, &ident);
            }
            return group.gauge();
        };
        let is_success = result.outcome == Outcome::Success;
        let ended = group.roots.end(root, is_success);
        group.gauge();
        match ended {
            Some(ended) if ended.is_last => self.forget(root, &ended.ident),
            Some(ended) if is_success && is_app(root) => self.succeeded(root, &ended),
            _ => {}
        }
    }
}

impl UnitTimer for OperatorMetrics {
    fn time(&self, root: &ObjectKey, provider: &'static str, work: &mut dyn FnMut()) {
        let source = if is_app(root) { "clowdapp" } else { "clowdenv" };
        let began = Instant::now();
        work();
        self.provider_runtime
            .get_or_create(&ProviderLabel { provider, source })
            .observe(began.elapsed().as_secs_f64());
    }
}

/// How users know a root.
fn ident(root: &RootObject) -> String {
    let name = &root.root.key.name;
    let environment = root.value.pointer("/spec/envName").and_then(Value::as_str);
    match environment.filter(|_| is_app(&root.root.key)) {
        Some(environment) => format!("{environment}.{name}"),
        None => name.clone(),
    }
}

/// The environment of an app, of which users know it by this. Names of environments may have dots.
fn environment_of<'ident>(root: &ObjectKey, ident: &'ident str) -> Option<&'ident str> {
    ident.strip_suffix(&root.name)?.strip_suffix('.')
}

/// Invocations come and go; nobody asks who they are.
fn is_counted(root: &ObjectKey) -> bool {
    root.kind != kinds::CLOWD_JOB_INVOCATION
}

fn is_app(root: &ObjectKey) -> bool {
    root.kind == kinds::CLOWD_APP
}

fn request_label(root: &ObjectKey, name: String) -> RequestLabel {
    RequestLabel {
        r#type: if is_app(root) { "app" } else { "env" },
        name,
    }
}

#[cfg(test)]
mod tests;
