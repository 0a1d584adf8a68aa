//! The kustomize tree: `config/default` is the original's installation, `config/without-webhooks` needs no cert-manager.

use mainstay_package::{
    File, Image, PLACEHOLDER_IMAGE,
    kustomize::{
        crd_directory, kustomization, manager_directory, manifests_directory, scorecard_directory,
        with_resources,
    },
};
use serde_json::json;

use super::{
    Admission, definitions, olm,
    operator::{self, CERTIFICATE_VOLUME, CONFIG, MANAGER},
    webhook,
};
use crate::admission::policy;

/// All files of the tree, under `config/`.
pub fn kustomize_tree(image: &Image) -> Vec<File> {
    let admission = Admission::Webhooks;
    let mut files = crd_directory(&definitions());
    files.extend(with_resources(
        "rbac",
        vec![("rbac.yaml", operator::permissions())],
    ));
    files.extend(manager_directory(
        image,
        vec![
            operator::namespace(),
            operator::config_map(&operator::config(admission)),
            operator::metrics_service(),
            operator::network_policy(),
            operator::deployment(PLACEHOLDER_IMAGE, admission),
        ],
    ));
    files.extend(with_resources(
        "webhook",
        vec![
            ("service.yaml", vec![webhook::service()]),
            ("configurations.yaml", webhook::configurations().to_vec()),
        ],
    ));
    files.extend(with_resources(
        "certmanager",
        vec![("certificate.yaml", webhook::certificates().to_vec())],
    ));
    files.extend(with_resources(
        "policy",
        vec![("policy.yaml", policy::objects().to_vec())],
    ));
    files.push(kustomization(
        "default",
        json!({"resources": ["../crd", "../rbac", "../manager", "../certmanager", "../webhook"]}),
    ));
    files.extend(without_webhooks());
    files.extend(with_resources(
        "samples",
        vec![("samples.yaml", olm::samples().to_vec())],
    ));
    files.extend(scorecard_directory());
    files.extend(manifests_directory(&olm::product(PLACEHOLDER_IMAGE)));
    files
}

fn without_webhooks() -> Vec<File> {
    const CONFIG_PATCH: &str = "config_patch.yaml";
    const CERTIFICATE_PATCH: &str = "certificate_patch.yaml";
    let target = |kind: &str, name: &str| json!({"version": "v1", "kind": kind, "name": name});
    let optional = format!("/spec/template/spec/volumes/{CERTIFICATE_VOLUME}/secret/optional");
    vec![
        kustomization(
            "without-webhooks",
            json!({
                "resources": ["../crd", "../rbac", "../manager", "../policy"],
                "patches": [
                    {"path": CONFIG_PATCH, "target": target("ConfigMap", CONFIG)},
                    {"path": CERTIFICATE_PATCH, "target": target("Deployment", MANAGER)},
                ],
            }),
        ),
        File::yaml(
            format!("config/without-webhooks/{CONFIG_PATCH}"),
            [operator::config_map(&operator::config(Admission::Policy))],
        ),
        File::yaml(
            format!("config/without-webhooks/{CERTIFICATE_PATCH}"),
            [json!([{"op": "add", "path": optional, "value": true}])],
        ),
    ]
}
