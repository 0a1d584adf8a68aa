//! Services that nobody describes are rendered from their block.

use crate::fixture::{cases, config_text, must_render, try_render};

/// The config without services, plus one block.
fn with_block(block: &str) -> String {
    let (_, case) = cases()
        .into_iter()
        .find(|(name, _)| name == "none-on")
        .expect("the case exists");
    config_text(&case).replacen(
        "\nopencenter:\n",
        &format!("\nopencenter:\n  services:\n{block}"),
        1,
    )
}

fn file(text: &str, path: &str) -> String {
    let rendered = must_render(text);
    String::from_utf8_lossy(rendered.tree.bytes(path).unwrap_or_default()).into_owned()
}

const CACHE: &str = "    demo-cache:\n      enabled: true\n      namespace: caching\n      adoption_mode: sync\n      helm_release_name: cache\n      \
                     kustomization_name: cache\n      conditional_dependencies:\n        - {name: cert-manager-base, when_enabled: cert-manager}\n      override_values: |\n        replicas: 2\n";

#[test]
fn a_block_gives_exactly_its_files() {
    let rendered = must_render(&with_block(CACHE));
    let paths: Vec<&str> = rendered.tree.files.keys().map(String::as_str).collect();
    assert_eq!(
        paths,
        [
            "kustomization.yaml",
            "services/demo-cache/helm-values/override-values.yaml",
            "services/demo-cache/kustomization.yaml",
            "services/fluxcd/demo-cache.yaml",
            "services/fluxcd/kustomization.yaml",
            "services/fluxcd/sources.yaml",
            "services/sources/kustomization.yaml",
            "services/sources/opencenter-demo-cache.yaml",
        ]
    );
    let enabled: Vec<&str> = rendered
        .report
        .descriptors
        .iter()
        .filter(|unit| unit.enabled)
        .map(|unit| unit.name.as_str())
        .collect();
    assert_eq!(
        enabled,
        [
            "root-overlay",
            "services-fluxcd-aggregate",
            "services-sources-aggregate",
            "auto-service-demo-cache"
        ]
    );
    assert_eq!(rendered.report.descriptors.len(), 37);
    let reason = &rendered
        .report
        .descriptors
        .last()
        .expect("there is one")
        .reason;
    assert!(
        reason.contains("opencenter.services.demo-cache.enabled"),
        "{reason}"
    );
}

#[test]
fn the_pair_follows_the_block() {
    let text = file(&with_block(CACHE), "services/fluxcd/demo-cache.yaml");
    let (base, second) = text[4..]
        .split_once("---\n")
        .expect("there are two documents");
    assert!(
        base.contains("name: cache-base")
            && base.contains("path: applications/base/services/demo-cache\n")
    );
    assert!(base.contains("    - name: sources\n") && !base.contains("cert-manager"));
    assert!(base.contains("kind: HelmRelease\n      name: cache\n      namespace: caching"));
    assert_eq!(
        second,
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: cache-override\n  namespace: flux-system\n\
         spec:\n  dependsOn:\n    - name: cache-base\n      namespace: flux-system\n  interval: 5m\n  retryInterval: 1m\n  timeout: 10m\n  \
         decryption:\n    provider: sops\n    secretRef:\n      name: sops-age\n  sourceRef:\n    kind: GitRepository\n    name: flux-system\n    \
         namespace: flux-system\n  path: ./applications/overlays/sample/services/demo-cache\n  targetNamespace: caching\n  prune: true\n  \
         wait: true\n  force: false\n  suspend: false\n  commonMetadata:\n    labels:\n      app.kubernetes.io/part-of: demo-cache\n      \
         app.kubernetes.io/managed-by: flux\n      opencenter/managed-by: opencenter\n"
    );
    assert_eq!(
        file(&with_block(CACHE), "services/demo-cache/kustomization.yaml"),
        "---\napiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: caching\nsecretGenerator:\n  \
         - name: cache-values-override\n    type: Opaque\n    files:\n      - override.yaml=helm-values/override-values.yaml\n    \
         options:\n      disableNameSuffixHash: true\n"
    );
    assert_eq!(
        file(
            &with_block(CACHE),
            "services/demo-cache/helm-values/override-values.yaml"
        ),
        "replicas: 2\n"
    );
}

#[test]
fn every_shape_has_its_units() {
    for (fields, units) in [
        ("", &["demo-base", "demo-override"][..]),
        ("      single_stage: true\n", &["demo"][..]),
        ("      base_only: true\n", &["demo-base"][..]),
        (
            "      stage_order: override-first\n      namespace_stage: true\n",
            &["demo-base", "demo-namespace", "demo-override"][..],
        ),
    ] {
        let rendered = must_render(&with_block(&format!(
            "    demo:\n      enabled: true\n      namespace: demo\n{fields}"
        )));
        let names: Vec<&str> = rendered
            .graph
            .nodes()
            .map(|node| node.name.as_str())
            .filter(|name| *name != "sources")
            .collect();
        assert_eq!(names, units, "{fields}");
        let has_source = rendered
            .tree
            .files
            .contains_key("services/sources/opencenter-demo.yaml");
        assert_eq!(has_source, !fields.contains("single_stage"), "{fields}");
    }
}

#[test]
fn fields_steer_paths_dependencies_and_resources() {
    let block = "    demo:\n      enabled: true\n      namespace: demo\n      edition: enterprise\n      enterprise_registry: true\n      \
                 override_depends_on: [sources]\n      extra_dependencies: [sources]\n";
    let flux = file(&with_block(block), "services/fluxcd/demo.yaml");
    assert!(
        flux.contains("path: applications/base/services/demo/enterprise\n"),
        "{flux}"
    );
    let kustomization = file(&with_block(block), "services/demo/kustomization.yaml");
    assert!(
        kustomization.contains("- ../global/rackspace-registry/"),
        "{kustomization}"
    );
}

#[test]
fn defects_of_a_block_have_their_codes() {
    for (code, fields) in [
        ("OC6010", "      custom_resources: [gone.yaml]\n"),
        ("OC6011", "      override_values_renderer: nothing\n"),
        ("OC5021", "      source_name: opencenter-nothing\n"),
        ("OC5022", "      extra_dependencies: [nothing]\n"),
        ("OC2005", "      stage_order: override-first\n"),
        ("OC3203", "      extra_dependencies: [demo-override]\n"),
        ("OC6012", "      override_values: 'a: ['\n"),
    ] {
        let block = format!("    demo:\n      enabled: true\n      namespace: demo\n{fields}");
        let found = try_render(&with_block(&block)).expect_err(code);
        assert!(
            found.iter().any(|finding| finding.code.to_string() == code),
            "{code}: {found:?}"
        );
    }
}
