//! Choosing objects.

use std::{collections::BTreeSet, fmt, ops::Not, sync::Arc};

use mainstay_engine::{Kind, kind::Scope};

use crate::{identity::Identity, object::Object, scope::Scopes, set::ManifestSet};

/// A question about an object. Cheap to clone.
///
/// ```
/// use mainstay_manifest::{Predicate, parse};
///
/// let objects = parse::text("{apiVersion: v1, kind: Service, metadata: {name: web, labels: {app: shop}}}", "a")?;
/// let shop = Predicate::all([Predicate::kind("Service"), Predicate::label("app", Some("shop"))]);
/// assert!(shop.holds(&objects[0]));
/// assert!(!(!shop).holds(&objects[0]));
/// # Ok::<(), mainstay_manifest::parse::ParseError>(())
/// ```
#[derive(Clone)]
pub struct Predicate(Arc<dyn Fn(&Object) -> bool + Send + Sync>);

impl fmt::Debug for Predicate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Predicate")
    }
}

impl Predicate {
    /// A question of one's own.
    pub fn new(question: impl Fn(&Object) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(question))
    }

    /// The answer.
    pub fn holds(&self, object: &Object) -> bool {
        (self.0)(object)
    }

    /// Whether all hold; without any, every object is chosen.
    pub fn all(predicates: impl IntoIterator<Item = Self>) -> Self {
        let predicates: Vec<Self> = predicates.into_iter().collect();
        Self::new(move |object| predicates.iter().all(|one| one.holds(object)))
    }

    /// Whether one holds; without any, no object is chosen.
    pub fn any(predicates: impl IntoIterator<Item = Self>) -> Self {
        let predicates: Vec<Self> = predicates.into_iter().collect();
        Self::new(move |object| predicates.iter().any(|one| one.holds(object)))
    }

    /// Every object.
    pub fn everything() -> Self {
        Self::new(|_| true)
    }

    /// No object.
    pub fn nothing() -> Self {
        Self::new(|_| false)
    }

    /// By name.
    pub fn name(name: impl Into<String>) -> Self {
        let name = name.into();
        Self::new(move |object| object.name() == Some(&name))
    }

    /// By kind, of whatever group.
    pub fn kind(kind: impl Into<String>) -> Self {
        let kind = kind.into();
        Self::new(move |object| object.kind_name() == kind)
    }

    /// By group, version and kind.
    pub fn gvk(kind: Kind) -> Self {
        Self::new(move |object| object.kind() == kind)
    }

    /// By group; empty for the core group.
    pub fn group(group: impl Into<String>) -> Self {
        let group = group.into();
        Self::new(move |object| object.group() == group)
    }

    /// By namespace; empty for those that name none.
    pub fn namespace(namespace: impl Into<String>) -> Self {
        let namespace = namespace.into();
        Self::new(move |object| object.namespace() == namespace)
    }

    /// By label; without a value, or with an empty one, whether the label is there.
    pub fn label(key: impl Into<String>, value: Option<&str>) -> Self {
        let wanted = Pair::new(key.into(), value);
        Self::new(move |object| wanted.matches(object.label(&wanted.key)))
    }

    /// By annotation; without a value, or with an empty one, whether the annotation is there.
    pub fn annotation(key: impl Into<String>, value: Option<&str>) -> Self {
        let wanted = Pair::new(key.into(), value);
        Self::new(move |object| wanted.matches(object.annotation(&wanted.key)))
    }

    /// Whether one of several labels has its value. A label that is not there never matches, not even an empty value.
    pub fn any_label<K: Into<String>, V: Into<String>>(
        labels: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let labels = labels
            .into_iter()
            .map(|(key, value)| (key.into(), value.into()));
        let labels: Vec<(String, String)> = labels.collect();
        Self::new(move |object| {
            let mut labels = labels.iter();
            labels.any(|(key, value)| object.label(key) == Some(value))
        })
    }

    /// Definitions of kinds.
    pub fn crds() -> Self {
        Self::new(Object::is_definition)
    }

    /// What is in another set, by identity: the version of the API does not matter.
    pub fn in_set(other: &ManifestSet) -> Self {
        let identities = other.objects().iter().filter_map(Object::identity);
        let identities: BTreeSet<Identity> = identities.collect();
        Self::new(move |object| {
            let identity = object.identity();
            identity.is_some_and(|identity| identities.contains(&identity))
        })
    }

    /// What lives in no namespace.
    pub fn cluster_scoped(scopes: Scopes) -> Self {
        Self::new(move |object| scopes.of_object(object) == Scope::Cluster)
    }
}

impl Not for Predicate {
    type Output = Self;

    fn not(self) -> Self {
        Self::new(move |object| !self.holds(object))
    }
}

struct Pair {
    key: String,
    value: Option<String>,
}

impl Pair {
    fn new(key: String, value: Option<&str>) -> Self {
        let value = value.filter(|value| !value.is_empty());
        Self {
            key,
            value: value.map(str::to_owned),
        }
    }

    fn matches(&self, found: Option<&str>) -> bool {
        found.is_some_and(|found| self.value.as_ref().is_none_or(|value| value == found))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::object;

    fn web() -> Object {
        object(&json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "shop", "empty": ""},
                         "annotations": {"note": "x"}},
        }))
    }

    #[test]
    fn without_any_question_all_means_everything_and_any_means_nothing() {
        assert!(Predicate::all([]).holds(&web()));
        assert!(!Predicate::any([]).holds(&web()));
        assert!(Predicate::everything().holds(&web()));
        assert!(!Predicate::nothing().holds(&web()));
    }

    #[test]
    fn every_part_of_an_object_can_be_asked_for() {
        let web = web();
        for (question, answer) in [
            (Predicate::name("web"), true),
            (Predicate::name("cart"), false),
            (Predicate::kind("Deployment"), true),
            (Predicate::gvk(Kind::new("apps", "v1", "Deployment")), true),
            (
                Predicate::gvk(Kind::new("apps", "v1beta1", "Deployment")),
                false,
            ),
            (Predicate::group("apps"), true),
            (Predicate::group(""), false),
            (Predicate::namespace("shop"), true),
            (Predicate::label("app", None), true),
            (Predicate::label("app", Some("")), true),
            (Predicate::label("app", Some("shop")), true),
            (Predicate::label("app", Some("cart")), false),
            (Predicate::label("other", None), false),
            (Predicate::annotation("note", Some("x")), true),
            (Predicate::annotation("app", None), false),
            (Predicate::crds(), false),
            (Predicate::cluster_scoped(Scopes::default()), false),
        ] {
            assert_eq!(question.holds(&web), answer);
        }
    }

    #[test]
    fn a_label_that_is_not_there_is_not_an_empty_one() {
        let web = web();
        assert!(Predicate::any_label([("x", "y"), ("app", "shop")]).holds(&web));
        assert!(Predicate::any_label([("empty", "")]).holds(&web));
        assert!(!Predicate::any_label([("missing", "")]).holds(&web));
    }
}
