//! Encrypted files: made for the right people, kept while nothing changes, readable by the real tools.

use std::{fs, process::Command, sync::LazyLock};

use mainstay_control_plane::tools::{Tool, Tools};
use mainstay_sops::{OperatingSystem, age::Identity};
use serde_json::Value;

use super::world::{SECRETS, World, config};

static TOOLS: LazyLock<Tools> =
    LazyLock::new(|| Tools::find_or_build(&|_| {}).expect("the tools can be built"));

/// The encrypted files of a world's tree, relative to the overlay.
fn encrypted(world: &World) -> Vec<String> {
    let files = world.files().into_iter();
    files
        .filter(|(_, bytes)| String::from_utf8_lossy(bytes).contains("\nsops:\n"))
        .filter_map(|(path, _)| Some(path.strip_prefix("applications/overlays/demo/")?.to_owned()))
        .collect()
}

#[test]
fn a_key_that_others_can_read_is_warned_about() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let told = world.run(&["cluster", "render", "demo"]);
    assert!(!told.stderr.contains("OC8006"), "{told}");
    let readable = fs::Permissions::from_mode(0o640);
    fs::set_permissions(world.path("age-key.txt"), readable).unwrap();
    for command in ["render", "validate"] {
        let told = world.run(&["cluster", command, "demo"]);
        assert_eq!(told.code, 0, "{told}");
        assert!(told.stderr.contains("warning[OC8006]"), "{told}");
        assert!(told.stderr.contains("chmod 600"), "{told}");
    }
    world.change("age_key_file: ~/age-key.txt", "age_key_file: ${env:KEY}");
    let key = world.path("age-key.txt");
    let mut command = world.command(&["cluster", "render", "demo"]);
    let told = super::world::ended(command.env("KEY", &key));
    assert!(told.stderr.contains("warning[OC8006]"), "{told}");
    assert!(!told.stderr.contains("age-key.txt"), "{told}");
}

#[test]
fn no_secret_is_on_disk_and_real_sops_opens_every_file() {
    let world = World::new();
    world.render();
    let files = encrypted(&world);
    assert!(files.len() >= 3, "{files:?}");
    for (path, bytes) in world.files() {
        let text = String::from_utf8_lossy(&bytes);
        for secret in SECRETS {
            assert!(!text.contains(secret), "{path}");
        }
    }
    let mut clear = String::new();
    for file in files {
        let output = Command::new(TOOLS.path(Tool::Sops))
            .arg("decrypt")
            .arg(world.overlay(&file))
            .env("SOPS_AGE_KEY_FILE", world.path("age-key.txt"))
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{file}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        clear.push_str(&String::from_utf8(output.stdout).unwrap());
    }
    for secret in [SECRETS[0], SECRETS[2], SECRETS[3]] {
        assert!(clear.contains(secret), "{secret}");
    }
}

#[test]
fn unchanged_files_keep_their_bytes_with_and_without_the_key() {
    let world = World::new();
    world.render();
    let files = world.files();
    // Without the secret key the digest tells; the public key is still known.
    let key = fs::read_to_string(world.path("age-key.txt")).unwrap();
    let public = format!("{}\n", key.lines().next().unwrap());
    fs::write(world.path("age-key.txt"), public).unwrap();
    world.render();
    assert_eq!(world.files(), files);
    // On another machine there is no digest key, but the secret key tells.
    fs::write(world.path("age-key.txt"), key).unwrap();
    fs::remove_file(world.path("config/digest.key")).unwrap();
    let report = world.json(&["cluster", "render", "demo"]);
    assert_eq!(report["render"]["changed"], serde_json::json!([]));
}

#[test]
fn a_changed_secret_changes_its_value_and_nothing_else() {
    let world = World::new();
    world.render();
    let path = "services/cert-manager/opencenter-aws-credentials-secret-main.yaml";
    let old = world.get(path);
    world.change(
        "aws_secret_access_key: aws-secret-key-2718281",
        "aws_secret_access_key: another-secret-key",
    );
    let report = world.json(&["cluster", "render", "demo"]);
    assert_eq!(report["render"]["changed"], serde_json::json!([path]));
    let new = world.get(path);
    let changed: Vec<&str> = new.lines().filter(|line| !old.contains(line)).collect();
    let keys: Vec<&str> = changed
        .iter()
        .map(|line| line.trim().split(':').next().unwrap())
        .collect();
    assert!(
        keys.iter()
            .all(|key| ["secret-access-key", "lastmodified", "mac"].contains(key)),
        "{changed:?}"
    );
    assert!(keys.contains(&"secret-access-key"));
}

