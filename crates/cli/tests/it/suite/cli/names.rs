//! The file name decides what the program is.

use mainstay_testkit::{Namespace, Operator, Plane, Program};
use serde_json::json;

use crate::{run, under_the_name};

#[tokio::test]
async fn as_kaoto_without_arguments_it_prints_nothing_and_ends_well() {
    let (_directory, kaoto) = under_the_name("kaoto");
    let ended = Program::new(kaoto, [""; 0]).run().await;
    assert_eq!(
        ended.to_string(),
        "exit code: 0\n----- stdout -----\n----- stderr -----\n"
    );
}

#[tokio::test]
async fn as_kaoto_it_takes_the_flags_of_the_original() {
    let (_directory, kaoto) = under_the_name("kaoto");
    let plane = Plane::vanilla().await;
    let namespace = Namespace::create(&plane.client().await, "as-kaoto").await;
    let arguments = [
        "--leader-election=false",
        "--leader-election-id",
        "9aa9f118.kaoto.io",
        "--pprof-bind-address",
        "",
        "--zap-devel",
        "--zap-time-encoding",
        "iso8601",
        "-v",
        "2",
        "--watch-namespace",
        &namespace.name,
    ];
    let mut operator = Operator::start_with(&kaoto, &plane.kubeconfig(), &arguments);
    operator.ready().await;
    namespace.create_kaoto("designer", json!({})).await;
    namespace.kaoto_ready("designer").await;
    assert_eq!(operator.terminate().await.code(), Some(0));
    let log = operator.log();
    assert!(
        !log.trim_start().starts_with('{'),
        "the log of development is no JSON: {log}"
    );
    assert!(log.contains("quay.io/kaotoio/kaoto-app:stable"), "{log}");
}

#[tokio::test]
async fn as_kaoto_every_failure_is_a_one() {
    let (_directory, kaoto) = under_the_name("kaoto");
    for arguments in [
        &["run", "--no-such-flag"][..],
        &["walk"],
        &["run", "--leader-election=perhaps"],
        &["run", "--leader-election=false"],
        &["run", "--zap-log-level=loud", "--leader-election=false"],
    ] {
        let ended = Program::new(&kaoto, arguments).run().await;
        assert_eq!(ended.code, Some(1), "{arguments:?}: {ended}");
        assert!(ended.stderr.contains("error"), "{arguments:?}: {ended}");
        assert_eq!(ended.stdout, "", "{arguments:?}");
    }
}

#[tokio::test]
async fn kubectl_finds_it_as_a_plugin() {
    let (directory, _plugin) = under_the_name("kubectl-mainstay");
    let plane = Plane::vanilla().await;
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", directory.path().display());
    let kubectl = |arguments: &'static [&'static str]| {
        Program::new(plane.kubectl(), arguments)
            .environment("PATH", &path)
            .run()
    };
    let own = run(&["version"]).run().await;
    assert_eq!(kubectl(&["mainstay", "version"]).await, own);
    let help = kubectl(&["mainstay", "render", "--help"]).await.success();
    assert!(help.contains("Usage: kubectl mainstay render"), "{help}");
    let wrong = kubectl(&["mainstay", "render"]).await;
    assert_eq!(wrong.code, Some(2), "{wrong}");
}
