//! Expected time and cost of configurations without a closed form: means over runs.
//!
//! Runs go on until the standard error is small enough. They use two sets of replicas that no case has: the oracle chooses on the
//! first, and configurations are valued on the second, so that no choice profits from its own luck. The first set also tells which
//! configurations keep limits on expectations. Where runs can be outlined (`job/sketch.rs`), few runs and many outlines replace
//! many runs. Without limits, few runs tell most configurations to be beaten; these are valued when a strategy chooses them.

use std::sync::{Mutex, PoisonError};

pub use super::beaten::Question;
use super::beaten::{SETTLED, beaten, unseen};
use super::effort::{Effort, HOPELESS, SCREENING_RUNS};
use super::estimate::Sample;
use scavsim_data::pricing::Tariff;
use scavsim_data::usage::Usage;
use scavsim_engine::{Interrupt, Parallelism};
use scavsim_search::search::{Limits, Point};
use scavsim_search::testbed::{Environment, JobTrial, Terms};
use scavsim_sim::training::Fidelity;

/// Outlines of a configuration: the first, and the most.
const OUTLINES: (u64, u64) = (1_000, 1_000_000);
/// Losses that a run without a result counts as.
const LOST_WITHOUT_RESULT: u64 = 20_000;

#[derive(Debug, Clone, PartialEq)]
pub struct Expectations {
    /// Time and cost per policy and configuration; rough where `precision` is `None`: those are valued when asked for.
    pub points: Vec<Vec<Point>>,
    /// Points from the other set of replicas, to choose by and to hold against the limits; `None` where formulas give both.
    pub to_choose: Option<Vec<Vec<Point>>>,
    /// Per configuration; `None` for those that few runs tell to be beaten. Empty where formulas give the points.
    pub precision: Vec<Option<Precision>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// Largest relative standard error of time and costs; at least what losses may add where no run met one.
    pub error: f64,
    pub runs: u64,
    /// Whether the error is above [`Effort::coarse`] because no more runs were allowed.
    pub is_cut_short: bool,
    /// Whether the most runs do not tell if it keeps to the limits.
    pub is_at_a_limit: bool,
}

/// Time and cost per policy of `configurations`, without search, through losses of VMs. A run that misses the target begins
/// again from scratch; those that reach it share its time and cost.
pub fn expect(
    hands: Parallelism,
    ground: &dyn Environment,
    configurations: usize,
    terms: &Terms,
    question: Question<'_>,
) -> Expectations {
    let most = |at: usize| most_runs(ground, at);
    let runners = Runners::new(hands, || {
        Runner::new(ground, terms, question.tariffs, question.effort)
    });
    let effort = question.effort;
    // Whether what nobody chooses need not be known well.
    let screens =
        question.allowed.is_none() && !(question.limits.are_any() || ground.runs_are_training());
    let outs = |samples: &[Sample]| beaten(samples, question, |at| ground.may_lose(at));
    // On the first set, until limits and choices are settled or all that may be chosen are known well.
    let runs = if screens { SCREENING_RUNS } else { u64::MAX };
    let mut first = hands.each(configurations, 1, |at| {
        runners.with(0, |runner| runner.first(at, runs.min(most(at))))
    });
    let is_out = outs(&first);
    hands.map(&mut first, |at, sample| {
        let more = effort.first_runs[0]
            .min(most(at))
            .saturating_sub(sample.runs());
        if screens && !is_out[at] {
            runners.with(0, |runner| runner.run(sample, at, more));
        }
    });
    let mut enough = effort.fine;
    let is_out = loop {
        let is_out = outs(&first);
        let open = is_out.iter().filter(|out| !**out).count();
        let grew = hands.map(&mut first, |at, sample| {
            let is_open =
                !is_out[at] && open > 1 && (enough == effort.fine || sample.has_outlines());
            let to_choose = is_open.then_some(enough).into_iter();
            // Whatever else there is to choose from.
            let wanted = to_choose.chain(open_at(sample, question)).reduce(f64::min);
            wanted.is_some_and(|wanted| {
                runners.with(0, |runner| runner.grow(sample, at, (wanted, most(at))))
            })
        });
        if grew.contains(&true) {
            continue;
        }
        if enough == effort.close() {
            break is_out;
        }
        enough = effort.close();
    };
    let second = hands.each(configurations, 1, |at| {
        let enough = if is_out[at] {
            effort.coarse
        } else {
            effort.fine
        };
        let is_valued = !is_out[at] || !screens;
        is_valued.then(|| runners.with(1, |runner| runner.valued(at, enough, most(at))))
    });
    let points = |samples: &mut dyn Iterator<Item = &Sample>| -> Vec<Vec<Point>> {
        let samples: Vec<&Sample> = samples.collect();
        let of = |policy: usize| samples.iter().map(|s| s.point(policy)).collect();
        (0..question.tariffs.len()).map(of).collect()
    };
    let valued =
        (second.iter().zip(&first)).map(|(second, first)| second.as_ref().unwrap_or(first));
    Expectations {
        points: points(&mut { valued }),
        to_choose: Some(points(&mut first.iter())),
        precision: (first.iter().zip(&second).enumerate())
            .map(|(at, (first, second))| {
                Some(Precision {
                    is_at_a_limit: open_at(first, question).is_some(),
                    ..precision(second.as_ref()?, effort.coarse, ground.may_lose(at))
                })
            })
            .collect(),
    }
}

