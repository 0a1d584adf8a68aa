//! What the process counts. Names of controller-runtime are kept where dashboards rely on them.

use std::sync::{Arc, PoisonError, RwLock, atomic::AtomicU64};

use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Metric, Registry},
};

use crate::{polls::Polls, process_metrics::ProcessCollector, running::Running};

/// Label of a controller.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ControllerLabel {
    /// Name of the controller.
    pub controller: &'static str,
}

/// Labels of a reconcile result.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ResultLabel {
    /// Name of the controller.
    pub controller: &'static str,
    /// Result, one of a closed set.
    pub result: &'static str,
}

/// Labels of a change of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ActionLabel {
    /// Name of the controller.
    pub controller: &'static str,
    /// What was done.
    pub action: &'static str,
}

/// Labels of an error.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ReasonLabel {
    /// Name of the controller.
    pub controller: &'static str,
    /// Stable word.
    pub reason: &'static str,
}

/// Label of a work queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct QueueLabel {
    /// Name of the queue, which is that of the controller.
    pub name: &'static str,
}

/// Labels of a request to the API server.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct RequestLabel {
    /// Status code, or `<error>`.
    pub code: String,
    /// Host and port.
    pub host: String,
    /// Method.
    pub method: String,
}

/// Label of a lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct LeaseLabel {
    /// Name of the lease.
    pub name: String,
}

/// Label of a watched kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct KindLabel {
    /// Kind.
    pub kind: String,
}

type Float = Gauge<f64, AtomicU64>;

/// All metrics, registered once and handed in. Systems register what is theirs alone.
#[derive(Clone, Debug)]
pub struct Metrics {
    registry: Arc<RwLock<Registry>>,
    /// Passes by result: success, requeue, `requeue_after`, error.
    pub reconcile_total: Family<ResultLabel, Counter>,
    /// Passes that ended in an error.
    pub reconcile_errors: Family<ControllerLabel, Counter>,
    /// Errors by reason.
    pub errors_by_reason: Family<ReasonLabel, Counter>,
    /// Duration of reconciles.
    pub reconcile_seconds: Family<ControllerLabel, Histogram>,
    /// Passes that panicked.
    pub panics: Family<ControllerLabel, Counter>,
    /// Passes that ended in an error that only a change can heal.
    pub terminal_errors: Family<ControllerLabel, Counter>,
    /// Passes that run now.
    pub active: Family<ControllerLabel, Gauge>,
    /// The most reconciles that may run at the same time.
    pub most_active: Family<ControllerLabel, Gauge>,
    /// Objects by what was done to them.
    pub objects: Family<ActionLabel, Counter>,
    /// Keys that wait.
    pub queue_depth: Family<QueueLabel, Gauge>,
    /// Keys that were queued.
    pub queue_adds: Family<QueueLabel, Counter>,
    /// Keys that were queued again after a failure.
    pub queue_retries: Family<QueueLabel, Counter>,
    /// Time that keys waited for a worker.
    pub queue_seconds: Family<QueueLabel, Histogram>,
    /// Duration of reconciles, under the name of the queue.
    pub work_seconds: Family<QueueLabel, Histogram>,
    /// Passes that run now.
    pub running: Running,
    /// How long tasks keep a worker to themselves.
    pub polls: Polls,
    /// Requests to the API server.
    pub requests: Family<RequestLabel, Counter>,
    /// Failures of watches.
    pub watch_restarts: Family<KindLabel, Counter>,
    /// Whether this process leads: 1 or 0.
    pub leader: Family<LeaseLabel, Float>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// Registers everything.
    pub fn new() -> Self {
        let mut registry = Registry::default();
        let reconcile_total = Family::default();
        let reconcile_errors = Family::default();
        let errors_by_reason = Family::default();
        let reconcile_seconds =
            Family::new_with_constructor(duration_histogram as fn() -> Histogram);
        let panics = Family::default();
        let terminal_errors = Family::default();
        let active = Family::default();
        let most_active = Family::default();
        let objects = Family::default();
        let queue_depth = Family::default();
        let queue_adds = Family::default();
        let queue_retries = Family::default();
        let queue_seconds = Family::new_with_constructor(queue_histogram as fn() -> Histogram);
        let work_seconds = Family::new_with_constructor(queue_histogram as fn() -> Histogram);
        let running = Running::default();
        let polls = Polls::default();
        let requests = Family::default();
        let watch_restarts = Family::default();
        let leader = Family::default();
        registry.register(
            "controller_runtime_reconcile",
            "Passes by result",
            reconcile_total.clone(),
        );
        registry.register(
            "controller_runtime_reconcile_errors",
            "Passes that ended in an error",
            reconcile_errors.clone(),
        );
        registry.register(
            "controller_runtime_reconcile_time_seconds",
            "Duration of passes",
            reconcile_seconds.clone(),
        );
        register_rarities(&mut registry, &panics, &terminal_errors, &most_active);
        registry.register(
            "controller_runtime_active_workers",
            "Passes that run now",
            active.clone(),
        );
        registry.register(
            "workqueue_depth",
            "Keys that wait for a worker",
            queue_depth.clone(),
        );
        registry.register(
            "workqueue_adds",
            "Keys that were queued",
            queue_adds.clone(),
        );
        registry.register(
            "workqueue_retries",
            "Keys that were queued again after a failure",
            queue_retries.clone(),
        );
        register_times(&mut registry, &queue_seconds, &work_seconds, &running);
        registry.register(
            "rest_client_requests",
            "Requests to the API server by code, method and host",
            requests.clone(),
        );
        registry.register(
            "leader_election_master_status",
            "Whether this process leads",
            leader.clone(),
        );
        register_own(&mut registry, &errors_by_reason, &objects, &watch_restarts);
        registry.register_collector(Box::new(polls.clone()));
        registry.register_collector(Box::new(ProcessCollector::default()));
        Self {
            registry: Arc::new(RwLock::new(registry)),
            reconcile_total,
            reconcile_errors,
            errors_by_reason,
            reconcile_seconds,
            panics,
            terminal_errors,
            active,
            most_active,
            objects,
            queue_depth,
            queue_adds,
            queue_retries,
            queue_seconds,
            work_seconds,
            running,
            polls,
            requests,
            watch_restarts,
            leader,
        }
    }

