//! What objects are told apart by, and in which of the two sets of an installation they belong.

use std::fmt;

use crate::object::Object;

/// Identity of an object: the version of its API does not matter, a cluster serves one object under all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// API group; empty for the core group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace; empty if there is none.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl fmt::Display for Identity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ", self.kind)?;
        if !self.namespace.is_empty() {
            write!(formatter, "{}/", self.namespace)?;
        }
        formatter.write_str(&self.name)
    }
}

/// The two sets that an installation is recorded in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InstallType {
    /// Everything that does not run: definitions, rights, configuration, custom resources.
    Static,
    /// Workloads and the Services in front of them.
    Deployment,
}

impl InstallType {
    /// The set that an object belongs to.
    pub fn of(object: &Object) -> Self {
        match (object.group(), object.kind_name()) {
            ("apps", "Deployment" | "StatefulSet" | "DaemonSet")
            | ("batch", "Job" | "CronJob")
            | ("", "Service") => Self::Deployment,
            _ => Self::Static,
        }
    }

    /// The value of the label that says so.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Deployment => "deployment",
        }
    }
}

/// The release version: that of the operator, with that of the payload if it has one, as the value of a label.
///
/// ```
/// use mainstay_manifest::identity::release_version;
///
/// assert_eq!(release_version("v0.0.1", None), "v0.0.1");
/// assert_eq!(release_version("0.0.1", Some("1.0.0")), "v0.0.1-1.0.0");
/// assert_eq!(release_version("v1.0.0+build", None), "v1.0.0_build");
/// ```
pub fn release_version(operator: &str, payload: Option<&str>) -> String {
    let operator = operator.strip_prefix('v').unwrap_or(operator);
    let version = match payload {
        Some(payload) => format!("v{operator}-{payload}"),
        None => format!("v{operator}"),
    };
    let allowed = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    let characters = version.chars();
    let characters = characters.map(|character| if allowed(character) { character } else { '_' });
    let cut: String = characters.take(63).collect();
    // The value of a label ends with a letter or a digit.
    cut.trim_end_matches(['.', '_', '-']).to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(api_version: &str, kind: &str) -> Object {
        let value = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}});
        Object::new(value).unwrap()
    }

    #[test]
    fn the_version_of_the_api_is_not_part_of_the_identity() {
        let old = object("autoscaling/v1", "HorizontalPodAutoscaler");
        let new = object("autoscaling/v2", "HorizontalPodAutoscaler");
        assert_eq!(old.identity(), new.identity());
        assert_ne!(old.key(), new.key());
        assert_ne!(
            object("v1", "Service").identity(),
            object("serving.knative.dev/v1", "Service").identity()
        );
    }

    #[test]
    fn what_runs_is_in_one_set_and_the_rest_in_the_other() {
        for (api_version, kind) in [
            ("apps/v1", "Deployment"),
            ("apps/v1", "StatefulSet"),
            ("apps/v1", "DaemonSet"),
            ("batch/v1", "Job"),
            ("batch/v1", "CronJob"),
            ("v1", "Service"),
        ] {
            let found = InstallType::of(&object(api_version, kind));
            assert_eq!(found, InstallType::Deployment, "{kind}");
        }
        for (api_version, kind) in [
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
            ("v1", "PersistentVolumeClaim"),
            ("serving.knative.dev/v1", "Service"),
            ("v1", "Pod"),
        ] {
            let found = InstallType::of(&object(api_version, kind));
            assert_eq!(found, InstallType::Static, "{kind}");
        }
    }

    #[test]
    fn a_long_version_is_cut_to_the_length_of_a_label() {
        let version = release_version("v1.0.0", Some(&"x".repeat(80)));
        assert_eq!(version.len(), 63);
        let version = release_version(&format!("{}-----", "1".repeat(60)), Some("2"));
        assert_eq!(version, format!("v{}", "1".repeat(60)));
    }
}
