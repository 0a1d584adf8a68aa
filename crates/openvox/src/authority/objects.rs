//! Objects of an authority in this cluster: its volume, its address, and what its setup may do.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    kinds,
    names::{self, labels},
    objects::Owner,
    views::SeenAuthority,
};

/// Whom its objects belong to.
pub fn owner(authority: &SeenAuthority) -> Owner<'_> {
    Owner {
        kind: kinds::CERTIFICATE_AUTHORITY,
        namespace: &authority.namespace,
        name: &authority.name,
        uid: &authority.uid,
    }
}

/// Labels of its objects.
pub fn labels(authority: &str) -> BTreeMap<String, String> {
    names::labelled(labels::AUTHORITY, authority)
}

/// The volume of its files. Never changed once it is there: it holds the keys of the authority.
pub fn claim(authority: &SeenAuthority) -> Value {
    let storage = &authority.spec.storage;
    let size = match storage.size.as_str() {
        "" => "1Gi",
        size => size,
    };
    let name = names::authority_claim(&authority.name);
    let mut claim = json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": owner(authority).metadata(name, labels(&authority.name)),
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}},
        },
    });
    if !storage.storage_class.is_empty()
        && let Some(spec) = claim.get_mut("spec").and_then(Value::as_object_mut)
    {
        spec.insert("storageClassName".to_owned(), json!(storage.storage_class));
    }
    claim
}

/// Its address. Parity: it selects the pods of every authority of the namespace, so there can be one only.
pub fn service(authority: &SeenAuthority) -> Value {
    let name = names::authority_service(&authority.name);
    let port = names::SERVER_PORT;
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": owner(authority).metadata(name, labels(&authority.name)),
        "spec": {
            "type": "ClusterIP",
            "selector": {labels::CA: "true"},
            "ports": [{"name": "https", "port": port, "targetPort": port, "protocol": "TCP"}],
        },
    })
}

/// Whom its setup runs as.
pub fn account(authority: &SeenAuthority) -> Value {
    let name = names::authority_setup(&authority.name);
    json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": owner(authority).metadata(name, labels(&authority.name)),
    })
}

/// What its setup may do: make Secrets, and change its own and those of its Certificates, which come sorted.
pub fn role<'name>(
    authority: &SeenAuthority,
    certificates: impl IntoIterator<Item = &'name str>,
) -> Value {
    let name = names::authority_setup(&authority.name);
    let own = [
        names::authority_secret(&authority.name),
        names::authority_key_secret(&authority.name),
        names::revocation_secret(&authority.name),
    ];
    let secrets = own.into_iter();
    let secrets: Vec<String> = secrets
        .chain(certificates.into_iter().map(names::tls_secret))
        .collect();
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": owner(authority).metadata(name, labels(&authority.name)),
        "rules": [
            {
                "apiGroups": [""],
                "resources": ["secrets"],
                "resourceNames": secrets,
                "verbs": ["get", "update", "patch"],
            },
            {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]},
        ],
    })
}

/// Who may do that.
pub fn role_binding(authority: &SeenAuthority) -> Value {
    let name = names::authority_setup(&authority.name);
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": owner(authority).metadata(name.clone(), labels(&authority.name)),
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": authority.namespace}],
    })
}
