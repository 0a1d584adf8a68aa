use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    render::{Adjustments, render},
    scope::Scopes,
    set::ManifestSet,
    testing::{any_object, names, object, parsed},
};

fn map(key: &str, value: &str) -> BTreeMap<String, String> {
    BTreeMap::from([(key.to_owned(), value.to_owned())])
}

fn rendered(
    packaged: &str,
    added: &str,
    adjustments: &Adjustments,
) -> Result<ManifestSet, TransformError> {
    let rendered = render(
        &parsed(packaged),
        &parsed(added),
        adjustments,
        &Scopes::default(),
    );
    rendered.map(|rendered| rendered.set)
}

#[test]
fn a_failure_names_its_transformer_and_its_object_and_changes_nothing() {
    struct Refuse;
    impl Transform for Refuse {
        fn name(&self) -> &'static str {
            "refuse"
        }
        fn apply(&self, object: &mut Object) -> Result<(), Problem> {
            object.set_label("touched", "yes");
            match object.name() {
                Some("b") => Err(Problem::Other("not this one".to_owned())),
                _ => Ok(()),
            }
        }
    }
    let set = parsed(
        "{apiVersion: v1, kind: A, metadata: {name: a}}\n---\n{apiVersion: v1, kind: A, metadata: {name: b}}\n",
    );
    let before = set.hash();
    let failure = set.transform(&[None, Some(&Refuse)]).unwrap_err();
    assert_eq!(
        failure.to_string(),
        "transformer `refuse`: A b (test.yaml:3: document 2): not this one"
    );
    assert_eq!(failure.reason(), "TransformFailed");
    assert_eq!(set.hash(), before);
}

#[test]
fn labels_for_all_touch_no_template_and_no_selector() {
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}}},
    });
    let mut changed = object(&deployment);
    Labels(map("app", "x")).apply(&mut changed).unwrap();
    Annotations(map("note", "y")).apply(&mut changed).unwrap();
    let mut expected = deployment.clone();
    expected["metadata"]["labels"] = json!({"app": "x"});
    expected["metadata"]["annotations"] = json!({"note": "y"});
    assert_eq!(changed.value(), &expected);
}

#[test]
fn an_owner_is_the_only_one() {
    let owner = object(
        &json!({"apiVersion": "example.com/v1", "kind": "Root", "metadata": {"name": "r", "uid": "u"}}),
    );
    let mut owned = object(
        &json!({"apiVersion": "v1", "kind": "A", "metadata": {"name": "a", "ownerReferences": [{"uid": "old"}]}}),
    );
    Owner::of(&owner).unwrap().apply(&mut owned).unwrap();
    assert_eq!(
        owned.value()["metadata"]["ownerReferences"],
        json!([{"apiVersion": "example.com/v1", "kind": "Root", "name": "r", "uid": "u", "controller": true, "blockOwnerDeletion": true}])
    );
    assert!(
        Owner::of(&object(
            &json!({"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}})
        ))
        .is_none()
    );
}

#[test]
fn typed_editing_touches_its_type_only_and_leaves_no_empty_times() {
    use k8s_openapi::api::apps::v1::Deployment;
    let scale = typed("scale", |deployment: &mut Deployment| {
        deployment.spec.get_or_insert_default().replicas = Some(3);
        Ok(())
    });
    let set = parsed(
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, creationTimestamp: null}, spec: {selector: {}, template: {metadata: {creationTimestamp: null}}}, status: {replicas: 1}}\n---\n{apiVersion: v1, kind: Service, metadata: {name: a}}",
    );
    let changed = set.transform(&[Some(&scale)]).unwrap();
    let deployment = changed.objects()[0].value();
    assert_eq!(deployment["spec"]["replicas"], 3);
    assert!(deployment.get("status").is_none());
    assert!(
        !deployment.to_string().contains("creationTimestamp"),
        "{deployment}"
    );
    assert_eq!(changed.objects()[1], set.objects()[1]);
    let wrong = parsed("{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: 1}");
    let failure = wrong.transform(&[Some(&scale)]).unwrap_err().to_string();
    assert!(
        failure.starts_with("transformer `scale`: Deployment a"),
        "{failure}"
    );
}

#[test]
fn the_steps_come_in_their_order() {
    let bundle = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: old, creationTimestamp: null}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: quay.io/a/web:1}, {name: side, image: quay.io/a/side:1}]}
