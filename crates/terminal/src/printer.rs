//! stdout is data that can be piped; everything else is stderr.

use std::io::{self, Write};

/// What the colours mean.
pub mod style {
    use anstyle::{AnsiColor, Style};

    /// It is well.
    pub const OK: Style = AnsiColor::Green.on_default();
    /// It went wrong.
    pub const ERROR: Style = AnsiColor::Red.on_default().bold();
    /// It may go wrong.
    pub const WARNING: Style = AnsiColor::Yellow.on_default();
    /// Names and hints.
    pub const NAME: Style = AnsiColor::Cyan.on_default();
}

/// Writes data to stdout; colours are dropped where they do not belong.
pub fn to_stdout(text: &str) -> io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Tells the user something; a stderr that is gone cannot be told anything.
pub fn to_stderr(text: &str) {
    let mut stderr = anstream::stderr().lock();
    let _ = stderr.write_all(text.as_bytes());
}

/// Text in a style, plain where colours are off.
pub fn painted(style: anstyle::Style, text: impl std::fmt::Display) -> String {
    format!("{}{text}{}", style.render(), style.render_reset())
}

/// Tells the user of a kind that could not be looked at.
pub fn gap(plural: &str, why: &str, consequence: &str) {
    to_stderr(&format!(
        "warning: could not list {plural}, {consequence}: {why}\n"
    ));
}
