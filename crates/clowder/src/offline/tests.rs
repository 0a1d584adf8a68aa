use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::*;

fn environment(target: Option<&str>) -> Value {
    let mut environment = json!({
        "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdEnvironment", "metadata": {"name": "town"},
        "spec": {"resourceDefaults": {}, "providers": {
            "web": {"mode": "operator", "port": 8000}, "metrics": {"mode": "none", "port": 9000},
            "db": {"mode": "local"}, "inMemoryDb": {"mode": "none"}, "kafka": {"mode": "none"},
            "logging": {"mode": "none"}, "objectStore": {"mode": "minio"},
        }},
    });
    if let Some(target) = target {
        environment["spec"]["targetNamespace"] = Value::from(target);
    }
    environment
}

fn app(name: &str, spec: &Value) -> Value {
    let mut app = json!({
        "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdApp", "metadata": {"name": name, "namespace": "south"},
        "spec": {"envName": "town", "deployments": [{"name": "api", "podSpec": {"image": "quay.io/town/x:1"}}]},
    });
    for (field, value) in spec.as_object().unwrap() {
        app["spec"][field] = value.clone();
    }
    app
}

fn rendered(roots: &[Value]) -> Result<Vec<Value>, Failure> {
    let snapshot = crate::views::files(roots.iter().cloned());
    render(&Arc::new(Settings::default()), snapshot, roots)
}

fn find<'objects>(objects: &'objects [Value], kind: &str, name: &str) -> &'objects Value {
    let found = objects
        .iter()
        .find(|object| object["kind"] == kind && object["metadata"]["name"] == name);
    found.unwrap_or_else(|| panic!("no {kind} {name}"))
}

fn config(objects: &[Value], app: &str) -> Value {
    let text = find(objects, "Secret", app)["data"]["cdappconfig.json"]
        .as_str()
        .unwrap();
    serde_json::from_slice(&STANDARD.decode(text).unwrap()).unwrap()
}

#[test]
fn made_up_values_agree_wherever_they_are_used() {
    let bakery = app("bakery", &json!({"database": {"name": "recipes"}}));
    let objects = rendered(&[bakery, environment(Some("platform"))]).unwrap();
    let password = find(&objects, "Secret", "bakery-db")["data"]["password"]
        .as_str()
        .unwrap();
    let password = String::from_utf8(STANDARD.decode(password).unwrap()).unwrap();
    assert_eq!(
        config(&objects, "bakery")["database"]["password"],
        password.as_str()
    );
    let first = ObjectKey::of(&objects[0]).unwrap();
    assert_eq!(
        first.namespace, "platform",
        "environments come first: {first}"
    );
    let mut keys: Vec<_> = objects.iter().map(ObjectKey::of).collect();
    let all = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), all, "every object once");
}

#[test]
fn who_borrows_may_stand_before_who_lends() {
    let cafe = app(
        "cafe",
        &json!({"database": {"sharedDbAppName": "bakery"}, "dependencies": ["bakery"]}),
    );
    let bakery = app("bakery", &json!({"database": {"name": "recipes"}}));
    let objects = rendered(&[environment(Some("platform")), cafe, bakery]).unwrap();
    let (one, other) = (config(&objects, "cafe"), config(&objects, "bakery"));
    assert_eq!(one["database"], other["database"]);
}

#[test]
fn an_environment_without_a_namespace_gets_one_with_a_name_that_says_so() {
    let objects = rendered(&[environment(None), app("bakery", &json!({}))]).unwrap();
    let namespace = &objects[0];
    assert_eq!(namespace["kind"], "Namespace");
    let name = namespace["metadata"]["name"].as_str().unwrap();
    assert!(name.starts_with("clowdenv-town-"), "{name}");
    assert_eq!(
        find(&objects, "Deployment", "town-minio")["metadata"]["namespace"],
        name
    );
}

#[test]
fn what_cannot_be_rendered_names_its_root_and_reason() {
    let alone = rendered(&[app("bakery", &json!({}))]).unwrap_err();
    assert_eq!(alone.key.name, "bakery");
    assert!(
        matches!(&alone.reason, Reason::Waiting(hold) if hold.reason == gates::ENVIRONMENT_MISSING)
    );
    let lacking = app("cafe", &json!({"dependencies": ["mill"]}));
    let lacking = rendered(&[environment(Some("platform")), lacking]).unwrap_err();
    assert!(lacking.to_string().contains("details: mill"), "{lacking}");
}

#[test]
fn who_is_switched_off_stands_for_nothing() {
    let off = app("bakery", &json!({"disabled": true}));
    let all = rendered(&[environment(Some("platform")), off]).unwrap();
    assert_eq!(all, rendered(&[environment(Some("platform"))]).unwrap());
}

#[test]
fn a_status_from_some_cluster_changes_nothing() {
    let plain = [environment(Some("platform")), app("bakery", &json!({}))];
    let mut marked = plain.clone();
    marked[0]["status"] = json!({"targetNamespace": "elsewhere", "ready": false});
    assert_eq!(rendered(&plain).unwrap(), rendered(&marked).unwrap());
}

#[test]
fn an_invocation_stands_for_its_jobs() {
    let jobs = json!({"jobs": [{"name": "bake", "podSpec": {"image": "quay.io/town/bake:1"}}]});
    let bakery = app("bakery", &jobs);
    let run = json!({
        "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdJobInvocation",
        "metadata": {"name": "run", "namespace": "south"},
        "spec": {"appName": "bakery", "jobs": ["bake"]},
    });
    let objects = rendered(&[run.clone(), bakery, environment(Some("platform"))]).unwrap();
    let job = objects.last().unwrap();
    assert_eq!(job["kind"], "Job");
    assert_eq!(job["metadata"]["labels"]["job"], "bakery-bake");
    let alone = rendered(&[run]).unwrap_err();
    assert!(matches!(&alone.reason, Reason::Waiting(hold) if hold.reason == gates::APP_MISSING));
}

#[test]
fn pods_restart_by_the_annotation_that_the_operator_is_configured_with() {
    let pod = json!({"image": "x", "volumes": [{"name": "v", "secret": {"secretName": "login"}}]});
    let bakery = app(
        "bakery",
        &json!({"deployments": [{"name": "api", "podSpec": pod}]}),
    );
    let hash = |annotation: &str, value: &str| {
        let login = json!({
            "apiVersion": "v1", "kind": "Secret", "data": {"password": value},
            "metadata": {"name": "login", "namespace": "south", "annotations": {annotation: "true"}},
        });
        let mut settings = Settings::default();
        "shop.example/restart".clone_into(&mut settings.config.settings.restarter_annotation);
        let roots = [bakery.clone(), environment(Some("platform"))];
        let snapshot = crate::views::files(roots.iter().cloned().chain([login]));
        let objects = render(&Arc::new(settings), snapshot, &roots).unwrap();
        let template = &find(&objects, "Deployment", "bakery-api")["spec"]["template"];
        template["metadata"]["annotations"].clone()
    };
    let one = hash("shop.example/restart", "b25l");
    assert_ne!(one, hash("shop.example/restart", "dHdv"));
    let usual = hash("qontract.recycle", "b25l");
    assert_eq!(usual, hash("qontract.recycle", "dHdv"));
    assert_ne!(usual, one);
}
