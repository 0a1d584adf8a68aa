//! The control planes of the words here.

use std::path::{Path, PathBuf};

use anyhow::Context;
use mainstay_control_plane::{
    Assets, BoundPlane, Launcher, PlaneOptions,
    assets::Release,
    definitions::{self, Edition},
    launch_bound,
};

use crate::{printer::say, workspace};

/// The user as whom the operators run in tests and measurements, so that the audit log tells their requests apart.
const OPERATOR: &str = "mainstay:system:masters";

/// This program, as the control plane starts it again.
pub(crate) fn launcher() -> Launcher {
    Launcher::this_program(["control-plane"])
}

/// The programs of the control plane; builds them if need be.
pub(crate) fn assets() -> anyhow::Result<Assets> {
    assets_of(Release::Current)
}

/// The programs of a release of Kubernetes; builds them if need be.
pub(crate) fn assets_of(release: Release) -> anyhow::Result<Assets> {
    Assets::of(release, &say).context("could not provide the control plane's programs")
}

/// The directory of a plane below `target/control-plane`.
pub(crate) fn directory(name: &str) -> PathBuf {
    workspace::path("target/control-plane").join(name)
}

/// A vanilla plane that ends with this process. It is starting when this returns.
pub(crate) fn start(directory: &Path, assets: &Assets) -> anyhow::Result<BoundPlane> {
    let options = PlaneOptions::new(directory)?.client(OPERATOR);
    Ok(launch_bound(&options, assets, &launcher())?)
}

/// The same with the kind `Route`, which makes it count as `OpenShift`.
pub(crate) fn start_openshift(directory: &Path, assets: &Assets) -> anyhow::Result<BoundPlane> {
    let options = PlaneOptions::new(directory)?
        .client(OPERATOR)
        .crds(definitions::route()?);
    Ok(launch_bound(&options, assets, &launcher())?)
}

/// The same with the kinds of other operators that Clowder uses. Its operator looks at the whole cluster, so its tests
/// have a plane of their own.
pub(crate) fn start_clowder(directory: &Path, assets: &Assets) -> anyhow::Result<BoundPlane> {
    let options = PlaneOptions::new(directory)?
        .client(OPERATOR)
        .crds(definitions::clowder(Edition::Current)?);
    Ok(launch_bound(&options, assets, &launcher())?)
}
