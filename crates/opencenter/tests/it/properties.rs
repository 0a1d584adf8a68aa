//! What holds for every config.

use std::collections::BTreeSet;

use mainstay_opencenter::{catalog, config::ClusterConfig};

use crate::fixture::{
    Case, cases, config_text, must_render, must_render_only, try_load, try_render,
};

/// Files that list other units' files, and may change with any of them.
const AGGREGATES: &[&str] = &[
    "kustomization.yaml",
    "services/sources/kustomization.yaml",
    "services/fluxcd/kustomization.yaml",
    "managed-services/sources/kustomization.yaml",
    "managed-services/fluxcd/kustomization.yaml",
];

/// The cases with many services; every service is in one of them.
fn large_cases() -> Vec<(String, Case)> {
    let is_large = |name: &str| matches!(name, "all-on" | "relaypoint/k8s-dev");
    cases()
        .into_iter()
        .filter(|(name, _)| is_large(name))
        .collect()
}

fn active_services(config: &ClusterConfig) -> Vec<String> {
    config
        .services()
        .iter()
        .filter(|(name, common)| {
            common.is_active()
                && catalog::find_service(name).is_none_or(catalog::CatalogEntry::is_rendered)
        })
        .map(|(name, _)| name.to_owned())
        .collect()
}

/// The same config with one service switched off.
fn without(text: &str, service: &str) -> Option<String> {
    let start = text.find(&format!("\n    {service}:\n"))? + 1;
    let block = text.get(start..)?;
    let switch = block.find("      enabled: true\n")?;
    let (before, after) = (text.get(..start + switch)?, block.get(switch..)?);
    Some(format!(
        "{before}{}",
        after.replacen("enabled: true", "enabled: false", 1)
    ))
}

#[test]
fn rendering_twice_gives_equal_bytes() {
    for (name, case) in cases() {
        let text = config_text(&case);
        assert_eq!(must_render(&text).tree, must_render(&text).tree, "{name}");
    }
}

#[test]
fn the_order_of_services_in_the_file_means_nothing() {
    let (_, case) = cases()
        .into_iter()
        .find(|(name, _)| name == "all-on")
        .expect("the case exists");
    let text = config_text(&case);
    let block = "    sealed-secrets:\n      enabled: true\n";
    assert!(text.contains(block));
    let moved = text
        .replace(block, "")
        .replace("\n  services:\n", &format!("\n  services:\n{block}"));
    assert_ne!(moved, text);
    assert_eq!(must_render(&moved).tree, must_render(&text).tree);
}

#[test]
fn one_service_alone_equals_its_part_of_the_whole() {
    for (name, case) in large_cases() {
        let text = config_text(&case);
        let config = try_load(&text).expect("the config is valid");
        let whole = must_render(&text).tree;
        let services = active_services(&config)
            .into_iter()
            .map(|service| (service, false));
        let managed = config
            .managed_services()
            .iter()
            .filter(|(_, common)| common.is_active())
            .map(|(service, _)| (service.to_owned(), true));
        for (service, is_managed) in services.chain(managed) {
            let part = must_render_only(&text, &service, is_managed).tree;
            assert!(!part.files.is_empty(), "{name}: {service}");
            for (path, file) in &part.files {
                assert_eq!(
                    whole.files.get(path),
                    Some(file),
                    "{name}: {service}: {path}"
                );
            }
            let directory = if is_managed {
                "managed-services"
            } else {
                "services"
            };
            let own = format!("{directory}/{service}/");
            let missing = whole
                .files
                .keys()
                .find(|path| path.starts_with(&own) && !part.files.contains_key(*path));
            assert_eq!(missing, None, "{name}: {service}");
        }
    }
}

#[test]
fn switching_a_service_off_leaves_nothing_behind_and_back_on_restores_everything() {
    let mut toggled = 0;
    for (name, case) in large_cases() {
        let text = config_text(&case);
        let config = try_load(&text).expect("the config is valid");
        let whole = must_render(&text);
        for service in active_services(&config) {
            let Some(changed) = without(&text, &service) else {
                continue;
            };
            // Others need some services; then the config itself refuses.
            let Ok(rest) = try_render(&changed) else {
                continue;
            };
            toggled += 1;
            let directory = format!("services/{service}/");
            let leftover = rest.tree.files.iter().find(|(path, file)| {
                path.starts_with(&directory)
                    || file.owner == service
                    || file.owner == format!("auto-service-{service}")
            });
            assert_eq!(leftover.map(|(path, _)| path), None, "{name}: {service}");
            let gone: BTreeSet<&String> = whole
                .tree
                .files
                .keys()
                .filter(|path| !rest.tree.files.contains_key(*path))
                .collect();
            for path in &gone {
                let owner = &whole.tree.files[*path].owner;
                let follows = whole.tree.files[*path].condition.is_some()
                    || owner == "observability-shared"
                    || owner == "services-fluxcd-aggregate"
                    || depends_on(path);
                assert!(
                    owner == &service || follows,
                    "{name}: {service} takes {path} with it"
                );
            }
            for aggregate in AGGREGATES {
                let Some(bytes) = rest.tree.bytes(aggregate) else {
                    continue;
                };
                let listed = String::from_utf8_lossy(bytes).contains(&format!("/{service}.yaml"));
                assert!(!listed, "{name}: {service} is still listed in {aggregate}");
            }
            let restored = changed.replacen(
                &format!("\n    {service}:\n      enabled: false\n"),
                &format!("\n    {service}:\n      enabled: true\n"),
                1,
            );
            if restored == text {
                assert_eq!(must_render(&restored).tree, whole.tree, "{name}: {service}");
            }
        }
    }
    assert!(toggled >= 25, "only {toggled} switches were tried");
}

/// Files that exist because of another service: routes and policies need the gateway.
fn depends_on(path: &str) -> bool {
    path.contains("route") || path.contains("policy") || path.contains("gateway-oidc-secret")
}

#[test]
fn every_generated_file_is_clean_yaml() {
    for (name, case) in cases() {
        for (path, file) in must_render(&config_text(&case)).tree.files {
            let text = String::from_utf8(file.bytes).expect("files are UTF-8");
            assert!(
                text.ends_with('\n') && !text.contains('\t') && !text.contains('\r'),
                "{name}: {path}"
            );
            let trailing = text.lines().find(|line| line.ends_with(' '));
            assert_eq!(trailing, None, "{name}: {path}");
            assert!(
                text.starts_with("---\n") || path == ".sops.yaml",
                "{name}: {path}"
            );
            let source = mainstay_yaml::SourceName::new(&path);
            let parsed =
                mainstay_yaml::parse_documents(&text, &source, &mainstay_yaml::Limits::default());
            assert!(parsed.is_ok(), "{name}: {path}");
        }
    }
}
