//! Kafka: clusters, topics and users that Strimzi answers for, and clusters of others.

use mainstay_testkit::{
    namespace::object_when,
    plane::{OwnPlane, install_definition},
};
use serde_json::{Value, json};

use super::{
    answers::{Answer, CYNDI_PIPELINE, KAFKA, KAFKA_CONNECT, KAFKA_TOPIC, KAFKA_USER, UNANSWERED},
    stage::{
        CONFIG_MAP, DEPLOYMENT, RunningOperator, SECRET, SERVICE, Stage, condition, create,
        failure, is_done, web_app,
    },
};

/// An app that uses topics.
fn app(topics: Value) -> Value {
    let mut app = web_app();
    app["kafkaTopics"] = topics;
    app
}

fn operator_mode() -> Value {
    json!({"providers": {"kafka": {"mode": "operator", "cluster": {"replicas": 3}}}})
}

impl Stage {
    /// Waits until the environment says that it failed with exactly this.
    async fn environment_fails(&self, text: &str) {
        self.environment_when(&format!("fails with {text:?}"), |environment| {
            failure(environment).is_some_and(|said| said == text)
        })
        .await;
    }

    /// Waits until the environment is done, and not ready because of this.
    async fn environment_waits_for(&self, broken: &str) {
        let expected = format!("Deployments are not yet ready: dependency failure: [{broken}]");
        self.environment_when(&format!("waits for {broken}"), |environment| {
            let conditions = environment["status"]["conditions"].as_array();
            let said = conditions.is_some_and(|all| all[0]["message"] == expected.as_str());
            said && is_done(environment) && environment["status"].get("ready").is_none()
        })
        .await;
    }

    async fn topic_when(&self, name: &str, what: &str, spec: Value) {
        object_when(&self.api(KAFKA_TOPIC), name, what, |topic| {
            topic["spec"] == spec
        })
        .await;
    }
}

#[tokio::test]
async fn an_environment_and_its_apps_go_on_as_strimzi_answers() {
    let stage = Stage::shared(UNANSWERED).await;
    let name = stage.environment.as_str();
    stage.create_environment(operator_mode()).await;
    let here = &stage.namespace.name;
    stage
        .environment_fails(&format!(
            "runprov: kafka: unable to determine kafka broker addresses: kafka cluster '{name}' in ns '{here}' has no listener status"
        ))
        .await;
    stage.get(CONFIG_MAP, &format!("{name}-metrics")).await;
    assert!(stage.names(KAFKA_CONNECT).await.is_empty());
    let host = format!("{name}-kafka-bootstrap.{here}.svc");
    stage.answer(KAFKA, name, Answer::Listeners).await;
    stage
        .environment_waits_for(&format!(
            "broken kafkas: [{name}/{here}],broken connects: [{name}/{here}]"
        ))
        .await;
    let connect = stage.answer(KAFKA_CONNECT, name, Answer::Ready).await;
    let servers = &connect["spec"]["bootstrapServers"];
    assert_eq!(*servers, format!("{host}:9093"));
    stage
        .environment_waits_for(&format!("broken kafkas: [{name}/{here}]"))
        .await;
    stage.answer(KAFKA, name, Answer::Ready).await;
    stage.environment_ready().await;

    stage
        .create_app("shop", app(json!([{"topicName": "orders"}])))
        .await;
    stage
        .environment_waits_for(&format!("broken topics: [orders/{here}]"))
        .await;
    stage.answer(KAFKA_TOPIC, "orders", Answer::Ready).await;
    stage.environment_ready().await;
    let text = "runapp: kafka: no username in kafkauser status: ";
    assert_eq!(stage.app_failed("shop", "kafka").await, text);
    assert!(stage.names(DEPLOYMENT).await.is_empty(), "the rest waits");
    let user = format!("{name}-shop");
    stage.answer(KAFKA_USER, &user, Answer::Ready).await;
    stage.app_done("shop").await;
    let environment = stage.environment_ready().await;
    assert_eq!(
        environment["status"]["deployments"],
        json!({"managedDeployments": 2, "readyDeployments": 2, "managedTopics": 1, "readyTopics": 1})
    );
    let config = stage.config("shop").await;
    let authority = stage.secret(&format!("{name}-cluster-ca-cert")).await;
    let login = stage.secret(&user).await;
    assert_eq!(
        config["kafka"],
        json!({
            "brokers": [{
                "authtype": "sasl", "cacert": authority["ca.crt"], "hostname": host, "port": 9093,
                "sasl": {"password": login["password"], "saslMechanism": "SCRAM-SHA-512",
                    "securityProtocol": "SASL_SSL", "username": user},
            }],
            "topics": [{"name": "orders", "requestedName": "orders"}],
        })
    );
}

