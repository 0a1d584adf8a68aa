//! Programs of Debian that tests hold our files against. They are unpacked into the cache and not installed: that needs
//! no rights, starts no service and leaves the machine as it was.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    FileError, Report,
    assets::{self, cache_directory},
};

/// A program that Debian has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebianProgram {
    /// A web server.
    Caddy,
    /// Checks files and metrics of Prometheus.
    Promtool,
}

impl DebianProgram {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Caddy, Self::Promtool];

    const fn name(self) -> &'static str {
        match self {
            Self::Caddy => "caddy",
            Self::Promtool => "promtool",
        }
    }

    const fn package(self) -> &'static str {
        match self {
            Self::Caddy => "caddy",
            Self::Promtool => "prometheus",
        }
    }
}

/// A program could not be provided.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no place to keep it.
    #[error(transparent)]
    Cache(#[from] assets::Error),
    /// A file or directory could not be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// A program of Debian could not be started.
    #[error("no `{program}` on this machine, and `{tool}` of Debian could not be run: install it")]
    NoDebian {
        /// The program that is wanted.
        program: &'static str,
        /// The program that would fetch it.
        tool: &'static str,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
    /// A package could not be fetched or unpacked.
    #[error("`{command}` failed:\n{output}")]
    Failed {
        /// The command.
        command: String,
        /// What it said.
        output: String,
    },
}

/// The path of a program: that of the machine, or else Debian's, fetched once into the cache.
///
/// Of two processes that start together one fetches and the other waits for it.
pub fn find_or_fetch(program: DebianProgram, report: Report<'_>) -> Result<PathBuf, Error> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut installed = env::split_paths(&path).map(|place| place.join(program.name()));
    if let Some(installed) = installed.find(|place| place.is_file()) {
        return Ok(installed);
    }
    let cache = cache_directory("debian")?;
    let unpacked = cache.join(program.package());
    let wanted = unpacked.join("usr/bin").join(program.name());
    if wanted.is_file() {
        return Ok(wanted);
    }
    fs::create_dir_all(&cache).map_err(FileError::of("create", &cache))?;
    let lock_path = cache.join("fetch.lock");
    let lock = fs::File::create(&lock_path).map_err(FileError::of("create", &lock_path))?;
    lock.lock().map_err(FileError::of("lock", &lock_path))?;
    if !wanted.is_file() {
        report(&format!(
            "fetching the package {} once for the tests",
            program.package()
        ));
        fetch(program, &cache, &unpacked)?;
    }
    Ok(wanted)
}

/// Unpacks under another name first, so that what is there is whole.
fn fetch(program: DebianProgram, cache: &Path, unpacked: &Path) -> Result<(), Error> {
    let partial = cache.join(format!("{}.partial", program.package()));
    if partial.exists() {
        fs::remove_dir_all(&partial).map_err(FileError::of("remove", &partial))?;
    }
    fs::create_dir_all(&partial).map_err(FileError::of("create", &partial))?;
    let download = || {
        run(
            program,
            &partial,
            "apt-get",
            &["download", program.package()],
        )
    };
    // A fresh machine knows no packages; asking for them needs root.
    download().or_else(|_| {
        run(program, &partial, "apt-get", &["update"])?;
        download()
    })?;
    let package = package_in(&partial)?;
    let package = package.to_string_lossy();
    run(
        program,
        &partial,
        "dpkg-deb",
        &["--extract", &package, "root"],
    )?;
    let root = partial.join("root");
    fs::rename(&root, unpacked).map_err(FileError::of("rename", &root))?;
    fs::remove_dir_all(&partial).map_err(FileError::of("remove", &partial))?;
    Ok(())
}

/// The one package in a directory.
fn package_in(directory: &Path) -> Result<PathBuf, Error> {
    let files = fs::read_dir(directory).map_err(FileError::of("read", directory))?;
    let mut files = files.flatten().map(|file| file.path());
    let package = files.find(|path| path.extension().is_some_and(|end| end == "deb"));
    package.ok_or_else(|| Error::Failed {
        command: "apt-get download".to_owned(),
        output: format!("there is no package in `{}`", directory.display()),
    })
}

fn run(
    program: DebianProgram,
    directory: &Path,
    tool: &'static str,
    arguments: &[&str],
) -> Result<(), Error> {
    let ended = Command::new(tool)
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .current_dir(directory)
        .output()
        .map_err(|source| Error::NoDebian {
            program: program.name(),
            tool,
            source,
        })?;
    if ended.status.success() {
        return Ok(());
    }
    Err(Error::Failed {
        command: format!("{tool} {}", arguments.join(" ")),
        output: String::from_utf8_lossy(&ended.stderr).into_owned(),
    })
}
