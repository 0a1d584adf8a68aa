//! What is refused: with its code, its help, its exit code, and the tree as it was.

use std::{fmt::Write as _, fs, os::unix::fs::symlink, process::Command};

use super::world::{World, ended};

#[track_caller]
fn leaves_the_tree(world: &World, work: impl FnOnce(&World)) {
    let before = world.files();
    work(world);
    assert_eq!(world.files(), before);
}

#[test]
fn a_bad_config_names_place_and_way_out() {
    for (from, to, code, place) in [
        ("enabled: true", "\tenabled: true", "OC1101", ":"),
        (
            "region: ord1",
            "region: ord1\n    region: ord2",
            "OC1104",
            ":10:",
        ),
        ("region: ord1", "regoin: ord1", "OC1102", ":9:"),
        ("storage_type: s3", "storage_typo: s3", "OC1102", ":28:"),
        ("storage_type: s3", "storage_type: [s3]", "OC1103", ":28:"),
        ("release: \"2026.01\"", "release: 2026.01", "OC1103", ":18:"),
        (
            "schema_version: \"2.0\"",
            "schema_version: \"1.0\"",
            "OC1110",
            ":3:",
        ),
        ("name: demo", "name: \"demo\\nx\"", "OC2003", ":6:"),
        ("name: demo", "name: \"{{ demo }}\"", "OC2003", ":6:"),
        ("name: demo", "name: ../demo", "OC2003", ":6:"),
        (
            "region: ord1",
            "region: ${env:NOT_SET_ANYWHERE}",
            "OC1132",
            ":9:",
        ),
    ] {
        let world = World::new();
        world.change(from, to);
        let ended = world.refused(&["cluster", "render", "demo"], 1, code);
        assert!(
            ended.stderr.contains(&format!("demo-config.yaml{place}")),
            "{to} {place}\n{ended}"
        );
        assert!(world.files().is_empty());
    }
}

#[test]
fn an_alias_bomb_and_a_huge_file_end_soon() {
    let world = World::new();
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let previous = format!("*a{}", level - 1);
        let _ = writeln!(
            bomb,
            "a{level}: &a{level} [{}]",
            [previous.as_str(); 9].join(", ")
        );
    }
    world.save("demo", &bomb);
    world.refused(&["cluster", "render", "demo"], 1, "OC1105");
    world.save("demo", &"# long\n".repeat(1_500_000));
    world.refused(&["cluster", "render", "demo"], 1, "OC1105");
}

#[test]
fn a_hand_edited_file_is_not_overwritten_and_can_be_adopted() {
    let world = World::new();
    world.render();
    let issuer = "services/cert-manager/letsencrypt-main-issuer.yaml";
    world.put(issuer, "by: hand\n");
    world.change("email: ops@example.net", "email: noc@example.net");
    leaves_the_tree(&world, |world| {
        let ended = world.refused(&["cluster", "render", "demo"], 1, "OC6041");
        assert!(ended.stderr.contains(issuer), "{ended}");
        assert!(ended.stderr.contains("--adopt"), "{ended}");
    });
    world.success(&["cluster", "render", "demo", "--adopt"]);
    assert!(world.get(issuer).contains("noc@example.net"));
    let backup = world
        .files()
        .into_iter()
        .find(|(path, _)| path.starts_with(".opencenter-backups/") && path.ends_with(issuer));
    assert_eq!(backup.unwrap().1, b"by: hand\n");
}

#[test]
fn a_file_of_somebody_else_is_in_the_way() {
    let world = World::new();
    world.put("kustomization.yaml", "somebody: else\n");
    leaves_the_tree(&world, |world| {
        world.refused(&["cluster", "render", "demo"], 1, "OC6042");
        world.refused(&["cluster", "render", "demo", "--check"], 1, "OC6042");
    });
}

#[test]
fn a_corrupt_ledger_is_not_forgotten() {
    let world = World::new();
    world.render();
    let ledger = world
        .repository()
        .join(".opencenter/ownership/clusters/demo.json");
    fs::write(&ledger, "{").unwrap();
    leaves_the_tree(&world, |world| {
        world.refused(&["cluster", "render", "demo"], 1, "OC6043");
    });
}

#[test]
fn links_out_of_the_tree_are_a_matter_of_security() {
    let world = World::new();
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir_all(world.overlay("")).unwrap();
    symlink(outside.path(), world.overlay("services")).unwrap();
    world.refused(&["cluster", "render", "demo"], 5, "OC6045");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let world = World::new();
    let ended = world.refused(
        &["cluster", "render", "demo", "--output-dir", "/proc/nowhere"],
        1,
        "OC6044",
    );
    assert!(ended.stderr.contains("/proc/nowhere"), "{ended}");
}

/// A limit on the size of files stands in for a full disk: both are met in the middle of a write.
#[test]
fn a_full_disk_leaves_the_tree_as_it_was() {
    let world = World::new();
    world.render();
    world.change("email: ops@example.net", "email: noc@example.net");
    leaves_the_tree(&world, |world| {
        let program = env!("CARGO_BIN_EXE_mainstay");
        let script = format!("trap '' XFSZ; ulimit -f 0; exec '{program}' cluster render demo");
        let mut command = Command::new("bash");
        command.args(["-c", &script]);
        for (name, value) in world.command(&[]).get_envs() {
            command.env(name, value.unwrap());
        }
        let ended = ended(&mut command);
        assert_eq!(ended.code, 1, "{ended}");
        assert!(ended.stderr.contains("error[OC6044]"), "{ended}");
    });
    world.render();
}

#[test]
fn two_renders_at_once_do_not_mix() {
    let world = World::new();
    let children: Vec<_> = (0..6)
        .map(|_| {
            let mut command = world.command(&["cluster", "render", "demo"]);
            command
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    let mut succeeded = 0;
    for child in children {
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.code() {
            Some(0) => succeeded += 1,
            Some(1) => assert!(stderr.contains("error[OC6040]"), "{stderr}"),
            other => panic!("{other:?}: {stderr}"),
        }
    }
    assert!(succeeded > 0);
    world.success(&["cluster", "render", "demo", "--check"]);
    assert!(!world.overlay(".opencenter-render.lock").exists());
}

#[test]
fn a_lock_of_somebody_else_is_respected() {
    let world = World::new();
    world.put(".opencenter-render.lock", "");
    world.refused(&["cluster", "render", "demo"], 1, "OC6040");
}
