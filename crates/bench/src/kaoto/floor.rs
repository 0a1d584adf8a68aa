//! The floors: the requests alone, sent by a plain writer.

use anyhow::Context;
use kube::api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use mainstay_cluster::resource::api;
use mainstay_engine::kind::{DeclaredKind, Role};
use mainstay_kaoto::{ClusterType, kinds, names};
use mainstay_testkit::Namespace;
use serde_json::{Value, json};

use super::{
    objects::{NEW_IMAGE, Prepared, Sample, prepare},
    ready::ready_generation,
};
use crate::{
    cost::Cost,
    lanes::in_lanes,
    plane::Plane,
    requests::{VERSION_OF_NOTHING, with_version},
    watch::Observer,
    writer::{Child, Writer, Written, create_all, patch_all, release_all},
};

/// The page size of the operator's lists.
const PAGE: u32 = 100;

/// A namespace and what is written into it.
#[derive(Debug)]
pub(super) struct Bench<'run> {
    /// Where.
    pub(super) plane: &'run Plane,
    /// Namespace.
    pub(super) namespace: &'run Namespace,
    /// What.
    pub(super) prepared: Vec<Prepared>,
}

impl<'run> Bench<'run> {
    /// Prepares the objects of so many Kaotos.
    pub(super) fn new(
        plane: &'run Plane,
        namespace: &'run Namespace,
        sample: &Sample,
        count: usize,
    ) -> anyhow::Result<Self> {
        let names = (0..count).map(|number| format!("editor-{number:04}"));
        let prepared = names.map(|name| prepare(&namespace.name, &name, sample));
        Ok(Self {
            plane,
            namespace,
            prepared: prepared.collect::<Result<_, _>>()?,
        })
    }

    /// Floor A: everything for every Kaoto, until the watch shows the last Ready.
    pub(super) async fn write_all(&self) -> anyhow::Result<(Cost, Vec<Written>)> {
        let mut observer = Observer::start(self.namespace.kaotos(), ready_generation).await?;
        let count = self.prepared.len();
        self.plane
            .cost(async {
                let written = in_lanes(&self.prepared, |prepared| self.write(prepared)).await?;
                observer.wait_for(count, 1).await?;
                Ok(written)
            })
            .await
    }

    /// Floor C: another image for every Kaoto, on top of floor A.
    pub(super) async fn change_all(&self, written: Vec<Written>) -> anyhow::Result<Cost> {
        let mut observer = Observer::start(self.namespace.kaotos(), ready_generation).await?;
        let count = self.prepared.len();
        let pairs: Vec<(&Prepared, Written)> = self.prepared.iter().zip(written).collect();
        let (cost, ()) = self
            .plane
            .cost(async {
                in_lanes(&pairs, |(prepared, written)| self.change(prepared, written)).await?;
                observer.wait_for(count, 2).await
            })
            .await?;
        Ok(cost)
    }

    /// Floor A3: only the children, by apply.
    pub(super) async fn apply_children(&self) -> anyhow::Result<Cost> {
        let children = self.children();
        let apply = |child: &&Child| {
            let child = (*child).clone();
            async move {
                let body = with_version(child.body.clone(), VERSION_OF_NOTHING);
                self.writer().apply(&child, &body).await
            }
        };
        let (cost, _) = self.plane.cost(in_lanes(&children, apply)).await?;
        Ok(cost)
    }

    /// Floor B: only the children, by POST.
    pub(super) async fn post_children(&self) -> anyhow::Result<Cost> {
        let children = self.children();
        let post = |child: &&Child| {
            let (api, body) = (self.writer().api(&child.row), child.body.clone());
            async move {
                let object: DynamicObject = serde_json::from_value(body)?;
                let params = PostParams {
                    field_manager: Some(names::FIELD_MANAGER.to_owned()),
                    ..PostParams::default()
                };
                Ok(api.create(&params, &object).await?)
            }
        };
        let (cost, _) = self.plane.cost(in_lanes(&children, post)).await?;
        Ok(cost)
    }

    /// Floor L: the lists with which the operator starts, in its pages, side by side.
    pub(super) async fn list_all(&self) -> anyhow::Result<Cost> {
        let rows = kinds::declared(ClusterType::Vanilla);
        let (mut cost, pages) = self
            .plane
            .cost(in_lanes(&rows, |row| self.list(row)))
            .await?;
        cost.requests = pages.into_iter().sum();
        Ok(cost)
    }

    /// Creates every Kaoto and nothing else: the user's part.
    pub(super) async fn create_kaotos(&self) -> anyhow::Result<()> {
        let kaotos: Vec<&DynamicObject> = self.prepared.iter().map(|one| &one.kaoto).collect();
        create_all(&self.namespace.kaotos(), &kaotos).await
    }

    /// Patches every Kaoto, as a user would.
    pub(super) async fn patch_kaotos(&self, patch: &Value) -> anyhow::Result<()> {
        let names: Vec<&str> = self.prepared.iter().map(|one| one.name.as_str()).collect();
        patch_all(&self.namespace.kaotos(), &names, patch).await
    }

    /// Removes everything.
    pub(super) async fn remove_all(&self) -> anyhow::Result<()> {
        release_all(&self.namespace.kaotos()).await?;
        for row in kinds::declared(ClusterType::Vanilla).iter() {
            self.writer()
                .api(row)
                .delete_collection(&DeleteParams::background(), &ListParams::default())
                .await
                .with_context(|| format!("could not delete every {}", row.kind))?;
        }
        Ok(())
    }

    /// All requests for one Kaoto, in the order of the operator.
    pub(super) async fn write(&self, prepared: &Prepared) -> anyhow::Result<Written> {
        let (name, kaoto) = (&prepared.name, &prepared.kaoto);
        self.writer()
            .write(name, kaoto, &prepared.children, &prepared.status)
            .await
    }

    async fn change(&self, prepared: &Prepared, written: &Written) -> anyhow::Result<()> {
        let (writer, name) = (self.writer(), prepared.name.as_str());
        let image = json!({"spec": {"image": NEW_IMAGE}});
        let changed = writer
            .roots
            .patch(name, &PatchParams::default(), &Patch::Merge(&image))
            .await?;
        // The Deployment comes last.
        let known = written.children.last();
        let known = known.context("a Kaoto renders to nothing")?;
        let body = prepared.changed.owned_by(written.owner());
        writer.rewrite(&prepared.changed, known, body).await?;
        writer
            .write_status(name, &changed, &prepared.changed_status)
            .await
    }

    /// Reads all pages of a kind in all namespaces; returns their number.
    async fn list(&self, row: &DeclaredKind) -> anyhow::Result<usize> {
        let api = api(self.plane.client.clone(), row, "");
        let mut params = ListParams::default().limit(PAGE);
        if row.role == Role::Child {
            params = params.labels(names::CHILD_SELECTOR);
        }
        let mut pages = 0;
        loop {
            let list = api.list(&params).await?;
            pages += 1;
            match list.metadata.continue_ {
                Some(token) if !token.is_empty() => params.continue_token = Some(token),
                _ => return Ok(pages),
            }
        }
    }

    fn children(&self) -> Vec<&Child> {
        let all = self.prepared.iter();
        all.flat_map(|prepared| &prepared.children).collect()
    }

    fn writer(&self) -> Writer<'_> {
        Writer {
            client: &self.plane.client,
            namespace: &self.namespace.name,
            roots: self.namespace.kaotos(),
            field_manager: names::FIELD_MANAGER,
            finalizer: names::FINALIZER,
        }
    }
}
