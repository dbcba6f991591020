//! How many rows of each kind of evidence came out how.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::{Serialize, Serializer};

use super::claims::claims;
use super::comparison::{Comparison, Verdict};
use super::evidence::Evidence;

/// How many rows of one kind came out how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    /// All of them.
    pub rows: usize,
    /// Within their tolerance.
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

    fn off(self) -> usize {
        self.explained + self.outside
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.rows += other.rows;
        self.within += other.within;
        self.explained += other.explained;
        self.outside += other.outside;
    }
}

/// How many claims came out how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ClaimCounts {
    /// Claims that hold in every reading.
    pub in_all: usize,
    /// In some.
    pub in_some: usize,
    /// In none.
    pub in_none: usize,
    /// Readings of all of them.
    pub readings: usize,
    /// Readings in which they hold.
    pub hold: usize,
}

/// What the rows of a paper, or of several, come to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Tally {
    /// Figures of the paper, by what they say for the model.
    #[serde(serialize_with = "by_name")]
    pub figures: BTreeMap<Evidence, Counts>,
    /// Goals and comparisons of this project.
    pub ours: Counts,
    /// Claims of the paper.
    pub claims: ClaimCounts,
}

/// Every kind, also those without rows.
fn by_name<S: Serializer>(
    figures: &BTreeMap<Evidence, Counts>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let of = |kind: Evidence| figures.get(&kind).copied().unwrap_or_default();
    serializer.collect_map(Evidence::ALL.map(|kind| (kind.name(), of(kind))))
}

impl Tally {
    /// Counts rows.
    pub fn count(rows: &[Comparison]) -> Tally {
        let mut tally = Tally::default();
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
        tally
    }

    /// In one paragraph: of the figures that could fail how many are met, and then what says nothing.
    pub fn sentence(&self) -> String {
        let of = |kind: Evidence| self.figures.get(&kind).copied().unwrap_or_default();
        let can_fail = of(Evidence::Prediction);
        let mut text = match can_fail.rows {
            0 => "No figure could fail.".to_owned(),
            rows => format!(
                "{} of {rows} figures that could fail are within tolerance ({:.0} %), {} outside with a stated reason, \
                 {} outside without.",
                can_fail.within,
                100.0 * can_fail.within as f64 / rows as f64,
                can_fail.explained,
                can_fail.outside
            ),
        };
        let rest = (Evidence::ALL[1..].iter())
            .map(|kind| (kind.name(), of(*kind)))
            .filter(|(_, counts)| counts.rows > 0)
            .map(|(name, counts)| match counts.off() {
                0 => format!("{} {name}", counts.rows),
                off => format!("{} {name} ({off} off)", counts.rows),
            });
        let rest: Vec<String> = rest.collect();
        if !rest.is_empty() {
            text += &format!(" No evidence: {}.", rest.join(", "));
        }
        if self.ours.rows > 0 {
            text += &format!(
                " No figures of the paper: {} goals and comparisons of ours, {} off.",
                self.ours.rows,
                self.ours.off()
            );
        }
        let ClaimCounts {
            in_all,
            in_some,
            in_none,
            readings,
            hold,
        } = self.claims;
        let all = in_all + in_some + in_none;
        if all > 0 {
            text += &format!(
                " {all} claims: {in_all} in every reading, {in_some} in some, {in_none} in none; {hold} of {readings} \
                 readings hold."
            );
        }
        text
    }
}

impl AddAssign<&Tally> for Tally {
    fn add_assign(&mut self, other: &Tally) {
        for (kind, counts) in &other.figures {
            *self.figures.entry(*kind).or_default() += *counts;
        }
        self.ours += other.ours;
        self.claims.in_all += other.claims.in_all;
        self.claims.in_some += other.claims.in_some;
        self.claims.in_none += other.claims.in_none;
        self.claims.readings += other.claims.readings;
        self.claims.hold += other.claims.hold;
    }
}