#[test]
fn other_recipients_encrypt_anew() {
    let world = World::new();
    world.render();
    let second = Identity::generate(&mut OperatingSystem).unwrap();
    let rules = format!(
        "    overlay_units:\n      sops:\n        enabled: true\n        rules:\n          - path_regex: '.*'\n            age_recipients: [{}, {}]\n            encrypted_regex: '^(data|stringData|config|loki|grafana|secret|credentials)$'\n  services:\n",
        world.identity.recipient(),
        second.recipient()
    );
    world.change("  services:\n", &rules);
    world.render();
    let text = world.get("services/cert-manager/opencenter-aws-credentials-secret-main.yaml");
    assert!(text.contains(&second.recipient().to_string()));
    assert!(
        world
            .get(".sops.yaml")
            .contains(&second.recipient().to_string())
    );
}

#[test]
fn without_a_recipient_nothing_is_written() {
    let world = World::new();
    fs::remove_file(world.path("age-key.txt")).unwrap();
    world.refused(&["cluster", "render", "demo"], 5, "OC8001");
    assert!(world.files().is_empty());
    let mut command = world.command(&["cluster", "render", "demo"]);
    command.env(
        "SOPS_AGE_RECIPIENTS",
        world.identity.recipient().to_string(),
    );
    assert!(command.status().unwrap().success());
    assert!(!encrypted(&world).is_empty());
}

#[test]
fn a_broken_key_file_is_named_without_its_content() {
    let world = World::new();
    fs::write(world.path("age-key.txt"), "AGE-SECRET-KEY-1NONSENSE\n").unwrap();
    let ended = world.refused(&["cluster", "render", "demo"], 1, "OC8002");
    assert!(!ended.stderr.contains("NONSENSE"), "{ended}");
}

#[test]
fn plain_text_has_to_be_confirmed_unless_all_secrets_are_stand_ins() {
    let world = World::new();
    let arguments = ["cluster", "render", "demo", "--secrets-mode", "plaintext"];
    world.refused(&arguments, 5, "OC8005");
    assert!(world.files().is_empty());
    let mut confirmed = arguments.to_vec();
    confirmed.push("--yes");
    let ended = world.run(&confirmed);
    assert_eq!(ended.code, 0, "{ended}");
    assert!(ended.stderr.contains("do not commit"), "{ended}");
    assert!(encrypted(&world).is_empty());

    let stand_ins = World::new();
    let mut text = config("demo");
    for secret in SECRETS {
        text = text.replace(secret, "PLACEHOLDER-SECRET");
    }
    stand_ins.save("demo", &text);
    stand_ins.success(&arguments);
}

#[test]
fn omitted_files_are_not_listed_either() {
    let world = World::new();
    world.success(&["cluster", "render", "demo", "--secrets-mode", "omit"]);
    let secret = "opencenter-aws-credentials-secret-main.yaml";
    assert!(
        !world
            .overlay(&format!("services/cert-manager/{secret}"))
            .exists()
    );
    assert!(
        !world
            .get("services/cert-manager/kustomization.yaml")
            .contains(secret)
    );
}

#[test]
fn status_tells_good_files_from_bad_ones() {
    let world = World::new();
    world.render();
    let status = world.success(&["secrets", "status", "demo"]);
    assert!(
        status.lines().all(|line| line.ends_with("encrypted")),
        "{status}"
    );
    let path = "services/cert-manager/opencenter-aws-credentials-secret-main.yaml";
    let tampered = world.get(path).replace("kind: Secret", "kind: Secrets");
    world.put(path, &tampered);
    let ended = world.run(&["secrets", "status", "demo", "--path", path]);
    assert_eq!(ended.code, 1, "{ended}");
    assert!(
        ended
            .stdout
            .contains("broken: the values do not fit the code"),
        "{ended}"
    );
    let stranger = Identity::generate(&mut OperatingSystem).unwrap();
    fs::write(world.path("age-key.txt"), stranger.expose().as_str()).unwrap();
    let status = world.success(&["secrets", "status", "demo", "--services", "loki"]);
    assert!(status.contains("encrypted, no key here"), "{status}");
    world.refused(
        &["secrets", "decrypt", "demo", "--services", "loki"],
        1,
        "OC8003",
    );
}

