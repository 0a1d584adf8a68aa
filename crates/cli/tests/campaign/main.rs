//! Every moment of every write of every system: `cargo xtask test --campaign`.
//!
//! A system has its workloads in `shared/<system>/workloads`, and a module here.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod clowder;
mod kaoto;
#[path = "../shared/shared.rs"]
mod shared;
