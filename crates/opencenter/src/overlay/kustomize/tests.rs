//! Small trees, built and refused.

use super::*;

fn tree(files: &[(&str, &str)]) -> Contents {
    files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
        .collect()
}

#[test]
fn builds_resources_namespaces_secrets_and_patches() {
    let built = build(
        &tree(&[
            (
                "services/a/kustomization.yaml",
                "namespace: x\nresources: [one.yaml, sub/]\npatches: [{path: p.yaml}]\nsecretGenerator:\n  - {name: s, files: [k=v.yaml], options: {disableNameSuffixHash: true}}\n",
            ),
            (
                "services/a/one.yaml",
                "kind: A\nmetadata: {name: one}\nspec: {a: 1, b: 2}\n---\nkind: Namespace\nmetadata: {name: one-more}\n",
            ),
            (
                "services/a/sub/kustomization.yaml",
                "resources: [two.yaml]\n",
            ),
            (
                "services/a/sub/two.yaml",
                "kind: A\nmetadata: {name: two}\n",
            ),
            (
                "services/a/p.yaml",
                "kind: A\nmetadata: {name: one}\nspec: {a: 3, b: null}\n",
            ),
            ("services/a/v.yaml", "x: 1\n"),
        ]),
        "services/a",
    );
    assert_eq!(built.findings, []);
    let names: Vec<String> = built
        .objects
        .iter()
        .map(|object| describe(&object.manifest))
        .collect();
    assert_eq!(
        names,
        ["A x/one", "Namespace /one-more", "A x/two", "Secret x/s"]
    );
    assert_eq!(built.objects[0].manifest["spec"], json!({"a": 3}));
}

#[test]
fn finds_what_kustomize_would_refuse() {
    let built = build(
        &tree(&[
            (
                "services/a/kustomization.yaml",
                "resources: [gone.yaml, one.yaml, one2.yaml, ../../../x]\npatches: [{path: p.yaml}, {path: q.yaml}]\nsecretGenerator:\n  - {name: s, files: [k=none.yaml]}\n",
            ),
            ("services/a/one.yaml", "kind: A\nmetadata: {name: one}\n"),
            ("services/a/one2.yaml", "kind: A\nmetadata: {name: one}\n"),
            ("services/a/p.yaml", "kind: A\nmetadata: {name: other}\n"),
        ]),
        "services/a",
    );
    assert_eq!(built.findings.len(), 7, "{:?}", built.findings);
}

#[test]
fn bases_of_an_include_are_skipped() {
    let built = build(
        &tree(&[
            (
                "services/a/kustomization.yaml",
                "resources: [../base/a]\npatches: [{path: p.yaml}]\n",
            ),
            ("services/a/p.yaml", "kind: A\nmetadata: {name: one}\n"),
        ]),
        "services/a",
    );
    assert_eq!(built.findings, []);
    assert!(built.unknown_bases.contains("services/base/a"));
}
