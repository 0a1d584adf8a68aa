//! Explores the commit step function exhaustively: the code that runs in production, in small worlds
//! where everything that can go wrong does, at every moment and in every order.
//!
//! - The operator crashes or is stopped between any two events; requests it has sent may still arrive.
//! - Answers come in any order, or not at all.
//! - Passes are planned from views that lag behind, object by object.
//! - Another writer creates, deletes, replaces, edits or disowns an object at the worst moment.
//! - Deleted objects are held by finalizers; the root is deleted while a reconcile runs.
//!
//! In every state the rules of `rules.rs` hold, and from every state a calm run reaches the goal. That
//! the checker can fail is shown by taking guards away from the server and by spoiling plans.
//!
//! `cargo test -p mainstay-engine --test commit_model -- --nocapture` prints the size of every exploration.

#[cfg(test)]
#[path = "commit_model/events.rs"]
mod events;
#[cfg(test)]
#[path = "commit_model/explorer.rs"]
mod explorer;
#[cfg(test)]
#[path = "commit_model/objects.rs"]
mod objects;
#[cfg(test)]
#[path = "commit_model/rules.rs"]
mod rules;
#[cfg(test)]
#[path = "commit_model/scenario.rs"]
mod scenario;
#[cfg(test)]
#[path = "commit_model/state.rs"]
mod state;
#[cfg(test)]
#[path = "commit_model/vocabulary.rs"]
mod vocabulary;
#[cfg(test)]
#[path = "commit_model/world.rs"]
mod world;

#[cfg(test)]
#[path = "commit_model/production.rs"]
mod production;

#[cfg(test)]
#[path = "commit_model/connectors.rs"]
mod connectors;

#[cfg(test)]
pub(crate) mod tests {
    use super::{
        explorer::{Findings, explore, explore_finely},
        objects::CLOWDER,
        scenario::{Budget, DYING_ROOT, Defect, FRESH_ROOT, KEPT_ROOT, Scenario},
        vocabulary::{ABSENT, APPLY, DEAF, LEFTOVER, LIGHT, ONCE, QUIET, RECREATE, ROUGH, UNEASY},
        world::Promise,
    };

    /// Passes that a calm run may need from the worst state.
    pub(crate) const FEW_PASSES: u8 = 2;

    fn one_object() -> Vec<Scenario> {
        let slots = [
            ("applied", APPLY),
            ("created once", ONCE),
            ("recreated", RECREATE),
            ("absent", ABSENT),
            ("left over", LEFTOVER),
        ];
        let both = slots.map(|(name, slot)| {
            let free = Scenario::new(name, &[slot], ROUGH).roots(&[FRESH_ROOT, KEPT_ROOT]);
            let held = Scenario::new(&format!("{name}, held"), &[slot.held()], ROUGH);
            [free, held]
        });
        both.into_iter().flatten().collect()
    }

    fn more_objects() -> Vec<Scenario> {
        vec![
            Scenario::new("applied, left over", &[APPLY, LEFTOVER], UNEASY),
            Scenario::new(
                "recreated, left over and held",
                &[RECREATE, LEFTOVER.held()],
                UNEASY,
            ),
            Scenario::new("created once, then applied", &[ONCE, APPLY.late()], UNEASY),
            Scenario::new(
                "absent, then recreated and held",
                &[ABSENT, RECREATE.late().held()],
                UNEASY,
            ),
            Scenario::new("one request at a time", &[APPLY, APPLY], UNEASY).limits(1, 3),
            Scenario::new(
                "applied, created once, left over",
                &[APPLY, ONCE.late(), LEFTOVER],
                LIGHT,
            ),
            Scenario::new(
                "recreated, absent, left over",
                &[RECREATE, ABSENT, LEFTOVER],
                LIGHT,
            ),
        ]
    }

