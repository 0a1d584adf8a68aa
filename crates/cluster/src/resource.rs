//! From a declared kind to its API, and from API objects to engine values.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry, ObjectMeta};
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, GroupVersionKind, PartialObjectMeta},
};
use mainstay_engine::{
    field_manager::FieldManager,
    key::ObjectKey,
    kind::{DeclaredKind, Scope},
    live::{LiveObject, Owner},
    owned::{self, Owned},
};
use serde_json::{Map, Value};

/// The API type of a declared kind.
pub fn api_resource(row: &DeclaredKind) -> ApiResource {
    let kind = GroupVersionKind::gvk(&row.kind.group, &row.kind.version, &row.kind.kind);
    ApiResource::from_gvk_with_plural(&kind, &row.plural)
}

/// The API of a declared kind; an empty namespace means all namespaces.
pub fn api(client: Client, row: &DeclaredKind, namespace: &str) -> Api<DynamicObject> {
    let resource = api_resource(row);
    match row.scope {
        Scope::Namespaced if !namespace.is_empty() => {
            Api::namespaced_with(client, namespace, &resource)
        }
        _ => Api::all_with(client, &resource),
    }
}

/// The API of the metadata of a declared kind; an empty namespace means all namespaces.
pub fn metadata_api(
    client: Client,
    row: &DeclaredKind,
    namespace: &str,
) -> Api<PartialObjectMeta<DynamicObject>> {
    let resource = api_resource(row);
    match row.scope {
        Scope::Namespaced if !namespace.is_empty() => {
            Api::namespaced_with(client, namespace, &resource)
        }
        _ => Api::all_with(client, &resource),
    }
}

/// The key of an API object of a declared kind. List items do not say their own kind.
pub fn key_of(row: &DeclaredKind, metadata: &ObjectMeta) -> ObjectKey {
    ObjectKey::new(
        row.kind.clone(),
        metadata.namespace.clone().unwrap_or_default(),
        metadata.name.clone().unwrap_or_default(),
    )
}

/// The object as JSON without `managedFields`.
pub fn to_value(row: &DeclaredKind, object: DynamicObject) -> Value {
    let mut metadata = object.metadata;
    metadata.managed_fields = None;
    let mut value = match object.data {
        Value::Object(fields) => Value::Object(fields),
        _ => Value::Object(serde_json::Map::new()),
    };
    if let Value::Object(fields) = &mut value {
        fields.insert("apiVersion".to_owned(), Value::from(row.kind.api_version()));
        fields.insert("kind".to_owned(), Value::from(row.kind.kind.as_ref()));
        fields.insert(
            "metadata".to_owned(),
            serde_json::to_value(metadata).unwrap_or_default(),
        );
    }
    value
}

/// Reduces an API object to what the engine needs.
pub fn live_object(
    row: &DeclaredKind,
    mut object: DynamicObject,
    manager: FieldManager,
    facts: impl FnOnce(&Value) -> Value,
) -> LiveObject {
    let key = key_of(row, &object.metadata);
    let managed = object.metadata.managed_fields.take().unwrap_or_default();
    let (fields, migrated_managed_fields) = match applied_fields(&managed, manager.name) {
        Some(fields) => (Some(fields.clone()), None),
        None => inherit(managed, manager).unzip(),
    };
    let metadata = &object.metadata;
    let uid = metadata.uid.clone().unwrap_or_default();
    let resource_version = metadata.resource_version.clone().unwrap_or_default();
    let deleting = metadata.deletion_timestamp.is_some();
    let owners = owners(metadata);
    let value = to_value(row, object);
    LiveObject {
        key,
        uid,
        resource_version,
        deleting,
        owners,
        owned: fields
            .as_ref()
            .map(|fields| Owned::from_field_set(fields, &value))
            .unwrap_or_default(),
        marked: row.mark.and_then(|mark| mark.read(&value)),
        foreign_items: fields
            .map(|fields| owned::foreign_items(&fields, &value))
            .unwrap_or_default(),
        migrated_managed_fields,
        facts: facts(&value),
    }
}

fn is_of(entry: &ManagedFieldsEntry, manager: &str, operation: &str) -> bool {
    entry.manager.as_deref() == Some(manager)
        && entry.operation.as_deref() == Some(operation)
        && entry.subresource.as_deref().unwrap_or_default().is_empty()
}

/// The manager other than ours that wrote to the main resource last.
pub(crate) fn rival(metadata: &ObjectMeta, ours: FieldManager) -> Option<String> {
    let entries = metadata.managed_fields.iter().flatten();
    let others = entries.filter(|entry| {
        let is_ours = entry.manager.as_deref() == Some(ours.name);
        !is_ours && entry.subresource.as_deref().unwrap_or_default().is_empty()
    });
    let last = others.max_by_key(|entry| entry.time.as_ref().map(|time| time.0))?;
    last.manager.clone()
}

/// The field set that our manager applied to the main resource.
fn applied_fields<'entry>(
    managed: &'entry [ManagedFieldsEntry],
    manager: &str,
) -> Option<&'entry Value> {
    let ours = managed
        .iter()
        .find(|entry| is_of(entry, manager, "Apply"))?;
    ours.fields_v1.as_ref().map(|fields| &fields.0)
}

