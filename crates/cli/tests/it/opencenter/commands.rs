//! The other commands: what they print, how they end.

use std::{fs, os::unix::fs::PermissionsExt as _};

use serde_json::Value;

use super::world::{Ended, World, config, ended};
use crate::under_the_name;

#[test]
fn clusters_are_made_listed_and_chosen() {
    let world = World::new();
    let ended = world.run(&["cluster", "active"]);
    assert!(
        ended.code == 1 && ended.stderr.contains("OC1002"),
        "{ended}"
    );
    world.success(&[
        "cluster",
        "init",
        "new",
        "--org",
        "acme",
        "--provider",
        "kind",
    ]);
    let mode = fs::metadata(world.config_path("new"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(
        world.run(&["cluster", "init", "new", "--org", "acme"]).code,
        1
    );
    world.success(&[
        "cluster", "init", "new", "--org", "acme", "--force", "--full",
    ]);
    world.success(&["cluster", "use", "new"]);
    assert_eq!(world.success(&["cluster", "active"]), "acme/new\n");
    assert_eq!(
        world.success(&["cluster", "list"]),
        "acme/demo\n* acme/new\n"
    );
    world.success(&["cluster", "validate"]);
    world.success(&["cluster", "validate", "acme/demo"]);
    // The same name in another organization has to be told apart.
    let other = world.path("config/clusters/other/.demo-config.yaml");
    fs::create_dir_all(other.parent().unwrap()).unwrap();
    fs::write(other, config("demo")).unwrap();
    let ended = world.refused(&["cluster", "validate", "demo"], 1, "OC1004");
    assert!(ended.stderr.contains("acme/demo, other/demo"), "{ended}");
}

#[test]
fn a_missing_config_is_a_three_and_a_wrong_call_a_two() {
    let world = World::new();
    let ended = world.refused(&["cluster", "render", "nowhere"], 3, "OC1001");
    assert!(ended.stderr.contains("cluster init"), "{ended}");
    for arguments in [
        &["cluster", "graph", "demo", "--dry-run"][..],
        &["cluster", "list", "-o", "xml"],
        &["cluster", "render", "../x"],
        &["cluster", "init", "a/b"],
        &["cluster", "set", "demo"],
        &["cluster", "frobnicate"],
    ] {
        let ended = world.run(arguments);
        assert_eq!(ended.code, 2, "{arguments:?}\n{ended}");
    }
    world.refused(
        &["cluster", "validate", "demo", "--mode", "online"],
        1,
        "OC6099",
    );
}

#[test]
fn findings_have_one_shape_for_programs() {
    let world = World::new();
    world.change("region: ord1", "regoin: ord1");
    let ended = world.run(&["cluster", "validate", "demo", "-o", "json"]);
    assert_eq!(ended.code, 1, "{ended}");
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["ok"], false);
    let finding = &report["errors"][0];
    for field in [
        "code", "severity", "category", "path", "file", "line", "column", "message", "help",
    ] {
        assert!(!finding[field].is_null(), "{field}: {finding}");
    }
    let yaml = world.run(&["cluster", "validate", "demo", "-o", "yaml"]);
    assert!(yaml.stdout.starts_with("errors:\n"), "{yaml}");
}

#[test]
fn a_tree_that_differs_is_worth_knowing() {
    let world = World::new();
    world.render();
    let ended = world.run(&["cluster", "validate", "demo", "--tree"]);
    assert_eq!(ended.code, 0, "{ended}");
    world.change("email: ops@example.net", "email: noc@example.net");
    let ended = world.run(&["cluster", "validate", "demo", "--tree"]);
    assert!(
        ended.code == 0 && ended.stderr.contains("info[OC7020]"),
        "{ended}"
    );
}

#[test]
fn a_tree_says_how_far_its_bootstrap_is() {
    let world = World::new();
    world.render();
    let validate = ["cluster", "validate", "demo", "--tree"];
    let text = world.success(&validate);
    assert!(
        text.starts_with("the tree waits for `flux bootstrap`: flux-system/ is missing"),
        "{text}"
    );
    assert_eq!(world.json(&validate)["tree"]["state"], "renderer-parity");
    for file in ["gotk-components", "gotk-sync", "kustomization"] {
        world.put(&format!("flux-system/{file}.yaml"), "a: 1\n");
    }
    let text = world.success(&validate);
    assert!(text.starts_with("the tree is bootstrapped\n"), "{text}");
    assert_eq!(world.json(&validate)["tree"]["state"], "bootstrap-complete");
    assert!(
        world.json(&["cluster", "validate", "demo"])["tree"].is_null(),
        "nobody looked at the tree"
    );
}

#[test]
fn a_copy_of_the_base_shows_whether_names_agree() {
    let world = World::new();
    world.success(&[
        "cluster",
        "set",
        "demo",
        "opencenter.services.loki.enabled=false",
    ]);
    world.success(&[
        "cluster",
        "set",
        "demo",
        "opencenter.services.kube-prometheus-stack.enabled=false",
    ]);
    world.render();
    let base = world.path("base/applications/base/services/cert-manager");
    fs::create_dir_all(&base).unwrap();
    fs::write(
        base.join("kustomization.yaml"),
        "resources: [release.yaml]\n",
    )
    .unwrap();
    let release = |secret: &str| {
        format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: cert-manager}}\nspec: {{valuesFrom: [{{kind: Secret, name: {secret}}}]}}\n"
        )
    };
    let validate = [
        "cluster",
        "validate",
        "demo",
        "--tree",
        "--base-snapshot",
        "base",
    ];
    fs::write(
        base.join("release.yaml"),
        release("cert-manager-values-override"),
    )
    .unwrap();
    world.success(&validate);
    fs::write(base.join("release.yaml"), release("other")).unwrap();
    let ended = world.refused(&validate, 1, "OC7007");
    assert!(
        ended
            .stderr
            .contains("cert-manager/cert-manager-values-override"),
        "{ended}"
    );
    assert_eq!(
        world
            .run(&["cluster", "validate", "demo", "--base-snapshot", "base"])
            .code,
        2
    );
}

