use base64::{Engine as _, engine::general_purpose::STANDARD};
use mainstay_webhook::review::answer;
use proptest::prelude::*;
use serde_json::json;

use super::*;

const API_VERSION: &str = "admission.k8s.io/v1";
const KIND: &str = "AdmissionReview";

fn at(path: &str) -> Option<&'static Webhook> {
    WEBHOOKS.iter().find(|webhook| webhook.path == path)
}

fn apps() -> &'static Webhook {
    at(APP_PATH).unwrap()
}

fn pods() -> &'static Webhook {
    at(POD_PATH).unwrap()
}

fn review(operation: &str, object: Value) -> Value {
    let mut review = json!({
        "apiVersion": API_VERSION, "kind": KIND, "request": {"uid": "u-1", "operation": operation},
    });
    review["request"]["object"] = object;
    review
}

fn asked(webhook: &Webhook, review: &Value) -> Value {
    let answer = answer(webhook, review.to_string().as_bytes()).unwrap();
    assert_eq!(
        (&answer["apiVersion"], &answer["kind"]),
        (&json!(API_VERSION), &json!(KIND))
    );
    assert_eq!(answer["response"]["uid"], "u-1");
    answer["response"].clone()
}

fn invalid_app() -> Value {
    json!({
        "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdApp", "metadata": {"name": "shop"},
        "spec": {"envName": "stage", "database": {"name": "a", "sharedDbAppName": "b"}},
    })
}

fn pod(annotations: Value) -> Value {
    let mut pod = json!({"metadata": {}, "spec": {"containers": [{"name": "web"}]}});
    pod["metadata"]["annotations"] = annotations;
    pod
}

fn complete() -> Value {
    json!({
        pod::ENABLED: "true", pod::PORT: "8000", pod::CONFIG: "settings", pod::IMAGE: "auth:1",
    })
}

#[test]
fn the_paths_are_those_of_the_original() {
    assert!(at("/validate-cloud-redhat-com-v1alpha1-clowdapp").is_some());
    assert!(at("/mutate-pod").is_some());
    assert_eq!(WEBHOOKS.len(), 2);
}

#[test]
fn an_invalid_app_is_refused_when_it_is_created_or_changed_and_may_always_go() {
    for operation in ["CREATE", "UPDATE"] {
        let response = asked(apps(), &review(operation, invalid_app()));
        assert_eq!(response["allowed"], false);
        assert_eq!(response["status"]["code"], 422);
        assert_eq!(response["status"]["reason"], "Invalid");
    }
    let gone = asked(apps(), &review("DELETE", Value::Null));
    assert_eq!(gone, json!({"allowed": true, "uid": "u-1"}));
    let mut fine = invalid_app();
    fine["spec"]["database"] = json!({"name": "a"});
    let fine = asked(apps(), &review("CREATE", fine));
    assert_eq!(fine, json!({"allowed": true, "uid": "u-1"}));
}

#[test]
fn what_cannot_be_read_is_refused_with_the_reason() {
    let mut odd = invalid_app();
    odd["spec"]["deployments"] = json!("many");
    for (webhook, object, words) in [
        (
            apps(),
            odd,
            "the ClowdApp cannot be read: invalid type: string \"many\"",
        ),
        (apps(), Value::Null, "the ClowdApp cannot be read: "),
        (
            pods(),
            json!({"spec": {"containers": 7}}),
            "the pod cannot be read: invalid type",
        ),
    ] {
        let response = asked(webhook, &review("CREATE", object));
        assert_eq!(response["allowed"], false);
        assert_eq!(response["status"]["code"], 400);
        let message = response["status"]["message"].as_str().unwrap();
        assert!(message.starts_with(words), "{message}");
    }
}

#[test]
fn a_new_pod_is_patched_and_an_old_one_left_alone() {
    let response = asked(pods(), &review("CREATE", pod(complete())));
    assert_eq!(
        (&response["allowed"], &response["patchType"]),
        (&json!(true), &json!("JSONPatch"))
    );
    let patch = STANDARD
        .decode(response["patch"].as_str().unwrap())
        .unwrap();
    let patch: Value = serde_json::from_slice(&patch).unwrap();
    assert_eq!(patch[0]["path"], "/spec/containers/-");

    let untouched = json!({"allowed": true, "uid": "u-1"});
    let update = asked(pods(), &review("UPDATE", pod(complete())));
    assert_eq!(update, untouched);
    let mut status = review("CREATE", pod(complete()));
    status["request"]["subResource"] = json!("ephemeralcontainers");
    assert_eq!(asked(pods(), &status), untouched);
    let plain = asked(pods(), &review("CREATE", pod(json!({"other": "x"}))));
    assert_eq!(plain, untouched);
}

#[test]
fn a_pod_that_says_too_little_is_refused_without_reason_and_details() {
    let response = asked(
        pods(),
        &review("CREATE", pod(json!({pod::ENABLED: "true"}))),
    );
    assert_eq!(
        response,
        json!({"uid": "u-1", "allowed": false, "status": {
            "status": "Failure", "code": 400, "message": "pod does not specify authsidecar port",
        }})
    );
}

proptest! {
    #[test]
    fn no_body_is_too_odd(body in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = answer(apps(), &body);
        let _ = answer(pods(), &body);
    }

    /// A whole review that is cut off somewhere is never taken for another one.
    #[test]
    fn a_truncated_body_is_refused(length in 0..300_usize) {
        let whole = review("CREATE", invalid_app()).to_string();
        prop_assume!(length < whole.len());
        prop_assert!(answer(apps(), &whole.as_bytes()[..length]).is_err());
    }
}