/// Most runs of a configuration in each of the sets.
fn most_runs(ground: &dyn Environment, at: usize) -> u64 {
    (ground.most_expectation_runs(at) / 2).max(1)
}

/// Time and cost of a beaten configuration per policy.
pub(super) fn value(
    ground: &dyn Environment,
    at: usize,
    terms: &Terms,
    of: &[Tariff],
    effort: Effort,
) -> Vec<Point> {
    let mut runner = Runner::new(ground, terms, of, effort).valuing();
    let sample = runner.valued(at, effort.coarse, most_runs(ground, at));
    (0..of.len()).map(|policy| sample.point(policy)).collect()
}

fn precision(sample: &Sample, coarse: f64, may_lose: bool) -> Precision {
    let (error, runs) = (sample.error(), sample.runs());
    Precision {
        error: if may_lose && sample.losses() == 0 {
            error.max(unseen(runs))
        } else {
            error
        },
        runs,
        // Where no run comes to its end, that is known.
        is_cut_short: error > coarse && error.is_finite(),
        is_at_a_limit: false,
    }
}

/// The relative standard error at which it is settled (99 %) under every policy whether a configuration keeps to the limits;
/// `None` where it is.
fn open_at(sample: &Sample, question: Question<'_>) -> Option<f64> {
    if question.allowed.is_some() {
        return None;
    }
    let limits = question.limits;
    let distance = |of: usize, most: Option<f64>| {
        let (estimate, most) = (sample.estimate(of), most?);
        Some((estimate, estimate.value - most))
    };
    let of_policy = |policy: usize| {
        let held = [
            distance(0, limits.max_time_s),
            distance(policy + 1, limits.max_cost_usd),
        ];
        let held = || held.iter().flatten();
        // One limit that is certainly broken settles it.
        if held().any(|(estimate, beyond)| *beyond > SETTLED * estimate.error) {
            return None;
        }
        let open = held().filter(|(estimate, beyond)| beyond.abs() < SETTLED * estimate.error);
        let wanted = open.map(|(estimate, beyond)| beyond.abs() / (SETTLED * estimate.value.abs()));
        wanted.reduce(f64::min)
    };
    (0..question.tariffs.len())
        .filter_map(of_policy)
        .reduce(f64::min)
}

/// A runner per thread, made when first needed.
pub(super) struct Runners<'g, M> {
    each: Vec<Mutex<Option<Runner<'g>>>>,
    make: M,
}

impl<'g, M: Fn() -> Runner<'g>> Runners<'g, M> {
    pub(super) fn new(hands: Parallelism, make: M) -> Self {
        let none = || Mutex::new(None);
        let each = std::iter::repeat_with(none).take(hands.count()).collect();
        Runners { each, make }
    }

    /// Lets this thread's runner work on one of the two sets of replicas.
    pub(super) fn with<R>(&self, set: u64, work: impl FnOnce(&mut Runner<'g>) -> R) -> R {
        let thread = rayon::current_thread_index().unwrap_or(0) % self.each.len();
        // Nobody else asks for it, and a runner has no state that outlasts a run.
        let mut own = (self.each[thread].lock()).unwrap_or_else(PoisonError::into_inner);
        let runner = own.get_or_insert_with(&self.make);
        runner.set = set;
        work(runner)
    }
}

pub(super) struct Runner<'g> {
    site: Box<dyn JobTrial + 'g>,
    interrupt: Interrupt,
    tariffs: &'g [Tariff],
    effort: Effort,
    set: u64,
    usage: Usage,
    values: Vec<f64>,
    lost: u64,
}

impl<'g> Runner<'g> {
    /// Runs on the set that choices are made on.
    pub(super) fn new(
        ground: &'g dyn Environment,
        terms: &Terms,
        tariffs: &'g [Tariff],
        effort: Effort,
    ) -> Self {
        let mut site = ground.open(&Terms {
            fidelity: Fidelity::Fast,
            ..terms.clone()
        });
        // From now on lives are noted, for outlines.
        let _ = site.sketch_again(0);
        Runner {
            site,
            interrupt: terms.interrupt.clone(),
            tariffs,
            effort,
            set: 0,
            usage: Usage::default(),
            values: Vec::new(),
            lost: 0,
        }
    }

    /// Moves to the set that configurations are valued on.
    pub(super) fn valuing(self) -> Self {
        Runner { set: 1, ..self }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.interrupt.is_raised()
    }

    /// A replica of the set that no case has: cases count from 0.
    fn replica(&self, number: u64) -> u64 {
        u64::MAX - (number * 2 + self.set)
    }

