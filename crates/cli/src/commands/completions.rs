//! `mainstay completions`.

use crate::{
    args::{self, CompletionsArgs},
    exit::ExitStatus,
    printer,
};

pub(crate) fn run(arguments: &CompletionsArgs, program: &str) -> anyhow::Result<ExitStatus> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut args::command(),
        program.replace(' ', "-"),
        &mut script,
    );
    printer::to_stdout(&String::from_utf8_lossy(&script))?;
    Ok(ExitStatus::Success)
}
