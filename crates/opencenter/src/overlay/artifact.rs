//! A plan on paper: what a render would write, bound to what it was made from.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::{config::ClusterConfig, descriptor::Registry, render::RenderOptions};

use super::{ActionKind, OverlayTree};

/// The version of the artifact's form.
const VERSION: u32 = 2;

/// How often the digest of values from outside is taken again: guessing them must cost something.
const ROUNDS: usize = 20_000;

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
    /// Another program made it.
    #[error("the plan was made by another version of the program")]
    Program,
    /// Variables or files that the config refers to changed since.
    #[error("what the config refers to outside has changed since the plan was made")]
    Outside,
    /// The render gives something else.
    #[error("the files are not those of the plan")]
    Files,
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
    /// The version of the program.
    pub program: String,
    /// All values from outside together, and slow to guess.
    pub outside: String,
}

impl PlanInputs {
    /// The inputs of a render.
    pub fn new(
        config_text: &[u8],
        config: &ClusterConfig,
        registry: &Registry,
        options: &RenderOptions,
    ) -> Self {
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
            program: env!("CARGO_PKG_VERSION").to_owned(),
            outside: outside(config_text, config),
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

    /// Whether a rendered tree is the one of the plan.
    pub fn verify_tree(&self, tree: &OverlayTree) -> Result<(), ArtifactError> {
        let rendered = Self::new(tree, self.inputs.clone());
        if rendered.files == self.files {
            Ok(())
        } else {
            Err(ArtifactError::Files)
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
            (
                self.inputs.program == inputs.program,
                ArtifactError::Program,
            ),
            (
                self.inputs.outside == inputs.outside,
                ArtifactError::Outside,
            ),
        ];
        checks
            .into_iter()
            .find(|(holds, _)| !holds)
            .map_or(Ok(()), |(_, error)| Err(error))
    }
}

/// Digest of all values from outside. The text of the config is in it, so that no table of digests fits two configs.
fn outside(config_text: &[u8], config: &ClusterConfig) -> String {
    let values = config.origins().outside();
    if values.is_empty() {
        return String::new();
    }
    let mut hash = Sha256::new();
    hash.update(Sha256::digest(config_text));
    for value in values {
        for part in [value.path.as_str(), value.reference(), value.expose()] {
            // Lengths keep two parts from being taken for one.
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
    }
    let mut digest = hash.finalize();
    for _ in 0..ROUNDS {
        digest = Sha256::digest(digest);
    }
    hex(&digest)
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
