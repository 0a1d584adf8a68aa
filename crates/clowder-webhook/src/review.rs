//! An `AdmissionReview` in, an answer out.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use mainstay_clowder::admission::{
    APP_PATH, POD_PATH,
    app::{self, JudgedApp},
    pod::{self, AskingPod},
};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

const API_VERSION: &str = "admission.k8s.io/v1";
const KIND: &str = "AdmissionReview";
const BAD_REQUEST: u16 = 400;

/// What can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Whether a `ClowdApp` may be stored.
    App,
    /// What a pod lacks.
    Pod,
}

impl Question {
    /// The question that is asked under a path.
    pub fn at(path: &str) -> Option<Self> {
        match path {
            APP_PATH => Some(Self::App),
            POD_PATH => Some(Self::Pod),
            _ => None,
        }
    }

    /// The path under which it is asked.
    pub const fn path(self) -> &'static str {
        match self {
            Self::App => APP_PATH,
            Self::Pod => POD_PATH,
        }
    }
}

/// A body that is no question. The API server passes the text on to the user.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// There is none.
    #[error("the body is empty; an {KIND} of {API_VERSION} is expected")]
    Empty,
    /// No JSON, or cut off.
    #[error("the body is no {KIND}: {0}")]
    Unreadable(#[source] serde_json::Error),
    /// Another version of the API.
    #[error(
        "the body is of kind `{kind}` in `{api_version}`; only {KIND} of {API_VERSION} is understood"
    )]
    Version {
        /// As it was sent.
        api_version: String,
        /// As it was sent.
        kind: String,
    },
    /// A review without a request.
    #[error("the {KIND} holds no request")]
    NoRequest,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review<'body> {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    #[serde(borrow)]
    request: Option<Request<'body>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request<'body> {
    uid: String,
    #[serde(default)]
    operation: String,
    #[serde(default)]
    sub_resource: String,
    /// As it was sent: a tree of values would take many times the room. The old object is not looked at.
    #[serde(borrow)]
    object: Option<&'body RawValue>,
}

impl<'body> Request<'body> {
    fn object<T: Deserialize<'body>>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.object.map_or("null", RawValue::get))
    }
}

/// Answers a question: the body of the response.
pub fn answer(question: Question, body: &[u8]) -> Result<Value, ReviewError> {
    if body.is_empty() {
        return Err(ReviewError::Empty);
    }
    let review: Review<'_> = serde_json::from_slice(body).map_err(ReviewError::Unreadable)?;
    if review.api_version != API_VERSION || review.kind != KIND {
        return Err(ReviewError::Version {
            api_version: review.api_version,
            kind: review.kind,
        });
    }
    let request = review.request.ok_or(ReviewError::NoRequest)?;
    let mut response = match question {
        Question::App => judge_app(&request),
        Question::Pod => complete_pod(&request),
    };
    response["uid"] = Value::from(request.uid);
    Ok(json!({"apiVersion": API_VERSION, "kind": KIND, "response": response}))
}

fn judge_app(request: &Request<'_>) -> Value {
    if !matches!(request.operation.as_str(), "CREATE" | "UPDATE") {
        return allowed();
    }
    match request.object::<JudgedApp>() {
        Err(error) => denied(&format!("the ClowdApp cannot be read: {error}")),
        Ok(app) => match app::violations(&app).as_slice() {
            [] => allowed(),
            violations => json!({"allowed": false, "status": app::status(violations)}),
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
        Ok(Some(patch)) => json!({
            "allowed": true, "patchType": "JSONPatch", "patch": STANDARD.encode(patch.to_string()),
        }),
        Err(error) => denied(&error.to_string()),
    }
}

fn allowed() -> Value {
    json!({"allowed": true})
}

/// Parity: a plain refusal has neither a reason nor details.
fn denied(message: &str) -> Value {
    json!({
        "allowed": false,
        "status": {"status": "Failure", "message": message, "code": BAD_REQUEST},
    })
}

#[cfg(test)]
mod tests;
