//! Writing generated files: whole or not at all, and only where they differ.

use std::{
    fs::{self, OpenOptions, Permissions},
    io::{self, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Component, Path},
};

use anyhow::{Context, ensure};

/// Writes one file under a root that was named by the user. An unchanged file keeps its time.
pub fn file(root: &Path, relative: &str, content: &str) -> anyhow::Result<()> {
    write(root, relative, content, None)
}

/// The same for a file that only its owner may read.
pub fn secret_file(root: &Path, relative: &str, content: &str) -> anyhow::Result<()> {
    write(root, relative, content, Some(0o600))
}

fn write(root: &Path, relative: &str, content: &str, mode: Option<u32>) -> anyhow::Result<()> {
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
        // It may have been written before anybody thought of its mode.
        return mode.map_or(Ok(()), |mode| {
            fs::set_permissions(&path, Permissions::from_mode(mode)).with_context(could_not)
        });
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(could_not)?;
    }
    let staged = path.with_extension(format!("{}.tmp", std::process::id()));
    stage(&staged, content, mode).with_context(could_not)?;
    fs::rename(&staged, &path).with_context(could_not)
}

/// Writes the content beside its place; what is secret is so from the first byte.
fn stage(path: &Path, content: &str, mode: Option<u32>) -> io::Result<()> {
    let Some(mode) = mode else {
        return fs::write(path, content);
    };
    // A file that is there has a mode of its own.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    let options = options.write(true).create_new(true).mode(mode);
    options.open(path)?.write_all(content.as_bytes())
}
