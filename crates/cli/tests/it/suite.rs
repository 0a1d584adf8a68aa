//! What concerns all systems: the command line, packages, rights, leadership, outages.

mod cli;
mod leadership;
mod outage;
mod packaging;
mod permissions;
