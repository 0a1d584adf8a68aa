//! Trees on disk: what is written, what is kept, what is compared.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Child, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::world::{World, config, files_below};

const ROOT: &str = "applications/overlays/demo/";

#[test]
fn a_second_render_touches_nothing() {
    let world = World::new();
    world.render();
    let files = world.files();
    let time = |file: &str| {
        fs::metadata(world.overlay(file))
            .unwrap()
            .modified()
            .unwrap()
    };
    let before = (time(""), time("services"), time("kustomization.yaml"));
    let report = world.json(&["cluster", "render", "demo"]);
    assert_eq!(report["render"]["added"], serde_json::json!([]));
    assert_eq!(report["render"]["changed"], serde_json::json!([]));
    assert_eq!(report["ok"], true);
    assert_eq!(
        (time(""), time("services"), time("kustomization.yaml")),
        before
    );
    assert_eq!(world.files(), files);
}

#[test]
fn check_and_dry_run_say_it_and_write_nothing() {
    let world = World::new();
    let check = world.run(&["cluster", "render", "demo", "--check"]);
    assert_eq!(check.code, 4, "{check}");
    world.success(&["cluster", "render", "demo", "--dry-run"]);
    assert!(world.files().is_empty());
    world.render();
    world.success(&["cluster", "render", "demo", "--check"]);
}

#[test]
fn a_disabled_service_leaves_nothing_behind() {
    let world = World::new();
    world.render();
    assert!(world.overlay("services/loki").exists());
    world.change(
        "    loki:\n      enabled: true",
        "    loki:\n      enabled: false",
    );
    let report = world.json(&["cluster", "render", "demo"]);
    assert!(!world.overlay("services/loki").exists());
    assert!(
        !world
            .get("services/fluxcd/kustomization.yaml")
            .contains("loki")
    );
    let deleted = report["render"]["deleted"].as_array().unwrap();
    assert!(deleted.contains(&Value::from("services/loki/kustomization.yaml")));
    // And back again: the same tree as before, encrypted anew.
    world.change(
        "    loki:\n      enabled: false",
        "    loki:\n      enabled: true",
    );
    world.render();
    assert!(world.overlay("services/loki/kustomization.yaml").exists());
}

#[test]
fn one_changed_value_writes_only_the_files_it_touches() {
    let world = World::new();
    world.render();
    world.change("email: ops@example.net", "email: noc@example.net");
    let report = world.json(&["cluster", "render", "demo"]);
    let changed = &report["render"]["changed"];
    assert_eq!(
        changed,
        &serde_json::json!(["services/cert-manager/letsencrypt-main-issuer.yaml"])
    );
}

#[test]
fn a_single_service_equals_its_part_of_the_whole() {
    let (whole, single) = (World::new(), World::new());
    whole.render();
    single.success(&["cluster", "render", "demo", "--service", "cert-manager"]);
    let whole = whole.files();
    let part = single.files();
    assert!(part.contains_key(&format!("{ROOT}services/cert-manager/kustomization.yaml")));
    assert!(!part.contains_key(&format!("{ROOT}services/loki/kustomization.yaml")));
    for (path, bytes) in part.iter().filter(|(path, _)| path.starts_with(ROOT)) {
        let is_encrypted = String::from_utf8_lossy(bytes).contains("\nsops:\n");
        assert!(whole.get(path) == Some(bytes) || is_encrypted, "{path}");
    }
}

#[test]
fn what_belongs_to_others_stays_and_is_named() {
    let world = World::new();
    world.put("flux-system/gotk-sync.yaml", "a: 1\n");
    world.put("services/loki/custom/kustomization.yaml", "resources: []\n");
    world.put("README.md", "mine\n");
    world.render();
    assert_eq!(world.get("flux-system/gotk-sync.yaml"), "a: 1\n");
    assert_eq!(world.get("README.md"), "mine\n");
    assert!(
        world
            .get("services/loki/kustomization.yaml")
            .contains("custom/")
    );
    let diff = world.success(&["cluster", "diff", "demo", "--unknown"]);
    assert_eq!(diff, "? README.md\n");
}

#[test]
fn a_stray_file_is_no_difference_because_a_render_keeps_it() {
    let world = World::new();
    world.render();
    world.put("services/loki/notes.yaml", "mine: 1\n");
    assert_eq!(world.success(&["cluster", "diff", "demo"]), "");
    assert_eq!(
        world.success(&["cluster", "diff", "demo", "--unknown"]),
        "? services/loki/notes.yaml\n"
    );
    let report = world.json(&["cluster", "render", "demo"]);
    assert_eq!(
        report["render"]["prune_candidates"],
        serde_json::json!(["services/loki/notes.yaml"])
    );
    assert_eq!(world.get("services/loki/notes.yaml"), "mine: 1\n");
    // What somebody changed in our files is a difference, although a render would refuse to undo it.
    world.put("services/loki/kustomization.yaml", "by: hand\n");
    let diff = world.run(&["cluster", "diff", "demo", "--name-only"]);
    assert_eq!(
        (diff.code, diff.stdout.as_str()),
        (4, "services/loki/kustomization.yaml\n"),
        "{diff}"
    );
    world.refused(&["cluster", "render", "demo"], 1, "OC6041");
}

