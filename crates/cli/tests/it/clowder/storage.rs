//! Databases, caches and feature flags of apps.

use mainstay_testkit::{servers::serve_text, wait::eventually};
use serde_json::{Value, json};

use super::stage::{CLAIM, DEPLOYMENT, SECRET, SERVICE, Stage, container, merge, web_app};

fn with(change: &Value) -> Value {
    let mut app = web_app();
    merge(&mut app, change);
    app
}

#[tokio::test]
async fn a_local_database_is_known_to_its_app() {
    let stage = Stage::shared("database").await;
    stage
        .ready_environment(json!({"providers": {"db": {"mode": "local"}}}))
        .await;
    stage
        .create_app("shop", with(&json!({"database": {"name": "goods"}})))
        .await;
    stage.app_done("shop").await;
    let secret = stage.secret("shop-db").await;
    let keys: Vec<&str> = secret.keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "db.host",
            "db.name",
            "db.password",
            "db.port",
            "db.user",
            "hostname",
            "name",
            "password",
            "pgPass",
            "port",
            "username"
        ]
    );
    let host = format!("shop-db.{}.svc", stage.namespace.name);
    for (one, other) in [
        ("hostname", "db.host"),
        ("port", "db.port"),
        ("username", "db.user"),
        ("password", "db.password"),
        ("name", "db.name"),
    ] {
        assert_eq!(secret[one], secret[other]);
    }
    for key in ["username", "password", "pgPass"] {
        assert_eq!(secret[key].len(), 16, "{key}");
        assert!(secret[key].chars().all(|char| char.is_ascii_alphanumeric()));
    }
    let config = stage.config("shop").await;
    assert_eq!(
        config["database"],
        json!({
            "adminPassword": secret["pgPass"], "adminUsername": "postgres", "hostname": host,
            "name": "goods", "password": secret["password"], "port": 5432,
            "sslMode": "disable", "username": secret["username"],
        })
    );
    let deployment = stage.get(DEPLOYMENT, "shop-db").await;
    let image = container(&deployment)["image"].as_str().unwrap();
    assert!(image.contains("postgresql-rds:12-"), "{image}");
}

#[tokio::test]
async fn a_database_may_have_a_version_a_variant_and_a_volume() {
    let stage = Stage::shared("variant").await;
    stage
        .ready_environment(json!({"providers": {"db": {"mode": "local", "pvc": true}}}))
        .await;
    let database = json!({"name": "goods", "version": 13, "dbVolumeSize": "large"});
    stage
        .create_app(
            "shop",
            with(&json!({"database": database, "cyndi": {"enabled": true}})),
        )
        .await;
    stage.app_done("shop").await;
    let deployment = stage.get(DEPLOYMENT, "shop-db").await;
    let image = container(&deployment)["image"].as_str().unwrap();
    assert!(image.ends_with(":cyndi-13-2318dee"), "{image}");
    assert_eq!(deployment["spec"]["strategy"]["type"], "Recreate");
    let claim = stage.get(CLAIM, "shop-db").await;
    assert_eq!(claim["spec"]["resources"]["requests"]["storage"], "5Gi");
}

#[tokio::test]
async fn a_shared_database_has_to_be_a_dependency() {
    let stage = Stage::shared("lent").await;
    stage
        .ready_environment(json!({"providers": {"db": {"mode": "local"}}}))
        .await;
    let borrow = json!({"sharedDbAppName": "owner"});
    stage
        .create_app("guest", with(&json!({"database": borrow})))
        .await;
    let text = stage.app_failed("guest", "database").await;
    assert_eq!(
        text,
        "runapp: database: The requested app's db was not found in the dependencies: "
    );
    stage
        .create_app("owner", with(&json!({"database": {"name": "goods"}})))
        .await;
    stage.app_done("owner").await;
    stage
        .patch_app("guest", json!({"spec": {"dependencies": ["owner"]}}))
        .await;
    stage.app_done("guest").await;
    let (guest, owner) = (stage.config("guest").await, stage.config("owner").await);
    assert_eq!(guest["database"], owner["database"]);
    assert_eq!(stage.find(DEPLOYMENT, "guest-db").await, None);
}

#[tokio::test]
async fn a_guest_that_came_before_its_host_gets_the_database_without_waiting() {
    let stage = Stage::shared("early").await;
    stage
        .ready_environment(json!({"providers": {"db": {"mode": "local"}}}))
        .await;
    let borrow = json!({"dependencies": ["owner"], "database": {"sharedDbAppName": "owner"}});
    stage.create_app("guest", with(&borrow)).await;
    stage.app_failed("guest", "Missing dependencies").await;
    stage
        .create_app("owner", with(&json!({"database": {"name": "goods"}})))
        .await;
    stage.app_done("guest").await;
    stage.app_done("owner").await;
    let (guest, owner) = (stage.config("guest").await, stage.config("owner").await);
    assert_eq!(guest["database"], owner["database"]);
}

fn credentials(host: &str, name: &str) -> Value {
    json!({
        "db.host": host, "db.port": "5432", "db.user": "keeper", "db.password": "word",
        "db.name": name,
    })
}

