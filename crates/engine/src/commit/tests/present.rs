//! Objects that shall exist.

use super::*;

#[test]
fn a_create_whose_answer_was_lost_is_not_sent_again_if_it_arrived() {
    let object = ours("1", "wanted");
    let run = Run::of([create("a", 1)]);
    run.sends(Operation::Create);
    let run = run.after([lost()]);
    run.sends(Operation::Read);
    run.after([seen(&object)]).ends(Change::Configured(object));
}

#[test]
fn a_create_that_did_not_arrive_is_sent_again() {
    let object = ours("1", "wanted");
    let run = Run::of([create("a", 1)]).after([lost(), Answer::Seen(None)]);
    run.sends(Operation::Create);
    run.after([Answer::Applied(object.clone())])
        .ends(Change::Created(object));
}

#[test]
fn an_object_that_somebody_else_created_first_is_left_alone() {
    let foreign = Arc::new(live("1", Some("another"), "theirs"));
    let run = Run::of([create("a", 1)]).after([Answer::Conflict, seen(&foreign)]);
    let holder = "belongs to Thing other".to_owned();
    run.ends(Change::Failed(Failure::Foreign { holder }));
}

#[test]
fn an_update_names_the_object_and_the_state_that_were_judged() {
    let run = Run::of([present("a", 1, Options::DEFAULT, update_action())]);
    run.sends(update_of("1"));
    let run = run.after([Answer::Conflict, seen(&ours("2", "drifted"))]);
    run.sends(update_of("2"));
}

#[test]
fn an_object_that_was_disowned_before_its_update_is_left_alone() {
    let disowned = Arc::new(live("2", None, "drifted"));
    let run = Run::of([present("a", 1, Options::DEFAULT, update_action())])
        .after([Answer::Conflict, seen(&disowned)]);
    let holder = "was not created by this operator".to_owned();
    run.ends(Change::Failed(Failure::Foreign { holder }));
}

#[test]
fn an_object_that_vanished_before_its_update_is_created() {
    for gone in [Answer::Conflict, Answer::NotFound] {
        let run = Run::of([present("a", 1, Options::DEFAULT, update_action())])
            .after([gone, Answer::Seen(None)]);
        run.sends(Operation::Create);
    }
}

#[test]
fn an_immutable_change_deletes_what_was_read_and_creates_it_anew_if_the_policy_says_so() {
    let run = Run::of([present(
        "a",
        1,
        Options::DEFAULT.recreated(),
        update_action(),
    )])
    .after([immutable()]);
    run.sends(Operation::Read);
    let run = run.after([seen(&ours("2", "drifted"))]);
    run.sends(delete_of("2"));
    let run = run.after([Answer::Deleted]);
    run.sends(Operation::Create);
    let object = ours("3", "wanted");
    run.after([Answer::Applied(object.clone())])
        .ends(Change::Created(object));
}

#[test]
fn an_immutable_change_is_refused_without_that_policy() {
    let run = Run::of([present("a", 1, Options::DEFAULT, update_action())]).after([immutable()]);
    run.ends(refused("field is immutable"));
}

#[test]
fn a_recreate_waits_for_what_holds_the_old_object() {
    let mut going = live("3", Some(OURS), "drifted");
    going.deleting = true;
    let answers = [
        immutable(),
        seen(&ours("2", "drifted")),
        Answer::Deleted,
        Answer::Conflict,
        seen(&Arc::new(going)),
    ];
    Run::of([present(
        "a",
        1,
        Options::DEFAULT.recreated(),
        update_action(),
    )])
    .after(answers)
    .ends(failed(DELETING));
}

#[test]
fn what_is_created_once_is_kept_as_it_was_found() {
    let object = ours("1", "grown");
    let run = Run::of([present("a", 1, Options::DEFAULT.once(), Action::Create)])
        .after([Answer::Conflict, seen(&object)]);
    run.ends(Change::Unchanged(Some(object)));
}

#[test]
fn an_object_that_is_being_deleted_is_not_written_and_holds_up_what_is_cautious() {
    let mut going = live("1", Some(OURS), "drifted");
    going.deleting = true;
    let prune = Step {
        cautious: true,
        ..step("b", 2, DesiredState::Absent, delete_action())
    };
    let run = Run::of([
        present(
            "a",
            1,
            Options::DEFAULT,
            Action::Unchanged(Some(Arc::new(going))),
        ),
        prune,
    ]);
    assert!(run.commit.is_finished() && run.open.is_empty());
    assert_eq!(run.changes(), [failed(DELETING), Change::Skipped]);
}

