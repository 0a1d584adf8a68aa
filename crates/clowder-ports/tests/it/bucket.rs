//! Against an S3 server that checks signatures.

use mainstay_clowder::errand::{Errand, Hidden};
use mainstay_clowder_ports::{Ports, Resolve};
use mainstay_testkit::servers::S3;

const ACCESS: &str = "access";
const SECRET: &str = "secret/+=";

fn ports(server: &S3) -> Ports {
    Ports::new(Resolve::parse(&format!("stage-minio.stage.svc:9000={}", server.address)).unwrap())
}

fn errand(name: &str, secret_key: &str) -> Errand {
    Errand::Bucket {
        host: "stage-minio.stage.svc".to_owned(),
        port: 9000,
        access_key: Hidden(ACCESS.to_owned()),
        secret_key: Hidden(secret_key.to_owned()),
        name: name.to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_is_made_once_however_many_ask_for_it() {
    let server = S3::start(ACCESS, SECRET);
    let ports = ports(&server);
    let wanted = errand("golden-photos", SECRET);
    for _ in 0..2 {
        assert_eq!(ports.carry_out(&wanted).await, Ok(String::new()));
    }
    let same = errand("raced", SECRET);
    let (a, b, c, d) = tokio::join!(
        ports.carry_out(&same),
        ports.carry_out(&same),
        ports.carry_out(&same),
        ports.carry_out(&same)
    );
    assert_eq!([a, b, c, d], [const { Ok(String::new()) }; 4]);
    let made = server.buckets(2).await;
    assert_eq!(made, ["golden-photos", "raced"], "each once");
    let wrong = ports
        .carry_out(&errand("golden-photos", "other"))
        .await
        .unwrap_err();
    assert_eq!(
        wrong,
        "bucket \"golden-photos\" -- failed to check if bucket exists: Access Denied."
    );
}

#[tokio::test]
async fn a_bad_name_is_refused_before_anything_is_sent() {
    let ports = Ports::default();
    let failure = ports.carry_out(&errand("ab", "s")).await.unwrap_err();
    assert_eq!(
        failure,
        "bucket \"ab\" -- failed to check if bucket exists: Bucket name cannot be shorter than 3 characters"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_of_old_times_can_be_found_but_not_made() {
    let server = S3::start(ACCESS, SECRET);
    let failure = ports(&server)
        .carry_out(&errand("Golden_Photos", SECRET))
        .await
        .unwrap_err();
    assert_eq!(
        failure,
        "bucket \"Golden_Photos\" -- failed to create bucket: Bucket name contains invalid characters"
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let ports = Ports::new(Resolve::parse("stage-minio.stage.svc=127.0.0.1:1").unwrap());
    let failure = ports
        .carry_out(&errand("golden-photos", "s"))
        .await
        .unwrap_err();
    let start = "bucket \"golden-photos\" -- failed to check if bucket exists: Head \
        \"http://stage-minio.stage.svc:9000/golden-photos/\": dial tcp 127.0.0.1:1: ";
    assert!(failure.starts_with(start), "{failure}");
}
