//! The table of kinds: watches, the strict-kind check and RBAC rules come from it.

use mainstay_engine::{
    Kind, ObjectKey,
    kind::{DeclaredKind, KindTable, ROOT_VERBS, Role, Subresource},
};

use crate::names::{GROUP, VERSION};

const fn ours(kind: &'static str) -> Kind {
    Kind::new(GROUP, VERSION, kind)
}

/// What servers share.
pub const CONFIG: Kind = ours("Config");
/// Who signs certificates.
pub const CERTIFICATE_AUTHORITY: Kind = ours("CertificateAuthority");
/// Which requests are signed at once.
pub const SIGNING_POLICY: Kind = ours("SigningPolicy");
/// Who says what a node is.
pub const NODE_CLASSIFIER: Kind = ours("NodeClassifier");
/// Where reports go.
pub const REPORT_PROCESSOR: Kind = ours("ReportProcessor");
/// A key and its certificate.
pub const CERTIFICATE: Kind = ours("Certificate");
/// Pods of the server program.
pub const SERVER: Kind = ours("Server");
/// One address for several servers.
pub const POOL: Kind = ours("Pool");
/// Where facts and reports are stored.
pub const DATABASE: Kind = ours("Database");
/// Files of a Config or Database.
pub const CONFIG_MAP: Kind = Kind::new("", "v1", "ConfigMap");
/// Keys, certificates, and files with values that are secret.
pub const SECRET: Kind = Kind::new("", "v1", "Secret");
/// Whom pods run as.
pub const SERVICE_ACCOUNT: Kind = Kind::new("", "v1", "ServiceAccount");
/// The address of an authority.
pub const SERVICE: Kind = Kind::new("", "v1", "Service");
/// The files of an authority.
pub const CLAIM: Kind = Kind::new("", "v1", "PersistentVolumeClaim");
/// What the setup of an authority may do.
pub const ROLE: Kind = Kind::new("rbac.authorization.k8s.io", "v1", "Role");
/// Who may.
pub const ROLE_BINDING: Kind = Kind::new("rbac.authorization.k8s.io", "v1", "RoleBinding");
/// The setup of an authority.
pub const JOB: Kind = Kind::new("batch", "v1", "Job");

const STATUS: Subresource = Subresource {
    name: "status",
    verbs: &["patch"],
};

/// `blockOwnerDeletion` on the children: OpenShift checks this permission.
const FINALIZERS: Subresource = Subresource {
    name: "finalizers",
    verbs: &["update"],
};

const fn owner(kind: Kind, plural: &'static str) -> DeclaredKind {
    DeclaredKind::new(kind, plural, Role::Root)
        .with_verbs(ROOT_VERBS)
        .with_subresources(&[FINALIZERS, STATUS])
}

const fn passive(kind: Kind, plural: &'static str) -> DeclaredKind {
    DeclaredKind::new(kind, plural, Role::Root)
        .with_verbs(ROOT_VERBS)
        .with_subresources(&[STATUS])
}

/// Every kind that the system may touch.
pub const KINDS: KindTable = KindTable::closed(ROWS);

static ROWS: &[DeclaredKind] = &[
    owner(CONFIG, "configs"),
    owner(CERTIFICATE_AUTHORITY, "certificateauthorities"),
    passive(SIGNING_POLICY, "signingpolicies"),
    passive(NODE_CLASSIFIER, "nodeclassifiers"),
    passive(REPORT_PROCESSOR, "reportprocessors"),
    // The operator makes one for itself, and takes it away with its authority.
    DeclaredKind::new(CERTIFICATE, "certificates", Role::Root)
        .with_subresources(&[FINALIZERS, STATUS]),
    owner(SERVER, "servers"),
    owner(POOL, "pools"),
    owner(DATABASE, "databases"),
    DeclaredKind::new(CONFIG_MAP, "configmaps", Role::Child).metadata_only(),
    DeclaredKind::new(SECRET, "secrets", Role::Child).metadata_only(),
    DeclaredKind::new(SERVICE_ACCOUNT, "serviceaccounts", Role::Child).metadata_only(),
    DeclaredKind::new(SERVICE, "services", Role::Child),
    DeclaredKind::new(CLAIM, "persistentvolumeclaims", Role::Child),
    DeclaredKind::new(ROLE, "roles", Role::Child),
    DeclaredKind::new(ROLE_BINDING, "rolebindings", Role::Child),
    DeclaredKind::new(JOB, "jobs", Role::Child),
];

/// The key of an object in a namespace: every reference of this system stays in its own.
pub fn key(kind: Kind, namespace: &str, name: &str) -> ObjectKey {
    ObjectKey::new(kind, namespace, name)
}

#[cfg(test)]
mod tests {
    use mainstay_engine::rbac;

    use super::*;

    #[test]
    fn no_right_is_asked_for_beyond_those_of_the_original() {
        let allowed = [
            "create", "delete", "get", "list", "patch", "update", "watch",
        ];
        for rule in rbac::rules(&KINDS) {
            let text = format!("{rule:?}");
            assert!(!text.contains('*') && !text.contains("pods"), "{text}");
            assert!(
                rule.verbs
                    .iter()
                    .all(|verb| allowed.contains(&verb.as_str())),
                "{text}"
            );
        }
    }
}
