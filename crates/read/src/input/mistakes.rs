//! All mistakes in a user's text, as an error of the library.

use std::error::Error;
use std::fmt;

use super::{Diagnostic, Diagnostics};

/// All mistakes in a scenario and the files that it names; never empty.
///
/// Formatted, it is the report that the program prints: each mistake with its file, line, wrong word and the legal values.
/// `{:?}` prints the same report, because `main` and `unwrap` use it.
#[derive(Clone)]
pub struct Mistakes(Diagnostics);

impl Mistakes {
    /// The mistakes of a reader.
    pub fn new(diagnostics: Diagnostics) -> Mistakes {
        Mistakes(diagnostics)
    }

    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.0.distinct()
    }

    /// The mistakes in the order of the files and their text, each once.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.in_reading_order().into_iter()
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.render(false).trim_end())
    }
}

impl fmt::Debug for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for Mistakes {}
