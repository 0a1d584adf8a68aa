//! Without a cluster, or with one that cannot do it: what is missing is named, with a way out.

use mainstay_testkit::Plane;

use crate::{
    run,
    suite::cli::{directory_with, in_directory, kaoto, run_with},
};

#[tokio::test]
async fn a_missing_kubeconfig_is_named_with_a_way_out() {
    let arguments = ["plan", "-f", "kaoto.yaml", "--kubeconfig", "missing"];
    insta::assert_snapshot!(run_with(&kaoto("designer", "{}"), &arguments).await, @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: could not read kubeconfig `missing`

    caused by: failed to read kubeconfig from '"missing"'

    caused by: No such file or directory (os error 2)

    hint: name a cluster with --kubeconfig and --context, or with KUBECONFIG; `mainstay render` needs none
    "#);
}

#[tokio::test]
async fn without_any_cluster_there_is_a_way_out() {
    let ended = run_with(&kaoto("designer", "{}"), &["apply", "-f", "kaoto.yaml"]).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(
        ended.stderr.starts_with("error: found no cluster"),
        "{ended}"
    );
    assert!(
        ended
            .stderr
            .contains("\nhint: name a cluster with --kubeconfig"),
        "{ended}"
    );
}

#[tokio::test]
async fn a_cluster_that_does_not_answer_is_named() {
    let config = r#"{"apiVersion": "v1", "kind": "Config", "current-context": "gone",
        "clusters": [{"name": "gone", "cluster": {"server": "http://127.0.0.1:1"}}],
        "contexts": [{"name": "gone", "context": {"cluster": "gone", "user": "nobody"}}],
        "users": [{"name": "nobody", "user": {}}]}"#;
    let directory = directory_with("config", config);
    let arguments = ["tree", "kaoto/designer", "--kubeconfig", "config"];
    let ended = in_directory(&directory, &arguments).run().await;
    assert_eq!(ended.code, Some(2), "{ended}");
    let place = "could not reach http://127.0.0.1:1/ (context gone)";
    assert!(ended.stderr.contains(place), "{ended}");
    assert!(ended.stderr.contains("Connection refused"), "{ended}");
}

#[tokio::test]
async fn a_kind_that_the_cluster_does_not_serve_is_named() {
    let plane = Plane::vanilla().await;
    let text = "apiVersion: unknown.example.org/v1\nkind: Widget\nmetadata:\n  name: one\n";
    let directory = directory_with("widget.yaml", text);
    let plan = in_directory(&directory, &["plan", "-f", "widget.yaml"]);
    insta::assert_snapshot!(plan.kubeconfig(&plane.kubeconfig()).run().await, @r#"
    exit code: 1
    ----- stdout -----
    ----- stderr -----
    error: the cluster has no kind Widget in unknown.example.org/v1

    hint: for kinds of Mainstay: `mainstay crds | kubectl apply --server-side -f -`
    "#);
}

#[tokio::test]
async fn an_object_is_named_by_kind_and_name() {
    insta::assert_snapshot!(run(&["why", "designer"]).run().await, @r#"
    exit code: 1
    ----- stdout -----
    ----- stderr -----
    error: `designer` does not name an object

    hint: write KIND/NAME, for example kaoto/designer
    "#);
    insta::assert_snapshot!(run(&["tree", "pod/designer"]).run().await, @r#"
    exit code: 1
    ----- stdout -----
    ----- stderr -----
    error: `pod` is no kind of Mainstay

    hint: known kinds: kaoto, clowdappref, clowdenvironment, clowdapp, clowdjobinvocation
    "#);
}
