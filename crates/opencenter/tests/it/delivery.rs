//! How Flux gets things: sources, references, adoption, order, the customer's layer.

use serde_json::{Value, json};

use crate::world::{Config, Tree};

fn source(tree: &Tree, name: &str) -> Value {
    tree.one(&format!("services/sources/opencenter-{name}.yaml"))["spec"].clone()
}

#[test]
fn each_adoption_mode_has_its_force_and_suspend() {
    for (mode, force, suspend) in [
        ("managed", true, false),
        ("takeover", true, false),
        ("sync", false, false),
        ("deferred", true, true),
    ] {
        let adoption = format!("adoption_mode: {mode}");
        let tree = Config::new()
            .external(&["gateway-api"])
            .service("sealed-secrets", &adoption)
            .service("gateway", &adoption)
            .service("kafka-cluster", &adoption)
            .service("unregistered", &format!("{adoption}, namespace: x"))
            .managed("alert-proxy", &format!("{adoption}, http_route_fqdn: alerts.example.org"))
            .secrets("alert_proxy: {core_device_id: example-device, account_service_token: example-token, core_account_number: example-account}")
            .render();
        for unit in [
            "sealed-secrets-base",
            "sealed-secrets-override",
            "gateway",
            "kafka-cluster",
            "strimzi-kafka-operator-base",
            "unregistered-base",
            "alert-proxy-base",
        ] {
            let spec = &tree.unit(unit)["spec"];
            assert_eq!(
                (&spec["force"], &spec["suspend"]),
                (&json!(force), &json!(suspend)),
                "{unit} in mode {mode}"
            );
        }
    }
}

#[test]
fn an_external_service_leaves_no_trace() {
    let tree = Config::new()
        .external(&["cert-manager", "gateway-api", "sealed-secrets"])
        .managed("alert-proxy", "adoption_mode: external, http_route_fqdn: alerts.example.org")
        .secrets("alert_proxy: {core_device_id: example-device, account_service_token: example-token, core_account_number: example-account}")
        .service("gateway", "")
        .render();
    let paths: Vec<&String> = tree.tree().files.keys().collect();
    for word in ["cert-manager", "gateway-api", "sealed-secrets", "managed"] {
        assert!(
            !paths.iter().any(|path| path.contains(word)),
            "{word}: {paths:?}"
        );
    }
    assert_eq!(tree.waits_for("gateway"), Vec::<String>::new());
    assert_eq!(
        tree.one("kustomization.yaml")["resources"],
        json!(["./flux-system", "./services/fluxcd"])
    );
}

#[test]
fn a_service_can_come_from_elsewhere() {
    let tree = Config::new()
        .service("sealed-secrets", "source: {branch: try-it}")
        .service("metallb", "source: {release: v7, branch: ignored}")
        .service("postgres-operator", "source: {repo: 'git@git.example.net:own/base.git'}")
        .service("kafka-cluster", "source: {branch: kafka-next}")
        .service("kube-prometheus-stack", "source: {release: '1'}")
        .managed("alert-proxy", "http_route_fqdn: alerts.example.org, source: {repo: 'ssh://git@git.example.net:2222/own/alerts.git', branch: next}")
        .secrets("grafana: {admin_password: example-grafana}")
        .secrets("alert_proxy: {core_device_id: example-device, account_service_token: example-token, core_account_number: example-account}")
        .render();
    assert_eq!(
        source(&tree, "sealed-secrets")["ref"],
        json!({"branch": "try-it"})
    );
    assert_eq!(source(&tree, "metallb")["ref"], json!({"tag": "v7"}));
    let own = source(&tree, "postgres-operator");
    assert_eq!(own["url"], "https://git.example.net/own/base.git");
    assert_eq!(own["ref"], json!({"tag": "2026.01"}));
    assert_eq!(
        source(&tree, "strimzi-kafka-operator")["ref"],
        json!({"branch": "kafka-next"})
    );
    assert_eq!(
        source(&tree, "observability")["ref"],
        json!({"tag": "1"}),
        "a reference that looks like a number stays a text"
    );
    let alerts = tree.one("managed-services/sources/opencenter-alert-proxy.yaml");
    assert_eq!(
        alerts["spec"]["url"],
        "https://git.example.net:2222/own/alerts.git"
    );
    assert_eq!(alerts["spec"]["ref"], json!({"branch": "next"}));
    assert!(
        tree.warnings().contains(&"OC3166".to_owned()),
        "a release and a branch at once"
    );
}

#[test]
fn what_is_gone_stays_if_the_config_says_so() {
    let tree = Config::new()
        .service("sealed-secrets", "")
        .gitops("flux: {prune: false, interval: 11m}")
        .render();
    for unit in ["sources", "sealed-secrets-base", "sealed-secrets-override"] {
        assert_eq!(tree.unit(unit)["spec"]["prune"], false, "{unit}");
    }
    assert_eq!(tree.unit("sealed-secrets-base")["spec"]["interval"], "11m");
    assert_eq!(tree.unit("sources")["spec"]["interval"], "15m");
}

