use serde_json::json;

use super::*;
use crate::topics::TopicWishes;

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
    (app_key(&(namespace.to_owned(), name.to_owned())), value)
}

fn learn(index: &mut Index, (key, value): &(ObjectKey, Value)) -> News {
    index.learn(key, value)
}

fn place(namespace: &str, name: &str) -> Place {
    (namespace.to_owned(), name.to_owned())
}

#[test]
fn an_app_that_appears_is_news_for_its_environment_and_for_who_depends_on_it() {
    let mut index = Index::default();
    learn(&mut index, &app("shop", "cart", "stage", &["stock"]));
    let news = learn(&mut index, &app("shop", "stock", "stage", &[]));
    assert_eq!(news.environments, ["stage"]);
    assert_eq!(news.apps, [place("shop", "cart")]);
    let again = learn(&mut index, &app("shop", "stock", "stage", &[]));
    assert!(again.is_empty(), "{again:?}");
    let gone = index.forget(&app_key(&place("shop", "stock")));
    assert_eq!(gone.apps, [place("shop", "cart")]);
    assert!(index.apps_named("stage", "stock").is_empty());
}

#[test]
fn an_app_that_moves_is_news_for_both_environments() {
    let mut index = Index::default();
    learn(&mut index, &app("shop", "cart", "stage", &[]));
    let news = learn(&mut index, &app("shop", "cart", "production", &[]));
    assert_eq!(news.environments, ["stage", "production"]);
    assert!(index.apps("stage").is_empty());
    assert_eq!(index.apps("production").len(), 1);
}

#[test]
fn apps_are_in_the_order_of_name_and_namespace() {
    let mut index = Index::default();
    for (namespace, name) in [("b", "cart"), ("a", "cart"), ("a", "bill")] {
        learn(&mut index, &app(namespace, name, "stage", &[]));
    }
    let order: Vec<String> = index
        .apps("stage")
        .iter()
        .map(|app| app.sort_key())
        .collect();
    assert_eq!(order, ["bill-a", "cart-a", "cart-b"]);
    assert_eq!(index.apps_named("stage", "cart").len(), 2);
}

#[test]
fn only_what_apps_can_see_of_an_environment_wakes_them() {
    let mut index = Index::default();
    learn(&mut index, &app("shop", "cart", "stage", &[]));
    let environment = |generation: i64, ready: bool, managed: i64| {
        json!({
            "metadata": {"name": "stage", "generation": generation},
            "status": {"ready": ready, "deployments": {"managedDeployments": managed}},
        })
    };
    let key = environment_key("stage");
    assert_eq!(index.learn(&key, &environment(1, false, 0)).apps.len(), 1);
    assert!(index.learn(&key, &environment(1, false, 5)).is_empty());
    assert_eq!(index.learn(&key, &environment(1, true, 5)).apps.len(), 1);
    assert_eq!(index.learn(&key, &environment(2, true, 5)).apps.len(), 1);
    assert_eq!(index.forget(&key).apps.len(), 1);
}

#[test]
fn a_reference_wakes_who_depends_on_it_and_says_nothing_twice() {
    let mut index = Index::default();
    learn(&mut index, &app("shop", "cart", "stage", &["tax"]));
    let key = ObjectKey::new(kinds::CLOWD_APP_REF, "far", "tax");
    let reference =
        json!({"metadata": {"name": "tax", "namespace": "far"}, "spec": {"envName": "stage"}});
    assert_eq!(index.learn(&key, &reference).apps, [place("shop", "cart")]);
    assert!(index.learn(&key, &reference).is_empty());
    assert_eq!(index.app_refs_named("stage", "tax").len(), 1);
    assert_eq!(index.forget(&key).apps, [place("shop", "cart")]);
    assert!(index.app_refs_named("stage", "tax").is_empty());
}

#[test]
fn an_object_that_cannot_be_read_is_nobodys_neighbour() {
    let mut index = Index::default();
    learn(&mut index, &app("shop", "cart", "stage", &[]));
    let broken = json!({"metadata": {"name": "cart", "namespace": "shop"}, "spec": {"envName": 5}});
    let news = index.learn(&app_key(&place("shop", "cart")), &broken);
    assert_eq!(news.environments, ["stage"]);
    assert!(index.apps("stage").is_empty());
}

fn user(name: &str, topics: Value) -> (ObjectKey, Value) {
    let (key, mut value) = app("shop", name, "stage", &[]);
    value["spec"]["kafkaTopics"] = topics;
    (key, value)
}

fn wishes(topic: &str, partitions: i32) -> Value {
    json!([{"topicName": topic, "partitions": partitions}])
}

