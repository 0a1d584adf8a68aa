//! Tests of the real program against a real control plane. One binary, so that it links once.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod bad_input;
mod cli;
mod clowder;
mod crashes;
mod faults;
mod kaoto_acceptance;
mod kaoto_openshift;
mod kaoto_ownership;
mod leadership;
mod manifest;
mod opencenter;
mod outage;
mod packaging;
mod permissions;
mod quiet;
#[path = "../shared/shared.rs"]
mod shared;

use shared::{
    program::{condition, mainstay, message, operated, operated_on, run, under_the_name},
    random,
};
