//! Which versions are pinned. The `go.mod` files are the only place that says so.

use std::{
    env, fmt, fs,
    path::{Path, PathBuf},
};

use super::{Error, Program, Release};
use crate::{FileError, sources};

/// The pinned versions, and a fingerprint of everything that a build depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions {
    pub(super) release: Release,
    /// Such as `1.35.4`.
    pub kubernetes: String,
    /// Such as `3.6.16`.
    pub etcd: String,
    /// Such as `0.8.0`.
    pub kwok: String,
    /// The newest Go version that one of the modules asks for.
    pub go: String,
    fingerprint: u64,
}

impl Versions {
    /// Reads the versions from the Go modules in the repository.
    pub fn pinned(release: Release) -> Result<Self, Error> {
        let mut fingerprint = Fingerprint::default();
        fingerprint.add(env::consts::ARCH.as_bytes());
        let mut go = (String::new(), Vec::new());
        for module in ["etcd", release.kubernetes(), "kwok", "pki"] {
            for path in module_files(&sources::go_module(module))? {
                fingerprint.add(&fs::read(&path).map_err(FileError::of("read", &path))?);
            }
            let wanted = directive(&read_go_mod(module)?, "go").unwrap_or_default();
            let number = version_number(&wanted);
            if number > go.1 {
                go = (wanted, number);
            }
        }
        let versions = Self {
            release,
            kubernetes: required_version(release.kubernetes(), "k8s.io/kubernetes")?,
            etcd: required_version("etcd", "go.etcd.io/etcd/server/v3")?,
            kwok: required_version("kwok", "sigs.k8s.io/kwok")?,
            go: go.0,
            fingerprint: 0,
        };
        for program in Program::ALL {
            fingerprint.add(versions.linker_flags(program).as_bytes());
        }
        Ok(Self {
            fingerprint: fingerprint.0,
            ..versions
        })
    }

    /// The name of the cache directory: another version or another lock file is another directory.
    pub fn directory_name(&self) -> String {
        format!(
            "kubernetes{}-etcd{}-kwok{}-{:016x}",
            self.kubernetes, self.etcd, self.kwok, self.fingerprint
        )
    }

    /// What the linker has to know. Kubernetes' programs report `v0.0.0` unless told, and kubectl and the API server
    /// take their version from different packages.
    pub(super) fn linker_flags(&self, program: Program) -> String {
        let mut flags = String::from("-s -w");
        if program.module(self.release) == self.release.kubernetes() {
            let mut parts = self.kubernetes.split('.');
            let major = parts.next().unwrap_or_default();
            let minor = parts.next().unwrap_or_default();
            for package in [
                "k8s.io/component-base/version",
                "k8s.io/client-go/pkg/version",
            ] {
                for (variable, value) in [
                    ("gitVersion", format!("v{}", self.kubernetes)),
                    ("gitMajor", major.to_owned()),
                    ("gitMinor", minor.to_owned()),
                ] {
                    flags.extend([" -X ", package, ".", variable, "=", &value]);
                }
            }
        }
        flags
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "Kubernetes {}, etcd {}, KWOK {}",
            self.kubernetes, self.etcd, self.kwok
        )
    }
}

/// What a module builds with: the Go version that it asks for, and a fingerprint of all that decides.
pub(crate) fn of_module(module: &str) -> Result<(String, u64), Error> {
    let mut fingerprint = Fingerprint::default();
    fingerprint.add(env::consts::ARCH.as_bytes());
    for path in module_files(&sources::go_module(module))? {
        fingerprint.add(&fs::read(&path).map_err(FileError::of("read", &path))?);
    }
    let go = directive(&read_go_mod(module)?, "go").unwrap_or_default();
    Ok((go, fingerprint.0))
}

/// The files of a module that decide what is built, in a fixed order.
fn module_files(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(FileError::of("read", directory))? {
        let path = entry.map_err(FileError::of("read", directory))?.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if matches!(extension, Some("go" | "mod" | "sum")) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn go_mod(module: &str) -> PathBuf {
    sources::go_module(module).join("go.mod")
}

fn read_go_mod(module: &str) -> Result<String, FileError> {
    let path = go_mod(module);
    fs::read_to_string(&path).map_err(FileError::of("read", &path))
}

fn required_version(module: &str, required: &'static str) -> Result<String, Error> {
    let text = read_go_mod(module)?;
    directive(&text, &format!("require {required}"))
        .or_else(|| directive(&text, required))
        .map(|version| version.trim_start_matches('v').to_owned())
        .ok_or_else(|| Error::NotPinned {
            path: go_mod(module),
            module: required,
        })
}

/// The word after `prefix` at the beginning of a line.
fn directive(go_mod: &str, prefix: &str) -> Option<String> {
    go_mod.lines().find_map(|line| {
        let rest = line.trim_start().strip_prefix(prefix)?;
        rest.starts_with(' ')
            .then(|| rest.split_whitespace().next().map(str::to_owned))?
    })
}

/// `1.25.0` as numbers that compare as versions do.
pub(super) fn version_number(version: &str) -> Vec<u32> {
    version
        .split('.')
        .map_while(|part| part.parse().ok())
        .collect()
}

/// FNV-1a: the standard library's hasher may change between releases, and a new name means minutes of building.
struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_single_and_grouped_requirements() {
        let text = "module x\n\ngo 1.25.0\n\nrequire a.example/b v1.2.3\n\nrequire (\n\tc.example/d v4.5.6 // indirect\n)\n";
        assert_eq!(directive(text, "go").as_deref(), Some("1.25.0"));
        assert_eq!(
            directive(text, "require a.example/b").as_deref(),
            Some("v1.2.3")
        );
        assert_eq!(directive(text, "c.example/d").as_deref(), Some("v4.5.6"));
        assert_eq!(directive(text, "c.example"), None);
    }

    #[test]
    fn names_the_cache_directory_after_versions_and_module_files() {
        let versions = Versions::pinned(Release::Current).unwrap();
        let name = versions.directory_name();
        assert!(name.starts_with(&format!("kubernetes{}-etcd", versions.kubernetes)));
        assert_eq!(
            name,
            Versions::pinned(Release::Current).unwrap().directory_name()
        );
        let oldest = Versions::pinned(Release::Oldest).unwrap();
        assert!(version_number(&oldest.kubernetes) < version_number(&versions.kubernetes));
        assert_ne!(name, oldest.directory_name());
        let other = Versions {
            fingerprint: versions.fingerprint ^ 1,
            ..versions
        };
        assert_ne!(name, other.directory_name());
    }

    #[test]
    fn compares_versions_by_number() {
        assert!(version_number("1.9") < version_number("1.26.0"));
        assert!(version_number("1.26.0") < version_number("1.26.8"));
    }

    #[test]
    fn stamps_the_version_into_kubernetes_programs_only() {
        let versions = Versions::pinned(Release::Current).unwrap();
        let flags = versions.linker_flags(Program::Kubectl);
        assert!(flags.contains("client-go/pkg/version.gitVersion=v1."));
        assert!(flags.contains("component-base/version.gitMajor=1 -X"));
        assert_eq!(versions.linker_flags(Program::Etcd), "-s -w");
    }

    #[test]
    fn fingerprints_as_fnv_1a_does() {
        let mut fingerprint = Fingerprint::default();
        fingerprint.add(b"foobar");
        assert_eq!(fingerprint.0, 0x8594_4171_f739_67e8);
    }
}
