//! What is written into a status, and what is left out of it.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use crate::clowder::{
    ClowdAppRefStatus, ClowdAppStatus, ClowdEnvironmentStatus, ClowdJobInvocationStatus,
    environment::status::{AppSummary, DeploymentSummary},
};

fn json_of(status: &impl Serialize) -> Value {
    serde_json::to_value(status).unwrap()
}

#[test]
fn an_environment_without_anything_still_counts_and_names_no_prometheus() {
    assert_eq!(
        json_of(&ClowdEnvironmentStatus::default()),
        json!({
            "deployments": {
                "managedDeployments": 0, "readyDeployments": 0, "managedTopics": 0, "readyTopics": 0,
            },
            "prometheus": {"serverAddress": ""},
        })
    );
}

#[test]
fn an_environment_says_ready_only_if_it_is() {
    let mut status = ClowdEnvironmentStatus::default();
    assert_eq!(json_of(&status).get("ready"), None);
    status.ready = true;
    status.generation = 3;
    assert_eq!(json_of(&status)["ready"], true);
    assert_eq!(json_of(&status)["generation"], 3);
}

#[test]
fn an_app_of_an_environment_lists_its_deployments_even_if_there_are_none() {
    let mut app = AppSummary {
        name: "shop".to_owned(),
        ..AppSummary::default()
    };
    assert_eq!(json_of(&app), json!({"name": "shop", "deployments": []}));
    app.deployments.push(DeploymentSummary {
        name: "api".to_owned(),
        ..DeploymentSummary::default()
    });
    assert_eq!(json_of(&app)["deployments"], json!([{"name": "api"}]));
}

#[test]
fn an_app_always_says_whether_it_is_ready() {
    assert_eq!(
        json_of(&ClowdAppStatus::default()),
        json!({"deployments": {"managedDeployments": 0, "readyDeployments": 0}, "ready": false})
    );
    assert_eq!(
        json_of(&ClowdAppRefStatus::default()),
        json!({"ready": false})
    );
}

#[test]
fn an_invocation_always_has_a_map_of_jobs() {
    let mut status = ClowdJobInvocationStatus::default();
    assert_eq!(json_of(&status), json!({"completed": false, "jobMap": {}}));
    status.job_map = BTreeMap::from([("shop-import-abcde".to_owned(), "Invoked".to_owned())]);
    assert_eq!(
        json_of(&status)["jobMap"],
        json!({"shop-import-abcde": "Invoked"})
    );
}
