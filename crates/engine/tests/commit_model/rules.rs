//! What must hold: for every request of the commit, for every effect on the server, and in the end.

use mainstay_engine::{
    change_set::Change,
    commit::{Commit, Input, Operation, Request},
    plan::{Action, Deletion, DesiredState, Step, Stops},
};

use super::{
    objects::{self, Policy},
    scenario::{Scenario, Slot, Wanted},
    state::{Pass, Standing},
    world::{Content, Ground, Holder, Object, Reply, RootObject, Target, View, World, Write},
};

/// Order and number of requests.
pub(crate) fn judge_request(pass: &Pass, world: &World, request: &Request) -> Result<(), String> {
    let step = &pass.plan.steps[request.step];
    let task = &pass.tasks[request.step];
    let complain = |rule: &str| Err(format!("{rule}: {:?} for {}", request.operation, step.key));
    if task.sent.is_some() {
        return complain("two requests at once for one step");
    }
    if pass.open().count() >= pass.limits.in_flight {
        return complain("more requests in flight than allowed");
    }
    if u32::from(task.attempts) >= pass.limits.attempts {
        return complain("more requests for one step than allowed");
    }
    for (other, task) in pass.plan.steps.iter().zip(&pass.tasks) {
        if other.stage < step.stage && task.standing == Standing::Open {
            return complain("an earlier stage has not ended");
        }
        if other.stage > step.stage && task.attempts > 0 {
            return complain("a later stage has begun");
        }
        let (failed, refused) = (
            task.standing == Standing::Failed,
            task.standing == Standing::Refused,
        );
        let stops = match other.stops {
            Stops::Nothing => false,
            Stops::LaterUnlessRefused => failed,
            Stops::Later => failed || refused,
            Stops::After(last) => (failed || refused) && step.stage > last,
            Stops::UntilGone => task.standing != Standing::Well,
            Stops::Always => true,
        };
        if other.stage < step.stage && stops {
            return complain(match other.stops {
                Stops::UntilGone | Stops::Always => "a gate before it is not open",
                _ => "an essential step before it failed",
            });
        }
        if other.stage < step.stage && failed && step.cautious {
            return complain("a cautious step runs after a failure");
        }
    }
    let lacks = |&needed: &usize| pass.tasks[needed].standing != Standing::Well;
    if step.needs.iter().any(lacks) {
        return complain("something that it needs is not there");
    }
    judge_body(pass, world, request)?;
    if matches!(&request.operation, Operation::PatchFinalizers { .. })
        && matches!(&step.desired, DesiredState::Finalizers(held) if held.is_empty())
    {
        return judge_release(pass, world);
    }
    Ok(())
}

/// What is sent was rendered from what is stored and from facts that hold.
fn judge_body(pass: &Pass, world: &World, request: &Request) -> Result<(), String> {
    let step = &pass.plan.steps[request.step];
    let is_generated = |desired: &DesiredState| matches!(desired, DesiredState::Present { options, .. } if options.generated_first);
    if !matches!(step.desired, DesiredState::Present { .. }) {
        return Ok(());
    }
    let mut steps = pass.plan.steps.iter();
    let is_write = matches!(
        request.operation,
        Operation::Create | Operation::Update { .. }
    );
    let unstored = steps.any(|other| {
        is_generated(&other.desired)
            && !matches!(other.action, Action::Unchanged(_) | Action::Foreign { .. })
    });
    if is_write && !is_generated(&step.desired) && unstored {
        return Err(format!(
            "{} is written before the values that it is made from are stored",
            step.key
        ));
    }
    let Some(place) = objects::place_of(&step.key) else {
        return Ok(());
    };
    let was_scaled = pass.observed.objects[place].is_some_and(|object| object.scaled);
    let is_scaled = world.now.objects[place].is_some_and(|object| object.scaled);
    if let Operation::Update {
        resource_version, ..
    } = &request.operation
        && world.now.objects[place].is_some_and(|now| now.version.to_string() == *resource_version)
        && was_scaled != is_scaled
    {
        return Err(format!("{} is rendered from facts that are old", step.key));
    }
    Ok(())
}

/// The root is let go only when everything that the plan knew to be ours is gone, going, or no longer ours.
fn judge_release(pass: &Pass, world: &World) -> Result<(), String> {
    for (step, task) in pass.plan.steps.iter().zip(&pass.tasks) {
        let (Action::Delete { uid, .. }, Some(place)) =
            (&step.action, objects::place_of(&step.key))
        else {
            continue;
        };
        let remains = |object: &Object| {
            object.uid.to_string() == *uid && object.is_ours() && !object.deleting
        };
        if task.standing != Standing::Well || world.now.objects[place].as_ref().is_some_and(remains)
        {
            return Err(format!(
                "the finalizer goes although {} was not deleted",
                step.key
            ));
        }
    }
    Ok(())
}

