//! Each defect is found, and nothing else.

use super::*;

fn codes(files: &[(&str, &str)]) -> Vec<String> {
    let tree = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
        .collect();
    check_tree("alpha", &tree)
        .findings
        .iter()
        .map(|finding| finding.code.to_string())
        .collect()
}

#[test]
fn each_defect_has_its_code() {
    for (code, path, text) in [
        ("OC7001", "services/a.yaml", "a: [\n"),
        ("OC7001", "services/a.yaml", "a:\n   b: 1\n"),
        (
            "OC7002",
            "services/sources/kustomization.yaml",
            "resources: [gone.yaml]\n",
        ),
        (
            "OC7003",
            "services/x.yaml",
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec: {magic: 1}\n",
        ),
        (
            "OC7003",
            "services/x.yaml",
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec: {dependsOn: [{name: b}]}\n",
        ),
        (
            "OC3203",
            "services/x.yaml",
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec: {dependsOn: [{name: a}]}\n",
        ),
        (
            "OC7004",
            "services/x.yaml",
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nspec: {url: 'https://a/b', ref: {}}\n",
        ),
        (
            "OC7004",
            "services/x.yaml",
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nspec: {url: 'ftp://a/b', ref: {tag: x}}\n",
        ),
        (
            "OC7005",
            "services/x.yaml",
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec: {path: ./applications/overlays/alpha/services/none}\n",
        ),
        (
            "OC7006",
            "services/a/kustomization.yaml",
            "resources: [gone.yaml]\n",
        ),
        (
            "OC7007",
            "services/loki/kustomization.yaml",
            "secretGenerator: [{name: wrong, options: {disableNameSuffixHash: true}}]\n",
        ),
        (
            "OC6031",
            "services/x.yaml",
            "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nspec: {parentRefs: [{name: g, sectionName: s}]}\n",
        ),
    ] {
        let found = codes(&[(path, text)]);
        assert!(found.contains(&code.to_owned()), "{code}: {found:?}");
    }
}

#[test]
fn a_forgotten_file_is_found() {
    let found = codes(&[
        ("services/sources/kustomization.yaml", "resources: []\n"),
        ("services/sources/a.yaml", "a: 1\n"),
    ]);
    assert_eq!(found, ["OC7002"]);
}

#[test]
fn a_missing_bootstrap_is_a_state_and_no_defect() {
    let check = check_tree("alpha", &Contents::new());
    assert_eq!(
        (check.findings.len(), check.state),
        (0, BootstrapState::RendererParity)
    );
    let tree = ["gotk-components", "gotk-sync", "kustomization"]
        .map(|name| (format!("flux-system/{name}.yaml"), b"\t: [".to_vec()))
        .into();
    let check = check_tree("alpha", &tree);
    assert_eq!(
        (check.findings.len(), check.state),
        (0, BootstrapState::BootstrapComplete)
    );
}
