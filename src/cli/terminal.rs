//! What is printed, and where.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use crate::input::Diagnostics;
use crate::input::name::is_unseen;

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
    let _ = writeln!(io::stderr(), "{}", visible(text));
}

/// A text in which a terminal finds nothing to obey: the name of a file may hold anything.
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_unseen = |c: char| c != '\n' && is_unseen(c);
    if !text.contains(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut all = String::with_capacity(text.len());
    for c in text.chars() {
        match is_unseen(c) {
            true => all.extend(c.escape_default()),
            false => all.push(c),
        }
    }
    Cow::Owned(all)
}

/// Whether stderr is to be in colour: on a terminal unless `NO_COLOR` is set.
fn is_coloured() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Prints on stderr what may be meant so, but is seldom.
pub fn warn(warnings: &Diagnostics) {
    let _ = io::stderr().write_all(warnings.render_warnings(is_coloured()).as_bytes());
}

/// Prints all mistakes on stderr.
pub fn complain(diagnostics: &Diagnostics) {
    let _ = io::stderr().write_all(diagnostics.render(is_coloured()).as_bytes());
    let count = diagnostics.distinct();
    let mistakes = if count == 1 { "mistake" } else { "mistakes" };
    note(&format!("\n{count} {mistakes}; nothing was run"));
}
