//! Marks, hashes, inventories and gates.

use super::*;
use crate::{
    commit::Answer,
    mark::{Mark, Marked},
    options::{Adopt, Update},
};

static MARK: Mark = Mark {
    label: ("by", "us"),
    name: "/metadata/annotations/root",
    namespace: Some("/metadata/annotations/namespace"),
    hash: "/metadata/annotations/example.io~1hash",
};

/// Told by owner or mark, and written if the hash differs.
fn by_hash(options: Options) -> Options {
    Options {
        mark: Some(&MARK),
        update: Update::IfHashDiffers,
        adopt: Adopt::Relatives,
        ..options
    }
}

fn hashed(name: &str, hash: &str) -> Value {
    let mut body = body("Service", name);
    body["metadata"]["labels"] = json!({"by": "us"});
    body["metadata"]["annotations"] =
        json!({"root": "thing", "namespace": "n", "example.io/hash": hash});
    body["metadata"]["ownerReferences"] = json!([{"name": "thing", "uid": "owner"}]);
    body
}

fn marked(name: &str, owner: Option<&str>, hash: &str) -> Arc<LiveObject> {
    let mut object = LiveObject::clone(&live("Service", name, owner, "1"));
    object.marked = Some(Marked {
        root: "n/thing".to_owned(),
        hash: hash.to_owned(),
    });
    Arc::new(object)
}

#[test]
fn an_object_that_is_judged_by_its_hash_is_written_for_hash_and_owner_alone() {
    let mut set = ObjectSet::new(DECLARED);
    for name in ["same", "older", "disowned", "taken", "foreign"] {
        set.add_with("unit", &hashed(name, "2"), by_hash).unwrap();
    }
    set.take_over_from(ObjectKey::new(
        Kind::new("example.io", "v1", "Thing"),
        "",
        "sibling",
    ));
    let mut taken = LiveObject::clone(&marked("taken", Some("sibling-uid"), "2"));
    taken.owners[0].group = "example.io".to_owned();
    taken.owners[0].kind = "Thing".to_owned();
    taken.owners[0].name = "sibling".to_owned();
    taken.owners[0].controller = true;
    let mut foreign = LiveObject::clone(&marked("foreign", Some("stranger"), "2"));
    foreign.owners[0].name = "stranger".to_owned();
    foreign.owners[0].controller = true;
    let mut same = LiveObject::clone(&marked("same", Some("owner"), "2"));
    same.owners[0].controller = true;
    let mut older = LiveObject::clone(&marked("older", Some("owner"), "1"));
    older.owners[0].controller = true;
    let objects = [same, older, taken, foreign].map(Arc::new);
    let disowned = marked("disowned", None, "2");
    let live = world(objects.into_iter().chain([disowned]));
    let plan = plan(&root(&["example.io/finalizer"]), &set, &live, &LIFECYCLE);
    let planned: Vec<String> = plan
        .steps
        .iter()
        .map(|step| {
            let paths: Vec<&str> = step.changes.iter().map(|one| one.path.as_str()).collect();
            format!("{} {:?} {paths:?}", step.key.name, step.action.planned())
        })
        .collect();
    assert_eq!(
        planned,
        [
            "same Nothing []",
            r#"older Update ["metadata.annotations.example.io/hash"]"#,
            r#"disowned Update ["metadata.ownerReferences"]"#,
            r#"taken Update ["metadata.ownerReferences"]"#,
            "foreign Nothing []",
        ]
    );
    assert!(matches!(plan.steps[4].action, Action::Foreign { .. }));
}

