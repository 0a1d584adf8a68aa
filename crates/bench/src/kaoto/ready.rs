//! When a Kaoto is done.

use kube::api::DynamicObject;
use serde_json::Value;

/// The generation for which a Kaoto is Ready.
pub(super) fn ready_generation(kaoto: &DynamicObject) -> Option<i64> {
    let status = kaoto.data.get("status")?;
    let observed = status.get("observedGeneration").and_then(Value::as_i64)?;
    let is_ready = status.get("phase")? == "Ready" && kaoto.metadata.generation == Some(observed);
    is_ready.then_some(observed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kaoto(generation: i64, status: &Value) -> DynamicObject {
        serde_json::from_value(json!({
            "apiVersion": "designer.kaoto.io/v1alpha1", "kind": "Kaoto",
            "metadata": {"name": "canvas", "generation": generation}, "status": status,
        }))
        .unwrap()
    }

    #[test]
    fn ready_counts_for_the_current_generation_only() {
        let ready = json!({"phase": "Ready", "observedGeneration": 2});
        assert_eq!(ready_generation(&kaoto(2, &ready)), Some(2));
        assert_eq!(ready_generation(&kaoto(3, &ready)), None);
        let failed = json!({"phase": "Error", "observedGeneration": 2});
        assert_eq!(ready_generation(&kaoto(2, &failed)), None);
        assert_eq!(ready_generation(&kaoto(2, &json!({}))), None);
    }
}
