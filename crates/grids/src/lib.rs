//! A measured grid: real runs of jobs over configurations, replayed as they were. From a CSV with a row per run and a
//! specification in TOML to a [`Grid`] of [`Job`]s, each with its [`Space`], its [`Run`]s and what any number of seconds of
//! them costs. Combinations that nobody ran are holes: no configuration stands for them, so nothing can pick one.

mod axes;
mod cheap;
mod check;
pub mod expression;
mod follows;
mod jobs;
pub mod library;
pub mod load;
mod meaning;
pub mod measured_grid;
pub mod report;
mod rows;
mod scope;
mod spec;
pub mod subject;
pub mod types;
mod written_grid;

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;

use expression::{Expression, Line};
use scavsim_data::cloud::OwnVm;
use scavsim_data::space::Space;
use scavsim_read::input::checked::Fraction;
use scavsim_search::search::{Goal, WorkloadFacts};

pub use cheap::CheapRuns;
pub use measured_grid::MeasuredGrid;

pub const SPEC: &str = "grid.toml";
pub const ROWS: &str = "rows.csv";

/// Steps of a probe, where the strategy's settings do not say.
const PROBE_STEPS: u64 = 50;

#[derive(Debug, Clone)]
pub struct Grid {
    pub name: String,
    pub about: About,
    pub probe: ProbeCharge,
    pub jobs: Vec<Job>,
    /// Places in `jobs` of those to take where nobody names one.
    pub default_jobs: Vec<usize>,
    pub types: Vec<StatedType>,
}

/// What is said of a VM type, as far as it is; the catalogue says the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct StatedType {
    pub vm: Arc<str>,
    pub vcpu: Option<f64>,
    pub memory_gib: Option<f64>,
    pub gpus: Option<u32>,
}

impl StatedType {
    pub fn own(&self) -> OwnVm<'_> {
        OwnVm {
            table: &self.vm,
            like: &self.vm,
            vcpu: self.vcpu,
            memory_gib: self.memory_gib,
            gpus: self.gpus,
            usd_per_hour: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// What was measured.
    pub title: String,
    /// Who measured it.
    pub source: String,
    /// Address, with the commit where there is one.
    pub url: String,
    pub licence: String,
    pub note: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProbeCharge {
    pub charge: Charge,
    /// Whether a budget may end a run early.
    pub cut_off: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Charge {
    Whole,
    /// The steps of the probe at the run's step time.
    Steps,
    /// This part of its time.
    Share(Fraction),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    Reached,
    Unreached,
    /// The run broke, or was stopped.
    Failed,
}

/// One real run of a configuration. What the table does not know is `None`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    pub outcome: Outcome,
    /// Seconds until then.
    pub time_s: f64,
    /// What its target is about, such as an accuracy.
    pub quality: Option<f64>,
    pub steps: Option<f64>,
    pub epochs: Option<f64>,
    /// Samples in one pass over the data, D.
    pub samples_per_epoch: Option<f64>,
    pub step_s: Option<f64>,
    pub step_from: StepFrom,
    /// Seconds of the run for compute and waiting at the barrier.
    pub compute_s: Option<f64>,
    /// Seconds of the run for exposed communication.
    pub communication_s: Option<f64>,
    /// Normalised SGD noise γ/K.
    pub noise_normalised: Option<f64>,
    /// Which of its figures were derived from other runs.
    pub derived: DerivedMetrics,
}

/// What tells the seconds of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StepFrom {
    /// Steps that were timed by themselves, or their parts.
    #[default]
    Itself,
    /// The whole run over its steps: with all else that it took.
    WholeRun,
}

impl Run {
    pub fn time_to_target_s(&self) -> Option<f64> {
        (self.outcome == Outcome::Reached).then_some(self.time_s)
    }
}

/// Figures that were not measured in this run but derived from others: whoever fits a model leaves them out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DerivedMetrics {
    pub epochs: bool,
    pub noise_normalised: bool,
}

/// One job: the configurations on which it was run.
#[derive(Debug, Clone)]
pub struct Job {
    pub name: String,
    /// The program that it runs, where the grid names it: jobs of one program on other inputs are no independent ones.
    pub program: Option<String>,
    pub goal: Option<Goal>,
    /// The configurations that were run, in the order of the table.
    pub space: Space,
    /// Cheap versions of the runs, from the cheapest share.
    pub cheap: Vec<CheapRuns>,
    /// Whether these are points on the way of the runs themselves.
    pub is_curve: bool,
    runs: Vec<Run>,
    /// Where the runs of each configuration begin, and at last where they end.
    first: Vec<usize>,
    /// Per run; empty without a rule.
    bills: Vec<Bill>,
    rule: Option<Arc<Rule>>,
    /// VMs per configuration; empty where nothing says how many.
    vms: Vec<u32>,
    /// Configuration of each row of values, as bits.
    places: HashMap<Vec<u64>, usize>,
}

#[derive(Debug, Clone, PartialEq)]
enum Bill {
    Linear {
        at_start: f64,
        per_s: f64,
    },
    /// The rule's values for its names.
    Bent(Vec<Line>),
}

#[derive(Debug, Clone)]
struct Rule {
    expression: Expression,
    /// Which of its values are the time.
    is_time: Vec<bool>,
    /// Whether it needs nothing that only the run tells.
    is_known_beforehand: bool,
}

impl Rule {
    fn usd(&self, values: &[Line], seconds: f64) -> f64 {
        let mut given = [Line::default(); expression::MOST_NAMES];
        for (slot, (value, is_time)) in given.iter_mut().zip(values.iter().zip(&self.is_time)) {
            *slot = if *is_time {
                Line::constant(seconds)
            } else {
                *value
            };
        }
        // Checked at the start, the middle and the end of each run.
        self.expression.eval(&given[..values.len()]).at.max(0.0)
    }
}