#[tokio::test]
async fn an_annotated_database_wins_over_one_with_a_matching_host() {
    const BUNDLE: &str = "-----BEGIN CERTIFICATE-----\nnot really\n-----END CERTIFICATE-----\n";
    let stage = Stage::shared("managed").await;
    let database = json!({"mode": "app-interface", "caBundleURL": serve_text(BUNDLE).await});
    stage
        .ready_environment(json!({"providers": {"db": database}}))
        .await;
    for name in ["shop", "stock"] {
        let asked = json!({"database": {"name": "goods"}});
        stage.create_app(name, with(&asked)).await;
    }
    let missing = format!(
        "runapp: database: Missing dependencies: [source: database, details: DB secret matching app 'shop' not found in namespace '{}']",
        stage.namespace.name
    );
    assert_eq!(stage.app_failed("shop", "database").await, missing);

    let replica = credentials("goods-readonly.rds.test", "replica");
    stage.put_secret("a-replica", json!({}), replica).await;
    let matching = credentials("goods-production.rds.test", "matching");
    stage.put_secret("b-matching", json!({}), matching).await;
    let annotation = json!({"clowder/database": "shop"});
    let annotated = credentials("elsewhere.rds.test", "annotated");
    stage.put_secret("c-annotated", annotation, annotated).await;
    for (app, name) in [("stock", "matching"), ("shop", "annotated")] {
        stage.app_done(app).await;
        let config = stage
            .config_when(app, "has its database", |config| {
                config["database"]["name"] == name
            })
            .await;
        assert_eq!(config["database"]["rdsCa"], BUNDLE);
        assert_eq!(config["database"]["sslMode"], "verify-full");
    }
    assert!(stage.find(DEPLOYMENT, "shop-db").await.is_none());
}

#[tokio::test]
async fn a_managed_cache_is_found_by_the_name_of_its_secret() {
    let stage = Stage::shared("elasticache").await;
    stage
        .ready_environment(json!({"providers": {"inMemoryDb": {"mode": "elasticache"}}}))
        .await;
    stage
        .create_app("shop", with(&json!({"inMemoryDb": true})))
        .await;
    let missing = format!(
        "runapp: inmemorydb: Missing dependencies: [source: inmemorydb, details: No inmemorydb secret named 'in-memory-db' found in namespace '{}']",
        stage.namespace.name
    );
    assert_eq!(stage.app_failed("shop", "inmemorydb").await, missing);
    let malformed = json!({"db.endpoint": "cache.test", "db.port": "many"});
    stage.put_secret("in-memory-db", json!({}), malformed).await;
    stage.app_failed("shop", "failed to parse port").await;
    let data = json!({"db.endpoint": "cache.test", "db.port": "6380", "db.auth_token": "word"});
    stage.put_secret("in-memory-db", json!({}), data).await;
    stage.app_done("shop").await;
    let config = stage.config("shop").await;
    assert_eq!(
        config["inMemoryDb"],
        json!({"hostname": "cache.test", "password": "word", "port": 6380, "sslMode": true})
    );
}

#[tokio::test]
async fn feature_flags_are_told_to_every_app() {
    let stage = Stage::shared("flags").await;
    stage
        .ready_environment(json!({"providers": {"featureFlags": {"mode": "local"}}}))
        .await;
    stage.create_app("shop", web_app()).await;
    stage.app_done("shop").await;
    let config = stage.config("shop").await;
    let name = format!("{}-featureflags", stage.environment);
    let flags = &config["featureFlags"];
    assert_eq!(
        flags["hostname"],
        format!("{name}.{}.svc", stage.namespace.name)
    );
    assert_eq!(flags["port"], 4242);
    assert_eq!(flags["scheme"], "http");
    let token = flags["clientAccessToken"].as_str().unwrap();
    let hexadecimal = token.strip_prefix("default:development.").unwrap();
    assert_eq!(hexadecimal.len(), 32);
    assert_eq!(stage.secret(&name).await["clientAccessToken"], token);
}

#[tokio::test]
async fn what_an_app_no_longer_asks_for_is_removed_and_its_secrets_stay() {
    let stage = Stage::shared("removed").await;
    let local = json!({"db": {"mode": "local"}, "inMemoryDb": {"mode": "redis"}});
    stage.ready_environment(json!({"providers": local})).await;
    stage
        .create_app(
            "shop",
            with(&json!({"database": {"name": "goods"}, "inMemoryDb": true})),
        )
        .await;
    stage.app_done("shop").await;
    let config = stage.config("shop").await;
    let host = format!("shop-redis.{}.svc", stage.namespace.name);
    assert_eq!(
        config["inMemoryDb"],
        json!({"hostname": host, "port": 6379, "sslMode": false})
    );
    for name in ["shop-db", "shop-redis"] {
        stage.get(SERVICE, name).await;
    }

    let nothing = json!({"spec": {"database": null, "inMemoryDb": null}});
    stage.patch_app("shop", nothing).await;
    for name in ["shop-db", "shop-redis"] {
        stage.gone(DEPLOYMENT, name).await;
        stage.gone(SERVICE, name).await;
        assert!(stage.find(SECRET, name).await.is_some(), "{name}");
    }
    eventually("the configuration has forgotten them", || async {
        let config = stage.config("shop").await;
        (config["database"].is_null() && config["inMemoryDb"].is_null()).then_some(())
    })
    .await;
    assert_eq!(stage.names(DEPLOYMENT).await, ["shop-web"]);
}
