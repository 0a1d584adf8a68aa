//! From the JSON of a root to its type.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::reconciler::Rejection;

/// Reads a typed root off its JSON. A definition that is older or laxer than ours lets objects into the store that do
/// not fit; the rejection names the first field that is wrong.
pub fn decode<T: DeserializeOwned>(root: &Value) -> Result<T, Rejection> {
    serde_path_to_error::deserialize(root).map_err(|error| Rejection {
        path: error.path().to_string(),
        message: error.inner().to_string(),
        hint: Some(
            "correct the field, and install the current definition of the kind, which refuses such objects".to_owned(),
        ),
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only the shape matters")]
    struct Root {
        spec: Spec,
    }

    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only the shape matters")]
    struct Spec {
        items: Vec<Item>,
    }

    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only the shape matters")]
    struct Item {
        args: Vec<String>,
    }

    fn path(spec: &Value) -> String {
        decode::<Root>(&json!({"spec": spec})).unwrap_err().path
    }

    #[test]
    fn the_wrong_field_is_named_as_deep_as_it_is() {
        assert_eq!(path(&json!({"items": 7})), "spec.items");
        let deep = json!({"items": [{"args": []}, {"args": 7}]});
        assert_eq!(path(&deep), "spec.items[1].args");
        assert_eq!(path(&json!("text")), "spec");
    }
}
