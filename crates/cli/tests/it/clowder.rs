//! Clowder as users meet it: environments and apps in, objects and configuration out.

mod adoption;
mod bad_input;
mod campaign;
mod canary;
mod command_line;
mod conformance;
mod endings;
mod generated;
mod jobs;
mod jobs_campaign;
mod jobs_command_line;
mod kafka;
mod kinds;
mod left_over;
mod plans;
mod quiet;
mod quirks;
mod real_programs;
mod references;
mod reports;
mod reverse_proxy;
mod scenarios;
mod servers;
mod storage;
mod takeover;
mod takeover_kinds;
mod tenants;
mod web_local;
mod webhooks;
mod wiring;

use crate::shared::clowder::{answers, input, invocations, stage, workloads};
