use mainstay_engine::snapshot::{IndexStore, Projected, Slot};
use serde_json::json;

use super::*;

fn app(
    namespace: &str,
    name: &str,
    environment: &str,
    dependencies: &[&str],
) -> (ObjectKey, Value) {
    let value = json!({
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"envName": environment, "dependencies": dependencies},
    });
    (kinds::app_key(namespace, name), value)
}

fn user(name: &str, topics: Value) -> (ObjectKey, Value) {
    let (key, mut value) = app("shop", name, "stage", &[]);
    value["spec"]["kafkaTopics"] = topics;
    (key, value)
}

fn wishes(topic: &str, partitions: i32) -> Value {
    json!([{"topicName": topic, "partitions": partitions}])
}

fn learn(store: &mut IndexStore, (key, value): &(ObjectKey, Value)) -> Vec<Slot> {
    store.learn(key, Some(value))
}

fn forget(store: &mut IndexStore, key: &ObjectKey) -> Vec<Slot> {
    store.learn(key, None)
}

/// Keys of an index in which somebody sees a difference.
fn keys<'slots>(changed: &'slots [Slot], index: &str) -> Vec<&'slots str> {
    let changed = changed.iter().filter(|slot| slot.index == index);
    let changed = changed.filter(|slot| slot.is_folded == (index == TOPICS.name));
    changed.map(|slot| slot.key.as_str()).collect()
}

fn count(store: &IndexStore, index: &'static dyn AnyIndex, key: &str) -> usize {
    store.members(index, key).len()
}

fn topic(store: &IndexStore, name: &str) -> TopicWishes {
    let folded = store.folded(&TOPICS, &within("stage", name));
    let folded = folded.and_then(Projected::downcast::<TopicWishes>);
    folded.map_or_else(TopicWishes::default, |wishes| TopicWishes::clone(&wishes))
}

#[test]
fn an_app_that_appears_is_seen_by_its_environment_and_by_who_depends_on_it() {
    let mut store = IndexStore::new(INDEXES);
    learn(&mut store, &app("shop", "cart", "stage", &["stock"]));
    let stock = app("shop", "stock", "stage", &[]);
    let changed = learn(&mut store, &stock);
    assert_eq!(keys(&changed, APPS_BY_ENVIRONMENT.name), ["stage"]);
    assert_eq!(keys(&changed, APPS_BY_NAME.name), ["stage/stock"]);
    assert!(learn(&mut store, &stock).is_empty());
    let gone = forget(&mut store, &stock.0);
    assert_eq!(keys(&gone, APPS_BY_NAME.name), ["stage/stock"]);
    assert_eq!(count(&store, &APPS_BY_NAME, "stage/stock"), 0);
}

#[test]
fn an_app_that_moves_is_seen_by_both_environments() {
    let mut store = IndexStore::new(INDEXES);
    learn(&mut store, &app("shop", "cart", "stage", &[]));
    let changed = learn(&mut store, &app("shop", "cart", "production", &[]));
    assert_eq!(
        keys(&changed, APPS_BY_ENVIRONMENT.name),
        ["stage", "production"]
    );
    assert_eq!(count(&store, &APPS_BY_ENVIRONMENT, "stage"), 0);
    assert_eq!(count(&store, &APPS_BY_ENVIRONMENT, "production"), 1);
}

#[test]
fn only_what_apps_can_see_of_an_environment_differs_to_them() {
    let seen = |generation: i64, ready: bool, managed: i64| {
        (ENVIRONMENT.of)(&json!({
            "metadata": {"name": "stage", "generation": generation},
            "status": {"ready": ready, "deployments": {"managedDeployments": managed}},
        }))
    };
    assert_eq!(seen(1, false, 0), seen(1, false, 5));
    assert_ne!(seen(1, false, 5), seen(1, true, 5));
    assert_ne!(seen(1, true, 5), seen(2, true, 5));
}

#[test]
fn a_reference_is_seen_by_who_depends_on_it_and_says_nothing_twice() {
    let mut store = IndexStore::new(INDEXES);
    let key = ObjectKey::new(kinds::CLOWD_APP_REF, "far", "tax");
    let value =
        json!({"metadata": {"name": "tax", "namespace": "far"}, "spec": {"envName": "stage"}});
    let reference = (key, value);
    let changed = learn(&mut store, &reference);
    assert_eq!(keys(&changed, REFERENCES_BY_NAME.name), ["stage/tax"]);
    assert!(learn(&mut store, &reference).is_empty());
    assert_eq!(count(&store, &REFERENCES_BY_NAME, "stage/tax"), 1);
    let gone = forget(&mut store, &reference.0);
    assert_eq!(keys(&gone, REFERENCES_BY_NAME.name), ["stage/tax"]);
    assert_eq!(count(&store, &REFERENCES_BY_NAME, "stage/tax"), 0);
}

