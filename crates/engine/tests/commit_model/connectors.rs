//! What Connectors uses of the engine: marks, hashes, an inventory, gates. Each alone with the full budget, then together.

use super::{
    objects::{CONNECTORS, Policy},
    scenario::{Budget, DYING_ROOT, Defect, FRESH_ROOT, KEPT_ROOT, Scenario, Slot, Wanted},
    tests::{FEW_PASSES, all_lead_to_the_goal, finds},
    vocabulary::{APPLY, LIGHT, QUIET, RECREATE, ROUGH, UNEASY},
    world::RootObject,
};

const HASH: Slot = Slot::new(Wanted::Present(Policy::Hash));
const PROTECTED: Slot = Slot::new(Wanted::Present(Policy::Protected));
const OBSOLETE: Slot = Slot::new(Wanted::LeftoverMarked);
const EVERY_ROOT: [RootObject; 3] = [FRESH_ROOT, KEPT_ROOT, DYING_ROOT];

/// For gates, which are judged by what was seen.
const DELAYED: Budget = Budget { lags: 1, ..LIGHT };

fn connectors(name: &str, slots: &[Slot], budget: Budget) -> Scenario {
    Scenario::new(name, slots, budget).manner(CONNECTORS)
}

fn deleted(budget: Budget) -> Budget {
    Budget {
        deletions: 1,
        ..budget
    }
}

fn scenarios() -> Vec<Scenario> {
    vec![
        // Everything is accounted for while nothing goes wrong.
        connectors("hash and mark, quiet", &[HASH, PROTECTED], QUIET).roots(&EVERY_ROOT),
        connectors("gate, quiet", &[PROTECTED.awaited(), HASH.late()], QUIET).roots(&EVERY_ROOT),
        connectors("obsolete, quiet", &[HASH, OBSOLETE], QUIET).roots(&EVERY_ROOT),
        connectors("two groups, quiet", &[HASH, HASH.late().held()], QUIET).roots(&EVERY_ROOT),
        // Each alone.
        connectors("hash and owner", &[HASH], ROUGH).roots(&[FRESH_ROOT, KEPT_ROOT]),
        connectors("mark without owner", &[PROTECTED], ROUGH).roots(&[FRESH_ROOT, KEPT_ROOT]),
        connectors("hash, held", &[HASH.held()], ROUGH),
        connectors("obsolete", &[OBSOLETE], ROUGH),
        connectors("obsolete, held", &[OBSOLETE.held()], ROUGH),
        connectors("recorded, applied", &[APPLY], ROUGH).roots(&[FRESH_ROOT]),
        connectors("recorded, recreated and held", &[RECREATE.held()], UNEASY),
        connectors("gate", &[PROTECTED.awaited(), HASH.late()], DELAYED),
        connectors("two groups go", &[HASH, HASH.late().held()], DELAYED).roots(&[DYING_ROOT]),
        connectors("deleted meanwhile", &[HASH], deleted(UNEASY)).roots(&[FRESH_ROOT, KEPT_ROOT]),
        connectors("deleted meanwhile, held", &[HASH.held()], deleted(UNEASY)),
        connectors(
            "deleted meanwhile, protected",
            &[PROTECTED],
            deleted(UNEASY),
        ),
        // Together.
        connectors(
            "a set",
            &[PROTECTED.awaited(), HASH.late(), OBSOLETE],
            LIGHT,
        ),
        connectors(
            "a set goes",
            &[PROTECTED, HASH.late().held(), OBSOLETE],
            LIGHT,
        )
        .roots(&[DYING_ROOT]),
        connectors(
            "a set is deleted meanwhile",
            &[PROTECTED.awaited(), APPLY.late()],
            deleted(LIGHT),
        )
        .roots(&[FRESH_ROOT]),
    ]
}

#[test]
fn marks_inventory_and_gates_keep_the_rules_and_lead_to_the_goal() {
    // A gate and a group cost a reconcile each.
    all_lead_to_the_goal(scenarios(), |_| FEW_PASSES + 2, 100_000);
}

#[test]
fn finds_what_goes_on_although_a_gate_is_closed() {
    let established = connectors("no gate", &[PROTECTED.awaited(), HASH.late()], QUIET);
    let gone = connectors("no groups", &[HASH, HASH.late().held()], QUIET).roots(&[DYING_ROOT]);
    for scenario in [established, gone] {
        finds(
            "a gate before it is not open",
            &scenario.defect(Defect::ForgetsGates),
        );
    }
}

#[test]
fn finds_what_is_put_somewhere_without_a_record() {
    let scenario = connectors("no record", &[HASH], LIGHT);
    finds(
        "put something where nobody will look",
        &scenario.defect(Defect::ForgetsRecord),
    );
}

#[test]
fn finds_an_inventory_that_is_taken_for_a_proof() {
    let scenario = connectors("by name", &[OBSOLETE], ROUGH);
    finds(
        "changed what is not ours",
        &scenario.defect(Defect::DeletesByName),
    );
}
