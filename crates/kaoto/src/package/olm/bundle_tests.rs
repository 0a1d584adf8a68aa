use mainstay_package::{
    FileContent, Image, OLDEST_KUBERNETES, OLDEST_OPENSHIFT, identity::Reach, validate::CHANNELS,
};
use serde_json::{Map, Value, json};

use super::*;

const DIGEST: &str = "registry.test/operator@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

fn input() -> BundleInput {
    BundleInput {
        version: "v0.0.6".to_owned(),
        image: Image::tagged("registry.test/operator", "0.0.6"),
        channels: Vec::new(),
        default_channel: None,
        replaces: Some("0.0.5".to_owned()),
        openshift: None,
        created_at: "2024-05-01T12:00:00Z".to_owned(),
    }
}

fn document(files: &[File], path: &str) -> Value {
    files
        .iter()
        .find(|file| file.path == path)
        .unwrap()
        .documents()[0]
        .clone()
}

fn csv_of(input: &BundleInput) -> Value {
    document(
        &bundle(input).unwrap(),
        "bundle/manifests/kaoto-operator.clusterserviceversion.yaml",
    )
}

fn annotations_of(input: &BundleInput) -> Value {
    document(&bundle(input).unwrap(), "bundle/metadata/annotations.yaml")["annotations"].clone()
}

fn dockerfile_of(input: &BundleInput) -> String {
    match bundle(input).unwrap().pop().unwrap().content {
        FileContent::Text(text) => text,
        _ => panic!("the last file is the Dockerfile"),
    }
}

#[test]
fn a_bundle_has_these_files() {
    let paths: Vec<_> = bundle(&input())
        .unwrap()
        .into_iter()
        .map(|file| file.path)
        .collect();
    assert_eq!(
        paths,
        [
            "bundle/manifests/kaoto-operator.clusterserviceversion.yaml",
            "bundle/manifests/designer.kaoto.io_kaotoes.yaml",
            "bundle/metadata/annotations.yaml",
            "bundle/tests/scorecard/config.yaml",
            "bundle.Dockerfile",
        ]
    );
}

#[test]
fn a_release_is_named_by_its_version_and_replaces_the_one_before() {
    let csv = csv_of(&input());
    assert_eq!(csv["metadata"]["name"], "kaoto-operator.v0.0.6");
    assert_eq!(csv["metadata"]["namespace"], "placeholder");
    assert_eq!(
        (&csv["spec"]["version"], &csv["spec"]["replaces"]),
        (&json!("0.0.6"), &json!("kaoto-operator.v0.0.5"))
    );
    let first = csv_of(&BundleInput {
        replaces: None,
        ..input()
    });
    assert_eq!(first["spec"].get("replaces"), None);
}

