//! The end of a phase, seen as any client of the API would see it.

use std::collections::HashMap;

use anyhow::Context;
use futures::TryStreamExt;
use kube::{
    Api,
    api::DynamicObject,
    runtime::{WatchStreamExt, watcher},
};
use serde_json::Value;
use tokio::{sync::watch, task::JoinHandle};

/// Follows the objects of one kind until dropped; remembers of each the value that a function takes from it.
#[derive(Debug)]
pub(super) struct Observer {
    seen: watch::Receiver<HashMap<String, i64>>,
    task: JoinHandle<()>,
}

impl Observer {
    /// Starts, and waits until the watch is open.
    pub(super) async fn start(
        api: Api<DynamicObject>,
        value: fn(&DynamicObject) -> Option<i64>,
    ) -> anyhow::Result<Self> {
        let (sender, seen) = watch::channel(HashMap::new());
        let (open, mut opened) = watch::channel(false);
        let task = tokio::spawn(async move {
            let events = watcher::watcher(api, watcher::Config::default()).default_backoff();
            let mut events = std::pin::pin!(events);
            // An error is followed by another attempt; a watch that never succeeds shows as a phase without end.
            loop {
                match events.try_next().await {
                    Ok(Some(watcher::Event::InitDone)) => {
                        open.send_replace(true);
                    }
                    Ok(Some(watcher::Event::Apply(object) | watcher::Event::InitApply(object))) => {
                        if let (Some(name), Some(value)) =
                            (object.metadata.name.clone(), value(&object))
                        {
                            sender.send_modify(|seen| {
                                seen.insert(name, value);
                            });
                        }
                    }
                    Ok(None) => return,
                    Ok(Some(_)) | Err(_) => {}
                }
            }
        });
        opened
            .wait_for(|open| *open)
            .await
            .context("the watch ended")?;
        Ok(Self { seen, task })
    }

    /// Waits until so many objects have at least this value.
    pub(super) async fn wait_for(&mut self, count: usize, least: i64) -> anyhow::Result<()> {
        let reached = |seen: &HashMap<String, i64>| {
            seen.values().filter(|value| **value >= least).count() >= count
        };
        self.seen
            .wait_for(reached)
            .await
            .context("the watch ended")?;
        Ok(())
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The generation for which a Kaoto is Ready.
pub(super) fn ready_generation(kaoto: &DynamicObject) -> Option<i64> {
    let status = kaoto.data.get("status")?;
    let observed = status.get("observedGeneration").and_then(Value::as_i64)?;
    let is_ready = status.get("phase")? == "Ready" && kaoto.metadata.generation == Some(observed);
    is_ready.then_some(observed)
}

/// One for every object that exists.
pub(super) fn exists(object: &DynamicObject) -> Option<i64> {
    object.metadata.uid.as_ref().map(|_| 1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kaoto(generation: i64, status: &Value) -> DynamicObject {
        serde_json::from_value(json!({
            "apiVersion": "designer.kaoto.io/v1alpha1", "kind": "Kaoto",
            "metadata": {"name": "canvas", "generation": generation}, "status": status,
        }))
        .unwrap()
    }

    #[test]
    fn ready_counts_for_the_current_generation_only() {
        let ready = json!({"phase": "Ready", "observedGeneration": 2});
        assert_eq!(ready_generation(&kaoto(2, &ready)), Some(2));
        assert_eq!(ready_generation(&kaoto(3, &ready)), None);
        let failed = json!({"phase": "Error", "observedGeneration": 2});
        assert_eq!(ready_generation(&kaoto(2, &failed)), None);
        assert_eq!(ready_generation(&kaoto(2, &json!({}))), None);
    }
}