#[test]
fn a_kind_that_is_not_served_is_no_object_that_is_absent() {
    for action in [Action::Create, update_action()] {
        Run::of([present("a", 1, Options::DEFAULT, action)])
            .after([Answer::NotServed])
            .ends(Change::Failed(Failure::NotServed));
    }
    // An API server that has just started may not know the kind yet, so nothing is taken for gone.
    Run::of([step("a", 1, DesiredState::Absent, delete_action())])
        .after([Answer::NotServed])
        .ends(Change::Failed(Failure::NotServed));
}

#[test]
fn a_missing_namespace_is_named() {
    Run::of([create("a", 1)])
        .after([Answer::NotFound])
        .ends(Change::Failed(Failure::NamespaceMissing {
            namespace: "shop".to_owned(),
        }));
}

#[test]
fn a_refusal_ends_the_step_with_the_words_of_the_server() {
    let message = "quota exceeded".to_owned();
    Run::of([create("a", 1)])
        .after([Answer::Refused { message }])
        .ends(refused("quota exceeded"));
}

#[test]
fn items_of_others_go_first_and_then_the_object_is_judged_again() {
    let strip = |version: &str| Operation::Fixup {
        uid: "u".to_owned(),
        resource_version: version.to_owned(),
        fixup: Fixup::RemoveForeignItems(vec!["/spec/list/1".to_owned()]),
    };
    let action = Action::Fixup {
        uid: "u".to_owned(),
        resource_version: "1".to_owned(),
        fixup: Fixup::RemoveForeignItems(vec!["/spec/list/1".to_owned()]),
    };
    let exact = Options {
        exact_lists: true,
        ..Options::DEFAULT
    };
    let strict = present("a", 1, exact, action);
    let run = Run::of([strict.clone()]);
    run.sends(strip("1"));
    let stripped = ours("2", "wanted");
    run.after([Answer::Applied(stripped.clone())])
        .ends(Change::Configured(stripped));
    let run = Run::of([strict.clone()]).after([Answer::Applied(ours("2", "drifted"))]);
    run.sends(update_of("2"));
    let again = Arc::new(LiveObject {
        marked: None,
        foreign_items: vec!["/spec/list/1".to_owned()],
        ..live("3", Some(OURS), "wanted")
    });
    let run = Run::of([strict]).after([Answer::Conflict, seen(&again)]);
    run.sends(strip("3"));
}

#[test]
fn what_a_former_manager_wrote_is_taken_over_first_and_then_judged() {
    let managed_fields = json!([{"manager": "ours", "operation": "Apply"}]);
    let action = Action::Fixup {
        uid: "u".to_owned(),
        resource_version: "1".to_owned(),
        fixup: Fixup::MigrateManager(managed_fields.clone()),
    };
    let inherit = present("a", 1, Options::DEFAULT, action);
    let run = Run::of([inherit.clone()]);
    run.sends(Operation::Fixup {
        uid: "u".to_owned(),
        resource_version: "1".to_owned(),
        fixup: Fixup::MigrateManager(managed_fields),
    });
    let inherited = ours("2", "wanted");
    run.after([Answer::Applied(inherited.clone())])
        .ends(Change::Configured(inherited));
    let run = Run::of([inherit]).after([Answer::Applied(ours("2", "drifted"))]);
    run.sends(update_of("2"));
}

#[test]
fn fields_are_not_sent_once_the_facts_they_were_rendered_from_have_changed() {
    let scaled = Arc::new(LiveObject {
        facts: json!({"replicas": 5}),
        ..live("3", Some(OURS), "drifted")
    });
    let run = Run::of([present("a", 1, Options::DEFAULT, update_action())])
        .after([Answer::Conflict, seen(&scaled)]);
    run.ends(Change::Failed(Failure::Outdated));
    let reached = Arc::new(LiveObject {
        facts: json!({"replicas": 5}),
        ..live("3", Some(OURS), "wanted")
    });
    let run = Run::of([present("a", 1, Options::DEFAULT, update_action())])
        .after([Answer::Conflict, seen(&reached)]);
    run.ends(Change::Unchanged(Some(reached)));
}
