//! A claim as a grid of readings, and the number of readings in which it holds.

use std::collections::BTreeSet;

use serde::Serialize;

use super::cells;
use super::comparison::{Comparison, Verdict};

#[derive(Debug, Serialize)]
pub struct Claim<'r> {
    /// Where the paper states it.
    pub source: &'r str,
    pub claim: &'r str,
    pub holds: usize,
    /// In how many that cannot be told: the bound lies within the interval of ours.
    pub open: usize,
    pub readings: usize,
    /// In words: in how many it holds, and in which.
    pub verdict: String,
    #[serde(skip)]
    pub rows: Vec<&'r Comparison>,
}

/// The claims among `rows`, in their order: rows of one text in one place are readings of one claim.
pub fn claims(rows: &[Comparison]) -> Vec<Claim<'_>> {
    let mut claims: Vec<Claim<'_>> = Vec::new();
    for row in rows.iter().filter(|row| row.verdict.is_of_claim()) {
        let known = |own: &&mut Claim<'_>| own.source == row.figure && own.claim == row.quantity;
        match claims.iter_mut().find(known) {
            Some(own) => own.rows.push(row),
            None => claims.push(Claim {
                source: &row.figure,
                claim: &row.quantity,
                holds: 0,
                open: 0,
                readings: 0,
                verdict: String::new(),
                rows: vec![row],
            }),
        }
    }
    for claim in &mut claims {
        let count = |verdict| claim.rows.iter().filter(|r| r.verdict == verdict).count();
        let (holds, open) = (count(Verdict::Holds), count(Verdict::Open));
        (claim.holds, claim.open, claim.readings) = (holds, open, claim.rows.len());
        claim.verdict = claim.verdict();
    }
    claims
}

impl Claim<'_> {
    fn verdict(&self) -> String {
        let open = match (self.open, self.readings) {
            (0, _) => String::new(),
            (1, 1) => return "open: the bound is within the interval of ours".to_owned(),
            (open, _) => format!(", {open} open"),
        };
        match (self.holds, self.readings) {
            (1, 1) => "holds".to_owned(),
            (0, 1) => "does not hold".to_owned(),
            (holds, all) if holds == all => format!("holds in all {all} readings"),
            (0, all) => format!("holds in none of {all} readings{open}"),
            (holds, all) => match self.condition() {
                Some(condition) => {
                    format!("holds only if {condition}: in {holds} of {all} readings{open}")
                }
                None => format!("holds in {holds} of {all} readings{open}"),
            },
        }
    }

    /// The values of one name with which it holds in every reading, and with none of the others in any.
    fn condition(&self) -> Option<String> {
        let values = |name: &str, holds: bool| {
            let own = |row: &&&Comparison| (row.verdict == Verdict::Holds) == holds;
            let values = self
                .rows
                .iter()
                .filter(own)
                .map(|row| row.reading.get(name));
            values.collect::<Option<BTreeSet<&String>>>()
        };
        for name in self.rows.first()?.reading.keys() {
            let (Some(with), Some(without)) = (values(name, true), values(name, false)) else {
                continue;
            };
            if with.is_disjoint(&without) {
                let with: Vec<&str> = with.into_iter().map(String::as_str).collect();
                return Some(format!("{name}={}", with.join(",")));
            }
        }
        None
    }

    /// The claim, its verdict, our value and the bound, and the reason.
    pub fn sentence(&self) -> String {
        let ours = self.rows.iter().map(|row| row.simulated);
        let least = ours.clone().fold(f64::INFINITY, f64::min);
        let most = ours.fold(f64::NEG_INFINITY, f64::max);
        let shown = cells::significant;
        let range = if shown(least) == shown(most) {
            shown(least)
        } else {
            format!("{} to {}", shown(least), shown(most))
        };
        let first = self.rows[0];
        let unit = match first.unit.as_str() {
            "1" => String::new(),
            unit => format!(" {unit}"),
        };
        let mut said: Vec<&str> = Vec::new();
        for row in &self.rows {
            for text in [row.note.as_str(), row.reason.as_str()] {
                if !text.is_empty() && !said.contains(&text) {
                    said.push(text);
                }
            }
        }
        let said = said.iter().map(|text| format!(" {text}."));
        format!(
            "{} ({}): {}. Ours: {range}{unit}, for {}.{}",
            self.claim,
            self.source,
            self.verdict,
            cells::bound(first),
            said.collect::<String>()
        )
    }
}
