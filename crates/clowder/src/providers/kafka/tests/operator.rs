use serde_json::json;

use super::*;
use crate::providers::fixture::{other_app, secret};

fn operator(changes: &[(&str, Value)]) -> Case {
    let mut settings = json!({"mode": "operator"});
    for (field, value) in changes {
        settings[field] = value.clone();
    }
    kafka(
        settings,
        json!([{"topicName": "orders"}, {"topicName": "carts"}]),
    )
}

fn listeners() -> Value {
    json!({"listeners": [
        {"name": "tls", "addresses": [{"host": "bus.svc", "port": 9093}, {"host": "unused"}]},
        {"name": "ext", "addresses": [{"host": "localhost", "port": 9094}]},
    ]})
}

/// With a cluster that is there.
fn running(changes: &[(&str, Value)]) -> Case {
    operator(changes).among([
        reporting("Kafka", "stage-env", "stage", listeners()),
        secret(
            "stage-env",
            "stage-cluster-ca-cert",
            json!({"ca.crt": "PEM"}),
        ),
    ])
}

fn user(status: Value) -> Value {
    reporting("KafkaUser", "stage-env", "stage-shop", status)
}

#[test]
fn an_environment_asks_for_a_cluster_and_waits_for_its_addresses() {
    let case = operator(&[("cluster", json!({"replicas": 3}))]).among([
        other_app("market", "a", json!({})),
        other_app("far", "b", json!({})),
    ]);
    let failure = case.environment_failure(&[&Kafka]);
    assert_eq!(
        failure.source.to_string(),
        "runprov: kafka: unable to determine kafka broker addresses: kafka cluster 'stage' in ns 'stage-env' has no listener status"
    );
    let asked = [
        "NetworkPolicy stage-env/stage",
        "ConfigMap stage-env/stage-metrics",
        "Kafka stage-env/stage",
    ];
    assert_eq!(early(&failure), asked);
    let only_others = json!({"listeners": [{"name": "ext", "addresses": [{"host": "h"}]}]});
    let case = case.among([reporting("Kafka", "stage-env", "stage", only_others)]);
    let failure = case.environment_failure(&[&Kafka]);
    assert_eq!(
        failure.source.to_string(),
        "runprov: kafka: unable to determine kafka broker addresses: kafka cluster 'stage' in ns 'stage-env' has no listeners"
    );
}

#[test]
fn a_cluster_is_as_large_as_the_environment_says() {
    let rendered = running(&[]).render_environment(&Kafka).unwrap();
    let cluster = &rendered.object("Kafka", "stage")["spec"];
    let config = json!({"offsets.topic.replication.factor": 1, "default.replication.factor": 1});
    assert_eq!(cluster["kafka"]["config"], config);
    assert_eq!(cluster["kafka"]["version"], "3.8.0");
    assert_eq!(cluster["kafka"]["jvmOptions"], json!({}));
    assert_eq!(cluster["kafka"]["storage"], json!({"type": "ephemeral"}));
    assert_eq!(cluster["kafka"]["authorization"], json!({"type": "simple"}));
    assert_eq!(
        cluster["kafka"]["listeners"],
        json!([{"name": "tls", "port": 9093, "tls": true, "type": "internal", "authentication": {"type": "scram-sha-512"}}])
    );
    let variables = &cluster["entityOperator"]["template"]["topicOperatorContainer"]["env"];
    assert_eq!(
        *variables,
        json!([{"name": "STRIMZI_USE_FINALIZERS", "value": "true"}])
    );

    let large = json!({
        "replicas": 5, "version": "3.9.0", "storageSize": "60Gi", "deleteClaim": true,
        "config": {"auto.create.topics.enable": "false"}, "jvmOptions": {"-Xmx": "4G"},
        "resources": {"limits": {"memory": "8Gi"}},
    });
    let mut case = running(&[("cluster", large), ("pvc", json!(true))]);
    let features = &mut case.settings.config.features;
    features.enable_external_strimzi = true;
    features.disable_strimzi_finalizer = true;
    let rendered = case.render_environment(&Kafka).unwrap();
    let cluster = &rendered.object("Kafka", "stage")["spec"];
    let brokers = &cluster["kafka"];
    assert_eq!(
        brokers["config"],
        json!({"auto.create.topics.enable": "false"})
    );
    assert_eq!(brokers["jvmOptions"], json!({"-Xmx": "4G"}));
    assert_eq!(
        brokers["resources"],
        json!({"requests": {"cpu": "250m", "memory": "600Mi"}, "limits": {"memory": "8Gi"}})
    );
    let claim = |size: &str| json!({"type": "persistent-claim", "size": size, "deleteClaim": true});
    assert_eq!(brokers["storage"], claim("60Gi"));
    assert_eq!(cluster["zookeeper"]["storage"], claim("50Gi"));
    assert_eq!(cluster["zookeeper"]["replicas"], 5);
    assert_eq!(brokers["listeners"][1]["name"], "ext");
    assert_eq!(
        brokers["listeners"][1]["configuration"]["brokers"][0]["advertisedPort"],
        9094
    );
    let variables = &cluster["entityOperator"]["template"]["topicOperatorContainer"]["env"];
    assert_eq!(variables[0]["value"], "false");
}