/// The field set of everything that former managers wrote to an object that we never applied, and the `managedFields`
/// with which it is ours. Nobody else loses anything: what others own besides stays theirs.
fn inherit(managed: Vec<ManagedFieldsEntry>, manager: FieldManager) -> Option<(Value, Value)> {
    let is_former = |entry: &ManagedFieldsEntry| {
        let mut names = manager.former.iter();
        names.any(|name| is_of(entry, name, "Update"))
    };
    let (former, mut entries): (Vec<_>, Vec<_>) = managed.into_iter().partition(is_former);
    let mut ours = former.first()?.clone();
    let mut fields = Value::Object(Map::new());
    for entry in former {
        unite(
            &mut fields,
            entry.fields_v1.map(|set| set.0).unwrap_or_default(),
        );
    }
    ours.manager = Some(manager.name.to_owned());
    ours.operation = Some("Apply".to_owned());
    ours.fields_v1 = Some(FieldsV1(fields.clone()));
    entries.push(ours);
    let entries = serde_json::to_value(entries).ok()?;
    Some((fields, entries))
}

/// The union of two field sets.
fn unite(one: &mut Value, other: Value) {
    if let (Value::Object(one), Value::Object(other)) = (one, other) {
        for (name, set) in other {
            unite(
                one.entry(name).or_insert_with(|| Value::Object(Map::new())),
                set,
            );
        }
    }
}

/// The group of an `apiVersion`; the core group has none.
fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

pub(crate) fn owners(metadata: &ObjectMeta) -> Vec<Owner> {
    let references = metadata.owner_references.iter().flatten();
    references
        .map(|reference| Owner {
            group: group_of(&reference.api_version).to_owned(),
            kind: reference.kind.clone(),
            name: reference.name.clone(),
            uid: reference.uid.clone(),
            controller: reference.controller.unwrap_or_default(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use mainstay_engine::{Kind, kind::Role};
    use serde_json::json;

    use super::*;

    static SERVICE: DeclaredKind =
        DeclaredKind::new(Kind::new("", "v1", "Service"), "services", Role::Child);

    fn live(managed_fields: &Value) -> LiveObject {
        let object = json!({
            "metadata": {
                "name": "a", "namespace": "n", "uid": "u", "resourceVersion": "7", "managedFields": managed_fields,
                "ownerReferences": [{"apiVersion": "v1", "kind": "Thing", "name": "thing", "uid": "owner", "controller": true}],
            },
            "spec": {"type": "ClusterIP", "selector": {"app": "x"}},
            "status": {"loadBalancer": {}},
        });
        let object = serde_json::from_value(object).unwrap();
        let manager = FieldManager {
            name: "ours",
            former: &["manager"],
        };
        live_object(&SERVICE, object, manager, |value| value["status"].clone())
    }

    #[test]
    fn only_what_our_manager_applied_to_the_object_itself_is_ours() {
        let none_of_it = live(&json!([
            {"manager": "ours", "operation": "Update", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:type": {}}}},
            {"manager": "ours", "operation": "Apply", "subresource": "status", "fieldsType": "FieldsV1", "fieldsV1": {"f:status": {}}},
            {"manager": "theirs", "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:type": {}}}},
        ]));
        assert_eq!(none_of_it.owned, Owned::default());
        let ours = live(&json!([
            {"manager": "ours", "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:selector": {}}}},
        ]));
        let wanted = json!({"spec": {"selector": {"app": "x"}}});
        assert_eq!(ours.owned.differences(&wanted), []);
    }

    #[test]
    fn what_a_former_manager_wrote_is_inherited_until_we_have_applied_ourselves() {
        let update = |manager: &str, fields: Value| json!({"manager": manager, "operation": "Update", "fieldsType": "FieldsV1", "fieldsV1": fields});
        let labels = update("kubectl", json!({"f:metadata": {"f:labels": {}}}));
        let first = update("manager", json!({"f:spec": {"f:type": {}}}));
        let second = update("manager", json!({"f:spec": {"f:selector": {}}}));
        let status = json!({"manager": "manager", "operation": "Update", "subresource": "status", "fieldsType": "FieldsV1", "fieldsV1": {"f:status": {}}});
        let heir = live(&json!([labels, first, second, status]));
        let wanted = json!({"spec": {"type": "ClusterIP", "selector": {"app": "x"}}});
        assert_eq!(heir.owned.differences(&wanted), []);
        let ours = json!({"manager": "ours", "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:type": {}, "f:selector": {}}}});
        assert_eq!(
            heir.migrated_managed_fields,
            Some(json!([labels, status, ours]))
        );
        let settled = live(&json!([first, ours]));
        assert_eq!(
            settled.migrated_managed_fields, None,
            "a stranger of the same name"
        );
        assert_eq!(live(&json!([labels])).migrated_managed_fields, None);
    }

    #[test]
    fn a_live_object_is_reduced_to_what_passes_need() {
        let live = live(&json!([]));
        assert_eq!(live.key.to_string(), "Service n/a");
        assert_eq!(
            (live.uid.as_str(), live.resource_version.as_str()),
            ("u", "7")
        );
        assert!(live.belongs_to("owner") && !live.deleting);
        assert_eq!(live.facts, json!({"loadBalancer": {}}));
    }
}
