//! When nothing is left to do: where every count of requests begins.

use std::collections::BTreeSet;

use kube::api::ListParams;
use mainstay_testkit::audit::Mark;
use serde_json::Value;

use super::stage::{Stage, each, is_ready};

impl Stage {
    /// Waits until the environment is ready and lists so many apps, which it does in its own time.
    pub(crate) async fn environment_lists(&self, count: usize) {
        self.environment_when("is ready and lists its apps", |environment| {
            let apps = environment["status"]["apps"].as_array();
            is_ready(environment) && apps.is_some_and(|apps| apps.len() == count)
        })
        .await;
    }

    /// Waits until there is nothing left to do or to say about the environment and its apps here, which are all ready.
    /// Silence alone would not do: somebody may only be slow, and an environment rests between two reconciles.
    pub(crate) async fn at_rest(&self) -> Mark {
        let name = self.environment.as_str();
        let apps = self.apps().list(&ListParams::default()).await.unwrap();
        let apps = apps.items.into_iter().filter_map(|app| app.metadata.name);
        let apps: BTreeSet<String> = apps.collect();
        for app in &apps {
            self.app_ready(app).await;
            let event = format!("Normal SuccessfulReconciliation: Clowdapp reconciled [{app}]");
            self.event(&self.namespace.name, app, &event).await;
        }
        let expected: Vec<Value> = apps.iter().map(|app| Value::from(app.as_str())).collect();
        self.environment_when("is ready and lists its apps", |environment| {
            let status = &environment["status"];
            let mut listed = each(&status["apps"], "name");
            listed.sort_by_key(Value::to_string);
            is_ready(environment) && listed == expected
        })
        .await;
        let event = format!("Normal SuccessfulReconciliation: Environment reconciled [{name}]");
        self.event("default", name, &event).await;
        let log = self.plane.audit_log();
        Mark::now(log.clone()).settled_about(name).await;
        Mark::now(log)
    }
}
