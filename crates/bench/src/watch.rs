//! The end of a phase, seen as any client of the API would see it.

use std::{collections::HashMap, time::Instant};

use anyhow::Context;
use futures::TryStreamExt;
use kube::{
    Api,
    api::DynamicObject,
    runtime::{WatchStreamExt, watcher},
};
use tokio::{sync::watch, task::JoinHandle};

/// Follows the objects of one kind until dropped; remembers of each the value that a function takes from it.
#[derive(Debug)]
pub(crate) struct Observer {
    seen: watch::Receiver<HashMap<String, i64>>,
    task: JoinHandle<()>,
}

impl Observer {
    /// Starts, and waits until the watch is open.
    pub(crate) async fn start(
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
    pub(crate) async fn wait_for(&mut self, count: usize, least: i64) -> anyhow::Result<()> {
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

/// One for every object that exists.
pub(crate) fn exists(object: &DynamicObject) -> Option<i64> {
    object.metadata.uid.as_ref().map(|_| 1)
}

/// Seconds until so many objects have at least this value, while the work that leads to it goes on.
pub(crate) async fn until_seen(
    observer: &mut Observer,
    count: usize,
    least: i64,
    work: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<f64> {
    let begun = Instant::now();
    let seen = async {
        observer.wait_for(count, least).await?;
        anyhow::Ok(begun.elapsed().as_secs_f64())
    };
    let ((), seconds) = futures::try_join!(work, seen)?;
    Ok(seconds)
}
