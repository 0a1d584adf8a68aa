//! Habits of the original that users rely on, and some that they are better off without.

use mainstay_testkit::{Namespace, namespace::object_when, wait::eventually};
use serde_json::{Value, json};

use super::stage::{CRON_JOB, DEPLOYMENT, SECRET, SERVICE, Stage, create, failure, merge, web_app};

#[tokio::test]
async fn an_app_without_deployments_is_ready() {
    let stage = Stage::shared("empty").await;
    stage.ready_environment(json!({})).await;
    stage.create_app("idle", json!({"deployments": []})).await;
    let app = stage.app_ready("idle").await;
    assert_eq!(
        app["status"]["deployments"],
        json!({"managedDeployments": 0, "readyDeployments": 0})
    );
}

#[tokio::test]
async fn of_an_environment_only_what_carries_its_label_is_cleaned_up() {
    let stage = Stage::shared("cleaning").await;
    let providers = |flags: &str, gateway: bool| {
        json!({"providers": {
            "featureFlags": {"mode": flags},
            "metrics": {
                "mode": "operator", "prometheus": {"deploy": true},
                "prometheusGateway": {"deploy": gateway},
            },
        }})
    };
    stage.ready_environment(providers("local", true)).await;
    let [flags, gateway] = ["featureflags", "prometheus-gateway"]
        .map(|component| format!("{}-{component}", stage.environment));
    stage.get(DEPLOYMENT, &gateway).await;
    stage
        .patch_environment(json!({"spec": providers("none", false)}))
        .await;
    stage.gone(DEPLOYMENT, &gateway).await;
    stage.gone(SERVICE, &gateway).await;
    stage.environment_ready().await;
    stage.get(DEPLOYMENT, &flags).await;
    stage.get(SECRET, &flags).await;
}

#[tokio::test]
async fn a_target_namespace_stays_whatever_the_spec_says_later() {
    let stage = Stage::shared("settled").await;
    let redis = json!({"providers": {"inMemoryDb": {"mode": "none"}}});
    stage.ready_environment(redis).await;
    let other = Namespace::create(&stage.namespace.client, "elsewhere").await;
    stage
        .patch_environment(json!({"spec": {"targetNamespace": other.name}}))
        .await;
    let environment = stage.environment_ready().await;
    assert_eq!(
        environment["status"]["targetNamespace"],
        json!(stage.namespace.name)
    );
    stage.create_app("shop", web_app()).await;
    stage.app_done("shop").await;
}

#[tokio::test]
async fn an_object_of_somebody_else_in_the_place_of_ours_is_left_alone() {
    let stage = Stage::shared("occupied").await;
    stage.ready_environment(json!({})).await;
    let foreign = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "shop-web"},
        "spec": {"ports": [{"port": 1234}], "selector": {"app": "another"}},
    });
    create(&stage.api(SERVICE), foreign).await;
    let before = stage.get(SERVICE, "shop-web").await;
    stage.create_app("shop", web_app()).await;
    let text = stage.app_failed("shop", "shop-web").await;
    assert!(text.contains("was not created by this operator"), "{text}");
    let after = stage.get(SERVICE, "shop-web").await;
    assert_eq!(
        after["metadata"]["resourceVersion"],
        before["metadata"]["resourceVersion"]
    );
    // What does not refer to it is there.
    stage.get(DEPLOYMENT, "shop-web").await;
    // It heals when the place is free.
    let params = kube::api::DeleteParams::default();
    stage
        .api(SERVICE)
        .delete("shop-web", &params)
        .await
        .unwrap();
    stage.app_done("shop").await;
}

#[tokio::test]
async fn kinds_that_the_original_did_not_follow_are_repaired_too() {
    let stage = Stage::shared("followed").await;
    stage.ready_environment(json!({})).await;
    let mut app = web_app();
    let job = json!({"jobs": [{"name": "tidy", "schedule": "0 0 * * *",
        "podSpec": {"image": "registry.test/shop:1"}}]});
    merge(&mut app, &job);
    stage.create_app("shop", app).await;
    stage.app_done("shop").await;
    let uid = stage.get(CRON_JOB, "shop-tidy").await["metadata"]["uid"].clone();
    let params = kube::api::DeleteParams::default();
    stage
        .api(CRON_JOB)
        .delete("shop-tidy", &params)
        .await
        .unwrap();
    object_when(&stage.api(CRON_JOB), "shop-tidy", "is back", |job| {
        job["metadata"]["uid"] != uid
    })
    .await;
}

#[tokio::test]
async fn the_way_to_success_is_told_without_a_failure() {
    let stage = Stage::shared("smooth").await;
    let local = json!({"providers": {"db": {"mode": "local"}, "inMemoryDb": {"mode": "redis"}}});
    stage.ready_environment(local).await;
    let mut app = web_app();
    merge(
        &mut app,
        &json!({"database": {"name": "goods"}, "inMemoryDb": true}),
    );
    stage.create_app("shop", app).await;
    let app = stage.app_ready("shop").await;
    assert_eq!(failure(&app), None);
    let events = stage.events(&stage.namespace.name, "shop").await;
    let told: Vec<&String> = events
        .iter()
        .filter(|event| event.starts_with("Warning"))
        .collect();
    assert_eq!(told, Vec::<&String>::new());
    assert_ne!(stage.find(SECRET, "shop-db").await, None::<Value>);
}