    fn first(&mut self, at: usize, most: u64) -> Sample {
        let mut sample = Sample::new(self.tariffs.len());
        self.run(
            &mut sample,
            at,
            self.effort.first_runs[self.set as usize].min(most),
        );
        sample
    }

    /// Runs until the error is at most `enough` or there are `most`.
    fn valued(&mut self, at: usize, enough: f64, most: u64) -> Sample {
        let mut sample = self.first(at, most);
        while self.grow(&mut sample, at, (enough, most)) {}
        sample
    }

    /// More runs or outlines, unless the error is at most `enough` or there are `most`; whether any were made.
    fn grow(&mut self, sample: &mut Sample, at: usize, (enough, most): (f64, u64)) -> bool {
        let error = sample.error();
        if self.interrupt.is_raised()
            || error <= enough
            || (sample.is_hopeless(HOPELESS) && error.is_infinite())
        {
            return false;
        }
        // An outline of a run with many checkpoints costs more than the run: they are made where many runs are missing.
        if !sample.is_outlined()
            && sample.all_reached()
            && error > 2.0 * enough
            && !self.is_barren(at)
        {
            let runs = sample.runs();
            *sample = Sample::new(self.tariffs.len());
            sample.outline_runs();
            self.run(sample, at, runs);
            return true;
        }
        let can_outline = sample.has_outlines() && sample.outlines() < OUTLINES.1;
        if can_outline && sample.is_short_of_outlines() {
            let more = needed(sample.outlines(), sample.outline_error() / enough * 1.5);
            let more = more.max(OUTLINES.0).min(OUTLINES.1 - sample.outlines());
            for _ in 0..more {
                let number = sample.outlines();
                // Outlines are of other replicas than runs.
                let replica = self.replica(number + u64::from(u32::MAX));
                if self.interrupt.is_raised() {
                    return false;
                }
                if let Some(sketched) = self.site.sketch(at, replica) {
                    sample.outline(&sketched);
                }
            }
            return true;
        }
        let more = needed(sample.runs(), error / enough).min(most.saturating_sub(sample.runs()));
        let runs = sample.runs();
        self.run(sample, at, more);
        sample.runs() > runs
    }

    fn is_barren(&mut self, at: usize) -> bool {
        (self.site.sketch(at, self.replica(u64::from(u32::MAX) - 1))).is_none()
    }

    fn run(&mut self, sample: &mut Sample, at: usize, runs: u64) {
        for _ in 0..runs {
            if self.effort.is_spent(sample.runs(), sample.losses())
                || sample.is_hopeless(HOPELESS)
                || self.interrupt.is_raised()
            {
                break;
            }
            let reached = self.once(at, sample.runs());
            let sketched = if sample.is_outlined() {
                self.site.sketch_again(at)
            } else {
                None
            };
            sample.count_losses(self.lost);
            sample.run(&self.values, reached, sketched.as_ref());
        }
    }

    /// One run by its number in the set; whether it reached the target.
    fn once(&mut self, at: usize, number: u64) -> bool {
        self.site.restart(self.replica(number));
        let (end, reached) = match self.site.run_to_target(at) {
            Ok(line) => {
                self.lost = u64::from(line.lost_vms);
                (line.net_end, true)
            }
            Err(why) => {
                self.lost = LOST_WITHOUT_RESULT;
                (why.ended_at(), false)
            }
        };
        self.site.usage_until(end, &mut self.usage);
        self.values.clear();
        self.values.push(end.seconds());
        let usd = self.tariffs.iter().map(|t| t.bill_usd(&self.usage));
        self.values.extend(usd);
        reached
    }

    /// One run as limits see it, with its losses: infinite time and costs where it misses the target.
    pub(super) fn run_values(&mut self, at: usize, number: u64) -> (RunValues<'_>, u64) {
        if !self.once(at, number) {
            self.values.fill(f64::INFINITY);
        }
        (RunValues(&self.values), self.lost)
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct RunValues<'r>(pub(super) &'r [f64]);

impl RunValues<'_> {
    pub(super) fn misses(self, limits: &Limits) -> impl Iterator<Item = bool> {
        let (time_s, costs) = (self.0[0], &self.0[1..]);
        costs
            .iter()
            .map(move |&cost_usd| !limits.allow(&Point { time_s, cost_usd }))
    }
}

/// How many more than `count` divide an error by `times`; at most twice as many at once.
fn needed(count: u64, times: f64) -> u64 {
    let wanted = count as f64 * (times * times - 1.0) * 1.1;
    (wanted.ceil().max(8.0) as u64).min(count.max(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_that_were_not_met_are_no_certainty() {
        let mut sample = Sample::new(1);
        for _ in 0..100 {
            sample.run(&[3600.0, 1.0], true, None);
        }
        assert_eq!(precision(&sample, 0.01, false).error, 0.0);
        assert_eq!(precision(&sample, 0.01, true).error, 0.03);
        assert!(!precision(&sample, 0.01, true).is_cut_short);
        sample.count_losses(1);
        assert_eq!(precision(&sample, 0.01, true).error, 0.0);
    }
}
