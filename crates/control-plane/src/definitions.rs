//! Definitions of other operators' kinds, as those operators ship them.
//!
//! Their Go modules hold them. A `go.mod` below `control-plane/` pins the versions and its `go.sum` the content; the
//! ordinary client fetches the modules into its cache, and the files are read there: nothing of them is in the
//! repository. For Strimzi, which is in no Go module, `control-plane/crds` has stand-ins.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};

use serde::Deserialize;

use crate::{
    FileError,
    assets::{Error, build, versions::of_module},
    sources,
};

/// Which versions of the modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edition {
    /// Those that most tests run on.
    Current,
    /// KEDA, the Prometheus operator and cert-manager one minor version before.
    Older,
    /// The same two minor versions before.
    Oldest,
    /// Releases of KEDA and Cyndi that know less than we write.
    Outdated,
}

impl Edition {
    /// All of them, from new to old.
    pub const ALL: [Self; 4] = [Self::Current, Self::Older, Self::Oldest, Self::Outdated];

    /// The directory below `control-plane/` whose `go.mod` pins them.
    const fn module(self) -> &'static str {
        match self {
            Self::Current => "definitions",
            Self::Older => "definitions-older",
            Self::Oldest => "definitions-oldest",
            Self::Outdated => "definitions-outdated",
        }
    }
}

/// A file with one definition, in the Go module of its operator.
type InModule = (&'static str, &'static str);

/// The kinds that Clowder writes or reads and whose definitions change with every release.
const RELEASED_OFTEN: [InModule; 6] = [
    (
        "github.com/RedHatInsights/cyndi-operator",
        "config/crd/bases/cyndi.cloud.redhat.com_cyndipipelines.yaml",
    ),
    (
        "github.com/prometheus-operator/prometheus-operator",
        "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
    ),
    (
        "github.com/prometheus-operator/prometheus-operator",
        "example/prometheus-operator-crd/monitoring.coreos.com_prometheuses.yaml",
    ),
    (
        "github.com/kedacore/keda/v2",
        "config/crd/bases/keda.sh_scaledobjects.yaml",
    ),
    (
        "github.com/cert-manager/cert-manager",
        "deploy/crds/cert-manager.io_issuers.yaml",
    ),
    (
        "github.com/cert-manager/cert-manager",
        "deploy/crds/cert-manager.io_certificates.yaml",
    ),
];

/// The others that are in a module.
const SETTLED: [InModule; 2] = [
    (
        "github.com/operator-framework/api",
        "crds/operators.coreos.com_subscriptions.yaml",
    ),
    (
        "github.com/openshift/api",
        "config/v1/0000_10_config-operator_01_ingress.crd.yaml",
    ),
];

const ROUTE: InModule = ("github.com/openshift/api", "route/v1/route.crd.yaml");

const GATEWAY: InModule = ("sigs.k8s.io/gateway-api", "config/crd/standard");

/// Release manifests of Knative, by application and version.
const KNATIVE: InModule = ("knative.dev/operator", "cmd/operator/kodata");

/// The kinds of other operators that Clowder uses.
pub fn clowder(edition: Edition) -> Result<Vec<PathBuf>, Error> {
    let mut files = in_modules(edition, &RELEASED_OFTEN)?;
    files.extend(in_modules(Edition::Current, &SETTLED)?);
    files.push(sources::root().join("crds"));
    Ok(files)
}

/// `Route`: a plane that serves it counts as `OpenShift`.
pub fn route() -> Result<Vec<PathBuf>, Error> {
    in_modules(Edition::Current, &[ROUTE])
}

/// The kinds of the gateway API.
pub fn gateway() -> Result<Vec<PathBuf>, Error> {
    in_modules(Edition::Current, &[GATEWAY])
}

/// The release manifests of Knative Serving and Eventing as their operator packages them: a directory for each
/// application, and in it one for each version.
pub fn knative() -> Result<PathBuf, Error> {
    let found = in_modules(Edition::Current, &[KNATIVE])?;
    Ok(found.into_iter().next().unwrap_or_default())
}

