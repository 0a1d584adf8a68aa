//! The programs of the control plane: found in `KUBEBUILDER_ASSETS` or in the cache, else built once into the cache.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{FileError, Report};

pub(crate) mod build;
pub(crate) mod versions;

pub use versions::Versions;

/// A program of the control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Program {
    /// The store behind the API server.
    Etcd,
    /// Our own small program that writes certificates.
    Pki,
    /// Plays kubelets, and the controllers of other operators.
    Kwok,
    /// The client.
    Kubectl,
    /// The API.
    KubeApiserver,
    /// Garbage collection, Deployments, Jobs, namespaces and the other built-in controllers.
    KubeControllerManager,
    /// Puts pods on the node.
    KubeScheduler,
}

impl Program {
    /// Every program, in building order: small ones first, so that a broken set-up shows early.
    pub const ALL: [Self; 7] = [
        Self::Pki,
        Self::Etcd,
        Self::Kwok,
        Self::Kubectl,
        Self::KubeApiserver,
        Self::KubeControllerManager,
        Self::KubeScheduler,
    ];

    /// The file name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::Pki => "pki",
            Self::Kwok => "kwok",
            Self::Kubectl => "kubectl",
            Self::KubeApiserver => "kube-apiserver",
            Self::KubeControllerManager => "kube-controller-manager",
            Self::KubeScheduler => "kube-scheduler",
        }
    }

    /// The Go module, below `control-plane/`, that pins its version.
    const fn module(self, release: Release) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::Pki => "pki",
            Self::Kwok => "kwok",
            Self::Kubectl
            | Self::KubeApiserver
            | Self::KubeControllerManager
            | Self::KubeScheduler => release.kubernetes(),
        }
    }

    /// The Go package to build.
    const fn package(self) -> &'static str {
        match self {
            Self::Etcd => "go.etcd.io/etcd/server/v3",
            Self::Pki => ".",
            Self::Kwok => "sigs.k8s.io/kwok/cmd/kwok",
            Self::Kubectl => "k8s.io/kubernetes/cmd/kubectl",
            Self::KubeApiserver => "k8s.io/kubernetes/cmd/kube-apiserver",
            Self::KubeControllerManager => "k8s.io/kubernetes/cmd/kube-controller-manager",
            Self::KubeScheduler => "k8s.io/kubernetes/cmd/kube-scheduler",
        }
    }
}

/// A release of Kubernetes that planes can run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Release {
    /// The one that tests run on.
    #[default]
    Current,
    /// The oldest that is supported.
    Oldest,
}

impl Release {
    /// The Go module, below `control-plane/`, that pins it.
    const fn kubernetes(self) -> &'static str {
        match self {
            Self::Current => "kubernetes",
            Self::Oldest => "kubernetes-oldest",
        }
    }
}

/// Why there are no programs.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither a cache directory nor a home directory is known.
    #[error("could not find a cache directory: set `XDG_CACHE_HOME` or `HOME`")]
    NoCacheDirectory,
    /// A file or directory could not be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// A `go.mod` does not name the module that it is there for.
    #[error("`{path}` does not require {module}")]
    NotPinned {
        /// The `go.mod` file.
        path: PathBuf,
        /// The module that should be in it.
        module: &'static str,
    },
    /// `go` could not be started.
    #[error(
        "could not run `go`: install Go {wanted} or later (https://go.dev/dl), or set `KUBEBUILDER_ASSETS` to a \
         directory with all of {programs}"
    )]
    NoGo {
        /// The version that the modules ask for.
        wanted: String,
        /// The programs that would be needed instead.
        programs: String,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// `go` is too old for the modules, or does not work.
    #[error(
        "Go {wanted} or later is needed to build the control plane (https://go.dev/dl), but `go` said: {said}"
    )]
    OldGo {
        /// The version that the modules ask for.
        wanted: String,
        /// What `go` said.
        said: String,
    },
    /// Modules with definitions could not be fetched.
    #[error("could not fetch {modules}:\n{output}")]
    Download {
        /// The modules.
        modules: String,
        /// What `go` said.
        output: String,
    },
    /// A program did not compile.
    #[error("could not build {program} ({status}):\n{output}")]
    Build {
        /// The program.
        program: &'static str,
        /// How `go build` ended.
        status: std::process::ExitStatus,
        /// The last lines of its output.
        output: String,
    },
}

/// A directory with every program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assets {
    directory: PathBuf,
}

impl Assets {
    /// Takes `directory` as it is, if it has every program; otherwise says which are missing.
    pub fn in_directory(directory: &Path) -> Result<Self, Vec<Program>> {
        let missing: Vec<Program> = Program::ALL
            .into_iter()
            .filter(|program| !directory.join(program.name()).is_file())
            .collect();
        if missing.is_empty() {
            Ok(Self {
                directory: directory.to_owned(),
            })
        } else {
            Err(missing)
        }
    }

