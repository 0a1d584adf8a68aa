//! Writing generated files: whole or not at all, and only where they differ.

use std::{
    fs,
    path::{Component, Path},
};

use anyhow::{Context, ensure};

/// Writes one file under a root that was named by the user. An unchanged file keeps its time.
pub(crate) fn file(root: &Path, relative: &str, content: &str) -> anyhow::Result<()> {
    let plain = Path::new(relative)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    ensure!(
        plain,
        "refusing to write `{relative}`: it would leave the output directory"
    );
    let path = root.join(relative);
    let could_not = || format!("could not write `{}`", path.display());
    if fs::read_to_string(&path).is_ok_and(|existing| existing == content) {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(could_not)?;
    }
    let staged = path.with_extension(format!("{}.tmp", std::process::id()));
    fs::write(&staged, content).with_context(could_not)?;
    fs::rename(&staged, &path).with_context(could_not)
}
