//! Output: where it goes, its width and colours.

use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, OnceLock};

use clap::{Args, ValueEnum};
use console::Term;
use indicatif::MultiProgress;

use super::listener::heard;
use scavsim_base::text::page::{ESCAPES, USUAL};
use scavsim_base::text::{Markup, Page};
use scavsim_read::input::Diagnostics;
use scavsim_read::input::foreign::{printable, visible};

pub(super) static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);
/// Whether any bars are drawn; without them the terminal is not queried.
pub(super) static ARE_DRAWN: AtomicBool = AtomicBool::new(false);

/// Writes to the terminal while all bars are hidden.
fn with_bars_hidden<T>(write: impl FnOnce() -> T) -> T {
    if ARE_DRAWN.load(Ordering::Relaxed) {
        BARS.suspend(write)
    } else {
        write()
    }
}

/// Options of all commands about what is printed.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Colours: on a terminal only, unless `NO_COLOR` is set or `TERM` is `dumb`; always; or never
    #[arg(long, value_enum, default_value_t, global = true, value_name = "WHEN")]
    color: ColourMode,
    /// Columns of characters to print on [default: those of the terminal; 100 where there is none]
    #[arg(id = "output_width", long = "width", value_name = "COLUMNS", global = true,
          value_parser = clap::value_parser!(u16).range(40..))]
    width: Option<u16>,
    /// Say nothing on stderr but what is wrong
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Say on stderr what is done, and how long it took
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    verbose: bool,
}

/// When there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ColourMode {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The requested output; set before anything is printed.
static ASKED: OnceLock<OutputArgs> = OnceLock::new();

impl OutputArgs {
    pub fn apply(self) {
        // A second call in one process, for example in a test, has no effect.
        let _ = ASKED.set(self);
    }

    fn from_command_line() -> OutputArgs {
        ASKED.get().copied().unwrap_or_default()
    }
}

pub fn page() -> Page {
    if heard(|_| ()).is_some() {
        return Page::default();
    }
    let of_terminal = || {
        let size = Term::stdout().size_checked();
        size.map_or(USUAL, |(_, columns)| usize::from(columns))
    };
    let asked = OutputArgs::from_command_line();
    Page {
        width: asked.width.map_or_else(of_terminal, usize::from),
        is_coloured: markup() == Markup::Terminal && is_coloured(io::stdout().is_terminal()),
        markup: markup(),
        ..Page::default()
    }
}

/// The markup of tables, once a command has set it.
/// Prints each line of a text, wrapped.
pub fn print_lines(text: &str) -> io::Result<()> {
    let page = page();
    print(
        &text
            .lines()
            .map(|line| page.prose(line, 2))
            .collect::<String>(),
    )
}

/// The page of tables whose columns are all shown if `is_wide`.
pub fn wide_page(is_wide: bool) -> Page {
    Page { is_wide, ..page() }
}

static MARKUP: OnceLock<Markup> = OnceLock::new();

fn markup() -> Markup {
    MARKUP.get().copied().unwrap_or_default()
}

/// A format in which a command prints; the default is a table for people.
pub trait PrintedForm: Copy + Default {
    /// The markup of tables, if it is a format for documents.
    fn markup(self) -> Option<Markup>;

    /// This format; sets the markup of tables if it is for documents.
    #[must_use]
    fn settled(self) -> Self {
        let Some(markup) = self.markup() else {
            return self;
        };
        // A second call in one process, for example in a test, has no effect.
        let _ = MARKUP.set(markup);
        Self::default()
    }
}

/// Implements [`PrintedForm`] for a form with these two variants.
macro_rules! printed_form {
    ($form:ty) => {
        impl $crate::cli::terminal::PrintedForm for $form {
            fn markup(self) -> Option<scavsim_base::text::Markup> {
                match self {
                    Self::Markdown => Some(scavsim_base::text::Markup::Markdown),
                    Self::Latex => Some(scavsim_base::text::Markup::Latex),
                    _ => None,
                }
            }
        }
    };
}
pub(super) use printed_form;

/// Whether only mistakes are printed.
pub fn is_quiet() -> bool {
    OutputArgs::from_command_line().quiet
}

/// Whether progress is shown: not with `--quiet`, and not to a listener.
pub fn is_watched() -> bool {
    !is_quiet() && heard(|_| ()).is_none()
}