#[test]
fn apps_are_let_in_by_their_namespaces_and_everybody_while_there_are_none() {
    let case = running(&[]);
    let rendered = case.render_environment(&Kafka).unwrap();
    let policy = &rendered.object("NetworkPolicy", "stage")["spec"];
    assert_eq!(policy["ingress"], json!([{}]));
    let apps = [("market", "b"), ("far", "a"), ("market", "c")];
    let case = case.among(apps.map(|(namespace, name)| other_app(namespace, name, json!({}))));
    let rendered = case.render_environment(&Kafka).unwrap();
    let policy = &rendered.object("NetworkPolicy", "stage")["spec"];
    let peer = |name: &str| json!({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}});
    assert_eq!(
        policy["ingress"],
        json!([{"from": [peer("far"), peer("market")]}])
    );
}

#[test]
fn connect_logs_in_as_its_own_user_and_trusts_the_cluster() {
    let rendered = running(&[]).render_environment(&Kafka).unwrap();
    let connect = rendered.object("KafkaConnect", "stage");
    assert_eq!(connect["metadata"]["labels"], json!({"env": "stage"}));
    let annotations = json!({"strimzi.io/use-connector-resources": "true"});
    assert_eq!(connect["metadata"]["annotations"], annotations);
    let spec = &connect["spec"];
    assert_eq!(spec["bootstrapServers"], "bus.svc:9093");
    assert_eq!(spec["config"]["config.providers"], "secrets");
    assert_eq!(spec["config"]["group.id"], "connect-cluster");
    assert_eq!(spec["template"], json!({"pod": {}}));
    assert_eq!(
        spec["authentication"],
        json!({"type": "scram-sha-512", "username": "stage-connect",
            "passwordSecret": {"secretName": "stage-connect", "password": "password"}})
    );
    let user = rendered.object("KafkaUser", "stage-connect");
    assert_eq!(
        user["metadata"]["labels"],
        json!({"app": "stage", "strimzi.io/cluster": "stage"})
    );
    let rule = |kind: &str| {
        json!({"host": "*", "operation": "All",
        "resource": {"type": kind, "name": "*", "patternType": "literal"}})
    };
    assert_eq!(
        user["spec"]["authorization"]["acls"],
        json!([rule("topic"), rule("group")])
    );
}

#[test]
fn old_fields_win_and_legacy_clusters_know_no_users() {
    let case = operator(&[
        ("enableLegacyStrimzi", json!(true)),
        ("clusterName", json!("old-bus")),
        ("namespace", json!("old-ns")),
        ("connectClusterName", json!("old-connect")),
        ("connectNamespace", json!("old-connect-ns")),
        ("cluster", json!({"name": "bus", "namespace": "ns"})),
        (
            "connect",
            json!({"name": "connect", "namespace": "connect-ns"}),
        ),
    ]);
    let plain = json!({"listeners": [{"name": "tcp", "addresses": [{"host": "h", "port": 9092}]}]});
    let case = case.among([reporting("Kafka", "old-ns", "old-bus", plain)]);
    let rendered = case.render_environment(&Kafka).unwrap();
    assert_eq!(
        rendered.names(),
        [
            "NetworkPolicy old-ns/old-bus",
            "ConfigMap old-ns/old-bus-metrics",
            "Kafka old-ns/old-bus",
            "KafkaUser old-connect-ns/stage-connect",
            "KafkaConnect old-connect-ns/old-connect",
        ]
    );
    let cluster = &rendered.object("Kafka", "old-bus")["spec"]["kafka"];
    assert_eq!(cluster.get("authorization"), None);
    assert_eq!(
        cluster["listeners"],
        json!([{"name": "tcp", "port": 9092, "tls": false, "type": "internal"}])
    );
    assert_eq!(
        rendered.object("KafkaUser", "stage-connect")["spec"],
        json!({})
    );
    let connect = &rendered.object("KafkaConnect", "old-connect")["spec"];
    assert_eq!(
        (connect.get("tls"), connect.get("authentication")),
        (None, None)
    );
    let app = case.render(&[&Kafka]).unwrap();
    assert_eq!(
        app.names(),
        ["KafkaTopic old-ns/orders", "KafkaTopic old-ns/carts"]
    );
    assert_eq!(
        app.config["kafka"]["brokers"],
        json!([{"hostname": "h", "port": 9092}])
    );
}

#[test]
fn clusters_of_another_environment_are_left_alone() {
    let mut foreign = reporting("Kafka", "stage-env", "stage", listeners());
    foreign["metadata"]["labels"] = json!({"env": "other"});
    let failure = operator(&[])
        .among([foreign])
        .environment_failure(&[&Kafka]);
    assert_eq!(
        failure.source.to_string(),
        "runprov: kafka: failed to provision kafka cluster: kafka cluster named 'stage' found in ns 'stage-env' but tied to env 'other'"
    );
    let mut foreign = reporting("KafkaConnect", "stage-env", "stage", json!({}));
    foreign["metadata"]["labels"] = json!({"env": "other"});
    let failure = running(&[]).among([foreign]).environment_failure(&[&Kafka]);
    assert_eq!(
        failure.source.to_string(),
        "runprov: kafka: failed to provision kafka connect cluster: kafka connect cluster named 'stage' found in ns 'stage-env' but tied to env 'other'"
    );
}

