//! Values from the environment and from files: secret until the config says otherwise, and read with care.

#[path = "../../../../opencenter/tests/canary/fields.rs"]
mod fields;

use std::{collections::BTreeMap, fs, os::unix::fs::symlink, path::Path, process::Command};

use mainstay_yaml::{Limits, SourceName, parse_documents};
use serde_json::Value;

use super::world::{Ended, World, ended, files_below};

const VALUES: &str = "services/own-cache/helm-values/override-values.yaml";

/// The config with a service of the user's own whose values refer to something outside.
fn with_values(text: &str) -> World {
    let world = World::new();
    world.change(
        "  services:\n",
        &format!("  services:\n    own-cache:\n      enabled: true\n      namespace: caching\n      override_values: \"{text}\"\n"),
    );
    world
}

fn run_with(world: &World, arguments: &[&str], variables: &BTreeMap<String, String>) -> Ended {
    ended(world.command(arguments).envs(variables))
}

fn one(name: &str, value: &str) -> BTreeMap<String, String> {
    BTreeMap::from([(name.to_owned(), value.to_owned())])
}

#[test]
fn a_password_in_the_values_of_a_service_is_encrypted() {
    let world = with_values("password: ${env:GRAFANA_PW}");
    let outside = one("GRAFANA_PW", "grafana-pw-577215");
    let rendered = run_with(&world, &["cluster", "render", "demo"], &outside);
    assert_eq!(rendered.code, 0, "{rendered}");
    let text = world.get(VALUES);
    assert!(text.contains("password: ENC["), "{text}");
    assert_nowhere(&world, &rendered, "grafana-pw-577215");
    let arguments = ["secrets", "decrypt", "demo", "--path", VALUES];
    let opened = run_with(&world, &arguments, &outside);
    assert!(
        opened.stdout.contains("password: grafana-pw-577215"),
        "{opened}"
    );
    let again = run_with(&world, &["cluster", "render", "demo", "--check"], &outside);
    assert_eq!(again.code, 0, "{again}");
}

/// Nothing that was said, and no file of the user but the key, holds a text.
fn assert_nowhere(world: &World, ended: &Ended, text: &str) {
    assert!(!ended.to_string().contains(text), "{ended}");
    for (path, bytes) in files_below(world.home.path()) {
        assert!(!String::from_utf8_lossy(&bytes).contains(text), "{path}");
        assert!(!path.contains(text), "{path}");
    }
}

#[test]
fn what_cannot_be_encrypted_is_refused_until_it_is_declared_public() {
    let world = World::new();
    world.change("email: ops@example.net", "email: ${env:MAIL}");
    let outside = one("MAIL", "hidden@example.net");
    let refused = run_with(&world, &["cluster", "render", "demo"], &outside);
    assert_eq!(refused.code, 5, "{refused}");
    for part in [
        "error[OC8010]",
        "${env:MAIL}",
        "at opencenter.services.cert-manager.email",
        "services/cert-manager/letsencrypt-main-issuer.yaml",
        "add `env:MAIL` to `secrets.public_references`",
    ] {
        assert!(refused.stderr.contains(part), "{part}\n{refused}");
    }
    assert_nowhere(&world, &refused, "hidden@example.net");
    assert!(!world.overlay("").exists());
    world.change(
        "\nsecrets:\n",
        "\nsecrets:\n  public_references: [env:MAIL]\n",
    );
    let rendered = run_with(&world, &["cluster", "render", "demo"], &outside);
    assert_eq!(rendered.code, 0, "{rendered}");
    let exported = run_with(&world, &["cluster", "export", "demo"], &outside);
    assert!(
        exported.stdout.contains("email: hidden@example.net"),
        "{exported}"
    );
}

#[test]
fn a_plan_holds_only_while_the_values_from_outside_and_the_program_are_the_same() {
    let world = with_values("password: ${env:PW}");
    let outside = one("PW", "first-value-141421");
    let plan = ["cluster", "plan", "demo", "--out", "plan.json"];
    let planned = run_with(&world, &plan, &outside);
    assert_eq!(planned.code, 0, "{planned}");
    let plan = fs::read_to_string(world.path("plan.json")).unwrap();
    assert!(!plan.contains("first-value-141421"), "{plan}");
    let render = ["cluster", "render", "demo", "--plan", "plan.json"];
    let changed = run_with(&world, &render, &one("PW", "other-value-141421"));
    assert_eq!(changed.code, 1, "{changed}");
    let why = "refers to outside has changed";
    assert!(changed.stderr.contains(why), "{changed}");
    for (from, to, why) in [
        ("\"program\": \"", "\"program\": \"0", "another version"),
        ("\"sha256\": \"", "\"sha256\": \"0", "not those of the plan"),
    ] {
        assert!(plan.contains(from), "{plan}");
        fs::write(world.path("plan.json"), plan.replacen(from, to, 1)).unwrap();
        let stale = run_with(&world, &render, &outside);
        assert!(stale.stderr.contains("error[OC6047]"), "{stale}");
        assert!(stale.stderr.contains(why), "{stale}");
    }
    fs::write(world.path("plan.json"), &plan).unwrap();
    let rendered = run_with(&world, &render, &outside);
    assert_eq!(rendered.code, 0, "{rendered}");
}