#[test]
fn what_an_inventory_names_is_looked_at_and_goes_only_if_it_is_ours() {
    let mut set = ObjectSet::new(DECLARED);
    set.add_with("unit", &hashed("wanted", "1"), by_hash)
        .unwrap();
    set.record_first(json!({"inventory": ["wanted"]}));
    for name in ["wanted", "marked", "foreign", "unseen"] {
        let key = ObjectKey::of(&body("Service", name)).unwrap();
        set.prune.place(key, by_hash(Options::DEFAULT));
    }
    let live = world([
        marked("marked", None, "1"),
        live("Service", "foreign", None, "1"),
    ]);
    let plan = plan(&root(&[]), &set, &live, &LIFECYCLE);
    assert_eq!(
        words(&plan),
        [
            "finalizer Thing n/thing: adds finalizer example.io/finalizer",
            "record Thing n/thing: records where things are put",
            "create Service n/wanted: does not exist",
            "delete Service n/marked: no longer rendered",
            "unchanged Service n/foreign: no longer rendered",
            "look at Service n/unseen: no longer rendered",
        ]
    );
    let stages: Vec<u16> = plan.steps.iter().map(|step| step.stage).collect();
    assert_eq!(stages[..3], [0, 1, 2]);
    assert!(plan.steps[3..].iter().all(|step| step.cautious));
}

#[test]
fn the_places_of_a_root_that_goes_are_emptied_group_by_group() {
    let place = |name: &str, phase| {
        let options = Options {
            phase,
            stops: Stops::UntilGone,
            ..by_hash(Options::DEFAULT)
        };
        (ObjectKey::of(&body("Service", name)).unwrap(), options)
    };
    let cleanup = Cleanup {
        places: vec![place("second", 1), place("first", 0), place("going", 0)],
        ..Cleanup::default()
    };
    let mut going = LiveObject::clone(&marked("going", Some("owner"), "1"));
    going.deleting = true;
    let live = world([Arc::new(going), marked("second", Some("owner"), "1")]);
    let lifecycle = Lifecycle {
        deletion: Deletion::ByOwnerReference,
        ..LIFECYCLE
    };
    let root = root(&["example.io/finalizer"]);
    let plan = plan_deletion(&root, &DECLARED, &live, &lifecycle, &cleanup);
    assert_eq!(
        words(&plan),
        [
            "look at Service n/first: its owner is being deleted",
            "await Service n/going: its owner is being deleted",
            "delete Service n/second: its owner is being deleted",
            "finalizer Thing n/thing: removes finalizer example.io/finalizer",
        ]
    );
    let (commit, requests) = Commit::new(Arc::new(plan), Limits::default()).step(Input::Start);
    assert_eq!(requests.len(), 1, "only the first group is looked at");
    let answer = Answer::Seen(None);
    let (commit, requests) = commit.step(Input::Answered { step: 0, answer });
    assert!(requests.is_empty() && commit.is_finished());
    let ends = commit.changes().rows.into_iter().map(|row| row.change);
    let expected = [
        Change::Deleted,
        Change::Deleting,
        Change::Skipped,
        Change::Skipped,
    ];
    assert!(ends.eq(expected));
}

#[test]
fn phases_that_belong_together_are_stopped_together() {
    let mut set = ObjectSet::new(DECLARED);
    for (name, phase) in [("first", 0), ("second", 1), ("third", 2)] {
        let stops = Stops::After(1);
        let options = |options| Options {
            phase,
            stops,
            ..options
        };
        set.add_with("unit", &body("Service", name), options)
            .unwrap();
    }
    set.record_first(json!({}));
    let root = root(&["example.io/finalizer"]);
    let live = world([live("Service", "first", Some("stranger"), "1")]);
    let plan = plan(&root, &set, &live, &LIFECYCLE);
    let recorded = Answer::Applied(Arc::new(LiveObject::clone(&marked("a", None, "1"))));
    let (commit, _) = Commit::new(Arc::new(plan), Limits::default()).step(Input::Start);
    let (commit, requests) = commit.step(Input::Answered {
        step: 0,
        answer: recorded,
    });
    assert_eq!(
        requests.len(),
        1,
        "the second phase begins although the first one failed"
    );
    let refused = Answer::Refused {
        message: "no".to_owned(),
    };
    let (commit, requests) = commit.step(Input::Answered {
        step: requests[0].step,
        answer: refused,
    });
    assert!(requests.is_empty() && commit.is_finished());
}
