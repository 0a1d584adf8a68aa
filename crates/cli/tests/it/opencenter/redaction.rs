//! Whatever is asked, no secret is shown.

use super::world::{SECRETS, World};

#[test]
fn no_command_shows_a_secret() {
    let world = World::new();
    world.render();
    world.change("email: ops@example.net", "email: noc@example.net");
    world.change(
        "main:\n        enabled: true",
        "other:\n        enabled: true",
    );
    for form in ["text", "json", "yaml"] {
        for arguments in [
            &["cluster", "render", "demo", "--check"][..],
            &["cluster", "diff", "demo"],
            &["cluster", "plan", "demo", "--explain"],
            &["cluster", "validate", "demo", "--for-deploy", "--tree"],
            &["cluster", "export", "demo"],
            &["cluster", "export", "demo", "--show-origin"],
            &["cluster", "graph", "demo"],
            &["cluster", "service", "list", "demo", "--all"],
            &["cluster", "service", "secrets", "loki", "--cluster", "demo"],
            &["cluster", "service", "options", "loki"],
            &["secrets", "status", "demo"],
            &["cluster", "set", "demo", "opencenter.meta.region=7"],
        ] {
            let mut all = arguments.to_vec();
            all.extend(["-o", form, "--log-level", "debug"]);
            let ended = world.run(&all);
            for secret in SECRETS {
                let shown = ended.stdout.contains(secret) || ended.stderr.contains(secret);
                assert!(!shown, "{all:?}\n{ended}");
            }
        }
    }
}

#[test]
fn values_from_outside_count_as_secrets() {
    let world = World::new();
    world.change("region: ord1", "region: ${env:REGION_FROM_OUTSIDE}");
    let mut command = world.command(&["cluster", "export", "demo"]);
    command.env("REGION_FROM_OUTSIDE", "somewhere-hidden");
    let ended = super::world::ended(&mut command);
    assert_eq!(ended.code, 0, "{ended}");
    assert!(!ended.stdout.contains("somewhere-hidden"), "{ended}");
}
