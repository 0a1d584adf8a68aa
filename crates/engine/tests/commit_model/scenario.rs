//! What is wanted of the objects of a world, and how much may go wrong on the way.

use std::{cell::RefCell, collections::HashMap, sync::Arc};

use mainstay_engine::{
    ObjectKey, ObjectSet,
    commit::Limits,
    live::{LiveObject, LiveView},
    options::Options,
    plan::{Action, DesiredState, Plan, Stops, plan, plan_deletion, plan_early},
    reconciler::Cleanup,
};
use serde_json::json;

use super::{
    objects::{self, DECLARED, KAOTO, Manner, Policy, body, key, live_object, place_of},
    world::{Content, Ground, Holder, Object, PLACES, Promise, RootObject, View},
};

/// What the rendered set says about a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Present(Policy),
    Absent,
    /// Not rendered: what is ours here is left over from an earlier render.
    Leftover,
    /// The same, and told by a mark.
    LeftoverMarked,
    /// The root's by its name alone: it goes with the root, whoever owns it.
    Departing,
}

/// One object of a scenario.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a question of its own"
)]
pub(crate) struct Slot {
    pub(crate) wanted: Wanted,
    /// Written in the second stage.
    pub(crate) late: bool,
    /// Somebody's finalizer holds the object when it is deleted.
    pub(crate) held: bool,
    /// Written even if a later unit cannot render.
    pub(crate) written_early: bool,
    /// Refers to everything that is written before it.
    pub(crate) needy: bool,
    /// Later stages wait until somebody else has done something about it.
    pub(crate) awaited: bool,
}

impl Slot {
    pub(crate) const fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            late: false,
            held: false,
            written_early: false,
            needy: false,
            awaited: false,
        }
    }

    pub(crate) const fn awaited(mut self) -> Self {
        self.awaited = true;
        self
    }

    /// Whether it is told by a mark.
    pub(crate) const fn is_marked(self) -> bool {
        match self.wanted {
            Wanted::Present(policy) => policy.is_marked(),
            Wanted::LeftoverMarked => true,
            _ => false,
        }
    }

    /// Whether it has a mark and no owner.
    pub(crate) const fn is_unowned(self) -> bool {
        matches!(self.wanted, Wanted::Present(Policy::Protected))
    }

    /// What matters of the place to the server.
    pub(crate) const fn ground(self) -> Ground {
        Ground {
            held: self.held,
            unowned: self.is_unowned(),
        }
    }

    /// Whether what is ours in a place is as it is wanted.
    pub(crate) fn fits(self, policy: Policy, object: Object) -> bool {
        let content = match policy {
            Policy::CreateOnce | Policy::Generated => true,
            Policy::Hash | Policy::Protected => {
                matches!(object.content, Content::Desired | Content::Edited)
            }
            _ => object.content == Content::Desired,
        };
        let holder = if self.is_unowned() {
            Holder::Marked
        } else {
            Holder::Ours
        };
        content && !object.deleting && object.holder == holder
    }

    pub(crate) const fn written_early(mut self) -> Self {
        self.written_early = true;
        self
    }

    pub(crate) const fn is_generated(self) -> bool {
        matches!(self.wanted, Wanted::Present(Policy::Generated))
    }

    pub(crate) const fn needy(mut self) -> Self {
        self.needy = true;
        self.late()
    }

    pub(crate) const fn late(mut self) -> Self {
        self.late = true;
        self
    }

    pub(crate) const fn held(mut self) -> Self {
        self.held = true;
        self
    }

    /// Whether this place keeps what differs in an immutable field: only a recreate gets past that.
    const fn may_freeze(self) -> bool {
        matches!(self.wanted, Wanted::Present(Policy::Recreate))
    }

    /// Whether what is in this place may become ours.
    pub(crate) fn adopts(self, object: Object) -> bool {
        let is_free = object.holder == Holder::Nobody && !object.deleting;
        match self.wanted {
            Wanted::Present(Policy::Adopt) => is_free,
            Wanted::Present(Policy::Hash | Policy::Protected) => {
                is_free || object.holder == Holder::Sibling
            }
            _ => false,
        }
    }

    /// Whether this place may hold what somebody before us wrote.
    const fn may_be_inherited(self) -> bool {
        matches!(self.wanted, Wanted::Present(Policy::Apply | Policy::Adopt))
    }
}

/// How often each thing may go wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Budget {
    /// Crashes and stops.
    pub(crate) crashes: u8,
    /// Requests whose answer is lost.
    pub(crate) losses: u8,
    /// Passes planned from a lagging view.
    pub(crate) lags: u8,
    /// Acts of the other writer.
    pub(crate) intrusions: u8,
    /// Deletions of the root by its user.
    pub(crate) deletions: u8,
}

