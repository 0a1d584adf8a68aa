use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::{
    key::{Kind, ObjectKey},
    live::Owner,
    options::{Options, Propagation},
    owned::Owned,
    plan::{Check, Claim, Stops},
};

mod order;
mod present;
mod removal;

const OURS: &str = "owner";

fn key(name: &str) -> ObjectKey {
    ObjectKey::new(Kind::new("", "v1", "ConfigMap"), "shop", name)
}

fn live(version: &str, owner: Option<&str>, value: &str) -> LiveObject {
    let owner = owner.map(|uid| Owner {
        group: String::new(),
        kind: "Thing".to_owned(),
        name: "other".to_owned(),
        uid: uid.to_owned(),
        controller: true,
    });
    LiveObject {
        key: key("a"),
        uid: "u".to_owned(),
        resource_version: version.to_owned(),
        deleting: false,
        owners: owner.into_iter().collect(),
        owned: Owned::Fields(BTreeMap::from([(
            "data".to_owned(),
            Owned::Whole(json!(value)),
        )])),
        marked: None,
        foreign_items: Vec::new(),
        migrated_managed_fields: None,
        facts: Value::Null,
    }
}

fn ours(version: &str, value: &str) -> Arc<LiveObject> {
    Arc::new(live(version, Some(OURS), value))
}

fn seen(object: &Arc<LiveObject>) -> Answer {
    Answer::Seen(Some(object.clone()))
}

fn lost() -> Answer {
    Answer::Transient {
        message: "connection reset".to_owned(),
    }
}

fn immutable() -> Answer {
    Answer::Immutable {
        message: "field is immutable".to_owned(),
    }
}

fn step(name: &str, stage: u16, desired: DesiredState, action: Action) -> Step {
    Step {
        key: key(name),
        unit: "unit",
        stage,
        desired,
        action,
        because: String::new(),
        changes: Vec::new(),
        claim: Claim::of_owner(OURS),
        propagation: Propagation::default(),
        check: Check::default(),
        facts: Value::Null,
        stops: Stops::Nothing,
        needs: Vec::new(),
        cautious: false,
    }
}

fn present(name: &str, stage: u16, options: Options, action: Action) -> Step {
    let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": "wanted"});
    step(name, stage, DesiredState::Present { body, options }, action)
}

fn create(name: &str, stage: u16) -> Step {
    present(name, stage, Options::DEFAULT, Action::Create)
}

fn update_action() -> Action {
    Action::Update {
        uid: "u".to_owned(),
        resource_version: "1".to_owned(),
    }
}

fn delete_action() -> Action {
    Action::Delete {
        uid: "u".to_owned(),
        resource_version: "1".to_owned(),
    }
}

fn finalizers(held: &[&str]) -> Step {
    let held = held.iter().map(|&name| name.to_owned()).collect();
    let resource_version = "7".to_owned();
    Step {
        stops: Stops::Later,
        ..step(
            "thing",
            0,
            DesiredState::Finalizers(held),
            Action::PatchFinalizers { resource_version },
        )
    }
}

/// A commit with the requests that are open.
struct Run {
    commit: Commit,
    open: Vec<Request>,
}

impl Run {
    fn new(limits: Limits, steps: impl IntoIterator<Item = Step>) -> Self {
        let plan = Plan {
            steps: steps.into_iter().collect(),
            events: Vec::new(),
        };
        let (commit, open) = Commit::new(Arc::new(plan), limits).step(Input::Start);
        Self { commit, open }
    }

    fn of(steps: impl IntoIterator<Item = Step>) -> Self {
        Self::new(Limits::default(), steps)
    }

    fn feed(&mut self, input: Input) {
        let requests;
        (self.commit, requests) = self.commit.clone().step(input);
        self.open.extend(requests);
    }

    fn answer(&mut self, step: usize, answer: Answer) {
        self.open.retain(|request| request.step != step);
        self.feed(Input::Answered { step, answer });
    }

    /// Answers the only step, again and again.
    fn after(mut self, answers: impl IntoIterator<Item = Answer>) -> Self {
        for answer in answers {
            self.answer(0, answer);
        }
        self
    }

    fn operations(&self) -> Vec<(usize, Operation)> {
        self.open
            .iter()
            .map(|request| (request.step, request.operation.clone()))
            .collect()
    }

    fn sends(&self, operation: Operation) {
        assert_eq!(self.operations(), [(0, operation)]);
    }

    fn changes(&self) -> Vec<Change> {
        self.commit
            .changes()
            .rows
            .into_iter()
            .map(|row| row.change)
            .collect()
    }

    fn ends(&self, change: Change) {
        assert!(
            self.commit.is_finished() && self.open.is_empty(),
            "still open: {:?}",
            self.open
        );
        assert_eq!(self.changes(), [change]);
    }
}

fn update_of(version: &str) -> Operation {
    Operation::Update {
        uid: "u".to_owned(),
        resource_version: version.to_owned(),
    }
}

fn delete_of(version: &str) -> Operation {
    Operation::Delete {
        uid: "u".to_owned(),
        resource_version: version.to_owned(),
    }
}

fn refused(message: &str) -> Change {
    Change::Failed(Failure::Refused {
        message: message.to_owned(),
    })
}
