use serde_json::{Value, json};

use super::*;
use crate::providers::{
    database::Database,
    deployment::Deployments,
    featureflags::FeatureFlags,
    fixture::{Case, Rendered, case},
    inmemorydb::InMemoryDb,
};
use mainstay_engine::options::ImmutableChange;

fn render(case: &Case) -> Rendered {
    case.render(&[&Deployments, &InMemoryDb, &Database, &ServiceAccounts])
        .unwrap()
}

fn deployments() -> Value {
    json!({"deployments": [{"name": "api", "k8sAccessLevel": "view"}, {"name": "app"}]})
}

#[test]
fn every_deployment_has_an_account_and_components_share_one() {
    let mut case = case(
        json!({"db": {"mode": "local"}, "inMemoryDb": {"mode": "redis"}}),
        deployments(),
    );
    case.app["spec"]["inMemoryDb"] = json!(true);
    case.app["spec"]["database"] = json!({"name": "orders"});
    let rendered = render(&case);
    let accounts: Vec<String> = rendered
        .names()
        .into_iter()
        .filter(|name| name.starts_with("ServiceAccount"))
        .collect();
    assert_eq!(
        accounts,
        [
            "ServiceAccount market/iqe-stage",
            "ServiceAccount market/shop-app",
            "ServiceAccount market/shop-api"
        ]
    );
    for (deployment, account) in [
        ("shop-db", "shop-app"),
        ("shop-redis", "shop-app"),
        ("shop-api", "shop-api"),
        ("shop-app", "shop-app"),
    ] {
        assert_eq!(rendered.pod(deployment)["serviceAccountName"], account);
    }
    let test = rendered.object("ServiceAccount", "iqe-stage");
    assert_eq!(
        (
            &test["metadata"]["labels"],
            &test["metadata"]["ownerReferences"][0]["uid"]
        ),
        (&json!({"app": "stage"}), &json!("environment-uid"))
    );
    let own = rendered.object("ServiceAccount", "shop-api");
    assert_eq!(
        (
            &own["metadata"]["labels"],
            &own["metadata"]["ownerReferences"][0]["uid"]
        ),
        (&json!({"app": "shop"}), &json!("app-uid"))
    );
}

#[test]
fn access_levels_become_bindings_that_may_be_replaced() {
    let mut case = case(
        json!({"testing": {"k8sAccessLevel": "edit"}}),
        deployments(),
    );
    let rendered = render(&case);
    let binding = rendered.object("RoleBinding", "shop-api");
    assert_eq!(
        binding["roleRef"],
        json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"})
    );
    assert_eq!(
        binding["subjects"],
        json!([{"kind": "ServiceAccount", "name": "shop-api", "namespace": "market"}])
    );
    let of_tests = rendered.object("RoleBinding", "iqe-stage");
    assert_eq!(
        (
            &of_tests["roleRef"]["name"],
            &of_tests["metadata"]["labels"]
        ),
        (&json!("edit"), &json!({"app": "stage"}))
    );
    let bindings = rendered
        .names()
        .iter()
        .filter(|name| name.starts_with("RoleBinding"))
        .count();
    assert_eq!(bindings, 2);
    let policies: Vec<_> = rendered
        .set
        .iter()
        .filter(|entry| entry.key.kind == kinds::ROLE_BINDING)
        .map(|entry| entry.desired.clone())
        .collect();
    assert!(policies.iter().all(|wish| matches!(
        wish,
        mainstay_engine::object_set::Desired::Present { options, .. }
            if options.immutable == ImmutableChange::Recreate
    )));
    case.environment["spec"]["providers"]["testing"]["k8sAccessLevel"] = json!("default");
    case.app["spec"]["deployments"][0]["k8sAccessLevel"] = json!("");
    assert!(
        render(&case)
            .names()
            .iter()
            .all(|name| !name.starts_with("RoleBinding"))
    );
}

#[test]
fn nobody_is_given_more_than_the_operator_is_configured_to_give() {
    let mut case = case(
        json!({"testing": {"k8sAccessLevel": "edit"}}),
        deployments(),
    );
    let roles = |case: &Case| -> Vec<Value> {
        let rendered = render(case);
        let names = ["iqe-stage", "shop-api"].into_iter();
        let bound = names.filter(|name| {
            let name = format!("RoleBinding market/{name}");
            rendered.names().contains(&name)
        });
        bound
            .map(|name| rendered.object("RoleBinding", name)["roleRef"]["name"].clone())
            .collect()
    };
    assert_eq!(roles(&case), ["edit", "view"]);
    for (most, expected) in [
        (MaxAccessLevel::View, vec!["view", "view"]),
        (MaxAccessLevel::None, vec![]),
    ] {
        case.settings.config.settings.max_access_level = most;
        assert_eq!(roles(&case), expected);
    }
}

#[test]
fn components_of_the_environment_share_its_account() {
    let case = case(json!({"featureFlags": {"mode": "local"}}), json!({}));
    let rendered = case
        .render_environment_with(&[&FeatureFlags, &ServiceAccounts])
        .unwrap();
    for name in [
        "featureflags-db",
        "stage-featureflags",
        "stage-featureflags-edge",
    ] {
        assert_eq!(rendered.pod(name)["serviceAccountName"], "stage-env");
    }
    assert_eq!(
        rendered.object("ServiceAccount", "stage-env")["metadata"]["namespace"],
        "stage-env"
    );
    let nowhere = Case {
        target_namespace: "",
        ..case
    };
    assert_eq!(
        nowhere
            .render_environment(&ServiceAccounts)
            .unwrap_err()
            .to_string(),
        "targetNamespace not yet populated: "
    );
}
