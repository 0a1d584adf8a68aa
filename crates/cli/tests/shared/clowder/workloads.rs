//! What users do with Clowder, for the campaigns.

pub(crate) mod components;
pub(crate) mod jobs;
pub(crate) mod kafka;
pub(crate) mod storage;
pub(crate) mod web_local;

use std::{collections::BTreeMap, fmt::Debug, path::Path};

use kube::api::{DynamicObject, ListParams};
use mainstay_testkit::{
    Plane,
    audit::Mark,
    campaign::{self, Workload},
    namespace::object_gone,
};
use serde_json::{Value, json};

use super::{
    answers::{KAFKA, KAFKA_CONNECT, KAFKA_TOPIC, KAFKA_USER},
    stage::{
        CERTIFICATE, CONFIG_MAP, DEPLOYMENT, INGRESS, ISSUER, ROLE_BINDING, Resource,
        RunningOperator, SECRET, SERVICE, SERVICE_ACCOUNT, Stage, is_ready, patch_object,
    },
};

/// Keys of values that are made up.
const MADE_UP: [&str; 8] = [
    "username",
    "password",
    "pgPass",
    "accessKey",
    "secretKey",
    "defaultPassword",
    "clientAccessToken",
    "adminAccessToken",
];

/// The kinds that make up the end.
const KINDS: [Resource; 13] = [
    DEPLOYMENT,
    SERVICE,
    SECRET,
    CONFIG_MAP,
    SERVICE_ACCOUNT,
    ROLE_BINDING,
    INGRESS,
    ISSUER,
    CERTIFICATE,
    KAFKA,
    KAFKA_CONNECT,
    KAFKA_TOPIC,
    KAFKA_USER,
];

impl campaign::Stage for Stage {
    type Process = RunningOperator;

    fn plane(&self) -> &Plane {
        &self.plane
    }

    /// An environment is in no namespace, so requests are looked for by its name, which is that of the namespace.
    fn about(&self) -> &str {
        &self.environment
    }

    fn start(&self, kubeconfig: &Path) -> RunningOperator {
        RunningOperator::begin(kubeconfig, &[])
    }
}

/// A step of what users do with an environment and its apps.
pub(crate) trait Step: Copy + Debug + 'static {
    /// An app that is there in the end.
    const LASTING: &str;

    /// They change something.
    async fn change(self, stage: &Stage);

    /// Waits until all of it has come true.
    async fn ended(self, stage: &Stage);

    /// Checks what was written on the way.
    fn check(_mark: &Mark, _stage: &Stage) {}
}

/// An environment and its apps, step by step.
pub(crate) struct Apps<S: 'static> {
    steps: &'static [S],
    /// The writes of Secrets with values that are made up, by the name of the Secret: one for each that is made, and
    /// one for each change that a step asks for.
    made_up: fn(&Stage) -> Vec<String>,
}

impl<S: Step> Workload for Apps<S> {
    type Stage = Stage;
    type Step = S;

    fn steps(&self) -> &[S] {
        self.steps
    }

    async fn stage(&self, word: &str) -> Stage {
        Stage::alone(word).await
    }

    async fn change(&self, step: S, stage: &Stage) {
        step.change(stage).await;
    }

    async fn ended(&self, step: S, stage: &Stage) {
        step.ended(stage).await;
    }

    async fn state(&self, stage: &Stage) -> Option<Value> {
        let mut state = json!({});
        for kind in KINDS {
            let list = stage.api(kind).list(&ListParams::default()).await.unwrap();
            for object in list.items {
                let (name, portrait) = portrait(object);
                if name != "kube-root-ca.crt" && name != "default" {
                    state[format!("{kind:?} {name}")] = portrait;
                }
            }
        }
        let apps = stage.apps().list(&ListParams::default()).await.unwrap();
        for app in apps.items {
            let app = serde_json::to_value(app).unwrap();
            is_ready(&app).then_some(())?;
            let name = app["metadata"]["name"].as_str().unwrap();
            let config = stage.config(name).await;
            state[name] = json!({"status": without_times(app["status"].clone()), "config": config});
        }
        let environment = stage.environment_ready().await;
        state["environment"] = without_times(environment["status"].clone());
        let mut text = state.to_string().replace(&stage.environment, "NAMESPACE");
        for (secret, values) in self.values(stage).await {
            let made_up = values
                .into_iter()
                .filter(|(key, _)| MADE_UP.contains(&key.as_str()));
            for (key, value) in made_up {
                let secret = secret.replace(&stage.environment, "NAMESPACE");
                text = text.replace(&value, &format!("{key} of {secret}"));
            }
        }
        Some(serde_json::from_str(&text).unwrap())
    }

