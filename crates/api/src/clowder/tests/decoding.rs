//! Objects that are already in a cluster decode, whatever definition they were stored under.

use k8s_openapi::{api::core::v1::EnvVar, apimachinery::pkg::api::resource::Quantity};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::clowder::{
    ClowdApp, ClowdAppRef, ClowdAppSpec, ClowdEnvironment, ClowdEnvironmentSpec,
    ClowdJobInvocation,
    access::AccessLevel,
    app::needs::DatabaseSize,
    environment::{
        database::DatabaseMode, kafka::KafkaMode, observability::LoggingMode, web::WebMode,
    },
    job_invocation::IqeJob,
    sidecar::SidecarVariable,
};

fn decode<T: DeserializeOwned>(spec: &Value) -> T {
    serde_json::from_value(json!({"metadata": {"name": "shop"}, "spec": spec})).unwrap()
}

fn environment(providers: &Value) -> ClowdEnvironmentSpec {
    decode::<ClowdEnvironment>(&json!({"providers": providers})).spec
}

fn app(spec: &Value) -> ClowdAppSpec {
    decode::<ClowdApp>(spec).spec
}

#[test]
fn an_object_without_a_spec_decodes_as_an_empty_one() {
    let bare = json!({"metadata": {"name": "shop"}});
    let app: ClowdApp = serde_json::from_value(bare.clone()).unwrap();
    assert_eq!(app.spec, ClowdAppSpec::default());
    let environment: ClowdEnvironment = serde_json::from_value(bare.clone()).unwrap();
    assert_eq!(environment.spec, ClowdEnvironmentSpec::default());
    assert!(serde_json::from_value::<ClowdAppRef>(bare.clone()).is_ok());
    assert!(serde_json::from_value::<ClowdJobInvocation>(bare).is_ok());
}

#[test]
fn an_unknown_mode_is_kept_and_harms_nothing_else() {
    let providers = environment(&json!({
        "kafka": {"mode": "quantum", "cluster": {"replicas": 3}},
        "logging": {"mode": "null"},
        "web": {"mode": "", "port": 8000},
    }))
    .providers;
    assert_eq!(providers.kafka.mode, KafkaMode::Other("quantum".to_owned()));
    assert_eq!(providers.kafka.mode.to_string(), "quantum");
    assert_eq!(providers.kafka.cluster.replicas, 3);
    assert_eq!(providers.logging.mode, LoggingMode::Null);
    assert_eq!(providers.web.mode, WebMode::Other(String::new()));
}

#[test]
fn an_absent_block_has_an_empty_mode() {
    let providers = environment(&json!({})).providers;
    assert_eq!(providers.database.mode, DatabaseMode::default());
    assert_eq!(providers.database.mode.as_str(), "");
    assert_eq!(providers.testing.access_level, AccessLevel::Unset);
    assert_eq!(providers.web.port, 0);
}

#[test]
fn a_word_of_the_wrong_type_is_refused() {
    let providers = json!({"providers": {"kafka": {"mode": 7}}});
    let object = json!({"metadata": {}, "spec": providers});
    assert!(serde_json::from_value::<ClowdEnvironment>(object).is_err());
}

#[test]
fn absent_and_empty_lists_of_paths_are_told_apart() {
    let public = |paths: Value| {
        let services = json!({"public": paths});
        let spec = json!({"deployments": [{"name": "api", "webServices": services}]});
        app(&spec).deployments.remove(0).web_services.public
    };
    assert_eq!(public(json!({})).api_paths, None);
    assert_eq!(public(json!({"apiPaths": []})).api_paths, Some(Vec::new()));
}

#[test]
fn an_empty_list_of_variables_already_asks_for_a_test_run() {
    let iqe = |iqe: Value| {
        let spec = json!({"appName": "shop", "testing": {"iqe": iqe}});
        decode::<ClowdJobInvocation>(&spec).spec.testing.iqe
    };
    assert_eq!(iqe(json!({})), IqeJob::default());
    assert_eq!(iqe(json!({"logLevel": ""})), IqeJob::default());
    assert_ne!(iqe(json!({"env": []})), IqeJob::default());
}

#[test]
fn quantities_may_be_numbers() {
    let spec = app(&json!({
        "deployments": [{"name": "api", "podSpec": {"resources": {"limits": {"cpu": 1, "memory": "2Gi"}}}}],
    }));
    let limits = spec.deployments[0].pod_spec.resources.limits.as_ref();
    assert_eq!(limits.unwrap()["cpu"], Quantity("1".to_owned()));
}

#[test]
fn explicit_zero_replicas_are_not_absent() {
    let spec = app(&json!({"deployments": [{"name": "api", "replicas": 0}, {"name": "worker"}]}));
    assert_eq!(spec.deployments[0].replicas, Some(0));
    assert_eq!(spec.deployments[1].replicas, None);
}

#[test]
fn zero_values_are_left_out_and_required_fields_are_not() {
    let spec = json!({
        "envName": "", "disabled": false, "database": {}, "dependencies": [],
        "deployments": [{"name": "api", "web": false, "podSpec": {"sidecars": [{"name": "otel-collector", "enabled": false}]}}],
    });
    assert_eq!(
        serde_json::to_value(app(&spec)).unwrap(),
        json!({
            "envName": "",
            "deployments": [{"name": "api", "podSpec": {"sidecars": [{"name": "otel-collector", "enabled": false}]}}],
        })
    );
    assert_eq!(app(&spec).database.volume_size, DatabaseSize::default());
}

#[test]
fn variables_of_sidecars_become_variables_of_containers() {
    let plain = json!({"name": "LEVEL", "value": "debug"});
    let reference = json!({"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "otel", "key": "token", "optional": true}}});
    let field = json!({"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}});
    for variable in [plain, reference, field] {
        let sidecar: SidecarVariable = serde_json::from_value(variable.clone()).unwrap();
        assert_eq!(
            serde_json::to_value(EnvVar::from(sidecar)).unwrap(),
            variable
        );
    }
}

#[test]
fn a_key_with_nothing_after_it_is_as_good_as_none() {
    let spec = json!({
        "envName": "stage", "dependencies": null, "database": null, "disabled": null,
        "deployments": [{"name": "api", "replicas": null, "k8sAccessLevel": null, "podSpec": {"image": null, "env": null}}],
    });
    assert_eq!(
        app(&spec),
        app(&json!({"envName": "stage", "deployments": [{"name": "api"}]}))
    );
}
