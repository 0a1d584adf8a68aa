//! What users do with Kaoto, for the campaigns.

use std::{path::Path, time::Duration};

use futures::future::join_all;
use kube::api::{Patch, PatchParams};
use mainstay_testkit::{
    Namespace, Operator, Plane,
    audit::Entry,
    campaign::{Campaign, Stage, Workload},
    snapshot::portable_kaoto_state,
};
use serde_json::{Value, json};

use crate::shared::program::mainstay;

/// A namespace, and an operator that looks only at it.
pub(crate) struct KaotoStage {
    plane: Plane,
    namespace: Namespace,
}

impl Stage for KaotoStage {
    type Process = Operator;

    fn plane(&self) -> &Plane {
        &self.plane
    }

    fn about(&self) -> &str {
        &self.namespace.name
    }

    fn start(&self, kubeconfig: &Path) -> Operator {
        let arguments = ["--watch-namespace", &self.namespace.name];
        Operator::start(mainstay(), kubeconfig, &arguments)
    }
}

/// What users do at once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// An exposed Kaoto.
    Creation,
    /// Another image, and no longer exposed.
    Update,
    /// Exposed again, under a path.
    Exposure,
    /// The end of it.
    Deletion,
    /// Ten Kaotos are created, changed in every way, and three of them deleted.
    Script,
    /// Twenty Kaotos, every other one exposed.
    Crowd,
}

/// The Kaoto of all steps that have one.
const STUDIO: &str = "studio";
const CROWD: usize = 20;

impl Step {
    async fn change(self, namespace: &Namespace) {
        match self {
            Self::Creation => {
                let spec = json!({"ingress": {"host": "studio.test"}});
                namespace.create_kaoto(STUDIO, spec).await;
            }
            Self::Update => {
                namespace.deployment_at_rest(STUDIO).await;
                let patch = json!({"spec": {"image": "registry.test/app:2", "ingress": null}});
                namespace.patch_kaoto(STUDIO, patch).await;
            }
            Self::Exposure => {
                let patch = json!({"spec": {"ingress": {"path": "/editor"}}});
                namespace.patch_kaoto(STUDIO, patch).await;
            }
            Self::Deletion => namespace.delete_kaoto(STUDIO).await,
            Self::Script => script(namespace).await,
            Self::Crowd => crowd(namespace).await,
        }
    }

    async fn ended(self, namespace: &Namespace) {
        match self {
            Self::Creation | Self::Update | Self::Exposure => {
                namespace.kaoto_ready(STUDIO).await;
            }
            Self::Deletion => namespace.kaoto_gone(STUDIO).await,
            Self::Script => {
                for number in 0..7 {
                    namespace.kaoto_ready(&numbered(number)).await;
                }
                for number in 7..10 {
                    namespace.kaoto_gone(&numbered(number)).await;
                }
            }
            Self::Crowd => {
                let names: Vec<String> = (0..CROWD).map(numbered).collect();
                join_all(names.iter().map(|name| namespace.kaoto_ready(name))).await;
            }
        }
    }
}

fn numbered(number: usize) -> String {
    format!("studio-{number}")
}

async fn script(namespace: &Namespace) {
    let exposed =
        |number: usize| json!({"ingress": {"host": format!("{}.test", numbered(number))}});
    for number in 0..10 {
        let spec = if number % 2 == 0 {
            exposed(number)
        } else {
            json!({})
        };
        namespace.create_kaoto(&numbered(number), spec).await;
    }
    let changes = [
        (1, json!({"image": "registry.test/app:1"})),
        (2, json!({"ingress": null})),
        (3, exposed(3)),
        (4, json!({"ingress": {"host": "other.test"}})),
        (3, json!({"image": "registry.test/app:3"})),
        (8, json!({"ingress": null, "image": "registry.test/app:8"})),
        (2, json!({"ingress": {"path": "/again"}})),
        (3, json!({"ingress": null})),
    ];
    for (number, spec) in changes {
        tokio::time::sleep(Duration::from_millis(150)).await;
        namespace
            .patch_kaoto(&numbered(number), json!({"spec": spec}))
            .await;
    }
    for number in 7..10 {
        namespace.delete_kaoto(&numbered(number)).await;
    }
}

async fn crowd(namespace: &Namespace) {
    let names: Vec<String> = (0..CROWD).map(numbered).collect();
    let create = names.iter().enumerate().map(|(number, name)| {
        let exposed = if number % 2 == 0 {
            json!({"ingress": {}})
        } else {
            json!({})
        };
        namespace.create_kaoto(name, exposed)
    });
    join_all(create).await;
}