#[test]
fn a_directory_from_outside_is_hidden_in_errors() {
    let world = World::new();
    world.change(
        "local_dir: repository",
        "local_dir: ${env:WHERE}/repository",
    );
    fs::write(world.path("hidden-place"), "a file in the way").unwrap();
    let outside = one("WHERE", world.path("hidden-place").to_str().unwrap());
    let refused = run_with(&world, &["cluster", "render", "demo"], &outside);
    assert_ne!(refused.code, 0, "{refused}");
    assert!(!refused.to_string().contains("hidden-place"), "{refused}");
    assert!(refused.stderr.contains("***"), "{refused}");
}

fn refused_file(world: &World, arguments: &[&str], why: &str) {
    let all: Vec<&str> = ["cluster", "render", "demo"]
        .iter()
        .chain(arguments)
        .copied()
        .collect();
    let ended = world.refused(&all, 1, "OC1133");
    assert!(ended.stderr.contains(why), "{ended}");
    assert!(!world.overlay(VALUES).exists());
}

#[test]
fn files_are_read_below_the_directory_of_the_config_only() {
    let beside = |name: &str| format!("config/clusters/acme/{name}");
    let world = with_values("password: ${file:secret.txt}");
    fs::write(world.path(&beside("secret.txt")), "inside-314159\n").unwrap();
    world.render();
    assert!(world.get(VALUES).contains("password: ENC["));

    // A link may lead around inside, not out.
    fs::create_dir(world.path(&beside("deep"))).unwrap();
    fs::rename(
        world.path(&beside("secret.txt")),
        world.path(&beside("deep/real.txt")),
    )
    .unwrap();
    symlink("deep/real.txt", world.path(&beside("secret.txt"))).unwrap();
    world.success(&["cluster", "render", "demo", "--check"]);

    let outside = world.path("elsewhere");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret.txt"), "outside-271828\n").unwrap();
    for target in [
        "../../../elsewhere/secret.txt",
        outside.join("secret.txt").to_str().unwrap(),
        "~/elsewhere/secret.txt",
    ] {
        let world = with_values(&format!("password: ${{file:{target}}}"));
        fs::create_dir(world.path("elsewhere")).unwrap();
        fs::write(world.path("elsewhere/secret.txt"), "outside-271828\n").unwrap();
        refused_file(&world, &[], "outside of the config's directory");
    }
    let world = with_values("password: ${file:link}");
    symlink(&outside, world.path(&beside("link"))).unwrap();
    refused_file(&world, &[], "outside of the config's directory");
    fs::remove_file(world.path(&beside("link"))).unwrap();
    symlink(outside.join("secret.txt"), world.path(&beside("link"))).unwrap();
    refused_file(&world, &[], "outside of the config's directory");

    // Two ways to allow it.
    let directory = outside.to_str().unwrap();
    world.success(&["cluster", "render", "demo", "--allow-references", directory]);
    assert!(world.get(VALUES).contains("password: ENC["));
    let settings = format!("references:\n  allowedDirs: [{directory}]\n");
    fs::write(world.path("config/config.yaml"), settings).unwrap();
    world.success(&["cluster", "render", "demo", "--check"]);
}

#[test]
fn only_regular_files_of_a_megabyte_are_read() {
    let world = with_values("password: ${file:odd}");
    let odd = world.path("config/clusters/acme/odd");
    refused_file(&world, &[], "No such file");
    fs::create_dir(&odd).unwrap();
    refused_file(&world, &[], "no regular file");
    fs::remove_dir(&odd).unwrap();
    // Nobody ever writes to it; a reader that waits would wait for ever.
    assert!(Command::new("mkfifo").arg(&odd).status().unwrap().success());
    refused_file(&world, &[], "no regular file");
    fs::remove_file(&odd).unwrap();
    symlink("/dev/zero", &odd).unwrap();
    refused_file(&world, &["--allow-references", "/dev"], "no regular file");
    fs::remove_file(&odd).unwrap();
    fs::write(&odd, "x".repeat(1024 * 1024 + 1)).unwrap();
    refused_file(&world, &[], "larger than 1 MiB");
    fs::write(&odd, b"\xff\xfe").unwrap();
    refused_file(&world, &[], "no text");
}

