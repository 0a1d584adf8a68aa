use serde_json::{Value, json};

use super::*;
use crate::providers::{
    effect::{Effect, Hidden},
    fixture::{Case, Rendered, case, other_app, secret},
};

fn local(database: &Value) -> Case {
    case(
        json!({"db": {"mode": "local"}}),
        json!({"database": database}),
    )
}

fn render(case: &Case) -> Rendered {
    case.render(&[&Database]).unwrap()
}

fn failure(case: &Case) -> String {
    case.render(&[&Database]).unwrap_err().to_string()
}

fn container(rendered: &Rendered, name: &str) -> Value {
    rendered.pod(name)["containers"][0].clone()
}

#[test]
fn a_local_database_is_a_server_of_the_app() {
    let rendered = render(&local(&json!({"name": "orders"})));
    let labels = json!({"app": "shop", "service": "db", "sub": "local_db"});
    let owner = json!([{"apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdApp", "name": "shop", "uid": "app-uid",
        "controller": true}]);
    let command = [
        "psql",
        "-U",
        "$(POSTGRESQL_USER)",
        "-d",
        "$(POSTGRESQL_DATABASE)",
        "-c",
        "SELECT 1",
    ];
    let probe = |delay| {
        json!({"exec": {"command": command}, "initialDelaySeconds": delay, "timeoutSeconds": 2, "periodSeconds": 10,
            "successThreshold": 1, "failureThreshold": 3})
    };
    let data = &rendered.config["database"];
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "shop-db", "namespace": "market", "labels": labels, "ownerReferences": owner},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
            "template": {"metadata": {"labels": labels}, "spec": {
                "volumes": [{"name": "shop-db", "emptyDir": {}}],
                "containers": [{
                    "name": "shop-db", "image": "quay.io/cloudservices/postgresql-rds:12-2318dee",
                    "imagePullPolicy": "IfNotPresent",
                    "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
                    "env": [
                        {"name": "POSTGRESQL_USER", "value": data["username"]},
                        {"name": "POSTGRESQL_PASSWORD", "value": data["password"]},
                        {"name": "POSTGRESQL_ADMIN_PASSWORD", "value": data["adminPassword"]},
                        {"name": "POSTGRESQL_DATABASE", "value": "orders"}],
                    "ports": [{"name": "database", "containerPort": 5432, "protocol": "TCP"}],
                    "livenessProbe": probe(15), "readinessProbe": probe(45),
                    "resources": {"requests": {"cpu": "300m", "memory": "512Mi"}, "limits": {"cpu": "600m", "memory": "1Gi"}},
                    "volumeMounts": [{"name": "shop-db", "mountPath": "/var/lib/pgsql/data"}]}],
            }},
        },
    });
    assert_eq!(rendered.object("Deployment", "shop-db"), &deployment);
    let service = rendered.object("Service", "shop-db");
    assert_eq!(service["metadata"]["labels"], labels);
    assert_eq!(
        service["spec"],
        json!({"type": "ClusterIP", "selector": labels,
        "ports": [{"name": "database", "port": 5432, "targetPort": 5432, "protocol": "TCP"}]})
    );
    let secret = rendered.object("Secret", "shop-db");
    assert_eq!(
        secret["metadata"],
        json!({"name": "shop-db", "namespace": "market", "ownerReferences": owner})
    );
    assert_eq!(secret["type"], "Opaque");
    let keys: Vec<&String> = secret["data"].as_object().unwrap().keys().collect();
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
    assert_eq!(
        (&secret["data"]["db.user"], &secret["data"]["db.password"]),
        (&secret["data"]["username"], &secret["data"]["password"])
    );
    let expected = ("shop-db.market.svc", 5432, "orders", "postgres", "disable");
    assert_eq!(
        (
            &data["hostname"],
            &data["port"],
            &data["name"],
            &data["adminUsername"],
            &data["sslMode"]
        ),
        (
            &json!(expected.0),
            &json!(expected.1),
            &json!(expected.2),
            &json!(expected.3),
            &json!(expected.4)
        )
    );
    assert_eq!(data.get("rdsCa"), None);
}

