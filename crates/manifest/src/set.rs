//! A set of objects. Every operation gives a new one.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    conventions::{LAST_APPLIED_ANNOTATION, ORIGIN_ANNOTATION},
    hash,
    identity::{Identity, InstallType},
    object::Object,
    predicate::Predicate,
    transform::{Transform, TransformError},
};

/// What the operations of a set share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetOptions {
    /// Annotation with the object as it was applied last.
    pub last_applied_annotation: String,
    /// Annotation on what an apply has created.
    pub origin_annotation: String,
    /// Who writes, for the bookkeeping of the server.
    pub field_manager: String,
}

impl Default for SetOptions {
    fn default() -> Self {
        Self {
            last_applied_annotation: LAST_APPLIED_ANNOTATION.to_owned(),
            origin_annotation: ORIGIN_ANNOTATION.to_owned(),
            field_manager: "mainstay-manifest".to_owned(),
        }
    }
}

/// Objects in order, with options that sets made from this one inherit.
///
/// ```
/// use mainstay_manifest::{LoadLimits, ManifestSet, Predicate, Source};
///
/// let text = "{apiVersion: v1, kind: Secret, metadata: {name: a}}\n---\n{apiVersion: v1, kind: Service, metadata: {name: b}}";
/// let set = Source::text(text, "example").load_local(&LoadLimits::default())?;
/// let secrets = set.select(&Predicate::kind("Secret"));
/// let rest = set.select(&!Predicate::in_set(&secrets));
/// assert_eq!((secrets.len(), rest.len()), (1, 1));
/// assert_eq!(rest.concat(&[&secrets]).hash(), set.hash());
/// # Ok::<(), mainstay_manifest::LoadError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ManifestSet {
    objects: Vec<Object>,
    options: Arc<SetOptions>,
}

impl ManifestSet {
    /// A set with the usual options.
    pub fn new(objects: Vec<Object>) -> Self {
        Self {
            objects,
            options: Arc::default(),
        }
    }

    /// The same objects with other options.
    #[must_use]
    pub fn with_options(&self, options: SetOptions) -> Self {
        Self {
            objects: self.objects.clone(),
            options: Arc::new(options),
        }
    }

    /// Other objects with the options of this set.
    #[must_use]
    pub fn with_objects(&self, objects: Vec<Object>) -> Self {
        Self {
            objects,
            options: Arc::clone(&self.options),
        }
    }

    /// The options.
    pub fn options(&self) -> &SetOptions {
        &self.options
    }

    /// The objects, in order.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// The objects, in order, one by one.
    pub fn iter(&self) -> std::slice::Iter<'_, Object> {
        self.objects.iter()
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// This set and others after it. Nothing is dropped, and the options of this set count.
    #[must_use]
    pub fn concat(&self, others: &[&Self]) -> Self {
        let mut objects = self.objects.clone();
        objects.extend(others.iter().flat_map(|set| set.objects.iter().cloned()));
        self.with_objects(objects)
    }

    /// Without objects whose identity comes again later.
    #[must_use]
    pub fn dedup(&self) -> Self {
        self.deduplicated().0
    }

    /// The same, with the identities that came more than once.
    pub(crate) fn deduplicated(&self) -> (Self, Vec<Identity>) {
        let mut last: BTreeMap<Identity, usize> = BTreeMap::new();
        let mut repeated = BTreeSet::new();
        for (index, object) in self.objects.iter().enumerate() {
            if let Some(identity) = object.identity()
                && last.insert(identity.clone(), index).is_some()
            {
                repeated.insert(identity);
            }
        }
        let kept = self.objects.iter().enumerate().filter(|(index, object)| {
            let identity = object.identity();
            identity.is_none_or(|identity| last.get(&identity) == Some(index))
        });
        let objects = kept.map(|(_, object)| object.clone()).collect();
        (self.with_objects(objects), repeated.into_iter().collect())
    }

    /// The objects for which a predicate holds.
    #[must_use]
    pub fn select(&self, predicate: &Predicate) -> Self {
        let chosen = self.objects.iter().filter(|object| predicate.holds(object));
        self.with_objects(chosen.cloned().collect())
    }

    /// Runs transformers over each object, in order; those that are `None` are skipped. The first error ends it, and this
    /// set stays as it is.
    pub fn transform(
        &self,
        transformers: &[Option<&dyn Transform>],
    ) -> Result<Self, TransformError> {
        let mut objects = self.objects.clone();
        for object in &mut objects {
            for transformer in transformers.iter().flatten() {
                let applied = transformer.apply(object);
                applied
                    .map_err(|problem| TransformError::new(transformer.name(), object, problem))?;
            }
        }
        Ok(self.with_objects(objects))
    }

    /// The objects of each set of an installation.
    pub fn split(&self) -> (Self, Self) {
        let of = |wanted| {
            let chosen = self
                .objects
                .iter()
                .filter(|one| InstallType::of(one) == wanted);
            self.with_objects(chosen.cloned().collect())
        };
        (of(InstallType::Static), of(InstallType::Deployment))
    }

    /// A hash that depends on the objects alone, not on their order or the way they were written.
    pub fn hash(&self) -> String {
        hash::of_set(&self.objects)
    }

    /// The objects as YAML.
    pub fn to_yaml(&self) -> String {
        mainstay_yaml::print_documents(self.objects.iter().map(Object::value))
    }
}

impl<'set> IntoIterator for &'set ManifestSet {
    type Item = &'set Object;
    type IntoIter = std::slice::Iter<'set, Object>;

    fn into_iter(self) -> Self::IntoIter {
        self.objects.iter()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{names, object};

    fn set(names: &[(&str, &str)]) -> ManifestSet {
        let objects = names.iter().map(|(version, name)| {
            object(&json!({"apiVersion": version, "kind": "A", "metadata": {"name": name}}))
        });
        ManifestSet::new(objects.collect())
    }

    #[test]
    fn of_equal_identities_the_last_stays_in_its_place() {
        let one =
            object(&json!({"apiVersion": "v1", "kind": "Job", "metadata": {"generateName": "j-"}}));
        let all = set(&[("a/v1", "x"), ("a/v1", "y"), ("a/v2", "x"), ("b/v1", "x")]);
        let all = all.concat(&[&ManifestSet::new(vec![one.clone(), one])]);
        let (kept, repeated) = all.deduplicated();
        assert_eq!(names(&kept), ["A y", "A x", "A x", "Job j-*", "Job j-*"]);
        assert_eq!(kept.objects()[1].value()["apiVersion"], "a/v2");
        assert_eq!(repeated.len(), 1);
    }

    #[test]
    fn the_options_of_the_receiver_count() {
        let options = SetOptions {
            field_manager: "me".to_owned(),
            ..SetOptions::default()
        };
        let joined = set(&[("v1", "x")])
            .with_options(options)
            .concat(&[&set(&[("v1", "y")])]);
        assert_eq!(joined.options().field_manager, "me");
        assert_eq!(names(&joined), ["A x", "A y"]);
        let selected = joined.select(&Predicate::name("y"));
        assert_eq!(selected.options().field_manager, "me");
    }
}
