//! Whatever users write: validate and render never panic, never differ between two runs, and never
//! produce an object that is not marked as ours.

use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};
use mainstay_engine::reconciler::{ReconcileEnd, Reconciler};
use proptest::{collection, prelude::*};
use serde_json::{Map, Value, json};

use crate::{
    KaotoReconciler,
    exposure::SUFFIX,
    fixture::{UID, settings},
    settings::ClusterType,
    status,
    validate::validate,
};

const EPOCH: Time = Time(Timestamp::UNIX_EPOCH);

fn any_text() -> impl Strategy<Value = String> {
    collection::vec(any::<char>(), 0..16).prop_map(String::from_iter)
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let key = prop_oneof![
            Just("image".to_owned()),
            Just("ingress".to_owned()),
            Just("path".to_owned()),
            any_text()
        ];
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            collection::vec((key, inner), 0..4)
                .prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

fn any_spec() -> impl Strategy<Value = Value> {
    let path = prop_oneof![
        any_text(),
        "/?[a-z0-9./-]{0,20}/?",
        "/?[a-z]{0,8}".prop_map(|path| format!("{path}{SUFFIX}")),
    ];
    let written = (any_text(), any_text(), path).prop_map(
        |(image, host, path)| json!({"image": image, "ingress": {"host": host, "path": path}}),
    );
    prop_oneof![3 => written, 1 => any_json()]
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-z0-9]([a-z0-9-]{0,70}[a-z0-9])?(\\.[a-z]{1,4})?", 1 => any_text()]
}

fn check(root: &Value, cluster_type: ClusterType) -> Result<(), TestCaseError> {
    let reconciler = KaotoReconciler::new(settings(cluster_type));
    let input = match validate(root, &reconciler.settings) {
        Ok(input) => input,
        Err(rejection) => {
            prop_assert!(!rejection.path.is_empty() && !rejection.message.is_empty());
            let end = ReconcileEnd::Rejected(&rejection);
            let report = status::report(root, None, end, &EPOCH);
            prop_assert_eq!(&report.status["phase"], "Error");
            return Ok(());
        }
    };
    prop_assert_eq!(reconciler.decode(root), Ok(input.clone()));
    let set = reconciler
        .render_kaoto(&input)
        .map_err(|failure| TestCaseError::fail(failure.to_string()))?;
    let again = reconciler
        .render_kaoto(&input)
        .map_err(|failure| TestCaseError::fail(failure.to_string()))?;
    prop_assert!(set.iter().eq(again.iter()), "two renders differ");
    prop_assert_eq!(set.iter().count(), 3);
    for body in set.bodies() {
        let metadata = &body["metadata"];
        prop_assert_eq!(&metadata["name"], &root["metadata"]["name"]);
        prop_assert_eq!(&metadata["namespace"], "studio");
        prop_assert_eq!(metadata["labels"].as_object().map(Map::len), Some(5));
        prop_assert_eq!(&metadata["ownerReferences"][0]["uid"], UID);
        if let Some(path) = body
            .pointer("/spec/rules/0/http/paths/0/path")
            .and_then(Value::as_str)
        {
            prop_assert!(path.starts_with('/') && path.ends_with("(.*)"), "{}", path);
            prop_assert!(!path.contains([';', '{', '}', '\n', '"', ' ']), "{}", path);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(10_000) })]

    #[test]
    fn any_object_is_rejected_with_a_reason_or_rendered_twice_the_same(name in any_name(), spec in any_spec(), openshift in any::<bool>()) {
        let root = json!({
            "apiVersion": "designer.kaoto.io/v1alpha1",
            "kind": "Kaoto",
            "metadata": {"name": name, "namespace": "studio", "uid": UID, "generation": 1},
            "spec": spec,
        });
        check(&root, if openshift { ClusterType::OpenShift } else { ClusterType::Vanilla })?;
    }

}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn any_json_at_all_is_survived(root in any_json()) {
        let reconciler = KaotoReconciler::new(settings(ClusterType::Vanilla));
        if let Err(rejection) = validate(&root, &reconciler.settings) {
            let report = status::report(&root, None, ReconcileEnd::Rejected(&rejection), &EPOCH);
            prop_assert_eq!(&report.status["phase"], "Error");
        }
    }
}