    fn deletions() -> Vec<Scenario> {
        let deleted = |budget| Budget {
            deletions: 1,
            ..budget
        };
        vec![
            Scenario::new("deleted meanwhile, applied", &[APPLY], deleted(ROUGH))
                .roots(&[FRESH_ROOT, KEPT_ROOT]),
            Scenario::new(
                "deleted meanwhile, recreated and held",
                &[RECREATE.held()],
                deleted(UNEASY),
            ),
            Scenario::new(
                "deleted meanwhile, two",
                &[APPLY, ONCE.late()],
                deleted(LIGHT),
            ),
            Scenario::new("dying, two", &[APPLY, ONCE.late()], UNEASY).roots(&[DYING_ROOT]),
            Scenario::new("dying, few attempts", &[APPLY, LEFTOVER.held()], DEAF)
                .roots(&[DYING_ROOT])
                .limits(2, 2),
            Scenario::new(
                "dying, three",
                &[APPLY, ONCE.late(), LEFTOVER.held()],
                LIGHT,
            )
            .roots(&[DYING_ROOT]),
        ]
    }

    fn quiet() -> Vec<Scenario> {
        let every_root = [FRESH_ROOT, KEPT_ROOT, DYING_ROOT];
        vec![
            Scenario::new(
                "quiet: applied, recreated, left over",
                &[APPLY, RECREATE, LEFTOVER],
                QUIET,
            )
            .roots(&every_root),
            Scenario::new(
                "quiet: created once, absent, then applied",
                &[ONCE, ABSENT, APPLY.late()],
                QUIET,
            )
            .roots(&every_root),
        ]
    }

    fn report(scenario: &Scenario) -> Findings {
        let findings = explore(scenario);
        println!(
            "{:>9} states {:>9} transitions  goal in {} passes  {}",
            findings.states, findings.transitions, findings.passes_to_goal, scenario.name
        );
        findings
    }

    /// Explores all scenarios: none breaks a rule, each comes to its goal in so many passes, and together they have at least
    /// so many states.
    pub(crate) fn all_lead_to_the_goal(
        scenarios: impl IntoIterator<Item = Scenario>,
        most_passes: impl Fn(&Scenario) -> u8,
        least_states: usize,
    ) {
        let (mut states, mut transitions) = (0, 0);
        for scenario in scenarios {
            let findings = report(&scenario);
            if let Some(violation) = findings.violation {
                panic!("{violation}");
            }
            assert!(
                findings.passes_to_goal <= most_passes(&scenario),
                "{} needs {} passes",
                scenario.name,
                findings.passes_to_goal
            );
            states += findings.states;
            transitions += findings.transitions;
        }
        println!("{states:>9} states {transitions:>9} transitions  in total");
        assert!(
            states > least_states,
            "a model that shrinks to {states} states has lost a fault"
        );
    }

    #[test]
    fn every_reachable_state_keeps_the_rules_and_leads_to_the_goal() {
        let scenarios = quiet()
            .into_iter()
            .chain(one_object())
            .chain(more_objects())
            .chain(deletions());
        all_lead_to_the_goal(scenarios, |_| FEW_PASSES, 500_000);
    }

    #[test]
    fn states_that_look_equal_have_equal_futures() {
        let scenarios = [
            Scenario::new("finely: recreated", &[RECREATE.held()], UNEASY),
            Scenario::new(
                "finely: deleted meanwhile",
                &[APPLY],
                Budget {
                    deletions: 1,
                    ..UNEASY
                },
            ),
            Scenario::new(
                "finely: two stages",
                &[RECREATE, APPLY.late()],
                Budget { losses: 1, ..QUIET },
            ),
            Scenario::new("finely: server errors", &[APPLY], UNEASY).breaking_down(),
            Scenario::new("finely: scaled", &[APPLY], UNEASY)
                .manner(CLOWDER)
                .scaled(),
        ];
        for scenario in scenarios {
            let coarse = report(&scenario);
            let fine = explore_finely(&scenario);
            assert_eq!(
                (fine.violation, fine.encodings),
                (None, coarse.states),
                "{}",
                scenario.name
            );
            assert!(
                fine.states > coarse.states,
                "{} takes nothing together",
                scenario.name
            );
        }
    }

    /// Asserts that the checker notices something, and that it says what and how.
    pub(crate) fn finds(complaint: &str, scenario: &Scenario) {
        let violation = report(scenario).violation.unwrap_or_default();
        assert!(
            violation.contains(complaint),
            "{}: wanted `{complaint}`, found `{violation}`",
            scenario.name
        );
        assert!(
            violation.contains("  from View"),
            "{}: no path in `{violation}`",
            scenario.name
        );
    }

