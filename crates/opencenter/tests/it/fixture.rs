//! The configs below `tests/golden/opencenter`, and how to render them.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use mainstay_opencenter::{
    config::{ClusterConfig, GitAuthMethod, LoadOptions, NoSurroundings, load},
    descriptor::Registry,
    finding::{self, Finding},
    flux::GitAuthentication,
    overlay::Contents,
    render::{RenderOptions, Rendered, SecretsMode, ServiceSelection, render},
};
use mainstay_yaml::SourceName;

pub(crate) static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    Registry::built_in().unwrap_or_else(|findings| panic!("{}", finding::to_text(&findings)))
});

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/opencenter")
}

/// A config and the tree that it gives.
pub(crate) struct Case {
    pub(crate) config: PathBuf,
    pub(crate) expected: PathBuf,
}

/// Every case, by name.
pub(crate) fn cases() -> Vec<(String, Case)> {
    let mut cases: Vec<(String, Case)> = Vec::new();
    for name in ["all-on", "none-on"] {
        cases.push((name.to_owned(), case_in(&root().join(name))));
    }
    for (name, path) in entries(&root().join("service")) {
        cases.push((format!("service/{name}"), case_in(&path)));
    }
    // These have the layout that `cluster parity` reads.
    let relaypoint = root().join("relaypoint");
    for (cluster, expected) in entries(&relaypoint.join("applications/overlays")) {
        let config = relaypoint.join(format!(".{cluster}-config.yaml"));
        cases.push((format!("relaypoint/{cluster}"), Case { config, expected }));
    }
    cases.sort_by(|(left, _), (right, _)| left.cmp(right));
    cases
}

fn case_in(directory: &Path) -> Case {
    Case {
        config: directory.join("input/.sample-config.yaml"),
        expected: directory.join("expected"),
    }
}

fn entries(directory: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(directory).expect("the directory exists");
    entries
        .map(|entry| {
            let entry = entry.expect("the directory is readable");
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, entry.path())
        })
        .collect()
}

/// The text of a case's config.
pub(crate) fn config_text(case: &Case) -> String {
    fs::read_to_string(&case.config).expect("the config is readable")
}

pub(crate) fn try_load(text: &str) -> Result<ClusterConfig, Vec<Finding>> {
    load(
        text.as_bytes(),
        &SourceName::new("config.yaml"),
        &NoSurroundings,
        &LoadOptions::default(),
    )
    .into_result()
    .map(|(config, _)| config)
}

pub(crate) fn options(config: &ClusterConfig) -> RenderOptions {
    RenderOptions {
        git_authentication: match config.configured_git_auth() {
            Some(GitAuthMethod::Ssh) => GitAuthentication::Ssh,
            _ => GitAuthentication::Token,
        },
        secrets_mode: SecretsMode::Plaintext,
        ..RenderOptions::default()
    }
}

pub(crate) fn try_render(text: &str) -> Result<Rendered, Vec<Finding>> {
    let config = try_load(text)?;
    render(&config, &REGISTRY, &options(&config))
}

pub(crate) fn must_render(text: &str) -> Rendered {
    try_render(text).unwrap_or_else(|findings| panic!("{}", finding::to_text(&findings)))
}

/// Renders one service only.
pub(crate) fn must_render_only(text: &str, service: &str, managed: bool) -> Rendered {
    let config =
        try_load(text).unwrap_or_else(|findings| panic!("{}", finding::to_text(&findings)));
    let options = RenderOptions {
        only: Some(ServiceSelection {
            name: service.to_owned(),
            managed,
        }),
        ..options(&config)
    };
    render(&config, &REGISTRY, &options)
        .unwrap_or_else(|findings| panic!("{}", finding::to_text(&findings)))
}

pub(crate) fn read_tree(directory: &Path) -> Contents {
    fn walk(directory: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
        let Ok(entries) = fs::read_dir(directory) else {
            return;
        };
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if prefix.is_empty() {
                name
            } else {
                format!("{prefix}/{name}")
            };
            if entry.path().is_dir() {
                walk(&entry.path(), &path, files);
            } else {
                files.insert(path, fs::read(entry.path()).expect("the file is readable"));
            }
        }
    }
    let mut files = Contents::new();
    walk(directory, "", &mut files);
    files
}
