//! The real kustomize builds what we render.

use std::{path::PathBuf, process::Command, sync::LazyLock};

use mainstay_control_plane::{Assets, assets::Program};

use super::world::World;

static KUBECTL: LazyLock<PathBuf> = LazyLock::new(|| {
    let assets = Assets::find_or_build(&|_| {}).expect("the control plane's programs can be built");
    assets.program(Program::Kubectl)
});

#[test]
fn every_overlay_without_a_remote_base_builds() {
    let world = World::new();
    world.success(&[
        "cluster",
        "service",
        "enable",
        "gateway",
        "--cluster",
        "demo",
        "--with-deps",
    ]);
    world.success(&[
        "cluster",
        "service",
        "enable",
        "longhorn",
        "--cluster",
        "demo",
    ]);
    world.success(&[
        "cluster",
        "service",
        "enable",
        "metallb",
        "--cluster",
        "demo",
    ]);
    world.success(&[
        "cluster",
        "render",
        "demo",
        "--secrets-mode",
        "plaintext",
        "--yes",
    ]);
    let mut built = 0;
    for (path, bytes) in world.files() {
        let text = String::from_utf8_lossy(&bytes);
        let Some(directory) = path.strip_suffix("/kustomization.yaml") else {
            continue;
        };
        // The root refers to what `flux bootstrap` writes, and some overlays to bases that Flux includes.
        if text.contains("./flux-system") || text.contains("../base") || text.contains("../global")
        {
            continue;
        }
        let output = Command::new(&*KUBECTL)
            .arg("kustomize")
            .arg(world.repository().join(directory))
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{directory}: {errors}");
        built += 1;
    }
    assert!(built >= 8, "{built}");
}
