//! Clowder as users meet it: environments and apps in, objects and configuration out.

mod account;
mod app_config;
mod bad_input;
mod campaign;
mod conformance;
mod endings;
mod generated;
mod input;
mod invocations;
mod jobs;
mod jobs_campaign;
mod jobs_command_line;
mod kinds;
mod quiet;
mod quirks;
mod resource;
mod reverse_proxy;
mod scenarios;
mod servers;
mod stage;
mod storage;
mod takeover;
mod web_local;
mod webhooks;
mod wiring;
