use std::sync::Arc;

use mainstay_engine::reconciler::{Reconciler as _, ValidateError};
use serde_json::{Value, json};

use crate::{environment::EnvironmentReconciler, settings::Settings, views};

/// What an environment waits for, in a cluster of these objects.
fn waits_for(environment: &Value, settings: Settings, objects: Vec<Value>) -> Option<String> {
    let reconciler = EnvironmentReconciler {
        settings: Arc::new(settings),
    };
    let snapshot = views::files(objects);
    let environment = reconciler.decode(environment).unwrap();
    match reconciler.validate(&environment, &snapshot) {
        Ok(_) => None,
        Err(ValidateError::Waiting(hold)) => {
            assert_eq!(hold.reason, "HostnameChosen");
            Some(hold.message)
        }
        Err(refusal) => panic!("{refusal:?}"),
    }
}

#[test]
fn the_host_is_chosen_once_below_the_domain_of_the_cluster() {
    let mut environment = json!({
        "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdEnvironment", "metadata": {"name": "stage"},
        "spec": {"targetNamespace": "stage-env", "providers": {"web": {"mode": "local", "port": 8000}}},
    });
    let cluster = |spec: Value| {
        json!({"apiVersion": "config.openshift.io/v1", "kind": "Ingress",
            "metadata": {"name": "cluster"}, "spec": spec})
    };
    let domain = || cluster(json!({"domain": "apps.example.com"}));
    let plain = Settings::default();
    let mut predictable = Settings::default();
    predictable.config.features.disable_random_routes = true;
    let waits = |settings: &Settings, objects| waits_for(&environment, settings.clone(), objects);
    assert_eq!(waits(&plain, vec![]).unwrap(), "stage");
    assert_eq!(waits(&plain, vec![cluster(json!({}))]).unwrap(), "stage");
    assert_eq!(
        waits(&plain, vec![cluster(json!({"domain": ""}))]).unwrap(),
        "stage"
    );
    assert_eq!(
        waits(&predictable, vec![domain()]).unwrap(),
        "stage.apps.example.com"
    );
    let chosen = waits(&plain, vec![domain()]).unwrap();
    let random = chosen
        .strip_prefix("ee-")
        .and_then(|rest| rest.strip_suffix(".apps.example.com"));
    assert_eq!(random.map(str::len), Some(8), "{chosen}");

    environment["status"] = json!({"hostname": "kept.example.com"});
    assert_eq!(waits_for(&environment, plain.clone(), vec![domain()]), None);
    environment["status"] = json!({});
    environment["spec"]["providers"]["web"]["mode"] = json!("operator");
    assert_eq!(waits_for(&environment, plain, vec![domain()]), None);
}