#[test]
fn who_shares_a_topic_hears_of_wishes_that_change_it_and_of_no_others() {
    let mut index = Index::default();
    learn(&mut index, &user("cart", wishes("orders", 4)));
    let news = learn(&mut index, &user("bill", wishes("orders", 2)));
    assert!(news.apps.is_empty(), "nothing more is wanted: {news:?}");
    let other = learn(&mut index, &user("stock", wishes("goods", 9)));
    assert!(other.apps.is_empty(), "another topic: {other:?}");
    let news = learn(&mut index, &user("bill", wishes("orders", 7)));
    assert_eq!(news.apps, [place("shop", "cart")]);
    assert_eq!(index.topic("stage", "orders").partitions(), 7);
    let news = learn(&mut index, &user("bill", json!([])));
    assert_eq!(news.apps, [place("shop", "cart")]);
    assert_eq!(index.topic("stage", "orders").partitions(), 4);
}

#[test]
fn the_wishes_of_who_is_gone_count_no_more() {
    let mut index = Index::default();
    learn(&mut index, &user("cart", wishes("orders", 4)));
    learn(&mut index, &user("bill", wishes("orders", 7)));
    let gone = index.forget(&app_key(&place("shop", "bill")));
    assert_eq!(gone.apps, [place("shop", "cart")]);
    assert_eq!(index.topic("stage", "orders").partitions(), 4);
    let last = index.forget(&app_key(&place("shop", "cart")));
    assert!(last.apps.is_empty());
    assert_eq!(index.topic("stage", "orders"), TopicWishes::default());
}

#[test]
fn an_app_that_only_becomes_ready_is_no_news() {
    let mut index = Index::default();
    learn(&mut index, &user("cart", wishes("orders", 4)));
    let (key, mut value) = user("cart", wishes("orders", 4));
    value["status"]["ready"] = json!(true);
    assert!(index.learn(&key, &value).is_empty());
    assert!(index.apps("stage")[0].ready);
}

fn invocation(name: &str, app: &str, status: &Value) -> (ObjectKey, Value) {
    let value = json!({
        "metadata": {"name": name, "namespace": "shop"}, "spec": {"appName": app, "jobs": ["fix"]}, "status": status,
    });
    (invocation_key(&place("shop", name)), value)
}

#[test]
fn whatever_happens_to_an_app_is_news_for_invocations_that_wait_for_it() {
    let mut index = Index::default();
    learn(&mut index, &invocation("run", "cart", &Value::Null));
    let done = json!({"completed": true, "jobMap": {}});
    learn(&mut index, &invocation("done", "cart", &done));
    learn(&mut index, &invocation("other", "stock", &Value::Null));
    let run = [place("shop", "run")];
    let cart = app("shop", "cart", "stage", &[]);
    assert_eq!(learn(&mut index, &cart).invocations, run);
    assert_eq!(learn(&mut index, &cart).invocations, run, "its status too");
    let stage = json!({"metadata": {"name": "stage", "generation": 1}, "spec": {}});
    let environment = (environment_key("stage"), stage);
    assert_eq!(learn(&mut index, &environment).invocations, run);
    assert_eq!(index.forget(&cart.0).invocations, run);
    // It has run, or waits for another app, or is gone.
    let started = json!({"completed": false, "jobMap": {"cart-fix-1": "Invoked"}});
    learn(&mut index, &invocation("run", "cart", &started));
    assert!(learn(&mut index, &cart).invocations.is_empty());
    learn(&mut index, &invocation("other", "cart", &Value::Null));
    let other = [place("shop", "other")];
    assert_eq!(learn(&mut index, &cart).invocations, other);
    index.forget(&invocation_key(&place("shop", "other")));
    assert!(learn(&mut index, &cart).invocations.is_empty());
}

#[test]
fn nothing_is_kept_of_an_environment_without_members() {
    let mut index = Index::default();
    for number in 0..100 {
        let environment = format!("environment-{number}");
        let cart = app("shop", "cart", &environment, &["stock"]);
        learn(&mut index, &cart);
        let key = ObjectKey::new(kinds::CLOWD_APP_REF, "shop", "stock");
        let reference = json!({"metadata": {"name": "stock", "namespace": "shop"},
            "spec": {"envName": environment, "remoteEnvironment": {"name": "far"}}});
        learn(&mut index, &(key.clone(), reference));
        assert_eq!(index.app_refs_named(&environment, "stock").len(), 1);
        assert_eq!(index.members.len(), 1, "moved from one to the next");
    }
    index.forget(&ObjectKey::new(kinds::CLOWD_APP_REF, "shop", "stock"));
    index.forget(&app_key(&place("shop", "cart")));
    assert!(index.members.is_empty());
    assert!(index.app_homes.is_empty() && index.reference_homes.is_empty());
}

#[test]
fn an_app_that_appears_under_a_name_that_is_taken_is_news_for_its_namesakes() {
    let mut index = Index::default();
    learn(&mut index, &app("shop", "cart", "stage", &[]));
    learn(&mut index, &app("far", "cart", "production", &[]));
    let second = app("market", "cart", "stage", &[]);
    let news = learn(&mut index, &second);
    assert_eq!(news.apps, [place("shop", "cart")]);
    let changed = app("market", "cart", "stage", &["stock"]);
    assert_eq!(learn(&mut index, &changed).apps, [], "they know of it");
    let gone = index.forget(&second.0);
    assert_eq!(gone.apps, [place("shop", "cart")], "they are told no more");
}
