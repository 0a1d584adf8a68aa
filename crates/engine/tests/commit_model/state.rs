//! A state of the model: the world, the reconcile that runs in it, and the writes still under way.

use std::sync::Arc;

use mainstay_engine::{
    change_set::Change,
    commit::{Answer, Commit, Limits, Operation, Request},
    plan::{DesiredState, Plan},
};

use super::{
    objects, rules,
    scenario::{Budget, Defect, Scenario},
    world::{Object, RootObject, Target, View, World, Write},
};

/// How a step of a commit stands, as told by its change set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Sent and not answered.
    Open,
    Well,
    /// Deleted, but not gone.
    Going,
    /// Skipped, or not begun.
    Skipped,
    Failed,
    /// Failed, and will fail again.
    Refused,
}

/// What the model remembers of a step. Together with plan and view it determines the commit.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) sent: Option<Operation>,
    pub(crate) attempts: u8,
    /// Kinds of operations sent and answers received, one bit each.
    history: u16,
    pub(crate) standing: Standing,
}

/// A running reconcile.
#[derive(Clone, Debug)]
pub(crate) struct Pass {
    pub(crate) commit: Commit,
    /// The honest plan, by which the commit is judged.
    pub(crate) plan: Arc<Plan>,
    pub(crate) limits: Limits,
    pub(crate) observed: View,
    pub(crate) tasks: Vec<Task>,
}

impl Pass {
    pub(crate) fn new(scenario: &Scenario, observed: View) -> Self {
        let (plan, executed) = scenario.plans(&observed);
        let mut limits = scenario.limits;
        if scenario.defect == Some(Defect::SendsTooMany) {
            limits.in_flight += 1;
        }
        let task = Task {
            sent: None,
            attempts: 0,
            history: 0,
            standing: Standing::Skipped,
        };
        Self {
            commit: Commit::new(executed, limits),
            tasks: vec![task; plan.steps.len()],
            limits: scenario.limits,
            plan,
            observed,
        }
    }

    /// Steps whose request is under way.
    pub(crate) fn open(&self) -> impl Iterator<Item = usize> {
        let tasks = self.tasks.iter().enumerate();
        tasks
            .filter(|(_, task)| task.sent.is_some())
            .map(|(step, _)| step)
    }

    pub(crate) fn target(&self, step: usize) -> Target {
        objects::place_of(&self.plan.steps[step].key).map_or(Target::Root, Target::Object)
    }

    /// The write that a step has under way; `None` if it reads.
    pub(crate) fn write(&self, step: usize) -> Option<Write> {
        let finalizer = matches!(&self.plan.steps[step].desired, DesiredState::Finalizers(held) if !held.is_empty());
        let inventory = match &self.plan.steps[step].desired {
            DesiredState::Status(status) => status["inventory"].as_u64().unwrap_or_default(),
            _ => 0,
        };
        let inventory = u8::try_from(inventory).expect("there are three places");
        Write::of(self.tasks[step].sent.as_ref()?, finalizer, inventory)
    }

    pub(crate) fn note_answer(&mut self, step: usize, answer: &Answer) {
        let task = &mut self.tasks[step];
        task.sent = None;
        // What the server said counts until something else is said.
        if matches!(answer, Answer::Conflict | Answer::Transient { .. }) {
            task.history &= !BROKEN;
        }
        task.history |= answer_bit(answer);
    }

