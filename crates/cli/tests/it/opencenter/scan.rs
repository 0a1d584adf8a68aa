//! The search for secrets that should not be in the repository.

use std::{fs, process::Command};

use serde_json::Value;

use super::world::World;

fn findings(world: &World, arguments: &[&str]) -> (i32, Vec<String>) {
    let mut all = vec![
        "cluster",
        "validate",
        "demo",
        "--security-only",
        "-o",
        "json",
    ];
    all.extend(arguments);
    let ended = world.run(&all);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let texts = report["errors"].as_array().unwrap().iter().map(|finding| {
        let text = |field: &str| finding[field].as_str().unwrap_or_default().to_owned();
        format!("{} {}:{}", text("code"), text("file"), finding["line"])
    });
    (ended.code, texts.collect())
}

#[test]
fn a_rendered_tree_is_clean() {
    let world = World::new();
    world.render();
    assert_eq!(findings(&world, &[]), (0, Vec::new()));
}

#[test]
fn what_was_left_lying_around_is_found() {
    let world = World::new();
    world.render();
    let root = world.repository();
    fs::write(root.join("key.txt"), "AGE-SECRET-KEY-1XYZ\n").unwrap();
    fs::write(root.join("id"), "\n-----BEGIN OPENSSH PRIVATE KEY-----\n").unwrap();
    fs::write(
        root.join("secret.yaml"),
        "kind: Secret\nstringData: {a: CHANGEME}\n",
    )
    .unwrap();
    fs::create_dir_all(root.join(".git")).unwrap();
    fs::write(root.join(".git/key"), "AGE-SECRET-KEY-1XYZ\n").unwrap();
    let (code, found) = findings(&world, &[]);
    assert_eq!(code, 5);
    assert_eq!(
        found,
        [
            "OC7011 id:2",
            "OC7010 key.txt:1",
            "OC7013 secret.yaml:1",
            "OC7016 secret.yaml:2"
        ]
    );
}

#[test]
fn the_index_is_searched_instead_of_the_files() {
    let world = World::new();
    fs::create_dir_all(world.repository()).unwrap();
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(world.repository()).args(arguments);
        assert!(command.output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    fs::write(world.repository().join("staged"), "AGE-SECRET-KEY-1XYZ\n").unwrap();
    git(&["add", "staged"]);
    fs::write(world.repository().join("staged"), "clean\n").unwrap();
    fs::write(world.repository().join("unstaged"), "AGE-SECRET-KEY-1XYZ\n").unwrap();
    assert_eq!(
        findings(&world, &["--staged"]),
        (5, vec!["OC7010 staged:1".to_owned()])
    );
    assert_eq!(
        findings(&world, &[]),
        (5, vec!["OC7010 unstaged:1".to_owned()])
    );
}
