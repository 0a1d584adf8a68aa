//! Commit: carries a [`Plan`] out as a step function.
//!
//! `step(state, event) -> (state, requests)`. The cluster crate sends what this asks for and feeds the
//! answers back; the model in `tests/commit_model.rs` does the same with every order of answers,
//! losses, crashes and foreign writers. So what runs in production is what was explored.
//!
//! Rules that hold for every request sent here:
//! - a create is refused by the API server if the object exists in any form;
//! - an update or a delete names uid and resource version of the object that was judged to be ours;
//! - after a lost answer or a conflict the object is read and judged again before anything is sent;
//! - fields that were rendered from facts of the object are not sent once these facts have changed.

mod judge;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use self::judge::{
    BUSY, DELETING, History, Next, after_absent, after_present, after_root, calm, failed,
    judge_seen, pause,
};
use crate::{
    change_set::{Change, ChangeSet, Contest, Failure, ObjectChange},
    key::Kind,
    live::LiveObject,
    plan::{Action, DesiredState, Fixup, Plan, Step, Stops},
};

/// Bounds of one commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests in flight at the same time.
    pub in_flight: usize,
    /// Requests per object before the reconcile gives up on it.
    pub attempts: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            in_flight: 8,
            attempts: 10,
        }
    }
}

/// What to send for a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Apply with a guard that fails if the object exists.
    Create,
    /// Apply with uid and resource version as guards.
    Update {
        /// The object that was judged.
        uid: String,
        /// In the state in which it was judged: its owner references may have changed since.
        resource_version: String,
    },
    /// Put something right, with uid and resource version as guards.
    Fixup {
        /// The object that was judged.
        uid: String,
        /// In the state in which it was judged.
        resource_version: String,
        /// What is put right.
        fixup: Fixup,
    },
    /// Read the object.
    Read,
    /// Delete with both preconditions.
    Delete {
        /// The object that was judged.
        uid: String,
        /// In the state in which it was judged.
        resource_version: String,
    },
    /// Set the finalizers of the root, guarded by its resource version.
    PatchFinalizers {
        /// State of the root that was judged.
        resource_version: String,
    },
    /// Patch the status of the root, guarded by its resource version.
    PatchStatus {
        /// State of the root that was judged.
        resource_version: String,
    },
}

/// A request to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Position of the step in the plan.
    pub step: usize,
    /// Pause before sending.
    pub after: Duration,
    /// What to send.
    pub operation: Operation,
}

/// What came back.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Create, update or finalizer patch was accepted.
    Applied(Arc<LiveObject>),
    /// Delete was accepted, and the object is gone.
    Deleted,
    /// Delete was accepted, and somebody has to do something before the object goes.
    Deleting,
    /// Result of a read.
    Seen(Option<Arc<LiveObject>>),
    /// A guard failed: the object exists, is another one, or has changed.
    Conflict,
    /// The object does not exist (or its namespace does not).
    NotFound,
    /// The API does not know the kind.
    NotServed,
    /// The change touches a field that cannot be changed.
    Immutable {
        /// Text of the API server.
        message: String,
    },
    /// The API refuses and will refuse again.
    Refused {
        /// Text of the API server.
        message: String,
    },
    /// Network, lost answer: nothing is known to have happened, or nothing did.
    Transient {
        /// What happened.
        message: String,
    },
    /// The API asks to come back later.
    Later {
        /// Text of the API server.
        message: String,
        /// Not before this time has passed.
        after: Duration,
    },
    /// The API server failed and said why. Once that may be an accident.
    ServerError {
        /// Text of the API server.
        message: String,
    },
    /// What the body was made from no longer holds, so it was not sent.
    Outdated,
    /// Somebody else changes the object back each time, so the body was not sent.
    Contested(Contest),
}

impl Answer {
    /// What the API server or the network said about a request that came to nothing.
    fn words(&self) -> Option<&str> {
        match self {
            Self::Transient { message }
            | Self::Later { message, .. }
            | Self::ServerError { message } => Some(message),
            _ => None,
        }
    }
}

/// Input of the step function.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// Begin.
    Start,
    /// An answer to the outstanding request of a step.
    Answered {
        /// Position of the step.
        step: usize,
        /// The answer.
        answer: Answer,
    },
    /// Time is up or leadership is lost: nothing more is sent.
    Stop {
        /// Why.
        message: String,
    },
}

#[derive(Clone, Debug, PartialEq)]
enum State {
    Pending,
    Sent(Operation),
    Ended(Change),
}

#[derive(Clone, Debug, PartialEq)]
struct Task {
    state: State,
    attempts: u32,
    history: History,
    /// What was said last about a request that came to nothing, unless somebody else was faster since.
    words: Option<String>,
}

/// State of a commit.
#[derive(Clone, Debug)]
pub struct Commit {
    plan: Arc<Plan>,
    limits: Limits,
    tasks: Vec<Task>,
}