/// A defect put between plan and commit. The checker, which knows the honest plan, must notice it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    ForgetsEssential,
    ForgetsNeeds,
    ForgetsCautious,
    ForgetsStages,
    ForgetsLastStep,
    WritesUnchanged,
    SendsTooMany,
    /// Carries out what was rendered from values that are not stored.
    ForgetsGenerated,
    /// Takes a part of the set for the whole.
    PrunesByPart,
    /// Sends what was rendered from facts that no longer hold.
    ForgetsFacts,
    /// Goes on although a gate is not open.
    ForgetsGates,
    /// Writes without saying where before.
    ForgetsRecord,
    /// Takes the inventory for a proof of ownership.
    DeletesByName,
}

/// One exploration.
pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) slots: Vec<Slot>,
    pub(crate) budget: Budget,
    pub(crate) limits: Limits,
    pub(crate) broken: Option<Promise>,
    pub(crate) defect: Option<Defect>,
    /// Roots to begin with.
    pub(crate) roots: Vec<RootObject>,
    /// How the system brings its objects to the cluster.
    pub(crate) manner: Manner,
    /// A later unit cannot render, so only a part of the set is written.
    pub(crate) partial: bool,
    /// Others scale objects, which bodies are rendered from.
    pub(crate) scales: bool,
    /// Lost answers come from a server that fails and says why.
    pub(crate) breaks: bool,
    cache: RefCell<Cache>,
}

#[derive(Default)]
struct Cache {
    plans: HashMap<View, (Arc<Plan>, Arc<Plan>)>,
    live: HashMap<(usize, Object), Arc<LiveObject>>,
}

pub(crate) const FRESH_ROOT: RootObject = RootObject {
    version: 1,
    finalizer: false,
    deleting: false,
    inventory: 0,
};
pub(crate) const KEPT_ROOT: RootObject = RootObject {
    version: 1,
    finalizer: true,
    deleting: false,
    inventory: 0,
};
pub(crate) const DYING_ROOT: RootObject = RootObject {
    version: 1,
    finalizer: true,
    deleting: true,
    inventory: 0,
};

impl Scenario {
    pub(crate) fn new(name: &str, slots: &[Slot], budget: Budget) -> Self {
        Self {
            name: name.to_owned(),
            slots: slots.to_vec(),
            budget,
            limits: Limits {
                in_flight: 2,
                attempts: 4,
            },
            broken: None,
            defect: None,
            roots: vec![KEPT_ROOT],
            manner: KAOTO,
            partial: false,
            scales: false,
            breaks: false,
            cache: RefCell::default(),
        }
    }

    pub(crate) fn roots(mut self, roots: &[RootObject]) -> Self {
        self.roots = roots.to_vec();
        self
    }

    pub(crate) fn manner(mut self, manner: Manner) -> Self {
        self.manner = manner;
        self
    }

    pub(crate) fn partial(mut self) -> Self {
        self.partial = true;
        self
    }

    pub(crate) fn scaled(mut self) -> Self {
        self.scales = true;
        self
    }

    pub(crate) fn breaking_down(mut self) -> Self {
        self.breaks = true;
        self
    }

    /// Whether the operator has to bring a place to what is wanted of it.
    pub(crate) fn is_rendered(&self, slot: Slot) -> bool {
        !self.partial || slot.written_early
    }

    pub(crate) fn limits(mut self, in_flight: usize, attempts: u32) -> Self {
        self.limits = Limits {
            in_flight,
            attempts,
        };
        self
    }

    pub(crate) fn breaking(mut self, promise: Promise) -> Self {
        self.broken = Some(promise);
        self
    }

    pub(crate) fn defect(mut self, defect: Defect) -> Self {
        self.defect = Some(defect);
        self
    }

    /// Nothing goes wrong and nobody interferes, so every write can be accounted for.
    pub(crate) fn is_quiet(&self) -> bool {
        self.budget == Budget::default()
    }

    /// Every combination of roots and of what each object can be at the beginning.
    pub(crate) fn initial_views(&self) -> Vec<View> {
        let empty = |&root: &RootObject| View {
            objects: [None; PLACES],
            root: Some(root),
        };
        let mut views: Vec<View> = self.roots.iter().map(empty).collect();
        for (place, slot) in self.slots.iter().enumerate() {
            let choices = self.initial_objects(*slot);
            let with = |view: &View| {
                let view = *view;
                choices.clone().into_iter().map(move |object| {
                    let mut view = view;
                    view.objects[place] = object;
                    view
                })
            };
            views = views.iter().flat_map(with).collect();
        }
        if self.manner.inventory {
            views.iter_mut().for_each(record_all);
        }
        views
    }

    /// The places that are named before anything is written to them.
    pub(crate) fn recorded(&self, inventory: u8) -> u8 {
        let slots = self.slots.iter().enumerate();
        let rendered = slots.filter(|(_, slot)| matches!(slot.wanted, Wanted::Present(_)));
        rendered.fold(inventory, |all, (place, _)| all | 1 << place)
    }

