//! A plan on paper: what a render would write, bound to what it was made from.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::{descriptor::Registry, render::RenderOptions};

use super::{ActionKind, OverlayTree};

/// The version of the artifact's form.
const VERSION: u32 = 1;

/// Why an artifact must not be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ArtifactError {
    /// It was written by another version.
    #[error("the plan has another format")]
    Version,
    /// It is about another cluster.
    #[error("the plan is about another cluster")]
    Cluster,
    /// The config changed since.
    #[error("the config has changed since the plan was made")]
    Config,
    /// The descriptors changed since.
    #[error("the descriptors have changed since the plan was made")]
    Descriptors,
    /// The options are others.
    #[error("the plan was made with other options")]
    Options,
}

/// Hashes of everything that a plan was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanInputs {
    /// The text of the config.
    pub config: String,
    /// All descriptors and templates.
    pub descriptors: String,
    /// The options.
    pub options: String,
}

impl PlanInputs {
    /// The inputs of a render.
    pub fn new(config_text: &[u8], registry: &Registry, options: &RenderOptions) -> Self {
        let descriptors = registry
            .texts()
            .fold(Sha256::new(), |mut hash, (file, bytes)| {
                // Lengths keep two files from being taken for one.
                hash.update((file.len() as u64).to_be_bytes());
                hash.update(file);
                hash.update((bytes.len() as u64).to_be_bytes());
                hash.update(bytes);
                hash
            });
        Self {
            config: hex(&Sha256::digest(config_text)),
            descriptors: hex(&descriptors.finalize()),
            options: hex(&Sha256::digest(format!("{options:?}"))),
        }
    }
}

/// One file of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedFile {
    /// The path.
    pub path: String,
    /// The descriptor.
    pub owner: String,
    /// What kind of file it is.
    pub kind: ActionKind,
    /// Whether it is encrypted when it is written.
    pub sensitive: bool,
    /// The hash of its content; none for secret files, whose hash would tell about the secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// What a render would write, bound to what it was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanArtifact {
    /// The version of this form.
    pub version: u32,
    /// The cluster.
    pub cluster: String,
    /// What it was made from.
    pub inputs: PlanInputs,
    /// The files in path order.
    pub files: Vec<PlannedFile>,
}

impl PlanArtifact {
    /// The plan of a rendered tree.
    pub fn new(tree: &OverlayTree, inputs: PlanInputs) -> Self {
        let files = tree.files.iter().map(|(path, file)| {
            let sensitive = file.sensitivity.is_some();
            PlannedFile {
                path: path.clone(),
                owner: file.owner.clone(),
                kind: file.kind,
                sensitive,
                sha256: (!sensitive).then(|| hex(&Sha256::digest(&file.bytes))),
            }
        });
        Self {
            version: VERSION,
            cluster: tree.cluster.clone(),
            inputs,
            files: files.collect(),
        }
    }

    /// Whether the plan still holds for these inputs.
    pub fn verify(&self, cluster: &str, inputs: &PlanInputs) -> Result<(), ArtifactError> {
        let checks = [
            (self.version == VERSION, ArtifactError::Version),
            (self.cluster == cluster, ArtifactError::Cluster),
            (self.inputs.config == inputs.config, ArtifactError::Config),
            (
                self.inputs.descriptors == inputs.descriptors,
                ArtifactError::Descriptors,
            ),
            (
                self.inputs.options == inputs.options,
                ArtifactError::Options,
            ),
        ];
        checks
            .into_iter()
            .find(|(holds, _)| !holds)
            .map_or(Ok(()), |(_, error)| Err(error))
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
            // Writing to a String cannot fail.
            let _ = write!(out, "{byte:02x}");
            out
        })
}
