//! What earlier renders came to: it saves time, and makes no other difference.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use mainstay_sops::{OperatingSystem, age::Identity};
use serde_json::{Value, json};

use super::world::{Ended, SECRETS, World, ended, files_below};

const RENDER: &[&str] = &["cluster", "render", "demo", "-o", "json"];

/// Longer than a tick of any clock.
const TICK: Duration = Duration::from_millis(50);

/// Something that happens to a world.
type Event<'a> = &'a dyn Fn(&World);

fn cache(world: &World) -> PathBuf {
    world.path(".cache/mainstay/opencenter")
}

/// The only record.
#[track_caller]
fn record(world: &World) -> PathBuf {
    let entries = fs::read_dir(cache(world)).unwrap();
    let paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(paths.len(), 1, "{paths:?}");
    paths.into_iter().next().unwrap()
}

/// A world whose next render is remembered. Key files have to be two seconds old for that.
fn remembered() -> World {
    let world = World::new();
    world.render();
    let long_ago = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    for file in ["age-key.txt", "config/digest.key"] {
        let file = fs::File::open(world.path(file)).unwrap();
        file.set_modified(long_ago).unwrap();
    }
    thread::sleep(TICK);
    world.render();
    record(&world);
    world
}

/// Renders without any memory.
fn afresh(world: &World, more: &[&str]) -> Ended {
    let arguments = [RENDER, more].concat();
    ended(
        world
            .command(&arguments)
            .env("MAINSTAY_CACHE_DIR", "/dev/null"),
    )
}

/// Renders with the memory.
fn render(world: &World, more: &[&str]) -> Ended {
    world.run(&[RENDER, more].concat())
}

/// Puts a finding into the record that no render would tell.
fn mark(world: &World) {
    let path = record(world);
    let mut content: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    content["warnings"] = json!([{
        "code": 6009, "is_warning": true, "path": "", "file": null, "line": null, "column": null,
        "message": "this was remembered", "got": null, "help": null,
    }]);
    fs::write(&path, content.to_string()).unwrap();
}

fn is_recalled(ended: &Ended) -> bool {
    ended.stdout.contains("this was remembered")
}

#[test]
fn a_remembered_render_is_recalled_and_nothing_is_written() {
    let world = remembered();
    let before = (files_below(world.home.path()), modified(&cache(&world)));
    let (seen, expected) = (render(&world, &[]), afresh(&world, &[]));
    assert_eq!(
        (seen.code, seen.stdout.as_str(), seen.stderr.as_str()),
        (0, expected.stdout.as_str(), expected.stderr.as_str())
    );
    assert_eq!(
        (files_below(world.home.path()), modified(&cache(&world))),
        before
    );
    mark(&world);
    assert!(is_recalled(&render(&world, &[])));
    assert!(is_recalled(&render(&world, &["--check"])));
    assert!(is_recalled(
        &world.run(&["cluster", "render", "--all", "-o", "json"])
    ));
    // Other questions have other answers.
    for more in [
        ["--secrets-mode", "omit", "--dry-run"].as_slice(),
        &["--service", "loki"],
    ] {
        assert!(!is_recalled(&render(&world, more)), "{more:?}");
    }
}

fn modified(path: &Path) -> std::time::SystemTime {
    fs::metadata(path).unwrap().modified().unwrap()
}

#[test]
fn a_first_render_in_plain_text_is_remembered_at_once_if_it_holds_no_secret() {
    let world = World::new();
    let stand_ins = SECRETS.iter().fold(world.config_text(), |text, secret| {
        text.replace(secret, "PLACEHOLDER-VALUE")
    });
    world.save("demo", &stand_ins);
    let plain = ["--secrets-mode", "plaintext"];
    let first = render(&world, &plain);
    assert_eq!(first.code, 0, "{first}");
    thread::sleep(TICK);
    assert_eq!(render(&world, &plain).code, 0);
    mark(&world);
    assert!(is_recalled(&render(&world, &plain)));
}

#[test]
fn every_input_makes_a_difference() {
    let changes: [(&str, Event<'_>); 5] = [
        ("the config", &|world| {
            world.change("email: ops@example.net", "email: noc@example.net");
        }),
        ("the key", &|world| {
            let other = Identity::generate(&mut OperatingSystem).unwrap();
            let text = format!("# public key: {}\n{}\n", other.recipient(), *other.expose());
            fs::write(world.path("age-key.txt"), text).unwrap();
        }),
        ("the key of digests", &|world| {
            fs::remove_file(world.path("config/digest.key")).unwrap();
        }),
        ("the settings", &|world| {
            let text = "cluster_defaults: {gitops_auth_method: ssh}\n";
            fs::write(world.path("config/config.yaml"), text).unwrap();
        }),
        ("a key of sops", &|world| {
            let path = world.path(".config/sops/age/keys.txt");
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }),
    ];
    for (what, change) in changes {
        let world = remembered();
        mark(&world);
        assert!(is_recalled(&render(&world, &[])), "{what}");
        change(&world);
        assert!(!is_recalled(&render(&world, &["--dry-run"])), "{what}");
    }
}

#[test]
fn a_config_that_reads_the_environment_is_not_remembered() {
    let world = World::new();
    // Written so that the text of the file does not show it.
    world.change("region: ord1", "region: \"\\x24{env:REGION}\"");
    let region = |name: &str| {
        let ended = ended(world.command(RENDER).env("REGION", name));
        assert_eq!(ended.code, 0, "{ended}");
        thread::sleep(TICK);
    };
    region("ord1");
    region("ord1");
    assert!(!cache(&world).exists());
}

#[test]
fn no_secret_enters_the_memory() {
    let world = remembered();
    let text = fs::read_to_string(record(&world)).unwrap();
    let key = world.identity.expose();
    for secret in SECRETS.into_iter().chain([key.as_str()]) {
        assert!(!text.contains(secret));
    }
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&record(&world)), 0o600);
    assert_eq!(mode(&cache(&world)), 0o700);
}

