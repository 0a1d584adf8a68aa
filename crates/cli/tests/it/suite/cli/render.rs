//! `render`: the same bytes every time, in every form.

use std::{
    fs::{self, Permissions},
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt as _,
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::{
    mainstay, run,
    suite::cli::{directory_with, in_directory, kaoto, run_with},
};

#[tokio::test]
async fn the_forms_show_the_same_objects() {
    let text = kaoto("designer", "{ingress: {}}");
    let names = run_with(&text, &["render", "-f", "kaoto.yaml", "-o", "name"]).await;
    insta::assert_snapshot!(names, @r#"
    exit code: 0
    ----- stdout -----
    Service default/designer
    Ingress default/designer
    Deployment default/designer
    ----- stderr -----
    "#);
    let list = run_with(&text, &["render", "-f", "kaoto.yaml", "-o", "json"]).await;
    let list: Value = serde_json::from_str(&list.success()).unwrap();
    let items = list["items"].as_array().unwrap().iter();
    let kinds: Vec<&str> = items.map(|item| item["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["Service", "Ingress", "Deployment"]);
    let stream = run_with(&text, &["render", "-f", "kaoto.yaml"])
        .await
        .success();
    assert_eq!(stream.split("---\n").count(), kinds.len());
}

#[tokio::test]
async fn a_directory_holds_one_file_per_object_and_a_second_run_changes_nothing() {
    let directory = directory_with("kaoto.yaml", &kaoto("designer", "{ingress: {}}"));
    let arguments = [
        "render",
        "-f",
        "kaoto.yaml",
        "-n",
        "studio",
        "-o",
        "dir",
        "--output-dir",
        "out",
    ];
    let first = in_directory(&directory, &arguments).run().await;
    assert_eq!(first.clone().success(), "", "{first}");
    let files = || {
        let entries = fs::read_dir(directory.path().join("out/studio")).unwrap();
        let entries = entries.map(|entry| entry.unwrap());
        let mut files: Vec<_> = entries
            .map(|entry| {
                let time = entry.metadata().unwrap().modified().unwrap();
                (entry.file_name().into_string().unwrap(), time)
            })
            .collect();
        files.sort();
        files
    };
    let written = files();
    let names: Vec<&str> = written.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "deployment-designer.yaml",
            "ingress-designer.yaml",
            "service-designer.yaml"
        ]
    );
    in_directory(&directory, &arguments).run().await.success();
    assert_eq!(files(), written, "an unchanged file keeps its time");
}

#[tokio::test]
async fn files_with_secrets_are_for_their_owner_alone() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: studio}\nstringData: {a: b}\n";
    let text = format!("{secret}---\n{}", kaoto("designer", "{}"));
    let directory = directory_with("kaoto.yaml", &text);
    let arguments = ["render", "-f", "kaoto.yaml", "-n", "studio"];
    let arguments = [&arguments[..], &["-o", "dir", "--output-dir", "out"]].concat();
    let place = directory.path().join("out/studio");
    let mode = |name: &str| {
        let file = fs::metadata(place.join(name)).unwrap();
        file.permissions().mode() & 0o777
    };
    in_directory(&directory, &arguments).run().await.success();
    assert_eq!(mode("secret-login.yaml"), 0o600);
    assert_ne!(mode("service-designer.yaml"), 0o600);
    // One that an older version wrote.
    let open = Permissions::from_mode(0o644);
    fs::set_permissions(place.join("secret-login.yaml"), open).unwrap();
    in_directory(&directory, &arguments).run().await.success();
    assert_eq!(mode("secret-login.yaml"), 0o600);
}

#[tokio::test]
async fn stdin_is_a_file_like_any_other() {
    let text = kaoto("designer", "{}");
    let from_file = run_with(&text, &["render", "-f", "kaoto.yaml"]).await;
    let from_stdin = run(&["render", "-f", "-"]).input(text).run().await;
    assert_eq!(from_stdin, from_file);
    let ended = run(&["render", "-f", "-"]).input("a: [").run().await;
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.starts_with("error: <stdin>:1:"), "{ended}");
}

#[tokio::test]
async fn the_environment_sets_the_image_and_nothing_else() {
    let text = kaoto("designer", "{}");
    let usual = run(&["render", "-f", "-"]).input(text.clone()).run().await;
    let other = run(&["render", "-f", "-"])
        .environment("KAOTO_APP_IMAGE", "example.test/kaoto:9")
        .input(text);
    let image = "quay.io/kaotoio/kaoto-app:stable";
    let expected = usual.success().replace(image, "example.test/kaoto:9");
    assert_eq!(other.run().await.success(), expected);
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    // More than a pipe holds, so that the program is still writing when nobody reads any more.
    let text: Vec<String> = (0..200)
        .map(|number| kaoto(&format!("designer-{number}"), "{ingress: {}}"))
        .collect();
    let directory = directory_with("kaoto.yaml", &text.join("---\n"));
    let mut child = Command::new(mainstay())
        .args(["render", "-f", "kaoto.yaml"])
        .current_dir(directory.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::with_capacity(64, child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "apiVersion: v1\n");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
