//! Clowder without one of its rules, each of them in turn: `cargo xtask test --rules`.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![expect(clippy::print_stdout, reason = "the figures are worth a look")]

#[path = "../shared/shared.rs"]
mod shared;

use std::time::Instant;

use mainstay_clowder::package;
use mainstay_control_plane::definitions::{self, Edition};
use mainstay_testkit::{
    audit::Mark,
    plane::{OwnPlane, install_definitions},
    wait::eventually,
};
use serde_json::{Value, json};
use shared::clowder::{
    account,
    stage::{RunningOperator, Stage, is_ready, purge, web_app},
};

/// What an environment with one web app cannot do without. Ingresses are those of OpenShift: an environment does not guess
/// the domain of a cluster that it may not ask for it.
const NEEDED: [&str; 11] = [
    "clowdapprefs",
    "clowdapps",
    "clowdapps/status",
    "clowdenvironments",
    "clowdenvironments/status",
    "deployments",
    "ingresses",
    "namespaces",
    "secrets",
    "serviceaccounts",
    "services",
];

/// The role of the operator in the whole cluster.
fn role() -> Value {
    let [role, _] = package::roles();
    role
}

/// The first resource of a rule, which names it.
fn resource(rule: &Value) -> &str {
    rule["resources"][0].as_str().unwrap()
}

/// Whether a line of the log says that a right is missing for a resource.
fn is_named(log: &str, resource: &str) -> bool {
    let says = |line: &str| line.contains("A permission is missing") || line.contains("cannot ");
    log.lines()
        .any(|line| says(line) && line.contains(resource))
}

/// Plays a small environment without one rule. Returns what is wrong with what comes of it.
async fn play(plane: &OwnPlane, index: usize) -> Vec<String> {
    let mut role = role();
    let rules = role["rules"].as_array_mut().unwrap();
    let rule = rules.remove(index);
    let resource = resource(&rule).to_owned();
    let stage = Stage::own(plane, "rules").await;
    account::apply_cluster_wide(&stage.namespace.client, &role).await;
    let mark = Mark::now(plane.audit_log());
    let begun = Instant::now();
    let mut operator = RunningOperator::begin(&plane.kubeconfig(), &[]);
    operator.process.ready().await;
    stage.create_environment(json!({})).await;
    stage.create_app("shop", web_app()).await;
    let apps = stage.apps();
    let is_done = eventually("the app is ready, or a missing right is named", || async {
        let app = apps.get("shop").await.unwrap();
        let app = serde_json::to_value(app).unwrap();
        let is_named = is_named(&operator.process.log(), &resource);
        (is_ready(&app) || (is_named && NEEDED.contains(&resource.as_str())))
            .then_some(is_ready(&app))
    })
    .await;
    let mut wrong = Vec::new();
    if !operator.process.is_running() {
        wrong.push(format!("{rule}: the process ended"));
    }
    if !is_done && !NEEDED.contains(&resource.as_str()) {
        wrong.push(format!("{rule}: the app is not ready"));
    }
    let most = 1 + begun.elapsed().as_secs() / 30;
    let refused = mark.matching("mainstay", &format!("\"resource\":\"{resource}\""));
    let lists = refused
        .iter()
        .filter(|entry| entry.verb == "list" && entry.code == 403);
    let lists = u64::try_from(lists.count()).unwrap();
    if lists > most {
        let within = begun.elapsed();
        wrong.push(format!("{rule}: asked {lists} times in {within:?}"));
    }
    println!("{resource}: ready {is_done}, {lists} lists refused");
    operator.process.terminate().await;
    account::grant(&stage.namespace.client).await;
    purge(plane).await;
    wrong
}

#[tokio::test]
async fn without_any_one_rule_the_others_go_on_and_who_needs_it_says_so() {
    let definitions = definitions::clowder(Edition::Current).unwrap();
    let plane = OwnPlane::with_crds("tests-rules", &definitions);
    install_definitions(&plane.client().await).await;
    let count = role()["rules"].as_array().unwrap().len();
    let mut wrong = Vec::new();
    for index in 0..count {
        wrong.extend(play(&plane, index).await);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
