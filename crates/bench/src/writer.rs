//! The plain writer behind the floors: the requests of an operator, without the operator.

use kube::{
    Api, Client,
    api::{DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
use mainstay_cluster::resource::api;
use mainstay_engine::{key::ObjectKey, kind::DeclaredKind};
use serde_json::{Value, json};

use crate::{
    lanes::in_lanes,
    requests::{self, VERSION_OF_NOTHING, with_version},
};

/// One object that belongs to a root, ready to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Child {
    /// Row of its kind.
    pub(crate) row: DeclaredKind,
    /// Its identity.
    pub(crate) key: ObjectKey,
    /// Its fields.
    pub(crate) body: Value,
}

impl Child {
    /// The body with an owner.
    pub(crate) fn owned_by(&self, uid: &str) -> Value {
        let mut body = self.body.clone();
        if let Some(owner) = body.pointer_mut("/metadata/ownerReferences/0/uid") {
            *owner = Value::from(uid);
        }
        body
    }
}

/// Who writes, and where.
pub(crate) struct Writer<'run> {
    pub(crate) client: &'run Client,
    pub(crate) namespace: &'run str,
    /// Roots of the namespace.
    pub(crate) roots: Api<DynamicObject>,
    pub(crate) field_manager: &'static str,
    pub(crate) finalizer: &'static str,
}

/// What the plain writer has to remember of a root for its next requests.
#[derive(Debug)]
pub(crate) struct Written {
    /// The root with its finalizer.
    pub(crate) root: DynamicObject,
    /// Its objects, in the order of the writes.
    pub(crate) children: Vec<DynamicObject>,
}

impl Written {
    /// The uid of the root.
    pub(crate) fn owner(&self) -> &str {
        self.root.metadata.uid.as_deref().unwrap_or_default()
    }
}

impl Writer<'_> {
    /// All requests for one root, in the order of an operator: create, finalizer, objects, status.
    pub(crate) async fn write(
        &self,
        name: &str,
        root: &DynamicObject,
        children: &[Child],
        status: &Value,
    ) -> anyhow::Result<Written> {
        let created = self.roots.create(&PostParams::default(), root).await?;
        let finalizer = json!({"metadata": {
            "resourceVersion": created.metadata.resource_version,
            "finalizers": [self.finalizer],
        }});
        let params = requests::manager(self.field_manager);
        let root = self
            .roots
            .patch(name, &params, &Patch::Merge(&finalizer))
            .await?;
        let mut written = Written {
            root,
            children: Vec::new(),
        };
        for child in children {
            let body = with_version(child.owned_by(written.owner()), VERSION_OF_NOTHING);
            written.children.push(self.apply(child, &body).await?);
        }
        self.write_status(name, &written.root, status).await?;
        Ok(written)
    }

    /// Another body for an object that was written before.
    pub(crate) async fn rewrite(
        &self,
        child: &Child,
        known: &DynamicObject,
        mut body: Value,
    ) -> anyhow::Result<()> {
        let known = &known.metadata;
        body["metadata"]["uid"] = known.uid.clone().into();
        let body = with_version(body, known.resource_version.as_deref().unwrap_or_default());
        self.apply(child, &body).await.map(drop)
    }

    /// Applies an object.
    pub(crate) async fn apply(&self, child: &Child, body: &Value) -> anyhow::Result<DynamicObject> {
        let api = self.api(&child.row);
        requests::apply(&api, self.field_manager, &child.key.name, body).await
    }

    /// Writes the status of a root as it was seen last.
    pub(crate) async fn write_status(
        &self,
        name: &str,
        root: &DynamicObject,
        status: &Value,
    ) -> anyhow::Result<()> {
        let patch = json!({
            "metadata": {"resourceVersion": root.metadata.resource_version}, "status": status,
        });
        let params = requests::manager(self.field_manager);
        let roots = &self.roots;
        roots
            .patch_status(name, &params, &Patch::Merge(&patch))
            .await?;
        Ok(())
    }

    /// The API of a kind here.
    pub(crate) fn api(&self, row: &DeclaredKind) -> Api<DynamicObject> {
        api(self.client.clone(), row, self.namespace)
    }
}

/// Creates roots side by side, as users would.
pub(crate) async fn create_all(
    api: &Api<DynamicObject>,
    roots: &[&DynamicObject],
) -> anyhow::Result<()> {
    let create = |root: &&DynamicObject| {
        let (api, root) = (api.clone(), (*root).clone());
        async move { Ok(api.create(&PostParams::default(), &root).await?) }
    };
    in_lanes(roots, create).await.map(drop)
}

/// Patches roots side by side, as users would.
pub(crate) async fn patch_all(
    api: &Api<DynamicObject>,
    names: &[&str],
    patch: &Value,
) -> anyhow::Result<()> {
    let send = |name: &&str| {
        let (api, name) = (api.clone(), (*name).to_owned());
        async move {
            let params = PatchParams::default();
            Ok(api.patch(&name, &params, &Patch::Merge(patch)).await?)
        }
    };
    in_lanes(names, send).await.map(drop)
}

/// Takes the finalizers off all roots: nobody else does while operator and garbage collector do not run.
pub(crate) async fn release_all(api: &Api<DynamicObject>) -> anyhow::Result<()> {
    let listed = api.list(&ListParams::default()).await?.items;
    let names: Vec<&str> = listed
        .iter()
        .filter_map(|root| root.metadata.name.as_deref())
        .collect();
    patch_all(api, &names, &json!({"metadata": {"finalizers": null}})).await
}
