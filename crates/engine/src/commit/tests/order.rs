//! Order, room, attempts and the stop.

use super::*;

#[test]
fn a_plan_without_work_sends_nothing_and_is_finished() {
    let object = ours("1", "wanted");
    let run = Run::of([present(
        "a",
        1,
        Options::DEFAULT,
        Action::Unchanged(Some(object.clone())),
    )]);
    run.ends(Change::Unchanged(Some(object)));
}

#[test]
fn gives_up_after_the_allowed_attempts_with_the_last_message() {
    let limits = Limits {
        attempts: 3,
        ..Limits::default()
    };
    let run = Run::new(limits, [create("a", 1)]).after([lost(), lost()]);
    run.sends(Operation::Read);
    run.after([lost()]).ends(failed("connection reset"));
}

#[test]
fn gives_up_on_an_object_that_others_keep_changing() {
    let limits = Limits {
        attempts: 3,
        ..Limits::default()
    };
    let run = Run::new(limits, [present("a", 1, Options::DEFAULT, update_action())]);
    run.after([
        Answer::Conflict,
        seen(&ours("2", "drifted")),
        Answer::Conflict,
    ])
    .ends(failed(BUSY));
}

#[test]
fn the_same_words_of_a_failing_server_twice_end_it_with_these_words() {
    let broken = || Answer::ServerError {
        message: "field not declared in schema".to_owned(),
    };
    let run = Run::of([present("a", 1, Options::DEFAULT, update_action())]);
    let run = run.after([broken(), seen(&ours("1", "drifted"))]);
    run.sends(update_of("1"));
    run.after([broken()])
        .ends(failed("field not declared in schema"));
}

#[test]
fn a_server_that_fails_once_is_asked_again() {
    let broken = Answer::ServerError {
        message: "leader changed".to_owned(),
    };
    let written = ours("2", "wanted");
    let run = Run::of([create("a", 1)]).after([broken, Answer::Seen(None)]);
    run.sends(Operation::Create);
    run.after([Answer::Applied(written.clone())])
        .ends(Change::Created(written));
}

#[test]
fn what_the_server_said_last_is_told_and_not_a_conflict_that_it_was_not() {
    let limits = Limits {
        attempts: 4,
        ..Limits::default()
    };
    let run = Run::new(limits, [present("a", 1, Options::DEFAULT, update_action())]);
    run.after([
        Answer::Conflict,
        seen(&ours("2", "drifted")),
        lost(),
        seen(&ours("2", "drifted")),
    ])
    .ends(failed("connection reset"));
}

#[test]
fn comes_back_when_the_server_asks_to() {
    let later = Answer::Later {
        message: "too many requests".to_owned(),
        after: Duration::from_secs(3),
    };
    let run = Run::of([create("a", 1)]).after([later]);
    assert_eq!(run.open[0].after, Duration::from_secs(3));
    run.sends(Operation::Read);
}

#[test]
fn a_body_that_is_outdated_is_not_sent_again() {
    Run::of([create("a", 1)])
        .after([Answer::Outdated])
        .ends(Change::Failed(Failure::Outdated));
}

#[test]
fn waits_longer_the_more_requests_an_object_has_cost() {
    let mut run = Run::of([create("a", 1)]);
    let mut pauses = Vec::new();
    for answer in [lost(), lost(), Answer::Seen(None), Answer::Conflict] {
        run.answer(0, answer);
        pauses.extend(run.open.iter().map(|request| request.after.as_millis()));
    }
    assert_eq!(pauses, [100, 200, 0, 400]);
}

#[test]
fn sends_as_much_as_there_is_room_for_and_fills_up() {
    let limits = Limits {
        in_flight: 2,
        ..Limits::default()
    };
    let mut run = Run::new(limits, ["a", "b", "c"].map(|name| create(name, 1)));
    assert_eq!(
        run.operations(),
        [(0, Operation::Create), (1, Operation::Create)]
    );
    run.answer(1, Answer::Conflict);
    assert_eq!(
        run.operations(),
        [(0, Operation::Create), (1, Operation::Read)]
    );
    run.answer(0, Answer::Applied(ours("1", "wanted")));
    assert_eq!(
        run.operations(),
        [(1, Operation::Read), (2, Operation::Create)]
    );
}

#[test]
fn a_stage_begins_when_the_one_before_has_ended_well_or_not() {
    let mut run = Run::of([create("a", 1), create("b", 1), create("c", 2)]);
    run.answer(0, Answer::NotFound);
    assert_eq!(run.operations(), [(1, Operation::Create)]);
    run.answer(1, Answer::Applied(ours("1", "wanted")));
    assert_eq!(run.operations(), [(2, Operation::Create)]);
}

#[test]
fn an_essential_failure_skips_every_later_stage() {
    let mut run = Run::of([finalizers(&["f"]), create("a", 1), create("b", 2)]);
    run.answer(0, Answer::Conflict);
    assert!(run.commit.is_finished() && run.open.is_empty());
    assert_eq!(
        run.changes(),
        [
            failed("was changed meanwhile"),
            Change::Skipped,
            Change::Skipped
        ]
    );
}

#[test]
fn a_cautious_step_is_skipped_after_a_failure_and_its_neighbour_is_not() {
    let prune = Step {
        cautious: true,
        ..step("b", 2, DesiredState::Absent, delete_action())
    };
    let mut run = Run::of([create("a", 1), prune, create("c", 2)]);
    run.answer(0, Answer::NotFound);
    assert_eq!(run.operations(), [(2, Operation::Create)]);
}

#[test]
fn a_stop_ends_every_open_step_and_keeps_what_was_achieved() {
    let object = ours("1", "wanted");
    let mut run = Run::of([create("a", 1), create("b", 1), create("c", 2)]);
    run.answer(0, Answer::Applied(object.clone()));
    run.open.clear();
    let message = "leadership was lost".to_owned();
    run.feed(Input::Stop { message });
    assert!(run.commit.is_finished() && run.open.is_empty());
    let stopped = failed("leadership was lost");
    assert_eq!(
        run.changes(),
        [Change::Created(object), stopped.clone(), stopped]
    );
}

#[test]
fn an_answer_that_comes_after_the_stop_changes_nothing() {
    let mut run = Run::of([create("a", 1)]);
    run.feed(Input::Stop {
        message: "took too long".to_owned(),
    });
    run.after([Answer::Conflict, Answer::Applied(ours("1", "wanted"))])
        .ends(failed("took too long"));
}

#[test]
fn an_answer_for_a_step_that_does_not_exist_is_ignored() {
    let mut run = Run::of([create("a", 1)]);
    run.feed(Input::Answered {
        step: 9,
        answer: Answer::Deleted,
    });
    run.sends(Operation::Create);
}

#[test]
fn an_object_that_keeps_changing_gets_more_and_more_time() {
    let mut run = Run::of([present("a", 1, Options::DEFAULT, update_action())]);
    let mut pauses = Vec::new();
    for version in ["2", "3", "4"] {
        run = run.after([Answer::Conflict]);
        pauses.push(run.open.last().unwrap().after);
        run = run.after([seen(&ours(version, "other"))]);
        assert_eq!(
            run.open.last().unwrap().after,
            Duration::ZERO,
            "what was judged is sent at once"
        );
    }
    assert_eq!(pauses[0], Duration::ZERO);
    assert!(
        pauses.is_sorted() && pauses[1] > Duration::ZERO,
        "{pauses:?}"
    );
}