#[test]
fn diff_shows_lines_and_hides_secrets() {
    let world = World::new();
    world.render();
    assert_eq!(world.success(&["cluster", "diff", "demo"]), "");
    world.change("email: ops@example.net", "email: noc@example.net");
    world.change("grafana-admin-3141592", "grafana-admin-5897932");
    world.change("git.example.net/platform", "mirror.example.net/platform");
    let diff = world.run(&["cluster", "diff", "demo"]);
    assert_eq!(diff.code, 4, "{diff}");
    assert!(
        diff.stdout
            .contains("-    email: ops@example.net\n+    email: noc@example.net\n"),
        "{diff}"
    );
    assert!(diff.stdout.contains("<secret changed>"), "{diff}");
    assert!(diff.stdout.contains("security-sensitive:"), "{diff}");
    assert!(
        !diff.stdout.contains("5897932") && !diff.stdout.contains("3141592"),
        "{diff}"
    );
    let names = world
        .run(&["cluster", "diff", "demo", "--name-only"])
        .stdout;
    assert!(
        names
            .lines()
            .any(|line| line == "services/cert-manager/letsencrypt-main-issuer.yaml"),
        "{names}"
    );
    let semantic = world.run(&["cluster", "diff", "demo", "--semantic"]).stdout;
    let line = "    /spec/acme/email: \"ops@example.net\" -> \"noc@example.net\"\n";
    assert!(
        semantic.contains("  ClusterIssuer letsencrypt-main\n") && semantic.contains(line),
        "{semantic}"
    );
    world.change(
        "  services:\n",
        "  services:\n    metallb: {enabled: true}\n",
    );
    let semantic = world.run(&["cluster", "diff", "demo", "--semantic"]).stdout;
    let line = "    /resources[]: nothing -> \"./metallb.yaml\"\n";
    assert!(semantic.contains(line), "{semantic}");
    assert!(!semantic.contains("/resources/"), "{semantic}");
    let stat = world.run(&["cluster", "diff", "demo", "--stat"]).stdout;
    assert!(
        stat.contains("letsencrypt-main-issuer.yaml | +1 -1\n"),
        "{stat}"
    );
}

#[test]
fn a_plan_is_refused_once_its_inputs_changed() {
    let world = World::new();
    let text = world.success(&["cluster", "plan", "demo", "--explain", "--out", "plan.json"]);
    assert!(text.contains("unit keycloak is off: "), "{text}");
    assert!(
        text.contains("opencenter.services.sealed-secrets.enabled"),
        "{text}"
    );
    assert!(world.files().is_empty());
    world.success(&["cluster", "render", "demo", "--plan", "plan.json"]);
    world.change("email: ops@example.net", "email: noc@example.net");
    world.refused(
        &["cluster", "render", "demo", "--plan", "plan.json"],
        1,
        "OC6047",
    );
}

#[test]
fn all_clusters_are_rendered_and_one_bad_config_harms_only_itself() {
    let world = World::new();
    for number in 0..6 {
        let name = format!("edge{number}");
        world.save(&name, &config(&name));
    }
    world.save(
        "broken",
        "schema_version: \"2.0\"\nopencenter: {meta: {nome: x}}\n",
    );
    let ended = world.run(&["cluster", "render", "--all", "-o", "json"]);
    assert_eq!(ended.code, 1, "{ended}");
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let report = report.as_array().unwrap();
    let ids: Vec<&str> = report
        .iter()
        .map(|entry| entry["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), 8);
    assert!(ids.is_sorted());
    let failed: Vec<_> = report.iter().filter(|entry| entry["ok"] == false).collect();
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0]["id"], "acme/broken");
    // Every tree is the one that it would have been alone.
    let alone = World::new();
    alone.render();
    let flux = "services/fluxcd/loki.yaml";
    let edge = world
        .repository()
        .join("applications/overlays/edge3")
        .join(flux);
    let edge = fs::read_to_string(edge).unwrap();
    assert_eq!(edge.replace("edge3", "demo"), alone.get(flux));
    fs::remove_file(world.config_path("broken")).unwrap();
    world.success(&["cluster", "render", "--all", "--check"]);
}

