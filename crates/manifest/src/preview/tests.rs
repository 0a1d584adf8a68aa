use super::*;
use crate::{
    apply::{ApplyOptions, apply},
    client::MemoryClient,
    testing::parsed,
};

const SHOP: &str = "
{apiVersion: v1, kind: ConfigMap, metadata: {name: same, namespace: shop}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {template: {spec: {containers: [{name: web, image: 'web:1', tty: true}]}}}
---
{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: shop}, spec: {list: [1]}}
---
{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: shop}, stringData: {password: hunter2, user: me}}
";

async fn changed(text: &str, strategy: Strategy) -> Vec<Difference> {
    let cluster = MemoryClient::default();
    apply(
        &cluster,
        &parsed(SHOP),
        &ApplyOptions {
            strategy,
            ..ApplyOptions::default()
        },
    )
    .await;
    let writes = cluster.writes();
    let found = preview(&cluster, &parsed(text), strategy).await.unwrap();
    if strategy == Strategy::ThreeWay {
        assert_eq!(cluster.writes(), writes, "nothing is sent but reads");
    }
    assert_eq!(cluster.objects().len(), 4, "nothing is written");
    found
}

#[tokio::test]
async fn each_change_is_a_patch_that_kubectl_understands() {
    for strategy in [Strategy::ThreeWay, Strategy::ServerSide] {
        let wanted = SHOP
            .replace("image: 'web:1', tty: true", "image: 'web:2'")
            .replace("[1]", "[2]");
        let found = changed(&format!("{wanted}---\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: new, namespace: shop}}}}"), strategy).await;
        let kinds: Vec<PatchKind> = found.iter().map(|one| one.kind).collect();
        assert_eq!(
            kinds,
            [PatchKind::Strategic, PatchKind::Merge, PatchKind::Create]
        );
        let identity = |kind: &str, version: &str, name: &str| json!({"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "shop"}});
        let mut deployment = identity("Deployment", "apps/v1", "web");
        deployment["spec"] = json!({"template": {"spec": {"containers": [{"name": "web", "image": "web:2", "tty": null}]}}});
        assert_eq!(found[0].patch, deployment);
        let mut widget = identity("Widget", "example.com/v1", "w");
        widget["spec"] = json!({"list": [2]});
        assert_eq!(found[1].patch, widget);
        assert_eq!(found[2].patch, identity("ConfigMap", "v1", "new"));
        let text = found[0].unified();
        assert!(text.contains("-      - image: web:1\n+      - image: web:2\n         name: web\n-        tty: true\n"), "{text}");
        assert!(
            !text.contains("last-applied") && !text.contains("manifest-origin"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn the_values_of_secrets_are_not_shown() {
    let wanted = SHOP.replace("hunter2", "correct-horse");
    let found = changed(&wanted, Strategy::ThreeWay).await;
    let [difference] = found.as_slice() else {
        panic!("one differs")
    };
    let shown = format!(
        "{}{}",
        difference.unified(),
        difference.patch_without_secrets()
    );
    assert!(
        !shown.contains("hunter2") && !shown.contains("correct-horse"),
        "{shown}"
    );
    assert!(
        shown.contains("password"),
        "that it differs is shown: {shown}"
    );
    assert_eq!(difference.patch["stringData"]["password"], "correct-horse");
}
