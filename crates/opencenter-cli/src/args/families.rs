//! The commands beside `cluster`: `descriptor` and `secrets`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{ClusterIdArgs, GlobalArgs};

#[derive(Debug, Args)]
pub struct DescriptorCommandArgs {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: DescriptorCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DescriptorCommand {
    /// List the descriptors
    List,
    /// Show a descriptor
    Show {
        /// Name of the descriptor
        name: String,
    },
    /// Check the descriptors
    Lint,
}

#[derive(Debug, Args)]
pub struct SecretsCommandArgs {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: SecretsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SecretsCommand {
    /// Encrypt the files of a tree that hold secrets
    Encrypt(SecretFilesArgs),
    /// Print encrypted files of a tree in the clear; nothing is written
    Decrypt(SecretFilesArgs),
    /// Show which files of a tree hold secrets, and whether they are encrypted
    Status(SecretFilesArgs),
    /// Render the files that hold secrets again, with the secrets of the config
    Sync(SecretFilesArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SecretFilesArgs {
    #[command(flatten)]
    pub(crate) cluster: ClusterIdArgs,
    /// Only this file or directory, relative to the overlay
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
    /// Only these services
    #[arg(long, value_delimiter = ',', value_name = "SERVICE")]
    pub(crate) services: Vec<String>,
    /// Root of the repository [default: `opencenter.gitops.repository.local_dir`]
    #[arg(long, value_name = "DIR")]
    pub(crate) output_dir: Option<PathBuf>,
}
