//! Requests as the operators send them.

use kube::{
    Api,
    api::{DynamicObject, Patch, PatchParams},
};
use serde_json::Value;

/// The version that the operators name when they create by apply: no object has it.
pub(crate) const VERSION_OF_NOTHING: &str = "1";

/// A patch under the name of a field manager.
pub(crate) fn manager(name: &str) -> PatchParams {
    PatchParams {
        field_manager: Some(name.to_owned()),
        ..PatchParams::default()
    }
}

/// The body with the version that it expects.
pub(crate) fn with_version(mut body: Value, version: &str) -> Value {
    body["metadata"]["resourceVersion"] = version.into();
    body
}

/// Applies an object.
pub(crate) async fn apply(
    api: &Api<DynamicObject>,
    manager: &str,
    name: &str,
    body: &Value,
) -> anyhow::Result<DynamicObject> {
    let params = PatchParams::apply(manager).force();
    Ok(api.patch(name, &params, &Patch::Apply(body)).await?)
}