    #[test]
    fn finds_the_harm_of_a_create_that_overwrites() {
        let scenario = Scenario::new("create overwrites", &[APPLY], UNEASY);
        finds(
            "changed what is not ours",
            &scenario.breaking(Promise::CreateOnly),
        );
    }

    #[test]
    fn finds_the_harm_of_an_update_without_guards() {
        let scenario = Scenario::new("update is not guarded", &[APPLY], LIGHT);
        finds(
            "changed what is not ours",
            &scenario.breaking(Promise::UpdateGuards),
        );
    }

    #[test]
    fn finds_that_the_uid_alone_does_not_notice_a_lost_owner_reference() {
        let scenario = Scenario::new("update names the uid only", &[APPLY], LIGHT);
        finds(
            "changed what is not ours",
            &scenario.breaking(Promise::UpdateVersion),
        );
    }

    #[test]
    fn finds_the_harm_of_a_delete_without_preconditions() {
        for slot in [ABSENT, LEFTOVER, RECREATE] {
            let scenario = Scenario::new("delete is not guarded", &[slot], LIGHT);
            finds(
                "changed what is not ours",
                &scenario.breaking(Promise::DeletePreconditions),
            );
        }
    }

    /// A deletion that was planned from a lagging view misses what was created just before, so the
    /// root goes first: its owner reference is what brings the rest down.
    #[test]
    fn finds_what_stays_behind_without_garbage_collection() {
        let budget = Budget {
            deletions: 1,
            ..UNEASY
        };
        let scenario = Scenario::new("no garbage collection", &[APPLY], budget);
        finds(
            "comes to rest",
            &scenario.breaking(Promise::GarbageCollection),
        );
    }

    #[test]
    fn finds_a_root_that_is_released_although_a_delete_failed() {
        let scenario = Scenario::new("nothing is essential", &[APPLY], DEAF).roots(&[DYING_ROOT]);
        finds(
            "essential",
            &scenario.limits(2, 2).defect(Defect::ForgetsEssential),
        );
    }

    #[test]
    fn finds_a_write_that_lacks_what_it_refers_to() {
        let scenario = Scenario::new("nothing is needed", &[APPLY, APPLY.needy()], QUIET);
        finds(
            "something that it needs is not there",
            &scenario.defect(Defect::ForgetsNeeds),
        );
    }

    #[test]
    fn finds_a_prune_after_a_failure() {
        let scenario = Scenario::new("nothing is cautious", &[APPLY, LEFTOVER], DEAF).limits(2, 2);
        finds(
            "a cautious step runs after a failure",
            &scenario.defect(Defect::ForgetsCautious),
        );
    }

    #[test]
    fn finds_stages_that_run_together() {
        let scenario = Scenario::new("no stages", &[APPLY, APPLY.late()], QUIET);
        finds(
            "an earlier stage has not ended",
            &scenario.defect(Defect::ForgetsStages),
        );
    }

    #[test]
    fn finds_more_requests_in_flight_than_allowed() {
        let scenario = Scenario::new("too many requests", &[APPLY, APPLY, APPLY], QUIET);
        finds(
            "more requests in flight than allowed",
            &scenario.defect(Defect::SendsTooMany),
        );
    }

    #[test]
    fn finds_a_write_that_changes_nothing() {
        finds(
            "wasted a write",
            &Scenario::new("eager", &[APPLY], QUIET).defect(Defect::WritesUnchanged),
        );
    }

    #[test]
    fn finds_a_plan_that_never_reaches_its_goal() {
        let scenario = Scenario::new("forgets to prune", &[LEFTOVER], QUIET);
        finds(
            "goes round in circles",
            &scenario.defect(Defect::ForgetsLastStep),
        );
    }

    #[test]
    fn finds_a_success_that_is_none() {
        let scenario = Scenario::new("forgets to apply", &[APPLY], QUIET);
        finds(
            "is not as wanted, but unchanged",
            &scenario.defect(Defect::ForgetsLastStep),
        );
    }

    #[test]
    fn finds_an_update_of_what_is_created_once() {
        let scenario = Scenario::new("eager", &[ONCE], LIGHT).defect(Defect::WritesUnchanged);
        finds("updated what is created once", &scenario);
    }
}
