//! Reading the config of a cluster, also an encrypted one.

use std::{fs::File, io::Read as _, path::Path};

use anyhow::Context as _;
use mainstay_opencenter::{
    config::{ClusterConfig, LoadOptions, Loaded, Purpose, load},
    finding::{self, Code, Finding, Severity},
};
use mainstay_yaml::SourceName;

use crate::{
    keys::{self, Keys},
    locate::{self, Located},
    outside::{self, Outside},
    report::{self, Answer},
    seal,
    session::Session,
};

/// Longest file that is read; the parser refuses shorter ones already.
const LONGEST: u64 = 16 * 1024 * 1024;

/// A config and where it is.
#[derive(Debug)]
pub(crate) struct Cluster {
    /// The text, decrypted if need be.
    pub(crate) bytes: Vec<u8>,
    /// Whether the file alone says everything: it is not encrypted, and refers to no variable and no other file.
    pub(crate) is_self_contained: bool,
    pub(crate) config: ClusterConfig,
    pub(crate) warnings: Vec<Finding>,
}

/// The options for a purpose.
pub(crate) fn options(session: &Session, purpose: Purpose) -> LoadOptions {
    LoadOptions {
        purpose,
        allow_missing_secrets: false,
        allowed_hosts: session.allowed_hosts(),
    }
}

/// Finds, reads and validates a config. Warnings are kept, errors stop.
pub(crate) fn with_options(
    session: &Session,
    id: Option<&str>,
    options: &LoadOptions,
) -> Answer<Cluster> {
    located(session, &locate::find(session, id)?, options)
}

/// Reads and validates a config whose place is known.
pub(crate) fn located(
    session: &Session,
    located: &Located,
    options: &LoadOptions,
) -> Answer<Cluster> {
    let outside = Outside::of(session, &located.path);
    with_outside(located, &outside, options)
}

/// The same, for whoever wants to know what was asked for outside.
pub(crate) fn with_outside(
    located: &Located,
    outside: &Outside,
    options: &LoadOptions,
) -> Answer<Cluster> {
    let raw = read_raw(&located.path)?;
    let is_encrypted = looks_encrypted(&raw);
    let bytes = if is_encrypted {
        decrypted(&located.path, &raw)?
    } else {
        raw
    };
    let loaded = load(&bytes, &source_name(&located.path), outside, options);
    let (config, warnings) = hidden(loaded).into_result()?;
    Ok(Cluster {
        bytes,
        is_self_contained: !is_encrypted && !outside.is_asked(),
        config,
        warnings,
    })
}

/// Parses and validates a text.
pub(crate) fn parse(session: &Session, path: &Path, bytes: &[u8], options: &LoadOptions) -> Loaded {
    let outside = Outside::of(session, path);
    hidden(load(bytes, &source_name(path), &outside, options))
}

/// What was loaded, with its values from outside out of sight, and its keys looked after.
fn hidden(mut loaded: Loaded) -> Loaded {
    if let Some(config) = &loaded.config {
        outside::hide(config);
        let mask = config.origins().mask();
        loaded
            .findings
            .extend(keys::exposed(config).into_iter().map(|mut finding| {
                mask.hide_in(&mut finding);
                finding
            }));
    }
    loaded
}

fn source_name(path: &Path) -> SourceName {
    SourceName::new(path.display().to_string())
}

/// Reads a config, decrypted if it is encrypted.
pub(crate) fn read(path: &Path) -> Answer<Vec<u8>> {
    let bytes = read_raw(path)?;
    if looks_encrypted(&bytes) {
        decrypted(path, &bytes)
    } else {
        Ok(bytes)
    }
}

fn decrypted(path: &Path, bytes: &[u8]) -> Answer<Vec<u8>> {
    let keys = Keys::of(None)?;
    let cleartext = mainstay_sops::decrypt(bytes, &keys.identities)
        .map_err(|error| seal::finding(&path.display().to_string(), &error))?;
    Ok(cleartext.expose().as_bytes().to_vec())
}

/// Reads a file as it is, but never without end.
pub(crate) fn read_raw(path: &Path) -> Answer<Vec<u8>> {
    let could_not = || format!("could not read `{}`", path.display());
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes))
        .with_context(could_not)?;
    Ok(bytes)
}

/// Whether a config is encrypted; only a real `sops` block makes the difference.
pub(crate) fn looks_encrypted(bytes: &[u8]) -> bool {
    let has_block =
        str::from_utf8(bytes).is_ok_and(|text| text.lines().any(|line| line.trim_end() == "sops:"));
    has_block && mainstay_sops::is_encrypted(bytes)
}

impl Cluster {
    /// Refuses to change a locked config.
    pub(crate) fn refuse_if_locked(&self) -> Answer<()> {
        let meta = &self.config.opencenter.meta;
        if !meta.locked {
            return Ok(());
        }
        let message = match meta.lock_reason.as_str() {
            "" => "the cluster is locked".to_owned(),
            reason => format!("the cluster is locked: {reason}"),
        };
        Err(Finding::new(Code::Oc1003, "opencenter.meta.locked", message).into())
    }

    /// Tells the user what is worth knowing about the config.
    pub(crate) fn tell_warnings(&self, session: &Session) {
        tell_warnings(session, &self.warnings);
    }
}

/// Tells the user warnings, unless they are part of the output or not wanted.
pub(crate) fn tell_warnings(session: &Session, findings: &[Finding]) {
    if !session.chats() || session.log_level > crate::args::LogLevel::Warn {
        return;
    }
    let wants_info = session.log_level <= crate::args::LogLevel::Info;
    let mut told: Vec<Finding> = findings
        .iter()
        .filter(|finding| wants_info || finding.severity != Severity::Info)
        .cloned()
        .collect();
    finding::sort(&mut told);
    report::tell(&told);
}
