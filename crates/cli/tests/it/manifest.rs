//! `mainstay manifest`: bags of YAML, with and without a cluster.

mod bundle;
mod merge;
mod offline;
mod removal;

use std::{fs, path::Path};

use mainstay_testkit::{Namespace, Plane, program::Ended};
use serde_json::Value;
use tempfile::TempDir;

use crate::run;

/// The two ways in which objects are changed.
const STRATEGIES: [&str; 2] = ["three-way", "server-side"];

/// A plane, a namespace, and files for the program.
struct Stage {
    plane: Plane,
    namespace: Namespace,
    files: TempDir,
}

impl Stage {
    async fn set(prefix: &str) -> Self {
        let plane = Plane::vanilla().await;
        let namespace = Namespace::create(&plane.client().await, prefix).await;
        let files = TempDir::new().unwrap();
        Self {
            plane,
            namespace,
            files,
        }
    }

    /// Runs a command of `mainstay manifest` on a text, in the namespace.
    async fn run(&self, words: &[&str], text: &str) -> Ended {
        let file = self.files.path().join("set.yaml");
        fs::write(&file, text).unwrap();
        let mut arguments = vec!["manifest"];
        arguments.extend(words);
        arguments.extend(["-n", &self.namespace.name, "-f", file.to_str().unwrap()]);
        run(&arguments)
            .kubeconfig(&self.plane.kubeconfig())
            .run()
            .await
    }

    /// An object of the namespace.
    async fn live(&self, api_version: &str, kind: &str, plural: &str, name: &str) -> Value {
        let api = self.namespace.api(api_version, kind, plural);
        serde_json::to_value(api.get(name).await.unwrap()).unwrap()
    }

    /// The versions of objects that nobody else writes.
    async fn versions(&self) -> Vec<Value> {
        let mut versions = Vec::new();
        for (api_version, kind, plural, name) in [
            ("v1", "ServiceAccount", "serviceaccounts", "web"),
            ("v1", "ConfigMap", "configmaps", "settings"),
            ("v1", "Service", "services", "web"),
            ("batch/v1", "CronJob", "cronjobs", "sweep"),
            (
                "networking.k8s.io/v1",
                "NetworkPolicy",
                "networkpolicies",
                "web",
            ),
            ("rbac.authorization.k8s.io/v1", "Role", "roles", "web"),
        ] {
            let live = self.live(api_version, kind, plural, name).await;
            versions.push(live["metadata"]["resourceVersion"].clone());
        }
        let deployment = self.deployment("web").await;
        versions.push(deployment["metadata"]["generation"].clone());
        versions
    }

    async fn deployment(&self, name: &str) -> Value {
        self.live("apps/v1", "Deployment", "deployments", name)
            .await
    }
}

/// Runs `mainstay manifest` without a cluster.
async fn offline(directory: &Path, arguments: &[&str]) -> Ended {
    let all: Vec<&str> = ["manifest"].iter().chain(arguments).copied().collect();
    run(&all).in_directory(directory).run().await
}
