//! The operator's image is the user's: one reference in every form, and nobody else's by default.

use std::{fs, path::Path};

use tempfile::TempDir;

use super::files;
use crate::run;

/// Repositories in which the operators that these replace are published. What those operators deploy is another matter.
const ORIGINALS: [&str; 2] = [
    "quay.io/cloudservices/clowder",
    "quay.io/kaotoio/kaoto-operator",
];

const DIGEST: &str = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// Every form of a system, with further arguments.
async fn package(system: &str, arguments: &[&str]) -> TempDir {
    let directory = TempDir::new().unwrap();
    let output = directory.path().to_str().unwrap();
    let all = ["bundle", system, "--format", "all", "--output-dir", output];
    run(&[&all, arguments].concat()).run().await.success();
    directory
}

/// The lines of all files below a directory that hold a text, as `path: line`.
fn lines_with(directory: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for path in files(directory) {
        let content = fs::read(directory.join(&path)).unwrap();
        let content = String::from_utf8_lossy(&content).into_owned();
        let lines = content.lines().filter(|line| line.contains(text));
        // Quoted or not is the printer's choice.
        let lines = lines.map(|line| {
            line.trim()
                .trim_start_matches("- ")
                .replace(['"', '\''], "")
        });
        found.extend(lines.map(|line| format!("{path}: {line}")));
    }
    found
}

#[tokio::test]
async fn every_form_names_the_given_image_once() {
    let tagged = "registry.test:5000/team/operator:7";
    let clowder = package("clowder", &["--image", tagged]).await;
    assert_eq!(
        lines_with(clowder.path(), "registry.test"),
        [
            // OLM shows the image before it installs it.
            "bundle/manifests/clowder.clusterserviceversion.yaml: containerImage: registry.test:5000/team/operator:7",
            "bundle/manifests/clowder.clusterserviceversion.yaml: image: registry.test:5000/team/operator:7",
            "chart/values.yaml: repository: registry.test:5000/team/operator",
            "clowder-without-webhooks.yaml: image: registry.test:5000/team/operator:7",
            "clowder.yaml: image: registry.test:5000/team/operator:7",
            "config/manager/kustomization.yaml: newName: registry.test:5000/team/operator",
        ]
    );
    let kaoto = package("kaoto", &["--image", tagged]).await;
    assert_eq!(
        lines_with(kaoto.path(), "registry.test"),
        [
            "bundle/manifests/kaoto-operator.clusterserviceversion.yaml: containerImage: registry.test:5000/team/operator:7",
            "bundle/manifests/kaoto-operator.clusterserviceversion.yaml: image: registry.test:5000/team/operator:7",
            "config/manager/kustomization.yaml: newName: registry.test:5000/team/operator",
            // Another image, beside it.
            &format!(
                "config/samples/catalog_source.yaml: image: registry.test:5000/team/operator-catalog:v{}",
                env!("CARGO_PKG_VERSION")
            ),
        ]
    );
    for directory in [clowder, kaoto] {
        let tag = lines_with(directory.path(), "newTag");
        assert_eq!(tag, ["config/manager/kustomization.yaml: newTag: 7"]);
    }
}

#[tokio::test]
async fn a_digest_is_in_every_form_and_no_tag_beside_it() {
    let pinned = format!("registry.test/operator:7@{DIGEST}");
    for (system, places) in [("clowder", 7), ("kaoto", 4)] {
        let directory = package(system, &["--image", &pinned]).await;
        let named = lines_with(directory.path(), DIGEST);
        // Three of them for OLM, which lists what has to be mirrored, too.
        assert_eq!(named.len(), places, "{named:#?}");
        for text in ["operator:7", "newTag", "tag: 7"] {
            assert_eq!(lines_with(directory.path(), text), Vec::<String>::new());
        }
    }
}

#[tokio::test]
async fn an_image_that_is_none_is_refused_in_every_form() {
    for format in ["kustomize", "olm"] {
        let directory = TempDir::new().unwrap();
        let output = directory.path().to_str().unwrap();
        let arguments = [
            "bundle",
            "kaoto",
            "--output-dir",
            output,
            "--format",
            format,
        ];
        let ended = run(&[&arguments[..], &["--image", "a@sha256:12"]].concat());
        let ended = ended.run().await;
        assert_eq!(ended.code, Some(1), "{ended}");
        assert!(
            ended.stderr.contains("`a@sha256:12` is not an image"),
            "{ended}"
        );
        assert!(files(directory.path()).is_empty(), "{format}");
    }
}

#[tokio::test]
async fn nothing_that_is_shipped_or_documented_names_the_operator_of_an_original() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for original in ORIGINALS {
        for directory in ["deploy", "docs", "examples"] {
            let directory = workspace.join(directory);
            assert!(!files(&directory).is_empty(), "{}", directory.display());
            assert_eq!(lines_with(&directory, original), Vec::<String>::new());
        }
        for system in ["clowder", "kaoto"] {
            let directory = package(system, &[]).await;
            assert_eq!(lines_with(directory.path(), original), Vec::<String>::new());
            let ours = lines_with(directory.path(), &format!("mainstay-{system}"));
            assert!(!ours.is_empty(), "{system} has an image of its own");
        }
    }
}
