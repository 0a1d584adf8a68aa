//! What tests against a real control plane share: the plane, fresh namespaces, the operator as a process, faults between
//! the two, and the audit log as the referee of what was sent.
//!
//! Functions here panic with a message that names what went wrong: that is how a test fails.
#![deny(missing_docs)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![expect(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a failed test shows the log of the operator, a campaign how much it met"
)]

pub mod audit;
pub mod campaign;
pub mod certificates;
mod ends_with_test;
pub mod fault;
mod latency_relay;
pub mod managed_fields;
pub mod namespace;
pub mod operator;
pub mod plane;
pub mod program;
pub mod proxy;
pub mod puppet;
pub mod random;
pub mod servers;
pub mod snapshot;
pub mod wait;

pub use namespace::Namespace;
pub use operator::Operator;
pub use plane::Plane;
pub use program::Program;
