//! Snapshots of etcd, copied to an S3 store.

mod check;
mod settings;

use mainstay_yaml::Node;

use crate::{
    catalog::{CatalogEntry, ServiceCategory},
    config::DefaultRules,
    flux::{list, map},
    render::{Context, block},
};

use super::{BuildResult, Built, Emitted, Template, UnitRenderer, manifest::secret};

/// Settings in the config.
pub(crate) type Settings = settings::EtcdBackup;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "etcd-backup",
    description: "Snapshots of etcd, copied to an S3 store",
    category: ServiceCategory::Storage,
    enabled_at_init: true,
    namespace: Some("kube-system"),
    secret_block: Some("global.aws.application"),
    descriptor: descriptor!("etcd_backup", "etcd-backup"),
    renderer: Some(&RENDERER),
    defaults: Some(defaults),
    secrets: Some(check::secrets),
    ..CatalogEntry::NEW
};

/// The backup of etcd.
const RENDERER: UnitRenderer = UnitRenderer::new(
    "etcd-backup",
    &[
        Template::plain("etcd-backup-kustomization.yaml", cron_job),
        Template::secret("etcd-backup-secret.yaml", credentials),
    ],
);

const SECRET: &str = "etcd-backup-secrets";
const IMAGE: &str = "csengteam/etcd-backup:v0.0.5";
const CERTIFICATES: &str = "/etc/kubernetes/ssl/etcd";
const SNAPSHOTS: &str = "/data/etcd-backup";
const SNAPSHOT_FILE: &str = "/data/etcd-backup/etcd-snapshot-$(date +%Y-%m-%d).db";

fn environment(keys: &[&str]) -> Node {
    Node::list(keys.iter().map(|key| {
        map! {
            "name": *key,
            "valueFrom": map! { "secretKeyRef": map! { "name": SECRET, "key": *key } },
        }
    }))
}

fn snapshot_container() -> Node {
    let keys = ["API", "ENDPOINTS", "CACERT", "CERT", "KEY"].map(|key| format!("ETCDCTL_{key}"));
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    map! {
        "name": "etcd-backup",
        "image": IMAGE,
        "env": environment(&keys),
        "command": list!["/bin/bash", "-c"],
        "args": list![format!("etcdctl snapshot save {SNAPSHOT_FILE}")],
        "volumeMounts": list![
            map! { "mountPath": CERTIFICATES, "name": "etcd-certs", "readOnly": true },
            map! { "mountPath": SNAPSHOTS, "name": "etcd-backup" },
        ],
    }
}

fn upload_container() -> Node {
    map! {
        "name": "backup-to-s3",
        "image": IMAGE,
        "env": environment(&["ACCESS_KEY", "SECRET_KEY", "S3_HOST", "S3_REGION"]),
        "command": list!["/bin/bash", "-c"],
        "args": list![format!("python /backup.py {SNAPSHOT_FILE}")],
        "volumeMounts": list![map! { "mountPath": SNAPSHOTS, "name": "etcd-backup" }],
    }
}

fn pod() -> Node {
    let expression = map! { "key": "is-etcd-backup-node", "operator": "Exists" };
    let terms = list![map! { "matchExpressions": list![expression] }];
    let toleration = |key: &str| {
        map! { "key": key, "effect": "NoSchedule", "operator": "Exists" }
    };
    let host_path = |name: &str, path: &str, kind: &str| {
        map! { "name": name, "hostPath": map! { "path": path, "type": kind } }
    };
    map! {
        "initContainers": list![snapshot_container()],
        "restartPolicy": "Never",
        "containers": list![upload_container()],
        "hostNetwork": true,
        "affinity": map! {
            "nodeAffinity": map! {
                "requiredDuringSchedulingIgnoredDuringExecution": map! { "nodeSelectorTerms": terms },
            },
        },
        "tolerations": list![
            toleration("node.kubernetes.io/memory-pressure"),
            toleration("node-role.kubernetes.io/control-plane"),
        ],
        "volumes": list![
            host_path("etcd-certs", CERTIFICATES, "Directory"),
            host_path("etcd-backup", SNAPSHOTS, "DirectoryOrCreate"),
        ],
    }
}

fn cron_job(_: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    Ok(Built::one(map! {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": map! { "name": "etcd-backup" },
        "spec": map! {
            "schedule": "0 1 * * *",
            "successfulJobsHistoryLimit": 1,
            "failedJobsHistoryLimit": 1,
            "concurrencyPolicy": "Allow",
            "jobTemplate": map! { "spec": map! { "template": map! { "spec": pod() } } },
        },
    }))
}

fn credentials(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = &block(ctx.config.services().etcd_backup.as_ref(), "etcd-backup")?.settings;
    let keys = ctx.config.service_s3_keys("etcd-backup");
    let path = "secrets.global.aws.application";
    let key = ctx.required_secret(
        keys.as_ref().map(|pair| pair.key),
        "etcd-backup",
        &format!("{path}.access_key"),
    )?;
    let secret_key = ctx.required_secret(
        keys.as_ref().map(|pair| pair.secret),
        "etcd-backup",
        &format!("{path}.secret_access_key"),
    )?;
    Ok(Built::one(secret(
        SECRET,
        None,
        map! {
            "ACCESS_KEY": key,
            "SECRET_KEY": secret_key,
            "S3_HOST": &settings.s3_host,
            "S3_REGION": &settings.s3_region,
            "ETCDCTL_API": "3",
            "ETCDCTL_ENDPOINTS": "https://127.0.0.1:2379",
            "ETCDCTL_CACERT": format!("{CERTIFICATES}/ca.crt"),
            "ETCDCTL_CERT": format!("{CERTIFICATES}/server.crt"),
            "ETCDCTL_KEY": format!("{CERTIFICATES}/server.key"),
        },
    )))
}

/// The store.
fn defaults(rules: &mut DefaultRules<'_>) {
    let holder = ENTRY.config_path();
    let region = rules.text("opencenter.meta.region");
    rules.set(
        &holder,
        "s3_host",
        format!("https://swift.api.{region}.rackspacecloud.com"),
        "https://swift.api.<region>.rackspacecloud.com",
    );
    rules.set(&holder, "s3_region", region, "opencenter.meta.region");
}
