//! Campaigns: what users do with a system, once undisturbed and then through crashes, through faults, and looked at when
//! all is done. The end is the same each time.
//!
//! A system says with a [`Workload`] what is done and what the end is; the campaigns are the same for all.

pub mod crash;
pub mod faults;
mod quiet;

use std::{
    collections::BTreeSet,
    fmt::Debug,
    future::Future,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::Value;
use tokio::sync::OnceCell;

use crate::{
    Operator, Plane,
    audit::{Entry, Mark},
};

/// How long an end may take to become the expected one.
const PATIENCE: Duration = Duration::from_mins(2);

/// A place of its own for one run of a workload.
pub trait Stage {
    /// The operator as a process, with whatever it needs as long as it runs.
    type Process: AsMut<Operator>;

    /// The plane.
    fn plane(&self) -> &Plane;

    /// A text in every line of the audit log about this place and about no other.
    fn about(&self) -> &str;

    /// Starts an operator that knows the cluster by this kubeconfig; it need not be ready yet.
    fn start(&self, kubeconfig: &Path) -> Self::Process;
}

/// What users do with a system, and how they see that it is done.
pub trait Workload {
    /// Where it plays.
    type Stage: Stage;
    /// A step of it.
    type Step: Copy + Debug;

    /// The steps, one after the other.
    fn steps(&self) -> &[Self::Step];

    /// A fresh stage without an operator. Its name begins with this word.
    fn stage(&self, word: &str) -> impl Future<Output = Self::Stage>;

    /// Brings about what the first step starts from, undisturbed, and leaves no operator behind.
    fn prepare(&self, _stage: &Self::Stage) -> impl Future<Output = ()> {
        async {}
    }

    /// Users change something.
    fn change(&self, step: Self::Step, stage: &Self::Stage) -> impl Future<Output = ()>;

    /// Waits until all of it has come true.
    fn ended(&self, step: Self::Step, stage: &Self::Stage) -> impl Future<Output = ()>;

    /// What is there, without what differs from run to run: an object whose fields are compared one by one. `None` as
    /// long as something is under way.
    fn state(&self, stage: &Self::Stage) -> impl Future<Output = Option<Value>>;

    /// Checks what was written on the way.
    fn check_writes(&self, _mark: &Mark, _stage: &Self::Stage) {}

    /// What others may do to a finished workload without causing a single request: does the n-th of these things and
    /// says what it was.
    fn touch(
        &self,
        _number: usize,
        _stage: &Self::Stage,
    ) -> impl Future<Output = Option<&'static str>> {
        async { None }
    }

    /// Checks what an operator sends that starts when all is done.
    fn check_restart(&self, sent: &[Entry]) {
        let writes: Vec<&Entry> = sent.iter().filter(|entry| entry.is_write()).collect();
        assert!(writes.is_empty(), "a restart: {writes:?}");
    }
}

/// The campaigns of a workload. They share the ends of the undisturbed run.
pub struct Campaign<W> {
    /// The workload.
    pub workload: W,
    undisturbed: OnceCell<Vec<End>>,
}

/// What a step comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// What is there.
    pub state: Value,
    /// The writes that were carried out in this step, sorted.
    pub writes: Vec<String>,
}

impl<W: Debug> Debug for Campaign<W> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("Campaign")
            .field(&self.workload)
            .finish()
    }
}

impl<W: Workload> Campaign<W> {
    /// Campaigns of this workload.
    pub const fn new(workload: W) -> Self {
        Self {
            workload,
            undisturbed: OnceCell::const_new(),
        }
    }

    /// The ends of the steps when nothing is in the way.
    pub async fn undisturbed(&self) -> &[End] {
        let ends = self.undisturbed.get_or_init(|| async {
            let (stage, _operator) = self.operated("calm").await;
            let begun = Mark::now(stage.plane().audit_log());
            let mut ends = Vec::new();
            for &step in self.workload.steps() {
                let mark = Mark::now(stage.plane().audit_log());
                self.workload.change(step, &stage).await;
                self.workload.ended(step, &stage).await;
                let state = self.rest(&mark, &stage).await;
                let writes = carried_out(&mark, &stage);
                ends.push(End { state, writes });
            }
            self.workload.check_writes(&begun, &stage);
            ends
        });
        ends.await
    }

    /// A prepared stage with an operator that is ready and undisturbed.
    async fn operated(&self, word: &str) -> (W::Stage, <W::Stage as Stage>::Process) {
        let stage = self.prepared(word).await;
        let mut operator = stage.start(&stage.plane().kubeconfig());
        operator.as_mut().ready().await;
        (stage, operator)
    }

    /// A stage from which the first step can start, with an audit log that has told of everything before.
    async fn prepared(&self, word: &str) -> W::Stage {
        let stage = self.workload.stage(word).await;
        self.workload.prepare(&stage).await;
        Mark::now(stage.plane().audit_log())
            .settled_about(stage.about())
            .await;
        stage
    }

    /// What there is when all has come to rest. Silence alone says little: an operator that met a fault waits before it
    /// tries again, and what is ready may wait once more for something else. So everything has to be done, and the same
    /// twice.
    async fn rest(&self, mark: &Mark, stage: &W::Stage) -> Value {
        let started = Instant::now();
        let mut before = None;
        loop {
            mark.settled_about(stage.about()).await;
            match self.workload.state(stage).await {
                Some(state) if before.as_ref() == Some(&state) => return state,
                state => before = state,
            }
            assert!(started.elapsed() < PATIENCE, "nothing comes to rest");
        }
    }

    /// Waits until a step has ended in this state.
    async fn ended(&self, step: W::Step, mark: &Mark, stage: &W::Stage, expected: &Value) {
        self.workload.ended(step, stage).await;
        let started = Instant::now();
        loop {
            let differences = differences(&self.rest(mark, stage).await, expected);
            if differences.is_empty() {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "{step:?}: {differences}");
        }
    }
}

/// Writes since a mark that the API server carried out, as sorted words that are the same on every stage. An event that
/// is lost is lost, so they do not count.
fn carried_out(mark: &Mark, stage: &impl Stage) -> Vec<String> {
    let entries = mark.matching("mainstay", stage.about()).into_iter();
    let written =
        entries.filter(|entry| entry.is_write() && entry.code < 300 && entry.resource != "events");
    let mut words: Vec<String> = written
        .map(|entry| format!("{} {} {}", entry.verb, entry.resource, entry.name))
        .map(|word| word.replace(stage.about(), "STAGE"))
        .collect();
    words.sort();
    words
}

/// What is not as expected, and nothing else: a whole end fills many screens.
fn differences(end: &Value, expected: &Value) -> String {
    let (end, expected) = (end.as_object().unwrap(), expected.as_object().unwrap());
    let keys: BTreeSet<&String> = end.keys().chain(expected.keys()).collect();
    let differing = keys
        .into_iter()
        .filter(|key| end.get(*key) != expected.get(*key))
        .map(|key| format!("{key}: {:?}, not {:?}", end.get(key), expected.get(key)));
    differing.collect::<Vec<String>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_differs_is_told() {
        let expected = json!({"same": 1, "two": 2, "three": 3});
        let end = json!({"same": 1, "two": 3, "four": 4});
        let told = differences(&end, &expected);
        assert!(!told.contains("same"), "{told}");
        for word in ["two", "three", "four"] {
            assert!(told.contains(word), "{told}");
        }
        assert_eq!(differences(&end, &end), "");
    }
}