    /// Takes over what the step function returned, and judges it.
    pub(crate) fn absorb(&mut self, world: &World, requests: Vec<Request>) -> Result<(), String> {
        let rows = self.commit.changes().rows;
        for ((task, row), step) in self.tasks.iter_mut().zip(rows).zip(&self.plan.steps) {
            let standing = match &row.change {
                _ if task.sent.is_some() => Standing::Open,
                Change::Failed(failure) if failure.is_refusal() => Standing::Refused,
                Change::Failed(_) => Standing::Failed,
                Change::Skipped => Standing::Skipped,
                Change::Deleting => Standing::Going,
                _ => Standing::Well,
            };
            if standing == Standing::Well && task.standing != Standing::Well {
                rules::judge_gone(step, &row.change, world)?;
                let may_have_written = task.history & (APPLIED | DELETED | TRANSIENT) != 0;
                rules::judge_claim(step, &row.change, may_have_written)?;
            }
            task.standing = standing;
        }
        for request in requests {
            rules::judge_request(self, world, &request)?;
            let task = &mut self.tasks[request.step];
            task.attempts += 1;
            task.history |= operation_bit(&request.operation);
            task.sent = Some(request.operation);
            task.standing = Standing::Open;
        }
        if !self.commit.is_finished() && self.open().next().is_none() {
            return Err("the commit waits for nothing and has not finished".to_owned());
        }
        Ok(())
    }
}

/// Answers after which our write may have changed the object.
const APPLIED: u16 = 1 << 5;
const DELETED: u16 = 1 << 6;
const TRANSIENT: u16 = 1 << 12;
const BROKEN: u16 = 1 << 13;

fn operation_bit(operation: &Operation) -> u16 {
    1 << match operation {
        Operation::Create => 0,
        Operation::Update { .. } | Operation::Fixup { .. } => 1,
        Operation::Read => 2,
        Operation::Delete { .. } => 3,
        Operation::PatchFinalizers { .. } | Operation::PatchStatus { .. } => 4,
    }
}

fn answer_bit(answer: &Answer) -> u16 {
    match answer {
        Answer::Applied(_) => APPLIED,
        Answer::Deleted | Answer::Deleting => DELETED,
        Answer::Seen(_) => 1 << 7,
        Answer::Conflict => 1 << 8,
        Answer::NotFound => 1 << 9,
        Answer::Immutable { .. } => 1 << 10,
        Answer::Refused { .. } | Answer::NotServed => 1 << 11,
        Answer::Transient { .. } | Answer::Later { .. } => TRANSIENT,
        Answer::ServerError { .. } => TRANSIENT | BROKEN,
        Answer::Outdated => 1 << 14,
        Answer::Contested(_) => 1 << 15,
    }
}

/// Everything that decides what can happen next.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) world: World,
    pub(crate) pass: Option<Pass>,
    /// Writes that nobody waits for any more: they may take effect at any time, or never.
    pub(crate) ghosts: Vec<(Target, Write)>,
    pub(crate) budget: Budget,
    /// Writes so far and at the end; counted in quiet scenarios only.
    pub(crate) writes: u8,
    pub(crate) expected_writes: u8,
}

impl State {
    pub(crate) fn initial(scenario: &Scenario, view: View) -> Self {
        Self {
            world: World::new(view),
            pass: None,
            ghosts: Vec::new(),
            budget: scenario.budget,
            writes: 0,
            expected_writes: rules::expected_writes(scenario, &view),
        }
    }

    /// Forgets what cannot matter any more, so that equal futures are equal states.
    pub(crate) fn settle(&mut self, scenario: &Scenario) {
        if self
            .pass
            .as_ref()
            .is_some_and(|pass| pass.commit.is_finished())
            && let Some(pass) = self.pass.take()
            && scenario.manner.inventory
        {
            self.report(&pass);
        }
        let world = self.world;
        self.ghosts
            .retain(|&(target, write)| world.could_land(target, write, scenario.broken));
        self.ghosts.sort_unstable();
        self.ghosts.dedup();
        if self.budget.lags == 0 {
            self.world.before = self.world.now;
        }
    }

    /// The end of a reconcile: its status names no place any more from which something is gone. A root that was changed
    /// meanwhile is left to the next reconcile.
    fn report(&mut self, pass: &Pass) {
        let rows = pass.commit.changes().rows;
        let mut known = pass.observed.root.map(|root| root.version.to_string());
        let mut gone = 0;
        for row in &rows {
            match (objects::place_of(&row.key), &row.change) {
                (None, Change::Configured(live)) => known = Some(live.resource_version.clone()),
                (Some(place), Change::Deleted | Change::Unchanged(None)) => gone |= 1 << place,
                _ => {}
            }
        }
        let Some(root) = self.world.now.root else {
            return;
        };
        if known == Some(root.version.to_string()) && root.inventory & gone != 0 {
            self.world.change_root(|root| root.inventory &= !gone);
        }
    }

