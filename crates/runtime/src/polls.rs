//! How long tasks keep a worker to themselves, and how a big piece of work does not.

use std::{
    fmt,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::{Duration, Instant},
};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{MetricType, gauge::ConstGauge},
};
use serde_json::Value;
use tokio::runtime::{Handle, RuntimeFlavor};

/// Values in an object from which on it counts as big: rendering it takes milliseconds.
const BIG: usize = 4096;

/// The longest time that a task ran without giving others a turn. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Polls {
    nanoseconds: Arc<AtomicU64>,
}

impl Polls {
    /// The same task, with its polls timed.
    pub(crate) fn timed<F: Future>(&self, task: F) -> Timed<F> {
        Timed {
            task: Box::pin(task),
            polls: self.clone(),
        }
    }

    fn took(&self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_max(nanoseconds, Ordering::Relaxed);
    }

    /// The longest poll so far.
    pub fn longest(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed))
    }
}

impl Collector for Polls {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let family = encoder.encode_descriptor(
            "mainstay_longest_poll_seconds",
            "The longest time that a task kept others from running",
            None,
            MetricType::Gauge,
        )?;
        ConstGauge::new(self.longest().as_secs_f64()).encode(family)
    }
}

/// A task whose polls are timed.
pub(crate) struct Timed<F> {
    task: Pin<Box<F>>,
    polls: Polls,
}

impl<F: Future> Future for Timed<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let begun = Instant::now();
        let aside = aside_so_far();
        let polled = self.task.as_mut().poll(context);
        // What was done aside kept nobody from running.
        let aside = aside_so_far().saturating_sub(aside);
        self.polls.took(begun.elapsed().saturating_sub(aside));
        polled
    }
}

thread_local! {
    /// Time that this thread spent on work for which another one took its place.
    static ASIDE: std::cell::Cell<Duration> = const { std::cell::Cell::new(Duration::ZERO) };
}

fn aside_so_far() -> Duration {
    ASIDE.with(std::cell::Cell::get)
}

/// Does pure work over an object. If the object is big, and the runtime has workers, another thread takes the place of
/// this one meanwhile, so that everybody else goes on.
pub(crate) fn beside_others<R>(object: &Value, work: impl FnOnce() -> R) -> R {
    let has_workers = Handle::try_current()
        .is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if !has_workers || !is_big(object) {
        return work();
    }
    let begun = Instant::now();
    let done = tokio::task::block_in_place(work);
    ASIDE.with(|aside| aside.set(aside.get() + begun.elapsed()));
    done
}

/// Whether an object holds many values. Counts no further than it has to.
fn is_big(object: &Value) -> bool {
    fn count(value: &Value, left: &mut usize) {
        *left = left.saturating_sub(1);
        if *left == 0 {
            return;
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| count(item, left)),
            Value::Object(fields) => fields.values().for_each(|field| count(field, left)),
            _ => {}
        }
    }
    let mut left = BIG;
    count(object, &mut left);
    left == 0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with_items(count: usize) -> Value {
        json!({"spec": {"env": (0..count).map(|number| json!({"name": number})).collect::<Vec<_>>()}})
    }

    #[test]
    fn an_object_is_big_by_the_number_of_its_values() {
        assert!(!is_big(&with_items(100)));
        assert!(is_big(&with_items(5000)));
    }

    #[tokio::test]
    async fn a_task_that_keeps_others_from_running_is_noticed() {
        let polls = Polls::default();
        let long = Duration::from_millis(30);
        polls.timed(async { std::thread::sleep(long) }).await;
        assert!(polls.longest() >= long);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn work_over_a_big_object_keeps_nobody_from_running() {
        let polls = Polls::default();
        let (others, ran) = std::sync::mpsc::channel();
        let heavy = polls.timed(async move {
            beside_others(&with_items(5000), || {
                tokio::spawn(async move { others.send(()) });
                // Only another worker can send it.
                ran.recv().unwrap();
                std::thread::sleep(Duration::from_millis(500));
            });
        });
        tokio::spawn(heavy).await.unwrap();
        assert!(polls.longest() < Duration::from_millis(400));
    }
}
