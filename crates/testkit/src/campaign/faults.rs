//! Faults between operator and API server: whatever share of the requests fails, and however, the end is the same.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use super::{Campaign, Stage, Workload};
use crate::{
    audit::Mark,
    fault::{Fault, Seen},
    proxy::Proxy,
    random::mixed,
};

/// Kinds of faults that a request may meet.
pub const KINDS: [Fault; 6] = [
    Fault::Refuse(500),
    Fault::Refuse(503),
    Fault::Refuse(429),
    Fault::Refuse(409),
    Fault::Drop,
    Fault::Cut,
];

/// Faults for a share of all requests, the same in every run for the same order of requests.
#[derive(Debug, Default)]
pub struct FaultSchedule {
    seed: u64,
    percent: AtomicU64,
    requests: AtomicU64,
    met: AtomicU64,
}

impl FaultSchedule {
    /// A schedule in which this share of the requests meets a fault.
    pub fn new(percent: u64, seed: u64) -> Self {
        Self {
            seed,
            percent: AtomicU64::new(percent),
            ..Self::default()
        }
    }

    /// Ends it, and says how many requests met a fault.
    pub fn clear_up(&self) -> u64 {
        self.percent.store(0, Ordering::SeqCst);
        self.met.load(Ordering::SeqCst)
    }

    /// What happens to a request.
    pub fn decide(&self, seen: &Seen) -> Fault {
        let number = self.requests.fetch_add(1, Ordering::SeqCst);
        let percent = self.percent.load(Ordering::SeqCst);
        if percent == 0 || asks_what_is_served(seen) {
            return Fault::None;
        }
        let dice = mixed(self.seed, number);
        if dice % 100 >= percent {
            // Watches live long, so a share of their requests would say little: none of them lives longer than this.
            return if seen.is_watch() {
                Fault::Break(Duration::from_millis(300 + dice % 1500))
            } else {
                Fault::None
            };
        }
        self.met.fetch_add(1, Ordering::SeqCst);
        if seen.is_watch() && dice.is_multiple_of(2) {
            return Fault::Refuse(410);
        }
        let kind = usize::try_from(dice / 100 % 7).unwrap();
        let delay = Fault::Delay(Duration::from_millis(dice / 1000 % 80));
        KINDS.get(kind).cloned().unwrap_or(delay)
    }
}

/// Whether the request asks what kinds a group has. That is asked once, and its failure ends the process on purpose.
fn asks_what_is_served(seen: &Seen) -> bool {
    let resource = seen.resource();
    resource.starts_with("/apis/") && resource.split('/').count() == 4
}

impl<W: Workload> Campaign<W> {
    /// Plays the workload while this share of all requests fails, to the end; says how many did. Every step ends as the
    /// undisturbed one does, and the operator lives on.
    ///
    /// # Panics
    /// If it does not, or if fewer requests than `least` met a fault.
    pub async fn ends_the_same_through_faults(&self, percent: u64, seed: u64, least: u64) {
        let expected = self.undisturbed().await;
        let stage = self.prepared("faults").await;
        let schedule = Arc::new(FaultSchedule::new(percent, seed));
        let proxy = Proxy::start(stage.plane(), {
            let schedule = schedule.clone();
            move |seen: &Seen| schedule.decide(seen)
        })
        .await;
        let mut operator = stage.start(&proxy.kubeconfig());
        operator.as_mut().ready().await;
        let mark = Mark::now(stage.plane().audit_log());
        for (&step, end) in self.workload.steps().iter().zip(expected) {
            self.workload.change(step, &stage).await;
            self.ended(step, &mark, &stage, &end.state).await;
        }
        let met = schedule.clear_up();
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(operator.as_mut().is_running(), "a fault ended the operator");
        self.workload.check_writes(&mark, &stage);
        println!("{met} requests met a fault");
        assert!(met >= least, "only {met} requests met a fault");
    }
}
