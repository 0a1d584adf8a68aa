//! The program under the name `opencenter`: the families of commands at the top, and what users of the original type.

use std::ffi::OsString;

use clap::{Arg, ArgAction, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use clap_complete::Shell;
use mainstay_terminal::{
    color::Color,
    exit::{self, ExitStatus, Told},
    printer,
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
    /// Print shell completions
    Completions {
        /// Shell
        shell: Shell,
    },
    /// Print the version
    Version {
        /// Only the number
        #[arg(long)]
        short: bool,
    },
}

/// The command line, with the words of the original for commands and flags that exist here under other names.
///
/// Flags that stand for what happens anyway are accepted and do nothing.
fn command() -> clap::Command {
    let accepted = |name: &'static str| {
        Arg::new(name)
            .long(name)
            .action(ArgAction::SetTrue)
            .hide(true)
    };
    OpenCenter::command().mut_subcommand("cluster", |cluster| {
        cluster
            .mut_subcommand("render", |render| {
                render
                    .visible_alias("generate")
                    .arg(accepted("force"))
                    .arg(accepted("render-only"))
                    .arg(accepted("skip-validation"))
            })
            .mut_subcommand("init", |init| {
                init.mut_arg("provider", |provider| provider.visible_alias("type"))
                    .mut_arg("full", |full| full.visible_alias("full-schema"))
                    .arg(accepted("no-keygen"))
                    .arg(accepted("no-sops-keygen"))
            })
            .mut_subcommand("validate", |validate| {
                validate
                    .mut_arg("mode", |mode| mode.visible_alias("validation"))
                    .mut_arg("tree", |tree| tree.visible_alias("manifests"))
                    .arg(accepted("verbose").short('v'))
            })
    })
}

fn parse(arguments: &[OsString]) -> Result<OpenCenter, clap::Error> {
    let matches = command().try_get_matches_from(arguments)?;
    OpenCenter::from_arg_matches(&matches)
}

/// Runs the program under this name.
pub fn main(arguments: &[OsString]) -> ExitStatus {
    let opencenter = match parse(arguments) {
        Ok(opencenter) => opencenter,
        Err(error) => return exit::usage(&error),
    };
    opencenter.color.choose();
    match &opencenter.command {
        Command::Cluster(arguments) => cluster::run(arguments),
        Command::Descriptor(arguments) => descriptor::run(arguments),
        Command::Secrets(arguments) => secrets::run(arguments),
        Command::Completions { shell } => print(&completions(*shell)),
        Command::Version { short: true } => print(concat!(env!("CARGO_PKG_VERSION"), "\n")),
        Command::Version { short: false } => {
            print(concat!("opencenter ", env!("CARGO_PKG_VERSION"), "\n"))
        }
    }
}

fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "opencenter", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

fn print(text: &str) -> ExitStatus {
    let printed = printer::to_stdout(text).map(|()| ExitStatus::Success);
    exit::conclude(printed.map_err(anyhow::Error::new), Told::plainly)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        command().debug_assert();
    }
}
