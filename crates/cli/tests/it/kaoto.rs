//! Kaoto as users meet it: custom resources in, a running editor out.

mod acceptance;
mod bad_input;
pub(crate) mod crashes;
pub(crate) mod faults;
mod openshift;
mod ownership;
mod quiet;
