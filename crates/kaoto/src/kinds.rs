//! The table of kinds: watches, the strict-kind check and RBAC rules come from it.

use mainstay_engine::{
    Kind,
    kind::{DeclaredKind, KindTable, ROOT_VERBS, Role, Subresource},
};

use crate::{names, settings::ClusterType};

/// The custom resource.
pub const KAOTO: Kind = Kind::new(names::GROUP, names::VERSION, names::KIND);
/// The Service in front of the editor.
pub const SERVICE: Kind = Kind::new("", "v1", "Service");
/// Exposure on a plain Kubernetes cluster.
pub const INGRESS: Kind = Kind::new("networking.k8s.io", "v1", "Ingress");
/// Exposure on OpenShift.
pub const ROUTE: Kind = Kind::new("route.openshift.io", "v1", "Route");
/// The editor.
pub const DEPLOYMENT: Kind = Kind::new("apps", "v1", "Deployment");

const KAOTO_SUBRESOURCES: &[Subresource] = &[
    // `blockOwnerDeletion` on the children: OpenShift checks this permission.
    Subresource {
        name: "finalizers",
        verbs: &["update"],
    },
    Subresource {
        name: "status",
        verbs: &["patch"],
    },
];

/// OpenShift refuses a route with a host of the user's choice from a client without this permission.
const ROUTE_SUBRESOURCES: &[Subresource] = &[Subresource {
    name: "custom-host",
    verbs: &["create", "update"],
}];

const KAOTO_ROW: DeclaredKind = DeclaredKind::new(KAOTO, names::PLURAL, Role::Root)
    .with_verbs(ROOT_VERBS)
    .with_subresources(KAOTO_SUBRESOURCES);
const SERVICE_ROW: DeclaredKind =
    DeclaredKind::new(SERVICE, "services", Role::Child).labelled(names::CHILD_SELECTOR);
const INGRESS_ROW: DeclaredKind =
    DeclaredKind::new(INGRESS, "ingresses", Role::Child).labelled(names::CHILD_SELECTOR);
const ROUTE_ROW: DeclaredKind = DeclaredKind::new(ROUTE, "routes", Role::Child)
    .with_subresources(ROUTE_SUBRESOURCES)
    .labelled(names::CHILD_SELECTOR)
    .optional();
const DEPLOYMENT_ROW: DeclaredKind =
    DeclaredKind::new(DEPLOYMENT, "deployments", Role::Child).labelled(names::CHILD_SELECTOR);

/// Every kind that the system may touch, on any cluster. Children go in the reverse order when their owner does.
pub const KINDS: KindTable = KindTable::closed(ROWS);

static ROWS: &[DeclaredKind] = &[
    KAOTO_ROW,
    SERVICE_ROW,
    INGRESS_ROW,
    ROUTE_ROW,
    DEPLOYMENT_ROW,
];

static VANILLA: &[DeclaredKind] = &[KAOTO_ROW, SERVICE_ROW, INGRESS_ROW, DEPLOYMENT_ROW];
static OPENSHIFT: &[DeclaredKind] = &[KAOTO_ROW, SERVICE_ROW, ROUTE_ROW, DEPLOYMENT_ROW];

/// The kinds that are rendered and watched on a cluster of this type: one kind of exposure, never both.
pub const fn declared(cluster_type: ClusterType) -> KindTable {
    KindTable::closed(match cluster_type {
        ClusterType::Vanilla => VANILLA,
        ClusterType::OpenShift => OPENSHIFT,
    })
}

#[cfg(test)]
mod tests {
    use mainstay_engine::{
        kind::ALL_VERBS,
        rbac::{self, PolicyRule},
    };

    use super::*;

    #[test]
    fn the_rules_are_exactly_what_the_operator_needs() {
        assert_eq!(
            rbac::rules(&KINDS),
            [
                PolicyRule::new("", "services", ALL_VERBS),
                PolicyRule::new("apps", "deployments", ALL_VERBS),
                PolicyRule::new("designer.kaoto.io", "kaotoes", ROOT_VERBS),
                PolicyRule::new("designer.kaoto.io", "kaotoes/finalizers", &["update"]),
                PolicyRule::new("designer.kaoto.io", "kaotoes/status", &["patch"]),
                PolicyRule::new("networking.k8s.io", "ingresses", ALL_VERBS),
                PolicyRule::new("route.openshift.io", "routes", ALL_VERBS),
                PolicyRule::new(
                    "route.openshift.io",
                    "routes/custom-host",
                    &["create", "update"]
                ),
            ]
        );
    }

    #[test]
    fn children_are_deleted_from_the_deployment_to_the_service() {
        for cluster_type in [ClusterType::Vanilla, ClusterType::OpenShift] {
            let order: Vec<_> = declared(cluster_type)
                .iter()
                .rev()
                .map(|row| row.kind.to_string())
                .collect();
            let exposure = match cluster_type {
                ClusterType::Vanilla => "Ingress",
                ClusterType::OpenShift => "Route",
            };
            assert_eq!(order, ["Deployment", exposure, "Service", "Kaoto"]);
        }
    }

    #[test]
    fn every_row_of_a_cluster_type_is_in_the_whole_table() {
        for row in VANILLA.iter().chain(OPENSHIFT) {
            assert!(KINDS.contains(row), "{row:?}");
        }
    }
}
