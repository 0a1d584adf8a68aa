//! The product: what is done with the operator, and what it says of one Kaoto.

use std::path::Path;

use anyhow::Context;
use kube::{Api, api::DynamicObject};
use mainstay_testkit::{
    Namespace,
    audit::{Entry, Mark},
};
use serde_json::{Value, json};

use super::{
    Floors,
    floor::Bench,
    objects::{NEW_IMAGE, Sample},
    ready::ready_generation,
};
use crate::{
    plane::Plane,
    workload::{Phase, Session, Workload},
};

/// Only the system that is measured.
pub(super) const FLAGS: &[&str] = &["--systems", "kaoto"];

/// Lets the operator handle one Kaoto and reads off what it says about it.
pub(super) async fn sample(
    plane: &Plane,
    binary: &Path,
    namespace: &Namespace,
) -> anyhow::Result<Sample> {
    const NAME: &str = "pattern";
    let mut operator = plane.start_operator(binary, FLAGS).await;
    namespace.create_kaoto(NAME, json!({"ingress": {}})).await;
    let created = namespace.kaoto_ready(NAME).await;
    let image = json!({"spec": {"image": NEW_IMAGE}});
    namespace.patch_kaoto(NAME, image).await;
    let changed = namespace.kaoto_ready(NAME).await;
    let status = |kaoto: &Value| kaoto.get("status").cloned().context("there is no status");
    let sample = Sample {
        name: NAME,
        created: status(&created)?,
        changed: status(&changed)?,
    };
    operator.terminate().await;
    Bench::new(plane, namespace, &sample, 0)?
        .remove_all()
        .await?;
    Ok(sample)
}

impl Workload for Bench<'_> {
    const SYSTEM: &'static str = "kaoto";
    type Floor = Floors;
    /// The image of every Kaoto changed.
    type Change = Phase;

    fn plane(&self) -> &Plane {
        self.plane
    }

    fn count(&self) -> usize {
        self.prepared.len()
    }

    fn roots(&self) -> Api<DynamicObject> {
        self.namespace.kaotos()
    }

    fn done(kaoto: &DynamicObject) -> Option<i64> {
        ready_generation(kaoto)
    }

    async fn floor(&self) -> anyhow::Result<Floors> {
        let (whole, written) = self.write_all().await?;
        let changed = self.change_all(written).await?;
        let lists = self.list_all().await?;
        self.remove_all().await?;
        let applied = self.apply_children().await?;
        self.remove_all().await?;
        let posted = self.post_children().await?;
        self.remove_all().await?;
        Ok(Floors {
            whole,
            applied,
            posted,
            changed,
            lists,
        })
    }

    async fn create(&self) -> anyhow::Result<()> {
        self.create_kaotos().await
    }

    async fn patch(&self, patch: &Value) -> anyhow::Result<()> {
        self.patch_kaotos(patch).await
    }

    async fn change(&self, session: &Session<'_, Self>) -> anyhow::Result<Phase> {
        let image = json!({"spec": {"image": NEW_IMAGE}});
        session.phase(Some(2), self.patch_kaotos(&image)).await
    }

    async fn sent(&self, mark: &Mark) -> Vec<Entry> {
        mark.settled(&self.namespace.name).await
    }

    async fn sent_at_start(&self, mark: &Mark) -> Vec<Entry> {
        let mut entries = self.sent(mark).await;
        // Lists of all namespaces name none.
        entries.extend(mark.since("mainstay", ""));
        entries
    }

    async fn clear(&self) -> anyhow::Result<()> {
        self.remove_all().await
    }
}
