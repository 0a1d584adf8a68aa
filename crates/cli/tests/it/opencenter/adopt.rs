//! A tree that somebody else wrote is taken over without surprises in the cluster.

use super::world::World;

/// A unit of the original that has no successor of its name.
fn unit(prune: bool) -> String {
    format!(
        "\
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: olm-base
  namespace: flux-system
spec:
  interval: 5m
  path: applications/base/services/olm
  prune: {prune}
  sourceRef:
    kind: GitRepository
    name: opencenter-olm
"
    )
}

/// A source of the original that is reached in another way now.
const SOURCE: &str = "\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: opencenter-cert-manager
  namespace: flux-system
spec:
  url: ssh://git@git.example.net/platform/base.git
";

#[test]
fn adoption_is_refused_while_flux_would_delete_what_a_unit_applied() {
    let world = World::new();
    world.put("services/fluxcd/olm.yaml", &unit(true));
    world.put("services/sources/opencenter-cert-manager.yaml", SOURCE);
    let listed = world.run(&["cluster", "diff", "demo", "--adopt"]);
    assert_eq!(listed.code, 4, "{listed}");
    assert!(
        listed.stdout.contains("delete    Kustomization olm-base"),
        "{listed}"
    );
    assert!(
        listed
            .stdout
            .contains("re-point  GitRepository opencenter-cert-manager"),
        "{listed}"
    );
    let before = world.files();
    let refused = world.refused(&["cluster", "render", "demo", "--adopt"], 1, "OC6050");
    assert!(refused.stderr.contains("olm-base"), "{refused}");
    assert_eq!(world.files(), before);

    // Once Flux has seen that the unit does not prune, it may go.
    world.put("services/fluxcd/olm.yaml", &unit(false));
    let adopted = world.run(&["cluster", "render", "demo", "--adopt"]);
    assert_eq!(adopted.code, 0, "{adopted}");
    assert!(adopted.stderr.contains("warning[OC6051]"), "{adopted}");
    let listed = world.run(&["cluster", "diff", "demo", "--adopt"]);
    assert_eq!((listed.code, listed.stdout.as_str()), (0, ""), "{listed}");
}

#[test]
fn whoever_accepts_that_flux_deletes_is_warned() {
    let world = World::new();
    world.put("services/fluxcd/olm.yaml", &unit(true));
    let adopted = world.run(&["cluster", "render", "demo", "--adopt", "--accept-pruning"]);
    assert_eq!(adopted.code, 0, "{adopted}");
    assert!(adopted.stderr.contains("warning[OC6050]"), "{adopted}");
    // The tree is ours from here on: a unit that goes now is meant to go.
    world.change("loki:\n      enabled: true", "loki:\n      enabled: false");
    world.success(&["cluster", "render", "demo", "--adopt"]);
}