#[tokio::test]
async fn a_topic_follows_the_wishes_of_all_its_users() {
    let stage = Stage::shared("wishes").await;
    stage.ready_environment(operator_mode()).await;
    let wish = |partitions: i32, retention: &str| json!([{"topicName": "orders", "partitions": partitions, "config": {"retention.ms": retention}}]);
    let spec = |partitions: i32, retention: &str| json!({"partitions": partitions, "replicas": 3, "config": {"retention.ms": retention}});
    stage.create_app("shop", app(wish(2, "5000"))).await;
    stage.app_done("shop").await;
    stage.create_app("billing", app(wish(7, "100"))).await;
    stage.app_done("billing").await;
    stage
        .topic_when("orders", "is what both want", spec(7, "5000"))
        .await;

    // A setting that nobody can merge fails both, and its end helps both.
    let unknown = json!([{"topicName": "orders", "config": {"segment.ms": "5"}}]);
    stage
        .patch_app("billing", json!({"spec": {"kafkaTopics": unknown}}))
        .await;
    let text = "runapp: kafka: no conversion type for segment.ms: ";
    for name in ["billing", "shop"] {
        assert_eq!(stage.app_failed(name, "segment.ms").await, text);
    }
    stage
        .patch_app("billing", json!({"spec": {"kafkaTopics": wish(3, "9000")}}))
        .await;
    for name in ["billing", "shop"] {
        stage.app_done(name).await;
    }
    stage.topic_when("orders", "follows", spec(3, "9000")).await;

    // Who is gone wants nothing any more; who is the last leaves the topic behind, with the data in it.
    stage.delete_app("billing").await;
    stage
        .topic_when("orders", "is what is left", spec(2, "5000"))
        .await;
    stage.delete_app("shop").await;
    mainstay_testkit::namespace::object_gone(&stage.apps(), "shop").await;
    stage
        .environment_when("has no apps and one topic", |environment| {
            let status = &environment["status"];
            status.get("apps").is_none() && status["deployments"]["managedTopics"] == 1
        })
        .await;
    assert_eq!(stage.names(KAFKA_TOPIC).await, ["orders"]);
}