#[test]
fn the_graph_has_four_forms() {
    let world = World::new();
    let graph = |form: &str| world.success(&["cluster", "graph", "demo", "--format", form]);
    assert!(graph("text").contains("wave 1"));
    assert!(graph("dot").starts_with("digraph"));
    assert!(graph("mermaid").starts_with("graph") || graph("mermaid").starts_with("flowchart"));
    let _: Value = serde_json::from_str(&graph("json")).unwrap();
}

#[test]
fn the_schema_is_stable_and_can_be_checked() {
    let world = World::new();
    let schema: Value = serde_json::from_str(&world.success(&["cluster", "schema"])).unwrap();
    assert_eq!(schema["title"], "openCenter v2 Cluster Configuration");
    world.success(&["cluster", "schema", "--out", "schema.json"]);
    world.success(&["cluster", "schema", "--out", "schema.json", "--check"]);
    fs::write(world.path("schema.json"), "{}").unwrap();
    let ended = world.run(&["cluster", "schema", "--out", "schema.json", "--check"]);
    assert_eq!(ended.code, 4, "{ended}");
}

#[test]
fn export_explains_every_value() {
    let world = World::new();
    let text = world.success(&["cluster", "export", "demo", "--show-origin"]);
    assert!(text.contains("region: ord1  # line 9\n"), "{text}");
    assert!(text.contains("branch: main  # default\n"), "{text}");
    assert!(
        text.contains("admin_password: \"***\"") || text.contains("admin_password: '***'"),
        "{text}"
    );
    let value = world.json(&["cluster", "export", "demo", "--show-origin"]);
    assert_eq!(value["origins"]["opencenter.meta.region"], "line 9");
    assert_eq!(
        world
            .run(&["cluster", "export", "demo", "--redact=false"])
            .code,
        2
    );
}