    /// Places in which something may be, and how it goes.
    fn places(&self, inventory: u8) -> Vec<(ObjectKey, Options)> {
        let slots = self.slots.iter().enumerate();
        let named = slots.filter(|(place, slot)| inventory & 1 << place != 0 && !slot.is_unowned());
        let named = named.map(|(place, slot)| (key(place, *slot), Manner::removal(*slot)));
        named.collect()
    }

    /// How what is rendered is brought to the cluster: a gate is closed until somebody was seen to open it.
    fn options(&self, slot: Slot, policy: Policy, seen: Option<Object>) -> Options {
        let mut options = self.manner.options(slot, policy);
        if slot.awaited && !seen.is_some_and(|object| object.established) {
            options.stops = Stops::Always;
        }
        options
    }

    /// The honest plan for a view, and the one that is carried out: the same, unless a defect is set.
    pub(crate) fn plans(&self, view: &View) -> (Arc<Plan>, Arc<Plan>) {
        if let Some(plans) = self.cache.borrow().plans.get(view) {
            return plans.clone();
        }
        let honest = Arc::new(self.plan(view));
        let executed = match self.defect {
            Some(defect) => Arc::new(spoil(&honest, defect)),
            None => honest.clone(),
        };
        let plans = (honest, executed);
        self.cache.borrow_mut().plans.insert(*view, plans.clone());
        plans
    }

    fn plan(&self, view: &View) -> Plan {
        let observed = view.root.expect("a pass runs for a root that was seen");
        let root = objects::root(observed);
        let live = Live {
            scenario: self,
            view,
        };
        if observed.deleting {
            let places = self.slots.iter().enumerate();
            let departing = places.filter(|(_, slot)| slot.wanted == Wanted::Departing);
            let cleanup = Cleanup {
                objects: departing.map(|(place, slot)| key(place, *slot)).collect(),
                places: self.places(observed.inventory),
                ..Cleanup::default()
            };
            return plan_deletion(&root, &DECLARED, &live, &self.manner.lifecycle, &cleanup);
        }
        let mut set = ObjectSet::new(DECLARED);
        let slots = self.slots.iter().enumerate();
        for (place, slot) in slots.filter(|(_, slot)| self.is_rendered(**slot)) {
            match slot.wanted {
                Wanted::Present(policy) => set
                    .add_with("unit", &body(place, *slot), |_| {
                        self.options(*slot, policy, view.objects[place])
                    })
                    .expect("places differ"),
                Wanted::Absent => set
                    .absent("unit", key(place, *slot), "it is switched off")
                    .expect("places differ"),
                Wanted::Leftover | Wanted::LeftoverMarked | Wanted::Departing => {}
            }
        }
        for (place, slot) in self.slots.iter().enumerate().filter(|(_, slot)| slot.needy) {
            let early = self.slots.iter().enumerate().filter(|(_, slot)| !slot.late);
            for (needed, slot_needed) in early {
                set.needs(&key(place, *slot), key(needed, *slot_needed));
            }
        }
        if self.manner.inventory {
            set.take_over_from(objects::sibling());
            let recorded = self.recorded(observed.inventory);
            if recorded != observed.inventory {
                set.record_first(json!({"inventory": recorded}));
            }
            for (key, options) in self.places(observed.inventory) {
                set.prune.place(key, options);
            }
        } else if !self.partial || self.defect == Some(Defect::PrunesByPart) {
            DECLARED
                .iter()
                .for_each(|row| set.prune.kind(row.kind.clone()));
        }
        if self.partial && self.defect != Some(Defect::PrunesByPart) {
            return plan_early(&root, Some(&set), &live, &self.manner.lifecycle);
        }
        let plan = plan(&root, &set, &live, &self.manner.lifecycle);
        match plan.generated_first() {
            Some(beginning) if self.defect != Some(Defect::ForgetsGenerated) => beginning,
            _ => plan,
        }
    }

    /// The object as the commit sees it.
    pub(crate) fn live(&self, place: usize, object: Object) -> Arc<LiveObject> {
        let slot = self.slots[place];
        let build = || Arc::new(live_object(key(place, slot), slot, object));
        self.cache
            .borrow_mut()
            .live
            .entry((place, object))
            .or_insert_with(build)
            .clone()
    }
}

