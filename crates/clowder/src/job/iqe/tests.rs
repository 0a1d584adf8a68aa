use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::{
    job::fixture::{Case, case},
    providers::fixture::{other_app, secret},
};

/// A run with these settings in an environment whose tests have these.
fn run(iqe: &Value, testing: &Value) -> Case {
    let app = json!({"testing": {"iqePlugin": "shop-plugin"}});
    let mut case = case(app, json!({"testing": {"iqe": iqe}}));
    case.environment["spec"]["providers"]["testing"] = testing.clone();
    case
}

fn testing(access: &str) -> Value {
    json!({"configAccess": access, "iqe": {"imageBase": "registry.test/iqe"}})
}

fn pod(job: &Value) -> &Value {
    &job["spec"]["template"]["spec"]
}

fn value<'job>(container: &'job Value, name: &str) -> &'job Value {
    let variables = container["env"].as_array().unwrap();
    let mut found = variables.iter().filter(|variable| variable["name"] == name);
    let variable = found.next().unwrap_or_else(|| panic!("no {name}"));
    assert!(found.next().is_none(), "{name} once");
    variable
}

#[test]
fn a_run_has_one_job_with_all_variables() {
    let walked = run(&json!({"debug": true}), &testing("none")).reconcile();
    let job = walked.one("Job");
    let name = job["metadata"]["name"].as_str().unwrap();
    assert!(name.starts_with("run-iqe-"), "{name}");
    let labels = json!({"clowdjob": "run", "job": "run-iqe"});
    assert_eq!(job["metadata"]["labels"], labels);
    assert_eq!(job["spec"]["template"]["metadata"]["labels"], labels);
    assert_eq!(job["spec"]["backoffLimit"], 0);
    let pod = pod(job);
    assert_eq!(pod["restartPolicy"], "Never");
    assert_eq!(pod["serviceAccountName"], "iqe-stage");
    assert_eq!(
        (&pod["volumes"], &pod["initContainers"]),
        (&Value::Null, &Value::Null)
    );
    let container = &pod["containers"][0];
    assert_eq!(container["image"], "registry.test/iqe:shop-plugin");
    assert_eq!(container["imagePullPolicy"], "Always");
    assert_eq!(container["args"], json!(["container-debug"]));
    assert_eq!(container["volumeMounts"], Value::Null);
    let names: Vec<&str> = container["env"]
        .as_array()
        .unwrap()
        .iter()
        .map(|variable| variable["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "ENV_FOR_DYNACONF",
            "NAMESPACE",
            "CLOWDER_ENABLED",
            "ACG_CONFIG",
            "IQE_PLUGINS",
            "IQE_MARKER_EXPRESSION",
            "IQE_FILTER_EXPRESSION",
            "IQE_LOG_LEVEL",
            "IQE_REQUIREMENTS",
            "IQE_REQUIREMENTS_PRIORITY",
            "IQE_TEST_IMPORTANCE",
            "IQE_PARALLEL_ENABLED",
            "IQE_PARALLEL_WORKER_COUNT",
            "IQE_RP_ARGS",
            "IQE_IBUTSU_SOURCE",
        ]
    );
    assert_eq!(value(container, "IQE_PLUGINS")["value"], "shop-plugin");
    assert_eq!(value(container, "IQE_LOG_LEVEL")["value"], "info");
    assert_eq!(walked.report.status["jobMap"], json!({name: "Invoked"}));
    assert_eq!(
        walked.events(),
        [format!(
            "Normal IQEJobInvoked: Job [{name}] was invoked successfully"
        )]
    );
}

#[test]
fn an_empty_list_already_asks_for_a_run() {
    for name in [
        "env",
        "requirements",
        "requirementsPriority",
        "testImportance",
    ] {
        let walked = run(&json!({name: []}), &testing("none")).reconcile();
        assert_eq!(walked.objects.len(), 1, "{name}");
        let walked = run(&json!({name: null}), &testing("none")).reconcile();
        assert!(walked.objects.is_empty(), "{name}");
    }
}

