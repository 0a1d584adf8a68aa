//! How much one load may cost.

use mainstay_yaml::Limits;

/// Budget of one load over all its files and pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadLimits {
    /// Most bytes of text.
    pub bytes: usize,
    /// Most documents, and most objects after lists are expanded.
    pub documents: usize,
}

impl Default for LoadLimits {
    fn default() -> Self {
        Self {
            bytes: 64 * 1024 * 1024,
            documents: 20_000,
        }
    }
}

impl LoadLimits {
    /// What the YAML reader may spend on a text while this is left.
    pub(crate) fn for_text(&self) -> Limits {
        Limits {
            bytes: self.bytes,
            documents: self.documents,
            nodes: 4_000_000,
            ..Limits::default()
        }
    }
}
