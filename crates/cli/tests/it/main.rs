//! Tests of the real program against a real control plane. One binary, so that it links once.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod clowder;
mod kaoto;
mod manifest;
mod opencenter;
#[path = "../shared/shared.rs"]
mod shared;
mod suite;

use shared::program::{condition, mainstay, message, operated, operated_on, run, under_the_name};
