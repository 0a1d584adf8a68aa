//! Results on standard output, progress on standard error.

use std::io::{self, ErrorKind, Write};

/// Prints a result. A reader that closed its end has what it wanted.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    match output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush())
    {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Says how far things are. A failure to do so cannot be reported anywhere.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
