//! `mainstay version`.

use crate::{exit::ExitStatus, printer};

pub(crate) fn run() -> anyhow::Result<ExitStatus> {
    printer::to_stdout(concat!("mainstay ", env!("CARGO_PKG_VERSION"), "\n"))?;
    Ok(ExitStatus::Success)
}
