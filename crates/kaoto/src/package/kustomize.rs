//! The kustomize tree: `config/standalone` is what users install.

use mainstay_package::{
    File, Image, PLACEHOLDER_IMAGE,
    identity::Reach,
    kustomize::{
        crd_directory, kustomization, manager_directory, manifests_directory, scorecard_directory,
        with_resources,
    },
};
use serde_json::json;

use super::{crd, olm, operator, samples};
use crate::names;

/// File that holds the patch of the installable overlays.
const PULL_POLICY_PATCH: &str = "image_pull_policy_patch.yaml";

/// All files of the tree, under `config/`.
pub fn kustomize_tree(image: &Image, version: &str, reach: Reach<'_>) -> Vec<File> {
    let mut files = Vec::new();
    files.extend(crd_directory(&[crd()]));
    files.extend(rbac_directory(reach));
    files.extend(manager_directory(
        image,
        vec![
            operator::namespace(),
            operator::deployment(PLACEHOLDER_IMAGE, reach),
        ],
    ));
    files.push(kustomization(
        "default",
        json!({"resources": ["../crd", "../rbac", "../manager"]}),
    ));
    // `e2e` has the same content for now; it is apart so that test deployments can go their own way.
    files.extend(
        ["standalone", "e2e"]
            .into_iter()
            .flat_map(overlay_directory),
    );
    files.extend(samples_directory(image, version));
    files.extend(scorecard_directory());
    files.extend(manifests_directory(&olm::product(PLACEHOLDER_IMAGE)));
    files.extend(prometheus_directory());
    files
}

fn rbac_directory(reach: Reach<'_>) -> Vec<File> {
    with_resources(
        "rbac",
        vec![
            (
                "service_account.yaml",
                vec![operator::IDENTITY.service_account()],
            ),
            ("role.yaml", vec![operator::role(reach)]),
            (
                "role_binding.yaml",
                vec![operator::IDENTITY.role_binding(reach)],
            ),
            (
                "leader_election_role.yaml",
                vec![operator::IDENTITY.election_role()],
            ),
            (
                "leader_election_role_binding.yaml",
                vec![operator::IDENTITY.election_role_binding()],
            ),
        ],
    )
}

fn overlay_directory(name: &str) -> Vec<File> {
    let target =
        json!({"group": "apps", "version": "v1", "kind": "Deployment", "name": names::OPERATOR});
    let patch = json!([{"op": "replace", "path": "/spec/template/spec/containers/0/imagePullPolicy", "value": "Always"}]);
    vec![
        kustomization(
            name,
            json!({"resources": ["../default"], "patches": [{"path": PULL_POLICY_PATCH, "target": target}]}),
        ),
        File::yaml(format!("config/{name}/{PULL_POLICY_PATCH}"), [patch]),
    ]
}

fn samples_directory(image: &Image, version: &str) -> Vec<File> {
    let [demo, designer, test] = samples::kaotos();
    vec![
        kustomization(
            "samples",
            json!({"resources": ["designer_v1alpha1_kaoto_demo.yaml"]}),
        ),
        File::yaml("config/samples/designer_v1alpha1_kaoto_demo.yaml", [demo]),
        File::yaml(
            "config/samples/designer_v1alpha1_kaoto_designer.yaml",
            [designer],
        ),
        File::yaml("config/samples/designer_v1alpha1_kaoto_test.yaml", [test]),
        File::yaml(
            "config/samples/catalog_source.yaml",
            [samples::catalog_source(image, version)],
        ),
    ]
}

