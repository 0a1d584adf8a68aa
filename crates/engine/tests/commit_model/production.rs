//! What the systems of today use of the engine, beyond what every plan has: Clowder's way with stages, lists and
//! deletion, values that are made up, sets that are written in part, objects that go by their name, facts that change.

use super::{
    objects::{CLOWDER, Policy},
    scenario::{Budget, DYING_ROOT, Defect, FRESH_ROOT, KEPT_ROOT, Scenario, Slot, Wanted},
    tests::{FEW_PASSES, all_lead_to_the_goal, finds},
    vocabulary::{APPLY, LEFTOVER, LIGHT, ONCE, QUIET, RECREATE, ROUGH, UNEASY},
};

const GENERATED: Slot = Slot::new(Wanted::Present(Policy::Generated));
const ADOPT: Slot = Slot::new(Wanted::Present(Policy::Adopt));
const DEPARTING: Slot = Slot::new(Wanted::Departing);
const EVERY_ROOT: [super::world::RootObject; 3] = [FRESH_ROOT, KEPT_ROOT, DYING_ROOT];

fn clowder(name: &str, slots: &[Slot], budget: Budget) -> Scenario {
    Scenario::new(name, slots, budget).manner(CLOWDER)
}

fn deleted(budget: Budget) -> Budget {
    Budget {
        deletions: 1,
        ..budget
    }
}

fn scenarios() -> Vec<Scenario> {
    vec![
        // The stages, lists and deletion of Clowder.
        clowder("Clowder, quiet", &[APPLY, RECREATE.late(), LEFTOVER], QUIET).roots(&EVERY_ROOT),
        clowder("Clowder, one", &[APPLY], ROUGH).roots(&[FRESH_ROOT, KEPT_ROOT]),
        clowder("Clowder, two stages", &[APPLY, APPLY.late()], UNEASY),
        clowder(
            "Clowder, two stages and a leftover",
            &[APPLY, ONCE.late(), LEFTOVER],
            LIGHT,
        ),
        clowder("Clowder, deleted meanwhile", &[APPLY], deleted(UNEASY)).roots(&EVERY_ROOT),
        // What refers to something is not written without it; what nobody has is taken if that is allowed.
        clowder("refusals, quiet", &[APPLY, APPLY.needy(), LEFTOVER], QUIET),
        clowder("refusals", &[APPLY, APPLY.needy()], UNEASY),
        clowder(
            "refusals of another kind",
            &[APPLY, ONCE.needy(), LEFTOVER.late()],
            LIGHT,
        ),
        clowder("adopted, quiet", &[ADOPT, APPLY.needy()], QUIET).roots(&EVERY_ROOT),
        clowder("adopted", &[ADOPT], ROUGH),
        clowder("adopted, two stages", &[ADOPT, APPLY.needy()], UNEASY),
        // Values that were made up are stored before anything is made from them.
        clowder("generated, quiet", &[GENERATED, APPLY.late()], QUIET).roots(&EVERY_ROOT),
        clowder("generated", &[GENERATED], ROUGH),
        clowder(
            "generated, then applied",
            &[GENERATED, APPLY.late()],
            UNEASY,
        ),
        // A later unit cannot render.
        clowder(
            "in part, quiet",
            &[APPLY.written_early(), APPLY.late(), LEFTOVER],
            QUIET,
        )
        .partial(),
        clowder("in part", &[APPLY.written_early(), LEFTOVER], UNEASY).partial(),
        // What goes by its name alone.
        clowder("departing, quiet", &[DEPARTING, APPLY], QUIET).roots(&EVERY_ROOT),
        clowder("departing", &[DEPARTING], deleted(ROUGH)).roots(&EVERY_ROOT),
        clowder("departing and held", &[DEPARTING.held()], UNEASY).roots(&[DYING_ROOT]),
        // Facts that bodies are rendered from.
        clowder("scaled", &[APPLY], ROUGH).scaled(),
        Scenario::new("scaled, two stages", &[APPLY, APPLY.late()], UNEASY).scaled(),
        // A server that fails and says why.
        Scenario::new("server errors", &[APPLY], ROUGH).breaking_down(),
        Scenario::new("server errors, recreated", &[RECREATE], ROUGH).breaking_down(),
        clowder("server errors, two stages", &[APPLY, APPLY.late()], UNEASY).breaking_down(),
    ]
}

#[test]
fn every_option_that_a_system_uses_keeps_the_rules_and_leads_to_the_goal() {
    // Values are stored in one reconcile, and what is made from them in the next.
    let most_passes = |scenario: &Scenario| {
        FEW_PASSES + u8::from(scenario.slots.iter().any(|slot| slot.is_generated()))
    };
    all_lead_to_the_goal(scenarios(), most_passes, 200_000);
}

#[test]
fn finds_what_is_made_from_values_that_are_not_stored() {
    let scenario = clowder("all at once", &[GENERATED, APPLY], QUIET);
    finds(
        "before the values that it is made from are stored",
        &scenario.defect(Defect::ForgetsGenerated),
    );
}

#[test]
fn finds_a_part_of_a_set_that_is_taken_for_the_whole() {
    let scenario = clowder(
        "prunes by a part",
        &[APPLY.written_early(), LEFTOVER],
        LIGHT,
    )
    .partial();
    finds(
        "changed what was not rendered",
        &scenario.defect(Defect::PrunesByPart),
    );
}

#[test]
fn finds_a_body_that_is_rendered_from_old_facts() {
    let scenario = clowder("old facts", &[APPLY], ROUGH).scaled();
    finds(
        "is rendered from facts that are old",
        &scenario.defect(Defect::ForgetsFacts),
    );
}