/// What later stages wait for to be gone is gone when a step says so.
pub(crate) fn judge_gone(step: &Step, change: &Change, world: &World) -> Result<(), String> {
    let object = objects::place_of(&step.key).and_then(|place| world.now.objects[place]);
    let remains = object.is_some_and(Object::is_ours);
    if step.stops == Stops::UntilGone && *change == Change::Deleted && remains {
        return Err(format!("{} is not gone, but deleted", step.key));
    }
    Ok(())
}

/// A step that says that it ended well has seen what it wants, and claims no change that it did not make.
pub(crate) fn judge_claim(
    step: &Step,
    change: &Change,
    may_have_written: bool,
) -> Result<(), String> {
    let (live, claims) = match change {
        Change::Created(live) | Change::Configured(live) => (Some(live), true),
        Change::Unchanged(live) => (live.as_ref(), false),
        _ => (None, false),
    };
    if claims && !may_have_written {
        return Err(format!("claims to have {} {}", change.word(), step.key));
    }
    if let DesiredState::Present { body, options } = &step.desired
        && !live.is_some_and(|live| objects::is_as_wanted(live, body, *options))
    {
        return Err(format!(
            "{} is not as wanted, but {}",
            step.key,
            change.word()
        ));
    }
    Ok(())
}

/// Has the server carry out a write of ours, and judges what that did.
pub(crate) fn serve(
    world: &mut World,
    scenario: &Scenario,
    target: Target,
    write: Write,
) -> Result<Reply, String> {
    let Target::Object(place) = target else {
        return Ok(world.serve(target, write, Ground::default(), scenario.broken));
    };
    let slot = &scenario.slots[place];
    let before = world.now.objects[place];
    let reply = world.serve(target, write, slot.ground(), scenario.broken);
    let complain = |rule: &str| Err(format!("{rule}: {write:?} on {before:?}"));
    if !scenario.is_rendered(*slot) && world.now.objects[place] != before {
        return complain("changed what was not rendered");
    }
    let departs = slot.wanted == Wanted::Departing
        && matches!(write, Write::Delete { .. })
        && world.now.root.is_none_or(|root| root.deleting);
    let may_be_ours = |object: Object| object.is_ours() || slot.adopts(object);
    if before.is_some_and(|object| !may_be_ours(object))
        && world.now.objects[place] != before
        && !departs
    {
        return complain("changed what is not ours");
    }
    let becomes_ours = !before.is_some_and(Object::is_ours)
        && world.now.objects[place].is_some_and(Object::is_ours);
    // What arrives late for a root that goes has an owner, by which the garbage collector finds it.
    let is_recorded = |root: RootObject| {
        root.inventory & 1 << place != 0 || (root.deleting && !slot.is_unowned())
    };
    if scenario.manner.inventory && becomes_ours && !world.now.root.is_none_or(is_recorded) {
        return complain("put something where nobody will look");
    }
    if matches!(
        slot.wanted,
        Wanted::Present(Policy::CreateOnce | Policy::Generated)
    ) && matches!(write, Write::Update { .. } | Write::Fixup { .. })
    {
        return complain("updated what is created once");
    }
    let stays = world.now.root.is_some_and(|root| !root.deleting);
    let replaceable = !matches!(
        slot.wanted,
        Wanted::Present(
            Policy::Apply
                | Policy::Adopt
                | Policy::CreateOnce
                | Policy::Generated
                | Policy::Hash
                | Policy::Protected
        )
    );
    if (stays && !replaceable || slot.is_unowned()) && matches!(write, Write::Delete { .. }) {
        return complain("deleted what is wanted");
    }
    Ok(reply)
}

