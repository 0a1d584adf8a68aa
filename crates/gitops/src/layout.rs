//! Whose a path of the overlay is, and where our own files live in the repository.

/// Who a path in an overlay belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The renderer may create, rewrite and delete it.
    Renderer,
    /// `flux bootstrap` wrote it.
    Bootstrap,
    /// Anybody else.
    User,
}

/// How far `flux bootstrap` got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FluxSystem {
    /// The directory is missing.
    Missing,
    /// Some of its files are missing.
    Incomplete,
    /// All three files are there.
    Complete,
}

/// Top-level entries of an overlay that belong to the renderer.
pub(crate) const OWNED: [&str; 6] = [
    ".adoption.yaml",
    ".sops.yaml",
    "customer-managed",
    "kustomization.yaml",
    "managed-services",
    "services",
];

/// The directory of `flux bootstrap`.
pub(crate) const FLUX_SYSTEM: &str = "flux-system";

/// The files of `flux bootstrap`.
pub(crate) const FLUX_SYSTEM_FILES: [&str; 3] = [
    "gotk-components.yaml",
    "gotk-sync.yaml",
    "kustomization.yaml",
];

/// The directory of user content in the directory of a service.
pub(crate) const CUSTOM: &str = "custom";

/// Directories beside those of services, in both branches of services.
pub(crate) const AGGREGATES: [&str; 3] = ["base", "fluxcd", "sources"];

/// The lock, in the overlay.
pub(crate) const LOCK: &str = ".opencenter-render.lock";

/// The journal, in a staging directory.
pub(crate) const JOURNAL: &str = "journal.json";

/// The journal of a write whose files are all in their places.
pub(crate) const JOURNAL_DONE: &str = "journal.done.json";

/// New files, in a staging directory.
pub(crate) const NEW: &str = "new";

/// Old files, in a staging directory.
pub(crate) const OLD: &str = "old";

/// The overlay of a cluster, in the repository.
pub(crate) fn overlay(cluster: &str) -> String {
    format!("applications/overlays/{cluster}")
}

/// The ledger of a cluster, in the repository.
pub(crate) fn ledger(cluster: &str) -> String {
    format!(".opencenter/ownership/clusters/{cluster}.json")
}

/// Old versions of replaced files, in the repository.
pub(crate) fn backups(time: &str) -> String {
    format!(".opencenter-backups/{time}")
}

/// A directory for one write, in the repository.
pub(crate) fn staging(process: u32, number: u64) -> String {
    format!(".opencenter-staging-{process}-{number}")
}

/// Whether this is a name that [`staging`] gives.
pub(crate) fn is_staging(name: &str) -> bool {
    name.strip_prefix(".opencenter-staging-")
        .is_some_and(|rest| {
            rest.bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'-')
        })
}

/// Who a path of an overlay belongs to.
pub fn owner(path: &str) -> Owner {
    let mut parts = path.split('/');
    match parts.next() {
        Some(FLUX_SYSTEM) => Owner::Bootstrap,
        Some(top) if OWNED.contains(&top) => {
            let is_service = matches!(top, "services" | "managed-services");
            match (is_service, parts.nth(1)) {
                (true, Some(CUSTOM)) => Owner::User,
                _ => Owner::Renderer,
            }
        }
        _ => Owner::User,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directories_of_others_are_not_ours() {
        for (path, expected) in [
            ("kustomization.yaml", Owner::Renderer),
            (".sops.yaml", Owner::Renderer),
            (".adoption.yaml", Owner::Renderer),
            ("services/loki/kustomization.yaml", Owner::Renderer),
            ("services/custom/kustomization.yaml", Owner::Renderer),
            ("services/loki/custom/x.yaml", Owner::User),
            ("services/loki/custom", Owner::User),
            ("managed-services/alert-proxy/custom/x.yaml", Owner::User),
            ("customer-managed/sources/custom/x.yaml", Owner::Renderer),
            ("flux-system/gotk-sync.yaml", Owner::Bootstrap),
            ("README.md", Owner::User),
        ] {
            assert_eq!(owner(path), expected, "{path}");
        }
    }

    #[test]
    fn only_our_own_staging_names_are_recognised() {
        assert!(is_staging(&staging(12, 3)));
        assert!(!is_staging(".opencenter-staging-../x"));
        assert!(!is_staging("services"));
    }
}
