//! Applications that are packaged in a directory: `ROOT/APPLICATION/*.yaml`, or `ROOT/APPLICATION/VERSION/*.yaml`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use semver::Version;

use super::{LoadError, Source};
use crate::{limits::LoadLimits, set::ManifestSet};

const LATEST: &str = "latest";

/// The directory of an application in one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Where its files are.
    pub directory: PathBuf,
    /// Its version, without a leading `v`; none if the application is not packaged by version.
    pub version: Option<String>,
}

/// Finds the directory of an application. `version` is exact, `MAJOR.MINOR` for the highest of these, or `latest`.
///
/// ```
/// use mainstay_manifest::source::application;
///
/// let root = tempfile::tempdir()?;
/// for version in ["v1.9.0", "1.10.0"] {
///     std::fs::create_dir_all(root.path().join("shop").join(version))?;
/// }
/// let found = application::find(root.path(), "shop", None)?;
/// assert_eq!(found.version.as_deref(), Some("1.10.0"));
/// let found = application::find(root.path(), "shop", Some("1.9"))?;
/// assert_eq!(found.directory, root.path().join("shop/v1.9.0"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn find(root: &Path, application: &str, version: Option<&str>) -> Result<Payload, LoadError> {
    let base = root.join(application);
    let not_found = || LoadError::ApplicationNotFound {
        application: application.to_owned(),
        path: base.clone(),
    };
    if !is_label(application) || !base.is_dir() {
        return Err(not_found());
    }
    let packaged = versions(&base)?;
    if packaged.is_empty() {
        return Ok(Payload {
            directory: base,
            version: None,
        });
    }
    let chosen = choose(&packaged, version).ok_or_else(|| LoadError::VersionNotFound {
        application: application.to_owned(),
        version: version.unwrap_or(LATEST).to_owned(),
        available: available(&packaged),
    })?;
    Ok(Payload {
        directory: base.join(&chosen.name),
        version: Some(chosen.text().to_owned()),
    })
}

/// Loads the files of an application; links may lead anywhere below the root.
pub fn load(root: &Path, payload: &Payload, limits: &LoadLimits) -> Result<ManifestSet, LoadError> {
    let set = Source::tree(&payload.directory)
        .within(root)
        .load_local(limits)?;
    if set.is_empty() {
        let place = payload.directory.display().to_string();
        return Err(LoadError::Nothing { place });
    }
    Ok(set)
}

/// A directory that is named after a version.
struct Packaged {
    name: String,
    /// None for `latest`.
    version: Option<Version>,
}

impl Packaged {
    fn text(&self) -> &str {
        self.name.strip_prefix('v').unwrap_or(&self.name)
    }
}

/// The versions in a directory, from high to low, `latest` at the end.
fn versions(base: &Path) -> Result<Vec<Packaged>, LoadError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(base).map_err(LoadError::read(base))? {
        let entry = entry.map_err(LoadError::read(base))?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let version = parse(&name);
        if (version.is_some() || name == LATEST) && entry.path().is_dir() {
            found.push(Packaged { name, version });
        }
    }
    found.sort_by(|a, b| b.version.cmp(&a.version).then_with(|| a.name.cmp(&b.name)));
    Ok(found)
}

fn choose<'found>(packaged: &'found [Packaged], version: Option<&str>) -> Option<&'found Packaged> {
    let highest = packaged.first();
    let Some(wanted) = version else {
        return highest;
    };
    if wanted == LATEST {
        let latest = packaged.iter().find(|one| one.name == LATEST);
        return latest.or(highest);
    }
    let is_series = wanted
        .strip_prefix('v')
        .unwrap_or(wanted)
        .split('.')
        .count()
        == 2;
    let wanted = parse(wanted)?;
    let mut found = packaged.iter();
    found.find(|one| match &one.version {
        Some(version) if is_series => {
            (version.major, version.minor) == (wanted.major, wanted.minor)
        }
        version => version.as_ref() == Some(&wanted),
    })
}

/// A version with an optional `v`, and without a patch level if need be.
fn parse(text: &str) -> Option<Version> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let is_series = text.split('.').count() == 2
        && text
            .split('.')
            .all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    if is_series {
        Version::parse(&format!("{text}.0")).ok()
    } else {
        Version::parse(text).ok()
    }
}

fn available(packaged: &[Packaged]) -> String {
    let names: Vec<&str> = packaged.iter().map(|one| one.name.as_str()).collect();
    names.join(", ")
}

/// A DNS label: nothing that could leave the root.
fn is_label(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty()
        && text.len() <= 63
        && text.bytes().all(is_plain)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(directories: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for directory in directories {
            fs::create_dir_all(root.path().join("shop").join(directory)).unwrap();
        }
        root
    }

    fn found(directories: &[&str], version: Option<&str>) -> Option<String> {
        find(root(directories).path(), "shop", version)
            .unwrap()
            .version
    }

    #[test]
    fn the_version_that_is_asked_for_is_found_by_its_meaning() {
        let all = [
            "1.0.0",
            "v1.2.0",
            "1.2.11",
            "1.2.3",
            "latest",
            "2.0.0-rc.1",
            "docs",
        ];
        let chosen = |version| found(&all, version).unwrap();
        assert_eq!(chosen(None), "2.0.0-rc.1");
        assert_eq!(chosen(Some("latest")), "latest");
        assert_eq!(chosen(Some("v1.0.0")), "1.0.0");
        assert_eq!(chosen(Some("1.2.0")), "1.2.0");
        assert_eq!(chosen(Some("1.2")), "1.2.11");
        assert_eq!(found(&["1.0"], Some("1.0.0")).unwrap(), "1.0");
        assert_eq!(
            found(&["1.9.0", "1.10.0"], Some("latest")).unwrap(),
            "1.10.0"
        );
        assert_eq!(found(&["latest"], None).unwrap(), "latest");
        assert_eq!(
            found(&["docs"], Some("1.0.0")),
            None,
            "not packaged by version"
        );
    }

    #[test]
    fn what_is_not_there_is_told_with_what_is() {
        let root = root(&["1.0.0", "1.1.0"]);
        let failure = find(root.path(), "shop", Some("2.0.0")).unwrap_err();
        assert_eq!(
            failure.to_string(),
            "application `shop` has no version `2.0.0`; there are: 1.1.0, 1.0.0"
        );
        assert_eq!(failure.reason(), "VersionNotFound");
        for name in ["cart", "../shop", "", "shop/1.0.0", "."] {
            let failure = find(root.path(), name, None).unwrap_err();
            assert_eq!(failure.reason(), "ApplicationNotFound", "{name}");
        }
    }

    #[test]
    fn an_application_without_objects_is_an_error() {
        let root = root(&["1.0.0"]);
        fs::write(root.path().join("shop/1.0.0/readme.txt"), "kind: A").unwrap();
        let payload = find(root.path(), "shop", None).unwrap();
        let failure = load(root.path(), &payload, &LoadLimits::default()).unwrap_err();
        assert_eq!(failure.reason(), "ManifestLoadFailed");
    }
}