impl Scenario {
    /// What can be in a place when the operator starts.
    fn initial_objects(&self, slot: Slot) -> Vec<Option<Object>> {
        let object = |holder, content, deleting| {
            Some(Object {
                uid: 1,
                version: 1,
                holder,
                content,
                deleting,
                scaled: false,
                established: false,
            })
        };
        if slot.is_marked() {
            let mut objects = marked_objects(slot);
            if slot.awaited {
                let established = objects.clone().into_iter().flatten();
                let established = established.filter(|object| object.is_ours());
                objects.extend(established.map(|object| {
                    Some(Object {
                        established: true,
                        ..object
                    })
                }));
            }
            return objects;
        }
        if slot.wanted == Wanted::Departing {
            return vec![None, object(Holder::Nobody, Content::Desired, false)];
        }
        let mut objects = vec![
            None,
            object(Holder::Ours, Content::Desired, false),
            object(Holder::Ours, Content::Drifted, false),
            object(Holder::Ours, Content::Desired, true),
            object(Holder::Ours, Content::Drifted, true),
            object(Holder::Nobody, Content::Drifted, false),
            object(Holder::Another, Content::Drifted, false),
        ];
        if slot.may_freeze() {
            objects.push(object(Holder::Ours, Content::Frozen, false));
        }
        if slot.may_be_inherited() {
            objects.push(object(Holder::Ours, Content::Inherited, false));
        }
        if self.manner.exact_lists && slot.may_be_inherited() {
            objects.push(object(Holder::Ours, Content::Intruded, false));
        }
        objects
    }
}

/// What can be in a place whose objects are told by a mark.
fn marked_objects(slot: Slot) -> Vec<Option<Object>> {
    let object = |holder, content, deleting| {
        Some(Object {
            uid: 1,
            version: 1,
            holder,
            content,
            deleting,
            scaled: false,
            established: false,
        })
    };
    let mut objects = vec![
        None,
        object(Holder::Marked, Content::Desired, false),
        object(Holder::Nobody, Content::Drifted, false),
        object(Holder::Another, Content::Drifted, false),
    ];
    let ours = if slot.is_unowned() {
        Holder::Marked
    } else {
        objects.push(object(Holder::Sibling, Content::Drifted, false));
        objects.push(object(Holder::Ours, Content::Desired, false));
        Holder::Ours
    };
    objects.extend([
        object(ours, Content::Edited, false),
        object(ours, Content::Drifted, false),
        object(ours, Content::Desired, true),
    ]);
    objects
}

/// Everything of ours was put where it is by a root that said so before.
fn record_all(view: &mut View) {
    let objects = view.objects.iter().enumerate();
    let ours = objects.filter(|(_, object)| object.is_some_and(Object::is_ours));
    let inventory = ours.fold(0, |all, (place, _)| all | 1 << place);
    if let Some(root) = &mut view.root {
        root.inventory = inventory;
    }
}

fn spoil(plan: &Plan, defect: Defect) -> Plan {
    let mut plan = plan.clone();
    let last = plan.steps.len().saturating_sub(1);
    for (position, step) in plan.steps.iter_mut().enumerate() {
        match defect {
            Defect::ForgetsEssential => step.stops = Stops::Nothing,
            Defect::ForgetsNeeds => step.needs.clear(),
            Defect::ForgetsCautious => step.cautious = false,
            Defect::ForgetsStages => step.stage = 0,
            Defect::ForgetsLastStep if position == last => step.action = Action::Unchanged(None),
            Defect::WritesUnchanged => {
                if let Action::Unchanged(Some(live)) = &step.action {
                    step.action = Action::Update {
                        uid: live.uid.clone(),
                        resource_version: live.resource_version.clone(),
                    };
                }
            }
            Defect::ForgetsFacts => step.facts = serde_json::json!("scaled"),
            Defect::ForgetsGates if matches!(step.stops, Stops::Always | Stops::UntilGone) => {
                step.stops = Stops::Later;
            }
            Defect::ForgetsRecord if matches!(step.desired, DesiredState::Status(_)) => {
                step.action = Action::Unchanged(None);
            }
            Defect::DeletesByName if step.action == Action::DeleteIfOurs => {
                step.action = Action::DeleteIfPresent;
            }
            Defect::ForgetsLastStep
            | Defect::ForgetsGates
            | Defect::ForgetsRecord
            | Defect::DeletesByName
            | Defect::SendsTooMany
            | Defect::ForgetsGenerated
            | Defect::PrunesByPart => {}
        }
    }
    plan
}

struct Live<'view> {
    scenario: &'view Scenario,
    view: &'view View,
}

impl LiveView for Live<'_> {
    fn get(&self, key: &ObjectKey) -> Option<Arc<LiveObject>> {
        let place = place_of(key)?;
        Some(self.scenario.live(place, self.view.objects[place]?))
    }

    fn owned_by(&self, owner_uid: &str) -> Vec<Arc<LiveObject>> {
        let objects = self.view.objects.iter().enumerate();
        let live =
            objects.filter_map(|(place, object)| Some(self.scenario.live(place, (*object)?)));
        live.filter(|object| object.belongs_to(owner_uid)).collect()
    }
}
