//! Published schemas (`OpenAPI` v3), as far as it takes to say whether a field is declared.

use serde_json::{Map, Value};

/// The schemas of one published document that matter: that of a kind, and those that it refers to.
#[derive(Debug)]
pub struct Schemas<'document> {
    components: &'document Map<String, Value>,
    root: Option<&'document str>,
}

/// One place in a schema.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schema<'document> {
    value: &'document Value,
    /// Whether it was reached by name. Definitions of custom resources are written out in one piece; only built-in types
    /// have names, and of these one without any declaration holds whatever one likes.
    is_named: bool,
}

impl<'document> Schemas<'document> {
    /// The schemas of the kind with this name among the components of a document.
    pub const fn new(
        components: &'document Map<String, Value>,
        root: Option<&'document str>,
    ) -> Self {
        Self { components, root }
    }

    /// The schema of the kind; `None` if the document has none.
    pub(super) fn root(&self) -> Option<Schema<'document>> {
        let value = self.components.get(self.root?)?;
        Some(Schema {
            value,
            is_named: false,
        })
    }

    /// The schema of a field, and whether it is that of all names without one of their own; `None` if it is not declared.
    pub(super) fn field(
        &self,
        schema: Schema<'document>,
        name: &str,
    ) -> Option<(Schema<'document>, bool)> {
        let own = schema.value.get("properties").and_then(|all| all.get(name));
        if let Some(value) = own {
            return Some((self.resolve(value), false));
        }
        if schema.is_open() || schema.keeps_unknown_names() {
            return Some((Schema::ANYTHING, true));
        }
        match schema.value.get("additionalProperties") {
            Some(value @ Value::Object(_)) => Some((self.resolve(value), true)),
            _ if schema.is_resource() && IN_EVERY_RESOURCE.contains(&name) => {
                Some((Schema::ANYTHING, false))
            }
            _ => None,
        }
    }

    /// The schema of the items of a list; `None` if nothing is said about them.
    pub(super) fn items(&self, schema: Schema<'document>) -> Option<Schema<'document>> {
        let items = schema.value.get("items")?;
        Some(self.resolve(items))
    }

    /// Follows a reference, also one that stands alone in `allOf` because a default stands beside it.
    fn resolve(&self, value: &'document Value) -> Schema<'document> {
        let reference = |value: &'document Value| value.get("$ref").and_then(Value::as_str);
        let alone = match value.get("allOf").and_then(Value::as_array) {
            Some(all) if all.len() == 1 => all.first().and_then(reference),
            _ => None,
        };
        let Some(target) = reference(value).or(alone) else {
            return Schema {
                value,
                is_named: false,
            };
        };
        let name = target.rsplit('/').next().unwrap_or_default();
        match self.components.get(name) {
            Some(value) => Schema {
                value,
                is_named: true,
            },
            None => Schema::ANYTHING,
        }
    }
}

/// Declared for every resource that is embedded in another one.
const IN_EVERY_RESOURCE: &[&str] = &["apiVersion", "kind", "metadata"];

impl Schema<'_> {
    /// Holds whatever one likes.
    const ANYTHING: Self = Self {
        value: &Value::Bool(true),
        is_named: true,
    };

    /// Whether everything below is declared, or there can be nothing below.
    pub(super) fn is_open(self) -> bool {
        let has = |word: &str| self.value.get(word).is_some();
        match self.value.get("type").and_then(Value::as_str) {
            Some("array") => !has("items"),
            Some("object") => {
                let is_bare = !has("properties") && !has("additionalProperties");
                is_bare && (self.is_named || self.keeps_unknown_names())
                    || !has("properties") && self.allows_any_name()
            }
            // A value of one piece, or no word about what it is.
            _ => !has("properties") && !has("additionalProperties") && !has("items"),
        }
    }

    /// Whether names without a declaration are kept.
    fn keeps_unknown_names(self) -> bool {
        self.says("x-kubernetes-preserve-unknown-fields") || self.allows_any_name()
    }

    fn allows_any_name(self) -> bool {
        self.says("additionalProperties")
    }

    fn is_resource(self) -> bool {
        self.says("x-kubernetes-embedded-resource")
    }

    fn says(self, word: &str) -> bool {
        self.value.get(word) == Some(&Value::Bool(true))
    }
}
