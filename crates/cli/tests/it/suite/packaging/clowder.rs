//! Clowder's installation in every form.

use std::fs;

use mainstay_testkit::{Plane, Program};
use mainstay_yaml::{Limits, SourceName, parse_documents};
use serde_json::Value;
use tempfile::TempDir;

use super::{ensure_namespace, files};
use crate::run;

/// All forms of the installation.
pub(super) async fn package() -> TempDir {
    let directory = TempDir::new().unwrap();
    let output = directory.path().to_str().unwrap();
    let arguments = [
        "bundle",
        "clowder",
        "--format",
        "all",
        "--output-dir",
        output,
    ];
    run(&arguments).run().await.success();
    directory
}

/// The objects of a file of the installation.
pub(super) fn documents(directory: &TempDir, path: &str) -> Vec<Value> {
    let text = fs::read_to_string(directory.path().join(path)).unwrap();
    // The one action in roles; elsewhere there is none.
    let text = text.replace("{{ .Release.Namespace | quote }}", "home");
    parsed(path, &text)
}

/// The objects of a text.
pub(super) fn parsed(source: &str, text: &str) -> Vec<Value> {
    let documents = parse_documents(text, &SourceName::new(source), &Limits::default());
    let documents = documents.unwrap().into_iter();
    documents.map(|document| document.value).collect()
}

#[tokio::test]
async fn all_forms_are_written_from_one_source() {
    let directory = package().await;
    let all = files(directory.path());
    for path in [
        "Containerfile",
        "bundle.Dockerfile",
        "bundle/manifests/clowder.clusterserviceversion.yaml",
        "chart/Chart.yaml",
        "chart/crds/cloud.redhat.com_clowdapps.yaml",
        "chart/templates/manager.yaml",
        "clowder-without-webhooks.yaml",
        "clowder.yaml",
        "config/default/kustomization.yaml",
        "config/without-webhooks/kustomization.yaml",
    ] {
        assert!(all.iter().any(|file| file == path), "{path}: {all:?}");
    }
    let role = |documents: &[Value]| {
        let mut roles = documents.iter();
        let name = "clowder-manager-role";
        let role = roles.find(|object| object["metadata"]["name"] == name);
        role.unwrap()["rules"].clone()
    };
    let printed = run(&["rbac", "--systems", "clowder"]).run().await.success();
    let source = SourceName::new("rbac");
    let printed = parse_documents(&printed, &source, &Limits::default()).unwrap();
    let printed = role(&[printed[0].value.clone()]);
    for path in [
        "clowder.yaml",
        "config/rbac/rbac.yaml",
        "chart/templates/rbac.yaml",
    ] {
        assert_eq!(role(&documents(&directory, path)), printed, "{path}");
    }
    let csv = documents(
        &directory,
        "bundle/manifests/clowder.clusterserviceversion.yaml",
    );
    let granted = &csv[0]["spec"]["install"]["spec"]["clusterPermissions"][0]["rules"];
    assert_eq!(*granted, printed);
}

#[tokio::test]
async fn kubectl_builds_every_directory_of_the_tree_of_clowder() {
    let plane = Plane::vanilla().await;
    let directory = package().await;
    let all = files(directory.path());
    let roots = all
        .iter()
        .filter_map(|file| file.strip_suffix("/kustomization.yaml"));
    for root in roots {
        let built =
            Program::new(plane.kubectl(), ["kustomize", root]).in_directory(directory.path());
        let built = built.run().await;
        assert_eq!(built.code, Some(0), "{root}: {built}");
        assert_eq!(built.stderr, "", "{root}: no warning");
    }
    // Both ways to the same installation.
    for (root, plain) in [
        ("config/default", "clowder.yaml"),
        ("config/without-webhooks", "clowder-without-webhooks.yaml"),
    ] {
        let built = Program::new(plane.kubectl(), ["kustomize", root]);
        let built = built.in_directory(directory.path()).run().await.success();
        let source = SourceName::new(root);
        let built = parse_documents(&built, &source, &Limits::default()).unwrap();
        let plain = documents(&directory, plain);
        assert_eq!(built.len(), plain.len());
        for object in plain {
            let same = |other: &&Value| {
                other["kind"] == object["kind"]
                    && other["metadata"]["name"] == object["metadata"]["name"]
            };
            let mut others = built.iter().map(|document| &document.value);
            assert_eq!(others.find(same), Some(&object));
        }
    }
}

#[tokio::test]
async fn the_server_accepts_both_installations_of_clowder() {
    let plane = Plane::vanilla().await;
    ensure_namespace(&plane, "clowder-system").await;
    let directory = package().await;
    for path in ["clowder.yaml", "clowder-without-webhooks.yaml"] {
        let mut objects = documents(&directory, path);
        // Kinds of cert-manager, which is somebody else's.
        objects.retain(|object| object["apiVersion"] != "cert-manager.io/v1");
        let arguments = [
            "apply",
            "--server-side",
            "--force-conflicts",
            "--dry-run=server",
            "-f",
            "-",
        ];
        let applied = Program::new(plane.kubectl(), arguments).kubeconfig(&plane.kubeconfig());
        let text = mainstay_yaml::print_documents(&objects);
        let applied = applied.input(text).run().await;
        assert_eq!(applied.code, Some(0), "{path}: {applied}");
        assert!(!applied.stderr.contains("Warning"), "{path}: {applied}");
    }
}

#[tokio::test]
async fn a_form_that_a_system_does_not_have_is_named() {
    let directory = TempDir::new().unwrap();
    let output = directory.path().to_str().unwrap();
    let arguments = [
        "bundle",
        "kaoto",
        "--format",
        "helm",
        "--output-dir",
        output,
    ];
    let ended = run(&arguments).run().await;
    assert_eq!(ended.code, Some(1), "{ended}");
    assert!(ended.stderr.contains("--format kustomize"), "{ended}");
}
