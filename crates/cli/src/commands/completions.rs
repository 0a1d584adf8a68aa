//! `mainstay completions`.

use clap::CommandFactory;

use crate::{
    args::{Cli, CompletionsArgs},
    exit::ExitStatus,
    printer,
};

pub(crate) fn run(arguments: &CompletionsArgs, program: &str) -> anyhow::Result<ExitStatus> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Cli::command(),
        program.replace(' ', "-"),
        &mut script,
    );
    printer::to_stdout(&String::from_utf8_lossy(&script))?;
    Ok(ExitStatus::Success)
}
