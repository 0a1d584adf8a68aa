//! What earlier renders came to: so that a tree that is as it shall be need not be rendered to know it.
//!
//! A record holds a digest of everything that a render reads, and how the tree looked when the render found nothing to
//! do. While both are the same, so is the answer. A record is a hint, kept outside of the repository: anybody may
//! delete it, one that cannot be read or does not fit is passed over, and no content of a file enters it.

mod inputs;
mod record;
mod store;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::SystemTime,
};

use mainstay_gitops::{Footprint, Overlay, Plan};
use mainstay_opencenter::{
    descriptor::TemplateStore,
    finding::{self, Finding},
};

use crate::{
    args::{RenderTreeArgs, SecretsMode},
    keys,
    load::{self, Cluster},
    locate::Located,
    seal,
    session::Session,
};
use inputs::KeyFile;
use record::Record;
use store::Store;

/// What earlier renders came to, for one run of the program.
#[derive(Debug)]
pub(super) struct Memory {
    store: Store,
    /// Digest of what all clusters have in common.
    common: String,
    output_dir: Option<PathBuf>,
    reads_keys: bool,
    digest_key: PathBuf,
}

/// A render that was not necessary: what it would have said.
#[derive(Debug)]
pub(super) struct Recalled {
    pub(super) cluster: String,
    pub(super) plan: Plan,
    pub(super) warnings: Vec<Finding>,
}

/// A render that is about to happen, as far as it can be remembered.
#[derive(Debug)]
pub(super) struct Note {
    name: String,
    inputs: String,
    keys: Vec<KeyFile>,
    overlay: Overlay,
    repository: PathBuf,
    begun: SystemTime,
    /// The tree before; none if there was none to speak of.
    before: Option<Footprint>,
}

impl Memory {
    /// None for renders whose answer is more than their plan, and where there is no place to remember.
    pub(super) fn new(
        session: &Session,
        arguments: &RenderTreeArgs,
        descriptors: &(Vec<(String, String)>, TemplateStore),
    ) -> Option<Self> {
        let is_plain = arguments.tree.service.is_none()
            && arguments.plan.is_none()
            && arguments.diagnostics.is_none()
            && !arguments.watch;
        if !is_plain {
            return None;
        }
        Some(Self {
            store: Store::of_user()?,
            common: inputs::common(session, arguments, descriptors)?,
            output_dir: arguments.tree.output_dir.clone(),
            reads_keys: arguments.secrets_mode == SecretsMode::Encrypt,
            digest_key: session.config_dir.join(seal::DIGEST_KEY_FILE),
        })
    }

    /// What a render of this cluster would say, if it is known to change nothing.
    pub(super) fn recall(&self, located: &Located) -> Option<Recalled> {
        let record = Record::from_bytes(&self.store.read(&self.name(&located.path))?)?;
        let bytes = load::read_raw(&located.path).ok()?;
        if record.inputs != self.inputs(&located.path, &bytes)
            || !record.keys.iter().all(KeyFile::is_unchanged)
        {
            return None;
        }
        let overlay = Overlay::new(&record.repository, &record.cluster).ok()?;
        let footprint = overlay.footprint()?;
        if record.tree != footprint.digest() {
            return None;
        }
        let candidates: BTreeSet<&str> = record.candidates.iter().map(String::as_str).collect();
        let kept = footprint.files().iter();
        Some(Recalled {
            plan: Plan {
                kept: kept
                    .filter(|file| !candidates.contains(file.as_str()))
                    .cloned()
                    .collect(),
                candidates: record.candidates.clone(),
                ..Plan::default()
            },
            warnings: record.warnings()?,
            cluster: record.cluster,
        })
    }

    /// Looks at what a render is about to read. Comes before the first look of the render itself, so that a change in
    /// between makes the record useless rather than wrong.
    pub(super) fn note(
        &self,
        located: &Located,
        cluster: &Cluster,
        repository: &Path,
    ) -> Option<Note> {
        if !cluster.is_self_contained {
            return None;
        }
        let overlay = Overlay::new(repository, cluster.config.cluster_name()).ok()?;
        let mut keys = Vec::new();
        if self.reads_keys {
            let files = keys::files(&cluster.config).into_iter();
            keys = files
                .chain([self.digest_key.clone()])
                .map(KeyFile::look)
                .collect();
        }
        Some(Note {
            name: self.name(&located.path),
            inputs: self.inputs(&located.path, &cluster.bytes),
            keys,
            repository: repository.to_owned(),
            begun: SystemTime::now(),
            before: overlay.footprint(),
            overlay,
        })
    }

    /// Remembers a render that found nothing to do.
    pub(super) fn keep_unchanged(
        &self,
        mut note: Note,
        plan: &Plan,
        warnings: &[Finding],
        user_files: &BTreeSet<String>,
    ) {
        let begun = note.begun;
        if let Some(before) = note.before.take().filter(|before| before.is_settled(begun)) {
            self.keep(&note, &before, plan, warnings, user_files);
        }
    }

    /// Remembers a first render, whose files were written before `staged`. Nobody else has seen them by then, so a
    /// younger file is somebody else's.
    pub(super) fn keep_first(
        &self,
        note: &Note,
        staged: SystemTime,
        plan: &Plan,
        warnings: &[Finding],
        user_files: &BTreeSet<String>,
    ) {
        let is_first = note.before.is_none()
            && plan.kept.is_empty()
            && plan.changed.is_empty()
            && plan.deleted.is_empty();
        let now = SystemTime::now();
        let after = is_first.then(|| note.overlay.footprint()).flatten();
        if let Some(after) = after
            && after.newest() <= staged
            && after.is_settled(now)
        {
            self.keep(note, &after, plan, warnings, user_files);
        }
    }

    fn keep(
        &self,
        note: &Note,
        tree: &Footprint,
        plan: &Plan,
        warnings: &[Finding],
        user_files: &BTreeSet<String>,
    ) {
        let planned = [&plan.added, &plan.kept, &plan.candidates];
        let mut files: Vec<&String> = planned.into_iter().flatten().collect();
        files.sort_unstable();
        let is_seen = tree.files().iter().eq(files)
            && tree.user_files().iter().eq(user_files)
            && note.keys.iter().all(|key| key.is_settled(note.begun))
            && !finding::has_errors(warnings);
        if !is_seen {
            return;
        }
        let record = Record::new(note, tree, plan, warnings);
        if let Some(bytes) = record.to_bytes() {
            self.store.write(&note.name, &bytes);
        }
    }

    /// The name of the record of a config.
    fn name(&self, config: &Path) -> String {
        let output = self.output_dir.as_deref().unwrap_or(Path::new(""));
        inputs::digest([
            b"record".as_slice(),
            config.as_os_str().as_encoded_bytes(),
            output.as_os_str().as_encoded_bytes(),
        ])
    }

    /// Digest of everything that a render of a self-contained config reads, besides the tree and the keys.
    fn inputs(&self, config: &Path, bytes: &[u8]) -> String {
        inputs::digest([
            self.common.as_bytes(),
            config.as_os_str().as_encoded_bytes(),
            bytes,
        ])
    }
}
