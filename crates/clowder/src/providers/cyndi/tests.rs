use serde_json::{Value, json};

use crate::providers::{
    app_config::DatabaseConfig,
    fixture::{Case, Rendered, case, other_app, secret},
    kafka::Kafka,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};

/// An app with a pipeline, in a cluster without users.
fn piped(database: &str, app: Value) -> Case {
    let kafka = json!({"mode": "operator", "enableLegacyStrimzi": true,
        "connect": {"name": "connect", "namespace": "connect-ns"}});
    let mut case = case(json!({"kafka": kafka, "db": {"mode": database}}), app);
    case.app["spec"]["cyndi"]["enabled"] = json!(true);
    let listeners = json!([{"name": "tcp", "addresses": [{"host": "h", "port": 9092}]}]);
    case.among([
        json!({"apiVersion": "kafka.strimzi.io/v1beta2", "kind": "Kafka",
            "metadata": {"namespace": "stage-env", "name": "stage"}, "status": {"listeners": listeners}}),
        other_app("market", "shop", json!({})),
        other_app("hosts", "host-inventory", json!({})),
        secret("hosts", "host-inventory-db", json!({"hostname": "inventory.svc", "port": "5432",
            "name": "inv", "username": "iu", "password": "ip"})),
    ])
}

/// With a database that the provider before has told of.
fn with_database(mut case: Case) -> Case {
    case.app["spec"]["database"] = json!({"name": "goods"});
    case.config.database = Some(DatabaseConfig {
        hostname: "shop-db.market.svc".to_owned(),
        port: 5432,
        name: "goods".to_owned(),
        ..DatabaseConfig::default()
    });
    case
}

fn values(rendered: &Rendered, name: &str) -> Vec<String> {
    let data = &rendered.object("Secret", name)["data"];
    let keys = ["db.host", "db.port", "db.name", "db.user", "db.password"];
    let decode = |key| STANDARD.decode(data[key].as_str().unwrap()).unwrap();
    keys.map(|key| String::from_utf8(decode(key)).unwrap())
        .into()
}

fn error(case: &Case) -> String {
    case.render(&[&Kafka]).unwrap_err().to_string()
}

#[test]
fn a_pipeline_connects_the_inventory_with_the_database_of_the_app() {
    let filters = json!([{"name": "f", "where": "x=1"}]);
    let cyndi = json!({"appName": "copy", "insightsOnly": true, "additionalFilters": filters});
    let case = with_database(piped("local", json!({"cyndi": cyndi})));
    let rendered = case.render(&[&Kafka]).unwrap();
    assert_eq!(
        rendered.names(),
        [
            "Secret connect-ns/stage-host-inventory-db-cyndi",
            "Secret connect-ns/stage-shop-db-cyndi",
            "CyndiPipeline connect-ns/copy",
        ]
    );
    let inventory = ["inventory.svc", "5432", "inv", "iu", "ip"];
    assert_eq!(
        values(&rendered, "stage-host-inventory-db-cyndi"),
        inventory
    );
    let own = ["shop-db.market.svc", "5432", "goods", "cyndi", "cyndi"];
    assert_eq!(values(&rendered, "stage-shop-db-cyndi"), own);
    let pipeline = rendered.object("CyndiPipeline", "copy");
    assert_eq!(pipeline["metadata"].get("labels"), None);
    assert_eq!(
        pipeline["spec"],
        json!({"appName": "copy", "insightsOnly": true, "additionalFilters": filters,
            "connectCluster": "connect", "dbSecret": "stage-shop-db-cyndi",
            "inventoryDbSecret": "stage-host-inventory-db-cyndi"})
    );
    let plain = with_database(piped("shared", json!({})))
        .render(&[&Kafka])
        .unwrap();
    let spec = &plain.object("CyndiPipeline", "shop")["spec"];
    assert_eq!(
        (&spec["insightsOnly"], spec.get("additionalFilters")),
        (&json!(false), None)
    );
}

#[test]
fn the_inventory_itself_may_have_a_pipeline() {
    let mut case = piped("none", json!({}));
    case.app["metadata"]["name"] = json!("host-inventory");
    let rendered = case.render(&[&Kafka]).unwrap();
    let inventory = ["inventory.svc", "5432", "inv", "iu", "ip"];
    assert_eq!(
        values(&rendered, "stage-host-inventory-db-cyndi"),
        inventory
    );
}