#[test]
fn editing_checks_before_it_saves() {
    let world = World::new();
    let script = |name: &str, body: &str| {
        let path = world.path(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    let edit = |editor: &std::path::Path| {
        let mut command = world.command(&["cluster", "edit", "demo"]);
        command.env("EDITOR", editor);
        ended(&mut command)
    };
    let before = world.config_text();
    assert_eq!(edit(&script("nothing", "true")).code, 0);
    let bad = edit(&script(
        "bad",
        "sed -i 's/region: ord1/regoin: ord1/' \"$1\"",
    ));
    assert!(bad.code == 1 && bad.stderr.contains("OC1102"), "{bad}");
    assert_eq!(world.config_text(), before);
    let good = edit(&script("good", "sed -i 's/env: dev/env: qa/' \"$1\""));
    assert_eq!(good.code, 0, "{good}");
    assert!(
        world
            .config_text()
            .contains("env: qa # where people try things")
    );
    let shell = edit(std::path::Path::new("vi; rm -rf /"));
    assert_eq!(shell.code, 2, "{shell}");
    let names: Vec<_> = fs::read_dir(world.config_path("demo").parent().unwrap())
        .unwrap()
        .collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

#[test]
fn descriptors_can_be_listed_shown_and_checked() {
    let world = World::new();
    let list = world.success(&["descriptor", "list"]);
    assert!(list.lines().count() >= 36, "{list}");
    assert!(
        world
            .success(&["descriptor", "show", "loki"])
            .contains("name: loki")
    );
    world.success(&["descriptor", "lint"]);
    fs::create_dir(world.path("more")).unwrap();
    fs::write(
        world.path("more/x.yaml"),
        "name: x\nlayer: services\nnonsense: 1\n",
    )
    .unwrap();
    let ended = world.run(&["descriptor", "lint", "--descriptor-dir", "more"]);
    assert!(
        ended.code == 1 && ended.stderr.contains("OC5002"),
        "{ended}"
    );
}

/// The program under the name `opencenter`, with the home of the world.
fn as_opencenter(world: &World, arguments: &[&str]) -> Ended {
    let (_directory, program) = under_the_name("opencenter");
    let mut command = std::process::Command::new(program);
    command
        .args(arguments)
        .env("HOME", world.home.path())
        .env("OPENCENTER_CONFIG_DIR", world.path("config"))
        .env("NO_COLOR", "1");
    ended(&mut command)
}

#[test]
fn under_its_own_name_it_takes_the_words_of_the_original() {
    let world = World::new();
    let version = as_opencenter(&world, &["version"]);
    assert!(version.stdout.starts_with("opencenter "), "{version}");
    let short = as_opencenter(&world, &["version", "--short"]);
    assert_eq!(format!("opencenter {}", short.stdout), version.stdout);
    let script = as_opencenter(&world, &["completions", "bash"]);
    assert!(script.stdout.contains("generate"), "{script}");

    let generated = as_opencenter(
        &world,
        &[
            "cluster",
            "generate",
            "demo",
            "--render-only",
            "--gitops-auth",
            "token",
        ],
    );
    assert_eq!(generated.code, 0, "{generated}");
    let other = World::new();
    other.render();
    let file = "services/fluxcd/loki.yaml";
    assert_eq!(world.get(file), other.get(file));

    let initialised = as_opencenter(
        &world,
        &[
            "cluster",
            "init",
            "lab",
            "--type",
            "kind",
            "--full-schema",
            "--no-keygen",
        ],
    );
    assert_eq!(initialised.code, 0, "{initialised}");
    let validated = as_opencenter(
        &world,
        &[
            "cluster",
            "validate",
            "demo",
            "--validation",
            "offline",
            "--manifests",
            "-v",
        ],
    );
    assert_eq!(validated.code, 0, "{validated}");
    // Under its other name the program has its own words only.
    let refused = world.run(&["cluster", "generate", "demo"]);
    assert_eq!(refused.code, 2, "{refused}");
}

#[test]
fn the_settings_of_the_original_are_read_and_strange_keys_are_named() {
    let world = World::new();
    let settings = "\
logging: {level: error, format: text, file: {maxSize: 100}}
paths: {clustersDir: ~/elsewhere, gitopsDir: /srv/gitops}
behavior: {autoConfirm: false, dryRun: false, validation: offline}
cluster_defaults:
  organization: harbour
  provider: kind
  region: lab1
  environment: qa
  base_domain: example.org
  kubernetes_version: 1.34.2
  cni: calico
";
    fs::write(world.path("config/settings.yaml"), settings).unwrap();
    let told = world.run(&["cluster", "init", "lab"]);
    assert_eq!(
        (told.code, told.stderr.contains("warning")),
        (0, false),
        "{told}"
    );
    let config = fs::read_to_string(world.path("elsewhere/harbour/.lab-config.yaml")).unwrap();
    for line in [
        "provider: kind",
        "region: lab1",
        "env: qa",
        "base_domain: example.org",
        "version: 1.34.2",
    ] {
        assert!(config.contains(line), "{line}\n{config}");
    }
    // A flag wins over the settings.
    world.success(&["cluster", "init", "lab", "--org", "other"]);
    assert!(world.path("elsewhere/other/.lab-config.yaml").exists());

    fs::write(
        world.path("config/settings.yaml"),
        "logging: {colour: red}\nbehavior: {dryRun: true}\n",
    )
    .unwrap();
    let told = world.run(&["cluster", "render", "demo"]);
    assert_eq!(told.code, 0, "{told}");
    assert!(
        told.stderr.contains("warning[OC1005]") && told.stderr.contains("colour"),
        "{told}"
    );
    assert!(
        told.stdout.contains("Would render") && !world.repository().exists(),
        "{told}"
    );
    // Commands that change nothing do not mind.
    world.success(&["descriptor", "list"]);

    fs::write(
        world.path("config/settings.yaml"),
        "logging: {level: loud}\n",
    )
    .unwrap();
    let refused = world.run(&["cluster", "list"]);
    assert!(
        refused.code == 2 && refused.stderr.contains("logging.level"),
        "{refused}"
    );
}

#[test]
fn a_new_service_has_a_place_for_the_user() {
    let world = World::new();
    world.render();
    assert_eq!(world.get("services/loki/custom/.gitkeep"), "");
    world.success(&["cluster", "render", "demo", "--check"]);
    world.change("loki:\n      enabled: true", "loki:\n      enabled: false");
    world.render();
    assert!(!world.overlay("services/loki").exists());
}

#[test]
fn under_its_own_name_the_families_are_at_the_top() {
    let world = World::new();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_mainstay"));
    let directory = tempfile::TempDir::new_in(program.parent().unwrap()).unwrap();
    let link = directory.path().join("opencenter");
    fs::hard_link(program, &link).unwrap();
    let mut command = std::process::Command::new(&link);
    command.arg("--help");
    let help = ended(&mut command);
    assert!(help.stdout.contains("Usage: opencenter"), "{help}");
    assert!(!help.stdout.contains("Run the operators"), "{help}");
    let mut command = std::process::Command::new(&link);
    command
        .args(["cluster", "list"])
        .env("OPENCENTER_CONFIG_DIR", world.path("config"));
    assert_eq!(ended(&mut command).stdout, "acme/demo\n");
}

#[test]
fn the_five_relaypoint_trees_match() {
    let world = World::new();
    let fixtures = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/golden/opencenter/relaypoint"
    );
    let clusters = ["k8s-dev", "k8s-dr", "k8s-prod", "k8s-qa", "k8s-uat"];
    let text = world.success(&["cluster", "parity", "--fixtures", fixtures]);
    assert_eq!(
        text,
        clusters
            .map(|cluster| format!("{cluster}: 0 differences\n"))
            .concat()
    );
}

#[test]
fn parity_reports_every_difference_and_updates_when_told() {
    let world = World::new();
    let fixtures = world.path("fixtures");
    fs::create_dir(&fixtures).unwrap();
    fs::write(fixtures.join(".demo-config.yaml"), config("demo")).unwrap();
    fs::write(
        fixtures.join("parity-canonicalization.yaml"),
        "version: '1'\n",
    )
    .unwrap();
    let parity = |more: &[&str]| {
        let mut arguments = vec!["cluster", "parity", "--fixtures", "fixtures"];
        arguments.extend(more);
        world.run(&arguments)
    };
    let ended = parity(&[]);
    assert!(
        ended.code == 4 && ended.stdout.contains("  unexpected kustomization.yaml\n"),
        "{ended}"
    );
    assert_eq!(parity(&["--update"]).code, 2);
    assert_eq!(parity(&["--update", "--yes"]).code, 0);
    assert_eq!(parity(&["demo"]).stdout, "demo: 0 differences\n");
    let root = fixtures.join("applications/overlays/demo/kustomization.yaml");
    let text = fs::read_to_string(&root).unwrap();
    fs::write(&root, text.replace("./services/fluxcd", "./elsewhere")).unwrap();
    let ended = parity(&[]);
    assert!(
        ended.code == 4 && ended.stdout.contains("  differs kustomization.yaml"),
        "{ended}"
    );
    assert_eq!(parity(&["nobody"]).code, 2);
}
