//! The floors: the requests alone, sent by a plain writer.

use anyhow::Context;
use kube::{
    Api,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
use mainstay_cluster::resource::api;
use mainstay_engine::kind::{DeclaredKind, Role};
use mainstay_kaoto::{ClusterType, kinds, names};
use mainstay_testkit::Namespace;
use serde_json::{Value, json};

use super::{
    objects::{Child, NEW_IMAGE, Prepared, Sample, prepare},
    ready::ready_generation,
};
use crate::{
    cost::Cost,
    lanes::in_lanes,
    plane::Plane,
    requests::{self, VERSION_OF_NOTHING, with_version},
    watch::Observer,
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

/// What the plain writer has to remember of a Kaoto for its next requests.
#[derive(Debug)]
pub(super) struct Written {
    owner: String,
    deployment: DynamicObject,
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
        let apply = |(name, child): &(&str, &Child)| {
            let body = with_version(child.body.clone(), VERSION_OF_NOTHING);
            let (row, name) = (child.row.clone(), (*name).to_owned());
            async move { self.apply(&row, name, body).await }
        };
        let (cost, _) = self.plane.cost(in_lanes(&children, apply)).await?;
        Ok(cost)
    }

    /// Floor B: only the children, by POST.
    pub(super) async fn post_children(&self) -> anyhow::Result<Cost> {
        let children = self.children();
        let post = |(_, child): &(&str, &Child)| {
            let (api, body) = (self.api(&child.row), child.body.clone());
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
        let api = self.namespace.kaotos();
        let create = |prepared: &Prepared| {
            let (api, kaoto) = (api.clone(), prepared.kaoto.clone());
            async move { Ok(api.create(&PostParams::default(), &kaoto).await?) }
        };
        in_lanes(&self.prepared, create).await.map(drop)
    }

    /// Patches every Kaoto, as a user would.
    pub(super) async fn patch_kaotos(&self, patch: &Value) -> anyhow::Result<()> {
        let api = self.namespace.kaotos();
        let send = |prepared: &Prepared| {
            let (api, name) = (api.clone(), prepared.name.clone());
            async move {
                let params = PatchParams::default();
                Ok(api.patch(&name, &params, &Patch::Merge(patch)).await?)
            }
        };
        in_lanes(&self.prepared, send).await.map(drop)
    }

    /// Removes everything. Nobody else takes the finalizer off: operator and garbage collector do not run.
    pub(super) async fn clear(&self) -> anyhow::Result<()> {
        let kaotos = self.namespace.kaotos();
        let listed = kaotos.list(&ListParams::default()).await?.items;
        let release = |kaoto: &DynamicObject| {
            let (api, name) = (kaotos.clone(), kaoto.metadata.name.clone());
            async move {
                let patch = json!({"metadata": {"finalizers": null}});
                let params = PatchParams::default();
                let name = name.unwrap_or_default();
                Ok(api.patch(&name, &params, &Patch::Merge(&patch)).await?)
            }
        };
        in_lanes(&listed, release).await?;
        for row in kinds::declared(ClusterType::Vanilla).iter() {
            self.api(row)
                .delete_collection(&DeleteParams::background(), &ListParams::default())
                .await
                .with_context(|| format!("could not delete every {}", row.kind))?;
        }
        Ok(())
    }

    /// All requests for one Kaoto, in the order of the operator.
    pub(super) async fn write(&self, prepared: &Prepared) -> anyhow::Result<Written> {
        let (kaotos, name) = (self.namespace.kaotos(), prepared.name.as_str());
        let created = kaotos
            .create(&PostParams::default(), &prepared.kaoto)
            .await?;
        let finalizer = json!({"metadata": {
            "resourceVersion": created.metadata.resource_version,
            "finalizers": [names::FINALIZER],
        }});
        let params = requests::manager(names::FIELD_MANAGER);
        let finalized = kaotos
            .patch(name, &params, &Patch::Merge(&finalizer))
            .await?;
        let owner = finalized.metadata.uid.clone().unwrap_or_default();
        let mut deployment = None;
        for child in &prepared.children {
            let body = with_version(child.owned_by(&owner), VERSION_OF_NOTHING);
            deployment = Some(self.apply(&child.row, name.to_owned(), body).await?);
        }
        self.write_status(name, &finalized, &prepared.status)
            .await?;
        Ok(Written {
            owner,
            deployment: deployment.context("a Kaoto renders to nothing")?,
        })
    }

    async fn change(&self, prepared: &Prepared, written: &Written) -> anyhow::Result<()> {
        let name = prepared.name.as_str();
        let image = json!({"spec": {"image": NEW_IMAGE}});
        let changed = self
            .namespace
            .kaotos()
            .patch(name, &PatchParams::default(), &Patch::Merge(&image))
            .await?;
        let known = &written.deployment.metadata;
        let mut body = prepared.changed.owned_by(&written.owner);
        body["metadata"]["uid"] = known.uid.clone().into();
        let body = with_version(body, known.resource_version.as_deref().unwrap_or_default());
        self.apply(&prepared.changed.row, name.to_owned(), body)
            .await?;
        self.write_status(name, &changed, &prepared.changed_status)
            .await
    }

    async fn write_status(
        &self,
        name: &str,
        kaoto: &DynamicObject,
        status: &Value,
    ) -> anyhow::Result<()> {
        let patch = json!({
            "metadata": {"resourceVersion": kaoto.metadata.resource_version}, "status": status,
        });
        let api = self.namespace.kaotos();
        api.patch_status(
            name,
            &requests::manager(names::FIELD_MANAGER),
            &Patch::Merge(&patch),
        )
        .await?;
        Ok(())
    }

    async fn apply(
        &self,
        row: &DeclaredKind,
        name: String,
        body: Value,
    ) -> anyhow::Result<DynamicObject> {
        requests::apply(&self.api(row), names::FIELD_MANAGER, &name, &body).await
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

    fn children(&self) -> Vec<(&str, &Child)> {
        let all = self.prepared.iter().flat_map(|prepared| {
            let children = prepared.children.iter();
            children.map(|child| (prepared.name.as_str(), child))
        });
        all.collect()
    }

    fn api(&self, row: &DeclaredKind) -> Api<DynamicObject> {
        api(self.plane.client.clone(), row, &self.namespace.name)
    }
}
