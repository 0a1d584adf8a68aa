//! Rights of the CSI side-cars that make and restore snapshots.

use mainstay_yaml::Node;

use crate::{
    flux::{list, map},
    render::{Context, Failure, decision},
    service::{Built, manifest::when},
};

use super::{BuildResult, Emitted, settings};

/// Group, resources and verbs of one rule.
type Rule = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const SNAPSHOTTER: &[Rule] = &[
    (
        "",
        &["events"],
        &["list", "watch", "create", "update", "patch"],
    ),
    ("", &["secrets"], &["get", "list"]),
    (
        "snapshot.storage.k8s.io",
        &["volumesnapshotclasses"],
        &["get", "list", "watch"],
    ),
    (
        "snapshot.storage.k8s.io",
        &["volumesnapshotcontents"],
        &["get", "list", "watch", "update", "patch"],
    ),
    (
        "snapshot.storage.k8s.io",
        &["volumesnapshotcontents/status"],
        &["update", "patch"],
    ),
];

const PROVISIONER: &[Rule] = &[
    (
        "",
        &["persistentvolumes"],
        &["get", "list", "watch", "create", "patch", "delete"],
    ),
    (
        "",
        &["persistentvolumeclaims"],
        &["get", "list", "watch", "update"],
    ),
    (
        "",
        &["events"],
        &["list", "watch", "create", "update", "patch"],
    ),
    ("", &["nodes"], &["get", "list", "watch"]),
    (
        "storage.k8s.io",
        &["storageclasses", "csinodes"],
        &["get", "list", "watch"],
    ),
    (
        "storage.k8s.io",
        &["volumeattachments"],
        &["get", "list", "watch"],
    ),
    (
        "snapshot.storage.k8s.io",
        &["volumesnapshots", "volumesnapshotcontents"],
        &["get", "list"],
    ),
];

const LEADER_ELECTION: Rule = (
    "coordination.k8s.io",
    &["leases"],
    &["get", "watch", "list", "delete", "update", "create"],
);

pub(super) fn snapshotter(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    rights(ctx, "csi-snapshotter", "external-snapshotter", SNAPSHOTTER)
}

pub(super) fn provisioner(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    rights(ctx, "csi-provisioner", "external-provisioner", PROVISIONER)
}

fn rights(ctx: &Context<'_>, account: &str, role: &str, rules: &[Rule]) -> Result<Built, Failure> {
    let gate = decision(
        "opencenter.services.velero.emit_snapshot_rbac",
        settings(ctx)?.emit_snapshot_rbac,
    );
    let namespace = ctx.namespace("velero");
    let runner = format!("{role}-runner");
    let election = format!("{role}-leader-election");
    Ok(when(gate, || {
        vec![
            map! {
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": map! { "name": account, "namespace": namespace },
            },
            role_node("ClusterRole", &runner, None, rules),
            binding(
                "ClusterRoleBinding",
                &format!("{account}-role"),
                None,
                (account, namespace),
                ("ClusterRole", &runner),
            ),
            role_node("Role", &election, namespace, &[LEADER_ELECTION]),
            binding(
                "RoleBinding",
                &election,
                namespace,
                (account, namespace),
                ("Role", &election),
            ),
        ]
    }))
}

fn role_node(kind: &str, name: &str, namespace: Option<&str>, rules: &[Rule]) -> Node {
    let rules = rules.iter().map(|(group, resources, verbs)| {
        map! {
            "apiGroups": list![*group],
            "resources": Node::list(resources.iter().copied()),
            "verbs": Node::list(verbs.iter().copied()),
        }
    });
    map! {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": map! { "name": name, "namespace": namespace },
        "rules": Node::list(rules),
    }
}

fn binding(
    kind: &str,
    name: &str,
    namespace: Option<&str>,
    (account, account_namespace): (&str, Option<&str>),
    (role_kind, role): (&str, &str),
) -> Node {
    map! {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": map! { "name": name, "namespace": namespace },
        "subjects": list![map! {
            "kind": "ServiceAccount",
            "name": account,
            "namespace": account_namespace,
        }],
        "roleRef": map! {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": role_kind,
            "name": role,
        },
    }
}
