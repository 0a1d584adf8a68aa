//! Databases and buckets on real servers, reached through `--resolve`.

use std::net::{Ipv4Addr, SocketAddr};

use mainstay_testkit::{
    operator::{ClosedPort, free_port},
    servers::{Postgres, S3},
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use super::stage::{DEPLOYMENT, SECRET, Stage, merge, web_app};

#[tokio::test]
async fn a_shared_server_gets_a_database_for_each_app_as_soon_as_it_can_be_reached() {
    let stage = Stage::alone("server").await;
    let port = free_port();
    let name = stage.environment.as_str();
    let host = format!("{name}-db-v12.{name}.svc");
    let resolve = format!("{host}=127.0.0.1:{port}");
    let _operator = stage.operator(&["--resolve", &resolve]).await;
    stage
        .create_environment(json!({"providers": {"db": {"mode": "shared"}}}))
        .await;
    for (app, database) in [("shop", "goods"), ("stock", "shelves")] {
        let mut spec = web_app();
        merge(&mut spec, &json!({"database": {"name": database}}));
        stage.create_app(app, spec).await;
    }
    let text = stage.app_failed("shop", "dial tcp").await;
    assert!(text.starts_with("runapp: database: "), "{text}");
    assert_eq!(
        stage.find(SECRET, "shop").await,
        None,
        "nothing half-written"
    );

    let secret = stage.secret(&format!("{name}-db-v12")).await;
    let server = Postgres::start(port, &secret["pgPass"]).await;
    let user = &secret["username"];
    server.ask("postgres", &format!("CREATE ROLE \"{user}\""));
    server.ask(
        "postgres",
        &format!("CREATE DATABASE \"{name}\" OWNER \"{user}\""),
    );
    for (app, database) in [("shop", "goods"), ("stock", "shelves")] {
        stage.app_done(app).await;
        let owner = format!(
            "SELECT rolname FROM pg_database JOIN pg_roles ON pg_roles.oid = datdba WHERE datname = '{database}'"
        );
        assert_eq!(server.ask("postgres", &owner), *user);
        let config = stage.config(app).await;
        assert_eq!(
            config["database"],
            json!({
                "adminPassword": secret["pgPass"], "adminUsername": "postgres", "hostname": host,
                "name": database, "password": secret["password"], "port": 5432,
                "sslMode": "disable", "username": user,
            })
        );
    }
}

#[tokio::test]
async fn a_store_that_cannot_be_reached_is_named_and_other_environments_go_on() {
    let stage = Stage::alone("unreachable").await;
    let other = stage.beside("plain").await;
    let host = format!("{name}-minio.{name}.svc", name = stage.environment);
    let nobody = ClosedPort::take();
    let resolve = format!("{host}={}", nobody.address());
    let _operator = stage.operator(&["--resolve", &resolve]).await;
    stage
        .create_environment(json!({"providers": {"objectStore": {"mode": "minio"}}}))
        .await;
    let mut app = web_app();
    merge(&mut app, &json!({"objectStore": ["photos"]}));
    stage.create_app("shop", app).await;
    let text = stage.app_failed("shop", "objectstore: bucket").await;
    let start = format!(
        "runapp: objectstore: bucket \"photos\" -- failed to check if bucket exists: Head \
        \"http://{host}:9000/photos/\": dial tcp 127.0.0.1:"
    );
    assert!(text.starts_with(&start), "{text}");
    assert_eq!(stage.find(DEPLOYMENT, "shop-web").await, None);
    other.ready_environment(json!({})).await;
    other.create_app("stock", web_app()).await;
    other.app_done("stock").await;
}

/// A server that knows no bucket, and does not answer those who want to make one.
async fn silent_store() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = [0; 4096];
                let length = stream.read(&mut request).await.unwrap_or(0);
                if request
                    .get(..length)
                    .is_some_and(|request| request.starts_with(b"HEAD"))
                {
                    let absent = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
                    let _ = stream.write_all(absent).await;
                }
                while stream
                    .read(&mut request)
                    .await
                    .is_ok_and(|length| length > 0)
                {}
            });
        }
    });
    address
}

#[tokio::test]
async fn a_store_that_never_answers_does_not_hold_up_another_environment() {
    let stage = Stage::alone("silent").await;
    let other = stage.beside("lively").await;
    let host = |stage: &Stage| format!("{name}-minio.{name}.svc", name = stage.environment);
    let (access, secret) = ("accessaccess", "secretsecret");
    let server = S3::start(access, secret);
    let keys = json!({
        "accessKey": access, "secretKey": secret, "hostname": host(&other), "port": "9000",
    });
    let minio = format!("{}-minio", other.environment);
    other.put_secret(&minio, json!({}), keys).await;
    let silent = silent_store().await;
    let resolve = [
        format!("{}={silent}", host(&stage)),
        format!("{}={}", host(&other), server.address),
    ];
    let _operator = stage.operator(&["--resolve", &resolve.join(",")]).await;
    let mut app = web_app();
    merge(&mut app, &json!({"objectStore": ["photos"]}));
    stage
        .create_environment(json!({"providers": {"objectStore": {"mode": "minio"}}}))
        .await;
    for name in ["shop", "stock", "till", "depot"] {
        stage.create_app(name, app.clone()).await;
    }
    other
        .create_environment(json!({"providers": {"objectStore": {"mode": "minio"}}}))
        .await;
    other.create_app("shop", app).await;
    other.app_done("shop").await;
    assert_eq!(server.buckets(1).await, ["photos"]);
}

#[tokio::test]
async fn buckets_exist_before_an_app_is_told_of_them() {
    let stage = Stage::alone("buckets").await;
    let name = stage.environment.as_str();
    let host = format!("{name}-minio.{name}.svc");
    let (access, secret) = ("accessaccess", "secretsecret");
    let server = S3::start(access, secret);
    let keys = json!({
        "accessKey": access, "secretKey": "not the one", "hostname": host, "port": "9000",
    });
    let minio = format!("{name}-minio");
    stage.put_secret(&minio, json!({}), keys).await;
    let resolve = format!("{host}={}", server.address);
    let _operator = stage.operator(&["--resolve", &resolve]).await;
    stage
        .create_environment(json!({"providers": {"objectStore": {"mode": "minio"}}}))
        .await;
    let mut app = web_app();
    merge(&mut app, &json!({"objectStore": ["photos", "invoices"]}));
    stage.create_app("shop", app).await;
    let text = stage.app_failed("shop", "objectstore: bucket").await;
    assert_eq!(
        text,
        "runapp: objectstore: bucket \"photos\" -- failed to check if bucket exists: Access Denied."
    );

    let right = json!({
        "accessKey": access, "secretKey": secret, "hostname": host, "port": "9000",
    });
    stage.put_secret(&minio, json!({}), right).await;
    stage.app_done("shop").await;
    assert_eq!(server.buckets(2).await, ["photos", "invoices"]);
    let config = stage.config("shop").await;
    let bucket = |name: &str| {
        json!({
            "accessKey": access, "endpoint": host, "name": name, "requestedName": name,
            "secretKey": secret,
        })
    };
    assert_eq!(
        config["objectStore"],
        json!({
            "accessKey": access, "buckets": [bucket("photos"), bucket("invoices")],
            "hostname": host, "port": 9000, "secretKey": secret, "tls": false,
        })
    );
}
