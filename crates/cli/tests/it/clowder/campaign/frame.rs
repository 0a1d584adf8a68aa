//! The frame of a campaign: the same workloads in good schedule, through crashes and through faults.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use kube::api::{DynamicObject, ListParams};
use mainstay_testkit::{audit::Mark, fault::Seen, namespace::object_gone, proxy::Proxy};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::{
    clowder::{
        answers::{KAFKA, KAFKA_CONNECT, KAFKA_TOPIC, KAFKA_USER},
        crash_point::CrashPoint,
        stage::{
            CERTIFICATE, CONFIG_MAP, DEPLOYMENT, INGRESS, ISSUER, ROLE_BINDING, Resource,
            RunningOperator, SECRET, SERVICE, SERVICE_ACCOUNT, Stage, is_ready,
        },
    },
    kaoto::faults::FaultSchedule,
};

/// How long an end may take to become the expected one.
const PATIENCE: Duration = Duration::from_mins(2);

/// Keys of values that are made up.
const MADE_UP: [&str; 6] = [
    "username",
    "password",
    "pgPass",
    "accessKey",
    "secretKey",
    "defaultPassword",
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

/// What users do, and how they see that it is done.
pub(super) trait Workload: Copy + 'static {
    /// They change something.
    async fn change(self, stage: &Stage);

    /// Waits until all of it has come true.
    async fn ended(self, stage: &Stage);

    /// Checks what was written on the way.
    fn check(_mark: &Mark, _stage: &Stage) {}
}

/// Workloads, one after the other on one stage.
pub(super) struct Campaign<W: 'static> {
    /// The workloads.
    pub(super) workloads: &'static [W],
    /// The writes of Secrets with values that are made up, by the name of the Secret: one for each that is made, and
    /// one for each change that a workload asks for.
    pub(super) made_up: fn(&Stage) -> Vec<String>,
    /// The ends in good schedule, once they are known.
    pub(super) ends: OnceCell<Ends>,
}

/// What all workloads come to, one after the other.
pub(super) struct Ends(Vec<Value>);

/// What is not as expected, and nothing else: a whole end fills many screens.
fn differences(end: &Value, expected: &Value) -> String {
    let (end, expected) = (end.as_object().unwrap(), expected.as_object().unwrap());
    let keys: BTreeSet<&String> = end.keys().chain(expected.keys()).collect();
    let differing = keys
        .into_iter()
        .filter(|key| end.get(*key) != expected.get(*key))
        .map(|key| format!("{key}: {:?}, not {:?}", end.get(key), expected.get(key)));
    differing.collect::<Vec<String>>().join("\n")
}

impl<W: Workload> Campaign<W> {
    /// A campaign of these workloads.
    pub(super) const fn new(workloads: &'static [W], made_up: fn(&Stage) -> Vec<String>) -> Self {
        Self {
            workloads,
            made_up,
            ends: OnceCell::const_new(),
        }
    }

    /// The ends in good schedule.
    async fn undisturbed(&self) -> &Ends {
        let ends = self.ends.get_or_init(|| async {
            let stage = Stage::alone("calm").await;
            let _operator = stage.operator(&[]).await;
            let mark = Mark::now(stage.plane.audit_log());
            let mut ends = Vec::new();
            for workload in self.workloads {
                workload.change(&stage).await;
                workload.ended(&stage).await;
                ends.push(self.end(&mark, &stage).await);
            }
            self.check_writes(&mark, &stage);
            Ends(ends)
        });
        ends.await
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
        W::check(mark, stage);
    }

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

    /// What there is when all has come to rest. Silence alone says little: an operator that met a fault waits before it
    /// tries again, an app that is ready waits once more when its environment does. So everything has to be done, and the
    /// same twice. An environment is in no namespace, so its requests are looked for by name.
    async fn end(&self, mark: &Mark, stage: &Stage) -> Value {
        let started = Instant::now();
        let mut before = None;
        loop {
            mark.settled_about(&stage.environment).await;
            let state = self.state(stage).await;
            match state {
                Some(state) if before.as_ref() == Some(&state) => return state,
                state => before = state,
            }
            assert!(started.elapsed() < PATIENCE, "nothing comes to rest");
        }
    }

    /// Waits until the end of a workload is the one that it has in good schedule.
    async fn ended(&self, workload: W, mark: &Mark, stage: &Stage, expected: &Value) {
        workload.ended(stage).await;
        let started = Instant::now();
        loop {
            let differences = differences(&self.end(mark, stage).await, expected);
            if differences.is_empty() {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "{differences}");
        }
    }

    /// What is there if everything is done, without what differs from run to run.
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
pub(super) async fn app_gone(stage: &Stage, app: &str) {
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

/// The process dies after each of its writes until there is nothing left to write.
pub(super) async fn survives_a_crash_at_every_write<W: Workload>(
    campaign: &Campaign<W>,
    least: u32,
) {
    let expected = campaign.undisturbed().await;
    let stage = Stage::alone("crashes").await;
    let crash_point = CrashPoint::start(&stage.plane).await;
    let mark = Mark::now(stage.plane.audit_log());
    let mut lives = 0;
    for (&workload, end) in campaign.workloads.iter().zip(&expected.0) {
        let change = workload.change(&stage);
        let ended = || campaign.ended(workload, &mark, &stage, end);
        lives += crash_point.lives(change, ended).await;
    }
    campaign.check_writes(&mark, &stage);
    assert!(lives >= least, "only {lives} crashes");
}

/// Plays all workloads through the schedule.
pub(super) async fn ends_as_undisturbed<W: Workload>(
    campaign: &Campaign<W>,
    (percent, seed): (u64, u64),
    least: u64,
) {
    let expected = campaign.undisturbed().await;
    let stage = Stage::alone("schedule").await;
    let schedule = Arc::new(FaultSchedule::new(percent, seed));
    let proxy = Proxy::start(&stage.plane, {
        let schedule = schedule.clone();
        move |seen: &Seen| schedule.decide(seen)
    })
    .await;
    let mut operator = RunningOperator::start(&proxy.kubeconfig(), &[]).await;
    let mark = Mark::now(stage.plane.audit_log());
    for (&workload, end) in campaign.workloads.iter().zip(&expected.0) {
        workload.change(&stage).await;
        campaign.ended(workload, &mark, &stage, end).await;
    }
    let met = schedule.clear_up();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(operator.process.is_running(), "a fault ended the operator");
    campaign.check_writes(&mark, &stage);
    assert!(met >= least, "only {met} requests met a fault");
}
