//! Directories of a kustomize tree, all under `config/`.

use serde_json::{Value, json};

use crate::{File, Image, PLACEHOLDER_IMAGE, Product, scorecard};

/// A directory whose kustomization lists all its files.
pub fn with_resources(directory: &str, files: Vec<(&str, Vec<Value>)>) -> Vec<File> {
    let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
    let list = kustomization(directory, json!({"resources": paths}));
    let files = files
        .into_iter()
        .map(|(path, documents)| File::yaml(format!("config/{directory}/{path}"), documents));
    std::iter::once(list).chain(files).collect()
}

/// The kustomization of a directory.
pub fn kustomization(directory: &str, mut content: Value) -> File {
    content["apiVersion"] = json!("kustomize.config.k8s.io/v1beta1");
    content["kind"] = json!("Kustomization");
    File::yaml(format!("config/{directory}/kustomization.yaml"), [content])
}

/// The directory of the definitions.
pub fn crd_directory(definitions: &[(String, Value)]) -> Vec<File> {
    let paths = definitions.iter().map(|(name, _)| format!("bases/{name}"));
    let paths: Vec<String> = paths.collect();
    let list = kustomization("crd", json!({"resources": paths}));
    let files = definitions.iter().map(|(name, definition)| {
        File::yaml(format!("config/crd/bases/{name}"), [definition.clone()])
    });
    std::iter::once(list).chain(files).collect()
}

/// The directory of the operator itself, with an image in the place of the placeholder.
pub fn manager_directory(image: &Image, documents: Vec<Value>) -> Vec<File> {
    let (placeholder, _) = PLACEHOLDER_IMAGE
        .split_once(':')
        .unwrap_or((PLACEHOLDER_IMAGE, ""));
    vec![
        kustomization(
            "manager",
            json!({
                "resources": ["manager.yaml"],
                "generatorOptions": {"disableNameSuffixHash": true},
                "images": [image.kustomize(placeholder)],
            }),
        ),
        File::yaml("config/manager/manager.yaml", documents),
    ]
}

/// The directory of the scorecard.
pub fn scorecard_directory() -> Vec<File> {
    let target = json!({
        "group": "scorecard.operatorframework.io", "version": "v1alpha3", "kind": "Configuration", "name": "config",
    });
    let path = |suite: &str| format!("patches/{suite}.config.yaml");
    let patches: Vec<Value> = scorecard::suites()
        .map(|suite| json!({"path": path(suite), "target": target}))
        .collect();
    let mut files = vec![
        kustomization(
            "scorecard",
            json!({"resources": ["bases/config.yaml"], "patches": patches}),
        ),
        File::yaml(
            "config/scorecard/bases/config.yaml",
            [scorecard::configuration(&[])],
        ),
    ];
    files.extend(scorecard::suites().map(|suite| {
        let added = scorecard::tests(suite);
        let operations = added
            .iter()
            .map(|test| json!({"op": "add", "path": "/stages/0/tests/-", "value": test}));
        File::yaml(
            format!("config/scorecard/{}", path(suite)),
            [operations.collect()],
        )
    }));
    files
}

/// The directory that an OLM bundle could be made of by other tools.
pub fn manifests_directory(product: &Product) -> Vec<File> {
    let path = format!("bases/{}.clusterserviceversion.yaml", product.name);
    vec![
        kustomization(
            "manifests",
            json!({"resources": [path, "../default", "../samples", "../scorecard"]}),
        ),
        File::yaml(format!("config/manifests/{path}"), [product.base.clone()]),
    ]
}
