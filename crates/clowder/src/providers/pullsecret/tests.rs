use serde_json::json;

use super::*;
use crate::providers::{
    confighash::ConfigHash,
    deployment::Deployments,
    fixture::{Case, case, live, secret},
    serviceaccount::ServiceAccounts,
};

fn pulling(sources: &[(&str, &str)]) -> Case {
    let sources: Vec<Value> = sources
        .iter()
        .map(|(namespace, name)| json!({"namespace": namespace, "name": name}))
        .collect();
    let mut case = case(
        json!({"pullSecrets": sources}),
        json!({"deployments": [{"name": "api"}]}),
    );
    case.environment["spec"]["targetNamespace"] = json!("stage-env");
    let mut quay = secret("vault", "quay", json!({".dockerconfigjson": "{}"}));
    quay["type"] = json!("kubernetes.io/dockerconfigjson");
    case.among([
        quay,
        secret("vault", "hub", json!({"a": "1"})),
        secret("other", "hub", json!({"a": "2"})),
    ])
}

const APP: &[&dyn Provider] = &[&Deployments, &ServiceAccounts, &PullSecrets, &ConfigHash];

#[test]
fn copies_belong_to_the_environment_and_every_account_uses_them() {
    let case = pulling(&[("vault", "quay"), ("vault", "hub")]);
    let app = case.render(APP).unwrap();
    let environment = case
        .render_environment_with(&[&ServiceAccounts, &PullSecrets])
        .unwrap();
    for (rendered, namespace) in [(&app, "market"), (&environment, "stage-env")] {
        let copy = rendered.object("Secret", "stage-quay-clowder-copy");
        assert_eq!(copy["metadata"]["namespace"], namespace);
        assert_eq!(copy["metadata"]["labels"], json!({"app": "stage"}));
        assert_eq!(
            copy["metadata"]["ownerReferences"][0]["uid"],
            "environment-uid"
        );
        assert_eq!(
            (&copy["type"], &copy["data"]),
            (
                &json!("kubernetes.io/dockerconfigjson"),
                &json!({".dockerconfigjson": "e30="})
            )
        );
    }
    let expected = json!([{"name": "stage-quay-clowder-copy"}, {"name": "stage-hub-clowder-copy"}]);
    for account in ["iqe-stage", "shop-app", "shop-api"] {
        assert_eq!(
            app.object("ServiceAccount", account)["imagePullSecrets"],
            expected
        );
    }
    assert_eq!(
        environment.object("ServiceAccount", "stage-env")["imagePullSecrets"],
        expected
    );
}

#[test]
fn what_the_platform_gave_an_account_stays_in_front() {
    let mut case = pulling(&[("vault", "quay")]);
    let key = ObjectKey::new(kinds::SERVICE_ACCOUNT, "market", "shop-api");
    let facts =
        json!({"imagePullSecrets": ["mine", "shop-api-dockercfg-x1", "stage-quay-clowder-copy"]});
    case.snapshot.add_live(live(key, facts));
    let rendered = case.render(APP).unwrap();
    assert_eq!(
        rendered.object("ServiceAccount", "shop-api")["imagePullSecrets"],
        json!([{"name": "shop-api-dockercfg-x1"}, {"name": "stage-quay-clowder-copy"}])
    );
    let without = pulling(&[]).render(APP).unwrap();
    assert_eq!(
        without
            .object("ServiceAccount", "shop-api")
            .get("imagePullSecrets"),
        None
    );
}

#[test]
fn in_the_target_namespace_the_environment_alone_copies() {
    let mut case = pulling(&[("vault", "quay")]);
    case.app["metadata"]["namespace"] = json!("stage-env");
    let rendered = case.render(APP).unwrap();
    assert!(
        !rendered
            .names()
            .iter()
            .any(|name| name.ends_with("clowder-copy")),
        "{:?}",
        rendered.names()
    );
    assert_eq!(
        rendered.object("ServiceAccount", "shop-api")["imagePullSecrets"],
        json!([{"name": "stage-quay-clowder-copy"}])
    );
}

#[test]
fn the_last_of_two_sources_with_one_name_wins() {
    let rendered = pulling(&[("vault", "hub"), ("other", "hub")])
        .render(APP)
        .unwrap();
    assert_eq!(
        rendered.object("Secret", "stage-hub-clowder-copy")["data"],
        json!({"a": "Mg=="})
    );
    assert_eq!(
        rendered.object("ServiceAccount", "shop-api")["imagePullSecrets"],
        json!([{"name": "stage-hub-clowder-copy"}])
    );
}

#[test]
fn a_missing_source_ends_the_pass() {
    let case = pulling(&[("vault", "absent")]);
    assert_eq!(
        case.render(APP).unwrap_err().to_string(),
        "Secret \"absent\" not found"
    );
}

#[test]
fn a_changed_source_restarts_pods() {
    let hash = |case: &Case| case.render(APP).unwrap().config["hashCache"].clone();
    let before = hash(&pulling(&[("vault", "quay")]));
    let after =
        hash(&pulling(&[("vault", "quay")]).among([secret("vault", "quay", json!({"a": "new"}))]));
    assert_ne!(before, after);
    assert_eq!(
        before.as_str().unwrap().get(64..),
        after.as_str().unwrap().get(64..)
    );
}