#[test]
fn the_monitor_of_flux_can_wait_for_its_definition() {
    let config = || {
        Config::new()
            .service("kube-prometheus-stack", "")
            .secrets("grafana: {admin_password: example-grafana}")
    };
    let listing = "services/fluxcd/kustomization.yaml";
    let plain = config().render();
    let listed = plain.one(listing)["resources"].to_string();
    assert!(
        listed.contains("./fluxcd-configs/podmonitor.yaml"),
        "{listed}"
    );
    assert!(!plain.has("services/fluxcd/fluxcd-configs.yaml"));
    let strict = config().gitops("strict_crd_ordering: true").render();
    let listed = strict.one(listing)["resources"].to_string();
    assert!(
        listed.contains("./fluxcd-configs.yaml") && !listed.contains("podmonitor"),
        "{listed}"
    );
    assert_eq!(
        strict.one("services/fluxcd/fluxcd-configs/kustomization.yaml")["resources"],
        json!(["podmonitor.yaml"])
    );
    assert_eq!(
        strict.waits_for("fluxcd-configs"),
        ["kube-prometheus-stack-base"]
    );
    assert_eq!(
        strict.unit("fluxcd-configs")["spec"]["path"],
        "./applications/overlays/sample/services/fluxcd/fluxcd-configs"
    );
    // Without the stack there is no monitor to wait for.
    let without = Config::new().gitops("strict_crd_ordering: true").render();
    assert!(!without.has("services/fluxcd/fluxcd-configs.yaml"));
}

#[test]
fn units_of_customers_wait_for_their_source_and_take_a_prefix() {
    let tree = Config::new()
        .gitops("overlay_units:")
        .gitops("  customer_managed:")
        .gitops("    {enabled: true, repository_name: apps, repository_url: 'https://git.example.net/own/apps.git', flux_name_prefix: own, kustomizations: [{name: policies, path: /policies}, {name: shop, path: /shop, depends_on: [policies, sources]}, {name: free, path: /free, depends_on: []}]}")
        .render();
    assert_eq!(tree.waits_for("own-policies"), ["customer-managed-sources"]);
    assert_eq!(tree.waits_for("own-shop"), ["own-policies", "sources"]);
    assert_eq!(tree.waits_for("own-free"), Vec::<String>::new());
    let unit = tree.unit("own-shop");
    assert_eq!(unit["spec"]["path"], "/shop");
    assert_eq!(
        unit["spec"]["commonMetadata"]["labels"],
        json!({"app.kubernetes.io/managed-by": "flux", "opencenter/managed-by": "customer"})
    );
    let sources = tree.one("customer-managed/fluxcd/sources.yaml");
    assert_eq!(sources["spec"]["interval"], "10m");
    assert!(
        sources["spec"].get("retryInterval").is_none() && sources["spec"].get("timeout").is_none()
    );
    let repository = tree.one("customer-managed/sources/apps.yaml");
    assert_eq!(repository["spec"]["interval"], "15m");
    assert!(repository["spec"].get("secretRef").is_none());
}

#[test]
fn a_managed_service_that_nobody_knows_is_refused() {
    let findings = Config::new().managed("own-thing", "").refused();
    let codes: Vec<String> = findings
        .iter()
        .map(|finding| finding.code.to_string())
        .collect();
    assert_eq!(codes, ["OC6001"]);
    assert_eq!(
        findings[0].path, "opencenter.managed_services.own-thing",
        "{findings:?}"
    );
}

#[test]
fn a_service_without_a_namespace_has_no_empty_keys() {
    let tree = Config::new().service("own-thing", "").render();
    let base = tree.unit("own-thing-base");
    assert!(base["spec"].get("targetNamespace").is_none());
    assert!(base["spec"].get("healthChecks").is_none());
    assert!(
        tree.one("services/own-thing/kustomization.yaml")
            .get("namespace")
            .is_none()
    );
}

#[test]
fn only_the_stages_of_keycloak_and_kyverno_lack_the_dot() {
    let tree = Config::new()
        .external(&[
            "cert-manager",
            "gateway",
            "gateway-api",
            "postgres-operator",
            "rbac-manager",
        ])
        .service("olm", "")
        .service("kyverno", "")
        .service("keycloak", "")
        .secrets("keycloak: {client_secret: example-client, admin_password: example-admin}")
        .render();
    let root = "applications/overlays/sample/services";
    for (unit, path) in [
        ("olm", format!("./{root}/olm")),
        ("kyverno-default-ruleset", format!("{root}/kyverno")),
        ("keycloak-postgres", format!("{root}/keycloak/00-postgres")),
        ("keycloak-cr", format!("{root}/keycloak/20-keycloak")),
        ("sources", format!("./{root}/sources")),
    ] {
        assert_eq!(tree.unit(unit)["spec"]["path"], path, "{unit}");
    }
    // The stage still looks into its own directory for what it has to wait for.
    assert!(
        tree.tree()
            .bytes("services/keycloak/20-keycloak/keycloak-cr-patch.yaml")
            .is_some()
    );
}

#[test]
fn edges_lead_to_active_units_only_and_follow_the_content() {
    let config = || {
        Config::new()
            .service("gateway-api", "")
            .service("gateway", "")
            .service("headlamp", "")
            .secrets("headlamp: {oidc_client_secret: example-headlamp}")
            .service("cert-manager", "email: ops@example.org")
    };
    let tree = config().render();
    assert_eq!(
        tree.waits_for("headlamp-override"),
        ["headlamp-base", "envoy-gateway-api-base"],
        "its overlay has a route"
    );
    assert_eq!(
        tree.waits_for("gateway"),
        ["cert-manager-base", "envoy-gateway-api-base"]
    );
    let tree = Config::new()
        .service("rbac-manager", "")
        .service("own-thing", "namespace: x, extra_dependencies: [rbac-manager-base], conditional_dependencies: [{name: loki-base, when_enabled: loki}]")
        .render();
    assert_eq!(tree.waits_for("rbac-manager-base"), ["sources"]);
    assert_eq!(
        tree.waits_for("own-thing-base"),
        ["sources", "rbac-manager-base"]
    );
}
