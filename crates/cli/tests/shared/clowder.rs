//! Where tests of Clowder play, and those who play along.

pub(crate) mod account;
pub(crate) mod answers;
pub(crate) mod app_config;
pub(crate) mod input;
pub(crate) mod invocations;
pub(crate) mod random_cases;
pub(crate) mod random_plans;
pub(crate) mod resource;
pub(crate) mod rest;
pub(crate) mod running;
pub(crate) mod stage;
pub(crate) mod webhooks;
pub(crate) mod workloads;
