//! Descriptors of users: every defect has its code, and what is well-formed renders.

use std::{collections::BTreeMap, fs, path::Path};

use mainstay_opencenter::{
    descriptor::{Layer, Registry, TemplateStore},
    finding::Finding,
    render::render,
};
use mainstay_yaml::{Limits, SourceName, parse_bytes};

use crate::fixture::{REGISTRY, cases, config_text, options, try_load};

fn lint(texts: &[&str], templates: &[(&str, &str)]) -> Vec<Finding> {
    let texts: Vec<_> = texts
        .iter()
        .zip(0..)
        .map(|(text, index)| (format!("descriptor-{index}.yaml"), (*text).to_owned()))
        .collect();
    Registry::lint(&texts, store(templates)).1
}

fn store(templates: &[(&str, &str)]) -> TemplateStore {
    TemplateStore::new(
        templates
            .iter()
            .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
            .collect::<BTreeMap<_, _>>(),
    )
}

const UNIT: &str = "name: demo\nlayer: services\nrender:\n  flux_units:\n    - {name: demo-x, path: services/demo}\n";

#[test]
fn the_built_in_set_is_complete_and_clean() {
    assert_eq!(REGISTRY.iter().count(), 36);
    assert!(REGISTRY.get("service-keycloak").is_some());
    assert!(
        REGISTRY
            .of_service(Layer::ManagedServices, "alert-proxy")
            .is_some()
    );
    assert_eq!(lint(&[UNIT], &[]), []);
}

#[test]
fn every_defect_has_its_code() {
    let with = |more: &str| format!("{UNIT}{more}\n");
    let file = |entry: &str| {
        format!(
            "name: demo\nlayer: services\nrender:\n  overlay:\n    root: services/demo\n    files:\n      - {entry}\n"
        )
    };
    let source =
        |entry: &str| format!("name: demo\nlayer: services\nrender:\n  sources:\n    - {entry}\n");
    for (code, text) in [
        ("OC5001", "name: [".to_owned()),
        ("OC5002", with("colour: red")),
        ("OC5003", UNIT.replace("name: demo\n", "name: De_mo\n")),
        ("OC5004", UNIT.replace("name: demo\n", "name: keycloak\n")),
        ("OC5005", UNIT.replace("layer: services\n", "")),
        ("OC5006", UNIT.replace("layer: services", "layer: cellar")),
        ("OC5007", "name: demo\nlayer: services\n".to_owned()),
        ("OC5008", with("service: a\nmanaged_service: b")),
        ("OC5008", with("owner: {type: managed-service}")),
        ("OC5010", with("enabled_when: {operator: exists}")),
        (
            "OC5011",
            with("enabled_when: {field: 'a b', operator: exists}"),
        ),
        (
            "OC5012",
            with("enabled_when: {field: opencenter.meta.colour, operator: exists}"),
        ),
        (
            "OC5012",
            with("enabled_when: {field: services.none.enabled, operator: exists}"),
        ),
        (
            "OC5012",
            with("enabled_when: {field: services.loki.colour, operator: exists}"),
        ),
        (
            "OC5013",
            with("enabled_when: {field: opencenter.meta.env, operator: like}"),
        ),
        (
            "OC5014",
            with("enabled_when: {field: opencenter.meta.env, operator: equals}"),
        ),
        (
            "OC5015",
            with("enabled_when: {field: opencenter.meta.env, operator: exists, value: x}"),
        ),
        ("OC5016", with("aggregate_targets: [nothing]")),
        ("OC5017", with("dependencies: [nothing]")),
        ("OC5018", UNIT.replace(", path: services/demo", "")),
        ("OC5019", UNIT.replace("demo-x", "Demo_X")),
        ("OC5020", UNIT.replace("demo-x", "loki-base")),
        (
            "OC5021",
            UNIT.replace(
                "path: services/demo",
                "path: services/demo, source_ref: nothing",
            ),
        ),
        (
            "OC5022",
            UNIT.replace(
                "path: services/demo",
                "path: services/demo, depends_on: [nothing]",
            ),
        ),
        ("OC5023", source("{name: opencenter-keycloak}")),
        ("OC5024", file("../escape.yaml")),
        ("OC5024", file("{name: a.yaml, output: /etc/passwd}")),
        (
            "OC5024",
            file("{name: a.yaml, output: managed-services/x.yaml}"),
        ),
        (
            "OC5025",
            file("{name: kustomization.yaml, output: services/loki/kustomization.yaml}"),
        ),
        ("OC5026", with("plugin: {mode: custom, renderer: nothing}")),
        ("OC5027", file("missing.yaml.tpl")),
        ("OC5030", with("service: loki")),
    ] {
        let found: Vec<String> = lint(&[&text], &[])
            .iter()
            .map(|finding| finding.code.to_string())
            .collect();
        assert!(
            found.contains(&code.to_owned()),
            "{code}: {found:?}\n{text}"
        );
    }
}

