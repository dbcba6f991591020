//! What is printed, and where.

use std::io::{self, IsTerminal, Write};

use crate::input::Diagnostics;

/// Prints data to stdout. A reader that has gone away, such as `head`, is no error: that is its
/// right, and result files are still to be written.
///
/// # Errors
/// Whatever else keeps it from being written.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Says something on stderr. If nobody listens, so be it.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Prints all mistakes on stderr, in colour on a terminal unless `NO_COLOR` is set.
pub fn complain(diagnostics: &Diagnostics) {
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let _ = io::stderr().write_all(diagnostics.render(colour).as_bytes());
    let count = diagnostics.distinct();
    let mistakes = if count == 1 { "mistake" } else { "mistakes" };
    note(&format!("\n{count} {mistakes}; nothing was run"));
}