    /// The text of all series, as `OpenMetrics` has it.
    pub fn render(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail; an empty page would be noticed by its scraper.
        let registry = self.registry.read().unwrap_or_else(PoisonError::into_inner);
        let _ = encode(&mut text, &registry);
        text
    }

    /// Adds a metric of one system. The text format wants a name without unit and without `_total`.
    pub fn register(&self, name: &str, help: &str, metric: impl Metric) {
        let mut registry = self
            .registry
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        registry.register(name, help, metric);
    }

    /// Makes the series of a controller visible before anything happened.
    pub fn prepare(&self, controller: &'static str, concurrency: usize) {
        let number = i64::try_from(concurrency).unwrap_or(i64::MAX);
        let label = ControllerLabel { controller };
        self.most_active.get_or_create(&label).set(number);
        for counter in [&self.panics, &self.terminal_errors] {
            let _ = counter.get_or_create(&label);
        }
        for result in ["success", "error", "requeue", "requeue_after"] {
            let _ = self
                .reconcile_total
                .get_or_create(&ResultLabel { controller, result });
        }
        let _ = self
            .reconcile_errors
            .get_or_create(&ControllerLabel { controller });
        self.running.prepare(controller);
        for times in [&self.queue_seconds, &self.work_seconds] {
            let _ = times.get_or_create(&QueueLabel { name: controller });
        }
        let _ = self
            .queue_depth
            .get_or_create(&QueueLabel { name: controller });
        let _ = self
            .queue_adds
            .get_or_create(&QueueLabel { name: controller });
        let _ = self
            .queue_retries
            .get_or_create(&QueueLabel { name: controller });
    }
}

