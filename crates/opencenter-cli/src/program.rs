//! The binary under the name `opencenter`: its three families of commands at the top.

use std::ffi::OsString;

use clap::{Parser, Subcommand};
use mainstay_terminal::{
    color::Color,
    exit::{self, ExitStatus},
};

use crate::{
    args::{ClusterCommandArgs, DescriptorCommandArgs, SecretsCommandArgs},
    cluster, descriptor, secrets,
};

/// Clusters as code: one config file in, one Flux overlay tree out.
#[derive(Debug, Parser)]
#[command(
    name = "opencenter",
    version,
    about,
    max_term_width = 100,
    disable_help_subcommand = true
)]
struct OpenCenter {
    #[command(subcommand)]
    command: Command,
    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    color: Color,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Configs and trees of clusters
    Cluster(ClusterCommandArgs),
    /// What the overlay units are made of
    Descriptor(DescriptorCommandArgs),
    /// The encrypted files of a tree
    Secrets(SecretsCommandArgs),
}

/// Runs the program under this name.
pub fn main(arguments: &[OsString]) -> ExitStatus {
    let opencenter = match OpenCenter::try_parse_from(arguments) {
        Ok(opencenter) => opencenter,
        Err(error) => return exit::usage(&error),
    };
    opencenter.color.choose();
    match &opencenter.command {
        Command::Cluster(arguments) => cluster::run(arguments),
        Command::Descriptor(arguments) => descriptor::run(arguments),
        Command::Secrets(arguments) => secrets::run(arguments),
    }
}