#[test]
fn version_cyndi_and_sizes_are_honoured() {
    let mut case = local(
        &json!({"name": "orders", "version": 16, "dbResourceSize": "large", "dbVolumeSize": "medium"}),
    );
    case.environment["spec"]["providers"]["db"]["pvc"] = json!(true);
    case.app["spec"]["cyndi"] = json!({"enabled": true});
    let rendered = render(&case);
    let container = container(&rendered, "shop-db");
    assert!(
        container["image"]
            .as_str()
            .unwrap()
            .ends_with("postgresql-rds-cyndi:d44b8d1"),
        "{container}"
    );
    assert_eq!(
        container["resources"],
        json!({"requests": {"cpu": "1800m", "memory": "3Gi"},
        "limits": {"cpu": "2400m", "memory": "4Gi"}})
    );
    let deployment = rendered.object("Deployment", "shop-db");
    assert_eq!(deployment["spec"]["strategy"], json!({"type": "Recreate"}));
    assert_eq!(
        rendered.pod("shop-db")["volumes"],
        json!([{"name": "shop-db",
        "persistentVolumeClaim": {"claimName": "shop-db"}}])
    );
    let claim = rendered.object("PersistentVolumeClaim", "shop-db");
    assert_eq!(
        claim["metadata"]["labels"],
        json!({"app": "shop", "service": "db"})
    );
    assert_eq!(
        claim["spec"],
        json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "3Gi"}}})
    );
    case.app["spec"]["database"]["version"] = json!(11);
    assert_eq!(
        failure(&case),
        "no default image for PostgreSQL version 11: "
    );
}

#[test]
fn an_app_with_labels_of_its_own_spreads_them_but_is_selected_by_its_name() {
    let mut case = local(&json!({"name": "orders"}));
    case.app["metadata"]["labels"] = json!({"app": "front", "team": "a"});
    let rendered = render(&case);
    assert_eq!(
        rendered.object("Deployment", "shop-db")["spec"]["selector"]["matchLabels"],
        json!({"app": "front", "team": "a", "service": "db", "sub": "local_db"})
    );
    let service = rendered.object("Service", "shop-db");
    assert_eq!(
        service["spec"]["selector"],
        json!({"app": "shop", "service": "db", "sub": "local_db"})
    );
    assert_eq!(service["metadata"]["labels"]["team"], "a");
}

#[test]
fn credentials_that_exist_are_kept_and_told_as_they_are() {
    let stored = json!({"hostname": "h", "port": "5433", "username": "u", "password": "p", "pgPass": "a", "name": "old"});
    let case = local(&json!({"name": "new"})).among([secret("market", "shop-db", stored)]);
    let rendered = render(&case);
    assert_eq!(
        rendered.config["database"],
        json!({"adminPassword": "a", "adminUsername": "postgres", "hostname": "h",
        "name": "old", "password": "p", "port": 5433, "sslMode": "disable", "username": "u"})
    );
    assert_eq!(container(&rendered, "shop-db")["env"][3]["value"], "new");
    assert!(
        rendered
            .names()
            .iter()
            .all(|name| !name.starts_with("Secret")),
        "{:?}",
        rendered.names()
    );
    let stored = json!({"port": "x", "username": "u", "password": "p", "pgPass": "a"});
    let case = local(&json!({"name": "new"})).among([secret("market", "shop-db", stored)]);
    assert_eq!(
        failure(&case),
        "couldn't convert to int: strconv.Atoi: parsing a value: invalid syntax"
    );
}

#[test]
fn sharing_needs_a_dependency_an_app_and_its_secret() {
    let mut case = local(&json!({"sharedDbAppName": "cart"}));
    assert_eq!(
        failure(&case),
        "The requested app's db was not found in the dependencies: "
    );
    case.app["spec"]["optionalDependencies"] = json!(["cart"]);
    assert_eq!(
        failure(&case),
        "The requested app's db was not found in the dependencies: "
    );
    case.app["spec"]["dependencies"] = json!(["cart"]);
    assert_eq!(failure(&case), "could not get app for db in env");
    let case = case.among([other_app(
        "elsewhere",
        "cart",
        json!({"database": {"name": "carts"}}),
    )]);
    assert_eq!(
        failure(&case),
        "Couldn't set/get secret: Secret \"cart-db\" not found"
    );
    let stored = json!({"hostname": "cart-db.elsewhere.svc", "port": "5432", "username": "u", "password": "p", "pgPass": "a", "name": "carts"});
    let case = case.among([secret("elsewhere", "cart-db", stored)]);
    let rendered = render(&case);
    assert_eq!(
        rendered.config["database"]["hostname"],
        "cart-db.elsewhere.svc"
    );
    assert_eq!(rendered.names(), Vec::<String>::new());
}

