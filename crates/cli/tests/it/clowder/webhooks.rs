//! The real API server asks the real webhooks, and where there are none it judges by itself.

mod policy;
mod rules;
mod tls;
mod transport;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use kube::{
    Api,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
    core::Status,
};
use mainstay_clowder::admission::registration;
use mainstay_testkit::{
    certificates::Certificates, operator::free_port, plane::dynamic, wait::eventually,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::stage::{RunningOperator, Stage, web_app};
use crate::shared::clowder::webhooks::operator;

const REGISTRATION: &str = "admissionregistration.k8s.io/v1";

/// Webhooks of an operator, asked about one namespace only: other tests have the plane too.
struct Hooked {
    stage: Stage,
    address: String,
    certificates: Certificates,
    directory: TempDir,
    _operator: RunningOperator,
    registered: Registered,
}

impl Hooked {
    /// An operator that serves its webhooks, and an API server that asks them.
    async fn start(prefix: &str) -> Self {
        let stage = Stage::alone(prefix).await;
        let certificates = Certificates::issue(&stage.plane);
        let directory = TempDir::new().unwrap();
        certificates.install(directory.path());
        let address = format!("127.0.0.1:{}", free_port());
        let mut operator = operator(&stage, &address, directory.path(), &[]);
        operator.process.ready().await;
        let registered = Registered::create(&stage, &address, &certificates.authority()).await;
        let hooked = Self {
            stage,
            address,
            certificates,
            directory,
            _operator: operator,
            registered,
        };
        hooked.wait().await;
        hooked
    }

    /// Waits until the API server knows of the webhooks.
    async fn wait(&self) {
        eventually("the API server asks the webhooks", || async {
            let app = try_app(&self.stage, "probe", violating()).await;
            let pod = try_pod(
                &self.stage,
                "probe",
                json!({"clowder/authsidecar-enabled": "true"}),
            );
            // A pod may also be refused because its account is not there yet.
            let asked = "vclowdmutatepod.kb.io\" denied the request";
            (refusal(app.err()?).code == 422 && refusal(pod.await.err()?).message.contains(asked))
                .then_some(())
        })
        .await;
    }
}

/// Objects that change what the whole API server does; gone when told so, or with the next test that uses the names.
struct Registered {
    objects: Vec<(Api<DynamicObject>, String)>,
}

impl Registered {
    /// Both webhooks, for the namespace of a stage.
    async fn create(stage: &Stage, address: &str, authority: &str) -> Self {
        let configurations = configurations(stage, address, authority);
        Self::apply(stage, configurations.to_vec()).await
    }

    /// Any such objects, under names of their own.
    async fn apply(stage: &Stage, objects: Vec<Value>) -> Self {
        let mut registered = Self {
            objects: Vec::new(),
        };
        for mut object in objects {
            let kind = object["kind"].as_str().unwrap().to_owned();
            let name = format!(
                "{}-{}",
                object["metadata"]["name"].as_str().unwrap(),
                stage.namespace.name
            );
            object["metadata"]["name"] = json!(name);
            let plural = match kind.as_str() {
                "ValidatingAdmissionPolicy" => "validatingadmissionpolicies".to_owned(),
                kind => format!("{}s", kind.to_lowercase()),
            };
            let api = dynamic(&stage.namespace.client, "", REGISTRATION, &kind, &plural);
            let params = PatchParams::apply("user").force();
            api.patch(&name, &params, &Patch::Apply(&object))
                .await
                .unwrap();
            registered.objects.push((api, name));
        }
        registered
    }

    async fn remove(&self) {
        for (api, name) in &self.objects {
            api.delete(name, &DeleteParams::default()).await.unwrap();
        }
    }
}

/// How the API server is told of webhooks at an address, for the namespace of a stage.
fn configurations(stage: &Stage, address: &str, authority: &str) -> [Value; 2] {
    let bundle = STANDARD.encode(authority);
    let mut configurations = registration::configurations(
        |path| json!({"url": format!("https://{address}{path}"), "caBundle": bundle}),
    );
    for configuration in &mut configurations {
        configuration["webhooks"][0]["namespaceSelector"] = only(stage);
    }
    configurations
}

/// Selects the namespace of a stage.
fn only(stage: &Stage) -> Value {
    json!({"matchLabels": {"kubernetes.io/metadata.name": stage.namespace.name}})
}

/// What the API server says of a new app, which it does not keep.
async fn try_app(stage: &Stage, name: &str, mut spec: Value) -> Result<DynamicObject, kube::Error> {
    spec["envName"] = json!(stage.environment);
    let app = json!({
        "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdApp",
        "metadata": {"name": name}, "spec": spec,
    });
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let app = serde_json::from_value(app).unwrap();
    stage.apps().create(&params, &app).await
}

/// What the API server makes of a new pod, which it does not keep.
async fn try_pod(stage: &Stage, name: &str, annotations: Value) -> Result<Value, kube::Error> {
    let main = json!({"name": "main", "image": "registry.test/main:1"});
    try_containers(stage, name, annotations, json!([main])).await
}

async fn try_containers(
    stage: &Stage,
    name: &str,
    annotations: Value,
    containers: Value,
) -> Result<Value, kube::Error> {
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "annotations": annotations}, "spec": {"containers": containers},
    });
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let pods = stage.namespace.api("v1", "Pod", "pods");
    let pod = serde_json::from_value(pod).unwrap();
    let made = pods.create(&params, &pod).await?;
    Ok(serde_json::to_value(made).unwrap())
}

