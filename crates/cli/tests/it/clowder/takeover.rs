//! From the original operator to this one and back: nothing restarts, and no value is made up anew.

use std::collections::BTreeMap;

use kube::{
    Api,
    api::{DeleteParams, DynamicObject, ListParams, PostParams, PropagationPolicy},
};
use mainstay_testkit::{
    audit::{Entry, Mark},
    managed_fields::fields_of,
    namespace::{object_gone, object_when},
    wait::eventually,
};
use serde_json::{Value, json};

use super::stage::{
    CONFIG_MAP, CRON_JOB, DEPLOYMENT, ROLE_BINDING, Resource, SECRET, SERVICE, SERVICE_ACCOUNT,
    Stage, components, merge, stored_app,
};

/// Name under which the original writes.
pub(super) const ORIGINAL: &str = "manager";
pub(super) const OURS: &str = "clowder";
const KINDS: [Resource; 7] = [
    DEPLOYMENT,
    SERVICE,
    SECRET,
    CONFIG_MAP,
    SERVICE_ACCOUNT,
    ROLE_BINDING,
    CRON_JOB,
];

fn written_by(manager: &str) -> PostParams {
    PostParams {
        field_manager: Some(manager.to_owned()),
        ..PostParams::default()
    }
}

fn is_owned(object: &DynamicObject) -> bool {
    object.metadata.owner_references.is_some()
}

/// Everything that belongs to the environment and its apps.
async fn owned(stage: &Stage) -> Vec<(Resource, DynamicObject)> {
    let mut found = Vec::new();
    for kind in KINDS {
        let list = stage.api(kind).list(&ListParams::default()).await.unwrap();
        let owned = list.items.into_iter().filter(is_owned);
        found.extend(owned.map(|object| (kind, object)));
    }
    found
}

/// Removes an object and creates it again as the original does: the whole of it in one update of its own.
async fn rewrite(api: &Api<DynamicObject>, mut object: DynamicObject) {
    let name = object.metadata.name.clone().unwrap();
    let delete = DeleteParams {
        propagation_policy: Some(PropagationPolicy::Orphan),
        ..DeleteParams::default()
    };
    api.delete(&name, &delete).await.unwrap();
    object_gone(api, &name).await;
    let metadata = &mut object.metadata;
    metadata.managed_fields = None;
    metadata.resource_version = None;
    metadata.uid = None;
    metadata.creation_timestamp = None;
    metadata.generation = None;
    if let Some(fields) = object.data.as_object_mut() {
        fields.remove("status");
        for assigned in ["clusterIP", "clusterIPs"] {
            if let Some(spec) = fields.get_mut("spec").and_then(Value::as_object_mut) {
                spec.remove(assigned);
            }
        }
    }
    api.create(&written_by(ORIGINAL), &object).await.unwrap();
}

/// What must not change: the templates of pods, and every value of a Secret.
async fn precious(stage: &Stage) -> BTreeMap<String, Value> {
    let mut precious = BTreeMap::new();
    for (kind, object) in owned(stage).await {
        let name = format!("{} {}", kind.kind, object.metadata.name.unwrap());
        let value = json!({
            "template": object.data.pointer("/spec/template"), "data": object.data.get("data"),
            "generation": object.metadata.generation,
        });
        precious.insert(name, value);
    }
    precious
}

async fn built_by_the_original(stage: &Stage) {
    let mut operator = stage.operator(&[]).await;
    stage.create_environment(components()).await;
    for name in ["shop", "stock"] {
        let mut app = stored_app();
        let job = json!({"jobs": [{"name": "tidy", "schedule": "0 0 * * *",
            "podSpec": {"image": "registry.test/shop:1"}}]});
        merge(&mut app, &job);
        stage.create_app(name, app).await;
    }
    stage.environment_ready().await;
    for name in ["shop", "stock"] {
        stage.app_ready(name).await;
    }
    operator.process.terminate().await;
    for (kind, object) in owned(stage).await {
        rewrite(&stage.api(kind), object).await;
    }
    // The controllers of the cluster have something to say about new Deployments.
    for (kind, object) in owned(stage).await {
        if kind.kind == DEPLOYMENT.kind {
            let name = object.metadata.name.unwrap();
            object_when(&stage.api(kind), &name, "is observed", |deployment| {
                deployment["status"]["observedGeneration"] == deployment["metadata"]["generation"]
            })
            .await;
        }
    }
}