#[test]
fn an_object_that_cannot_be_read_is_nobodys_business() {
    let mut store = IndexStore::new(INDEXES);
    let cart = app("shop", "cart", "stage", &[]);
    learn(&mut store, &cart);
    let broken = json!({"metadata": {"name": "cart", "namespace": "shop"}, "spec": {"envName": 5}});
    let changed = store.learn(&cart.0, Some(&broken));
    assert_eq!(keys(&changed, APPS_BY_ENVIRONMENT.name), ["stage"]);
    assert_eq!(count(&store, &APPS_BY_ENVIRONMENT, "stage"), 0);
}

#[test]
fn who_shares_a_topic_sees_wishes_that_change_it_and_no_others() {
    let mut store = IndexStore::new(INDEXES);
    learn(&mut store, &user("cart", wishes("orders", 4)));
    let changed = learn(&mut store, &user("bill", wishes("orders", 2)));
    assert!(
        keys(&changed, TOPICS.name).is_empty(),
        "nothing more is wanted"
    );
    let other = learn(&mut store, &user("stock", wishes("goods", 9)));
    assert_eq!(keys(&other, TOPICS.name), ["stage/goods"]);
    let changed = learn(&mut store, &user("bill", wishes("orders", 7)));
    assert_eq!(keys(&changed, TOPICS.name), ["stage/orders"]);
    assert_eq!(topic(&store, "orders").partitions(), 7);
    let changed = learn(&mut store, &user("bill", json!([])));
    assert_eq!(keys(&changed, TOPICS.name), ["stage/orders"]);
    assert_eq!(topic(&store, "orders").partitions(), 4);
}

#[test]
fn the_wishes_of_who_is_gone_count_no_more() {
    let mut store = IndexStore::new(INDEXES);
    learn(&mut store, &user("cart", wishes("orders", 4)));
    learn(&mut store, &user("bill", wishes("orders", 7)));
    let gone = forget(&mut store, &kinds::app_key("shop", "bill"));
    assert_eq!(keys(&gone, TOPICS.name), ["stage/orders"]);
    assert_eq!(topic(&store, "orders").partitions(), 4);
    forget(&mut store, &kinds::app_key("shop", "cart"));
    assert_eq!(topic(&store, "orders"), TopicWishes::default());
}

#[test]
fn an_app_that_only_becomes_ready_differs_to_nobody() {
    let mut store = IndexStore::new(INDEXES);
    learn(&mut store, &user("cart", wishes("orders", 4)));
    let (key, mut value) = user("cart", wishes("orders", 4));
    value["status"]["ready"] = json!(true);
    assert!(store.learn(&key, Some(&value)).is_empty());
    let members = store.members(&APPS_BY_ENVIRONMENT, "stage");
    let ready = members[0].downcast_ref::<AppSummary>().unwrap().ready;
    assert!(ready, "but it is known");
}

#[test]
fn an_app_under_a_name_that_is_taken_is_seen_when_it_appears_and_goes() {
    let mut store = IndexStore::new(INDEXES);
    learn(&mut store, &app("shop", "cart", "stage", &[]));
    let far = learn(&mut store, &app("far", "cart", "production", &[]));
    assert_eq!(keys(&far, PLACES_BY_NAME.name), ["production/cart"]);
    let second = app("market", "cart", "stage", &[]);
    let changed = learn(&mut store, &second);
    assert_eq!(keys(&changed, PLACES_BY_NAME.name), ["stage/cart"]);
    let changed = learn(&mut store, &app("market", "cart", "stage", &["stock"]));
    assert!(
        keys(&changed, PLACES_BY_NAME.name).is_empty(),
        "it is known"
    );
    let gone = forget(&mut store, &second.0);
    assert_eq!(keys(&gone, PLACES_BY_NAME.name), ["stage/cart"]);
}

#[test]
fn any_change_of_an_app_differs_to_who_waits_for_it() {
    let seen = |version: &str| {
        (APP.of)(
            &json!({"metadata": {"name": "cart", "namespace": "shop", "uid": "u", "resourceVersion": version},
            "spec": {"envName": "stage"}}),
        )
    };
    assert_eq!(seen("1"), seen("1"));
    assert_ne!(seen("1"), seen("2"), "its status too");
}

#[test]
fn both_forms_of_secret_data_are_read() {
    let secret = json!({"metadata": {"name": "a", "namespace": "n"},
        "data": {"old": "b2xk"}, "stringData": {"new": "new"}});
    let facts = SecretFacts::of(&secret);
    assert_eq!(
        (facts.text("old").as_deref(), facts.text("new").as_deref()),
        (Some("old"), Some("new"))
    );
}

#[test]
fn of_secrets_that_describe_nothing_nothing_is_kept() {
    let secret = |annotation: &str, key: &str| {
        json!({"metadata": {"name": "a", "annotations": {annotation: "shop"}},
            "stringData": {key: "x", "large": "y"}})
    };
    let describing = |secret: &Value| SecretFacts::describing(secret, "for", &["host"], &["more"]);
    assert_eq!(describing(&secret("other", "password")), None);
    let described = describing(&secret("other", "host")).unwrap();
    assert_eq!(described.data.keys().collect::<Vec<_>>(), ["host"]);
    assert!(described.annotations.is_empty());
    assert!(describing(&secret("for", "password")).is_some());
}