#[test]
fn pods_are_pulled_with_copies_of_the_pull_secrets() {
    let mut case = running(&[("connect", json!({"namespace": "connect-ns"}))]);
    case.environment["spec"]["providers"]["pullSecrets"] =
        json!([{"name": "quay", "namespace": "vault"}]);
    let failure = case.environment_failure(&[&Kafka]);
    assert_eq!(
        failure.source.to_string(),
        "runprov: kafka: failed to provision kafka cluster: Secret \"quay\" not found"
    );
    let case = case.among([secret("vault", "quay", json!({"token": "t"}))]);
    let rendered = case.render_environment(&Kafka).unwrap();
    let names = rendered.names();
    for namespace in ["stage-env", "connect-ns"] {
        let copy = format!("Secret {namespace}/stage-quay-clowder-copy");
        assert!(names.contains(&copy), "{names:?}");
    }
    let pulled = json!([{"name": "stage-quay-clowder-copy"}]);
    let cluster = &rendered.object("Kafka", "stage")["spec"];
    for part in ["kafka", "zookeeper", "entityOperator"] {
        assert_eq!(cluster[part]["template"]["pod"]["imagePullSecrets"], pulled);
    }
    let connect = &rendered.object("KafkaConnect", "stage")["spec"];
    assert_eq!(connect["template"]["pod"]["imagePullSecrets"], pulled);
}

#[test]
fn an_app_waits_for_its_user_and_then_logs_in() {
    let case = running(&[]);
    let says = |case: &Case| case.app_failure(&[&Kafka]).source.to_string();
    let failure = case.app_failure(&[&Kafka]);
    let asked = [
        "KafkaTopic stage-env/orders",
        "KafkaTopic stage-env/carts",
        "KafkaUser stage-env/stage-shop",
    ];
    assert_eq!(early(&failure), asked);
    assert_eq!(
        says(&case),
        "runapp: kafka: no username in kafkauser status: "
    );
    let case = case.among([user(json!({"username": "stage-shop"}))]);
    assert_eq!(
        says(&case),
        "runapp: kafka: no secret in kafkauser status: "
    );
    let case = case.among([user(json!({"username": "stage-shop", "secret": "hidden"}))]);
    assert_eq!(says(&case), "runapp: kafka: Secret \"hidden\" not found");
    let case = case.among([secret("stage-env", "hidden", json!({"other": "x"}))]);
    assert_eq!(
        says(&case),
        "runapp: kafka: no password in kafkauser secret: "
    );
    let case = case.among([secret("stage-env", "hidden", json!({"password": "p"}))]);
    let rendered = case.render(&[&Kafka]).unwrap();
    assert_eq!(
        rendered.config["kafka"]["brokers"],
        json!([{
            "authtype": "sasl", "cacert": "PEM", "hostname": "bus.svc", "port": 9093,
            "sasl": {"password": "p", "saslMechanism": "SCRAM-SHA-512", "securityProtocol": "SASL_SSL", "username": "stage-shop"},
        }])
    );
    let user = rendered.object("KafkaUser", "stage-shop");
    let rules = user["spec"]["authorization"]["acls"].as_array().unwrap();
    let names: Vec<&Value> = rules.iter().map(|rule| &rule["resource"]["name"]).collect();
    assert_eq!(names, ["orders", "carts", "*"]);
}

#[test]
fn an_app_without_topics_is_told_the_brokers_and_gets_no_user() {
    let mut case = running(&[]);
    case.app["spec"]["kafkaTopics"] = json!([]);
    let rendered = case.render(&[&Kafka]).unwrap();
    assert!(rendered.names().is_empty());
    assert_eq!(
        rendered.config["kafka"],
        json!({"brokers": [{"authtype": "sasl", "cacert": "PEM", "hostname": "bus.svc", "port": 9093, "sasl": {}}], "topics": []})
    );
}

#[test]
fn an_app_says_what_it_lacks_of_the_cluster() {
    let says = |case: &Case| case.render(&[&Kafka]).unwrap_err().to_string();
    assert_eq!(
        says(&operator(&[])),
        "Kafka.kafka.strimzi.io \"stage\" not found"
    );
    let silent = operator(&[]).among([reporting("Kafka", "stage-env", "stage", json!({}))]);
    assert_eq!(
        says(&silent),
        "unable to determine kafka broker addresses: kafka cluster 'stage' in ns 'stage-env' has no listener status"
    );
    let only_others = json!({"listeners": [{"name": "ext", "addresses": [{"host": "h"}]}]});
    let mut case = operator(&[]).among([reporting("Kafka", "stage-env", "stage", only_others)]);
    case.app["spec"]["kafkaTopics"] = json!([]);
    let rendered = case.render(&[&Kafka]).unwrap();
    assert_eq!(rendered.config["kafka"]["brokers"], json!([]));
}