    /// Finds the programs, and builds them if need be. The first build takes minutes; `report` hears how far it is.
    pub fn find_or_build(report: Report<'_>) -> Result<Self, Error> {
        if let Some(directory) = env::var_os("KUBEBUILDER_ASSETS").filter(|value| !value.is_empty())
        {
            match Self::in_directory(Path::new(&directory)) {
                Ok(assets) => return Ok(assets),
                Err(missing) => report(&format!(
                    "`KUBEBUILDER_ASSETS` has no {}; not using it",
                    names(&missing)
                )),
            }
        }
        Self::build(Release::Current, report)
    }

    /// The same for a release of Kubernetes, whatever the environment says.
    pub fn of(release: Release, report: Report<'_>) -> Result<Self, Error> {
        match release {
            Release::Current => Self::find_or_build(report),
            Release::Oldest => Self::build(release, report),
        }
    }

    fn build(release: Release, report: Report<'_>) -> Result<Self, Error> {
        let cache = cache_directory("control-plane")?;
        let versions = Versions::pinned(release)?;
        let directory = cache.join(versions.directory_name());
        if let Ok(assets) = Self::in_directory(&directory) {
            return Ok(assets);
        }
        build_once(&cache, &directory, &versions, report)
    }

    /// The directory, for `PATH`.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The path of a program.
    pub fn program(&self, program: Program) -> PathBuf {
        self.directory.join(program.name())
    }
}

/// Builds under a lock, so that of two processes that start together one builds and the other waits for it.
fn build_once(
    cache: &Path,
    directory: &Path,
    versions: &Versions,
    report: Report<'_>,
) -> Result<Assets, Error> {
    fs::create_dir_all(cache).map_err(FileError::of("create", cache))?;
    let lock_path = cache.join("build.lock");
    let lock = fs::File::create(&lock_path).map_err(FileError::of("create", &lock_path))?;
    if lock.try_lock().is_err() {
        report("another process is building the control plane; waiting for it");
        lock.lock().map_err(FileError::of("lock", &lock_path))?;
    }
    if let Ok(assets) = Assets::in_directory(directory) {
        return Ok(assets);
    }
    build::check_go(versions)?;
    let mut partial = directory.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    if partial.exists() {
        fs::remove_dir_all(&partial).map_err(FileError::of("remove", &partial))?;
    }
    fs::create_dir_all(&partial).map_err(FileError::of("create", &partial))?;
    report(&format!(
        "building the control plane once into `{}` ({versions}; about 10 minutes on 2 cores when nothing is cached)",
        directory.display(),
    ));
    build::all(&partial, versions, report)?;
    if directory.exists() {
        // Complete directories are never rebuilt, so this one has lost a program.
        fs::remove_dir_all(directory).map_err(FileError::of("remove", directory))?;
    }
    fs::rename(&partial, directory).map_err(FileError::of("rename", &partial))?;
    Ok(Assets {
        directory: directory.to_owned(),
    })
}

/// `$XDG_CACHE_HOME/mainstay/<name>`. The specification says to ignore a relative value.
pub(crate) fn cache_directory(name: &str) -> Result<PathBuf, Error> {
    let absolute = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("XDG_CACHE_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".cache")))
        .map(|cache| cache.join("mainstay").join(name))
        .ok_or(Error::NoCacheDirectory)
}

fn names(programs: &[Program]) -> String {
    let names: Vec<&str> = programs.iter().map(|program| program.name()).collect();
    names.join(", ")
}

/// A duration for people: `42 s`, `3 min 05 s`.
pub fn human_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds < 10 {
        format!("{:.1} s", duration.as_secs_f64())
    } else if seconds < 60 {
        format!("{seconds} s")
    } else {
        format!("{} min {:02} s", seconds / 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_complete_only_with_every_program() {
        let directory = env::temp_dir().join(format!("mainstay-assets-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        for program in Program::ALL {
            let missing = Assets::in_directory(&directory).unwrap_err();
            assert_eq!(missing.first(), Some(&program));
            fs::write(directory.join(program.name()), "").unwrap();
        }
        let assets = Assets::in_directory(&directory).unwrap();
        assert_eq!(assets.program(Program::Kwok), directory.join("kwok"));
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn names_the_missing_programs() {
        let missing = Assets::in_directory(Path::new("/nonexistent")).unwrap_err();
        assert_eq!(
            names(&missing),
            "pki, etcd, kwok, kubectl, kube-apiserver, kube-controller-manager, kube-scheduler"
        );
    }

    #[test]
    fn prints_durations_for_people() {
        let human = |milliseconds| human_duration(Duration::from_millis(milliseconds));
        assert_eq!(human(420), "0.4 s");
        assert_eq!(human(42_000), "42 s");
        assert_eq!(human(185_000), "3 min 05 s");
    }
}
