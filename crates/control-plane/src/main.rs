//! The control plane's command line as a program of its own. `cargo xtask control-plane` is the same.

use std::process::ExitCode;

use mainstay_control_plane::{Launcher, command};

fn main() -> ExitCode {
    let launcher = Launcher::this_program(std::iter::empty::<&str>());
    command::main(std::env::args_os().skip(1), &launcher)
}
