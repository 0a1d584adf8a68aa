use super::*;

const WEBHOOK: Webhook = Webhook {
    path: "/judge",
    judge: |request| match request.object::<Value>() {
        Ok(object) if object["good"] == true => allowed(),
        Ok(_) => denied("it is not good"),
        Err(error) => denied(&error.to_string()),
    },
};

fn review(object: &Value) -> String {
    let request = json!({"uid": "u-1", "operation": "CREATE", "object": object});
    json!({"apiVersion": API_VERSION, "kind": KIND, "request": request}).to_string()
}

#[test]
fn the_answer_names_the_question() {
    let asked = |object: Value| answer(&WEBHOOK, review(&object).as_bytes()).unwrap();
    let good = asked(json!({"good": true}));
    assert_eq!(
        good,
        json!({
            "apiVersion": API_VERSION, "kind": KIND,
            "response": {"uid": "u-1", "allowed": true},
        })
    );
    assert_eq!(
        asked(json!({}))["response"],
        json!({"uid": "u-1", "allowed": false, "status": {
            "status": "Failure", "code": 400, "message": "it is not good",
        }})
    );
}

#[test]
fn what_is_no_review_is_named() {
    let refused = |body: &str| answer(&WEBHOOK, body.as_bytes()).unwrap_err().to_string();
    assert!(refused("").starts_with("the body is empty"));
    assert!(refused("{\"apiVersion\": ").starts_with("the body is no AdmissionReview: EOF"));
    let old =
        json!({"apiVersion": "admission.k8s.io/v1beta1", "kind": KIND, "request": {"uid": "1"}});
    assert_eq!(
        refused(&old.to_string()),
        "the body is of kind `AdmissionReview` in `admission.k8s.io/v1beta1`; \
         only AdmissionReview of admission.k8s.io/v1 is understood"
    );
    assert_eq!(
        refused(&json!({"apiVersion": API_VERSION, "kind": KIND}).to_string()),
        "the AdmissionReview holds no request"
    );
}
