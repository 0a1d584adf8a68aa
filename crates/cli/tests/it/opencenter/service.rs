//! Services: switched on and off in the config, with its comments and its order kept.

use std::fs;

use super::world::World;

#[test]
fn enabling_keeps_comments_and_order() {
    let world = World::new();
    let before = world.config_text();
    let report = world.json(&[
        "cluster",
        "service",
        "enable",
        "sealed-secrets",
        "--cluster",
        "demo",
    ]);
    assert_eq!(report["action"], "re-enabled");
    assert_eq!(report["service"], "sealed-secrets");
    assert_eq!(report["managed"], false);
    let fields = serde_json::json!(["opencenter.services.sealed-secrets.enabled"]);
    assert_eq!(report["changed_fields"], fields);
    let expected = before.replace(
        "sealed-secrets:\n      enabled: false",
        "sealed-secrets:\n      enabled: true",
    );
    let after = world.config_text();
    assert!(
        after.contains("# Metrics come first.") && after.contains("# where people try things"),
        "{after}"
    );
    let without_time = |text: &str| -> Vec<String> {
        let lines = text
            .lines()
            .filter(|line| !line.contains("updated_at") && *line != "metadata:");
        lines.map(str::to_owned).collect()
    };
    assert_eq!(without_time(&after), without_time(&expected));
    world.refused(
        &[
            "cluster",
            "service",
            "enable",
            "sealed-secrets",
            "--cluster",
            "demo",
        ],
        1,
        "OC6006",
    );
}

#[test]
fn parameters_and_secrets_are_typed_and_checked() {
    let world = World::new();
    let enable = |more: &[&str]| {
        let mut arguments = vec![
            "cluster",
            "service",
            "enable",
            "longhorn",
            "--cluster",
            "demo",
        ];
        arguments.extend(more);
        world.run(&arguments)
    };
    let ended = enable(&["--param", "no_such_field=1"]);
    assert!(
        ended.code == 1 && ended.stderr.contains("OC1102"),
        "{ended}"
    );
    let ended = enable(&["--param", "default_replica_count=many"]);
    assert!(
        ended.code == 1 && ended.stderr.contains("OC1103"),
        "{ended}"
    );
    assert!(!world.config_text().contains("longhorn"));
    let ended = enable(&[
        "--param",
        "default_replica_count=2",
        "--param",
        "source.branch=next",
    ]);
    assert_eq!(ended.code, 0, "{ended}");
    let text = world.config_text();
    assert!(
        text.contains("default_replica_count: 2") && text.contains("branch: next"),
        "{text}"
    );
    let ended = world.run(&[
        "cluster",
        "set",
        "demo",
        "secrets.keycloak.admin_password=visible-to-all",
    ]);
    assert_eq!(ended.code, 5, "{ended}");
    assert!(!format!("{ended}").contains("visible-to-all"), "{ended}");
    fs::write(world.path("password"), "from-a-file\n").unwrap();
    world.success(&[
        "cluster",
        "set",
        "demo",
        "secrets.keycloak.admin_password=@password",
    ]);
    assert!(world.config_text().contains("admin_password: from-a-file"));
}

#[test]
fn dependencies_are_named_and_can_come_along() {
    let world = World::new();
    let arguments = [
        "cluster",
        "service",
        "enable",
        "gateway",
        "--cluster",
        "demo",
    ];
    let ended = world.refused(&arguments, 1, "OC3201");
    assert!(ended.stderr.contains("gateway-api"), "{ended}");
    let mut with = arguments.to_vec();
    with.push("--with-deps");
    let report = world.json(&with);
    assert_eq!(
        report["enabled_dependencies"],
        serde_json::json!(["gateway-api"])
    );
    let disable = [
        "cluster",
        "service",
        "disable",
        "gateway-api",
        "--cluster",
        "demo",
    ];
    let ended = world.refused(&disable, 1, "OC3201");
    assert!(ended.stderr.contains("gateway"), "{ended}");
    let mut cascade = disable.to_vec();
    cascade.push("--cascade");
    let report = world.json(&cascade);
    assert_eq!(
        report["disabled_dependants"],
        serde_json::json!(["gateway"])
    );
}

#[test]
fn a_change_can_be_rendered_at_once() {
    let world = World::new();
    world.render();
    let report = world.json(&[
        "cluster",
        "service",
        "enable",
        "sealed-secrets",
        "--cluster",
        "demo",
        "--render",
    ]);
    assert!(report["render"]["added"].as_u64().unwrap() >= 3, "{report}");
    assert!(
        world
            .overlay("services/sealed-secrets/kustomization.yaml")
            .exists()
    );
    world.success(&["cluster", "render", "demo", "--check"]);
    let report = world.json(&[
        "cluster",
        "service",
        "disable",
        "sealed-secrets",
        "--cluster",
        "demo",
        "--render",
    ]);
    assert!(
        report["render"]["deleted"].as_u64().unwrap() >= 3,
        "{report}"
    );
    assert!(!world.overlay("services/sealed-secrets").exists());
    world.success(&["cluster", "render", "demo", "--check"]);
}

#[test]
fn unknown_services_get_a_suggestion() {
    let world = World::new();
    let ended = world.refused(
        &["cluster", "service", "enable", "lokki", "--cluster", "demo"],
        1,
        "OC6005",
    );
    assert!(ended.stderr.contains("loki"), "{ended}");
    world.refused(
        &[
            "cluster",
            "service",
            "disable",
            "tempo",
            "--cluster",
            "demo",
        ],
        1,
        "OC6003",
    );
    world.refused(
        &[
            "cluster",
            "service",
            "disable",
            "sealed-secrets",
            "--cluster",
            "demo",
        ],
        1,
        "OC6007",
    );
}

#[test]
fn a_locked_cluster_is_not_changed() {
    let world = World::new();
    world.change(
        "    env: dev",
        "    locked: true\n    lock_reason: freeze\n    env: dev",
    );
    let before = world.config_text();
    for arguments in [
        &[
            "cluster",
            "service",
            "enable",
            "sealed-secrets",
            "--cluster",
            "demo",
        ][..],
        &["cluster", "set", "demo", "opencenter.meta.env=qa"],
        &["cluster", "edit", "demo"],
    ] {
        let ended = world.refused(arguments, 1, "OC1003");
        assert!(ended.stderr.contains("freeze"), "{ended}");
    }
    assert_eq!(world.config_text(), before);
}

#[test]
fn tables_and_options_come_from_the_types() {
    let world = World::new();
    let list = world.success(&["cluster", "service", "list", "demo", "--all"]);
    let mut lines = list.lines();
    assert!(lines.next().unwrap().starts_with("SERVICE NAME"));
    assert!(
        list.lines()
            .any(|line| line.starts_with("keycloak ") && line.contains("available")),
        "{list}"
    );
    assert!(
        list.lines()
            .last()
            .unwrap()
            .starts_with("alert-proxy (managed)"),
        "{list}"
    );
    let status = world.success(&["cluster", "service", "status", "demo"]);
    assert!(!status.contains("keycloak"), "{status}");
    let options = world.success(&["cluster", "service", "options", "loki"]);
    assert!(
        options.contains("storage_type (string)") && options.contains("{s3, swift}"),
        "{options}"
    );
    assert!(!options.contains("Rendering fields"), "{options}");
    let secrets = world.success(&["cluster", "service", "secrets", "loki", "--cluster", "demo"]);
    assert!(secrets.contains("used: secrets.loki"), "{secrets}");
}