/// Monitoring is offered and not installed: not every cluster knows the kind.
fn prometheus_directory() -> Vec<File> {
    let labels = json!({"control-plane": names::OPERATOR});
    let metadata = json!({"name": "kaoto-operator-metrics", "namespace": names::OPERATOR_NAMESPACE, "labels": labels});
    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {
            "selector": labels,
            "ports": [{"name": "metrics", "protocol": "TCP", "port": 8080, "targetPort": 8080}],
        },
    });
    let monitor = json!({
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "ServiceMonitor",
        "metadata": metadata,
        "spec": {
            "selector": {"matchLabels": labels},
            "endpoints": [{"port": "metrics", "path": "/metrics", "scheme": "http"}],
        },
    });
    with_resources(
        "prometheus",
        vec![
            ("service.yaml", vec![service]),
            ("monitor.yaml", vec![monitor]),
        ],
    )
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use serde_json::Value;

    use super::*;

    fn files() -> Vec<File> {
        let image = Image::tagged("registry.test/operator", "7");
        kustomize_tree(&image, "0.0.6", Reach::Cluster)
    }

    fn tree() -> BTreeMap<String, Vec<Value>> {
        files()
            .into_iter()
            .map(|file| (file.path.clone(), file.documents().to_vec()))
            .collect()
    }

    fn resources(directory: &str) -> Vec<String> {
        let list = &tree()[&format!("config/{directory}/kustomization.yaml")][0]["resources"];
        list.as_array()
            .unwrap()
            .iter()
            .map(|path| path.as_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn every_path_exists_once_and_every_reference_leads_to_a_file() {
        let tree = tree();
        assert_eq!(tree.len(), files().len());
        for (path, documents) in tree
            .iter()
            .filter(|(path, _)| path.ends_with("/kustomization.yaml"))
        {
            let directory = path.trim_end_matches("/kustomization.yaml");
            let patches = documents[0]["patches"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            let references = documents[0]["resources"]
                .as_array()
                .unwrap()
                .iter()
                .chain(patches.iter().map(|patch| &patch["path"]));
            for reference in references.map(|reference| reference.as_str().unwrap()) {
                let target = match reference.strip_prefix("../") {
                    Some(sibling) => format!("config/{sibling}/kustomization.yaml"),
                    None => format!("{directory}/{reference}"),
                };
                assert!(tree.contains_key(&target), "{path} refers to {target}");
            }
        }
    }

    #[test]
    fn the_directories_include_each_other_as_documented() {
        assert_eq!(resources("default"), ["../crd", "../rbac", "../manager"]);
        assert_eq!(resources("standalone"), ["../default"]);
        assert_eq!(resources("e2e"), ["../default"]);
        assert_eq!(
            resources("manifests")[1..],
            ["../default", "../samples", "../scorecard"]
        );
        let all: BTreeSet<String> = tree()
            .keys()
            .map(|path| path.split('/').nth(1).unwrap().to_owned())
            .collect();
        let included: Vec<String> = all
            .iter()
            .flat_map(|directory| resources(directory))
            .collect();
        assert!(!included.contains(&"../prometheus".to_owned()));
        assert_eq!(all.len(), 10);
    }

    #[test]
    fn nothing_uses_the_deprecated_patch_field() {
        for (path, documents) in tree() {
            assert!(
                documents
                    .iter()
                    .all(|document| document.get("patchesJson6902").is_none()),
                "{path}"
            );
        }
    }

    #[test]
    fn the_placeholder_image_becomes_that_of_the_operator() {
        let tree = tree();
        let list = &tree["config/manager/kustomization.yaml"][0];
        assert_eq!(
            list["images"],
            json!([{"name": "controller", "newName": "registry.test/operator", "newTag": "7"}])
        );
        assert_eq!(
            list["generatorOptions"],
            json!({"disableNameSuffixHash": true})
        );
        let deployment = &tree["config/manager/manager.yaml"][1];
        assert_eq!(
            deployment["spec"]["template"]["spec"]["containers"][0]["image"],
            "controller:latest"
        );
    }

    #[test]
    fn the_sample_of_a_catalog_lies_beside_the_image_of_the_operator() {
        let catalog = &tree()["config/samples/catalog_source.yaml"][0];
        assert_eq!(
            catalog["spec"]["image"],
            "registry.test/operator-catalog:v0.0.6"
        );
    }

    #[test]
    fn only_the_demo_is_installed_with_the_samples() {
        let tree = tree();
        let listed = resources("samples");
        assert_eq!(listed.len(), 1);
        let demo = &tree[&format!("config/samples/{}", listed[0])][0];
        assert_eq!(
            (&demo["metadata"]["name"], &demo["spec"]),
            (&json!("kaoto-demo"), &json!({}))
        );
    }

    #[test]
    fn the_monitor_speaks_plain_http_to_a_service_that_exists() {
        let tree = tree();
        let service = &tree["config/prometheus/service.yaml"][0];
        let monitor = &tree["config/prometheus/monitor.yaml"][0];
        assert_eq!(
            monitor["spec"]["selector"]["matchLabels"],
            service["metadata"]["labels"]
        );
        assert_eq!(monitor["spec"]["endpoints"][0]["scheme"], "http");
        assert_eq!(
            monitor["spec"]["endpoints"][0]["port"],
            service["spec"]["ports"][0]["name"]
        );
    }
}
