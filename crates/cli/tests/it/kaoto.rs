//! Kaoto as users meet it: custom resources in, a running editor out.

mod acceptance;
mod bad_input;
mod crashes;
mod faults;
mod openshift;
mod ownership;
mod quiet;