#[tokio::test]
async fn ports_with_one_number_are_written_once_told_and_reached() {
    let stage = Stage::shared("twice").await;
    let web = json!({"providers": {"web": {"h2cPort": 8800}}});
    stage.ready_environment(web).await;
    let mut app = web_app();
    let deployment = json!({
        "webServices": {"public": {"enabled": true, "h2cEnabled": true, "h2cTargetPort": 9000}},
    });
    merge(&mut app["deployments"][0], &deployment);
    stage.create_app("shop", app).await;
    stage.app_done("shop").await;
    let container =
        &stage.get(DEPLOYMENT, "shop-web").await["spec"]["template"]["spec"]["containers"][0];
    let ports: Vec<(&str, i64)> = container["ports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|port| {
            let number = port["containerPort"].as_i64().unwrap();
            (port["name"].as_str().unwrap(), number)
        })
        .collect();
    assert_eq!(ports, [("web", 8000), ("h2c", 9000)]);
    let service = stage.get(SERVICE, "shop-web").await;
    let ports = service["spec"]["ports"].as_array().unwrap();
    let metrics = ports.iter().find(|port| port["name"] == "metrics").unwrap();
    assert_eq!(metrics["targetPort"], 9000, "by number, so it is reached");
    let object = format!("Deployment {}/shop-web", stage.namespace.name);
    let item = "spec.template.spec.containers.ports[containerPort=9000,protocol=TCP]";
    let text = format!(
        "Warning RepeatedItem: {object}: {item} stands there twice, and only one of them is written"
    );
    stage.event(&stage.namespace.name, "shop", &text).await;
}

#[tokio::test]
async fn who_changes_an_object_back_each_time_is_named_and_not_fought_without_end() {
    let stage = Stage::shared("contested").await;
    stage.ready_environment(json!({})).await;
    stage.create_app("shop", web_app()).await;
    stage.app_done("shop").await;
    let services = stage.api(SERVICE);
    let wanted = stage.get(SERVICE, "shop-web").await["spec"]["selector"].clone();
    let params = kube::api::PatchParams::apply("meddler");
    let rival = kube::api::Patch::Merge(json!({"spec": {"selector": {"pod": "another"}}}));
    // Each time a repair is awaited before the next change, so that they are told apart.
    let about = stage.namespace.name.clone();
    let told = async || {
        let events = stage.events(&about, "shop").await;
        let told = |event: &String| event.starts_with("Warning Contested: ");
        events.into_iter().find(told)
    };
    let event = loop {
        services.patch("shop-web", &params, &rival).await.unwrap();
        let ended = eventually("it is put right, or the other one is named", || async {
            let selector = stage.get(SERVICE, "shop-web").await["spec"]["selector"].clone();
            let event = told().await;
            (event.is_some() || selector == wanted).then_some(event)
        });
        if let Some(event) = ended.await {
            break event;
        }
    };
    assert_eq!(
        event,
        format!(
            "Warning Contested: Service {about}/shop-web is changed back again and again, last by the field manager \
             `meddler`; from now on it is put right once a minute"
        )
    );
    let left = stage.get(SERVICE, "shop-web").await;
    assert_eq!(left["spec"]["selector"]["pod"], "another");
    let told = "error updating resource Service shop-web: it is changed back again and again, last by the field manager \
                `meddler`";
    stage
        .app_when("shop", "says that it is not as declared", |app| {
            failure(app).as_deref() == Some(told)
        })
        .await;
}

#[tokio::test]
async fn two_apps_of_one_name_are_both_told() {
    let stage = Stage::shared("namesake").await;
    let other = stage.beside("namesake-too").await;
    let environment = stage.environment.as_str();
    stage.ready_environment(json!({})).await;
    stage.create_app("shop", web_app()).await;
    stage.app_done("shop").await;
    let mut spec = web_app();
    spec["envName"] = json!(environment);
    let app = json!({
        "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdApp",
        "metadata": {"name": "shop", "namespace": other.namespace.name}, "spec": spec,
    });
    create(&other.apps(), app).await;
    let mut namespaces = [&stage.namespace.name, &other.namespace.name].map(String::as_str);
    namespaces.sort_by_key(|namespace| format!("shop-{namespace}"));
    let text = format!(
        "Warning ClowdAppNameShared: ClowdApp [shop] exists in namespaces [{}] of Clowder Environment [{environment}]; \
         who depends on it is led to [{}]",
        namespaces.join(", "),
        namespaces[1]
    );
    for namespace in namespaces {
        stage.event(namespace, "shop", &text).await;
    }
}
