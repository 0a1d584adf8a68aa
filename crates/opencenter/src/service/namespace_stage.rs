//! A namespace that is there before the base creates it.

use crate::{
    flux::{KustomizeFile, map},
    render::Context,
};

use super::{BuildResult, Built, Emitted, manifest};

/// How strictly pods of a namespace are held.
#[derive(Clone, Copy)]
pub(crate) enum PodSecurity {
    /// Everything is allowed; what a baseline would refuse is reported.
    PrivilegedWithWarnings,
    /// Everything is allowed, silently.
    Privileged,
}

/// The kustomization of the namespace directory.
pub(crate) fn kustomization(_: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    Ok(Built::one(
        KustomizeFile::listing(vec!["namespace.yaml".to_owned()]).to_node(),
    ))
}

/// The namespace. Once the base has created it, the base owns it.
pub(crate) fn namespace(name: &str, security: PodSecurity) -> Built {
    let reported = match security {
        PodSecurity::PrivilegedWithWarnings => "baseline",
        PodSecurity::Privileged => "privileged",
    };
    Built::one(manifest::namespace(
        name,
        map! {
            "pod-security.kubernetes.io/enforce": "privileged",
            "pod-security.kubernetes.io/enforce-version": "latest",
            "pod-security.kubernetes.io/warn": reported,
            "pod-security.kubernetes.io/audit": reported,
        },
        map! { "kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent" },
    ))
}