/// Every command that tells something about a config, and what it leaves behind.
const COMMANDS: &[&[&str]] = &[
    &["cluster", "validate"],
    &["cluster", "validate", "--tree"],
    &["cluster", "plan", "--explain", "--out", "plan.json"],
    &[
        "cluster",
        "render",
        "--diagnostics",
        "diagnostics.json",
        "--backup",
    ],
    &["cluster", "render", "--plan", "plan.json"],
    &["cluster", "render"],
    &["cluster", "diff", "--unknown"],
    &["cluster", "diff", "--semantic"],
    &["cluster", "export", "--show-origin"],
    &["cluster", "graph"],
    &["cluster", "service", "list", "--all"],
    &["secrets", "status"],
];

/// The mark of all canaries.
const MARK: &str = "canaryx7q2k9";

/// Words of canaries that have no room for the mark.
const NARROW: [&str; 5] = [
    MARK,
    "203.0.113.77",
    "203.0.113.64/26",
    "7.7173.91733",
    "71h733m",
];

fn assert_no_canary(place: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).to_lowercase();
    let squeezed: String = text.split_whitespace().collect();
    for word in NARROW {
        assert!(
            !text.contains(word) && !squeezed.contains(word),
            "{place}: {word}\n{text}"
        );
    }
}

#[test]
fn the_program_never_shows_or_writes_a_canary_of_any_field() {
    let world = World::new();
    let source = SourceName::new("config.yaml");
    let mut base = parse_documents(fields::CONFIG, &source, &Limits::default())
        .unwrap()
        .remove(0)
        .value;
    fields::set(
        &mut base,
        "secrets.sops.age_key_file",
        world.path("age-key.txt").to_str().unwrap(),
    );
    fields::set(
        &mut base,
        "opencenter.gitops.repository.local_dir",
        "repository",
    );
    let mut leaves: Vec<(usize, fields::Leaf)> = fields::all().into_iter().enumerate().collect();
    // Where the program itself has to look.
    leaves.retain(|(_, leaf)| {
        !leaf.path.ends_with("local_dir") && !leaf.path.contains("age_key_file")
    });
    let config = world.path("canary-config.yaml");
    let config_text = config.to_str().unwrap();
    let mut variables = BTreeMap::new();
    for (number, leaf) in &leaves {
        variables.insert(
            format!("CANARY_{number}"),
            leaf.canary(&format!("{MARK}{number}")),
        );
    }
    let mut rounds = 0;
    loop {
        rounds += 1;
        assert!(rounds < 40, "it never ends: {leaves:?}");
        let mut value = base.clone();
        for (number, leaf) in &leaves {
            fields::set(&mut value, &leaf.path, &format!("${{env:CANARY_{number}}}"));
        }
        fs::write(&config, mainstay_yaml::print(&value)).unwrap();
        let arguments = [
            "cluster",
            "render",
            "--config-file",
            config_text,
            "-o",
            "json",
        ];
        let ended = run_with(&world, &arguments, &variables);
        assert_no_canary("the answer", ended.to_string().as_bytes());
        if ended.code == 0 {
            break;
        }
        let report: Value =
            serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended}"));
        let errors: Vec<&str> = report["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|error| error["path"].as_str().unwrap())
            .collect();
        let before = leaves.len();
        leaves.retain(|(_, leaf)| !errors.contains(&leaf.path.as_str()));
        if leaves.len() == before {
            // The fault is named elsewhere: at a value that was made from the canary, or at a list that holds it.
            leaves.retain(|(_, leaf)| !errors.iter().any(|error| is_near(&leaf.path, error)));
        }
        if leaves.len() == before {
            let owner = |path: &str| path.split('.').nth(2).map(str::to_owned);
            leaves
                .retain(|(_, leaf)| !errors.iter().any(|error| owner(&leaf.path) == owner(error)));
        }
        assert!(leaves.len() < before, "{ended}");
    }
    assert!(leaves.len() > 150, "{} canaries are left", leaves.len());
    for command in COMMANDS {
        let mut arguments = command.to_vec();
        arguments.extend(["--config-file", config_text, "--log-level", "debug"]);
        for form in ["text", "json"] {
            let mut all = arguments.clone();
            all.extend(["-o", form]);
            let ended = run_with(&world, &all, &variables);
            assert_no_canary(&format!("{all:?}"), ended.to_string().as_bytes());
        }
    }
    for name in ["plan.json", "diagnostics.json"] {
        assert!(world.path(name).is_file(), "{name}");
    }
    for (path, bytes) in files_below(world.home.path()) {
        assert_no_canary(&path, &bytes);
    }
    let arguments = ["secrets", "decrypt", "--config-file", config_text];
    let opened = run_with(&world, &arguments, &variables);
    let kept = leaves
        .iter()
        .filter(|(number, _)| opened.stdout.contains(&format!("{MARK}{number}")));
    let kept = kept.count();
    assert!(kept > 40, "{kept} canaries are in encrypted files");
}

/// Whether two paths share all but their last steps.
fn is_near(path: &str, error: &str) -> bool {
    let parent = |path: &str| {
        Path::new(&path.replace(['.', '['], "/"))
            .parent()
            .map(Path::to_owned)
    };
    parent(path) == parent(error) || path.starts_with(error)
}
