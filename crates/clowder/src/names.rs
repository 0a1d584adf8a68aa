//! Names, labels and owner references. All of them are deterministic and part of the contract with users.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use mainstay_api::clowder::{ClowdApp, ClowdEnvironment, ClowdJobInvocation};
use mainstay_engine::field_manager::FieldManager;

/// API group of the custom resources.
pub const GROUP: &str = "cloud.redhat.com";
/// Their version.
pub const VERSION: &str = "v1alpha1";
/// Field manager of every write. Changing it orphans fields on every cluster.
pub const FIELD_MANAGER: &str = "clowder";
/// The same, and what the original wrote under: the name of its program, or ours.
pub const MANAGER: FieldManager = FieldManager {
    name: FIELD_MANAGER,
    former: &["manager", FIELD_MANAGER],
};
/// Finalizer of apps.
pub const APP_FINALIZER: &str = "finalizer.app.cloud.redhat.com";
/// Finalizer of environments.
pub const ENVIRONMENT_FINALIZER: &str = "finalizer.env.cloud.redhat.com";
/// Annotation of a namespace with the uid of the environment that made it.
pub const MAKER: &str = "mainstay/made-by-environment";
/// Lease of the leader election.
pub const LEASE: &str = "068b0003.cloud.redhat.com";

/// Key of the configuration in an app's Secret.
pub const CONFIG_KEY: &str = "cdappconfig.json";
/// Key of the configuration of all apps of an environment, for tests.
pub const ENVIRONMENT_CONFIG_KEY: &str = "cdenvconfig.json";
/// Volume of the configuration.
pub const CONFIG_VOLUME: &str = "config-secret";
/// Where the configuration is mounted.
pub const CONFIG_MOUNT: &str = "/cdapp/";
/// Variable that tells an app where its configuration is.
pub const CONFIG_VARIABLE: &str = "ACG_CONFIG";
/// Its value.
pub const CONFIG_PATH: &str = "/cdapp/cdappconfig.json";
/// File mode of configuration volumes.
pub const VOLUME_MODE: i32 = 420;
/// Directory of the service CA.
pub const CA_MOUNT: &str = "/cdapp/certs";
/// File of the service CA.
pub const CA_PATH: &str = "/cdapp/certs/service-ca.crt";
/// Where a container leaves its last words.
pub const TERMINATION_PATH: &str = "/dev/termination-log";

/// Label with the name of the invocation that made a job.
pub const INVOCATION_LABEL: &str = "clowdjob";

/// Labels by name.
pub type Labels = BTreeMap<String, String>;

/// Base labels of what belongs to an environment.
pub fn environment_labels(environment: &str) -> Labels {
    Labels::from([("app".to_owned(), environment.to_owned())])
}

/// Base labels of what belongs to an app: its own, and `app` unless it has that one itself.
pub fn app_labels(app: &ClowdApp) -> Labels {
    let mut labels = app.metadata.labels.clone().unwrap_or_default();
    labels
        .entry("app".to_owned())
        .or_insert_with(|| name(&app.metadata).to_owned());
    labels
}

/// Base labels of what belongs to an invocation: its own, and its name unless it has that label itself.
pub fn invocation_labels(invocation: &ClowdJobInvocation) -> Labels {
    let mut labels = invocation.metadata.labels.clone().unwrap_or_default();
    labels
        .entry(INVOCATION_LABEL.to_owned())
        .or_insert_with(|| name(&invocation.metadata).to_owned());
    labels
}

/// Labels with further ones on top.
pub fn overlaid(mut labels: Labels, further: &[(&str, &str)]) -> Labels {
    for &(name, value) in further {
        labels.insert(name.to_owned(), value.to_owned());
    }
    labels
}

/// The owner reference to an app.
pub fn app_owner(app: &ClowdApp) -> OwnerReference {
    owner("ClowdApp", &app.metadata)
}

/// The owner reference to an environment.
pub fn environment_owner(environment: &ClowdEnvironment) -> OwnerReference {
    owner("ClowdEnvironment", &environment.metadata)
}

/// The owner reference to an invocation.
pub fn invocation_owner(invocation: &ClowdJobInvocation) -> OwnerReference {
    owner("ClowdJobInvocation", &invocation.metadata)
}

fn owner(kind: &str, metadata: &ObjectMeta) -> OwnerReference {
    OwnerReference {
        api_version: format!("{GROUP}/{VERSION}"),
        kind: kind.to_owned(),
        name: name(metadata).to_owned(),
        uid: metadata.uid.clone().unwrap_or_default(),
        controller: Some(true),
        block_owner_deletion: None,
    }
}

/// Metadata of an object of ours.
pub fn metadata(
    (namespace, name): (&str, &str),
    labels: Labels,
    owner: &OwnerReference,
) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        namespace: Some(namespace.to_owned()),
        labels: Some(labels).filter(|labels| !labels.is_empty()),
        // Files have no uid, and an owner without one would be refused.
        owner_references: (!owner.uid.is_empty()).then(|| vec![owner.clone()]),
        ..ObjectMeta::default()
    }
}

/// The name in metadata.
pub fn name(metadata: &ObjectMeta) -> &str {
    metadata.name.as_deref().unwrap_or_default()
}

/// The namespace in metadata.
pub fn namespace(metadata: &ObjectMeta) -> &str {
    metadata.namespace.as_deref().unwrap_or_default()
}

/// `<app>-<part>`: the name of almost everything that belongs to a deployment, job or component.
pub fn part(owner: &str, part: &str) -> String {
    format!("{owner}-{part}")
}

/// Host name of a Service.
pub fn host(service: &str, namespace: &str) -> String {
    format!("{service}.{namespace}.svc")
}
