//! Editing objects as the types of the API.

use k8s_openapi::Resource;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Problem, Transform};
use crate::object::Object;

/// A transformer that edits objects of one type and leaves all others alone.
///
/// Fields that the type does not know are lost, as are `status` and empty times.
///
/// ```
/// use k8s_openapi::api::apps::v1::Deployment;
/// use mainstay_manifest::{ManifestSet, parse, transform::typed};
///
/// let set = ManifestSet::new(parse::text("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}", "a")?);
/// let paused = typed("pause", |deployment: &mut Deployment| {
///     deployment.spec.get_or_insert_default().paused = Some(true);
///     Ok(())
/// });
/// let set = set.transform(&[Some(&paused)])?;
/// assert_eq!(set.objects()[0].value()["spec"]["paused"], true);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn typed<K, F>(name: &'static str, edit: F) -> impl Transform
where
    K: Resource + Serialize + DeserializeOwned + 'static,
    F: Fn(&mut K) -> Result<(), Problem> + Send + Sync,
{
    Typed {
        name,
        edit,
        kind: std::marker::PhantomData::<fn() -> K>,
    }
}

struct Typed<K, F> {
    name: &'static str,
    edit: F,
    kind: std::marker::PhantomData<fn() -> K>,
}

impl<K, F> Transform for Typed<K, F>
where
    K: Resource + Serialize + DeserializeOwned,
    F: Fn(&mut K) -> Result<(), Problem> + Send + Sync,
{
    fn name(&self) -> &'static str {
        self.name
    }

    fn apply(&self, object: &mut Object) -> Result<(), Problem> {
        let field = |name: &str| object.value().get(name).and_then(Value::as_str);
        if field("apiVersion") != Some(K::API_VERSION) || field("kind") != Some(K::KIND) {
            return Ok(());
        }
        let other =
            |error: serde_json::Error| Problem::Other(format!("not a {}: {error}", K::KIND));
        let mut edited: K = serde_json::from_value(object.value().clone()).map_err(other)?;
        (self.edit)(&mut edited)?;
        let mut value = serde_json::to_value(edited).map_err(other)?;
        if let Some(fields) = value.as_object_mut() {
            fields.remove("status");
        }
        drop_empty_times(&mut value);
        *object.value_mut() = value;
        Ok(())
    }
}

/// Types that always write their times write null where there is none.
fn drop_empty_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if fields.get("creationTimestamp").is_some_and(Value::is_null) {
                fields.remove("creationTimestamp");
            }
            fields.values_mut().for_each(drop_empty_times);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_empty_times),
        _ => {}
    }
}
