//! What tests of Kaoto share.

pub(crate) mod workloads;
