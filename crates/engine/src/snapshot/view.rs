//! Views: pure projections of objects that can be compared.

use std::{any::Any, fmt, sync::Arc};

use serde_json::Value;

/// A projection of an object to what a system wants to know of it.
pub struct View<V> {
    /// Name, unique within a system: stores keep what they know under it.
    pub name: &'static str,
    /// The projection; `None` for an object that it has nothing to say about.
    pub of: fn(&Value) -> Option<V>,
}

impl<V> View<V> {
    /// A view by name.
    pub const fn new(name: &'static str, of: fn(&Value) -> Option<V>) -> Self {
        Self { name, of }
    }
}

impl<V> fmt::Debug for View<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("View").field(&self.name).finish()
    }
}

/// A value that a view made. Two of them are equal if no reader of the view could tell them apart.
trait Comparable: Any + Send + Sync {
    fn equals(&self, other: &dyn Any) -> bool;
}

impl<V: Any + PartialEq + Send + Sync> Comparable for V {
    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<V>() == Some(self)
    }
}

/// What a view made of an object, whatever its type.
#[derive(Clone)]
pub struct Projected(Arc<dyn Comparable>);

impl Projected {
    /// Wraps a value.
    pub fn new<V: Any + PartialEq + Send + Sync>(value: V) -> Self {
        Self(Arc::new(value))
    }

    /// The value, if it is of this type.
    pub fn downcast<V: Any + Send + Sync>(self) -> Option<Arc<V>> {
        let any: Arc<dyn Any + Send + Sync> = self.0;
        any.downcast().ok()
    }

    /// The value, if it is of this type.
    pub fn downcast_ref<V: Any>(&self) -> Option<&V> {
        let any: &dyn Any = &*self.0;
        any.downcast_ref()
    }
}

impl PartialEq for Projected {
    fn eq(&self, other: &Self) -> bool {
        let other: &dyn Any = &*other.0;
        self.0.equals(other)
    }
}

impl fmt::Debug for Projected {
    /// The value may be a Secret.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Projected")
    }
}

/// A view, whatever it projects to.
pub trait AnyView: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// What it makes of an object.
    fn project(&self, object: &Value) -> Option<Projected>;
}

impl<V: Any + PartialEq + Send + Sync> AnyView for View<V> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn project(&self, object: &Value) -> Option<Projected> {
        (self.of)(object).map(Projected::new)
    }
}
