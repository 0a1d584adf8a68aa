use serde_json::json;

use super::*;

const SERVICE: Kind = Kind::new("", "v1", "Service");
const DEPLOYMENT: Kind = Kind::new("apps", "v1", "Deployment");

fn live(kind: Kind, name: &str, uid: &str, version: u32, facts: &str) -> LiveObject {
    LiveObject {
        key: ObjectKey::new(kind, "shop", name),
        uid: uid.to_owned(),
        resource_version: version.to_string(),
        deleting: false,
        owners: vec![Owner {
            group: "example.io".to_owned(),
            kind: "Thing".to_owned(),
            name: "thing".to_owned(),
            uid: "owner".to_owned(),
            controller: true,
        }],
        owned: Owned::default(),
        marked: None,
        foreign_items: Vec::new(),
        migrated_managed_fields: None,
        facts: json!(facts),
    }
}

fn names(cache: &Cache) -> Vec<String> {
    let owned = cache.owned_by("owner");
    owned.iter().map(|object| object.key.to_string()).collect()
}

#[test]
fn what_goes_in_comes_out() {
    let cache = Cache::default();
    let object = live(SERVICE, "a", "1", 5, "x");
    assert!(cache.learn(&object));
    assert_eq!(*cache.get(&object.key).unwrap(), object);
}

#[test]
fn the_echo_of_a_write_and_older_news_wake_nobody() {
    let cache = Cache::default();
    cache.learn(&live(SERVICE, "a", "1", 5, "x"));
    assert!(!cache.learn(&live(SERVICE, "a", "1", 5, "x")), "the echo");
    assert!(!cache.learn(&live(SERVICE, "a", "1", 4, "old")), "older");
    assert!(
        !cache.learn(&live(SERVICE, "a", "0", 3, "old")),
        "an object before this one"
    );
    assert_eq!(
        cache
            .get(&live(SERVICE, "a", "1", 5, "x").key)
            .unwrap()
            .facts,
        "x"
    );
}

#[test]
fn a_version_that_changes_nothing_for_us_is_taken_quietly() {
    let cache = Cache::default();
    cache.learn(&live(SERVICE, "a", "1", 5, "x"));
    assert!(!cache.learn(&live(SERVICE, "a", "1", 6, "x")));
    assert_eq!(
        cache
            .get(&live(SERVICE, "a", "1", 6, "x").key)
            .unwrap()
            .resource_version,
        "6"
    );
    assert!(cache.learn(&live(SERVICE, "a", "1", 7, "y")));
    assert!(
        cache.learn(&live(SERVICE, "a", "2", 8, "y")),
        "another object of that name"
    );
}

#[test]
fn children_are_listed_by_owner_in_the_order_of_their_keys() {
    let cache = Cache::default();
    cache.learn(&live(DEPLOYMENT, "a", "1", 1, ""));
    cache.learn(&live(SERVICE, "b", "2", 2, ""));
    cache.learn(&live(SERVICE, "a", "3", 3, ""));
    assert_eq!(
        names(&cache),
        ["Service shop/a", "Service shop/b", "Deployment shop/a"]
    );
    cache.forget(&ObjectKey::new(SERVICE, "shop", "b"), "2");
    assert_eq!(names(&cache), ["Service shop/a", "Deployment shop/a"]);
    let mut orphan = live(SERVICE, "a", "3", 4, "");
    orphan.owners.clear();
    assert!(cache.learn(&orphan), "to lose an owner is a change");
    assert_eq!(names(&cache), ["Deployment shop/a"]);
}

#[test]
fn only_the_object_that_was_meant_is_forgotten() {
    let cache = Cache::default();
    cache.learn(&live(SERVICE, "a", "new", 9, ""));
    cache.forget(&ObjectKey::new(SERVICE, "shop", "a"), "old");
    assert_eq!(names(&cache), ["Service shop/a"]);
}

#[test]
fn what_was_deleted_does_not_come_back_by_a_slow_watch() {
    let cache = Cache::default();
    let first = live(SERVICE, "a", "first", 5, "");
    cache.learn(&first);
    cache.bury(&first.key, "first");
    assert!(!cache.learn(&live(SERVICE, "a", "first", 6, "late")));
    assert!(names(&cache).is_empty(), "news from before its end");
    assert!(cache.learn(&live(SERVICE, "a", "second", 9, "")));
    assert_eq!(names(&cache), ["Service shop/a"], "another of that name");
}

#[test]
fn an_end_that_the_watch_told_first_is_not_waited_for() {
    let cache = Cache::default();
    let object = live(SERVICE, "a", "first", 5, "");
    cache.learn(&object);
    cache.forget(&object.key, "first");
    cache.bury(&object.key, "first");
    assert!(cache.learn(&object));
}

#[test]
fn a_list_removes_what_it_does_not_contain_but_not_what_was_written_meanwhile() {
    let cache = Cache::default();
    for (name, version) in [("listed", 1), ("gone", 2)] {
        cache.learn(&live(SERVICE, name, name, version, ""));
    }
    cache.learn(&live(DEPLOYMENT, "other-kind", "other-kind", 3, ""));
    cache.begin_list(&SERVICE);
    cache.learn(&live(SERVICE, "listed", "listed", 1, ""));
    cache.learn(&live(SERVICE, "written", "written", 4, ""));
    let removed = cache.end_list(&SERVICE);
    let removed: Vec<&str> = removed.iter().map(|gone| gone.key.name.as_str()).collect();
    assert_eq!(removed, ["gone"]);
    assert_eq!(
        names(&cache),
        [
            "Service shop/listed",
            "Service shop/written",
            "Deployment shop/other-kind"
        ]
    );
}
