//! The configs that golden trees are made from must be sound.

use std::path::{Path, PathBuf};

use mainstay_opencenter::{
    catalog::CATALOG,
    config::{ClusterConfig, Purpose},
};

use crate::load_for;

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/opencenter")
}

#[expect(clippy::disallowed_methods, reason = "fixtures are files")]
fn read(file: &str) -> ClusterConfig {
    let file = golden().join(file);
    let text = std::fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let loaded = load_for(&text, Purpose::Render);
    loaded
        .into_result()
        .unwrap_or_else(|findings| panic!("{}: {findings:#?}", file.display()))
        .0
}

fn rendered(config: &ClusterConfig) -> usize {
    let is_rendered = |name: &str| {
        CATALOG
            .iter()
            .any(|entry| entry.name == name && entry.is_rendered())
    };
    config
        .services()
        .iter()
        .filter(|(name, common)| common.is_active() && is_rendered(name))
        .count()
}

#[test]
fn the_five_relaypoint_clusters_have_their_services() {
    for (cluster, count, region) in [
        ("k8s-dev", 25, "iad3"),
        ("k8s-dr", 24, "iad3"),
        ("k8s-prod", 18, "ord1"),
        ("k8s-qa", 25, "ord1"),
        ("k8s-uat", 23, "ord1"),
    ] {
        let config = read(&format!("relaypoint/.{cluster}-config.yaml"));
        assert_eq!(rendered(&config), count, "{cluster}");
        assert_eq!(config.region(), region);
        assert!(config.managed_services().is_active("alert-proxy"));
        assert_eq!(config.default_issuer(), format!("letsencrypt-{cluster}"));
        assert_eq!(config.acme_issuers(), [format!("letsencrypt-{cluster}")]);
        let units = &config.opencenter.gitops.overlay_units;
        assert_eq!(units.sops.enabled, matches!(cluster, "k8s-dev" | "k8s-dr"));
        assert_eq!(units.customer_managed.enabled, cluster != "k8s-prod");
        assert_eq!(config.emits_customer_secret(), cluster == "k8s-uat");
        let keycloak = &config.services().keycloak.as_ref().unwrap().settings;
        assert_eq!(keycloak.pin_operator_version, region == "ord1");
        assert_eq!(keycloak.emit_rbac_users, cluster != "k8s-dr");
    }
}

#[test]
fn every_service_has_a_config_of_its_own() {
    for entry in CATALOG.iter().filter(|entry| entry.is_rendered()) {
        let config = read(&format!("service/{}/input/.sample-config.yaml", entry.name));
        let managed = config.managed_services().is_active(entry.name);
        assert_eq!(
            rendered(&config) + usize::from(managed),
            1,
            "{}",
            entry.name
        );
        assert!(managed || config.is_active(entry.name), "{}", entry.name);
    }
    assert_eq!(rendered(&read("all-on/input/.sample-config.yaml")), 27);
    assert_eq!(rendered(&read("none-on/input/.sample-config.yaml")), 0);
}