#[test]
fn plain_files_are_encrypted_in_place_and_stay_ours() {
    let world = World::new();
    world.success(&[
        "cluster",
        "render",
        "demo",
        "--secrets-mode",
        "plaintext",
        "--yes",
    ]);
    let custom = "services/loki/custom/secret.yaml";
    world.put(
        custom,
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: mine\nstringData:\n  a: my-own-secret\n",
    );
    let before = world.run(&["secrets", "status", "demo"]);
    assert_eq!(before.code, 5, "{before}");
    world.success(&["secrets", "encrypt", "demo", "--dry-run"]);
    assert!(encrypted(&world).is_empty());
    world.success(&["secrets", "encrypt", "demo"]);
    let status = world.success(&["secrets", "status", "demo"]);
    assert!(
        status.lines().all(|line| line.ends_with("encrypted")),
        "{status}"
    );
    assert!(!world.get(custom).contains("my-own-secret"));
    // The files are still ours, and as they shall be.
    world.success(&["cluster", "render", "demo", "--check"]);
}

#[test]
fn decrypting_prints_and_writes_nothing() {
    let world = World::new();
    world.render();
    let files = world.files();
    let clear = world.success(&["secrets", "decrypt", "demo", "--services", "cert-manager"]);
    assert!(clear.contains(SECRETS[2]));
    assert_eq!(world.files(), files);
}

#[test]
fn syncing_writes_the_secrets_and_leaves_the_rest() {
    let world = World::new();
    world.render();
    world.change("email: ops@example.net", "email: noc@example.net");
    world.change("grafana-admin-3141592", "grafana-admin-5897932");
    let report = world.json(&["secrets", "sync", "demo"]);
    let synced = report["synced"].as_array().unwrap();
    assert!(!synced.is_empty());
    assert!(
        synced
            .iter()
            .all(|path| path.as_str().unwrap().contains("kube-prometheus-stack")),
        "{report}"
    );
    assert!(
        world
            .get("services/cert-manager/letsencrypt-main-issuer.yaml")
            .contains("ops@")
    );
}

#[test]
fn an_encrypted_config_is_read_and_stays_encrypted() {
    let world = World::new();
    let path = world.config_path("demo");
    let output = Command::new(TOOLS.path(Tool::Sops))
        .args(["encrypt", "--age", &world.identity.recipient().to_string()])
        .args(["--encrypted-regex", "^secrets$", "--in-place"])
        .arg(&path)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(world.config_text().contains("\nsops:\n"));
    let with_key = |arguments: &[&str]| {
        let mut command = world.command(arguments);
        command.env("SOPS_AGE_KEY_FILE", world.path("age-key.txt"));
        super::world::ended(&mut command)
    };
    let ended = with_key(&["cluster", "render", "demo"]);
    assert_eq!(ended.code, 0, "{ended}");
    let ended = with_key(&["cluster", "set", "demo", "opencenter.meta.env=qa"]);
    assert_eq!(ended.code, 0, "{ended}");
    let text = world.config_text();
    assert!(
        text.contains("env: qa") && text.contains("\nsops:\n"),
        "{text}"
    );
    assert!(!text.contains(SECRETS[0]));
    let ended = with_key(&["cluster", "export", "demo", "-o", "json"]);
    let value: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(value["opencenter"]["meta"]["env"], "qa");
}

/// A rule of the user decides which fields are encrypted; it must not leave a secret out.
#[test]
fn a_rule_that_leaves_a_secret_in_the_open_is_refused() {
    let world = World::new();
    let rules = |expression: &str| {
        format!(
            "    overlay_units:\n      sops:\n        enabled: true\n        rules:\n          - path_regex: '.*'\n            age_recipients: [{}]\n            encrypted_regex: '{expression}'\n    auth:\n",
            world.identity.recipient()
        )
    };
    let text = world.config_text();
    for expression in ["^nothing$", "^(data|stringData)$"] {
        world.save("demo", &text.replace("    auth:\n", &rules(expression)));
        let ended = world.refused(&["cluster", "render", "demo"], 5, "OC8010");
        assert!(ended.stderr.contains(expression), "{ended}");
        assert!(world.files().is_empty(), "something was written");
    }
    // The second one covers Secrets, but not what stands in values files.
    world.save(
        "demo",
        &text.replace("    auth:\n", &rules("^(data|stringData|loki|storage)$")),
    );
    world.render();
    world.success(&["cluster", "render", "demo", "--check"]);
}
