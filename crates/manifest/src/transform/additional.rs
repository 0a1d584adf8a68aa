//! Manifests that users add to a bundle.

use std::collections::BTreeSet;

use mainstay_engine::kind::Scope;
use serde_json::Value;

use super::{Normalise, Problem, Transform as _, TransformError};
use crate::{identity::Identity, object::Object, scope::Scopes, set::ManifestSet};

/// How added manifests are taken in.
#[derive(Clone, Debug)]
pub struct Additional<'set> {
    /// Namespace of those that need one and name none.
    pub namespace: &'set str,
    /// Which need one.
    pub scopes: &'set Scopes,
    /// Refuse those that live in no namespace.
    pub deny_cluster_scoped: bool,
}

impl Additional<'_> {
    /// The packaged objects without those that are added under the same identity, then the added ones in their order.
    pub fn merge(
        &self,
        packaged: &ManifestSet,
        added: &ManifestSet,
    ) -> Result<ManifestSet, TransformError> {
        let mut objects = Vec::new();
        for object in added.dedup().objects() {
            let mut object = object.clone();
            self.prepare(&mut object)
                .map_err(|problem| TransformError::new("additional", &object, problem))?;
            objects.push(object);
        }
        // An object that names its namespace may be the same as one that was given it.
        let (added, _) = added.with_objects(objects).deduplicated();
        let replaced: BTreeSet<Identity> = added
            .objects()
            .iter()
            .filter_map(Object::identity)
            .collect();
        let kept = packaged.objects().iter().filter(|object| {
            let identity = object.identity();
            identity.is_none_or(|identity| !replaced.contains(&identity))
        });
        let kept = packaged.with_objects(kept.cloned().collect());
        Ok(kept.concat(&[&added]))
    }

    fn prepare(&self, object: &mut Object) -> Result<(), Problem> {
        Normalise.apply(object)?;
        match self.scopes.of_object(object) {
            Scope::Cluster if self.deny_cluster_scoped => Err(Problem::AdditionalManifests(
                "additional manifests may only hold objects that live in a namespace".to_owned(),
            )),
            Scope::Namespaced if object.namespace().is_empty() && !self.namespace.is_empty() => {
                let namespace = Value::from(self.namespace);
                object
                    .metadata_mut()
                    .insert("namespace".to_owned(), namespace);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{names, parsed};

    fn merged(packaged: &str, added: &str, deny: bool) -> Result<ManifestSet, TransformError> {
        let additional = Additional {
            namespace: "team",
            scopes: &Scopes::default(),
            deny_cluster_scoped: deny,
        };
        additional.merge(&parsed(packaged), &parsed(added))
    }

    #[test]
    fn an_added_object_replaces_the_packaged_one_and_stands_at_the_end() {
        let packaged = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: team}, data: {x: old}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: team}}";
        let added = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, uid: '1'}, data: {x: new}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: other}}";
        let set = merged(packaged, added, true).unwrap();
        assert_eq!(
            names(&set),
            ["ConfigMap team/b", "ConfigMap team/a", "ConfigMap other/c"]
        );
        let replaced = set.objects()[1].value();
        assert_eq!(replaced["data"]["x"], "new");
        assert!(replaced["metadata"].get("uid").is_none());
    }

    #[test]
    fn objects_of_the_cluster_can_be_refused() {
        let role =
            "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}}";
        assert_eq!(names(&merged("", role, false).unwrap()), ["ClusterRole a"]);
        let failure = merged("", role, true).unwrap_err();
        assert_eq!(failure.reason(), "AdditionalManifestsFailed");
        assert!(
            failure
                .to_string()
                .starts_with("transformer `additional`: ClusterRole a (test.yaml:1: document 1): ")
        );
    }

    #[test]
    fn of_the_same_object_added_twice_the_later_counts() {
        let added = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: team}, data: {x: '1'}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: '2'}}";
        let set = merged("", added, false).unwrap();
        assert_eq!(set.len(), 1);
        assert_eq!(set.objects()[0].value()["data"]["x"], "2");
    }
}
