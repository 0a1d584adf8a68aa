//! Invocations as users write them, and how tests look at them.

use std::collections::BTreeMap;

use kube::{Api, api::DynamicObject};
use mainstay_testkit::namespace::object_when;
use serde_json::{Value, json};

use super::stage::{JOB, Stage, create, failure, merge, web_app};

pub(crate) const GROUP_VERSION: &str = "cloud.redhat.com/v1alpha1";

impl Stage {
    /// Invocations here.
    pub(crate) fn invocations(&self) -> Api<DynamicObject> {
        self.namespace
            .api(GROUP_VERSION, "ClowdJobInvocation", "clowdjobinvocations")
    }

    /// Creates an invocation for the app `shop`.
    pub(crate) async fn invoke(&self, name: &str, spec: Value) {
        self.invoke_with(name, json!({}), spec).await;
    }

    /// The same with further metadata.
    pub(crate) async fn invoke_with(&self, name: &str, metadata: Value, mut spec: Value) {
        if spec["appName"].is_null() {
            spec["appName"] = json!("shop");
        }
        let mut invocation = json!({
            "apiVersion": GROUP_VERSION, "kind": "ClowdJobInvocation",
            "metadata": {"name": name, "namespace": self.namespace.name}, "spec": spec,
        });
        merge(&mut invocation["metadata"], &metadata);
        create(&self.invocations(), invocation).await;
    }

    /// Waits until an invocation is.
    pub(crate) async fn invocation_when(
        &self,
        name: &str,
        what: &str,
        question: impl Fn(&Value) -> bool,
    ) -> Value {
        object_when(&self.invocations(), name, what, question).await
    }

    /// Waits until all jobs of an invocation have ended, and returns it.
    pub(crate) async fn completed(&self, name: &str) -> Value {
        self.invocation_when(name, "is completed", |invocation| {
            invocation["status"]["completed"] == true
        })
        .await
    }

    /// Waits until an invocation fails with exactly these words.
    pub(crate) async fn invocation_failed(&self, name: &str, words: &str) -> Value {
        let invocation = self
            .invocation_when(name, &format!("fails with {words:?}"), |invocation| {
                failure(invocation).as_deref() == Some(words)
            })
            .await;
        assert_eq!(
            invocation["status"]["jobMap"],
            json!({}),
            "nothing is invoked"
        );
        assert_eq!(invocation["status"]["completed"], false);
        invocation
    }

    /// Jobs that belong to an invocation, by name.
    pub(crate) async fn jobs_of(&self, invocation: &str) -> BTreeMap<String, Value> {
        let mut jobs = BTreeMap::new();
        for name in self.names(JOB).await {
            let job = self.get(JOB, &name).await;
            if job["metadata"]["ownerReferences"][0]["name"] == invocation {
                jobs.insert(name, job);
            }
        }
        jobs
    }

    /// Waits for an event about an object here.
    pub(crate) async fn event_here(&self, about: &str, text: &str) {
        self.event(&self.namespace.name, about, text).await;
    }
}

/// An app with a job, a scheduled one and a disabled one.
pub(crate) fn app_with_jobs(version: u32) -> Value {
    let image = format!("registry.test/fix:{version}");
    let mut app = web_app();
    app["jobs"] = json!([
        {"name": "fix", "podSpec": {"image": image}},
        {"name": "sweep", "schedule": "5 5 1 1 *", "podSpec": {"image": image}},
        {"name": "off", "disabled": true, "podSpec": {"image": image}},
    ]);
    app
}

/// An environment whose tests see everything and have a vault.
pub(crate) fn tested(namespace: &str) -> Value {
    json!({"providers": {"testing": {
        "k8sAccessLevel": "view", "configAccess": "environment",
        "iqe": {"imageBase": "registry.test/iqe", "vaultSecretRef": {"name": "vault", "namespace": namespace}},
    }}})
}
