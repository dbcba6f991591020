//! What an import read, dropped, fitted and assumed, as text.

use std::fmt;

use super::figure::rounded;
use scavsim_base::text::{Column, Sheet};
use scavsim_fit::Quality;
use scavsim_read::input::{Diagnostic, Diagnostics};

#[derive(Debug, Clone, Default)]
pub struct Report {
    counts: Vec<Count>,
    fits: Vec<Fit>,
    /// Checks, spreads and assumptions, a sentence each.
    notes: Vec<String>,
    /// Valid but unusual input.
    warnings: Diagnostics,
}

#[derive(Debug, Clone)]
struct Fit {
    what: String,
    law: String,
    quality: Quality,
    /// Hold-out error of the fit, in %.
    left_out: Option<f64>,
}

#[derive(Debug, Clone)]
struct Count {
    what: String,
    read: usize,
    dropped: Vec<(String, usize)>,
}

impl Report {
    /// Reports that `read` rows of `what` were read, and how many of them were dropped for which reason.
    pub fn rows(&mut self, what: impl Into<String>, read: usize, dropped: &[(&str, usize)]) {
        let some = dropped.iter().filter(|(_, n)| *n > 0);
        self.counts.push(Count {
            what: what.into(),
            read,
            dropped: some.map(|&(why, n)| (why.to_owned(), n)).collect(),
        });
    }

    /// Reports the error of a fit on its own points, and on held-out ones, in %.
    pub fn fit(
        &mut self,
        what: impl Into<String>,
        law: impl Into<String>,
        quality: &Quality,
        left_out: Option<f64>,
    ) {
        self.fits.push(Fit {
            what: what.into(),
            law: law.into(),
            quality: *quality,
            left_out,
        });
    }

    pub fn warn(&mut self, warning: Diagnostic) {
        self.warnings.push(warning);
    }

    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Count {
            what,
            read,
            dropped,
        } in &self.counts
        {
            let lost: usize = dropped.iter().map(|(_, n)| n).sum();
            write!(f, "{what}: {read} read, {} kept", read - lost)?;
            for (why, n) in dropped {
                write!(f, ", {n} dropped ({why})")?;
            }
            writeln!(f)?;
        }
        if !self.fits.is_empty() {
            writeln!(f)?;
            let number =
                |head, of: fn(&Fit) -> String| Column::number(head, move |fit: &&Fit| of(fit));
            let mut columns = vec![
                Column::word("fit", |fit: &&Fit| &*fit.what),
                Column::word("law", |fit: &&Fit| &*fit.law),
                number("points", |fit| fit.quality.points.to_string()),
                number("MAPE %", |fit| format!("{:.2}", fit.quality.mape)),
                number("R²", |fit| match fit.quality.r_squared {
                    known if known.is_finite() => format!("{known:.4}"),
                    _ => String::new(),
                }),
            ];
            // Only some sources hold points out.
            if self.fits.iter().any(|fit| fit.left_out.is_some()) {
                columns.push(number("left out %", |fit| {
                    fit.left_out
                        .map_or(String::new(), |error| format!("{error:.2}"))
                }));
            }
            f.write_str(&Sheet::new(&self.fits, columns).lines())?;
        }
        if !self.notes.is_empty() {
            writeln!(f)?;
        }
        self.notes
            .iter()
            .try_for_each(|note| writeln!(f, "- {note}"))
    }
}

/// The line about a fit in the workload.
pub fn basis(quality: &Quality) -> String {
    let r_squared = if quality.r_squared.is_finite() {
        format!(", R² {}", rounded(quality.r_squared, 4))
    } else {
        String::new()
    };
    format!(
        "fit: {} points, MAPE {} %{r_squared}",
        quality.points,
        rounded(quality.mape, 3)
    )
}

/// Whether a law is too poor to predict unmeasured values: a hold-out error above a fifth, or hardly better than the mean
/// while above the scatter of repeats.
pub(crate) fn is_poor(quality: &Quality, error: f64) -> bool {
    const MOST: f64 = 20.0;
    const REPEATS: f64 = 5.0;
    !error.is_finite() || error > MOST || (quality.r_squared < 0.5 && error > REPEATS)
}

/// The text about a [poor](is_poor) law.
pub(crate) const NOT_KEPT: &str = "it is not kept, so nothing is known beyond what was measured; more measurements, or repeats of those that are off, would help";
