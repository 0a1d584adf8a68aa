//! Silence: what is done causes no request, what others do beside it neither, and a restart writes nothing.

use std::time::Duration;

use super::{Campaign, Stage, Workload};
use crate::audit::Mark;

/// How long nothing may be sent at the end.
const REST: Duration = Duration::from_secs(3);

impl<W: Workload> Campaign<W> {
    /// Plays the workload and looks at what is sent when all is done: nothing, whatever others do; and nothing but reads
    /// when an operator starts anew.
    ///
    /// # Panics
    /// If there is more.
    pub async fn is_quiet_when_done(&self) {
        let (stage, mut first) = self.operated("quiet").await;
        let log = || stage.plane().audit_log();
        let mark = Mark::now(log());
        for &step in self.workload.steps() {
            self.workload.change(step, &stage).await;
            self.workload.ended(step, &stage).await;
        }
        self.rest(&mark, &stage).await;

        for number in 0.. {
            let mark = Mark::now(log());
            let Some(what) = self.workload.touch(number, &stage).await else {
                break;
            };
            assert_eq!(mark.settled_about(stage.about()).await, [], "{what}");
        }

        let mark = Mark::now(log());
        first.as_mut().terminate().await;
        drop(first);
        let mut second = stage.start(&stage.plane().kubeconfig());
        second.as_mut().ready().await;
        self.workload
            .check_restart(&mark.settled_about(stage.about()).await);

        let mark = Mark::now(log());
        tokio::time::sleep(REST).await;
        assert_eq!(mark.settled_about(stage.about()).await, [], "at rest");
    }
}
