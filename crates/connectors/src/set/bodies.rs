//! What a set is to install: recorded in it, or rendered anew from its Connector.

use mainstay_engine::{
    ObjectKey,
    reconciler::{ValidateError, Waiting},
    snapshot::Snapshot,
};
use mainstay_manifest::Object;
use serde_json::{Map, Value};

use super::{Bodies, Set, SetReconciler};
use crate::{
    kinds,
    rendering::{NotRendered, rendering},
    views,
};

/// The set is about to be changed by the controller of its Connector.
pub(super) const OUT_OF_DATE: &str = "RenderOutOfDate";
/// Nobody knows what is to be installed.
pub(super) const NO_CONNECTOR: &str = "ConnectorNotFound";
/// The Connector cannot be rendered.
pub(super) const RENDER_FAILED: &str = "RenderFailed";

fn waiting(reason: &'static str, message: impl Into<String>) -> ValidateError {
    ValidateError::Waiting(Waiting {
        reason,
        message: message.into(),
    })
}

pub(super) fn resolve(
    reconciler: &SetReconciler,
    set: &Set,
    snapshot: &dyn Snapshot,
) -> Result<Bodies, ValidateError> {
    if set.manifest.spec.manifest_type.is_all() {
        let recorded = set.manifest.spec.manifests.iter();
        let objects: Result<Vec<Object>, _> = recorded.map(|one| Object::new(whole(one))).collect();
        let failed = |error| waiting(RENDER_FAILED, format!("spec.manifests: {error}"));
        return Ok(Bodies(objects.map_err(failed)?));
    }
    let Some(install_type) = set.install_type else {
        return Err(waiting(
            OUT_OF_DATE,
            "its label does not say which set it is",
        ));
    };
    let (namespace, name) = (&set.connector_namespace, &set.connector_name);
    let key = ObjectKey::new(kinds::CONNECTOR, namespace.as_str(), name.as_str());
    let Some(connector) = snapshot.view(&key, &views::CONNECTOR)? else {
        let message = format!("{key} does not exist; what is installed stays as it is");
        return Err(waiting(NO_CONNECTOR, message));
    };
    let catalog = &*reconciler.catalog;
    let rendered = rendering(
        namespace,
        &connector.spec,
        &reconciler.settings,
        catalog,
        snapshot,
    );
    let rendering = rendered.map_err(|stopped| match stopped {
        NotRendered::Unknown => ValidateError::Unknown,
        NotRendered::Failed(failure) => waiting(RENDER_FAILED, failure.message),
    })?;
    let part = rendering.part(install_type);
    if part.hash != set.hash {
        let message = format!("{key} renders to something else by now");
        return Err(waiting(OUT_OF_DATE, message));
    }
    Ok(Bodies(part.objects.objects().to_vec()))
}

/// A recorded object with its names where they belong.
fn whole(recorded: &Value) -> Value {
    let mut object = recorded.clone();
    if object.get("metadata").is_some() {
        return object;
    }
    if let Some(fields) = object.as_object_mut() {
        let mut metadata = Map::new();
        for field in ["name", "namespace"] {
            if let Some(value) = fields.remove(field) {
                metadata.insert(field.to_owned(), value);
            }
        }
        fields.insert("metadata".to_owned(), Value::Object(metadata));
    }
    object
}