#[test]
fn diagnostics_say_why_and_hold_no_content() {
    let world = World::new();
    world.success(&["cluster", "render", "demo", "--diagnostics", "why.json"]);
    let report: Value = serde_json::from_slice(&fs::read(world.path("why.json")).unwrap()).unwrap();
    assert_eq!(report["cluster"], "demo");
    let descriptors = report["descriptors"].as_array().unwrap();
    let reason = |name: &str| {
        let found = descriptors
            .iter()
            .find(|entry| entry["name"] == name)
            .unwrap();
        found["reason"].as_str().unwrap().to_owned()
    };
    assert!(reason("loki").contains("opencenter.services.loki.enabled"));
    assert!(reason("keycloak").contains("opencenter.services.keycloak"));
}

#[test]
fn watching_renders_again_when_the_config_is_saved() {
    let world = World::new();
    let mut child = world
        .command(&["cluster", "render", "demo", "--watch"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let printed = lines_of(&mut child);
    let issuer = "services/cert-manager/letsencrypt-main-issuer.yaml";
    wait_until(|| world.overlay(issuer).exists());
    world.change("email: ops@example.net", "email: noc@example.net");
    wait_until(|| {
        fs::read_to_string(world.overlay(issuer)).is_ok_and(|text| text.contains("noc@"))
    });
    // The file is there before the render is over, and an interrupt in between puts everything back.
    let mut text = String::new();
    wait_until(|| {
        text.extend(printed.try_iter());
        text.contains("0 added, 1 changed")
    });
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn watching_follows_descriptors_and_what_the_config_refers_to() {
    let world = World::new();
    let directory = world.config_path("demo").parent().unwrap().to_owned();
    fs::write(directory.join("mail.txt"), "ops@example.net").unwrap();
    world.change("email: ops@example.net", "email: ${file:mail.txt}");
    world.change(
        "secrets:\n  sops:",
        "secrets:\n  public_references: [\"file:mail.txt\"]\n  sops:",
    );
    fs::create_dir(world.path("more")).unwrap();
    let mut child = world
        .command(&[
            "cluster",
            "render",
            "demo",
            "--watch",
            "--descriptor-dir",
            "more",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let printed = lines_of(&mut child);
    let mut text = String::new();
    let mut printed_says = |words: &str| {
        wait_until(|| {
            text.extend(printed.try_iter());
            text.contains(words)
        });
    };
    printed_says("0 deleted");
    fs::write(directory.join("mail.txt"), "noc@example.net").unwrap();
    printed_says("0 added, 1 changed");
    assert!(
        world
            .get("services/cert-manager/letsencrypt-main-issuer.yaml")
            .contains("noc@")
    );
    let told = lines_of_stderr(&mut child);
    fs::write(world.path("more/broken.yaml"), "name: broken\n").unwrap();
    let mut text = String::new();
    wait_until(|| {
        text.extend(told.try_iter());
        text.contains("broken.yaml")
    });
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// The lines that a program prints, as they come.
fn lines_of(child: &mut Child) -> mpsc::Receiver<String> {
    lines_from(child.stdout.take().unwrap())
}

/// The same for what it tells the user.
fn lines_of_stderr(child: &mut Child) -> mpsc::Receiver<String> {
    lines_from(child.stderr.take().unwrap())
}

fn lines_from(stream: impl std::io::Read + Send + 'static) -> mpsc::Receiver<String> {
    let lines = BufReader::new(stream).lines();
    let (send, printed) = mpsc::channel();
    thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let _ = send.send(format!("{line}\n"));
        }
    });
    printed
}

fn wait_until(mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(30), "waited in vain");
        thread::sleep(Duration::from_millis(20));
    }
}

fn interrupt(child: &Child) {
    let process = child.id().to_string();
    let status = std::process::Command::new("kill")
        .args(["-INT", &process])
        .status();
    assert!(status.unwrap().success());
}

/// Real processes, killed at whatever step they happen to be in.
#[test]
fn a_killed_render_leaves_a_tree_that_the_next_one_completes() {
    let world = World::new();
    world.render();
    let old = files_below(&world.overlay("services/fluxcd"));
    world.change("release: \"2026.01\"", "release: \"2026.02\"");
    for pause in [0, 2, 4, 6, 8, 10, 15, 20, 30] {
        let mut child = world
            .command(&["cluster", "render", "demo"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(pause));
        let _ = child.kill();
        child.wait().unwrap();
        world.success(&["cluster", "render", "demo"]);
        assert!(
            world
                .get("services/sources/opencenter-cert-manager.yaml")
                .contains("2026.02")
        );
        let left: Vec<_> = fs::read_dir(world.repository())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.starts_with(".opencenter-staging"))
            .collect();
        assert!(left.is_empty(), "{left:?}");
        assert!(!world.overlay(".opencenter-render.lock").exists());
        world.change("release: \"2026.02\"", "release: \"2026.01\"");
        world.render();
        assert_eq!(files_below(&world.overlay("services/fluxcd")), old);
        world.change("release: \"2026.01\"", "release: \"2026.02\"");
    }
}