impl Commit {
    /// A commit that has not started.
    pub fn new(plan: Arc<Plan>, limits: Limits) -> Self {
        let tasks = plan.steps.iter().map(|step| Task {
            state: initial(&step.action),
            attempts: 0,
            history: History::default(),
            words: None,
        });
        Self {
            tasks: tasks.collect(),
            plan,
            limits,
        }
    }

    /// The step function.
    #[must_use]
    pub fn step(mut self, input: Input) -> (Self, Vec<Request>) {
        let mut requests = Vec::new();
        match input {
            Input::Start => {}
            Input::Stop { message } => self.stop(&message),
            Input::Answered { step, answer } => requests.extend(self.answered(step, answer)),
        }
        self.release(&mut requests);
        (self, requests)
    }

    /// Whether every step has ended.
    pub fn is_finished(&self) -> bool {
        self.tasks
            .iter()
            .all(|task| matches!(task.state, State::Ended(_)))
    }

    /// What became of every step so far; unfinished steps count as skipped.
    pub fn changes(&self) -> ChangeSet {
        let rows = self
            .plan
            .steps
            .iter()
            .zip(&self.tasks)
            .map(|(step, task)| ObjectChange {
                key: step.key.clone(),
                unit: step.unit,
                planned: step.action.planned(),
                change: match &task.state {
                    State::Ended(change) => change.clone(),
                    State::Pending | State::Sent(_) => Change::Skipped,
                },
            });
        ChangeSet {
            rows: rows.collect(),
        }
    }

    /// The plan that is carried out.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    fn stop(&mut self, message: &str) {
        for task in &mut self.tasks {
            if !matches!(task.state, State::Ended(_)) {
                task.state = State::Ended(failed(message));
            }
        }
    }

    fn answered(&mut self, position: usize, answer: Answer) -> Option<Request> {
        let step = self.plan.steps.get(position)?;
        let task = self.tasks.get_mut(position)?;
        // An answer that arrives after the stop changes nothing; the next reconcile observes what it did.
        let State::Sent(sent) = &task.state else {
            return None;
        };
        let words = answer.words().map(str::to_owned);
        let is_repeated = matches!(answer, Answer::ServerError { .. }) && words == task.words;
        if words.is_some() || answer == Answer::Conflict {
            task.words = words;
        }
        if let Some(message) = task.words.as_ref().filter(|_| is_repeated) {
            task.state = State::Ended(failed(message));
            return None;
        }
        let next = match &step.desired {
            DesiredState::Present { body, options } => match answer {
                Answer::Seen(Some(live)) => judge_seen(step, body, *options, live, task.history),
                Answer::Applied(live) if matches!(sent, Operation::Fixup { .. }) => {
                    task.history.unsure = true;
                    judge_seen(step, body, *options, live, task.history)
                }
                answer => after_present(step, *options, sent, answer),
            },
            DesiredState::Absent => after_absent(step, answer),
            DesiredState::Finalizers(finalizers) => after_root(finalizers.is_empty(), answer),
            DesiredState::Status(_) => after_root(false, answer),
        };
        let (operation, after) = match next {
            Next::End(change) => {
                task.state = State::Ended(change);
                return None;
            }
            Next::Recreate => {
                task.history.recreate = true;
                (Operation::Read, Duration::ZERO)
            }
            Next::Send(operation) => {
                let after = calm(&operation, task.attempts);
                (operation, after)
            }
            Next::Retry(operation, after) => {
                task.history.unsure |= *sent != Operation::Read;
                (operation, pause(task.attempts).max(after))
            }
        };
        if task.attempts >= self.limits.attempts {
            let words = task.words.as_deref().unwrap_or(BUSY);
            task.state = State::Ended(failed(words));
            return None;
        }
        Some(send(task, position, operation, after))
    }

    /// Sends pending steps of the current stage, as far as there is room.
    fn release(&mut self, requests: &mut Vec<Request>) {
        loop {
            let current = self
                .stages()
                .find(|(_, task)| !matches!(task.state, State::Ended(_)))
                .map(|(step, _)| step.stage);
            let Some(current) = current else { return };
            let before = self.before(current);
            let mut in_flight = self
                .tasks
                .iter()
                .filter(|task| matches!(task.state, State::Sent(_)))
                .count();
            let unwell: Vec<bool> = self.tasks.iter().map(Task::is_unwell).collect();
            let is_unwell = |position: &usize| unwell.get(*position) == Some(&true);
            let root_version = self.root_version();
            let mut skipped = false;
            for (position, (step, task)) in self.plan.steps.iter().zip(&mut self.tasks).enumerate()
            {
                if step.stage != current || !matches!(task.state, State::Pending) {
                    continue;
                }
                let lacks = step.needs.iter().any(is_unwell);
                let waits = step.cautious && before.keeps_from_removal(step);
                if lacks || waits || before.stops {
                    task.state = State::Ended(Change::Skipped);
                    skipped = true;
                } else if in_flight < self.limits.in_flight {
                    requests.push(send(
                        task,
                        position,
                        operation_of(&step.action, root_version.as_deref()),
                        Duration::ZERO,
                    ));
                    in_flight += 1;
                }
            }
            if !skipped {
                return;
            }
        }
    }

    fn stages(&self) -> impl Iterator<Item = (&Step, &Task)> {
        self.plan.steps.iter().zip(&self.tasks)
    }

    /// What the stages before one have come to.
    fn before(&self, stage: u16) -> Before {
        let mut before = Before::default();
        for (step, task) in self.stages().filter(|(step, _)| step.stage < stage) {
            if task.is_unwell() {
                before.missing.insert(step.key.kind.clone());
            }
            let State::Ended(change) = &task.state else {
                continue;
            };
            let failure = match change {
                Change::Failed(failure) => Some(failure),
                _ => None,
            };
            let may_pass = failure.is_some_and(|failure| !failure.is_refusal());
            before.failed |= may_pass;
            before.stops |= match step.stops {
                Stops::Nothing => false,
                Stops::LaterUnlessRefused => may_pass,
                Stops::Later => failure.is_some(),
                Stops::After(last) => failure.is_some() && stage > last,
                Stops::UntilGone => !matches!(change, Change::Deleted | Change::Unchanged(None)),
                Stops::Always => true,
            };
        }
        before
    }

    /// The version that a step of this commit has given the root, which guards the next one.
    fn root_version(&self) -> Option<String> {
        let of_root = self.stages().filter_map(|(step, task)| match &task.state {
            State::Ended(Change::Configured(live)) if step.is_of_root() => Some(live),
            _ => None,
        });
        of_root.last().map(|live| live.resource_version.clone())
    }
}

