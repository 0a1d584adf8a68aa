//! Identity of kinds and objects.

use std::{borrow::Cow, fmt};

use serde_json::Value;

/// A kind of the Kubernetes API: group, version, kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind {
    /// API group; empty for the core group.
    pub group: Cow<'static, str>,
    /// API version.
    pub version: Cow<'static, str>,
    /// Kind name, in the singular and capitalised.
    pub kind: Cow<'static, str>,
}

impl Kind {
    /// A kind known at compile time.
    pub const fn new(group: &'static str, version: &'static str, kind: &'static str) -> Self {
        Self {
            group: Cow::Borrowed(group),
            version: Cow::Borrowed(version),
            kind: Cow::Borrowed(kind),
        }
    }

    /// A kind from the `apiVersion` and `kind` of an object.
    pub fn from_parts(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Self {
            group: Cow::Owned(group.to_owned()),
            version: Cow::Owned(version.to_owned()),
            kind: Cow::Owned(kind.to_owned()),
        }
    }

    /// Whether this is the same kind, in whatever version: a cluster serves one object under all of them.
    pub fn is_like(&self, other: &Self) -> bool {
        self.group == other.group && self.kind == other.kind
    }

    /// The text of `apiVersion`: `v1`, `apps/v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_string()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.kind)
    }
}

/// Identity of one object: kind, namespace (empty if the kind is cluster-scoped), name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// The object's kind.
    pub kind: Kind,
    /// Its namespace; empty for cluster-scoped kinds.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl ObjectKey {
    /// The key of the object `namespace/name` of a kind.
    pub fn new(kind: Kind, namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            kind,
            namespace: namespace.into(),
            name: name.into(),
        }
    }

    /// Reads the identity off an object; `None` if `apiVersion`, `kind` or `metadata.name` is missing.
    pub fn of(object: &Value) -> Option<Self> {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        let name = text("/metadata/name").filter(|name| !name.is_empty())?;
        Some(Self {
            kind: Kind::from_parts(text("/apiVersion")?, text("/kind")?),
            namespace: text("/metadata/namespace").unwrap_or_default().to_owned(),
            name: name.to_owned(),
        })
    }

    /// `namespace/name`, or the bare name of a cluster-scoped object.
    pub fn path(&self) -> String {
        if self.namespace.is_empty() {
            self.name.clone()
        } else {
            format!("{}/{}", self.namespace, self.name)
        }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.kind, self.path())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_the_identity_off_an_object() {
        let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}});
        let key = ObjectKey::of(&object).unwrap();
        assert_eq!(
            key,
            ObjectKey::new(Kind::new("apps", "v1", "Deployment"), "shop", "web")
        );
        assert_eq!(key.to_string(), "Deployment shop/web");
        assert_eq!(key.kind.api_version(), "apps/v1");
    }

    #[test]
    fn an_object_without_a_name_has_no_identity() {
        assert_eq!(
            ObjectKey::of(
                &json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "x-"}})
            ),
            None
        );
        assert_eq!(
            ObjectKey::of(&json!({"kind": "Pod", "metadata": {"name": "x"}})),
            None
        );
    }
}
