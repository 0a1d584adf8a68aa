//! Packages of the machine that tests need and that nobody would want to build.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

use crate::printer::say;

/// Where Debian keeps the programs of each version of PostgreSQL.
const POSTGRES_VERSIONS: &str = "/usr/lib/postgresql";

/// Makes sure that the machine has PostgreSQL; installs Debian's package if it has not.
pub(crate) fn ensure_postgres() -> anyhow::Result<()> {
    if has_postgres() {
        return Ok(());
    }
    if !Path::new("/usr/bin/apt-get").exists() {
        bail!("no `postgres` on this machine: install PostgreSQL, version 12 or newer");
    }
    say("installing the package postgresql once for the tests");
    apt_get(&["update"])?;
    apt_get(&["install", "--yes", "--no-install-recommends", "postgresql"])?;
    if !has_postgres() {
        bail!("the package postgresql brought no `postgres` program");
    }
    Ok(())
}

fn has_postgres() -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = env::split_paths(&path).collect();
    let versions = fs::read_dir(POSTGRES_VERSIONS).into_iter().flatten();
    places.extend(versions.flatten().map(|version| version.path().join("bin")));
    let programs = ["initdb", "postgres"];
    programs
        .iter()
        .all(|program| places.iter().any(|place| place.join(program).is_file()))
}

fn apt_get(arguments: &[&str]) -> anyhow::Result<()> {
    let words = arguments.join(" ");
    let ended = Command::new("apt-get")
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .output()
        .with_context(|| format!("could not run `apt-get {words}`"))?;
    if !ended.status.success() {
        let output = String::from_utf8_lossy(&ended.stderr);
        bail!("`apt-get {words}` failed (it needs root):\n{output}");
    }
    Ok(())
}