    /// The state in few bytes, with uids and versions named in the order in which they appear: they
    /// are only ever compared for equality, so states that differ in their numbers alone are one.
    pub(crate) fn encode(&self) -> Box<[u8]> {
        let mut writer = Encoder::default();
        let budget = self.budget;
        writer.bytes.extend([
            budget.crashes,
            budget.losses,
            budget.lags,
            budget.intrusions,
            budget.deletions,
        ]);
        writer.bytes.extend([self.writes, self.expected_writes]);
        writer.view(&self.world.now);
        if budget.lags > 0 {
            writer.view(&self.world.before);
        }
        writer
            .bytes
            .push(u8::try_from(self.ghosts.len()).expect("few writes are under way"));
        for &(target, write) in &self.ghosts {
            writer.bytes.push(match target {
                Target::Object(place) => u8::try_from(place).expect("there are three places"),
                Target::Root => u8::MAX,
            });
            writer.write(write);
        }
        if let Some(pass) = &self.pass {
            writer.view(&pass.observed);
            for (step, task) in pass.tasks.iter().enumerate() {
                writer.bytes.extend([task.attempts, task.standing as u8]);
                writer.bytes.extend(task.history.to_le_bytes());
                match pass.write(step) {
                    Some(write) => writer.write(write),
                    None => writer.bytes.push(u8::from(task.sent.is_some())),
                }
            }
        }
        writer.bytes.into_boxed_slice()
    }
}

#[derive(Default)]
struct Encoder {
    bytes: Vec<u8>,
    numbers: Vec<u16>,
}

impl Encoder {
    fn number(&mut self, number: u16) {
        let known = self.numbers.iter().position(|&other| other == number);
        let name = known.unwrap_or_else(|| {
            self.numbers.push(number);
            self.numbers.len() - 1
        });
        self.bytes
            .push(u8::try_from(name).expect("few numbers are remembered at a time"));
    }

    fn view(&mut self, view: &View) {
        for object in &view.objects {
            self.object(object.as_ref());
        }
        match view.root {
            None => self.bytes.push(0),
            Some(RootObject {
                version,
                finalizer,
                deleting,
                inventory,
            }) => {
                self.bytes
                    .push(1 | u8::from(finalizer) << 1 | u8::from(deleting) << 2 | inventory << 3);
                self.number(version);
            }
        }
    }

    fn object(&mut self, object: Option<&Object>) {
        let Some(object) = object else {
            return self.bytes.push(0);
        };
        let flags = u8::from(object.deleting)
            | u8::from(object.scaled) << 1
            | u8::from(object.established) << 2;
        // Never 0, which says that there is none.
        self.bytes.extend([
            1 | (object.holder as u8) << 1 | (object.content as u8) << 4,
            flags,
        ]);
        self.number(object.uid);
        self.number(object.version);
    }

    fn write(&mut self, write: Write) {
        match write {
            Write::Create => self.bytes.push(10),
            Write::Update { uid, version } => {
                self.bytes.push(11);
                self.number(uid);
                self.number(version);
            }
            Write::Fixup { uid, version } => {
                self.bytes.push(15);
                self.number(uid);
                self.number(version);
            }
            Write::Delete { uid, version } => {
                self.bytes.push(12);
                self.number(uid);
                self.number(version);
            }
            Write::Record { version, inventory } => {
                self.bytes.extend([16, inventory]);
                self.number(version);
            }
            Write::SetFinalizer { version, finalizer } => {
                self.bytes.push(13 + u8::from(finalizer));
                self.number(version);
            }
        }
    }
}
