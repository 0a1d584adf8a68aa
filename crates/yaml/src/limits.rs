//! Budgets that keep a hostile or broken text from costing memory or time.

/// How much a text may cost before it is refused.
///
/// The defaults leave room for the largest manifest bundles in use and stop everything that could not be stored in
/// a cluster anyway. Text that aliases repeat counts every time, so a small file cannot grow into a large value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest text in bytes; also the largest sum of all scalars once aliases are expanded.
    pub bytes: usize,
    /// Largest single scalar in bytes.
    pub scalar_bytes: usize,
    /// Deepest nesting of mappings and sequences, aliases expanded. Values above [`Limits::DEEPEST`] have no effect.
    pub depth: usize,
    /// Most nodes (scalars, mappings, sequences) in the whole text, aliases expanded.
    pub nodes: usize,
    /// Most documents, empty ones included.
    pub documents: usize,
}

impl Limits {
    /// The depth that no setting can raise: reading, converting and dropping a value all recurse.
    pub const DEEPEST: usize = 256;

    /// The depth that is really enforced.
    pub(crate) fn effective_depth(&self) -> usize {
        self.depth.min(Self::DEEPEST)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 32 * 1024 * 1024,
            scalar_bytes: 4 * 1024 * 1024,
            // The nesting that serde_json reads by default.
            depth: 128,
            nodes: 2_000_000,
            documents: 10_000,
        }
    }
}
