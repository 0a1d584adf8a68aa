//! The unit contract: render is an ordered list of small pure steps.

use crate::object_set::{ObjectSet, SetError};

/// Why a unit could not contribute.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The unit misused the object set: a defect of ours, not of the input.
    #[error(transparent)]
    Set(#[from] SetError),
    /// The input cannot be rendered.
    #[error("{0}")]
    Input(String),
    /// A fact is not known yet. The reconcile looks it up and renders again.
    #[error("a fact is not known yet")]
    Unknown,
}

/// One ordered step that adds objects to the set, or amends what an earlier step added.
pub trait Unit<I: ?Sized>: Send + Sync {
    /// Name under which plan, `why` and errors speak of this unit.
    fn name(&self) -> &'static str;

    /// Adds this unit's objects.
    fn render(&self, input: &I, set: &mut ObjectSet) -> Result<(), RenderError>;
}

/// A unit that failed, and why.
#[derive(Debug, thiserror::Error)]
#[error("{unit}: {source}")]
pub struct UnitFailure {
    /// Name of the unit.
    pub unit: &'static str,
    /// Cause.
    pub source: RenderError,
    /// What was rendered before and does not wait for the rest.
    pub early: Option<Box<ObjectSet>>,
}

/// Lets the units fill a set in order; the first failure ends the render. Position in the slice is the order.
pub fn render<I: ?Sized>(
    units: &[&dyn Unit<I>],
    mut set: ObjectSet,
    input: &I,
) -> Result<ObjectSet, UnitFailure> {
    for unit in units {
        unit.render(input, &mut set).map_err(|source| UnitFailure {
            unit: unit.name(),
            source,
            early: None,
        })?;
    }
    Ok(set)
}