#[test]
fn a_memory_that_could_be_somebody_elses_is_passed_over() {
    let spoil: [(&str, Event<'_>); 4] = [
        ("anybody may write the record", &|world| {
            fs::set_permissions(record(world), fs::Permissions::from_mode(0o666)).unwrap();
        }),
        ("anybody may write the directory", &|world| {
            fs::set_permissions(cache(world), fs::Permissions::from_mode(0o777)).unwrap();
        }),
        ("the record is a link", &|world| {
            let (path, moved) = (record(world), world.path("moved"));
            fs::rename(&path, &moved).unwrap();
            symlink(&moved, &path).unwrap();
        }),
        ("the directory is a link", &|world| {
            let moved = world.path("moved");
            fs::rename(cache(world), &moved).unwrap();
            symlink(&moved, cache(world)).unwrap();
        }),
    ];
    for (what, spoil) in spoil {
        let world = remembered();
        mark(&world);
        spoil(&world);
        let seen = render(&world, &["--check"]);
        assert_eq!(seen.code, 0, "{what}: {seen}");
        assert!(!is_recalled(&seen), "{what}");
    }
}

/// One thing that may happen to a world between two renders.
fn happen(world: &World, number: u64) {
    let file = world.overlay("services/fluxcd/kustomization.yaml");
    let other = world.overlay("services/loki/kustomization.yaml");
    let ledger = world
        .repository()
        .join(".opencenter/ownership/clusters/demo.json");
    let custom = world.overlay("services/loki/custom");
    match number % 14 {
        0 => world.put("services/loki/stray.yaml", "mine: 1\n"),
        1 => drop(fs::remove_file(&file)),
        2 => flip(&file),
        3 => {
            let time = modified(&other);
            flip(&other);
            fs::File::open(&other).unwrap().set_modified(time).unwrap();
        }
        4 => fs::set_permissions(&other, fs::Permissions::from_mode(0o600)).unwrap(),
        5 => world.put("services/loki/custom/kustomization.yaml", "resources: []\n"),
        6 => drop(fs::remove_dir_all(&custom)),
        7 => world.save("demo", &world.config_text().replace("ops@", "noc@")),
        8 => world.save("demo", &world.config_text().replace("noc@", "ops@")),
        9 => drop(fs::remove_file(&ledger)),
        10 => {
            let text = fs::read_to_string(&ledger).unwrap_or_default();
            fs::write(
                &ledger,
                text.replacen("\"sha256\": \"", "\"sha256\": \"0", 1),
            )
            .unwrap();
        }
        11 => fs::write(record_or(world), "{\"version\":1").unwrap(),
        12 => world.put("README.md", "mine\n"),
        _ => {
            let copy = world.path("copy");
            fs::copy(&other, &copy).unwrap();
            fs::rename(&copy, &other).unwrap();
        }
    }
}

/// Changes one byte of a file and nothing of its size.
fn flip(path: &Path) {
    let Ok(mut bytes) = fs::read(path) else {
        return;
    };
    bytes[4] ^= 1;
    fs::write(path, bytes).unwrap();
}

fn record_or(world: &World) -> PathBuf {
    let first = fs::read_dir(cache(world))
        .ok()
        .and_then(|mut all| all.next());
    first.map_or_else(|| world.path("none"), |entry| entry.unwrap().path())
}

#[test]
fn over_random_events_the_answers_are_those_without_memory() {
    for seed in 1..=3_u64 {
        let world = remembered();
        let mut state = seed;
        for step in 0..10 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            happen(&world, state >> 33);
            let what = format!("seed {seed}, step {step}, event {}", (state >> 33) % 14);
            let (expected, seen) = (
                afresh(&world, &["--dry-run"]),
                render(&world, &["--dry-run"]),
            );
            assert_eq!(
                (seen.code, &seen.stdout, &seen.stderr),
                (expected.code, &expected.stdout, &expected.stderr),
                "{what}"
            );
            let done = render(&world, &[]);
            assert_eq!(
                (done.code, &done.stdout),
                (expected.code, &expected.stdout),
                "{what}"
            );
            if done.code != 0 {
                // Start over from what the renderer makes of it.
                let _ = fs::remove_dir_all(world.repository());
                assert_eq!(render(&world, &[]).code, 0, "{what}");
            }
            assert_eq!(afresh(&world, &["--check"]).code, 0, "{what}");
            thread::sleep(TICK);
            assert_eq!(render(&world, &[]).code, 0, "{what}");
        }
    }
}