/// Prints data to stdout, of which a terminal obeys nothing but styles of our own. A reader that has gone away, such as `head`, is no error: that is its
/// right, and result files are still to be written.
pub fn print(text: &str) -> io::Result<()> {
    if heard(|listener| listener.printed += text).is_some() {
        return Ok(());
    }
    with_bars_hidden(|| {
        let mut out = io::stdout().lock();
        let styles = if page().is_coloured {
            &ESCAPES[..]
        } else {
            &[]
        };
        let text = markup().document(text);
        let text = printable(&text, styles);
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    })
}

/// Prints a note to stderr, unless only mistakes are requested.
pub fn note(text: &str) {
    if !is_quiet() {
        error(text);
    }
}

/// Prints details to stderr, if requested.
pub fn detail(text: &str) {
    if OutputArgs::from_command_line().verbose {
        error(text);
    }
}

/// Prints a mistake to stderr. A failure to write is ignored.
pub fn error(text: &str) {
    if heard(|listener| listener.notes.push(text.to_owned())).is_some() {
        return;
    }
    let text = visible(text);
    let text = match width_beside() {
        Some(width) => wrapped(&text, width),
        // A line of a log is a whole sentence, so that `grep` finds it.
        None => text.into_owned(),
    };
    with_bars_hidden(|| {
        let _ = writeln!(io::stderr(), "{text}");
    });
}

/// The width of messages on stderr; `None` without a terminal and without a given width.
fn width_beside() -> Option<usize> {
    let of_terminal = || {
        let size = Term::stderr().size_checked();
        size.map(|(_, columns)| usize::from(columns))
    };
    (OutputArgs::from_command_line().width.map(usize::from)).or_else(of_terminal)
}

/// Wraps lines between words, and indents all but the first.
fn wrapped(text: &str, width: usize) -> String {
    let page = Page::of_width(width);
    let lines: Vec<String> = text.split('\n').map(|line| page.prose(line, 2)).collect();
    lines.concat().trim_end_matches('\n').to_owned()
}

/// Whether output to a terminal, or to another place, is coloured.
fn is_coloured(is_terminal: bool) -> bool {
    let variable = |name| std::env::var_os(name);
    match OutputArgs::from_command_line().color {
        ColourMode::Always => true,
        ColourMode::Never => false,
        ColourMode::Auto => is_terminal && wants_colour(variable("NO_COLOR"), variable("TERM")),
    }
}

/// Whether the environment allows colours: `NO_COLOR` counts unless it is empty.
fn wants_colour(no_color: Option<impl AsRef<OsStr>>, term: Option<impl AsRef<OsStr>>) -> bool {
    no_color.is_none_or(|text| text.as_ref().is_empty())
        && term.is_none_or(|name| name.as_ref() != "dumb")
}

/// Prints a warning to stderr: something valid that is seldom intended.
pub fn warn(warnings: &Diagnostics) {
    let told = warnings.render_warnings(USUAL, false);
    if heard(|listener| listener.notes.extend(note_of(&told))).is_some() {
        return;
    }
    if !is_quiet() {
        let is_coloured = is_coloured(io::stderr().is_terminal());
        let text = warnings.render_warnings(width_beside().unwrap_or(USUAL), is_coloured);
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

fn note_of(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

pub fn complain(diagnostics: &Diagnostics) {
    let is_coloured = is_coloured(io::stderr().is_terminal());
    let text = diagnostics.render_within(width_beside().unwrap_or(USUAL), is_coloured);
    with_bars_hidden(|| {
        let _ = io::stderr().write_all(text.as_bytes());
    });
    let count = diagnostics.distinct();
    let mistakes = if count == 1 { "mistake" } else { "mistakes" };
    error(&format!("\n{count} {mistakes}; nothing was run"));
}

#[cfg(test)]
mod tests {
    use super::wants_colour;

    #[test]
    fn an_empty_no_color_says_nothing_and_a_dumb_terminal_all() {
        let none: Option<&str> = None;
        assert!(wants_colour(none, Some("xterm")));
        assert!(wants_colour(Some(""), none));
        assert!(!wants_colour(Some("1"), Some("xterm")));
        assert!(!wants_colour(none, Some("dumb")));
    }
}
