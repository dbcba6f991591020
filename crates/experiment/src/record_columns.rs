//! Which columns a file of records has: those that its scenario can fill, and behind them the axes that it sweeps.

use std::borrow::Cow;

use super::record::COLUMNS;
use super::record_axes::AXIS;
use super::scenario::Scenario;
use super::swept_axes::SweptAxes;
use scavsim_search::search::Objective;

/// Columns of records. They follow from the scenario alone, never from rows: all shards have the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordColumns {
    /// Whether a file has the column, for each of [`COLUMNS`].
    is_there: Vec<bool>,
    axes: Vec<String>,
}

impl Default for RecordColumns {
    /// All columns, and no axis.
    fn default() -> RecordColumns {
        RecordColumns {
            is_there: vec![true; COLUMNS.len()],
            axes: Vec::new(),
        }
    }
}

impl RecordColumns {
    /// All columns, with the axes of a scenario.
    pub fn all(scenario: &Scenario) -> RecordColumns {
        RecordColumns {
            axes: SweptAxes::of_scenario(scenario).names().to_vec(),
            ..RecordColumns::default()
        }
    }

    /// Columns that cases of a scenario may fill, with its axes.
    pub fn of_scenario(scenario: &Scenario) -> RecordColumns {
        let filled = Filled::of_scenario(scenario);
        RecordColumns {
            is_there: COLUMNS
                .iter()
                .map(|own| filled.may_have(own.name))
                .collect(),
            ..RecordColumns::all(scenario)
        }
    }

    /// All columns, with the axes of these behind them.
    #[must_use]
    pub fn with_all(&self) -> RecordColumns {
        RecordColumns {
            axes: self.axes.clone(),
            ..RecordColumns::default()
        }
    }

    /// The columns that a file names, in its order; `None` where no run writes these.
    pub fn from_names<'n>(names: impl Iterator<Item = &'n str>) -> Option<RecordColumns> {
        let mut names = names.peekable();
        let is_there = (COLUMNS.iter())
            .map(|column| names.next_if_eq(&column.name).is_some())
            .collect();
        let axes = names.map(|name| Some(name.strip_prefix(AXIS)?.to_owned()));
        let axes = axes.collect::<Option<_>>()?;
        Some(RecordColumns { is_there, axes })
    }

    /// Names as they stand in a file.
    pub fn names(&self) -> impl Iterator<Item = Cow<'static, str>> {
        let own = COLUMNS.iter().zip(&self.is_there);
        let own = own.filter_map(|(column, is_there)| is_there.then_some(column.name));
        let axes = self.axes.iter().map(|axis| format!("{AXIS}{axis}").into());
        own.map(Cow::Borrowed).chain(axes)
    }

    /// Names of the axes, without what their columns have before them.
    pub fn axes(&self) -> &[String] {
        &self.axes
    }

    /// Places in [`COLUMNS`] of those that a file has not.
    pub fn left_out(&self) -> Vec<usize> {
        (0..COLUMNS.len()).filter(|&at| !self.has(at)).collect()
    }

    /// Whether it has the column in this place of [`COLUMNS`].
    #[inline]
    pub fn has(&self, at: usize) -> bool {
        self.is_there[at]
    }
}

/// Columns that only the life of a job under a policy fills, from the first to the last.
const OF_LIVES: [&str; 2] = ["start", "exact"];
/// Other columns of such a life.
const ALSO_OF_LIVES: [&str; 18] = [
    "case",
    "workload",
    "pricing",
    "objective",
    "strategy",
    "replica",
    "setting",
    "time_h",
    "cost_usd",
    "oracle_time_h",
    "oracle_cost_usd",
    "kept_net",
    "overhead_net_cost",
    "bill_charges_usd",
    "bill_egress_usd",
    "lost_vms",
    "status",
    "reason",
];

/// What decides which columns may have a value.
struct Filled {
    has_lives: bool,
    has_limits: bool,
    has_repeats: bool,
    has_knee: bool,
    never: &'static [&'static str],
}

impl Filled {
    fn of_scenario(scenario: &Scenario) -> Filled {
        Filled {
            has_lives: scenario.subject.lives().is_some(),
            has_limits: scenario.limits.are_any(),
            has_repeats: scenario.runs_in.iter().any(|own| own.repeats.is_some()),
            has_knee: scenario.objectives.contains(&Objective::Knee),
            never: scenario.subject.never_filled(),
        }
    }

    fn may_have(&self, name: &str) -> bool {
        let place = |name: &str| COLUMNS.iter().position(|column| column.name == name);
        let [first, last] = OF_LIVES.map(place);
        let is_of_lives = (first..=last).contains(&place(name));
        if self.has_lives != is_of_lives && !(self.has_lives && ALSO_OF_LIVES.contains(&name)) {
            return false;
        }
        match name {
            _ if self.has_lives => true,
            "knee_depth" | "rival_knee_depth" => self.has_knee,
            "repeats" | "runs_in_search" => self.has_repeats,
            _ if name.starts_with("repeated_") => self.has_repeats,
            _ if name.starts_with("kept_") || name.starts_with("excess_") => self.has_limits,
            _ => !self.never.contains(&name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_back_by_their_names() {
        let mut some = RecordColumns::default();
        some.is_there[3] = false;
        some.axes = vec!["compute_scale".to_owned()];
        let names: Vec<String> = some.names().map(Cow::into_owned).collect();
        assert_eq!(names.len(), COLUMNS.len());
        assert_eq!(names.last().map(String::as_str), Some("axis.compute_scale"));
        let back = RecordColumns::from_names(names.iter().map(String::as_str));
        assert_eq!(back.as_ref(), Some(&some));
        let turned = names.iter().rev().map(String::as_str);
        assert_eq!(RecordColumns::from_names(turned), None);
    }

    #[test]
    fn whatever_is_named_is_a_column() {
        let named = ALSO_OF_LIVES.iter().chain(&OF_LIVES);
        for name in named {
            assert!(COLUMNS.iter().any(|column| column.name == *name), "{name}");
        }
    }
}
