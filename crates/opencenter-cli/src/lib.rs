//! openCenter's commands: a config file in, an overlay tree in a repository out. Everything here is about files; what
//! a tree looks like is decided by `mainstay-opencenter`, how it is written by `mainstay-gitops`.
//!
//! | Module | What is in it |
//! |---|---|
//! | `program` | the program under the name `opencenter` |
//! | `cluster`, `descriptor`, `secrets` | the three families of commands |
//! | `args` | the command line as users write it |
//! | `session`, `settings`, `locate`, `load`, `outside` | settings, where a config is, what it says, what it takes from outside |
//! | `tree`, `seal`, `keys`, `write`, `save` | from a config to files on disk |
//! | `memory` | renders that need not be done again |
//! | `report`, `mask`, `interrupt` | findings, exit codes, what must not be seen, Ctrl-C |

mod args;
mod cluster;
mod descriptor;
mod interrupt;
mod keys;
mod load;
mod locate;
mod mask;
mod memory;
mod outside;
mod program;
mod report;
mod save;
mod seal;
mod secrets;
mod session;
mod settings;
mod stamp;
mod tree;
mod write;

use clap::Subcommand;
use mainstay_terminal::exit::ExitStatus;

use args::{ClusterCommandArgs, DescriptorCommandArgs, SecretsCommandArgs};
pub use mainstay_opencenter::reference;
pub use program::main;

/// The families of commands, as a program of several systems shows them.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// openCenter: configs and Flux overlay trees of clusters
    Cluster(ClusterCommandArgs),
    /// openCenter: what the overlay units are made of
    Descriptor(DescriptorCommandArgs),
    /// openCenter: the encrypted files of a tree
    Secrets(SecretsCommandArgs),
}

/// Runs a command; openCenter has exit codes of its own.
pub fn run(command: &Command) -> ExitStatus {
    match command {
        Command::Cluster(arguments) => cluster::run(arguments),
        Command::Descriptor(arguments) => descriptor::run(arguments),
        Command::Secrets(arguments) => secrets::run(arguments),
    }
}
