//! Who an operator is in a cluster: account, permissions, and the guard of the lease.

use mainstay_engine::rbac::PolicyRule;
use serde_json::{Value, json};

const API_VERSION: &str = "rbac.authorization.k8s.io/v1";

/// The names under which an operator runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Namespace of everything that lives in one.
    pub namespace: &'static str,
    /// Account.
    pub account: &'static str,
    /// Role for the work.
    pub cluster_role: &'static str,
    /// Its binding.
    pub cluster_role_binding: &'static str,
    /// Role that guards the lease.
    pub election_role: &'static str,
    /// Its binding.
    pub election_role_binding: &'static str,
}

/// Where an operator works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach<'name> {
    /// In the whole cluster.
    Cluster,
    /// In one namespace; it needs no right elsewhere, apart from the lease at home.
    Namespace(&'name str),
}

impl Reach<'_> {
    /// A role or a binding of the whole cluster, where it is needed.
    fn narrow(self, mut object: Value) -> Value {
        let Self::Namespace(namespace) = self else {
            return object;
        };
        for pointer in ["/kind", "/roleRef/kind"] {
            if let Some(kind) = object.pointer_mut(pointer)
                && let Some(narrow) = kind.as_str().and_then(|kind| kind.strip_prefix("Cluster"))
            {
                *kind = json!(narrow);
            }
        }
        object["metadata"]["namespace"] = json!(namespace);
        object
    }
}

impl Identity {
    /// The account.
    pub fn service_account(&self) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": self.account, "namespace": self.namespace},
        })
    }

    /// The role for the work.
    pub fn role(&self, reach: Reach<'_>, rules: &[Value]) -> Value {
        reach.narrow(cluster_role(self.cluster_role, rules))
    }

    /// Its binding.
    pub fn role_binding(&self, reach: Reach<'_>) -> Value {
        reach.narrow(json!({
            "apiVersion": API_VERSION,
            "kind": "ClusterRoleBinding",
            "metadata": {"name": self.cluster_role_binding},
            "roleRef": role_reference("ClusterRole", self.cluster_role),
            "subjects": [self.subject()],
        }))
    }

    /// The role that guards the lease.
    pub fn election_role(&self) -> Value {
        let rules = [
            PolicyRule::new(
                "coordination.k8s.io",
                "leases",
                &["create", "get", "list", "update", "watch"],
            ),
            PolicyRule::new("", "events", &["create"]),
        ];
        json!({
            "apiVersion": API_VERSION,
            "kind": "Role",
            "metadata": {"name": self.election_role, "namespace": self.namespace},
            "rules": rules,
        })
    }

    /// Its binding.
    pub fn election_role_binding(&self) -> Value {
        json!({
            "apiVersion": API_VERSION,
            "kind": "RoleBinding",
            "metadata": {"name": self.election_role_binding, "namespace": self.namespace},
            "roleRef": role_reference("Role", self.election_role),
            "subjects": [self.subject()],
        })
    }

    fn subject(&self) -> Value {
        json!({"kind": "ServiceAccount", "name": self.account, "namespace": self.namespace})
    }
}

/// A role for the whole cluster.
pub fn cluster_role(name: &str, rules: &[Value]) -> Value {
    json!({
        "apiVersion": API_VERSION,
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": rules,
    })
}

fn role_reference(kind: &str, name: &str) -> Value {
    json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name})
}

/// What every container of an operator may not do.
pub fn locked_down() -> Value {
    json!({
        "allowPrivilegeEscalation": false,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": true,
    })
}

/// A probe of the operator's health port.
pub fn probe(path: &str, delay: u8, period: u8) -> Value {
    json!({
        "httpGet": {"path": path, "port": 8081}, "initialDelaySeconds": delay, "periodSeconds": period,
    })
}
