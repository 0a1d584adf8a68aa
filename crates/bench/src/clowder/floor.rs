//! The floor: the requests alone, sent by a plain writer.

use anyhow::Context;
use kube::{
    Api,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
use mainstay_clowder::{kinds, names};
use mainstay_cluster::resource::api;
use mainstay_engine::kind::{DeclaredKind, Role, Scope};
use mainstay_testkit::Namespace;
use serde_json::{Value, json};

use super::objects::{
    self, Prepared, deployments, image, image_number, prepare, reconciled_generation,
};
use super::operator::Course;
use crate::{
    cost::Cost,
    lanes::in_lanes,
    plane::Plane,
    watch::{Observer, until_seen},
    writer::{Writer, Written, create_all, patch_all, release_all},
};

/// A namespace, an environment and the apps that are written into them.
#[derive(Debug)]
pub(super) struct Bench<'run> {
    /// Where.
    pub(super) plane: &'run Plane,
    /// Namespace of the apps, and target of the environment.
    pub(super) namespace: &'run Namespace,
    /// Name of the environment.
    pub(super) environment: String,
    /// What.
    pub(super) prepared: Vec<Prepared>,
    /// How a life goes.
    pub(super) course: Course,
}

impl<'run> Bench<'run> {
    /// Prepares so many apps.
    pub(super) fn new(
        plane: &'run Plane,
        namespace: &'run Namespace,
        count: usize,
        course: Course,
    ) -> anyhow::Result<Self> {
        let environment = format!("{}-{count}", namespace.name);
        Ok(Self {
            plane,
            namespace,
            prepared: prepare(&environment, &namespace.name, count)?,
            environment,
            course,
        })
    }

    /// Objects of one app, which all have the same number.
    pub(super) fn objects_per_app(&self) -> usize {
        let counts = self.prepared.iter().map(|prepared| prepared.children.len());
        counts.max().unwrap_or_default()
    }

    /// Floor A: everything for every app, until the watch shows the last one reconciled.
    pub(super) async fn write_all(&self) -> anyhow::Result<(Cost, Vec<Written>)> {
        let mut observer = Observer::start(self.apps(), reconciled_generation).await?;
        let count = self.prepared.len();
        self.plane
            .cost(async {
                let mut written = Vec::new();
                for wave in self.waves() {
                    written.extend(in_lanes(&wave, |prepared| self.write(prepared)).await?);
                }
                observer.wait_for(count, 1).await?;
                Ok(written)
            })
            .await
    }

    /// Floor D: another image for some apps, one after the other; seconds until the watch shows the Deployment.
    pub(super) async fn change_some(
        &self,
        written: &[Written],
        count: usize,
    ) -> anyhow::Result<Vec<f64>> {
        let mut observer = Observer::start(self.namespace.deployments(), image_number).await?;
        let mut seconds = Vec::new();
        // The writer went through the apps in waves.
        let order = self.waves().into_iter().flatten();
        for (number, (prepared, written)) in order.zip(written).take(count).enumerate() {
            let number = number + 2;
            let change = self.change(prepared, written, number);
            seconds.push(until_seen(&mut observer, 1, i64::try_from(number)?, change).await?);
        }
        Ok(seconds)
    }

    /// The apps without dependencies, then the others: nobody has to wait for somebody who does not exist yet.
    fn waves(&self) -> [Vec<&Prepared>; 2] {
        let (others, first) = self.prepared.iter().partition(|prepared| prepared.depends);
        [first, others]
    }

    /// Creates every app and nothing else: the user's part.
    pub(super) async fn create_apps(&self) -> anyhow::Result<()> {
        for wave in self.waves() {
            let apps: Vec<&DynamicObject> = wave.into_iter().map(|one| &one.app).collect();
            create_all(&self.apps(), &apps).await?;
        }
        Ok(())
    }

    /// Patches every app, as a user would.
    pub(super) async fn patch_apps(&self, patch: &Value) -> anyhow::Result<()> {
        let names: Vec<&str> = self.prepared.iter().map(|one| one.name.as_str()).collect();
        patch_all(&self.apps(), &names, patch).await
    }

    /// Removes everything.
    pub(super) async fn remove_all(&self) -> anyhow::Result<()> {
        let environments = self.environments();
        for roots in [self.apps(), environments.clone()] {
            release_all(&roots).await?;
        }
        let declared = kinds::KINDS;
        let own = declared.iter().filter(|row| row.scope == Scope::Namespaced);
        let own = own.filter(|row| !row.optional && row.role != Role::Reference);
        let mut apis: Vec<Api<DynamicObject>> = own.map(|row| self.writer().api(row)).collect();
        apis.push(self.namespace.api("v1", "Event", "events"));
        apis.push(environments);
        for api in apis {
            api.delete_collection(&DeleteParams::background(), &ListParams::default())
                .await?;
        }
        Ok(())
    }

    /// All requests for one app, in the order of the operator.
    async fn write(&self, prepared: &Prepared) -> anyhow::Result<Written> {
        let (name, app) = (&prepared.name, &prepared.app);
        let status = objects::status(1);
        let writer = self.writer();
        let written = writer.write(name, app, &prepared.children, &status).await?;
        let event = serde_json::from_value(objects::event(&written.root, 1))?;
        let events = self.namespace.api("v1", "Event", "events");
        events.create(&PostParams::default(), &event).await?;
        Ok(written)
    }

    /// The user's patch, then what has to follow: the configuration knows the image too.
    async fn change(
        &self,
        prepared: &Prepared,
        written: &Written,
        number: usize,
    ) -> anyhow::Result<()> {
        let patch = json!({"spec": {"deployments": deployments(number)}});
        let params = PatchParams::default();
        let writer = self.writer();
        let changed = writer
            .roots
            .patch(&prepared.name, &params, &Patch::Merge(&patch))
            .await?;
        for (child, known) in prepared.children.iter().zip(&written.children) {
            let mut body = child.owned_by(written.owner());
            if child.row.kind == kinds::DEPLOYMENT {
                let old = body.pointer_mut("/spec/template/spec/containers/0/image");
                *old.context("a Deployment has no image")? = image(number).into();
            } else if child.row.kind == kinds::SECRET {
                body["metadata"]["annotations"]["example.org/changed"] = "yes".into();
            } else {
                continue;
            }
            writer.rewrite(child, known, body).await?;
        }
        let status = objects::status(2);
        writer.write_status(&prepared.name, &changed, &status).await
    }

    /// Apps of the namespace.
    pub(super) fn apps(&self) -> Api<DynamicObject> {
        self.namespace
            .api(&kinds::CLOWD_APP.api_version(), "ClowdApp", "clowdapps")
    }

    /// All environments.
    pub(super) fn environments(&self) -> Api<DynamicObject> {
        const ROW: DeclaredKind =
            DeclaredKind::new(kinds::CLOWD_ENVIRONMENT, "clowdenvironments", Role::Root)
                .cluster_scoped();
        api(self.plane.client.clone(), &ROW, "")
    }

    fn writer(&self) -> Writer<'_> {
        Writer {
            client: &self.plane.client,
            namespace: &self.namespace.name,
            roots: self.apps(),
            field_manager: names::FIELD_MANAGER,
            finalizer: names::APP_FINALIZER,
        }
    }
}
