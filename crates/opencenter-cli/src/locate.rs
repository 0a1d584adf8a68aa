//! Where the config of a cluster is.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use mainstay_opencenter::finding::{Code, Finding};

use crate::{
    report::{Answer, Stop},
    session::Session,
};

/// The file that names the chosen cluster, in the config directory.
const ACTIVE_FILE: &str = "active-cluster";

/// The directory of configs that were generated from blueprints, in the clusters directory.
const BLUEPRINTS: &str = "blueprints";

/// A config on disk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Located {
    /// `<organization>/<cluster>`, or the cluster alone if it belongs to none.
    pub(crate) id: String,
    pub(crate) path: PathBuf,
}

/// Finds the config that `--config-file`, a name, or the chosen cluster stands for.
pub(crate) fn find(session: &Session, id: Option<&str>) -> Answer<Located> {
    if let Some(path) = &session.config_file {
        if !path.is_file() {
            let message = format!("there is no config file `{}`", path.display());
            return Err(not_found(message));
        }
        return Ok(Located {
            id: path.display().to_string(),
            path: path.clone(),
        });
    }
    let chosen = match id {
        Some(id) => id.to_owned(),
        None => active(session)?.ok_or_else(|| {
            Finding::new(Code::Oc1002, "", "no cluster is named and none is active")
        })?,
    };
    find_by_name(session, &chosen)
}

fn find_by_name(session: &Session, id: &str) -> Answer<Located> {
    let (organization, cluster) = match id.split_once('/') {
        Some((organization, cluster)) => (Some(organization), cluster),
        None => (None, id),
    };
    let is_plain = |part: &str| {
        !part.is_empty() && !part.contains(['/', '\\', '\0']) && part != "." && part != ".."
    };
    if !is_plain(cluster) || !organization.is_none_or(is_plain) {
        return Err(Stop::Usage(format!(
            "`{}` is not the name of a cluster",
            id.escape_debug()
        )));
    }
    let root = session.clusters_dir();
    let organizations = match organization {
        Some(organization) => vec![organization.to_owned()],
        None => organizations(&root)?,
    };
    let mut found: Vec<Located> = organizations
        .iter()
        .filter_map(|organization| of_organization(&root, organization, cluster))
        .collect();
    if organization.is_none() && found.is_empty() {
        found.extend(at_top(&root, cluster));
    }
    match found.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(not_found(format!(
            "there is no config of cluster `{id}` below `{}`",
            root.display()
        ))),
        several => {
            let names: Vec<&str> = several.iter().map(|located| located.id.as_str()).collect();
            let message = format!("`{cluster}` could be any of {}", names.join(", "));
            Err(Finding::new(Code::Oc1004, "", message).into())
        }
    }
}

/// The first of the places in which an organization may keep the config of a cluster.
fn of_organization(root: &Path, organization: &str, cluster: &str) -> Option<Located> {
    let directory = root.join(organization);
    let names = [
        format!(".{cluster}-config.yaml"),
        format!("{cluster}-config.yaml"),
    ];
    let inside = directory.join(cluster);
    let blueprint = root.join(BLUEPRINTS).join(organization).join(cluster);
    let places = [directory, inside, blueprint];
    let paths = places
        .iter()
        .flat_map(|place| names.iter().map(move |name| place.join(name)));
    let path = paths.into_iter().find(|path| path.is_file())?;
    Some(Located {
        id: format!("{organization}/{cluster}"),
        path,
    })
}

fn at_top(root: &Path, cluster: &str) -> Option<Located> {
    let names = [
        format!(".{cluster}-config.yaml"),
        format!("{cluster}-config.yaml"),
    ];
    let path = names
        .iter()
        .map(|name| root.join(name))
        .find(|path| path.is_file())?;
    Some(Located {
        id: cluster.to_owned(),
        path,
    })
}

/// The organizations that have a directory, sorted.
fn organizations(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut found = directories(root)?;
    found.retain(|name| name != BLUEPRINTS);
    found.extend(directories(&root.join(BLUEPRINTS))?);
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Every config below the clusters directory, sorted by name.
pub(crate) fn all(session: &Session) -> anyhow::Result<Vec<Located>> {
    let root = session.clusters_dir();
    let mut found: Vec<Located> = clusters_in(&root)?
        .iter()
        .filter_map(|cluster| at_top(&root, cluster))
        .collect();
    for organization in organizations(&root)? {
        let mut clusters = clusters_in(&root.join(&organization))?;
        for directory in [
            root.join(&organization),
            root.join(BLUEPRINTS).join(&organization),
        ] {
            for cluster in directories(&directory)? {
                clusters.extend(clusters_in(&directory.join(&cluster))?);
            }
        }
        clusters.sort_unstable();
        clusters.dedup();
        let located = clusters.iter();
        found.extend(located.filter_map(|cluster| of_organization(&root, &organization, cluster)));
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The clusters whose configs lie in a directory.
fn clusters_in(directory: &Path) -> anyhow::Result<Vec<String>> {
    let names = entries(directory)?.into_iter();
    Ok(names
        .filter_map(|(name, is_directory)| {
            let cluster = name.strip_suffix("-config.yaml")?;
            let cluster = cluster.strip_prefix('.').unwrap_or(cluster);
            (!is_directory && !cluster.is_empty()).then(|| cluster.to_owned())
        })
        .collect())
}

fn directories(directory: &Path) -> anyhow::Result<Vec<String>> {
    let entries = entries(directory)?.into_iter();
    Ok(entries
        .filter(|(name, is_directory)| *is_directory && !name.starts_with('.'))
        .map(|(name, _)| name)
        .collect())
}

/// Names in a directory and whether they are directories; nothing if it does not exist.
fn entries(directory: &Path) -> anyhow::Result<Vec<(String, bool)>> {
    let could_not = || format!("could not read directory `{}`", directory.display());
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(could_not),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.with_context(could_not)?.path();
        if let Some(name) = path.file_name().and_then(|name| name.to_str()) {
            found.push((name.to_owned(), path.is_dir()));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// The chosen cluster.
pub(crate) fn active(session: &Session) -> anyhow::Result<Option<String>> {
    let path = session.config_dir.join(ACTIVE_FILE);
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text.trim().to_owned()).filter(|id| !id.is_empty())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("could not read `{}`", path.display())),
    }
}

/// Chooses a cluster.
pub(crate) fn set_active(session: &Session, id: &str) -> anyhow::Result<()> {
    crate::save::atomically(
        &session.config_dir.join(ACTIVE_FILE),
        format!("{id}\n").as_bytes(),
    )
}

fn not_found(message: String) -> Stop {
    Finding::new(Code::Oc1001, "", message).into()
}