#[test]
fn the_facts_of_the_operator_are_in_the_version() {
    let csv = csv_of(&input());
    let annotations = &csv["metadata"]["annotations"];
    assert_eq!(annotations["capabilities"], "Basic Install");
    assert_eq!(
        annotations["categories"],
        "Developer Tools, Integration & Delivery"
    );
    assert_eq!(annotations["certified"], "false");
    assert_eq!(
        annotations["containerImage"],
        "registry.test/operator:0.0.6"
    );
    assert_eq!(annotations["createdAt"], "2024-05-01T12:00:00Z");
    let spec = &csv["spec"];
    assert_eq!(
        (&spec["minKubeVersion"], &spec["maturity"]),
        (&json!(OLDEST_KUBERNETES), &json!("alpha"))
    );
    assert_eq!(
        spec["keywords"],
        json!(["integration", "kaoto", "camel-k", "designer"])
    );
    assert_eq!(
        spec["links"][0]["url"],
        "https://github.com/KaotoIO/kaoto-operator"
    );
    assert_eq!(spec["apiservicedefinitions"], json!({}));
    let supported: Vec<_> = spec["installModes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|mode| mode["supported"] == true)
        .collect();
    assert_eq!(
        supported,
        [&json!({"type": "AllNamespaces", "supported": true})]
    );
}

#[test]
fn the_examples_are_all_samples_of_the_owned_kind() {
    let csv = csv_of(&input());
    let text = csv["metadata"]["annotations"]["alm-examples"]
        .as_str()
        .unwrap();
    let examples: Vec<Value> = serde_json::from_str(text).unwrap();
    let names: Vec<_> = examples
        .iter()
        .map(|example| example["metadata"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["kaoto-demo", "designer", "kaoto-test"]);
    assert!(text.contains("\n  "), "pretty-printed");
}

#[test]
fn the_installation_is_folded_into_the_version() {
    let install = csv_of(&input())["spec"]["install"].clone();
    assert_eq!(install["strategy"], "deployment");
    let spec = &install["spec"];
    let deployment = operator::deployment("registry.test/operator:0.0.6", Reach::Cluster);
    assert_eq!(
        spec["deployments"],
        json!([{
            "name": "kaoto-operator", "label": deployment["metadata"]["labels"], "spec": deployment["spec"],
        }])
    );
    assert_eq!(
        spec["clusterPermissions"],
        json!([{"serviceAccountName": "kaoto-operator", "rules": operator::role(Reach::Cluster)["rules"]}])
    );
    assert_eq!(
        spec["permissions"],
        json!([{"serviceAccountName": "kaoto-operator", "rules": operator::IDENTITY.election_role()["rules"]}])
    );
}

#[test]
fn images_by_digest_are_listed_and_images_by_tag_are_not() {
    assert_eq!(csv_of(&input())["spec"].get("relatedImages"), None);
    let csv = csv_of(&BundleInput {
        image: Image::parse(DIGEST, "0").unwrap(),
        ..input()
    });
    assert_eq!(
        csv["spec"]["relatedImages"],
        json!([{"name": "manager", "image": DIGEST}])
    );
    assert_eq!(csv["metadata"]["annotations"]["containerImage"], DIGEST);
}

#[test]
fn only_the_openshift_variant_names_versions_of_openshift() {
    let key = "com.redhat.openshift.versions";
    assert_eq!(annotations_of(&input()).get(key), None);
    assert!(!dockerfile_of(&input()).contains(key));
    let openshift = BundleInput {
        openshift: Some(OLDEST_OPENSHIFT.to_owned()),
        ..input()
    };
    assert_eq!(annotations_of(&openshift)[key], "v4.20");
    assert!(dockerfile_of(&openshift).contains("LABEL com.redhat.openshift.versions=v4.20\n"));
    assert_eq!(csv_of(&openshift), csv_of(&input()));
}

#[test]
fn channels_are_listed_and_alpha_is_the_default() {
    assert_eq!(annotations_of(&input())[CHANNELS], "alpha");
    let default = "operators.operatorframework.io.bundle.channel.default.v1";
    assert_eq!(annotations_of(&input()).get(default), None);
    let chosen = annotations_of(&BundleInput {
        channels: vec!["alpha".to_owned(), "stable".to_owned()],
        default_channel: Some("stable".to_owned()),
        ..input()
    });
    assert_eq!(
        (&chosen[CHANNELS], &chosen[default]),
        (&json!("alpha,stable"), &json!("stable"))
    );
}

#[test]
fn the_image_carries_the_annotations_as_labels() {
    let text = dockerfile_of(&input());
    assert!(text.starts_with("FROM scratch\n"));
    let labels: Map<String, Value> = text
        .lines()
        .filter_map(|line| line.strip_prefix("LABEL ")?.split_once('='))
        .map(|(key, value)| (key.to_owned(), Value::from(value)))
        .collect();
    assert_eq!(Value::from(labels), annotations_of(&input()));
    for copy in [
        "bundle/manifests /manifests/",
        "bundle/metadata /metadata/",
        "bundle/tests/scorecard /tests/scorecard/",
    ] {
        assert!(text.contains(&format!("COPY {copy}\n")), "{copy}");
    }
}

#[test]
fn wrong_inputs_are_named() {
    let some = |text: &str| Some(text.to_owned());
    let table = [
        (
            BundleInput {
                version: "six".to_owned(),
                ..input()
            },
            "version `six` is not a version such as `0.0.6`",
        ),
        (
            BundleInput {
                replaces: some("1"),
                ..input()
            },
            "replaced version `1` is not a version such as `0.0.6`",
        ),
        (
            BundleInput {
                replaces: some("v0.0.6"),
                ..input()
            },
            "version 0.0.6 cannot replace itself",
        ),
        (
            BundleInput {
                channels: vec!["a,b".to_owned()],
                ..input()
            },
            "`a,b` is not a channel name: use letters, digits, `.`, `_` and `-`",
        ),
        (
            BundleInput {
                default_channel: some("stable"),
                ..input()
            },
            "default channel `stable` is not among the channels",
        ),
        (
            BundleInput {
                created_at: "yesterday".to_owned(),
                ..input()
            },
            "creation time `yesterday` is not a time in UTC such as `2024-05-01T12:00:00Z`",
        ),
        (
            BundleInput {
                created_at: "2024-05-01T12:00:00+02:00".to_owned(),
                ..input()
            },
            "creation time `2024-05-01T12:00:00+02:00` is not a time in UTC such as `2024-05-01T12:00:00Z`",
        ),
        (
            BundleInput {
                openshift: some("4.13"),
                ..input()
            },
            "`4.13` is not an expression of OpenShift versions: use `v4.13`, `=v4.13` or `v4.13-v4.15`",
        ),
    ];
    for (input, text) in table {
        assert_eq!(bundle(&input).unwrap_err().to_string(), text);
    }
}

#[test]
fn the_same_input_gives_the_same_bundle() {
    assert_eq!(bundle(&input()).unwrap(), bundle(&input()).unwrap());
}