/// Whether the world is as it should be, and nothing is left to do.
pub(crate) fn is_reached(scenario: &Scenario, world: &World) -> bool {
    let view = &world.now;
    let ours = |object: &Option<Object>| object.as_ref().is_some_and(|object| object.is_ours());
    let owned =
        |object: &Option<Object>| object.is_some_and(|object| object.holder == Holder::Ours);
    match view.root {
        None => !view.objects.iter().any(owned),
        Some(root) if root.deleting || !root.finalizer => false,
        Some(_) => {
            let fits = |(slot, object): (&Slot, &Option<Object>)| match (slot.wanted, object) {
                _ if !scenario.is_rendered(*slot) || is_stopped(scenario, view, *slot) => true,
                (Wanted::Present(policy), Some(object)) if object.is_ours() => {
                    slot.fits(policy, *object)
                }
                (Wanted::Present(_), object) => object.is_some_and(|object| !slot.adopts(object)),
                (Wanted::Absent, object) => !ours(object),
                (Wanted::Leftover | Wanted::LeftoverMarked, object) => {
                    !ours(object) || is_blocked(scenario, view, *slot)
                }
                (Wanted::Departing, _) => true,
            };
            scenario.slots.iter().zip(&view.objects).all(fits) && sends_nothing(scenario, view)
        }
    }
}

fn sends_nothing(scenario: &Scenario, view: &View) -> bool {
    let commit = Commit::new(scenario.plans(view).1, scenario.limits);
    commit.step(Input::Start).1.is_empty()
}

/// Whether a place holds something that is refused.
fn is_refused(slot: Slot, object: Option<Object>) -> bool {
    let foreign = |object: Object| !object.is_ours() && !slot.adopts(object);
    matches!(slot.wanted, Wanted::Present(_)) && object.is_some_and(foreign)
}

/// Whether something that a place refers to was refused. Everything is rendered from values that were made up, so
/// nothing is written if they cannot be stored.
fn is_stopped(scenario: &Scenario, view: &View, slot: Slot) -> bool {
    let mut places = scenario.slots.iter().zip(&view.objects);
    let stops_all = scenario.manner.stops == Stops::Later && slot.late;
    let is_needed =
        |other: &Slot| other.is_generated() || ((slot.needy || stops_all) && !other.late);
    places.any(|(other, object)| is_needed(other) && is_refused(*other, *object))
}

/// Whether something of the same kind was refused, or waits for what was: what is left over then stays.
fn is_blocked(scenario: &Scenario, view: &View, left_over: Slot) -> bool {
    let mut places = scenario.slots.iter().zip(&view.objects);
    places.any(|(slot, object)| {
        let is_out = is_refused(*slot, *object) || is_stopped(scenario, view, *slot);
        (slot.late == left_over.late || scenario.manner.stops == Stops::Later) && is_out
    })
}

/// How many writes a quiet run needs from here.
pub(crate) fn expected_writes(scenario: &Scenario, view: &View) -> u8 {
    let Some(root) = view.root else { return 0 };
    let by_owner = scenario.manner.lifecycle.deletion == Deletion::ByOwnerReference;
    let of_object = |slot: &Slot, object: &Option<Object>| match (slot.wanted, object) {
        (Wanted::Departing, object) => u8::from(root.deleting && object.is_some()),
        (_, Some(object)) if !object.is_ours() && (root.deleting || !slot.adopts(*object)) => 0,
        _ if root.deleting && by_owner && !scenario.manner.inventory => 0,
        _ if !root.deleting && !scenario.is_rendered(*slot) => 0,
        _ if !root.deleting && is_stopped(scenario, view, *slot) => 0,
        _ if root.deleting && slot.is_unowned() => 0,
        (_, object) if root.deleting => object.map_or(0, |object| u8::from(!object.deleting)),
        (Wanted::Present(_), None) => 1,
        (Wanted::Present(_), Some(object)) if object.deleting => 1,
        (Wanted::Present(Policy::CreateOnce | Policy::Generated), _) => 0,
        (Wanted::Present(policy), Some(object)) if policy.is_marked() => {
            u8::from(!slot.fits(policy, *object))
        }
        (Wanted::Present(_), Some(object)) => match object.content {
            Content::Desired | Content::Edited => 0,
            Content::Drifted | Content::Intruded => 1,
            // It is taken over, then updated.
            Content::Inherited => 2,
            // An update that is refused, a delete, a create.
            Content::Frozen => 3,
        },
        (Wanted::Leftover | Wanted::LeftoverMarked, _) if is_blocked(scenario, view, *slot) => 0,
        (Wanted::Absent | Wanted::Leftover | Wanted::LeftoverMarked, object) => {
            object.map_or(0, |object| u8::from(!object.deleting))
        }
    };
    let objects = scenario
        .slots
        .iter()
        .zip(&view.objects)
        .map(|(slot, object)| of_object(slot, object));
    let is_recorded = root.deleting
        || !scenario.manner.inventory
        || scenario.recorded(root.inventory) == root.inventory;
    objects.sum::<u8>() + u8::from(root.deleting || !root.finalizer) + u8::from(!is_recorded)
}
