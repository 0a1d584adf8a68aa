//! Under which name a system writes.

/// Our name in `managedFields`, and the names under which an original wrote the same objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldManager {
    /// Our name.
    pub name: &'static str,
    /// Names of the original's writes, which are updates and no applies. What they wrote to an object that we have
    /// never applied is taken over.
    pub former: &'static [&'static str],
}

impl FieldManager {
    /// A manager that nobody came before.
    pub const fn new(name: &'static str) -> Self {
        Self { name, former: &[] }
    }
}