#[test]
fn templates_belong_to_exactly_one_descriptor() {
    let template = [("services/demo/a.yaml.tpl", "a: 1\n")];
    let codes = |texts: &[&str]| -> Vec<String> {
        lint(texts, &template)
            .iter()
            .map(|finding| finding.code.to_string())
            .collect()
    };
    assert_eq!(codes(&[UNIT]), ["OC5028"]);
    let owner = "name: one\nlayer: services\nrender:\n  overlay: {root: services/demo, files: [a.yaml.tpl]}\n";
    assert_eq!(codes(&[owner]), Vec::<String>::new());
    let twice = "name: one\nlayer: services\nrender:\n  overlay: {root: services/demo, files: [a.yaml.tpl, {name: a.yaml.tpl, output: services/demo/b.yaml}]}\n";
    assert_eq!(codes(&[twice]), ["OC5029"]);
}

#[test]
fn findings_name_file_and_line() {
    let found = lint(
        &[&format!(
            "{UNIT}enabled_when: {{field: opencenter.meta.env, operator: like}}\n"
        )],
        &[],
    );
    let [finding] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(
        (finding.file.as_deref(), finding.line),
        (Some("descriptor-0.yaml"), Some(6))
    );
}

#[test]
fn an_unquoted_operator_is_understood() {
    for operator in ["operator: true", "operator: \"true\"", "is: true"] {
        let text = format!("{UNIT}enabled_when: {{field: services.loki.enabled, {operator}}}\n");
        assert_eq!(lint(&[&text], &[]), [], "{operator}");
    }
}

#[test]
fn a_descriptor_of_the_user_renders_with_its_templates() {
    let text = "name: demo\nlayer: services\nowner: {type: cluster}\naggregate: {order: 400}\nrender:\n  sources:\n    - {name: demo, url: 'https://git.example.org/demo.git', ref_type: semver, ref_value: '>=1.0'}\n  \
                flux_units:\n    - {name: demo, role: single, path: services/demo, source_ref: demo}\n  overlay:\n    root: services/demo\n    files:\n      - kustomization.yaml\n      - map.yaml.tpl\n      \
                - {name: only-prod.yaml.tpl, when: {field: opencenter.meta.env, operator: equals, value: production}}\n";
    let templates = store(&[
        (
            "services/demo/map.yaml.tpl",
            "kind: ConfigMap\nmetadata:\n  name: {{ opencenter.cluster.cluster_name }}\n",
        ),
        ("services/demo/only-prod.yaml.tpl", "a: 1\n"),
    ]);
    let registry = Registry::with_user(&[("demo.yaml".to_owned(), text.to_owned())], templates)
        .expect("it is well-formed");
    let (_, case) = cases()
        .into_iter()
        .find(|(name, _)| name == "none-on")
        .expect("the case exists");
    let config = try_load(&config_text(&case)).expect("the config is valid");
    let rendered = render(&config, &registry, &options(&config)).expect("it renders");
    let file = |path: &str| {
        String::from_utf8_lossy(rendered.tree.bytes(path).unwrap_or_default()).into_owned()
    };
    assert_eq!(
        file("services/demo/map.yaml"),
        "kind: ConfigMap\nmetadata:\n  name: sample\n"
    );
    assert!(file("services/sources/demo.yaml").contains("semver: \">=1.0\""));
    assert!(file("services/fluxcd/kustomization.yaml").contains("./demo.yaml"));
    assert!(file("services/demo/kustomization.yaml").contains("- map.yaml"));
    let skipped: Vec<_> = rendered
        .report
        .skipped
        .iter()
        .map(|skipped| skipped.output.as_str())
        .collect();
    assert!(
        skipped.contains(&"services/demo/only-prod.yaml"),
        "{skipped:?}"
    );
}

/// `UPDATE_GOLDEN=1` writes the values anew.
#[test]
fn the_parsed_descriptors_are_those_of_the_texts() {
    let built_in = REGISTRY
        .texts()
        .filter(|(file, _)| file.starts_with("descriptors/"));
    let mut lines = Vec::new();
    for (file, bytes) in built_in {
        let parsed = parse_bytes(bytes, &SourceName::new(file), &Limits::default()).unwrap();
        let [document] = parsed.as_slice() else {
            panic!("{file} has {} documents", parsed.len());
        };
        lines.push(format!("{}: {}", serde_json::json!(file), document.value));
    }
    assert!(lines.len() > 30, "{}", lines.len());
    let expected = format!("{{\n{}\n}}\n", lines.join(",\n"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("descriptors.json");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap() == expected,
        "UPDATE_GOLDEN=1 rewrites `descriptors.json`"
    );
}