impl Job {
    #[inline]
    pub fn runs(&self, configuration: usize) -> &[Run] {
        &self.runs[self.first[configuration]..self.first[configuration + 1]]
    }

    /// The quality of a run after so many seconds, where points on its way are known.
    pub fn quality_after(&self, configuration: usize, repeat: usize, seconds: f64) -> Option<f64> {
        let points = self.cheap.iter().filter(|_| self.is_curve).rev();
        let mut points = points.filter_map(|cheap| {
            let at = cheap.place(configuration)?;
            cheap.job.runs(at).get(repeat)
        });
        points.find(|run| run.time_s <= seconds)?.quality
    }

    /// How many runs it has, cheap ones too.
    pub fn count_runs(&self) -> usize {
        let cheap = self.cheap.iter().map(|cheap| cheap.job.runs.len());
        self.runs.len() + cheap.sum::<usize>()
    }

    pub fn all_runs(&self) -> impl Iterator<Item = (usize, usize, &Run)> {
        (0..self.space.len()).flat_map(|configuration| {
            let runs = self.runs(configuration).iter().enumerate();
            runs.map(move |(repeat, run)| (configuration, repeat, run))
        })
    }

    /// What is known of it before a search: samples in an epoch where all its runs have the same.
    pub fn workload_facts(&self) -> WorkloadFacts {
        let mut samples = self.all_runs().map(|(_, _, run)| run.samples_per_epoch);
        let first = samples.next().flatten();
        WorkloadFacts {
            samples_per_epoch: first.filter(|_| samples.all(|other| other == first)),
            shows_noise: self
                .all_runs()
                .any(|(_, _, run)| run.noise_normalised.is_some()),
            probe_steps: PROBE_STEPS,
            ..WorkloadFacts::default()
        }
    }

    /// USD for `seconds` of a run by the grid's own rule, `None` where it has none. A rule without
    /// the time is the bill of the whole run, of which `seconds` cost their share.
    #[inline]
    pub fn cost_usd(&self, configuration: usize, repeat: usize, seconds: f64) -> Option<f64> {
        Some(match self.bills.get(self.first[configuration] + repeat)? {
            Bill::Linear { at_start, per_s } => at_start + per_s * seconds,
            Bill::Bent(values) => self.rule.as_ref()?.usd(values, seconds),
        })
    }

    pub fn has_cost(&self) -> bool {
        self.rule.is_some()
    }

    /// Whether the rule of costs needs nothing that only the run tells: axes, constants and the time.
    pub fn is_price_known_beforehand(&self) -> bool {
        (self.rule.as_ref()).is_some_and(|rule| rule.is_known_beforehand)
    }

    /// USD at the start and for each second, where they are known beforehand and the rule is linear in the time.
    pub fn price(&self, configuration: usize) -> Option<(f64, f64)> {
        match self.bills.get(self.first[configuration])? {
            Bill::Linear { at_start, per_s } if self.is_price_known_beforehand() => {
                Some((*at_start, *per_s))
            }
            _ => None,
        }
    }

    /// VM shape and number of VMs that a configuration holds, where the grid says so.
    pub fn vms_of(&self, configuration: usize) -> Option<(&Arc<str>, u32)> {
        let vms = self.vms.get(configuration)?;
        Some((self.space.vm(configuration)?, *vms))
    }

    /// The configuration with these values on the axes; `None` for a hole.
    pub fn find(&self, values: &[f64]) -> Option<usize> {
        self.places.get(&bits(values)).copied()
    }

    /// BLAKE3 hash of its configurations and what was measured on them.
    pub fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (at, repeat, run) in self.all_runs() {
            let usd = self.cost_usd(at, repeat, run.time_s);
            hasher.update(format!("{} {run:?} {usd:?}\n", self.space.name(at)).as_bytes());
        }
        for cheap in &self.cheap {
            hasher.update(format!("{} {}\n", cheap.share, cheap.job.hash()).as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    #[must_use]
    pub fn only(&self, kept: &[usize]) -> Job {
        let (mut runs, mut bills, mut first) = (Vec::new(), Vec::new(), vec![0]);
        for &at in kept {
            let range = self.first[at]..self.first[at + 1];
            runs.extend_from_slice(&self.runs[range.clone()]);
            bills.extend_from_slice(self.bills.get(range).unwrap_or(&[]));
            first.push(runs.len());
        }
        let space = self.space.only(kept);
        let places = (0..space.len())
            .map(|at| (bits(space.row(at)), at))
            .collect();
        let mut job = Job {
            name: self.name.clone(),
            program: self.program.clone(),
            goal: self.goal,
            cheap: Vec::new(),
            is_curve: self.is_curve,
            runs,
            first,
            bills,
            rule: self.rule.clone(),
            vms: kept
                .iter()
                .filter_map(|&at| self.vms.get(at).copied())
                .collect(),
            places,
            space,
        };
        job.cheap = (self.cheap.iter())
            .filter_map(|cheap| CheapRuns::among(cheap.share, cheap.job.clone(), &job))
            .collect();
        job
    }

    /// How many combinations of the values that were run on each axis were not run.
    pub fn holes(&self) -> u64 {
        let space = &self.space;
        let distinct = |axis: usize| {
            let mut values: Vec<u64> = (0..space.len())
                .map(|configuration| bits(&[space.value(configuration, axis)])[0])
                .collect();
            values.sort_unstable();
            values.dedup();
            values.len() as u64
        };
        let all = (0..space.axes().len())
            .map(distinct)
            .fold(1, u64::saturating_mul);
        all.saturating_sub(space.len() as u64)
    }
}

/// A key for values; 0 and -0 are the same.
fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| (value + 0.0).to_bits()).collect()
}