/// Steps in a namespace of their own.
pub(crate) struct Kaotos {
    /// What was done before, undisturbed.
    before: &'static [Step],
    steps: &'static [Step],
}

impl Workload for Kaotos {
    type Stage = KaotoStage;
    type Step = Step;

    fn steps(&self) -> &[Step] {
        self.steps
    }

    async fn stage(&self, word: &str) -> KaotoStage {
        let plane = Plane::vanilla().await;
        let namespace = Namespace::create(&plane.client().await, word).await;
        KaotoStage { plane, namespace }
    }

    async fn prepare(&self, stage: &KaotoStage) {
        if self.before.is_empty() {
            return;
        }
        let mut operator = stage.start(&stage.plane.kubeconfig());
        operator.ready().await;
        for step in self.before {
            step.change(&stage.namespace).await;
            step.ended(&stage.namespace).await;
        }
        stage.namespace.deployment_at_rest(STUDIO).await;
        operator.terminate().await;
    }

    async fn change(&self, step: Step, stage: &KaotoStage) {
        step.change(&stage.namespace).await;
    }

    async fn ended(&self, step: Step, stage: &KaotoStage) {
        step.ended(&stage.namespace).await;
    }

    async fn state(&self, stage: &KaotoStage) -> Option<Value> {
        Some(portable_kaoto_state(&stage.namespace, false).await)
    }

    async fn touch(&self, number: usize, stage: &KaotoStage) -> Option<&'static str> {
        let namespace = &stage.namespace;
        match number {
            0 => {
                for number in 0..CROWD {
                    let touch = json!({"metadata": {
                        "annotations": {"note": "seen"}, "labels": {"team": "blue"},
                    }});
                    namespace.patch_kaoto(&numbered(number), touch).await;
                }
                Some("annotations and labels of Kaotos")
            }
            1 => {
                for number in 0..CROWD {
                    report_beside(namespace, &numbered(number)).await;
                }
                Some("status of Deployments and Kaotos")
            }
            _ => None,
        }
    }

    fn check_restart(&self, sent: &[Entry]) {
        assert!(
            sent.iter().all(|entry| entry.verb == "list"),
            "only the first lists: {sent:?}"
        );
    }
}

/// What kube-controller-manager does all day, and a condition of somebody else on the Kaoto itself.
async fn report_beside(namespace: &Namespace, name: &str) {
    let kaoto = namespace.kaoto_ready(name).await;
    let mut conditions = kaoto["status"]["conditions"].clone();
    conditions.as_array_mut().unwrap().push(json!({
        "type": "Zoned", "status": "True", "reason": "Test", "message": "",
        "lastTransitionTime": "2024-01-01T00:00:00Z",
    }));
    let params = PatchParams::default();
    let foreign = json!({"status": {"conditions": conditions}});
    let kaotos = namespace.kaotos();
    kaotos
        .patch_status(name, &params, &Patch::Merge(&foreign))
        .await
        .unwrap();
    let ready = json!({"status": {"conditions": [
        {"type": "Available", "status": "False", "reason": "Test", "message": ""},
    ]}});
    let deployments = namespace.deployments();
    deployments
        .patch_status(name, &params, &Patch::Merge(&ready))
        .await
        .unwrap();
}

const fn campaign(before: &'static [Step], steps: &'static [Step]) -> Campaign<Kaotos> {
    Campaign::new(Kaotos { before, steps })
}

pub(crate) static CREATION: Campaign<Kaotos> = campaign(&[], &[Step::Creation]);
pub(crate) static UPDATE: Campaign<Kaotos> = campaign(&[Step::Creation], &[Step::Update]);
pub(crate) static DELETION: Campaign<Kaotos> = campaign(&[Step::Creation], &[Step::Deletion]);
pub(crate) static SCRIPT: Campaign<Kaotos> = campaign(&[], &[Step::Script]);
pub(crate) static TWENTY: Campaign<Kaotos> = campaign(&[], &[Step::Crowd]);

pub(crate) static LIVES: Campaign<Kaotos> = campaign(&[], &LIFE_AFTER_LIFE);

/// The last life leaves an exposed Kaoto behind.
const LIFE_AFTER_LIFE: [Step; 23] = {
    let life = [Step::Creation, Step::Update, Step::Exposure, Step::Deletion];
    let mut steps = [Step::Creation; 23];
    let mut number = 0;
    while number < steps.len() {
        steps[number] = life[number % life.len()];
        number += 1;
    }
    steps
};
