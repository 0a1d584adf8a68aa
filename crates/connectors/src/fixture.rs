//! What tests of the system begin with.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};
use mainstay_engine::{
    Kind, ObjectKey,
    live::{LiveObject, Owner},
    mark::Marked,
    owned::Owned,
    snapshot::FileSnapshot,
};
use mainstay_manifest::{ManifestSet, Object, Scopes, parse, source::additional::Allowed};
use serde_json::{Value, json};

use crate::{
    catalog::{Bundle, Catalog, Failure},
    kinds, names,
    rendering::Settings,
    views, workload,
};

/// Applications in memory.
#[derive(Debug, Default)]
pub(crate) struct Shelf(pub(crate) BTreeMap<&'static str, Bundle>);

impl Catalog for Shelf {
    fn bundle(&self, application: &str, _: Option<&str>) -> Result<Arc<Bundle>, Failure> {
        let found = self.0.get(application).cloned().map(Arc::new);
        found.ok_or_else(|| Failure {
            reason: "ApplicationNotFound",
            message: format!("there is no application `{application}`"),
        })
    }

    fn local(&self, path: &Path) -> Result<Arc<ManifestSet>, Failure> {
        Err(Failure {
            reason: "AdditionalManifestsFailed",
            message: format!("there is no {}", path.display()),
        })
    }

    fn scopes(&self) -> Scopes {
        Scopes::default()
    }
}

/// A shelf with one application.
pub(crate) fn shelf(yaml: &str) -> Arc<dyn Catalog> {
    let objects = parse::text(yaml, "shop.yaml").unwrap();
    let bundle = Bundle {
        version: Some("1.0.0".to_owned()),
        objects: ManifestSet::new(objects),
    };
    Arc::new(Shelf(BTreeMap::from([("shop", bundle)])))
}

pub(crate) fn settings() -> Settings {
    Settings {
        operator_version: "v0.0.1".to_owned(),
        default_application: "shop".to_owned(),
        additional: Allowed::default(),
        deny_cluster_scoped_additions: false,
    }
}

pub(crate) fn snapshot() -> FileSnapshot {
    FileSnapshot::new(kinds::KINDS, views::INDEXES, workload::facts, &[])
}

pub(crate) fn connector(spec: Value) -> Value {
    let mut connector = json!({
        "apiVersion": kinds::CONNECTOR.api_version(),
        "kind": "Connector",
        "metadata": {"name": "till", "namespace": "team", "uid": "connector-uid", "generation": 1},
    });
    connector["spec"] = spec;
    connector
}

/// An object of nobody.
pub(crate) fn live(kind: &Kind, namespace: &str, name: &str) -> LiveObject {
    LiveObject {
        key: ObjectKey::new(kind.clone(), namespace, name),
        uid: format!("uid-{name}"),
        resource_version: "1".to_owned(),
        deleting: false,
        owners: Vec::new(),
        owned: Owned::default(),
        marked: None,
        foreign_items: Vec::new(),
        migrated_managed_fields: None,
        facts: Value::Null,
    }
}

/// An object as a set with this name and uid has installed it.
pub(crate) fn installed(body: &Value, set: &str, uid: &str) -> LiveObject {
    let object = Object::new(body.clone()).unwrap();
    let key = object.key().unwrap();
    let mut live = live(&key.kind, &key.namespace, &key.name);
    live.marked = Some(Marked {
        root: set.to_owned(),
        hash: object
            .annotation("cpaas.io/last-applied-hash")
            .unwrap_or_default()
            .to_owned(),
    });
    live.owners = vec![Owner {
        group: names::GROUP.to_owned(),
        kind: "InstallManifest".to_owned(),
        name: set.to_owned(),
        uid: uid.to_owned(),
        controller: true,
    }];
    live
}

pub(crate) fn now() -> Time {
    Time(Timestamp::from_second(1_000).unwrap())
}