#[tokio::test]
async fn topics_are_written_when_they_change_and_never_else() {
    let stage = Stage::alone("thrift").await;
    let mut operator = stage.operator(&[]).await;
    stage.ready_environment(operator_mode()).await;
    let topics = |partitions: i32| json!([{"topicName": "orders", "partitions": partitions}, {"topicName": "carts"}]);
    let apps = ["shop", "stock", "billing"];
    for name in apps {
        stage.create_app(name, app(topics(2))).await;
    }
    for name in apps {
        stage.app_ready(name).await;
    }
    stage
        .environment_when("counts its topics", |environment| {
            environment["status"]["ready"] == true
                && environment["status"]["deployments"]["readyTopics"] == 2
        })
        .await;
    let about = stage.environment.as_str();

    // From now on Strimzi keeps silent about the topic, until it is told otherwise.
    stage.answer(KAFKA_TOPIC, "orders", Answer::Failure).await;
    let mark = stage.at_rest().await;
    stage
        .patch_app("stock", json!({"spec": {"kafkaTopics": topics(5)}}))
        .await;
    let wanted = json!({"partitions": 5, "replicas": 3, "config": {}});
    stage
        .topic_when("orders", "is what one wants more", wanted)
        .await;
    let here = &stage.namespace.name;
    stage
        .environment_waits_for(&format!("broken topics: [orders/{here}]"))
        .await;
    for name in apps {
        stage.app_failed(name, "clowd env not ready").await;
    }
    mark.settled_about(about).await;
    // Three apps want the same: the first writes it, the others see that it is done, and none asks.
    let sent = mark.since("mainstay", &stage.namespace.name).into_iter();
    let sent = sent.filter(|entry| entry.resource == "kafkatopics");
    let sent: Vec<(String, i64)> = sent.map(|entry| (entry.verb, entry.code)).collect();
    assert_eq!(sent, [("patch".to_owned(), 200)]);
    let written = mark.carried_out(&stage.namespace.name);
    let topics: Vec<&String> = written
        .iter()
        .filter(|word| word.contains("kafka"))
        .collect();
    assert_eq!(topics, ["patch kafkatopics orders"], "of {written:?}");

    stage.answer(KAFKA_TOPIC, "orders", Answer::Ready).await;
    let mark = stage.at_rest().await;
    operator.process.terminate().await;
    drop(operator);
    let _operator = stage.operator(&[]).await;
    let sent = mark.settled_about(about).await;
    let writes: Vec<_> = sent.iter().filter(|entry| entry.is_write()).collect();
    assert!(writes.is_empty(), "a restart: {writes:?}");
}

#[tokio::test]
async fn a_secret_that_describes_a_cluster_may_be_mended() {
    let stage = Stage::shared("managed").await;
    let reference = json!({"name": "bus", "namespace": stage.namespace.name});
    let kafka = json!({"mode": "managed", "managedSecretRef": reference, "managedPrefix": "mine."});
    stage
        .ready_environment(json!({"providers": {"kafka": kafka}}))
        .await;
    stage
        .create_app("shop", app(json!([{"topicName": "orders"}])))
        .await;
    let text = stage.app_failed("shop", "kafka").await;
    assert_eq!(text, "runapp: kafka: Secret \"bus\" not found");
    stage
        .put_secret("bus", json!({}), json!({"port": "ninety"}))
        .await;
    let text = stage.app_failed("shop", "parsing a value").await;
    assert_eq!(
        text,
        "runapp: kafka: strconv.Atoi: parsing a value: invalid syntax"
    );
    let described =
        json!({"hostnames": "a.test,b.test", "port": "9096", "username": "u", "password": "p"});
    stage.put_secret("bus", json!({}), described).await;
    stage.app_done("shop").await;
    let kafka = &stage.config("shop").await["kafka"];
    assert_eq!(kafka["brokers"][1]["hostname"], "b.test");
    assert_eq!(kafka["topics"][0]["name"], "mine.orders");
    let before = stage.get(DEPLOYMENT, "shop-web").await;
    let moved = json!({"hostnames": "c.test", "port": "9096", "username": "u", "password": "new"});
    stage.put_secret("bus", json!({}), moved).await;
    stage
        .config_when("shop", "follows", |config| {
            config["kafka"]["brokers"][0]["sasl"]["password"] == "new"
        })
        .await;
    object_when(
        &stage.api(DEPLOYMENT),
        "shop-web",
        "restarts",
        |deployment| {
            let hash = "/spec/template/metadata/annotations/configHash";
            deployment.pointer(hash) != before.pointer(hash)
        },
    )
    .await;
}

