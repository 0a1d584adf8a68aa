//! A job that dumps realm imports and Secrets.

use mainstay_yaml::Node;

use crate::{
    flux::{list, map},
    render::{Context, decision},
};

use super::{BuildResult, Emitted, namespace, settings, when};

const NAME: &str = "keycloak-backup";

/// The job and its rights.
///
/// Parity: the volume goes with the pod, as in the original; a durable target has no setting yet.
pub(super) fn cron_job(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = settings(ctx)?;
    let gate = decision(
        "opencenter.services.keycloak.backup_enabled",
        settings.backup_enabled,
    );
    let namespace = namespace(ctx);
    Ok(when(gate, || {
        vec![
            map! {
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": map! { "name": NAME, "namespace": namespace },
            },
            role(namespace),
            role_binding(namespace),
            job(namespace, &settings.backup_schedule),
        ]
    }))
}

fn role(namespace: &str) -> Node {
    let rule = |group: &str, resource: &str| {
        map! {
            "apiGroups": list![group],
            "resources": list![resource],
            "verbs": list!["get", "list"],
        }
    };
    map! {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": map! { "name": NAME, "namespace": namespace },
        "rules": list![rule("k8s.keycloak.org", "keycloakrealmimports"), rule("", "secrets")],
    }
}

fn role_binding(namespace: &str) -> Node {
    map! {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": map! { "name": NAME, "namespace": namespace },
        "roleRef": map! {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "Role",
            "name": NAME,
        },
        "subjects": list![map! { "kind": "ServiceAccount", "name": NAME, "namespace": namespace }],
    }
}

fn job(namespace: &str, schedule: &str) -> Node {
    let labels = |part_of: Option<&str>| {
        map! {
            "app.kubernetes.io/name": NAME,
            "app.kubernetes.io/component": "backup",
            "app.kubernetes.io/part-of": part_of,
        }
    };
    let pod = map! {
        "serviceAccountName": NAME,
        "restartPolicy": "OnFailure",
        "containers": list![map! {
            "name": "backup",
            "image": "bitnami/kubectl:latest",
            "command": list!["/bin/sh", "-c", script(namespace)],
            "volumeMounts": list![map! { "name": "backup", "mountPath": "/backup" }],
        }],
        "volumes": list![map! { "name": "backup", "emptyDir": map! {} }],
    };
    map! {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": map! {
            "name": "keycloak-realm-backup",
            "namespace": namespace,
            "labels": labels(Some("keycloak")),
        },
        "spec": map! {
            "schedule": Node::quoted(schedule),
            "successfulJobsHistoryLimit": 3,
            "failedJobsHistoryLimit": 3,
            "concurrencyPolicy": "Forbid",
            "jobTemplate": map! {
                "spec": map! {
                    "template": map! {
                        "metadata": map! { "labels": labels(None) },
                        "spec": pod,
                    },
                },
            },
        },
    }
}

/// The namespace is a DNS label, so it needs no quotes in the script.
fn script(namespace: &str) -> String {
    format!(
        "set -e\n\
         stamp=$(date +%Y%m%d-%H%M%S)\n\
         kubectl get keycloakrealmimport -n {namespace} -o yaml > /backup/realm-${{stamp}}.yaml\n\
         kubectl get secrets -n {namespace} -l app.kubernetes.io/part-of=keycloak -o yaml > /backup/secrets-${{stamp}}.yaml\n\
         echo \"backup ${{stamp}} is complete\"\n"
    )
}
