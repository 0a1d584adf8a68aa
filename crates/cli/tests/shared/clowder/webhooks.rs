//! Webhooks as tests reach them: an operator that serves them, and questions without an API server.

use std::path::Path;

use http::{Request, StatusCode};
use kube::{Client, client::Body};
use mainstay_testkit::operator::WEBHOOK_ADDRESS;
use serde_json::json;

use super::stage::{RunningOperator, Stage};

/// An operator that serves its webhooks at an address.
pub(crate) fn operator(
    stage: &Stage,
    address: &str,
    certificates: &Path,
    further: &[&str],
) -> RunningOperator {
    let directory = certificates.to_str().unwrap();
    let flags = [
        WEBHOOK_ADDRESS,
        address,
        "--clowder-webhook-certificates",
        directory,
    ];
    let arguments = [&flags, further].concat();
    RunningOperator::configured(&stage.plane.kubeconfig(), &json!({}), &arguments)
}

/// Status and text of an answer, or why there is none.
pub(crate) async fn post(
    client: &Client,
    path: &str,
    body: Vec<u8>,
) -> Result<(StatusCode, String), String> {
    let request = Request::post(path).header("content-type", "application/json");
    let request = request.body(Body::from(body)).unwrap();
    let answer = client
        .send(request)
        .await
        .map_err(|error| error.to_string())?;
    let status = answer.status();
    let body = answer.into_body().collect_bytes().await;
    let body = body.map_err(|error| error.to_string())?;
    Ok((status, String::from_utf8(body.to_vec()).unwrap()))
}

/// The shortest question that is one.
pub(crate) fn question() -> Vec<u8> {
    let review = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {"uid": "u-1", "operation": "CREATE", "object": {"metadata": {}, "spec": {}}},
    });
    review.to_string().into_bytes()
}
