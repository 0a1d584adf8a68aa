//! The operator's own manifests, as values: what an installation, kustomize and OLM need.
//!
//! Nothing is written here. Every function returns files with paths relative to a directory of the
//! caller's choice; YAML documents are JSON values that the caller prints.

mod bundle;
mod csv;
mod kustomize;
mod openshift;
mod operator;
mod samples;
mod validate;

use serde_json::Value;

pub use self::{
    bundle::{BundleError, BundleInput, bundle},
    kustomize::kustomize_tree,
    openshift::{OpenShiftVersions, OpenShiftVersionsError},
    operator::operator_objects,
    validate::{Violation, validate},
};
use crate::names;

/// Image that stands in manifests until kustomize replaces it.
pub const PLACEHOLDER_IMAGE: &str = "controller:latest";

/// Version of the operator that development builds carry.
pub const DEVELOPMENT_VERSION: &str = "0.0.5";

/// One generated file.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// Path relative to the output directory, with forward slashes.
    pub path: String,
    /// What is in it.
    pub content: FileContent,
}

/// What is in a file.
#[derive(Clone, Debug, PartialEq)]
pub enum FileContent {
    /// YAML documents, in order.
    Yaml(Vec<Value>),
    /// Plain text, as it is.
    Text(String),
}

impl File {
    fn yaml(path: impl Into<String>, documents: impl Into<Vec<Value>>) -> Self {
        Self {
            path: path.into(),
            content: FileContent::Yaml(documents.into()),
        }
    }

    fn text(path: impl Into<String>, text: String) -> Self {
        Self {
            path: path.into(),
            content: FileContent::Text(text),
        }
    }

    /// The YAML documents of the file; none if it is plain text.
    pub fn documents(&self) -> &[Value] {
        match &self.content {
            FileContent::Yaml(documents) => documents,
            FileContent::Text(_) => &[],
        }
    }
}

/// The definition of the operator's container image. The binaries are built before, static, one per platform.
pub fn containerfile() -> File {
    let text = format!(
        "FROM gcr.io/distroless/static:nonroot\n\
         ARG TARGETPLATFORM\n\
         COPY --chmod=0755 dist/${{TARGETPLATFORM}}/mainstay {binary}\n\
         USER 65532:65532\n\
         ENTRYPOINT [\"{binary}\"]\n\
         CMD [\"run\"]\n",
        binary = names::OPERATOR_BINARY,
    );
    File::text("Containerfile", text)
}

/// The name of the file of the custom resource definition, and the definition.
fn crd() -> (String, Value) {
    mainstay_api::file(&mainstay_api::kaoto::crd())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_image_runs_the_static_binary_as_nobody() {
        let FileContent::Text(text) = containerfile().content else {
            panic!("not a text");
        };
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines.first(),
            Some(&"FROM gcr.io/distroless/static:nonroot")
        );
        for line in [
            "USER 65532:65532",
            "ENTRYPOINT [\"/kaoto\"]",
            "CMD [\"run\"]",
        ] {
            assert!(lines.contains(&line), "{line}");
        }
        assert!(text.contains(" /kaoto\n"));
    }
}
