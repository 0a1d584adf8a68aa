//! A way to the API server on which the process dies after each of its writes, before it hears the answer. The cluster
//! after a write is the cluster before the next one, so these are all the moments that a crash can leave behind.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use mainstay_testkit::{
    Plane,
    fault::{Fault, Seen},
    operator::http_get,
    proxy::Proxy,
    wait::eventually,
};

use super::stage::RunningOperator;
use crate::kaoto::crashes::{KillAtWrite, Moment};

/// More lives than any story has writes.
const MOST_LIVES: u32 = 300;

pub(super) struct CrashPoint {
    kill_at_write: Arc<KillAtWrite>,
    struck: Arc<AtomicBool>,
    proxy: Proxy,
}

impl CrashPoint {
    pub(super) async fn start(plane: &Plane) -> Self {
        let kill_at_write = Arc::new(KillAtWrite::default());
        let struck = Arc::new(AtomicBool::new(false));
        let proxy = Proxy::start(plane, {
            let (kill_at_write, struck) = (kill_at_write.clone(), struck.clone());
            move |seen: &Seen| {
                // An event that is lost is lost.
                if !seen.is_write() || seen.resource().ends_with("/events") {
                    return Fault::None;
                }
                // What else was on its way dies with the process.
                if struck.swap(true, Ordering::SeqCst) {
                    return Fault::Drop;
                }
                kill_at_write.decide(seen, Moment::After)
            }
        })
        .await;
        Self {
            kill_at_write,
            struck,
            proxy,
        }
    }

    fn await_first_write(&self, operator: &RunningOperator) {
        self.struck.store(false, Ordering::SeqCst);
        self.kill_at_write.arm(operator.process.id(), 0);
    }

    /// Starts an operator, lets users do something, and brings it back to life until the end comes. Says how often.
    pub(super) async fn lives<End: Future<Output = ()>>(
        &self,
        change: impl Future<Output = ()>,
        end: impl Fn() -> End,
    ) -> u32 {
        let mut operator = RunningOperator::start(&self.proxy.kubeconfig(), &[]).await;
        self.await_first_write(&operator);
        change.await;
        let mut lives = 0;
        let mut coming = Box::pin(end_after_start(&operator, end()));
        loop {
            tokio::select! {
                () = &mut coming => if !self.struck.load(Ordering::SeqCst) {
                    return lives;
                },
                _ = operator.process.ended() => {}
            }
            // It may also have died of the write that brought the end about, and more of them may have died with it.
            operator.process.ended().await;
            lives += 1;
            let log = || operator.process.log();
            assert!(lives < MOST_LIVES, "no end in sight: {}", log());
            operator = RunningOperator::begin(&self.proxy.kubeconfig(), &[]);
            self.await_first_write(&operator);
            coming = Box::pin(end_after_start(&operator, end()));
        }
    }
}

/// The end in the life of an operator: one that has not looked around yet may still find something to write.
fn end_after_start<End: Future<Output = ()>>(
    operator: &RunningOperator,
    end: End,
) -> impl Future<Output = ()> + use<End> {
    let probe = operator.process.probe().to_owned();
    async move {
        eventually("the operator is ready", || async {
            (http_get(&probe, "/readyz").await? == 200).then_some(())
        })
        .await;
        end.await;
    }
}
