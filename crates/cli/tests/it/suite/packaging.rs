//! What an installation needs, as files and as the real tools read them.

mod chart;
mod clowder;
mod image;

use std::{fs, path::Path};

use mainstay_testkit::{Plane, Program, program::Ended};
use mainstay_yaml::{Limits, SourceName, parse_documents};
use serde_json::Value;
use tempfile::TempDir;

use crate::run;

fn read(directory: &TempDir, path: &str) -> String {
    fs::read_to_string(directory.path().join(path)).unwrap()
}

/// Relative paths of all files below a directory, sorted.
fn files(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let relative = path.strip_prefix(root).unwrap();
                found.push(relative.to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

async fn bundle(directory: &TempDir, arguments: &[&str]) -> Ended {
    let output = directory.path().to_str().unwrap();
    let all = [&["bundle", "kaoto", "--output-dir", output], arguments].concat();
    run(&all).run().await
}

/// A dry run needs the namespaces; a Role cannot be tried in one that does not exist.
async fn ensure_namespace(plane: &Plane, name: &str) {
    let program = Program::new(plane.kubectl(), ["create", "namespace", name]);
    let made = program.kubeconfig(&plane.kubeconfig()).run().await;
    let there = made.code == Some(0) || made.stderr.contains("already exists");
    assert!(there, "{made}");
}

#[tokio::test]
async fn a_bundle_has_the_layout_and_names_its_predecessor() {
    let directory = TempDir::new().unwrap();
    let versions = ["--operator-version", "v0.0.6", "--replaces", "0.0.5"];
    let time = ["--created-at", "2024-05-06T07:08:09Z"];
    bundle(&directory, &[versions.as_slice(), &time].concat())
        .await
        .success();
    assert_eq!(
        files(directory.path()),
        [
            "bundle.Dockerfile",
            "bundle/manifests/designer.kaoto.io_kaotoes.yaml",
            "bundle/manifests/kaoto-operator.clusterserviceversion.yaml",
            "bundle/metadata/annotations.yaml",
            "bundle/tests/scorecard/config.yaml",
        ]
    );
    let csv = read(
        &directory,
        "bundle/manifests/kaoto-operator.clusterserviceversion.yaml",
    );
    for line in [
        "  name: kaoto-operator.v0.0.6\n",
        "  replaces: kaoto-operator.v0.0.5\n",
        "  version: 0.0.6\n",
        "    containerImage: mainstay-kaoto:0.0.6\n",
        "    createdAt: \"2024-05-06T07:08:09Z\"\n",
    ] {
        assert!(csv.contains(line), "{line}{csv}");
    }
    let annotations = read(&directory, "bundle/metadata/annotations.yaml");
    assert!(
        !annotations.contains("com.redhat.openshift.versions"),
        "{annotations}"
    );
}

#[tokio::test]
async fn the_openshift_variant_names_its_versions() {
    for (arguments, expected) in [
        (&["--openshift-versions"][..], "v4.20"),
        (&["--openshift-versions", "=v4.14"], "=v4.14"),
        (&["--openshift-versions", "v4.13-v4.15"], "v4.13-v4.15"),
    ] {
        let directory = TempDir::new().unwrap();
        let versions = ["--operator-version", "0.0.6", "--replaces", "0.0.5"];
        bundle(&directory, &[&versions, arguments].concat())
            .await
            .success();
        let line = format!("com.redhat.openshift.versions: {expected}\n");
        // Quoted or not is the printer's choice.
        let annotations = read(&directory, "bundle/metadata/annotations.yaml").replace('"', "");
        assert!(annotations.contains(&line), "{annotations}");
        let label = format!("com.redhat.openshift.versions={expected}\n");
        let dockerfile = read(&directory, "bundle.Dockerfile");
        assert!(dockerfile.contains(&label), "{dockerfile}");
    }
}

#[tokio::test]
async fn a_bundle_that_olm_would_refuse_is_not_written() {
    for (arguments, word) in [
        (&["--openshift-versions", "4.13"][..], "4.13"),
        (&["--openshift-versions", "v4.15-v4.13"], "v4.15-v4.13"),
        (&["--operator-version", "six"], "six"),
        (
            &["--operator-version", "0.0.6", "--replaces", "0.0.6"],
            "0.0.6",
        ),
    ] {
        let directory = TempDir::new().unwrap();
        let ended = bundle(&directory, arguments).await;
        assert_eq!(ended.code, Some(1), "{arguments:?}: {ended}");
        assert!(ended.stderr.contains(word), "{ended}");
        assert!(files(directory.path()).is_empty(), "{arguments:?}");
    }
}

#[tokio::test]
async fn kubectl_builds_every_directory_of_the_kustomize_tree() {
    let plane = Plane::vanilla().await;
    let directory = TempDir::new().unwrap();
    bundle(&directory, &["--format", "kustomize"])
        .await
        .success();
    let all = files(directory.path());
    let roots: Vec<&str> = all
        .iter()
        .filter_map(|file| file.strip_suffix("/kustomization.yaml"))
        .collect();
    for name in [
        "crd",
        "rbac",
        "manager",
        "default",
        "standalone",
        "e2e",
        "samples",
        "manifests",
    ] {
        assert!(
            roots.iter().any(|root| root.ends_with(name)),
            "{name}: {roots:?}"
        );
    }
    for root in roots {
        let built =
            Program::new(plane.kubectl(), ["kustomize", root]).in_directory(directory.path());
        let built = built.run().await;
        assert_eq!(built.code, Some(0), "{root}: {built}");
        assert_eq!(built.stderr, "", "{root}: no warning");
        assert!(built.stdout.contains("kind: "), "{root}: {built}");
    }
}

#[tokio::test]
async fn the_server_accepts_what_the_installation_applies() {
    let plane = Plane::vanilla().await;
    let directory = TempDir::new().unwrap();
    bundle(&directory, &["--format", "kustomize"])
        .await
        .success();
    let all = files(directory.path());
    let root = |name: &str| {
        let end = format!("{name}/kustomization.yaml");
        let found = all.iter().find(|file| file.ends_with(&end)).unwrap();
        directory.path().join(found).parent().unwrap().to_owned()
    };
    let kubectl = |arguments: &[&str]| {
        let program = Program::new(plane.kubectl(), arguments);
        program.kubeconfig(&plane.kubeconfig()).run()
    };
    ensure_namespace(&plane, "kaoto-system").await;
    for name in ["crd", "rbac", "standalone"] {
        let path = root(name);
        let ended = kubectl(&[
            "apply",
            "--server-side",
            "--force-conflicts",
            "--dry-run=server",
            "-k",
            path.to_str().unwrap(),
        ])
        .await;
        assert_eq!(ended.code, Some(0), "{name}: {ended}");
    }
}

#[tokio::test]
async fn crds_and_rbac_are_what_the_server_takes() {
    let plane = Plane::vanilla().await;
    for namespace in ["kaoto-system", "clowder-system"] {
        ensure_namespace(&plane, namespace).await;
    }
    for command in ["crds", "rbac"] {
        let printed = run(&[command]).run().await.success();
        let arguments = [
            "apply",
            "--server-side",
            "--force-conflicts",
            "--dry-run=server",
            "-f",
            "-",
        ];
        let applied = Program::new(plane.kubectl(), arguments).kubeconfig(&plane.kubeconfig());
        let applied = applied.input(printed).run().await;
        assert_eq!(applied.code, Some(0), "{command}: {applied}");
    }
}

#[tokio::test]
async fn the_permissions_are_what_the_operator_uses_and_custom_hosts() {
    let printed = run(&["rbac", "--systems", "kaoto"]).run().await.success();
    let source = SourceName::new("rbac");
    let documents = parse_documents(&printed, &source, &Limits::default()).unwrap();
    let rules = documents
        .iter()
        .flat_map(|document| document.value["rules"].as_array().unwrap());
    let words = |value: &Value| {
        let words = value.as_array().unwrap().iter();
        words
            .map(|word| word.as_str().unwrap())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let rules: Vec<String> = rules
        .map(|rule| {
            let [groups, resources, verbs] =
                ["apiGroups", "resources", "verbs"].map(|field| words(&rule[field]));
            format!("{resources} in {groups:?}: {verbs}")
        })
        .collect();
    insta::assert_snapshot!(rules.join("\n"), @r#"
    services in "": create delete get list patch watch
    deployments in "apps": create delete get list patch watch
    kaotoes in "designer.kaoto.io": get list patch watch
    kaotoes/finalizers in "designer.kaoto.io": update
    kaotoes/status in "designer.kaoto.io": patch
    ingresses in "networking.k8s.io": create delete get list patch watch
    routes in "route.openshift.io": create delete get list patch watch
    routes/custom-host in "route.openshift.io": create update
    leases in "coordination.k8s.io": create get list update watch
    events in "": create
    "#);
}

/// That these rights are enough is shown where an operator lives with them.
#[tokio::test]
async fn an_installation_for_one_namespace_has_roles_and_no_cluster_roles() {
    let plane = Plane::vanilla().await;
    for namespace in ["kaoto-system", "studio"] {
        ensure_namespace(&plane, namespace).await;
    }
    let directory = TempDir::new().unwrap();
    let narrow = ["--format", "kustomize", "--watch-namespace", "studio"];
    bundle(&directory, &narrow).await.success();
    let built = Program::new(plane.kubectl(), ["kustomize", "config/standalone"]);
    let built = built.in_directory(directory.path()).run().await.success();
    assert!(!built.contains("kind: ClusterRole"), "{built}");
    let lines: Vec<&str> = built.lines().map(str::trim).collect();
    let arguments = ["- --watch-namespace", "- studio"];
    assert!(lines.windows(2).any(|pair| pair == arguments), "{built}");
    let dry = [
        "apply",
        "--server-side",
        "--force-conflicts",
        "--dry-run=server",
        "-f",
        "-",
    ];
    let applied = Program::new(plane.kubectl(), dry).kubeconfig(&plane.kubeconfig());
    let applied = applied.input(built).run().await;
    assert_eq!(applied.code, Some(0), "{applied}");

    let printed = run(&["rbac", "--systems", "kaoto", "--watch-namespace", "studio"]);
    let printed = printed.run().await.success();
    assert_eq!(printed.matches("kind: Role\n").count(), 2, "{printed}");

    for refused in [
        run(&["rbac", "--watch-namespace", "studio"]),
        run(&[
            "bundle",
            "kaoto",
            "--output-dir",
            "never",
            "--watch-namespace",
            "studio",
        ]),
    ] {
        let refused = refused.in_directory(directory.path()).run().await;
        assert_eq!(refused.code, Some(1), "{refused}");
        assert!(refused.stderr.contains("one namespace"), "{refused}");
        assert!(!directory.path().join("never").exists());
    }
}

#[tokio::test]
async fn the_definition_can_be_written_to_a_file_of_its_own() {
    let directory = TempDir::new().unwrap();
    let output = directory.path().to_str().unwrap();
    run(&["crds", "--systems", "kaoto", "--output-dir", output])
        .run()
        .await
        .success();
    assert_eq!(files(directory.path()), ["designer.kaoto.io_kaotoes.yaml"]);
    let printed = run(&["crds", "--systems", "kaoto"]).run().await.success();
    assert_eq!(read(&directory, "designer.kaoto.io_kaotoes.yaml"), printed);
}

#[tokio::test]
async fn every_shell_gets_completions_and_everybody_the_version() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = run(&["completions", shell]).run().await.success();
        assert!(
            script.contains("mainstay") && script.contains("render"),
            "{shell}"
        );
    }
    let version = format!("mainstay {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(run(&["version"]).run().await.success(), version);
    assert_eq!(run(&["--version"]).run().await.success(), version);
}
