use mainstay_engine::snapshot::View;
use serde_json::json;

use super::*;

const SECRET: Kind = Kind::new("", "v1", "Secret");

static DATA: View<i64> = View::new("data", |object| object.get("data")?.as_i64());

fn secret(name: &str) -> ObjectKey {
    ObjectKey::new(SECRET, "shop", name)
}

fn root() -> ObjectKey {
    ObjectKey::new(Kind::new("example.io", "v1", "Thing"), "shop", "thing")
}

fn of(subject: Subject) -> Interest {
    Interest {
        subject: Arc::new(subject),
        view: DATA.name,
    }
}

fn object(name: &str) -> Interest {
    of(Subject::Object(secret(name)))
}

fn interested(interest: &Interest) -> Views {
    let store = Views::default();
    store.extend(&root(), &interest.subject, &DATA);
    store
}

fn known(store: &Views, interest: &Interest) -> Option<Vec<i64>> {
    values(store.answer(&interest.subject, &DATA, false))
}

fn confirmed(store: &Views, interest: &Interest) -> Option<Vec<i64>> {
    values(store.answer(&interest.subject, &DATA, true))
}

fn values(answer: Option<Vec<Projected>>) -> Option<Vec<i64>> {
    let values = answer?.into_iter().filter_map(Projected::downcast::<i64>);
    Some(values.map(|value| *value).collect())
}

fn content(value: i64) -> Vec<Projected> {
    vec![Projected::new(value)]
}

#[test]
fn absence_is_known_without_a_request() {
    let store = Views::default();
    let interest = object("a");
    assert_eq!(known(&store, &interest), Some(vec![]));
    store.seen(&secret("a"), "5");
    assert_eq!(known(&store, &interest), None);
    store.gone(&secret("a"));
    assert_eq!(known(&store, &interest), Some(vec![]));
}

#[test]
fn absence_that_matters_is_read_once_and_ends_when_the_watch_says_so() {
    let interest = object("a");
    let store = interested(&interest);
    assert_eq!(confirmed(&store, &interest), None);
    store.learn(&interest, "", Vec::new());
    assert_eq!(confirmed(&store, &interest), Some(vec![]));
    assert_eq!(store.seen(&secret("a"), "5"), [root()]);
    assert_eq!(confirmed(&store, &interest), None);
}

#[test]
fn content_is_kept_until_a_newer_version_is_seen() {
    let interest = object("a");
    let store = interested(&interest);
    assert_eq!(store.seen(&secret("a"), "5"), [root()]);
    store.learn(&interest, "5", content(1));
    assert_eq!(known(&store, &interest), Some(vec![1]));
    assert!(store.seen(&secret("a"), "5").is_empty(), "old news");
    assert_eq!(store.seen(&secret("a"), "6"), [root()]);
    assert_eq!(known(&store, &interest), None);
}

#[test]
fn a_read_that_is_older_than_the_watch_is_not_kept() {
    let interest = object("a");
    let store = interested(&interest);
    store.seen(&secret("a"), "6");
    store.learn(&interest, "5", content(1));
    assert_eq!(known(&store, &interest), None);
}

#[test]
fn an_object_that_was_not_found_is_news_when_it_is_seen() {
    let interest = object("a");
    let store = interested(&interest);
    store.seen(&secret("a"), "6");
    store.learn(&interest, "", Vec::new());
    assert_eq!(known(&store, &interest), Some(vec![]));
    assert_eq!(store.seen(&secret("a"), "7"), [root()]);
    assert_eq!(known(&store, &interest), None);
}

#[test]
fn nothing_is_kept_of_what_nobody_is_interested_in() {
    let interest = object("a");
    let store = interested(&interest);
    store.seen(&secret("a"), "5");
    store.learn(&interest, "5", content(1));
    store.retain(&root(), BTreeSet::new());
    assert_eq!(known(&store, &interest), None);
    assert!(store.seen(&secret("a"), "7").is_empty());
    store.learn(&interest, "7", content(1));
    store.lock(|inner| {
        assert!(inner.subjects.is_empty() && inner.versions.is_empty());
        assert!(inner.by_root.is_empty());
    });
}

#[test]
fn any_change_in_a_namespace_concerns_who_wants_all_of_it() {
    let interest = of(Subject::List(SECRET, "shop".to_owned()));
    let store = interested(&interest);
    store.learn(&interest, "9", Vec::new());
    assert_eq!(known(&store, &interest), Some(vec![]));
    assert_eq!(store.seen(&secret("new"), "10"), [root()]);
    assert_eq!(known(&store, &interest), None);
    store.learn(&interest, "10", Vec::new());
    assert_eq!(store.gone(&secret("new")), [root()]);
    assert_eq!(known(&store, &interest), None);
}

#[test]
fn a_list_forgets_what_it_does_not_contain() {
    let interest = object("a");
    let store = interested(&interest);
    store.seen(&secret("a"), "5");
    store.learn(&interest, "5", content(1));
    store.begin_list(&SECRET);
    assert_eq!(store.end_list(&SECRET), [root()]);
    assert_eq!(known(&store, &interest), Some(vec![]));
}

#[test]
fn nothing_of_a_kind_that_cannot_be_listed_counts_as_absent_before_it_was_looked_for() {
    let interest = object("a");
    let store = interested(&interest);
    store.go_on_without(&SECRET);
    assert_eq!(known(&store, &interest), None);
    store.learn(&interest, "", Vec::new());
    assert_eq!(known(&store, &interest), Some(vec![]));
    let other = object("b");
    assert_eq!(known(&store, &other), None);
    store.begin_list(&SECRET);
    store.end_list(&SECRET);
    assert_eq!(known(&store, &other), Some(vec![]));
}

#[test]
fn a_root_wakes_those_who_see_a_difference_in_it() {
    let other = ObjectKey::new(Kind::new("example.io", "v1", "Group"), "", "group");
    let interest = of(Subject::Object(other.clone()));
    let store = interested(&interest);
    let changed = |version: &str, data: i64, status: i64| {
        let value = json!({"data": data, "status": status});
        store.root_changed(&other, version, Some(&value))
    };
    assert_eq!(changed("5", 1, 1), [root()]);
    assert!(changed("6", 1, 2).is_empty(), "nothing that the view shows");
    assert_eq!(changed("7", 2, 2), [root()]);
    assert_eq!(store.root_changed(&other, "8", None), [root()]);
    assert_eq!(known(&store, &interest), Some(vec![]));
}