/// What no other operator counts.
fn register_own(
    registry: &mut Registry,
    errors_by_reason: &Family<ReasonLabel, Counter>,
    objects: &Family<ActionLabel, Counter>,
    watch_restarts: &Family<KindLabel, Counter>,
) {
    registry.register(
        "mainstay_reconcile_errors_by_reason",
        "Failed passes by reason",
        errors_by_reason.clone(),
    );
    registry.register(
        "mainstay_objects",
        "Objects by what was done to them",
        objects.clone(),
    );
    registry.register(
        "mainstay_watch_restarts",
        "Failures of watches",
        watch_restarts.clone(),
    );
}

/// How long keys wait, and passes take.
fn register_times(
    registry: &mut Registry,
    queue_seconds: &Family<QueueLabel, Histogram>,
    work_seconds: &Family<QueueLabel, Histogram>,
    running: &Running,
) {
    registry.register(
        "workqueue_queue_duration_seconds",
        "Time that keys waited for a worker",
        queue_seconds.clone(),
    );
    registry.register(
        "workqueue_work_duration_seconds",
        "Duration of passes",
        work_seconds.clone(),
    );
    registry.register_collector(Box::new(running.clone()));
}

/// What hardly ever changes.
fn register_rarities(
    registry: &mut Registry,
    panics: &Family<ControllerLabel, Counter>,
    terminal_errors: &Family<ControllerLabel, Counter>,
    most_active: &Family<ControllerLabel, Gauge>,
) {
    registry.register(
        "controller_runtime_reconcile_panics",
        "Passes that panicked",
        panics.clone(),
    );
    registry.register(
        "controller_runtime_terminal_reconcile_errors",
        "Passes that ended in an error that only a change can heal",
        terminal_errors.clone(),
    );
    registry.register(
        "controller_runtime_max_concurrent_reconciles",
        "The most passes that may run at the same time",
        most_active.clone(),
    );
}

/// The buckets of client-go's queues.
fn queue_histogram() -> Histogram {
    Histogram::new([
        1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0,
    ])
}

fn duration_histogram() -> Histogram {
    Histogram::new([
        0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_that_dashboards_know_keep_their_names() {
        let metrics = Metrics::new();
        metrics.prepare("kaoto", 4);
        metrics
            .leader
            .get_or_create(&LeaseLabel {
                name: "9aa9f118.kaoto.io".to_owned(),
            })
            .set(1.0);
        metrics
            .reconcile_seconds
            .get_or_create(&ControllerLabel {
                controller: "kaoto",
            })
            .observe(0.02);
        let request = RequestLabel {
            code: "200".to_owned(),
            host: "a:1".to_owned(),
            method: "GET".to_owned(),
        };
        metrics.requests.get_or_create(&request).inc();
        let text = metrics.render();
        for series in [
            r#"controller_runtime_reconcile_total{controller="kaoto",result="success"} 0"#,
            r#"controller_runtime_reconcile_errors_total{controller="kaoto"} 0"#,
            r#"controller_runtime_reconcile_time_seconds_count{controller="kaoto"} 1"#,
            r#"controller_runtime_reconcile_panics_total{controller="kaoto"} 0"#,
            r#"controller_runtime_terminal_reconcile_errors_total{controller="kaoto"} 0"#,
            r#"controller_runtime_max_concurrent_reconciles{controller="kaoto"} 4"#,
            r#"workqueue_depth{name="kaoto"} 0"#,
            r#"workqueue_adds_total{name="kaoto"} 0"#,
            r#"workqueue_retries_total{name="kaoto"} 0"#,
            r#"workqueue_queue_duration_seconds_count{name="kaoto"} 0"#,
            r#"workqueue_work_duration_seconds_count{name="kaoto"} 0"#,
            r#"workqueue_unfinished_work_seconds{name="kaoto"} 0.0"#,
            r#"workqueue_longest_running_processor_seconds{name="kaoto"} 0.0"#,
            r#"rest_client_requests_total{code="200",host="a:1",method="GET"} 1"#,
            r#"leader_election_master_status{name="9aa9f118.kaoto.io"} 1.0"#,
            "process_resident_memory_bytes ",
            "process_cpu_seconds_total ",
        ] {
            assert!(text.contains(series), "{series} in\n{text}");
        }
    }
}