#[tokio::test]
async fn a_cluster_of_others_is_looked_for_until_it_is_there() {
    let stage = Stage::shared(UNANSWERED).await;
    let here = stage.namespace.name.as_str();
    let kafka = json!({"mode": "app-interface", "cluster": {"name": "bus"}});
    stage
        .create_environment(json!({"providers": {"kafka": kafka}}))
        .await;
    stage
        .environment_fails(&format!(
            "runprov: kafka: Cannot find kafka bootstrap service {here}:bus-kafka-bootstrap: "
        ))
        .await;
    let service = json!({"apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "bus-kafka-bootstrap"}, "spec": {"ports": [{"port": 9092}]}});
    create(&stage.api(SERVICE), service).await;
    stage.environment_ready().await;

    let mut shop = app(json!([{"topicName": "orders"}]));
    shop["cyndi"] = json!({"enabled": true, "appName": "copy"});
    stage.create_app("shop", shop).await;
    let text = stage.app_failed("shop", "cyndi").await;
    assert_eq!(
        text,
        format!(
            "runapp: kafka: Missing dependencies: [source: cyndi, details: CyndiPipeline named 'copy' not found in namespace '{here}']"
        )
    );
    let pipeline = json!({"appName": "shop"});
    stage.create_foreign(CYNDI_PIPELINE, "copy", pipeline).await;
    let text = stage.app_failed("shop", "active table").await;
    assert!(text.contains("CyndiPipeline 'copy' in namespace"), "{text}");
    stage.answer(CYNDI_PIPELINE, "copy", Answer::Ready).await;
    let text = stage.app_failed("shop", "KafkaTopic").await;
    assert_eq!(
        text,
        format!(
            "runapp: kafka: Missing dependencies: [source: kafka, details: No KafkaTopic named 'orders' found in namespace '{here}']"
        )
    );
    stage.create_foreign(KAFKA_TOPIC, "orders", json!({})).await;
    stage.app_done("shop").await;
    let topic = stage.get(KAFKA_TOPIC, "orders").await;
    assert_eq!(topic["metadata"].get("ownerReferences"), None, "untouched");
}

#[tokio::test]
async fn kafka_connect_of_nobody_is_taken_over() {
    let stage = Stage::shared("connected").await;
    let name = stage.environment.clone();
    let spec = json!({"bootstrapServers": "another:9092", "replicas": 3});
    stage.create_foreign(KAFKA_CONNECT, &name, spec).await;
    let before = stage.get(KAFKA_CONNECT, &name).await;
    stage.ready_environment(operator_mode()).await;
    let after = stage.get(KAFKA_CONNECT, &name).await;
    assert_eq!(after["metadata"]["uid"], before["metadata"]["uid"]);
    assert_eq!(after["metadata"]["labels"]["env"], json!(name));
    assert_eq!(after["metadata"]["ownerReferences"][0]["name"], json!(name));
    assert_eq!(after["spec"]["replicas"], 1);
}

#[tokio::test]
async fn a_name_that_the_cluster_refuses_stops_the_app_before_its_user() {
    let stage = Stage::shared("refused").await;
    stage.ready_environment(operator_mode()).await;
    stage
        .create_app("shop", app(json!([{"topicName": "Orders_Upper"}])))
        .await;
    let text = stage.app_failed("shop", "Orders_Upper").await;
    let beginning = "runapp: kafka: error creating resource *v1beta2.KafkaTopic Orders_Upper: KafkaTopic.kafka.strimzi.io \"Orders_Upper\" is invalid";
    assert!(text.starts_with(beginning), "{text}");
    let users = stage.names(KAFKA_USER).await;
    assert_eq!(users, [format!("{}-connect", stage.environment)]);
}

#[tokio::test]
async fn a_pipeline_is_made_of_two_databases() {
    let stage = Stage::shared("cyndi").await;
    stage
        .ready_environment(
            json!({"providers": {"kafka": {"mode": "operator"}, "db": {"mode": "local"}}}),
        )
        .await;
    let mut shop = web_app();
    shop["database"] = json!({"name": "goods"});
    shop["cyndi"] = json!({"enabled": true});
    stage.create_app("shop", shop).await;
    let text = stage.app_failed("shop", "host-inventory").await;
    assert_eq!(
        text,
        "runapp: kafka: unable to get host-inventory db secret: unable to locate 'host-inventory' ClowdApp in environment: "
    );
    let mut inventory = web_app();
    inventory["database"] = json!({"name": "inventory"});
    stage.create_app("host-inventory", inventory).await;
    stage.app_done("host-inventory").await;
    stage.app_done("shop").await;
    let name = &stage.environment;
    let copied = stage
        .secret(&format!("{name}-host-inventory-db-cyndi"))
        .await;
    let source = stage.secret("host-inventory-db").await;
    assert_eq!(copied["db.password"], source["password"]);
    let own = stage.secret(&format!("{name}-shop-db-cyndi")).await;
    assert_eq!(
        (own["db.name"].as_str(), own["db.user"].as_str()),
        ("goods", "cyndi")
    );
    let pipeline = stage.get(CYNDI_PIPELINE, "shop").await;
    assert_eq!(pipeline["spec"]["connectCluster"], name.as_str());
    let labels = stage.get(SECRET, &format!("{name}-shop-db-cyndi")).await;
    assert_eq!(labels["metadata"].get("labels"), None);
}

#[tokio::test]
async fn two_environments_do_not_share_a_cluster() {
    let stage = Stage::shared("first").await;
    let other = stage.beside("second").await;
    let kafka =
        json!({"mode": "operator", "cluster": {"name": "bus", "namespace": stage.namespace.name}});
    stage
        .ready_environment(json!({"providers": {"kafka": kafka}}))
        .await;
    let before = stage.get(KAFKA, "bus").await;
    other
        .create_environment(json!({"providers": {"kafka": kafka}}))
        .await;
    other
        .environment_fails(&format!(
            "runprov: kafka: failed to provision kafka cluster: kafka cluster named 'bus' found in ns '{}' but tied to env '{}'",
            stage.namespace.name, stage.environment
        ))
        .await;
    assert_eq!(stage.get(KAFKA, "bus").await["spec"], before["spec"]);
    let environment = stage.environment_ready().await;
    // The namespace is named for Kafka too, and counts twice.
    let counts = json!({"managedDeployments": 4, "readyDeployments": 4, "managedTopics": 0, "readyTopics": 0});
    assert_eq!(environment["status"]["deployments"], counts);
}

#[tokio::test]
async fn a_cluster_that_is_renamed_leaves_nothing_and_a_mode_that_is_left_leaves_everything_but_the_rules()
 {
    let stage = Stage::shared("renamed").await;
    let named = |name: &str| json!({"mode": "operator", "cluster": {"name": name}});
    stage
        .ready_environment(json!({"providers": {"kafka": named("old")}}))
        .await;
    stage
        .patch_environment(json!({"spec": {"providers": {"kafka": named("new")}}}))
        .await;
    for (kind, name) in [
        (KAFKA, "old"),
        (KAFKA_CONNECT, "old"),
        (CONFIG_MAP, "old-metrics"),
    ] {
        stage.gone(kind, name).await;
    }
    stage.environment_ready().await;
    stage
        .patch_environment(json!({"spec": {"providers": {"kafka": {"mode": "none"}}}}))
        .await;
    stage.gone(CONFIG_MAP, "new-metrics").await;
    let environment = stage.environment_ready().await;
    assert_eq!(stage.names(KAFKA).await, ["new"]);
    assert_eq!(
        environment["status"]["deployments"]["managedDeployments"],
        2
    );
}

#[tokio::test]
async fn a_cluster_without_strimzi_says_so_and_other_environments_work() {
    let plane = OwnPlane::start("tests-clowder-strimzi");
    let client = plane.client().await;
    for (name, definition) in mainstay_api::crds() {
        if name.contains("cloud.redhat.com") {
            install_definition(&client, &definition).await;
        }
    }
    let stage = Stage::own(&plane, "without").await;
    let other = stage.beside("plain").await;
    let _operator = RunningOperator::start(&plane.kubeconfig(), &[]).await;
    stage.create_environment(operator_mode()).await;
    other.ready_environment(json!({})).await;
    other.create_app("stock", web_app()).await;
    other.app_done("stock").await;
    let name = stage.environment.as_str();
    stage
        .environment_fails(&format!(
            "runprov: kafka: failed to provision kafka cluster: error creating resource Kafka {name}: the cluster does not serve Kafka of kafka.strimzi.io/v1beta2; install its definition"
        ))
        .await;
    let environment = stage.environment_when("is there", |_| true).await;
    assert_eq!(
        condition(&environment, "ReconciliationSuccessful").as_deref(),
        Some("False")
    );
}