status: {replicas: 1}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
";
    let added = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: b}}";
    let workload = json!([{"name": "web", "template": {"spec": {"containers": [{"name": "web", "image": "exact:2"}]}}}]);
    let adjustments = Adjustments {
        namespace: "team".to_owned(),
        labels: map("tier", "front"),
        annotations: map("note", "x"),
        images: Images::new().with_registry("r.io"),
        workloads: Workloads(serde_json::from_value(workload).unwrap()),
        ..Adjustments::default()
    };
    let set = rendered(bundle, added, &adjustments).unwrap();
    assert_eq!(
        names(&set),
        ["Deployment team/web", "ConfigMap team/settings"]
    );
    let deployment = set.objects()[0].value();
    let images: Vec<&Value> = ["0", "1"]
        .iter()
        .map(|index| {
            deployment
                .pointer(&format!("/spec/template/spec/containers/{index}/image"))
                .unwrap()
        })
        .collect();
    assert_eq!(
        images,
        ["exact:2", "r.io/a/side:1"],
        "an image of an override is final"
    );
    assert_eq!(deployment["metadata"]["labels"], json!({"tier": "front"}));
    assert!(deployment.get("status").is_none());
    let added = set.objects()[1].value();
    assert_eq!(
        added["metadata"],
        json!({"name": "settings", "namespace": "team"}),
        "added manifests are not adjusted"
    );
}

#[test]
fn what_coincides_in_the_namespace_is_taken_once_and_told() {
    let bundle = parsed(
        "{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: b}, spec: {x: 1}}",
    );
    let adjustments = Adjustments {
        namespace: "team".to_owned(),
        workloads: Workloads(vec![WorkloadOverride {
            name: "gone".to_owned(),
            ..WorkloadOverride::default()
        }]),
        ..Adjustments::default()
    };
    let rendered = render(
        &bundle,
        &ManifestSet::default(),
        &adjustments,
        &Scopes::default(),
    )
    .unwrap();
    assert_eq!(names(&rendered.set), ["Namespace team"]);
    assert_eq!(rendered.set.objects()[0].value()["spec"]["x"], 1);
    assert_eq!(rendered.repeated.len(), 1);
    assert_eq!(rendered.workloads_not_found, ["gone"]);
}

#[test]
fn a_reserved_label_is_refused_before_anything_is_rendered() {
    let adjustments = Adjustments {
        labels: map("cpaas.io/managed-by", "me"),
        ..Adjustments::default()
    };
    let failure = rendered(
        "{apiVersion: v1, kind: A, metadata: {name: a}}",
        "",
        &adjustments,
    )
    .unwrap_err();
    assert_eq!(failure.reason(), "InvalidResource");
    assert!(
        failure.to_string().contains("`cpaas.io/managed-by`"),
        "{failure}"
    );
}

fn any_adjustments() -> impl Strategy<Value = Adjustments> {
    let registry = prop_oneof![
        Just(String::new()),
        Just("registry.example.com".to_owned()),
        Just("registry.example.com/mirror/".to_owned()),
        Just("r.io/x/${NAME}:9".to_owned()),
    ];
    let overrides = prop::collection::btree_map("(a/|)[a-c]", "[a-z]{1,3}", 0..3);
    (registry, overrides, prop::collection::vec("[a-b]", 0..3)).prop_map(|(registry, overrides, secrets)| Adjustments {
        namespace: "team".to_owned(),
        labels: map("tier", "x"),
        annotations: map("note", "y"),
        images: Images::new().with_registry(registry).with_overrides(overrides).with_pull_secrets(secrets),
        workloads: Workloads(vec![WorkloadOverride {
            name: "a".to_owned(),
            replicas: Some(2),
            selector: None,
            template: Some(json!({"metadata": {"labels": {"extra": "1"}}, "spec": {"nodeSelector": {"disk": null, "zone": "z"}}})),
        }]),
        ..Adjustments::default()
    })
}

proptest! {
    #[test]
    fn rendering_what_was_rendered_changes_nothing(
        objects in prop::collection::vec(any_object(), 0..4), adjustments in any_adjustments()
    ) {
        let nothing = ManifestSet::default();
        let scopes = Scopes::default();
        let once = render(&ManifestSet::new(objects), &nothing, &adjustments, &scopes).unwrap().set;
        let twice = render(&once, &nothing, &adjustments, &scopes).unwrap().set;
        prop_assert_eq!(once.objects(), twice.objects());
    }

    #[test]
    fn rendering_does_not_depend_on_how_the_bundle_was_written(objects in prop::collection::vec(any_object(), 0..4)) {
        let set = ManifestSet::new(objects).dedup();
        let read = ManifestSet::new(crate::parse::text(&set.to_yaml(), "x").unwrap());
        prop_assert_eq!(set.objects(), read.objects());
        prop_assert_eq!(set.hash(), read.hash());
    }
}
