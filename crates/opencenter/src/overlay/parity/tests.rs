use super::*;

fn contents(files: &[(&str, &str)]) -> Contents {
    files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
        .collect()
}

fn differences(actual: &str, expected: &str) -> Vec<Difference> {
    compare(
        "alpha",
        &contents(&[("services/a.yaml", actual)]),
        &contents(&[("services/a.yaml", expected)]),
        &Inventory::default(),
    )
}

#[test]
fn presentation_means_nothing() {
    let kustomize = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";
    assert_eq!(
        differences(
            &format!("---\n{kustomize}resources: [./b, a/]\npatches: [{{path: ./p}}]\n"),
            &format!(
                "{kustomize}# words\nresources:\n  - \"a\"\n  - b\npatchesStrategicMerge: [p]\n"
            ),
        ),
        []
    );
    let flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n";
    assert_eq!(
        differences(
            &format!("{flux}spec: {{path: ./a/, dependsOn: [{{name: x}}, {{name: b}}]}}\n"),
            &format!("{flux}spec: {{path: a, dependsOn: [{{name: b}}, {{name: x}}]}}\n"),
        ),
        []
    );
    assert_eq!(
        differences(
            "kind: Secret\ndata: {a: eA==}\n",
            "kind: Secret\nstringData: {a: x}\n"
        ),
        []
    );
    assert_eq!(
        differences(
            "kind: Secret\nstringData: {a: x}\n",
            "kind: Secret\nstringData: {a: 'ENC[x]'}\nsops: {}\n"
        ),
        []
    );
}

#[test]
fn content_means_something() {
    let found = differences("kind: X\nspec: {a: 1}\n", "kind: X\nspec: {a: 2}\n");
    assert!(
        matches!(found.as_slice(), [Difference::Content { fields, .. }] if fields[0].pointer == "/spec/a")
    );
    assert!(matches!(
        differences("a: 1\n", "a: [\n").as_slice(),
        [Difference::Unreadable { .. }]
    ));
}

#[test]
fn rules_alias_ignore_and_remove() {
    let text = "version: '1'\ndefaults:\n  aliases:\n    - {actual: services/<c>-new.yaml, expected: services/old.yaml, reason: renamed}\n  \
                ignore_expected:\n    - {path: services/gone.yaml, reason: dropped}\n  ignore_actual:\n    - {path: 'services/extra/**', reason: added}\n  \
                yaml_rules:\n    - {kind: X, remove: [/spec/a], reason: drift}\nclusters:\n  alpha:\n    compare_modes:\n    - {path: 'services/v*.yaml', mode: path_only, reason: later}\n";
    let inventory = Inventory::parse("inventory.yaml", text).expect("it is well-formed");
    let actual = contents(&[
        ("services/alpha-new.yaml", "kind: X\nspec: {a: 1}\n"),
        ("services/extra/deep/file.yaml", "a: 1\n"),
        ("services/v1.yaml", "a: 1\n"),
        ("flux-system/x.yaml", "a: 1\n"),
    ]);
    let expected = contents(&[
        ("services/old.yaml", "kind: X\nspec: {a: 2}\n"),
        ("services/gone.yaml", "a: 1\n"),
        ("services/v1.yaml", "a: 2\n"),
    ]);
    assert_eq!(compare("alpha", &actual, &expected, &inventory), []);
    let collided = contents(&[
        ("services/alpha-new.yaml", "kind: X\n"),
        ("services/old.yaml", "kind: X\n"),
    ]);
    let found = compare("alpha", &collided, &expected, &inventory);
    assert!(
        found.contains(&Difference::Collision {
            path: "services/old.yaml".to_owned()
        }),
        "{found:?}"
    );
    assert!(
        found.contains(&Difference::Missing {
            path: "services/v1.yaml".to_owned()
        }),
        "{found:?}"
    );
}

#[test]
fn secrets_stay_hidden() {
    let found = differences(
        "kind: Secret\nstringData: {a: one-word}\n",
        "kind: Secret\nstringData: {a: other-word}\n",
    );
    let text = format!("{found:?}");
    assert!(!found.is_empty() && !text.contains("-word"), "{text}");
}