/// What the stages before one have come to. What was skipped there needed something that failed, which tells as much.
#[derive(Default)]
struct Before {
    /// A failure stops everything after it.
    stops: bool,
    /// Something failed that may work the next time.
    failed: bool,
    /// Kinds of objects that are not there as they are wanted.
    missing: BTreeSet<Kind>,
}

impl Before {
    /// Whether the successor of an object that is to go may be missing. A successor is of the same kind, as far as
    /// anybody can tell.
    fn keeps_from_removal(&self, step: &Step) -> bool {
        let kind = &step.key.kind;
        self.failed || self.missing.iter().any(|missing| missing.is_like(kind))
    }
}

impl Task {
    fn is_unwell(&self) -> bool {
        matches!(
            self.state,
            State::Ended(Change::Failed(_) | Change::Skipped)
        )
    }
}

fn initial(action: &Action) -> State {
    match action {
        // Nothing can be done for it yet, and what comes after must not count on it.
        Action::Unchanged(Some(live)) if live.deleting => State::Ended(failed(DELETING)),
        Action::Unchanged(live) => State::Ended(Change::Unchanged(live.clone())),
        Action::Deleting => State::Ended(Change::Deleting),
        Action::Foreign { holder } => State::Ended(Change::Failed(Failure::Foreign {
            holder: holder.clone(),
        })),
        Action::Refused { message } => State::Ended(Change::Failed(Failure::Refused {
            message: message.clone(),
        })),
        _ => State::Pending,
    }
}

fn operation_of(action: &Action, root_version: Option<&str>) -> Operation {
    let newest = |judged: &String| root_version.map_or_else(|| judged.clone(), str::to_owned);
    match action {
        Action::Create => Operation::Create,
        Action::Update {
            uid,
            resource_version,
        } => Operation::Update {
            uid: uid.clone(),
            resource_version: resource_version.clone(),
        },
        Action::Fixup {
            uid,
            resource_version,
            fixup,
        } => Operation::Fixup {
            uid: uid.clone(),
            resource_version: resource_version.clone(),
            fixup: fixup.clone(),
        },
        Action::Delete {
            uid,
            resource_version,
        } => Operation::Delete {
            uid: uid.clone(),
            resource_version: resource_version.clone(),
        },
        Action::PatchFinalizers { resource_version } => Operation::PatchFinalizers {
            resource_version: newest(resource_version),
        },
        Action::PatchStatus { resource_version } => Operation::PatchStatus {
            resource_version: newest(resource_version),
        },
        // These end before they are sent; reading is the harmless answer should that ever change.
        Action::Unchanged(_)
        | Action::Foreign { .. }
        | Action::Refused { .. }
        | Action::Deleting
        | Action::DeleteIfOurs
        | Action::DeleteIfPresent => Operation::Read,
    }
}

fn send(task: &mut Task, step: usize, operation: Operation, after: Duration) -> Request {
    task.attempts += 1;
    task.state = State::Sent(operation.clone());
    Request {
        step,
        after,
        operation,
    }
}

#[cfg(test)]
mod tests;