/// The refusal in an error.
fn refusal(error: kube::Error) -> Status {
    match error {
        kube::Error::Api(status) => *status,
        other => panic!("{other:?}"),
    }
}

/// An app that breaks a rule.
fn violating() -> Value {
    let mut spec = web_app();
    spec["database"] = json!({"name": "goods", "sharedDbAppName": "stock"});
    spec
}

/// Each rule with an app that breaks it, what is said of it, and an app that just does not.
fn rules() -> Vec<(&'static str, Value, &'static str, Value)> {
    let with = |deployment: Value| {
        let mut spec = web_app();
        super::input::merge(&mut spec["deployments"][0], &deployment);
        spec
    };
    let and = |field: &str, value: Value| {
        let mut spec = web_app();
        spec[field] = value;
        spec
    };
    let sidecar = |name: &str| json!({"podSpec": {"sidecars": [{"name": "token-refresher", "enabled": true}, {"name": name, "enabled": false}]}});
    let job = |schedule: Option<&str>| {
        let mut job = json!({"name": "nightly", "podSpec": {"image": "registry.test/job:1", "sidecars": [{"name": "mystery", "enabled": true}]}});
        if let Some(schedule) = schedule {
            job["schedule"] = json!(schedule);
        }
        and("jobs", json!([job]))
    };
    let shared_cyndi = |shared: Value| {
        let mut spec = and("database", shared);
        spec["cyndi"] = json!({"enabled": true});
        spec
    };
    vec![
        (
            "databases",
            violating(),
            "spec.Database.Name.spec.Database.SharedDBAppName: Forbidden: cannot set db name and sharedDbApp Name together",
            and("database", json!({"name": "goods"})),
        ),
        (
            "cyndi",
            shared_cyndi(json!({"sharedDbAppName": "stock"})),
            "spec.Database.SharedDBAppName.spec.Cyndi.Enabled: Forbidden: cannot use cyndi with a shared database",
            shared_cyndi(json!({"name": "goods"})),
        ),
        (
            "sidecar",
            with(sidecar("mystery")),
            "spec.Deployment[0].Sidecars[1]: Forbidden: Sidecar is of unknown type, must be one of [token-refresher] or [otel-collector]",
            with(sidecar("otel-collector")),
        ),
        (
            "job-sidecar",
            job(Some("0 1 * * *")),
            "spec.Deployment[0].Sidecars[0]: Forbidden: Sidecar is of unknown type, must be one of [token-refresher] or [otel-collector]",
            job(None),
        ),
        (
            "init",
            with(
                json!({"podSpec": {"initContainers": [{"name": "first", "command": ["a"]}, {"command": ["b"]}]}}),
            ),
            "spec.Deployments[0].PodSpec.InitContainers[1]: Forbidden: multiple initcontainers must have a name",
            with(json!({"podSpec": {"initContainers": [{"command": ["b"]}]}})),
        ),
        (
            "strategy",
            with(json!({"deploymentStrategy": {"privateStrategy": "Recreate"}})),
            "spec.Deployment[0]: Forbidden: privateStrategy cannot be set to recreate for public web enabled deployments",
            with(json!({
                "web": true, "webServices": {"public": {"enabled": false}},
                "deploymentStrategy": {"privateStrategy": "Recreate"},
            })),
        ),
    ]
}
