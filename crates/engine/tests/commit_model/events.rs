//! What can happen next in a state.
//!
//! A request takes effect and is answered in one event. Nothing is lost by that: an answer that
//! travels for a while only delays the requests that follow from it, and these may take effect at any
//! later time anyway; an answer that never arrives is [`Event::Lose`], and its write may then land at
//! once, later or never.

use mainstay_engine::commit::{Answer, Input};

use super::{
    objects, rules,
    scenario::{Budget, Scenario, Slot, Wanted},
    state::{Pass, State},
    world::{Content, Holder, Promise, Reply, Target, Write},
};

/// What another writer does to one of our places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intrusion {
    Create,
    Delete,
    Replace,
    Edit,
    StripOwner,
    /// Puts an item into a list of ours.
    Insert,
    /// Changes what bodies are rendered from.
    Scale,
    /// Takes the hash away by which an object is judged.
    TakeHash,
    /// Takes the mark away, and the owner with it.
    TakeMark,
}

/// One event of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A new pass observes, plans and begins; its view lags on the places with a bit set.
    Pass { lagging: u8 },
    /// The open request of a step takes effect and is answered.
    Answer { step: usize },
    /// The open request of a step is answered by an error that says nothing about its effect.
    Lose { step: usize },
    /// A write that nobody waits for takes effect.
    Land { ghost: usize },
    /// The operator dies; what it has sent may still arrive.
    Crash,
    /// The reconcile is stopped; answers that come later are fed to it all the same.
    Stop,
    /// Another writer acts on a place.
    Intrude { place: usize, act: Intrusion },
    /// Another writer changes the root.
    TouchRoot,
    /// The user deletes the root.
    DeleteRoot,
    /// The last finalizer of a deleted object goes, and the object with it.
    Release { place: usize },
    /// Somebody else does what later stages wait for.
    Establish { place: usize },
    /// The garbage collector removes an object whose owner is gone.
    Collect { place: usize },
}

/// The events that can happen next; `true` marks those of a calm run, in which nothing goes wrong,
/// nobody interferes, and a reconcile starts when the server has come to rest.
pub(crate) fn possible(state: &State, scenario: &Scenario) -> Vec<(Event, bool)> {
    let mut events = background(state, scenario);
    match &state.pass {
        Some(pass) => {
            // A calm pass ends before the rest of the cluster moves on.
            for (_, calm) in &mut events {
                *calm = false;
            }
            within(pass, state.budget, &mut events);
        }
        None => between(state, &mut events),
    }
    events.extend((0..state.ghosts.len()).map(|ghost| (Event::Land { ghost }, false)));
    interference(state, scenario, &mut events);
    events
}

/// What can become of the open requests of a reconcile.
fn within(pass: &Pass, budget: Budget, events: &mut Vec<(Event, bool)>) {
    for step in pass.open() {
        events.push((Event::Answer { step }, true));
        if budget.losses > 0 {
            events.push((Event::Lose { step }, false));
        }
    }
    if budget.crashes > 0 {
        events.extend([(Event::Crash, false), (Event::Stop, false)]);
    }
}

/// The reconciles that can begin.
fn between(state: &State, events: &mut Vec<(Event, bool)>) {
    let resting = events.is_empty();
    if state.world.now.root.is_some() {
        events.push((Event::Pass { lagging: 0 }, resting));
    }
    if state.budget.lags > 0 {
        let sees_a_root = |lagging: &u8| state.world.observe(*lagging).root.is_some();
        let lags = state.world.lags().filter(sees_a_root);
        events.extend(lags.map(|lagging| (Event::Pass { lagging }, false)));
    }
}

/// What the cluster does by itself.
fn background(state: &State, scenario: &Scenario) -> Vec<(Event, bool)> {
    let mut events = Vec::new();
    let orphaned =
        state.world.now.root.is_none() && scenario.broken != Some(Promise::GarbageCollection);
    // Who writes beside a reconcile costs it a write.
    let may_interfere = state.pass.is_none() || !scenario.is_quiet();
    let is_awaited =
        |place: usize| may_interfere && scenario.slots.get(place).is_some_and(|slot| slot.awaited);
    for (place, object) in state.world.now.objects.iter().enumerate() {
        match object {
            Some(object) if object.deleting => events.push((Event::Release { place }, true)),
            Some(object) if is_awaited(place) && object.is_ours() && !object.established => {
                events.push((Event::Establish { place }, true));
            }
            Some(object) if orphaned && object.holder == Holder::Ours => {
                events.push((Event::Collect { place }, true));
            }
            _ => {}
        }
    }
    events
}

