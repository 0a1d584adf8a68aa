//! Clowder's admission webhooks: the pure rules of `mainstay_clowder::admission` as answers.

use mainstay_clowder::admission::{
    APP_PATH, POD_PATH,
    app::{self, JudgedApp},
    pod::{self, AskingPod},
};
use mainstay_webhook::{
    Request, Webhook,
    review::{allowed, denied, denied_with, patched},
};
use serde_json::Value;

/// Whether a `ClowdApp` may be stored, and what a pod lacks.
pub(crate) static WEBHOOKS: [Webhook; 2] = [
    Webhook {
        path: APP_PATH,
        judge: judge_app,
    },
    Webhook {
        path: POD_PATH,
        judge: complete_pod,
    },
];

fn judge_app(request: &Request<'_>) -> Value {
    if !matches!(request.operation.as_str(), "CREATE" | "UPDATE") {
        return allowed();
    }
    match request.object::<JudgedApp>() {
        Err(error) => denied(&format!("the ClowdApp cannot be read: {error}")),
        Ok(app) => match app::violations(&app).as_slice() {
            [] => allowed(),
            violations => denied_with(&app::status(violations)),
        },
    }
}

/// Containers of a pod that exists can be neither added nor replaced: whatever is changed there, the API server would
/// refuse it, together with what the user wanted.
fn complete_pod(request: &Request<'_>) -> Value {
    if request.operation != "CREATE" || !request.sub_resource.is_empty() {
        return allowed();
    }
    let pod: AskingPod = match request.object() {
        Ok(pod) => pod,
        Err(error) => return denied(&format!("the pod cannot be read: {error}")),
    };
    match pod::patch(pod) {
        Ok(None) => allowed(),
        Ok(Some(patch)) => patched(&patch),
        Err(error) => denied(&error.to_string()),
    }
}

#[cfg(test)]
mod tests;
