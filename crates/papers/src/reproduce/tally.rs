//! Number of rows by class of evidence and verdict.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::claims::claims;
use super::comparison::{Comparison, Verdict};
use super::evidence::Evidence;
use scavsim_base::text::words::plural;

/// How many rows of one class came out how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    pub rows: usize,
    pub within: usize,
    /// Outside, with a stated reason.
    pub explained: usize,
    /// Outside without one.
    pub outside: usize,
}

impl Counts {
    fn add(&mut self, verdict: Verdict) {
        self.rows += 1;
        match verdict {
            Verdict::Explained => self.explained += 1,
            Verdict::Outside => self.outside += 1,
            _ => self.within += 1,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ClaimCounts {
    /// Claims that hold in every reading.
    pub in_all: usize,
    pub in_some: usize,
    pub in_none: usize,
    /// Readings of all of them.
    pub readings: usize,
    /// Readings in which they hold.
    pub hold: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Tally {
    /// Figures of the paper, by what they say for the model.
    #[serde(serialize_with = "by_name")]
    pub figures: BTreeMap<Evidence, Counts>,
    /// Goals and comparisons of this project.
    pub ours: Counts,
    pub claims: ClaimCounts,
}

/// Every class, also those without rows.
fn by_name<S: Serializer>(
    figures: &BTreeMap<Evidence, Counts>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let of = |class: &Evidence| figures.get(class).copied().unwrap_or_default();
    serializer.collect_map(Evidence::ALL.iter().map(|class| (class.name(), of(class))))
}

impl Tally {
    pub fn counts_of(&self, class: Evidence) -> Counts {
        self.figures.get(&class).copied().unwrap_or_default()
    }

    pub fn count<'r>(papers: impl IntoIterator<Item = &'r [Comparison]>) -> Tally {
        let mut tally = Tally::default();
        for rows in papers {
            for row in rows {
                match row.verdict {
                    verdict if verdict.is_of_claim() => {}
                    verdict if row.is_ours() => tally.ours.add(verdict),
                    verdict => tally.figures.entry(row.evidence).or_default().add(verdict),
                }
            }
            for claim in claims(rows) {
                let of = &mut tally.claims;
                match claim.holds {
                    0 => of.in_none += 1,
                    holds if holds == claim.readings => of.in_all += 1,
                    _ => of.in_some += 1,
                }
                of.readings += claim.readings;
                of.hold += claim.holds;
            }
        }
        tally
    }

    /// The tally in one paragraph: the number of predictions within tolerance, then the other classes.
    pub fn sentence(&self) -> String {
        let predictions = self.counts_of(Evidence::Prediction);
        let mut text = match predictions.rows {
            0 => "No figure is a prediction.".to_owned(),
            rows => format!(
                "{} of {} within tolerance ({:.0} %), {} outside with a stated reason, {} outside without.",
                predictions.within,
                match rows {
                    1 => "1 prediction is".to_owned(),
                    rows => format!("{rows} predictions are"),
                },
                100.0 * predictions.within as f64 / rows as f64,
                predictions.explained,
                predictions.outside
            ),
        };
        let others = Evidence::ALL[1..]
            .iter()
            .map(|class| (class.name(), self.counts_of(*class)));
        let others = others.filter(|(_, counts)| counts.rows > 0);
        let others: Vec<String> = others
            .map(|(name, Counts { rows, within, .. })| format!("{within} of {rows} {name}"))
            .collect();
        if !others.is_empty() {
            text += &format!(" Other classes within tolerance: {}.", others.join(", "));
        }
        let Counts { rows, within, .. } = self.ours;
        if rows > 0 {
            text += &format!(" Goals and comparisons of ours met: {within} of {rows}.");
        }
        let claims = self.claims;
        let all = claims.in_all + claims.in_some + claims.in_none;
        if all > 0 {
            text += &format!(
                " {}: {} in every reading, {} in some, {} in none; {} of {} {}.",
                plural(all as u64, "claim"),
                claims.in_all,
                claims.in_some,
                claims.in_none,
                claims.hold,
                plural(claims.readings as u64, "reading"),
                if claims.hold == 1 { "holds" } else { "hold" }
            );
        }
        text
    }
}