#[test]
fn variables_of_the_invocation_replace_those_of_the_run() {
    let env = json!([
        {"name": "NAMESPACE", "value": "other"}, {"name": "EXTRA", "value": "1"}, {"name": "EMPTY"},
        {"name": "IQE_PLUGINS", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
        {"name": "EXTRA", "value": "2"},
    ]);
    let iqe =
        json!({"env": env, "requirements": ["a", "b"], "imageTag": "t9", "logLevel": "debug"});
    let walked = run(&iqe, &testing("app")).reconcile();
    let pod = pod(walked.one("Job"));
    let container = &pod["containers"][0];
    assert_eq!(container["image"], "registry.test/iqe:t9");
    assert_eq!(container["args"], json!(["clowder"]));
    assert_eq!(
        container["env"][1],
        json!({"name": "NAMESPACE", "value": "other"})
    );
    assert_eq!(value(container, "EXTRA")["value"], "2");
    assert_eq!(value(container, "IQE_REQUIREMENTS")["value"], "a,b");
    assert_eq!(value(container, "IQE_PLUGINS")["value"], Value::Null);
    let variables = container["env"].as_array().unwrap();
    assert!(variables.iter().all(|variable| variable["name"] != "EMPTY"));
    assert_eq!(
        pod["volumes"],
        json!([{"name": "config-secret", "secret": {"secretName": "shop", "defaultMode": 420}}])
    );
    assert_eq!(
        container["volumeMounts"],
        json!([{"name": "config-secret", "mountPath": "/cdapp"}])
    );
}

#[test]
fn browsers_run_beside_the_tests() {
    let mut testing = testing("app");
    testing["iqe"]["ui"] = json!({"playwright": {"imageBase": "registry.test/pw", "defaultImageTag": "7",
        "resources": {"limits": {"memory": "2Gi"}}}});
    let ui = json!({"selenium": {"deploy": true}, "playwright": {"deploy": true}});
    let walked = run(&json!({"ui": ui}), &testing).reconcile();
    let job = walked.one("Job");
    let name = job["metadata"]["name"].as_str().unwrap();
    let pod = pod(job);
    let names: Vec<&Value> = pod["volumes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|volume| &volume["name"])
        .collect();
    assert_eq!(names, ["config-secret", "shm", "sel-downloads"]);
    assert_eq!(
        pod["volumes"][2]["emptyDir"],
        json!({"medium": "Memory", "sizeLimit": "64Mi"})
    );
    assert_eq!(
        pod["containers"][0]["volumeMounts"],
        json!([{"name": "sel-downloads", "mountPath": "/sel-downloads"}, {"name": "config-secret", "mountPath": "/cdapp"}])
    );
    let selenium = &pod["initContainers"][0];
    assert_eq!(selenium["name"], format!("{name}-sel"));
    assert_eq!(
        selenium["image"],
        "quay.io/app-sre/selenium-standalone-chrome:136.0-20250828"
    );
    assert_eq!(selenium["restartPolicy"], "Always");
    assert_eq!(
        selenium["volumeMounts"],
        json!([{"name": "shm", "mountPath": "/dev/shm"}, {"name": "sel-downloads", "mountPath": "/home/selenium/Downloads"}])
    );
    let playwright = &pod["initContainers"][1];
    assert_eq!(playwright["name"], format!("{name}-pw"));
    assert_eq!(playwright["image"], "registry.test/pw:7");
    assert_eq!(
        playwright["env"],
        json!([{"name": "PW_HEADLESS", "value": "true"}])
    );
    assert_eq!(
        playwright["resources"]["limits"],
        json!({"cpu": "400m", "memory": "2Gi"})
    );
    // Playwright alone needs the shared memory too, and nobody mounts downloads.
    let walked = run(
        &json!({"ui": {"playwright": {"deploy": true, "imageTag": "8"}}}),
        &testing,
    )
    .reconcile();
    let alone = &walked.one("Job")["spec"]["template"]["spec"];
    assert_eq!(alone["volumes"][1]["name"], "shm");
    assert_eq!(alone["initContainers"][0]["image"], "registry.test/pw:8");
    assert_eq!(
        alone["containers"][0]["volumeMounts"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn the_vault_is_copied_once_and_told_to_the_tests() {
    let mut testing = testing("none");
    testing["iqe"]["vaultSecretRef"] = json!({"name": "vault", "namespace": "keys"});
    let mut case = run(&json!({"marker": "m"}), &testing);
    let missing = case.reconcile();
    assert_eq!(missing.failure(), "Secret \"vault\" not found");
    let text = &missing.events()[0];
    assert!(
        text.starts_with("Warning IQEJobFailure: Job [run-iqe-")
            && text.ends_with("] failed to invoke"),
        "{text}"
    );
    case.others = vec![secret(
        "keys",
        "vault",
        json!({"url": "https://vault.test"}),
    )];
    let walked = case.reconcile();
    let copy = walked.one("Secret");
    assert_eq!(
        copy["metadata"],
        json!({"name": "run-vault", "namespace": "market"})
    );
    assert_eq!(copy["data"]["url"], STANDARD.encode("https://vault.test"));
    let container = &pod(walked.one("Job"))["containers"][0];
    assert_eq!(
        value(container, "DYNACONF_IQE_VAULT_LOADER_ENABLED")["value"],
        "true"
    );
    assert_eq!(
        value(container, "DYNACONF_IQE_VAULT_MOUNT_POINT")["valueFrom"]["secretKeyRef"],
        json!({"name": "run-vault", "key": "mountPoint", "optional": true})
    );
    case.others.push(secret(
        "market",
        "run-vault",
        json!({"url": "https://old.test"}),
    ));
    assert_eq!(
        case.reconcile().objects.len(),
        1,
        "what is there stays as it is"
    );
}

#[test]
fn tests_of_an_environment_see_the_configuration_of_all_its_apps() {
    let config = |path: &str| json!({"cdappconfig.json": json!({"logging": {"type": "null"}, "metricsPath": path, "metricsPort": 9000}).to_string()});
    let mut case = run(&json!({"marker": "m"}), &testing("environment"));
    case.others = vec![
        other_app("south", "cart", json!({})),
        secret("market", "shop", config("/<shop>")),
    ];
    assert_eq!(case.reconcile().failure(), "Secret \"cart\" not found");
    case.others
        .push(secret("south", "cart", json!({"cdappconfig.json": "{}"})));
    let text = case.reconcile().failure().to_owned();
    assert!(
        text.contains("\"cart\" in namespace \"south\"") && text.contains("`logging` is missing"),
        "{text}"
    );
    case.others.push(secret("south", "cart", config("/cart")));
    let walked = case.reconcile();
    let secret = walked.one("Secret");
    assert_eq!(secret["metadata"]["name"], "run-iqe");
    assert_eq!(secret["metadata"]["labels"], Value::Null);
    assert_eq!(
        secret["metadata"]["ownerReferences"][0]["kind"],
        "ClowdJobInvocation"
    );
    let document = STANDARD
        .decode(secret["data"]["cdenvconfig.json"].as_str().unwrap())
        .unwrap();
    assert_eq!(
        String::from_utf8(document).unwrap(),
        r#"{"cdappconfigs":{"cart":{"logging":{"type":"null"},"metricsPath":"/cart","metricsPort":9000},"shop":{"logging":{"type":"null"},"metricsPath":"/\u003cshop\u003e","metricsPort":9000}}}"#
    );
    let pod = pod(walked.one("Job"));
    assert_eq!(
        pod["containers"][0]["volumeMounts"],
        json!([{"name": "cdenvconfig", "mountPath": "/cdenv"}, {"name": "config-secret", "mountPath": "/cdapp"}])
    );
    assert_eq!(
        pod["volumes"][0]["secret"],
        json!({"secretName": "run-iqe", "defaultMode": 420})
    );
}
