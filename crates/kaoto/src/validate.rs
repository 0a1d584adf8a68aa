//! Validate: the raw object becomes an input that no later step needs to doubt.
//!
//! The object comes from the API server, which checked it against the schema, or from a file, which
//! nobody checked, or from the time before the schema. So nothing about its shape is taken for granted.

use mainstay_engine::reconciler::Rejection;
use serde_json::Value;

use crate::{
    exposure::{Exposure, ExposurePath, PATH_FIELD},
    settings::{ClusterType, Settings},
};

/// What the units render from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KaotoInput {
    /// Name of the custom resource and of all its objects.
    ///
    /// Parity: a name that is a valid name of a custom resource but not of a Service, or too long for
    /// a label, is not refused here. The API server refuses the objects concerned, the others are
    /// applied, and the conditions carry its words.
    pub name: String,
    /// Namespace of the custom resource and of all its objects.
    pub namespace: String,
    /// Uid of the custom resource. An object from a file has none, and therefore owns nothing.
    pub uid: Option<String>,
    /// Image of the editor.
    pub image: String,
    /// Exposure, if asked for.
    pub exposure: Option<Exposure>,
    /// Type of the cluster.
    pub cluster_type: ClusterType,
}

/// Checks a raw `Kaoto`.
pub fn validate(root: &Value, settings: &Settings) -> Result<KaotoInput, Rejection> {
    let root = Field {
        path: "",
        value: Some(root),
    };
    let metadata = root.object("metadata")?;
    let spec = root.object("spec")?;
    let ingress = spec.object("spec.ingress")?;
    let exposure = match ingress.value {
        None => None,
        Some(_) => Some(Exposure {
            host: ingress.text("spec.ingress.host")?,
            path: ingress
                .text(PATH_FIELD)?
                .map(|path| ExposurePath::parse(&path))
                .transpose()?,
        }),
    };
    Ok(KaotoInput {
        name: metadata.subdomain("metadata.name")?,
        namespace: metadata.subdomain("metadata.namespace")?,
        uid: metadata.text("metadata.uid")?,
        image: spec
            .text("spec.image")?
            .unwrap_or_else(|| settings.default_image.clone()),
        exposure,
        cluster_type: settings.cluster_type,
    })
}

/// A part of the object, if it is there, and where it stands.
struct Field<'root> {
    path: &'static str,
    value: Option<&'root Value>,
}

impl Field<'_> {
    /// The member at the end of `path`; null is as good as absent.
    fn member(&self, path: &'static str) -> Self {
        let name = path
            .strip_prefix(self.path)
            .unwrap_or(path)
            .trim_start_matches('.');
        let value = self
            .value
            .and_then(|value| value.get(name))
            .filter(|value| !value.is_null());
        Self { path, value }
    }

    fn object(&self, path: &'static str) -> Result<Self, Rejection> {
        let member = self.member(path);
        match member.value {
            None | Some(Value::Object(_)) => Ok(member),
            Some(other) => Err(wrong_type(path, other, "an object")),
        }
    }

    /// A text; empty is as good as absent.
    fn text(&self, path: &'static str) -> Result<Option<String>, Rejection> {
        match self.member(path).value {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
            Some(other) => Err(wrong_type(path, other, "a string")),
        }
    }

    /// A name as the API server accepts it for any custom resource. It ends up in paths and addresses.
    fn subdomain(&self, path: &'static str) -> Result<String, Rejection> {
        let name = self
            .text(path)?
            .ok_or_else(|| rejection(path, "is missing", &format!("set {path}")))?;
        if is_subdomain(&name) {
            return Ok(name);
        }
        let message = format!("{name:?} is not a valid name");
        Err(rejection(
            path,
            &message,
            "use lower case letters, digits, `-` and `.`, at most 253 of them",
        ))
    }
}