/// Adds to an object what an older version of the original wrote.
pub(super) async fn leave_behind(
    stage: &Stage,
    kind: Resource,
    name: &str,
    change: impl Fn(&mut Value),
) {
    let api = stage.api(kind);
    // The controllers of the cluster may write in between.
    eventually(&format!("{name} is left behind"), || async {
        let mut object = serde_json::to_value(api.get(name).await.unwrap()).unwrap();
        change(&mut object);
        let object: DynamicObject = serde_json::from_value(object).unwrap();
        match api.replace(name, &written_by(ORIGINAL), &object).await {
            Err(kube::Error::Api(status)) if status.is_conflict() => None,
            written => Some(written.unwrap()),
        }
    })
    .await;
}

/// Whether an object holds a value that was made up: it is read and never written again.
pub(super) fn is_made_up(kind: Resource, object: &DynamicObject) -> bool {
    kind.kind == "Secret" && object.metadata.labels.is_none()
}

/// Waits until everything that is written again and again is ours. What apps and environment say is old: it speaks of
/// the time before.
async fn taken_over(stage: &Stage) {
    eventually("everything is taken over", || async {
        let all = owned(stage).await;
        let mut written = all
            .iter()
            .filter(|(kind, object)| !is_made_up(*kind, object));
        written
            .all(|(_, object)| {
                fields_of(object, ORIGINAL, "Update").is_none()
                    && fields_of(object, OURS, "Apply").is_some()
            })
            .then_some(())
    })
    .await;
    object_when(
        &stage.api(SERVICE),
        "shop-web",
        "has nothing left behind",
        |service| service["metadata"]["labels"]["left"].is_null(),
    )
    .await;
}

#[tokio::test]
async fn what_the_original_wrote_becomes_ours_without_a_restart_and_can_go_back() {
    let stage = Stage::alone("takeover").await;
    built_by_the_original(&stage).await;
    let before = precious(&stage).await;
    leave_behind(&stage, SERVICE, "shop-web", |service| {
        service["metadata"]["labels"]["left"] = json!("behind");
        service["spec"]["publishNotReadyAddresses"] = json!(true);
    })
    .await;
    let team = json!({"metadata": {"labels": {"team": "blue"}}});
    super::stage::patch_object(&stage.api(SERVICE), "shop-web", team).await;

    let mark = Mark::now(stage.plane.audit_log());
    let mut operator = stage.operator(&[]).await;
    stage.environment_ready().await;
    for name in ["shop", "stock"] {
        stage.app_ready(name).await;
    }
    taken_over(&stage).await;
    mark.settled_about(&stage.environment).await;
    assert_eq!(
        precious(&stage).await,
        before,
        "templates, values, generations"
    );
    for (kind, object) in owned(&stage).await {
        let name = object.metadata.name.clone().unwrap();
        let is_made_up = is_made_up(kind, &object);
        let left = fields_of(&object, ORIGINAL, "Update");
        let ours = fields_of(&object, OURS, "Apply");
        assert_eq!(left.is_some(), is_made_up, "{} {name}: {left:?}", kind.kind);
        assert_eq!(ours.is_some(), !is_made_up, "{} {name}", kind.kind);
    }
    let service = stage.get(SERVICE, "shop-web").await;
    assert_eq!(service["metadata"]["labels"]["left"], Value::Null);
    assert_eq!(
        service["metadata"]["labels"]["team"], "blue",
        "somebody else's"
    );
    assert_eq!(service["spec"]["publishNotReadyAddresses"], Value::Null);

    operator.process.terminate().await;
    let mark = Mark::now(stage.plane.audit_log());
    let mut operator = stage.operator(&[]).await;
    let mut writes = mark.settled_about(&stage.environment).await;
    writes.retain(Entry::is_write);
    assert_eq!(writes, [], "it is taken over once");

    // Back: the original replaces what it finds, and later we find what it left.
    operator.process.terminate().await;
    leave_behind(&stage, DEPLOYMENT, "shop-web", |deployment| {
        deployment["spec"]["template"]["spec"]["containers"][0]["image"] =
            json!("registry.test/shop:2");
    })
    .await;
    stage
        .patch_app("shop", json!({"metadata": {"labels": {"round": "two"}}}))
        .await;
    let _operator = stage.operator(&[]).await;
    object_when(
        &stage.api(DEPLOYMENT),
        "shop-web",
        "is as the app says",
        |deployment| {
            deployment["spec"]["template"]["spec"]["containers"][0]["image"]
                == "registry.test/shop:1"
                && deployment["metadata"]["labels"]["round"] == "two"
        },
    )
    .await;
}
