//! What came of a reconcile: conditions, counts, and failures in the original's words. The status of each kind of root is
//! put together beside its reconciler.

pub mod conditions;
pub mod counts;
pub mod failures;