/// What others do, as long as the budget allows it.
fn interference(state: &State, scenario: &Scenario, events: &mut Vec<(Event, bool)>) {
    let root = state.world.now.root;
    if state.budget.deletions > 0 && root.is_some_and(|root| !root.deleting) {
        events.push((Event::DeleteRoot, false));
    }
    if state.budget.intrusions == 0 {
        return;
    }
    if root.is_some() {
        events.push((Event::TouchRoot, false));
    }
    for (place, slot) in scenario.slots.iter().enumerate() {
        let acts: &[Intrusion] = match state.world.now.objects[place] {
            None => &[Intrusion::Create],
            Some(object) if !object.is_ours() => &[Intrusion::Delete],
            Some(object) if object.deleting => &[Intrusion::StripOwner],
            Some(_) if slot.held => &[Intrusion::Delete, Intrusion::Edit, Intrusion::StripOwner],
            Some(_) => &[
                Intrusion::Delete,
                Intrusion::Replace,
                Intrusion::Edit,
                Intrusion::StripOwner,
            ],
        };
        let is_wanted = state.world.now.objects[place].is_some_and(|object| {
            let wanted = matches!(
                slot.wanted,
                Wanted::Present(objects::Policy::Apply | objects::Policy::Adopt)
            ) || slot.is_marked();
            wanted && object.is_ours() && !object.deleting
        });
        let further = [
            (scenario.manner.exact_lists, Intrusion::Insert),
            (scenario.scales, Intrusion::Scale),
            (slot.is_marked(), Intrusion::TakeHash),
            (slot.is_marked(), Intrusion::TakeMark),
        ];
        let further = further.into_iter().filter(|(has, _)| *has && is_wanted);
        let acts = acts.iter().copied().chain(further.map(|(_, act)| act));
        events.extend(acts.map(|act| (Event::Intrude { place, act }, false)));
    }
}

/// The state after an event; an error if a rule is broken on the way.
pub(crate) fn follow(state: &State, event: Event, scenario: &Scenario) -> Result<State, String> {
    let mut next = state.clone();
    match event {
        Event::Pass { lagging } => {
            next.budget.lags -= u8::from(lagging != 0);
            next.pass = Some(Pass::new(scenario, next.world.observe(lagging)));
            feed(&mut next, Input::Start)?;
        }
        Event::Answer { step } => answer(&mut next, scenario, step)?,
        Event::Lose { step } => {
            next.budget.losses -= 1;
            abandon(&mut next, &[step]);
            let message = "connection reset".to_owned();
            let answer = if scenario.breaks {
                Answer::ServerError { message }
            } else {
                Answer::Transient { message }
            };
            deliver(&mut next, step, answer)?;
        }
        Event::Land { ghost } => {
            let (target, write) = next.ghosts.remove(ghost);
            serve(&mut next, scenario, target, write)?;
        }
        Event::Crash => {
            next.budget.crashes -= 1;
            let open: Vec<usize> = next.pass.iter().flat_map(Pass::open).collect();
            abandon(&mut next, &open);
            next.pass = None;
        }
        Event::Stop => stop(&mut next)?,
        Event::Intrude { place, act } => {
            next.budget.intrusions -= 1;
            intrude(&mut next, place, act, scenario.slots[place]);
        }
        Event::TouchRoot => {
            next.budget.intrusions -= 1;
            next.world.change_root(|_| ());
        }
        Event::DeleteRoot => {
            next.budget.deletions -= 1;
            next.world.change_root(|root| root.deleting = true);
        }
        Event::Release { place } => next.world.set(place, None),
        Event::Establish { place } => next.world.change(place, |object| object.established = true),
        Event::Collect { place } => next.world.delete(place, scenario.slots[place].held),
    }
    next.settle(scenario);
    Ok(next)
}