#[test]
fn where_databases_come_from_elsewhere_their_secrets_are_looked_at() {
    let none = piped("none", json!({})).render(&[&Kafka]).unwrap();
    assert_eq!(
        values(&none, "stage-shop-db-cyndi"),
        ["", "", "", "cyndi", "cyndi"]
    );
    let mut case = piped("app-interface", json!({"database": {"name": "goods"}}));
    let missing = "unable to get 'shop' db secret: could not get database config: Missing dependencies: [source: database, details: DB secret matching app 'shop' not found in namespace 'market']";
    assert_eq!(error(&case), missing);
    let mut described = secret(
        "market",
        "rds",
        json!({"db.host": "h", "db.port": "1", "db.user": "u", "db.password": "p", "db.name": "n",
            "hostname": "told", "name": "goods"}),
    );
    described["metadata"]["annotations"] = json!({"clowder/database": "shop"});
    case = case.among([described]);
    let rendered = case.render(&[&Kafka]).unwrap();
    let looked_at = ["told", "", "goods", "cyndi", "cyndi"];
    assert_eq!(values(&rendered, "stage-shop-db-cyndi"), looked_at);
    let unnamed = piped("app-interface", json!({})).render(&[&Kafka]).unwrap();
    assert_eq!(values(&unnamed, "stage-shop-db-cyndi")[0], "");
}

#[test]
fn what_is_missing_is_said_in_the_words_of_the_original() {
    let alone = || {
        let mut case = piped("local", json!({}));
        case.snapshot = crate::views::files([]);
        let status = json!({"listeners": [{"name": "tcp", "addresses": [{"host": "h"}]}]});
        case.among([
            json!({"apiVersion": "kafka.strimzi.io/v1beta2", "kind": "Kafka",
            "metadata": {"namespace": "stage-env", "name": "stage"}, "status": status}),
        ])
    };
    let no_inventory = "unable to get host-inventory db secret: unable to locate 'host-inventory' ClowdApp in environment: ";
    assert_eq!(error(&alone()), no_inventory);
    let case = alone().among([other_app("hosts", "host-inventory", json!({}))]);
    assert_eq!(
        error(&case),
        "unable to get host-inventory db secret: couldn't get 'host-inventory-db' secret: Secret \"host-inventory-db\" not found"
    );
    let case = case.among([other_app("more", "host-inventory", json!({}))]);
    let several = "unable to get host-inventory db secret: found more than one 'host-inventory' ClowdApp in environment: ";
    assert_eq!(error(&case), several);
    let case = piped("local", json!({}));
    let undeclared = "unable to get 'shop' db secret: couldn't get 'shop-db' secret: object cache not found, cannot get";
    assert_eq!(error(&case), undeclared);
    let case = piped("local", json!({"database": {"sharedDbAppName": "other"}}));
    let shared = "unable to get 'shop' db secret: Shared DB app cannot use Cyndi: ";
    assert_eq!(error(&case), shared);
    let twin = piped("local", json!({})).among([other_app("more", "shop", json!({}))]);
    let several =
        "unable to get 'shop' db secret: found more than one 'shop' ClowdApp in environment: ";
    assert_eq!(error(&twin), several);
}

#[test]
fn in_mode_app_interface_a_pipeline_has_to_be_there_and_to_have_brought_something() {
    let kafka = json!({"mode": "app-interface", "connect": {"namespace": "connect-ns"}});
    let case = case(json!({"kafka": kafka}), json!({"cyndi": {"enabled": true}}));
    assert_eq!(
        error(&case),
        "Missing dependencies: [source: cyndi, details: CyndiPipeline named 'shop' not found in namespace 'connect-ns']"
    );
    let pipeline = |status: Value| {
        json!({"apiVersion": "cyndi.cloud.redhat.com/v1alpha1", "kind": "CyndiPipeline",
            "metadata": {"namespace": "connect-ns", "name": "shop"}, "status": status})
    };
    let case = case.among([pipeline(json!({"activeTableName": ""}))]);
    assert_eq!(
        error(&case),
        "Missing dependencies: [source: cyndi, details: CyndiPipeline 'shop' in namespace 'connect-ns' has no 'active table' in status]"
    );
    let case = case.among([pipeline(json!({"activeTableName": "hosts_1"}))]);
    let rendered = case.render(&[&Kafka]).unwrap();
    assert!(rendered.names().is_empty());
    assert_eq!(rendered.config.get("kafka"), None);
}
