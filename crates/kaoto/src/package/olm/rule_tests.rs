use mainstay_package::{
    FileContent, Image,
    validate::{CHANNELS, validate},
};
use serde_json::{Value, json};

use super::*;

fn files() -> Vec<File> {
    let input = BundleInput {
        version: "0.0.6".to_owned(),
        image: Image::tagged("operator", "0.0.6"),
        channels: Vec::new(),
        default_channel: None,
        replaces: Some("0.0.5".to_owned()),
        openshift: None,
        created_at: "2024-05-01T12:00:00Z".to_owned(),
    };
    bundle(&input).unwrap()
}

/// What is said after changing the first document of the file at this position.
fn broken(position: usize, change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut files = files();
    let FileContent::Yaml(documents) = &mut files[position].content else {
        panic!("not a YAML file");
    };
    change(&mut documents[0]);
    said(&files)
}

fn said(files: &[File]) -> Vec<String> {
    validate(&product("operator:0.0.6"), files)
        .iter()
        .map(ToString::to_string)
        .collect()
}

const CSV: usize = 0;
const CRD: usize = 1;
const ANNOTATIONS: usize = 2;

#[test]
fn a_generated_bundle_keeps_every_rule() {
    assert_eq!(said(&files()), Vec::<String>::new());
}

#[test]
fn there_is_exactly_one_version() {
    assert_eq!(
        said(&files()[1..]),
        ["there must be one ClusterServiceVersion, not 0"]
    );
    let twice = [files(), files()].concat();
    assert_eq!(
        said(&twice),
        ["there must be one ClusterServiceVersion, not 2"]
    );
}

#[test]
fn the_name_follows_from_package_and_version() {
    let said = broken(CSV, |csv| csv["metadata"]["name"] = json!("kaoto.v0.0.6"));
    assert_eq!(
        said,
        ["the name `kaoto.v0.0.6` is not `kaoto-operator.v0.0.6`"]
    );
    let said = broken(CSV, |csv| {
        csv["spec"]["replaces"] = json!("kaoto-operator.v0.0.6");
    });
    assert_eq!(said, ["`kaoto-operator.v0.0.6` replaces itself"]);
}

#[test]
fn versions_are_semantic() {
    let said = broken(CSV, |csv| csv["spec"]["minKubeVersion"] = json!("1.22"));
    assert_eq!(
        said,
        ["spec.minKubeVersion `1.22` is not a semantic version"]
    );
    let said = broken(CSV, |csv| {
        csv["spec"]["version"] = json!("6");
        csv["metadata"]["name"] = json!("kaoto-operator.v6");
    });
    assert_eq!(said, ["spec.version `6` is not a semantic version"]);
}

#[test]
fn owned_definitions_are_in_the_bundle_and_serve_the_version() {
    let said = broken(CRD, |crd| {
        crd["metadata"]["name"] = json!("others.kaoto.io");
    });
    assert_eq!(
        said,
        ["the owned definition kaotoes.designer.kaoto.io is not in the bundle"]
    );
    let said = broken(CRD, |crd| {
        crd["spec"]["versions"][0]["served"] = json!(false);
    });
    assert_eq!(
        said,
        ["the owned definition kaotoes.designer.kaoto.io does not serve v1alpha1"]
    );
    let said = broken(CSV, |csv| {
        csv["spec"]["customresourcedefinitions"]["owned"] = json!([]);
        csv["metadata"]["annotations"]["alm-examples"] = json!("[]");
    });
    assert_eq!(said, ["no definition is owned"]);
}

#[test]
fn there_is_a_channel() {
    let said = broken(ANNOTATIONS, |document| {
        document["annotations"][CHANNELS] = json!("");
    });
    assert_eq!(said, ["there is no channel"]);
}

#[test]
fn examples_are_a_list_of_owned_kinds() {
    let with = |examples: &str| {
        broken(CSV, |csv| {
            csv["metadata"]["annotations"]["alm-examples"] = json!(examples);
        })
    };
    assert_eq!(with("{}"), ["alm-examples is not a JSON list"]);
    assert_eq!(with("[,]"), ["alm-examples is not a JSON list"]);
    assert_eq!(
        with(r#"[{"apiVersion": "v1", "kind": "Kaoto"}]"#),
        [r#"the example "v1" "Kaoto" is of no owned kind"#]
    );
}

#[test]
fn every_install_mode_is_stated() {
    let said = broken(CSV, |csv| {
        csv["spec"]["installModes"]
            .as_array_mut()
            .unwrap()
            .remove(1);
    });
    assert_eq!(said, ["install mode SingleNamespace is not stated"]);
}

#[test]
fn the_capability_level_is_one_of_five() {
    let said = broken(CSV, |csv| {
        csv["metadata"]["annotations"]["capabilities"] = json!("Everything");
    });
    assert_eq!(said, ["`Everything` is not a capability level"]);
}

#[test]
fn maintainers_can_be_written_to() {
    for address in [
        "",
        "kaoto",
        "@kaoto.io",
        "a@b@kaoto.io",
        "info@kaoto",
        "info@kaoto.",
        "in fo@kaoto.io",
    ] {
        let said = broken(CSV, |csv| {
            csv["spec"]["maintainers"][0]["email"] = json!(address);
        });
        assert_eq!(said, [format!("`{address}` is not an e-mail address")]);
    }
    assert_eq!(
        broken(CSV, |csv| csv["spec"]["maintainers"] = json!([])),
        ["there is no maintainer"]
    );
}

#[test]
fn no_permission_gets_lost() {
    let said = broken(CSV, |csv| {
        csv["spec"]["install"]["spec"]["clusterPermissions"][0]["rules"]
            .as_array_mut()
            .unwrap()
            .remove(0);
    });
    assert_eq!(said, [r#"the rule for ["services"] is missing"#]);
}
