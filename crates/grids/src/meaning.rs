//! What the parts of a specification come to.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::expression::Expression;
use scavsim_search::search::Goal;

/// Name of the time in the rule of costs.
pub(super) const TIME: &str = "time_s";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The value on the axis at this place.
    Axis(usize),
    /// The number in the column.
    Column(String),
    /// What the lookup at this place says of the row.
    Lookup(usize),
    Time,
}

/// An expression all of whose names stand for something.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    pub expression: Expression,
    pub meanings: Vec<Meaning>,
}

impl Bound {
    /// The column that it is, if it is nothing else.
    pub fn as_column(&self) -> Option<&str> {
        match &self.meanings[..] {
            [Meaning::Column(column)] if self.expression.is_name() => Some(column),
            _ => None,
        }
    }

    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.meanings.iter().filter_map(|meaning| match meaning {
            Meaning::Column(column) => Some(column.as_str()),
            _ => None,
        })
    }
}

pub(super) struct Cost {
    pub bound: Bound,
    /// Places of the names of which rows alone can say whether they are known before a run.
    pub doubtful: Vec<usize>,
    pub span: Range<usize>,
}

impl Cost {
    /// Whether the time is in it. Else it is the bill of the whole run, which is no price before the run's length is known.
    pub fn is_timed(&self) -> bool {
        self.bound.meanings.contains(&Meaning::Time)
    }
}

pub(super) struct AxisSpec {
    pub name: String,
    pub from: From,
    pub kind: KindSpec,
}

pub(super) enum From {
    Column(String),
    Formula(Bound),
}

pub(super) enum KindSpec {
    Categorical,
    Ordinal(Vec<Arc<str>>),
    Numeric { unit: Arc<str>, is_whole: bool },
}

/// A number for each text in a column.
pub(super) struct Lookup {
    pub name: String,
    pub by: String,
    pub values: BTreeMap<String, f64>,
}

pub(super) enum TargetRule {
    Completed,
    AtLeast(f64),
    AtMost(f64),
    Column(String),
}

impl TargetRule {
    /// What the quality has to come to, where that is the target.
    pub fn goal(&self) -> Option<Goal> {
        match self {
            TargetRule::AtLeast(least) => Some(Goal::AtLeast(*least)),
            TargetRule::AtMost(most) => Some(Goal::AtMost(*most)),
            TargetRule::Completed | TargetRule::Column(_) => None,
        }
    }
}

/// Which rows are cheap versions of runs.
pub(super) struct FidelitySpec {
    /// Column of how much of it each run had.
    pub column: String,
    /// What the whole run has.
    pub full: f64,
    pub is_of_jobs: bool,
    /// Whether its rows are points on the way of the whole run.
    pub is_curve: bool,
    pub span: Range<usize>,
}

pub(super) struct RunMetrics {
    pub time_s: Bound,
    pub quality: Option<Bound>,
    pub steps: Option<Bound>,
    pub epochs: Option<Bound>,
    pub samples_per_epoch: Option<Bound>,
    pub step_s: Option<Bound>,
    pub compute_s: Option<Bound>,
    pub communication_s: Option<Bound>,
    pub noise_normalised: Option<Bound>,
}

impl RunMetrics {
    pub fn all(&self) -> impl Iterator<Item = &Bound> {
        let others = [
            &self.quality,
            &self.steps,
            &self.epochs,
            &self.samples_per_epoch,
            &self.step_s,
            &self.compute_s,
            &self.communication_s,
            &self.noise_normalised,
        ];
        std::iter::once(&self.time_s).chain(others.into_iter().flatten())
    }
}
