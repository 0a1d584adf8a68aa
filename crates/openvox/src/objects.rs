//! Metadata of the objects that a root owns.

use std::collections::BTreeMap;

use k8s_openapi::{
    ByteString,
    api::core::v1::Secret,
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
};
use mainstay_engine::Kind;

/// Whom objects belong to.
#[derive(Clone, Debug)]
pub struct Owner<'root> {
    /// Its kind.
    pub kind: Kind,
    /// Its namespace, which is that of all its objects.
    pub namespace: &'root str,
    /// Its name.
    pub name: &'root str,
    /// Its uid; empty in files, where there is nothing to refer to.
    pub uid: &'root str,
}

impl Owner<'_> {
    /// Metadata of an object.
    pub fn metadata(&self, name: String, labels: BTreeMap<String, String>) -> ObjectMeta {
        ObjectMeta {
            name: Some(name),
            namespace: Some(self.namespace.to_owned()),
            labels: Some(labels).filter(|labels| !labels.is_empty()),
            owner_references: (!self.uid.is_empty()).then(|| vec![self.reference()]),
            ..ObjectMeta::default()
        }
    }

    fn reference(&self) -> OwnerReference {
        OwnerReference {
            api_version: self.kind.api_version(),
            kind: self.kind.kind.to_string(),
            name: self.name.to_owned(),
            uid: self.uid.to_owned(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        }
    }
}

/// A Secret with these values.
pub fn secret<'value>(
    metadata: ObjectMeta,
    values: impl IntoIterator<Item = (&'static str, &'value [u8])>,
) -> Secret {
    let values = values.into_iter();
    let data = values.map(|(key, value)| (key.to_owned(), ByteString(value.to_vec())));
    Secret {
        metadata,
        type_: Some("Opaque".to_owned()),
        data: Some(data.collect()),
        ..Secret::default()
    }
}
