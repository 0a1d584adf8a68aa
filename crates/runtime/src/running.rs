//! How long the reconciles that run now have been running, counted when somebody asks: a reconcile that is stuck ends nothing
//! that could be counted.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{MetricType, gauge::ConstGauge},
};
use tokio::{task::Id, time::Instant};

use crate::metrics::QueueLabel;

/// Begins of the reconciles that run, by controller. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Running {
    begins: Arc<Mutex<BTreeMap<&'static str, BTreeMap<Id, Instant>>>>,
}

impl Running {
    /// The controller exists.
    pub(crate) fn prepare(&self, controller: &'static str) {
        self.lock().entry(controller).or_default();
    }

    /// A reconcile begins.
    pub(crate) fn begin(&self, controller: &'static str, id: Id) {
        let mut begins = self.lock();
        begins
            .entry(controller)
            .or_default()
            .insert(id, Instant::now());
    }

    /// A reconcile ended.
    pub(crate) fn end(&self, controller: &'static str, id: Id) {
        if let Some(begins) = self.lock().get_mut(controller) {
            begins.remove(&id);
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, BTreeMap<Id, Instant>>> {
        self.begins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// By controller: the seconds of all reconciles together, and of the longest one.
    fn seconds(&self) -> Vec<(&'static str, f64, f64)> {
        let begins = self.lock();
        let all = begins.iter().map(|(controller, begins)| {
            let seconds = begins.values().map(|begin| begin.elapsed().as_secs_f64());
            (
                *controller,
                seconds.clone().fold(0.0, std::ops::Add::add),
                seconds.fold(0.0, f64::max),
            )
        });
        all.collect()
    }
}

impl Collector for Running {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let all = self.seconds();
        let mut write = |name: &str, help: &str, value: fn(&(&'static str, f64, f64)) -> f64| {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for one in &all {
                let label = QueueLabel { name: one.0 };
                ConstGauge::new(value(one)).encode(family.encode_family(&label)?)?;
            }
            Ok(())
        };
        write(
            "workqueue_unfinished_work_seconds",
            "How long the passes that run now have been running, together",
            |one| one.1,
        )?;
        write(
            "workqueue_longest_running_processor_seconds",
            "How long the longest of the passes that run now has been running",
            |one| one.2,
        )
    }
}
