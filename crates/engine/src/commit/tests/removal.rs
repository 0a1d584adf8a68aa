//! Objects that shall go, and the finalizers of the root.

use super::*;

#[test]
fn a_delete_that_met_a_change_is_judged_anew() {
    let run = Run::of([step("a", 1, DesiredState::Absent, delete_action())]);
    run.sends(delete_of("1"));
    let run = run.after([Answer::Conflict, seen(&ours("2", "drifted"))]);
    run.sends(delete_of("2"));
    run.after([Answer::Deleted]).ends(Change::Deleted);
}

#[test]
fn a_delete_leaves_what_is_no_longer_ours() {
    let disowned = Arc::new(live("2", None, "drifted"));
    let run = Run::of([step("a", 1, DesiredState::Absent, delete_action())])
        .after([Answer::Conflict, seen(&disowned)]);
    run.ends(Change::Unchanged(None));
}

#[test]
fn a_delete_of_what_is_gone_or_going_has_succeeded() {
    let mut going = live("2", Some(OURS), "drifted");
    going.deleting = true;
    for answers in [
        vec![Answer::NotFound],
        vec![lost(), Answer::Seen(None)],
        vec![lost(), seen(&Arc::new(going))],
    ] {
        Run::of([step("a", 1, DesiredState::Absent, delete_action())])
            .after(answers)
            .ends(Change::Deleted);
    }
}

#[test]
fn a_root_that_went_with_its_last_finalizer_is_deleted_and_one_that_should_stay_is_missed() {
    Run::of([finalizers(&[])])
        .after([Answer::NotFound])
        .ends(Change::Deleted);
    Run::of([finalizers(&["f"])])
        .after([Answer::NotFound])
        .ends(failed("no longer exists"));
}

#[test]
fn a_lost_answer_to_a_finalizer_patch_is_left_to_the_next_pass() {
    Run::of([finalizers(&["f"])])
        .after([lost()])
        .ends(failed("connection reset"));
}
