//! The account of the operator: every test runs with exactly the permissions that an installation grants.

use std::{
    fs,
    path::{Path, PathBuf},
};

use kube::{
    Api, Client,
    api::{DynamicObject, Patch, PatchParams},
    config::Kubeconfig,
};
use mainstay_clowder::package;
use mainstay_testkit::{Namespace, plane::dynamic};
use serde_json::{Value, json};

const API_VERSION: &str = "rbac.authorization.k8s.io/v1";
/// How the API server knows the account.
const USER: &str = "system:serviceaccount:clowder-system:clowder-controller-manager";

/// A kubeconfig like the given one, as the operator.
pub(crate) fn kubeconfig(original: &Path, directory: &Path) -> PathBuf {
    kubeconfig_of(USER, original, directory)
}

/// The same as anybody.
pub(crate) fn kubeconfig_of(user: &str, original: &Path, directory: &Path) -> PathBuf {
    let mut config = Kubeconfig::read_from(original).unwrap();
    for known in &mut config.auth_infos {
        known.auth_info.get_or_insert_default().impersonate = Some(user.to_owned());
    }
    let path = directory.join("kubeconfig");
    fs::write(&path, serde_json::to_string(&config).unwrap()).unwrap();
    path
}

/// Gives the account what an installation gives it in the whole cluster.
pub(crate) async fn grant(client: &Client) {
    for (kind, object) in permissions(None) {
        apply(&api(client, "", &kind), &object).await;
    }
}

/// Applies a role or binding of the whole cluster.
pub(crate) async fn apply_cluster_wide(client: &Client, object: &Value) {
    let kind = object["kind"].as_str().unwrap();
    apply(&api(client, "", kind), object).await;
}

/// Gives the account what an installation gives it at home: the lease of these tests lies in this namespace.
pub(crate) async fn grant_lease(namespace: &Namespace) {
    for (kind, object) in permissions(Some(&namespace.name)) {
        apply(&api(&namespace.client, &namespace.name, &kind), &object).await;
    }
}

/// Roles and bindings of the whole cluster, or of the namespace of the operator, which is this one.
fn permissions(home: Option<&str>) -> impl Iterator<Item = (String, Value)> {
    let all = package::permissions().into_iter();
    let ours = all.filter(move |object| {
        object["apiVersion"] == API_VERSION
            && object["metadata"].get("namespace").is_some() == home.is_some()
    });
    ours.map(move |mut object| {
        if let Some(home) = home {
            object["metadata"]["namespace"] = json!(home);
        }
        (object["kind"].as_str().unwrap().to_owned(), object)
    })
}

fn api(client: &Client, namespace: &str, kind: &str) -> Api<DynamicObject> {
    let plural = format!("{}s", kind.to_lowercase());
    dynamic(client, namespace, API_VERSION, kind, &plural)
}

async fn apply(api: &Api<DynamicObject>, object: &Value) {
    let name = object["metadata"]["name"].as_str().unwrap();
    let params = PatchParams::apply("mainstay-tests").force();
    api.patch(name, &params, &Patch::Apply(object))
        .await
        .unwrap();
}
