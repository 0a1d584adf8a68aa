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

/// A unit of the original that stays, and a file that only the original has.
fn staying(world: &World) {
    let unit = unit(true)
        .replace("olm-base", "cert-manager-override")
        .replace(
            "path: applications/base/services/olm",
            "path: ./applications/overlays/demo/services/cert-manager",
        )
        .replace("opencenter-olm", "flux-system");
    world.put("services/fluxcd/cert-manager.yaml", &unit);
    let extra =
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: extra\n  namespace: cert-manager\n";
    world.put("services/cert-manager/extra.yaml", extra);
}

#[test]
fn adoption_holds_back_whatever_would_make_flux_delete() {
    let world = World::new();
    world.put("services/fluxcd/olm.yaml", &unit(true));
    world.put("services/sources/opencenter-cert-manager.yaml", SOURCE);
    staying(&world);
    let listed = world.run(&["cluster", "diff", "demo", "--adopt"]);
    assert_eq!(listed.code, 4, "{listed}");
    for line in [
        "delete    Kustomization olm-base",
        "delete    ConfigMap cert-manager/extra",
        "recreate  Kustomization cert-manager-override",
        "re-point  GitRepository opencenter-cert-manager",
    ] {
        assert!(listed.stdout.contains(line), "{line}\n{listed}");
    }

    let adopted = world.run(&["cluster", "render", "demo", "--adopt"]);
    assert_eq!(adopted.code, 0, "{adopted}");
    assert!(adopted.stderr.contains("warning[OC6052]"), "{adopted}");
    let retired = world.get("services/fluxcd/adopted-units.yaml");
    for line in ["name: olm-base", "prune: false", "suspend: true"] {
        assert!(retired.contains(line), "{retired}");
    }
    let listing = world.get("services/fluxcd/kustomization.yaml");
    assert!(listing.contains("./adopted-units.yaml"), "{listing}");
    let source = world.get("services/sources/opencenter-cert-manager.yaml");
    assert!(
        source.contains("url: ssh://git@git.example.net/platform/base.git"),
        "{source}"
    );
    let units = world.get("services/fluxcd/cert-manager.yaml");
    let (_, staying) = units.split_once("name: cert-manager-override").unwrap();
    let staying = staying.split("---").next().unwrap();
    assert!(
        staying.contains("prune: false") && !staying.contains("force"),
        "{staying}"
    );
    // What the original did not have is as it always is.
    assert!(
        world
            .get("services/fluxcd/loki.yaml")
            .contains("prune: true")
    );
    // Renders in between hold it back too, and say so.
    let again = world.run(&["cluster", "render", "demo", "--check"]);
    assert_eq!(again.code, 0, "{again}");
    assert!(again.stderr.contains("warning[OC6053]"), "{again}");
    world.success(&["cluster", "validate", "demo", "--tree"]);

    let finished = world.run(&["cluster", "render", "demo", "--finish-adoption"]);
    assert_eq!(finished.code, 0, "{finished}");
    assert!(!finished.stderr.contains("OC605"), "{finished}");
    assert!(!world.overlay(".adoption.yaml").exists());
    assert!(!world.overlay("services/fluxcd/adopted-units.yaml").exists());
    // From here on the tree is one that was never anybody else's.
    let other = World::new();
    other.render();
    let fluxcd = "services/fluxcd/cert-manager.yaml";
    assert_eq!(world.get(fluxcd), other.get(fluxcd));
    assert!(
        world
            .get("services/sources/opencenter-cert-manager.yaml")
            .contains("url: https://")
    );
}

#[test]
fn one_unit_alone_cannot_hold_back_and_is_refused() {
    let world = World::new();
    let unit = unit(true).replace("olm-base", "loki-old");
    world.put("services/fluxcd/loki.yaml", &unit);
    let before = world.files();
    let arguments = ["cluster", "render", "demo", "--service", "loki", "--adopt"];
    let refused = world.refused(&arguments, 1, "OC6050");
    assert!(refused.stderr.contains("loki-old"), "{refused}");
    assert_eq!(world.files(), before);
}

#[test]
fn a_unit_that_does_not_prune_may_go_at_once() {
    let world = World::new();
    world.put("services/fluxcd/olm.yaml", &unit(false));
    world.put("services/sources/opencenter-cert-manager.yaml", SOURCE);
    let adopted = world.run(&["cluster", "render", "demo", "--adopt", "--accept-pruning"]);
    assert_eq!(adopted.code, 0, "{adopted}");
    assert!(adopted.stderr.contains("warning[OC6051]"), "{adopted}");
    let listed = world.run(&["cluster", "diff", "demo", "--adopt"]);
    assert_eq!((listed.code, listed.stdout.as_str()), (0, ""), "{listed}");
}

#[test]
fn a_broken_record_of_an_adoption_is_named() {
    let world = World::new();
    world.put(".adoption.yaml", "retired: 7\n");
    world.refused(&["cluster", "render", "demo"], 1, "OC6054");
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
