//! What is printed, and where.

use std::io::{self, IsTerminal, Write};

use crate::input::Diagnostics;

/// Prints data to stdout.
///
/// # Errors
/// Whatever keeps it from being written, a closed pipe above all.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Says something on stderr. If nobody listens, so be it.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Prints all mistakes on stderr, in colour on a terminal unless `NO_COLOR` is set.
pub fn complain(diagnostics: &Diagnostics) {
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let _ = io::stderr().write_all(diagnostics.render(colour).as_bytes());
    let count = diagnostics.len();
    let mistakes = if count == 1 { "mistake" } else { "mistakes" };
    note(&format!("\n{count} {mistakes}; nothing was run"));
}

/// Whether `error` means that the reader of our output has gone.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|e| e.downcast_ref::<io::Error>())
        .any(|e| e.kind() == io::ErrorKind::BrokenPipe)
}