/// RFC 1123: dot-separated labels of lower case letters, digits and inner hyphens.
fn is_subdomain(name: &str) -> bool {
    const LONGEST_NAME: usize = 253;
    let is_label = |label: &str| {
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty()
            && label.bytes().all(inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.len() <= LONGEST_NAME && name.split('.').all(is_label)
}

fn wrong_type(path: &str, value: &Value, wanted: &str) -> Rejection {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    rejection(
        path,
        &format!("is {found}, not {wanted}"),
        "correct the object; the schema of the definition shows its fields",
    )
}

fn rejection(path: &str, message: &str, hint: &str) -> Rejection {
    Rejection {
        path: path.to_owned(),
        message: message.to_owned(),
        hint: Some(hint.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixture::{kaoto, settings};

    fn check(root: &Value) -> Result<KaotoInput, Rejection> {
        validate(root, &settings(ClusterType::Vanilla))
    }

    #[test]
    fn absent_null_and_empty_mean_the_same() {
        let defaults = check(&kaoto(json!({}))).unwrap();
        assert_eq!(defaults.image, "quay.io/kaotoio/kaoto-app:stable");
        assert_eq!(defaults.exposure, None);
        let mut bare = kaoto(json!({}));
        bare.as_object_mut().unwrap().remove("spec");
        for root in [
            bare,
            kaoto(Value::Null),
            kaoto(json!({"image": "", "ingress": null})),
        ] {
            assert_eq!(check(&root).unwrap(), defaults, "{root}");
        }
        let open = check(&kaoto(json!({"ingress": {}}))).unwrap();
        assert_eq!(open.exposure, Some(Exposure::default()));
        assert_eq!(
            check(&kaoto(json!({"ingress": {"host": "", "path": ""}}))).unwrap(),
            open
        );
    }

    #[test]
    fn takes_over_what_the_user_asked_for() {
        let input = check(&kaoto(
            json!({"image": "draw:7", "ingress": {"host": "draw.test", "path": "/x"}}),
        ))
        .unwrap();
        assert_eq!(input.image, "draw:7");
        let exposure = input.exposure.unwrap();
        assert_eq!(exposure.host.as_deref(), Some("draw.test"));
        assert_eq!(exposure.path.unwrap().as_str(), "/x");
    }

    #[test]
    fn names_the_field_that_has_the_wrong_type() {
        let table = [
            (json!(7), "spec: is a number, not an object"),
            (
                json!({"image": ["a"]}),
                "spec.image: is a list, not a string",
            ),
            (
                json!({"ingress": true}),
                "spec.ingress: is a boolean, not an object",
            ),
            (
                json!({"ingress": {"host": 1}}),
                "spec.ingress.host: is a number, not a string",
            ),
            (
                json!({"ingress": {"path": {}}}),
                "spec.ingress.path: is an object, not a string",
            ),
        ];
        for (spec, text) in table {
            assert_eq!(check(&kaoto(spec)).unwrap_err().to_string(), text);
        }
        assert_eq!(
            check(&json!("nothing")).unwrap_err().to_string(),
            "metadata.name: is missing"
        );
    }

    #[test]
    fn accepts_names_that_only_the_service_will_trip_over() {
        let long = "a".repeat(200);
        for name in ["my.designer", "1st", long.as_str()] {
            let mut root = kaoto(json!({}));
            root["metadata"]["name"] = json!(name);
            assert_eq!(check(&root).unwrap().name, name);
        }
    }

    #[test]
    fn refuses_names_that_no_api_server_would_store() {
        let long = "a".repeat(254);
        for name in [
            "Upper",
            "a b",
            "-a",
            "a-",
            "a..b",
            "a/../b",
            "a;",
            long.as_str(),
        ] {
            let mut root = kaoto(json!({}));
            root["metadata"]["name"] = json!(name);
            assert_eq!(check(&root).unwrap_err().path, "metadata.name", "{name}");
        }
    }

    #[test]
    fn an_object_without_a_namespace_says_what_to_do() {
        let mut root = kaoto(json!({}));
        root["metadata"]
            .as_object_mut()
            .unwrap()
            .remove("namespace");
        let rejection = check(&root).unwrap_err();
        assert_eq!(rejection.to_string(), "metadata.namespace: is missing");
        assert_eq!(rejection.hint.as_deref(), Some("set metadata.namespace"));
    }
}
