//! Hostile and broken input harms itself only.

use kube::{
    Api,
    api::{DynamicObject, Patch, PatchParams, PostParams},
};
use mainstay_testkit::{
    Namespace, Operator,
    audit::Mark,
    plane::{OwnPlane, install_definition},
};
use serde_json::{Value, json};

use crate::{condition, mainstay, message, operated, run};

#[tokio::test]
async fn a_hostile_path_is_refused_before_anything_is_applied() {
    let (plane, namespace, _operator) = operated("hostile").await;
    let mark = Mark::now(plane.audit_log());
    let path = "/a { return 200; }";
    namespace
        .create_kaoto("designer", json!({"ingress": {"path": path}}))
        .await;
    namespace.create_kaoto("neighbour", json!({})).await;
    let kaoto = namespace
        .kaoto_when("designer", "says Error", |kaoto| {
            kaoto["status"]["phase"] == "Error"
        })
        .await;
    for r#type in ["Ingress", "Reconcile"] {
        assert_eq!(condition(&kaoto, r#type), "False Failure", "{type}");
        let text = message(&kaoto, r#type);
        assert!(
            text.starts_with("spec.ingress.path: contains ' '"),
            "{text}"
        );
        assert!(text.contains("use a plain path"), "the way out: {text}");
    }
    assert_eq!(condition(&kaoto, "Service"), "", "nothing is said of it");
    assert!(kaoto["status"]["observedGeneration"].is_null());
    namespace.kaoto_ready("neighbour").await;
    let sent = mark.settled(&namespace.name).await;
    let about = sent.iter().filter(|entry| entry.name == "designer");
    let resources: Vec<&str> = about.map(|entry| entry.resource.as_str()).collect();
    assert_eq!(resources, ["kaotoes/status"], "and it is not tried again");

    namespace
        .patch_kaoto("designer", json!({"spec": {"ingress": {"path": "/a"}}}))
        .await;
    let kaoto = namespace.kaoto_ready("designer").await;
    assert_eq!(condition(&kaoto, "Ingress"), "True Deployed");
}

/// The definition as it is, but with a spec that takes everything.
fn permissive(definition: &Value) -> Value {
    let mut definition = definition.clone();
    let schema = &mut definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    schema["properties"]["spec"] = json!({"x-kubernetes-preserve-unknown-fields": true});
    definition
}

async fn store(kaotos: &Api<DynamicObject>, name: &str, spec: Value) {
    let kaoto = json!({
        "apiVersion": "designer.kaoto.io/v1alpha1", "kind": "Kaoto",
        "metadata": {"name": name}, "spec": spec,
    });
    let kaoto = serde_json::from_value(kaoto).unwrap();
    kaotos.create(&PostParams::default(), &kaoto).await.unwrap();
}

/// A plane of its own, because the definition belongs to all other tests as well.
#[tokio::test]
async fn kaotos_from_before_the_schema_do_not_disturb_the_others() {
    let plane = OwnPlane::start("tests-permissive");
    let client = plane.client().await;
    says_how_to_get_the_definition(&plane).await;
    let (_, definition) = mainstay_api::crds().into_iter().next().unwrap();
    install_definition(&client, &permissive(&definition)).await;
    let namespace = Namespace::create(&client, "broken").await;
    let broken = [
        ("list", json!([1, 2]), "spec: is a list, not an object"),
        (
            "number",
            json!({"image": 7}),
            "spec.image: is a number, not a string",
        ),
        (
            "word",
            json!({"ingress": "yes"}),
            "spec.ingress: is a string, not an object",
        ),
        (
            "deep",
            json!({"ingress": {"host": ["a"]}}),
            "spec.ingress.host: is a list, not a string",
        ),
    ];
    let kaotos = namespace.kaotos();
    for (name, spec, _) in &broken {
        store(&kaotos, name, spec.clone()).await;
    }
    store(&kaotos, "good", json!({"ingress": {}})).await;
    let arguments = ["--watch-namespace", &namespace.name];
    let mut operator = Operator::start(mainstay(), &plane.kubeconfig(), &arguments);
    operator.ready().await;
    namespace.kaoto_ready("good").await;
    for (name, _, expected) in &broken {
        let kaoto = namespace
            .kaoto_when(name, "says Error", |kaoto| {
                kaoto["status"]["phase"] == "Error"
            })
            .await;
        let text = message(&kaoto, "Reconcile");
        assert!(text.starts_with(expected), "{name}: {text}");
        assert_eq!(namespace.services().get_opt(name).await.unwrap(), None);
    }
    // The schema arrives, and the stored objects are older than it.
    install_definition(&client, &definition).await;
    operator.kill();
    let mut operator = Operator::start(mainstay(), &plane.kubeconfig(), &arguments);
    operator.ready().await;
    store(&kaotos, "late", json!({})).await;
    namespace.kaoto_ready("late").await;
    let patch = json!({"spec": {"image": null}});
    let params = PatchParams::default();
    let patch = Patch::Merge(&patch);
    kaotos.patch("number", &params, &patch).await.unwrap();
    namespace.kaoto_ready("number").await;
    for (name, _, _) in &broken {
        namespace.delete_kaoto(name).await;
        namespace.kaoto_gone(name).await;
    }
    assert!(operator.is_running());
}

async fn says_how_to_get_the_definition(plane: &OwnPlane) {
    let hint = "mainstay crds | kubectl apply --server-side -f -";
    let file = "apiVersion: designer.kaoto.io/v1alpha1\nkind: Kaoto\nmetadata:\n  name: designer\n";
    for arguments in [
        &["plan", "-f", "-"][..],
        &["apply", "-f", "-"],
        &["tree", "kaoto/designer"],
        &["why", "kaoto/designer"],
    ] {
        let program = run(arguments).kubeconfig(&plane.kubeconfig());
        let ended = program.input(file).run().await;
        assert_eq!(ended.code, Some(1), "{arguments:?}: {ended}");
        assert!(ended.stderr.contains("has no kind Kaoto"), "{ended}");
        assert!(ended.stderr.contains(hint), "{arguments:?}: {ended}");
    }
}
