//! What a render reads, in digests.

use std::{
    env, fs,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use mainstay_gitops::sha256;
use mainstay_opencenter::descriptor::TemplateStore;
use serde::{Deserialize, Serialize};

use crate::{args::RenderTreeArgs, session::Session, stamp::stamp};

/// Variables that a render reads.
const VARIABLES: [&str; 4] = [
    "HOME",
    "SOPS_AGE_KEY",
    "SOPS_AGE_KEY_FILE",
    "SOPS_AGE_RECIPIENTS",
];

/// A key file has to be older than this before its time is believed.
const YOUNG: Duration = Duration::from_secs(2);

/// Digest of some parts; where one ends and the next begins makes a difference.
pub(super) fn digest<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> String {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend_from_slice(&part.len().to_le_bytes());
        bytes.extend_from_slice(part);
    }
    sha256(&bytes)
}

/// Digest of what the renders of all clusters have in common; none if the program does not know itself.
pub(super) fn common(
    session: &Session,
    arguments: &RenderTreeArgs,
    (texts, templates): &(Vec<(String, String)>, TemplateStore),
) -> Option<String> {
    let program = stamp(&env::current_exe().ok()?)?;
    let options = format!(
        "{:?} {:?} {:?} {:?} {:?} {} {} {} {} {}",
        arguments.tree.output_dir,
        arguments.tree.gitops_auth,
        arguments.secrets_mode,
        session.default_auth(),
        session.allowed_hosts(),
        arguments.tree.allow_missing_secrets,
        arguments.tree.emit_auth_alternative,
        arguments.adopt,
        arguments.accept_pruning,
        arguments.finish_adoption,
    );
    let mut parts: Vec<Vec<u8>> = vec![
        program.into_bytes(),
        options.into_bytes(),
        session.config_dir.as_os_str().as_encoded_bytes().to_vec(),
        env::current_dir()
            .ok()?
            .into_os_string()
            .into_encoded_bytes(),
    ];
    for name in VARIABLES {
        let value = env::var_os(name).unwrap_or_default();
        parts.push(digest([name.as_bytes(), value.as_encoded_bytes()]).into_bytes());
    }
    for (file, text) in texts {
        parts.push(digest([file.as_bytes(), text.as_bytes()]).into_bytes());
    }
    // Descriptors and templates must not be taken for each other.
    parts.push(Vec::new());
    for (path, bytes) in templates.iter() {
        parts.push(digest([path.as_bytes(), bytes]).into_bytes());
    }
    Some(digest(parts.iter().map(Vec::as_slice)))
}

/// A key file, and how it looked. Not a digest of it: keys stay where they are.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeyFile {
    path: PathBuf,
    /// None if it does not exist.
    stamp: Option<String>,
}

impl KeyFile {
    pub(super) fn look(path: PathBuf) -> Self {
        Self {
            stamp: stamp(&path),
            path,
        }
    }

    pub(super) fn is_unchanged(&self) -> bool {
        self.stamp == stamp(&self.path)
    }

    /// Whether a write at or after this time would have left another stamp.
    pub(super) fn is_settled(&self, at: SystemTime) -> bool {
        let Ok(modified) = fs::metadata(&self.path).and_then(|metadata| metadata.modified()) else {
            return self.stamp.is_none();
        };
        modified.checked_add(YOUNG).is_some_and(|end| end <= at)
    }
}
