//! `kustomization.yaml` files.

use mainstay_yaml::Node;

use super::{list, map};

/// A Secret that kustomize makes from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretGenerator {
    /// The Secret's name.
    pub name: String,
    /// `key=file`.
    pub file: String,
}

impl SecretGenerator {
    /// The Secret through which a HelmRelease of the base reads the cluster's values.
    pub fn of_values(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            file: "override.yaml=helm-values/override-values.yaml".to_owned(),
        }
    }
}

/// One `kustomization.yaml`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KustomizeFile {
    /// The namespace of everything.
    pub namespace: Option<String>,
    /// Files and directories.
    pub resources: Vec<String>,
    /// Whether `resources` stands there even if it is empty.
    pub keep_empty_resources: bool,
    /// Patches: each the file, and the target if the file does not say it.
    pub patches: Vec<(String, Option<Node>)>,
    /// The values Secret.
    pub secret: Option<SecretGenerator>,
}

impl KustomizeFile {
    /// A file that only lists others.
    pub fn listing(resources: Vec<String>) -> Self {
        Self {
            resources,
            ..Self::default()
        }
    }

    /// The file as a value.
    pub fn to_node(&self) -> Node {
        let resources = Node::list(self.resources.iter());
        let patches = self
            .patches
            .iter()
            .map(|(path, target)| map! { "path": path, "target": target.clone() });
        let secret = self.secret.as_ref().map(|secret| {
            list![map! {
                "name": &secret.name,
                "type": "Opaque",
                "files": list![&secret.file],
                "options": map! { "disableNameSuffixHash": true },
            }]
        });
        map! {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "namespace": self.namespace.as_ref(),
            "resources": if self.keep_empty_resources { resources } else { resources.or_absent() },
            "patches": Node::list(patches).or_absent(),
            "secretGenerator": secret,
        }
    }
}
