//! An `AdmissionReview` in, an answer out.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

const API_VERSION: &str = "admission.k8s.io/v1";
const KIND: &str = "AdmissionReview";
const BAD_REQUEST: u16 = 400;

/// Something that an API server asks about: the path under which it does, and what is answered.
#[derive(Clone, Copy, Debug)]
pub struct Webhook {
    /// Path.
    pub path: &'static str,
    /// The answer: the `response` of the review, without its uid. See [`allowed`], [`denied`], [`patched`].
    pub judge: fn(&Request<'_>) -> Value,
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

/// What is asked.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request<'body> {
    uid: String,
    /// `CREATE`, `UPDATE`, `DELETE` or `CONNECT`.
    #[serde(default)]
    pub operation: String,
    /// Name of the subresource; empty for the object itself.
    #[serde(default)]
    pub sub_resource: String,
    /// As it was sent: a tree of values would take many times the room. The old object is not looked at.
    #[serde(borrow)]
    object: Option<&'body RawValue>,
}

impl<'body> Request<'body> {
    /// The object as a type.
    pub fn object<T: Deserialize<'body>>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.object.map_or("null", RawValue::get))
    }
}

/// Answers a question: the body of the response.
pub fn answer(webhook: &Webhook, body: &[u8]) -> Result<Value, ReviewError> {
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
    let mut response = (webhook.judge)(&request);
    response["uid"] = Value::from(request.uid);
    Ok(json!({"apiVersion": API_VERSION, "kind": KIND, "response": response}))
}

/// The object may be stored as it is.
pub fn allowed() -> Value {
    json!({"allowed": true})
}

/// The object may be stored with these changes, a JSON patch.
pub fn patched(patch: &Value) -> Value {
    json!({
        "allowed": true, "patchType": "JSONPatch", "patch": STANDARD.encode(patch.to_string()),
    })
}

/// The object may not be stored. A plain refusal has neither a reason nor details.
pub fn denied(message: &str) -> Value {
    denied_with(&json!({"status": "Failure", "message": message, "code": BAD_REQUEST}))
}

/// The object may not be stored, with a whole `Status` that says why.
pub fn denied_with(status: &Value) -> Value {
    json!({"allowed": false, "status": status})
}

#[cfg(test)]
mod tests;