fn shared(database: &Value) -> Case {
    case(
        json!({"db": {"mode": "shared", "pvc": true}}),
        json!({"database": database}),
    )
}

#[test]
fn a_shared_server_exists_for_each_version_with_room_for_the_largest() {
    let apps = [
        (
            "cart",
            json!({"name": "carts", "version": 13, "dbVolumeSize": "small"}),
        ),
        (
            "bill",
            json!({"name": "bills", "version": 13, "dbVolumeSize": "large"}),
        ),
        ("note", json!({"name": "notes"})),
        ("page", json!({"version": 16})),
    ];
    let apps =
        apps.map(|(name, database)| other_app("market", name, json!({"database": database})));
    let rendered = shared(&json!({}))
        .among(apps)
        .render_environment(&Database)
        .unwrap();
    let deployments: Vec<String> = rendered
        .names()
        .into_iter()
        .filter(|name| name.starts_with("Deployment"))
        .collect();
    assert_eq!(
        deployments,
        [
            "Deployment stage-env/stage-db-v12",
            "Deployment stage-env/stage-db-v13"
        ]
    );
    let size = |name| {
        rendered.object("PersistentVolumeClaim", name)["spec"]["resources"]["requests"]["storage"]
            .clone()
    };
    assert_eq!(
        (size("stage-db-v12"), size("stage-db-v13")),
        (json!("1Gi"), json!("5Gi"))
    );
    let server = rendered.object("Deployment", "stage-db-v13");
    assert_eq!(
        server["metadata"]["labels"],
        json!({"app": "stage", "service": "db", "sub": "shared_db_13"})
    );
    assert_eq!(
        server["metadata"]["ownerReferences"][0]["kind"],
        "ClowdEnvironment"
    );
    let container = container(&rendered, "stage-db-v13");
    assert!(
        container["image"]
            .as_str()
            .unwrap()
            .ends_with(":cyndi-13-2318dee"),
        "{container}"
    );
    assert_eq!(container["env"][3]["value"], "stage");
    assert_eq!(container["resources"]["requests"]["cpu"], "300m");
    let secret = rendered.object("Secret", "stage-db-v13");
    let keys: Vec<&String> = secret["data"].as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["hostname", "name", "password", "pgPass", "port", "username"]
    );
}

#[test]
fn an_app_gets_a_database_in_the_shared_server() {
    let case = shared(&json!({"name": "orders", "version": 13}));
    assert_eq!(failure(&case), "Secret \"stage-db-v13\" not found");
    let stored = json!({"hostname": "db.svc", "port": "5432", "username": "u", "password": "p", "pgPass": "a", "name": "stage"});
    let mut case = case.among([secret("stage-env", "stage-db-v13", stored)]);
    let rendered = render(&case);
    assert_eq!(
        rendered.config["database"],
        json!({"adminPassword": "a", "adminUsername": "postgres", "hostname": "db.svc",
        "name": "orders", "password": "p", "port": 5432, "sslMode": "disable", "username": "u"})
    );
    assert_eq!(rendered.names(), ["Secret market/shop-db"]);
    let secret = rendered.object("Secret", "shop-db");
    assert_eq!(secret["metadata"].get("labels"), None);
    assert_eq!(secret["data"]["name"], "b3JkZXJz");
    let effect = Effect::Database {
        host: "db.svc".to_owned(),
        port: 5432,
        admin_password: Hidden("a".to_owned()),
        maintenance: "stage".to_owned(),
        name: "orders".to_owned(),
        owner: "u".to_owned(),
    };
    case.snapshot.add_effect(&effect, Err("pq: no".to_owned()));
    assert_eq!(failure(&case), "pq: no");
}

const BUNDLE: &str = "-----BEGIN CERTIFICATE-----\nabc\n";

