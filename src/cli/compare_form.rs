//! Output formats of `scavsim compare`.

use clap::ValueEnum;

/// Form of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum CompareFormat {
    /// For people
    #[default]
    Table,
    /// A row per strategy and block
    Csv,
    /// A row per strategy and unit
    Units,
    /// Regret over what was spent
    Curves,
    /// All three, for programs
    Json,
    /// The tables for people, as Markdown
    Markdown,
    /// The tables for people, as LaTeX
    Latex,
}

super::terminal::printed_form!(CompareFormat);