fn intrude(next: &mut State, place: usize, act: Intrusion, slot: Slot) {
    match act {
        Intrusion::Create | Intrusion::Replace => {
            next.world.put(place, Holder::Nobody, Content::Drifted);
        }
        Intrusion::Delete => next.world.delete(place, slot.held),
        Intrusion::Edit if slot.is_marked() => next.world.change(place, |object| {
            if object.content == Content::Desired {
                object.content = Content::Edited;
            }
        }),
        Intrusion::TakeHash => next
            .world
            .change(place, |object| object.content = Content::Drifted),
        Intrusion::TakeMark => next.world.change(place, |object| {
            object.holder = Holder::Nobody;
            object.content = Content::Drifted;
        }),
        Intrusion::StripOwner if slot.is_marked() => next
            .world
            .change(place, |object| object.holder = Holder::Marked),
        Intrusion::Edit => next.world.change(place, |object| {
            if object.content != Content::Inherited {
                object.content = Content::Drifted;
            }
        }),
        Intrusion::Insert => next.world.change(place, |object| {
            if object.content == Content::Desired {
                object.content = Content::Intruded;
            }
        }),
        Intrusion::Scale => next
            .world
            .change(place, |object| object.scaled = !object.scaled),
        Intrusion::StripOwner => next
            .world
            .change(place, |object| object.holder = Holder::Nobody),
    }
}

/// The requests of these steps go on without anybody waiting for them.
fn abandon(next: &mut State, steps: &[usize]) {
    let Some(pass) = &next.pass else { return };
    let write = |&step: &usize| Some((pass.target(step), pass.write(step)?));
    next.ghosts.extend(steps.iter().filter_map(write));
}

fn stop(next: &mut State) -> Result<(), String> {
    next.budget.crashes -= 1;
    let open: Vec<usize> = next.pass.iter().flat_map(Pass::open).collect();
    abandon(next, &open);
    let Some(pass) = next.pass.take() else {
        return Ok(());
    };
    let message = "leadership was lost".to_owned();
    let (mut commit, mut requests) = pass.commit.step(Input::Stop { message });
    if !commit.is_finished() {
        return Err("a stopped commit has not finished".to_owned());
    }
    for step in open {
        let late = [Answer::Conflict, Answer::Seen(None), Answer::Deleted];
        for answer in late {
            let more;
            (commit, more) = commit.step(Input::Answered { step, answer });
            requests.extend(more);
        }
    }
    if requests.is_empty() {
        Ok(())
    } else {
        Err(format!("sent after the stop: {requests:?}"))
    }
}

fn answer(next: &mut State, scenario: &Scenario, step: usize) -> Result<(), String> {
    let pass = next
        .pass
        .as_ref()
        .expect("only a running pass waits for answers");
    let (target, write) = (pass.target(step), pass.write(step));
    let answer = match (write, target) {
        (None, Target::Object(place)) => {
            Answer::Seen(next.world.now.objects[place].map(|object| scenario.live(place, object)))
        }
        (None, Target::Root) => return Err("the commit reads the root".to_owned()),
        (Some(write), target) => {
            let reply = serve(next, scenario, target, write)?;
            in_words(next, scenario, target, reply)
        }
    };
    deliver(next, step, answer)
}

fn in_words(next: &State, scenario: &Scenario, target: Target, reply: Reply) -> Answer {
    match (reply, target) {
        (Reply::Applied, Target::Object(place)) => {
            let object = next.world.now.objects[place].expect("what was applied exists");
            Answer::Applied(scenario.live(place, object))
        }
        (Reply::Applied, Target::Root) => {
            let root = next.world.now.root.or(next.world.before.root);
            Answer::Applied(objects::live_root(root.expect("what was patched existed")))
        }
        (Reply::Deleted, _) => Answer::Deleted,
        (Reply::Deleting, _) => Answer::Deleting,
        (Reply::Conflict, _) => Answer::Conflict,
        (Reply::NotFound, _) => Answer::NotFound,
        (Reply::Immutable, _) => Answer::Immutable {
            message: "field is immutable".to_owned(),
        },
    }
}

fn serve(
    next: &mut State,
    scenario: &Scenario,
    target: Target,
    write: Write,
) -> Result<Reply, String> {
    if scenario.is_quiet() {
        next.writes += 1;
        if next.writes > next.expected_writes {
            return Err(format!("wasted a write: {write:?} on {target:?}"));
        }
    }
    rules::serve(&mut next.world, scenario, target, write)
}

fn deliver(next: &mut State, step: usize, answer: Answer) -> Result<(), String> {
    if let Some(pass) = &mut next.pass {
        pass.note_answer(step, &answer);
    }
    feed(next, Input::Answered { step, answer })
}

fn feed(next: &mut State, input: Input) -> Result<(), String> {
    let Some(mut pass) = next.pass.take() else {
        return Ok(());
    };
    let (commit, requests) = pass.commit.clone().step(input);
    pass.commit = commit;
    pass.absorb(&next.world, requests)?;
    next.pass = Some(pass);
    Ok(())
}