fn app_interface(database: &Value, url: &str) -> Case {
    let mut case = case(
        json!({"db": {"mode": "app-interface", "caBundleURL": url}}),
        json!({"database": database}),
    );
    let fetch = |url: &str| Effect::Fetch {
        url: url.to_owned(),
    };
    case.snapshot.add_effect(
        &fetch("https://s3.amazonaws.com/rds-downloads/rds-combined-ca-bundle.pem"),
        Ok(BUNDLE.to_owned()),
    );
    case.snapshot
        .add_effect(&fetch("http://ca/text"), Ok("hello".to_owned()));
    case.snapshot.add_effect(
        &fetch("http://ca/gone"),
        Err("Bad status code: 404: ".to_owned()),
    );
    case
}

fn described(name: &str, host: &str, port: &str, owner: Option<&str>) -> Value {
    let values = json!({"db.host": host, "db.port": port, "db.user": "u", "db.password": "p", "db.name": name});
    let mut secret = secret("market", name, values);
    if let Some(owner) = owner {
        secret["metadata"]["annotations"] = json!({"clowder/database": owner});
    }
    secret
}

#[test]
fn the_certificates_of_app_interface_have_to_be_had() {
    let failure = |url| {
        app_interface(&json!({}), url)
            .render_environment(&Database)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    assert_eq!(failure(""), Ok(()));
    assert_eq!(
        failure("http://ca/text"),
        Err("Failed to fetch RDS CA bundle: Invalid RDS CA bundle: ".to_owned())
    );
    assert_eq!(
        failure("http://ca/gone"),
        Err("Failed to fetch RDS CA bundle: Bad status code: 404: ".to_owned())
    );
}

#[test]
fn app_interface_finds_a_database_by_annotation_then_by_host() {
    let secrets = [
        described("a-read", "orders-readonly.rds", "5432", None),
        described("b-port", "orders-prod.rds", "none", None),
        described("c-host", "orders-prod.rds.amazonaws.com", "5433", None),
        described("d-mine", "other-prod.rds", "5434", Some("shop")),
    ];
    let by_host =
        app_interface(&json!({"name": "orders"}), "").among(secrets.iter().take(3).cloned());
    assert_eq!(
        render(&by_host).config["database"],
        json!({"adminPassword": "p", "adminUsername": "u",
        "hostname": "orders-prod.rds.amazonaws.com", "name": "c-host", "password": "p", "port": 5433, "rdsCa": BUNDLE,
        "sslMode": "verify-full", "username": "u"})
    );
    let by_annotation = app_interface(&json!({"name": "orders"}), "").among(secrets);
    assert_eq!(render(&by_annotation).config["database"]["name"], "d-mine");
    let bad_port = app_interface(&json!({"name": "orders"}), "").among([described(
        "a",
        "h",
        "x",
        Some("shop"),
    )]);
    assert_eq!(
        failure(&bad_port),
        "failed to extract annotated secret: Failed to parse DB port: "
    );
    let nothing = app_interface(&json!({"name": "orders"}), "").among([described(
        "a",
        "orders-readonly.rds",
        "1",
        None,
    )]);
    assert_eq!(
        failure(&nothing),
        "Missing dependencies: [source: database, details: DB secret matching app 'shop' not \
        found in namespace 'market']"
    );
    let both = app_interface(&json!({"name": "orders", "sharedDbAppName": "cart"}), "");
    assert_eq!(failure(&both), "Cannot set dbName & shared db app name: ");
}

#[test]
fn other_modes_and_other_apps_get_nothing() {
    for mode in ["none", ""] {
        let rendered = render(&case(
            json!({"db": {"mode": mode}}),
            json!({"database": {"name": "orders"}}),
        ));
        assert_eq!(
            (rendered.names(), rendered.config.get("database")),
            (Vec::new(), None)
        );
    }
    assert_eq!(
        render(&local(&json!({"version": 14}))).names(),
        Vec::<String>::new()
    );
    let unknown = case(json!({"db": {"mode": "cloud"}}), json!({}));
    assert_eq!(failure(&unknown), "No matching db mode for cloud: ");
    assert!(matches!(
        unknown.render_environment(&Database),
        Err(ProviderError::Setup(_))
    ));
}
