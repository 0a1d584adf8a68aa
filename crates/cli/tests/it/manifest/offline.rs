//! Loading, selecting and transforming: no cluster is asked.

use std::{fs, os::unix::fs::symlink};

use tempfile::TempDir;

use super::offline;

const BUNDLE: &str = "\
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: old}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: old, labels: {app: web}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: old, labels: {app: web}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: 'quay.io/shop/web:1'}]}
";

fn bundle() -> TempDir {
    let directory = TempDir::new().unwrap();
    fs::create_dir(directory.path().join("bundle")).unwrap();
    fs::write(directory.path().join("bundle/all.yaml"), BUNDLE).unwrap();
    directory
}

#[tokio::test]
async fn a_bundle_is_read_in_every_form() {
    let directory = bundle();
    let load = async |words: &[&str]| {
        let words: Vec<&str> = ["load", "-f", "bundle"]
            .iter()
            .chain(words)
            .copied()
            .collect();
        offline(directory.path(), &words).await.success()
    };
    assert_eq!(
        load(&["-o", "name"]).await,
        "Namespace old\nConfigMap old/settings\nDeployment old/web\n"
    );
    let yaml = load(&[]).await;
    fs::write(directory.path().join("again.yaml"), &yaml).unwrap();
    fs::write(
        directory.path().join("again.json"),
        load(&["-o", "json"]).await,
    )
    .unwrap();
    let hash = load(&["-o", "hash"]).await;
    assert_eq!(hash.trim().len(), 64);
    for form in ["again.yaml", "again.json"] {
        let again = offline(directory.path(), &["load", "-f", form, "-o", "hash"])
            .await
            .success();
        assert_eq!(again, hash, "{form}");
    }
}

#[tokio::test]
async fn objects_are_selected_by_what_they_are() {
    let directory = bundle();
    for (words, expected) in [
        (
            vec!["--kind", "ConfigMap,Deployment"],
            "ConfigMap old/settings\nDeployment old/web\n",
        ),
        (
            vec!["-l", "app=web", "--group", ""],
            "ConfigMap old/settings\n",
        ),
        (vec!["-l", "app", "--not"], "Namespace old\n"),
        (vec!["--cluster-scoped"], "Namespace old\n"),
        (
            vec!["--name", "web", "--in", "bundle/all.yaml"],
            "Deployment old/web\n",
        ),
        (vec!["--crds"], ""),
    ] {
        let all: Vec<&str> = ["select", "-f", "bundle", "-o", "name"]
            .into_iter()
            .chain(words.clone())
            .collect();
        assert_eq!(
            offline(directory.path(), &all).await.success(),
            expected,
            "{words:?}"
        );
    }
}

#[tokio::test]
async fn a_bundle_is_transformed_in_the_given_ways() {
    let directory = bundle();
    fs::write(
        directory.path().join("workloads.yaml"),
        "- {name: web, replicas: 3}\n- {name: gone, replicas: 1}\n",
    )
    .unwrap();
    fs::write(
        directory.path().join("extra.yaml"),
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: b}}\n",
    )
    .unwrap();
    let words = [
        "transform",
        "-f",
        "bundle",
        "-n",
        "team",
        "-l",
        "tier=front",
        "--registry",
        "r.io",
        "--pull-secret",
        "p",
        "--workloads",
        "workloads.yaml",
        "--additional",
        "extra.yaml",
    ];
    let ended = offline(directory.path(), &words).await;
    assert_eq!(
        ended.stderr,
        "warning: there is no Deployment or StatefulSet `gone`\n"
    );
    insta::assert_snapshot!(ended.success(), @r"
    apiVersion: v1
    kind: Namespace
    metadata:
      name: team
      labels:
        tier: front
    ---
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: web
      namespace: team
      labels:
        app: web
        tier: front
    spec:
      replicas: 3
      selector:
        matchLabels:
          app: web
      template:
        metadata:
          labels:
            app: web
        spec:
          containers:
          - image: r.io/shop/web:1
            name: web
          imagePullSecrets:
          - name: p
    ---
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: settings
      namespace: team
    data:
      a: b
    ");
}

#[tokio::test]
async fn bad_input_is_refused_with_its_place() {
    let directory = bundle();
    let path = directory.path();
    fs::write(
        path.join("bad.yaml"),
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\nkind: ConfigMap\n",
    )
    .unwrap();
    fs::write(
        path.join("twice.yaml"),
        "apiVersion: v1\nkind: A\nkind: B\n",
    )
    .unwrap();
    fs::write(
        path.join("over.yaml"),
        "- {name: web, template: {spec: {containers: [{name: wbe}]}}}\n",
    )
    .unwrap();
    fs::create_dir(path.join("linked")).unwrap();
    symlink("/etc/hostname", path.join("linked/a.yaml")).unwrap();
    for (words, expected) in [
        (
            vec!["load", "-f", "bad.yaml"],
            "bad.yaml:5: document 2, line 5, column 1: `apiVersion` is missing or no text",
        ),
        (
            vec!["load", "-f", "twice.yaml"],
            "twice.yaml:3:1: key `kind` is given twice",
        ),
        (vec!["load", "-f", "linked"], "leads out of"),
        (vec!["load", "-f", "a.yaml,"], "has an empty element"),
        (vec!["load", "-f", "/dev/zero"], "is no regular file"),
        (
            vec!["transform", "-f", "bundle", "-l", "cpaas.io/managed-by=me"],
            "`cpaas.io/managed-by` is written by the operator",
        ),
        (
            vec!["transform", "-f", "bundle", "-l", "novalue"],
            "--label: `novalue` is not KEY=VALUE",
        ),
        (
            vec!["transform", "-f", "bundle", "--workloads", "over.yaml"],
            "transformer `workloads`: Deployment old/web (bundle/all.yaml:7: document 2): template.spec.containers: there is no container `wbe`",
        ),
    ] {
        let ended = offline(path, &words).await;
        assert_eq!(ended.code, Some(1), "{words:?}: {ended}");
        assert_eq!(ended.stdout, "");
        assert!(ended.stderr.contains(expected), "{words:?}: {ended}");
    }
}

#[tokio::test]
async fn pages_that_are_not_allowed_are_not_asked_for() {
    let directory = bundle();
    for (url, expected) in [
        (
            "http://example.com/a?token=secret",
            "the scheme `http` is not allowed",
        ),
        (
            "https://169.254.169.254/latest/meta-data?token=secret",
            "the address of `169.254.169.254:443` is not allowed",
        ),
        (
            "https://localhost/a?token=secret",
            "the address of `localhost:443` is not allowed",
        ),
        (
            "https://me:secret@example.com/a",
            "must not carry credentials",
        ),
        ("ftp://example.com/a", "the scheme `ftp` is not allowed"),
    ] {
        let ended = offline(directory.path(), &["load", "-f", url]).await;
        assert_eq!(ended.code, Some(2), "{ended}");
        assert!(ended.stderr.contains(expected), "{ended}");
        assert!(!ended.stderr.contains("secret"), "{ended}");
    }
}