    /// Every Secret with values that were made up was written as often as it has to be, and what else there is to check.
    fn check_writes(&self, mark: &Mark, stage: &Stage) {
        let mut expected = (self.made_up)(stage);
        let writes = mark.writes(&stage.namespace.name).into_iter();
        let mut written: Vec<String> = writes
            .filter(|entry| {
                entry.resource == "secrets" && entry.code < 300 && entry.verb != "delete"
            })
            .map(|entry| entry.name)
            .filter(|name| expected.contains(name))
            .collect();
        written.sort();
        expected.sort();
        assert_eq!(written, expected, "values are made up once");
        S::check(mark, stage);
    }

    async fn touch(&self, number: usize, stage: &Stage) -> Option<&'static str> {
        let web = format!("{}-web", S::LASTING);
        match number {
            0 => {
                let note = json!({"metadata": {"annotations": {"note": "seen"}}});
                stage.patch_environment(note).await;
                Some("a note on the environment")
            }
            1 => {
                // Not an annotation on the Deployment: that starts a new generation of it, which takes a moment to be
                // ready.
                let label = json!({"metadata": {"labels": {"team": "blue"}}});
                patch_object(&stage.api(DEPLOYMENT), &web, label).await;
                let seen = json!({"metadata": {"annotations": {"controller.test/seen": "yes"}}});
                patch_object(&stage.api(SERVICE), &web, seen).await;
                Some("notes of others")
            }
            _ => None,
        }
    }
}

impl<S: Step> Apps<S> {
    /// The values that were made up, by Secret; those of apps that are gone are gone too.
    async fn values(&self, stage: &Stage) -> BTreeMap<String, BTreeMap<String, String>> {
        let holders = (self.made_up)(stage);
        let mut all = BTreeMap::new();
        for name in stage.names(SECRET).await {
            if holders.contains(&name) {
                all.insert(name.clone(), stage.secret(&name).await);
            }
        }
        all
    }
}

fn portrait(object: DynamicObject) -> (String, Value) {
    let mut spec = object.data.get("spec").cloned().unwrap_or_default();
    if let Some(fields) = spec.as_object_mut() {
        fields.remove("clusterIP");
        fields.remove("clusterIPs");
    }
    // Hashes of what holds other passwords and other names.
    let annotations = spec.pointer_mut("/template/metadata/annotations");
    if let Some(annotations) = annotations.and_then(Value::as_object_mut) {
        for hash in ["configHash", "clowder/authsidecar-confighash"] {
            annotations.remove(hash);
        }
    }
    let data = object.data.get("data").and_then(Value::as_object);
    let keys: Option<Vec<&String>> = data.map(|data| data.keys().collect());
    let owners = object.metadata.owner_references.iter().flatten();
    let owners: Vec<&String> = owners.map(|owner| &owner.name).collect();
    let portrait = json!({
        "labels": object.metadata.labels, "owners": owners, "spec": spec, "keys": keys,
    });
    (object.metadata.name.unwrap(), portrait)
}

fn without_times(mut status: Value) -> Value {
    // An environment sees its generation only; how many writes it took to get there is not part of the end.
    if let Some(conditions) = status.get_mut("conditions").and_then(Value::as_array_mut) {
        for condition in conditions {
            condition["lastTransitionTime"] = Value::Null;
        }
    }
    status
}

/// Waits until an app is gone, and with it everything that bears its name: the garbage collector takes its time.
async fn app_gone(stage: &Stage, app: &str) {
    object_gone(&stage.apps(), app).await;
    let prefix = format!("{app}-");
    for kind in KINDS {
        for name in stage.names(kind).await {
            if name == app || name.starts_with(&prefix) {
                stage.gone(kind, &name).await;
            }
        }
    }
}