/// Fetches what is not in the cache yet of all editions.
pub fn fetch_all() -> Result<(), Error> {
    for edition in Edition::ALL {
        clowder(edition)?;
    }
    gateway()?;
    knative()?;
    Ok(())
}

/// One answer of `go mod download -json`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Downloaded {
    path: String,
    #[serde(default)]
    dir: PathBuf,
}

/// Where the files are. Modules that are in the cache already are not asked for on the network.
fn in_modules(edition: Edition, files: &[InModule]) -> Result<Vec<PathBuf>, Error> {
    let module = edition.module();
    let go_mod = sources::go_module(module).join("go.mod");
    let text = fs::read_to_string(&go_mod).map_err(FileError::of("read", &go_mod))?;
    let mut wanted = Vec::new();
    for &(path, _) in files {
        let version = pinned(&text, path).ok_or_else(|| Error::NotPinned {
            path: go_mod.clone(),
            module: path,
        })?;
        let one = format!("{path}@{version}");
        if !wanted.contains(&one) {
            wanted.push(one);
        }
    }
    let downloaded = download(module, &wanted)?;
    let path = |(path, file): &InModule| {
        let found = downloaded.iter().find(|module| module.path == *path);
        found.map(|module| module.dir.join(file))
    };
    Ok(files.iter().filter_map(path).collect())
}

/// The version that a `go.mod` requires of a module.
fn pinned<'a>(go_mod: &'a str, module: &str) -> Option<&'a str> {
    go_mod.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some(module)).then(|| words.next())?
    })
}

fn download(module: &str, wanted: &[String]) -> Result<Vec<Downloaded>, Error> {
    // With versions: by their names alone the client would first fetch what all of them build on.
    let output = Command::new("go")
        .args(["mod", "download", "-json"])
        .args(wanted)
        .current_dir(sources::go_module(module))
        .stdin(Stdio::null())
        .output();
    let output = match output {
        Ok(output) => output,
        Err(source) => return Err(build::no_go(&of_module(module)?.0, source)),
    };
    let answers = serde_json::Deserializer::from_slice(&output.stdout).into_iter();
    match answers.collect::<Result<Vec<Downloaded>, _>>() {
        Ok(downloaded) if output.status.success() && downloaded.len() == wanted.len() => {
            Ok(downloaded)
        }
        _ => Err(Error::Download {
            modules: wanted.join(", "),
            output: [output.stdout, output.stderr]
                .map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned())
                .join("\n"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_definition_is_in_its_module_in_every_edition() {
        for edition in Edition::ALL {
            let files = clowder(edition).unwrap();
            assert_eq!(files.len(), RELEASED_OFTEN.len() + SETTLED.len() + 1);
            for file in files.iter().filter(|path| !path.is_dir()) {
                let text = fs::read_to_string(file).unwrap();
                assert!(text.contains("kind: CustomResourceDefinition"), "{file:?}");
            }
        }
        assert!(route().unwrap().iter().all(|path| path.is_file()));
        assert!(gateway().unwrap().iter().all(|path| path.is_dir()));
        assert!(knative().unwrap().join("knative-serving/1.12.0").is_dir());
    }

    #[test]
    fn the_editions_are_of_different_versions() {
        let editions = Edition::ALL.map(|edition| in_modules(edition, &RELEASED_OFTEN).unwrap());
        let [current, older, oldest, outdated] = editions;
        for (index, file) in current.iter().enumerate() {
            assert_ne!(Some(file), older.get(index));
            assert_ne!(older.get(index), oldest.get(index));
        }
        assert_ne!(oldest, outdated);
    }

    #[test]
    fn a_module_that_cannot_be_fetched_is_named() {
        let wanted = ["mainstay.invalid/nothing@v1.0.0".to_owned()];
        let error = download("definitions", &wanted).unwrap_err().to_string();
        assert!(error.contains("mainstay.invalid/nothing@v1.0.0"), "{error}");
    }
}
