//! Where things are, and how cargo is called.

use std::{env, ffi::OsString, path::PathBuf, process::Command};

use mainstay_control_plane::sources;

/// A path below the root of the workspace.
pub(crate) fn path(relative: &str) -> PathBuf {
    sources::workspace().join(relative)
}

/// The cargo that runs this program, in the root of the workspace.
pub(crate) fn cargo<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let program = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.args(arguments).current_dir(sources::workspace());
    command
}
