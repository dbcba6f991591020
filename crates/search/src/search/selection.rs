use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, PoisonError};

use super::by_price::Corner;
use super::other_jobs::{OtherJobs, OtherRun};
use super::value_of_information::ValueOfInformation;
use super::{
    BuildResult, Depends, Forecast, Objective, Prices, Strategy, Task, average_best, ready, trials,
};
use crate::testbed::{Extent, Observation, SearchCost, Stop, Target, Testbed};
use scavsim_base::rng::Stream;
use scavsim_base::stats::Welford;
use scavsim_base::units::SECONDS_PER_HOUR;

/// A way to search that draws nothing at random.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchRule {
    /// From an end of the list of prices, the best of so many runs; 0 without a look.
    ByPrice(Corner, usize),
    AverageBest,
    /// While a run is worth its price, with what is believed of any job.
    ValueOfInformation,
    /// While a run is worth its price, with what other jobs tell.
    ValueOfInformationPooled,
}

/// Standard errors by which the logarithm of a rule's totals has to be below the first's: about 95 % of chance.
const SURE: f64 = 2.0;

/// Other jobs on which rules are tried, from all over the list: more would tell it more surely, and take longer.
const TRIED: usize = 16;

/// Fewest programs that tell rules apart: one alone has no standard error.
const LEAST_PROGRAMS: usize = 2;

/// The rules without beliefs.
pub(super) const SIMPLE: &[SearchRule] = &[
    SearchRule::AverageBest,
    SearchRule::ByPrice(Corner::Cheapest, 0),
    SearchRule::ByPrice(Corner::Dearest, 0),
    SearchRule::ByPrice(Corner::Cheapest, 3),
    SearchRule::ByPrice(Corner::Dearest, 3),
];

impl SearchRule {
    fn search(
        self,
        others: &OtherJobs,
        task: &Task<'_>,
        testbed: &mut dyn Testbed,
        stream: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        match self {
            SearchRule::ByPrice(corner, runs) => corner.search(runs, task, testbed, forecast),
            SearchRule::AverageBest => average_best::pick(others, task, forecast),
            SearchRule::ValueOfInformation => {
                ValueOfInformation::default().search(task, testbed, stream, forecast)
            }
            SearchRule::ValueOfInformationPooled => {
                ValueOfInformation::pooled(others.clone()).search(task, testbed, stream, forecast)
            }
        }
    }
}

/// Objective, runs, and bits of the prices per hour: what a selection depends on.
type SelectionKey = (Option<Objective>, u64, Vec<u64>);

/// A search by the one of some rules that came to the least on earlier jobs.
pub(super) struct Selection {
    rules: Vec<SearchRule>,
    others: OtherJobs,
    pooled: ValueOfInformation,
    plain: ValueOfInformation,
    known: Mutex<HashMap<SelectionKey, SearchRule>>,
}

impl Selection {
    pub(super) fn ready(rules: Vec<SearchRule>, others: OtherJobs) -> BuildResult {
        let own = Selection {
            rules,
            plain: ValueOfInformation::default(),
            pooled: ValueOfInformation::pooled(others.clone()),
            others,
            known: Mutex::default(),
        };
        ready(
            Depends::BOTH,
            move |task, testbed, stream, forecast| match own.selected(task) {
                SearchRule::ValueOfInformation => own.plain.search(task, testbed, stream, forecast),
                SearchRule::ValueOfInformationPooled => {
                    own.pooled.search(task, testbed, stream, forecast)
                }
                rule => rule.search(&own.others, task, testbed, stream, forecast),
            },
        )
    }

    /// The rule of the least geometric mean of totals over earlier programs; the first where others may be better by chance. With too
    /// few programs to try rules on, their runs shape beliefs.
    fn selected(&self, task: &Task<'_>) -> SearchRule {
        let hour = |at: usize| task.prices?.usd_per_hour(at);
        let prices = (0..task.space.len()).map(|at| hour(at).unwrap_or(-1.0).to_bits());
        let key = (task.objective, task.repeats, prices.collect());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match known.entry(key) {
            Entry::Occupied(before) => *before.get(),
            Entry::Vacant(place) => *place.insert(self.select(task)),
        }
    }

    fn select(&self, task: &Task<'_>) -> SearchRule {
        if task.objective == Some(Objective::Knee) {
            // What a search spends is no product of time and cost, so that totals cannot be told.
            return self.rules[0];
        }
        let tried = self.others.some_jobs(TRIED);
        let totals = |rule| {
            let of_job = |place: usize, _: &_| {
                let is_tried = tried.contains(&place);
                is_tried.then(|| self.total(place, rule, task)).flatten()
            };
            self.others.means(of_job)
        };
        let first = totals(self.rules[0]);
        if first.len() < LEAST_PROGRAMS {
            let pooled = SearchRule::ValueOfInformationPooled;
            let pools = self.rules.contains(&pooled);
            return if pools { pooled } else { self.rules[0] };
        }
        let mut best = (self.rules[0], 0.0);
        for &rule in &self.rules[1..] {
            // As ratios: one job that goes badly does not outweigh all others.
            let mut less = Welford::default();
            for (before, total) in first.iter().zip(totals(rule)) {
                less.add(libm::log(before / total));
            }
            let error = less.standard_deviation() / (less.count() as f64).sqrt();
            let is_sure = less.count() >= LEAST_PROGRAMS as u64 && less.mean() > SURE * error;
            if is_sure && less.mean() > best.1 {
                best = (rule, less.mean());
            }
        }
        best.0
    }

    /// What all runs of an earlier job come to by a rule that knows other programs, over its best; `None` without one, or where too
    /// little of the job is known: the best of few runs, which searches picked, says nothing of rules.
    fn total(&self, place: usize, rule: SearchRule, task: &Task<'_>) -> Option<f64> {
        let job = &self.others.jobs[place];
        let kept: Vec<usize> = (0..task.space.len())
            .filter(|&at| job.runs[at].is_some())
            .collect();
        if 2 * kept.len() < task.space.len() {
            return None;
        }
        let others = self.others.without(&job.program, &kept);
        let space = task.space.only(&kept);
        let prices = Some(SubsetPrices {
            all: task.prices?,
            kept: &kept,
        });
        let machines: Vec<_> = kept.iter().map(|&at| task.machine(at)).collect();
        let told = Task {
            space: &space,
            machines: &machines,
            prices: prices.as_ref().map(|prices| prices as &dyn Prices),
            ..*task
        };
        let value = |at: usize, seconds: f64| {
            trials::value(told.objective, &trials::point(&told, at, seconds))
        };
        let runs: Vec<OtherRun> = kept.iter().filter_map(|&at| job.runs[at]).collect();
        let values =
            (runs.iter().enumerate()).filter_map(|(at, run)| Some(value(at, run.time_s()?)));
        let (least, most) = values.fold((f64::INFINITY, 0.0_f64), |(least, most), value| {
            (least.min(value), most.max(value))
        });
        if !(least > 0.0 && least.is_finite() && most.is_finite()) {
            return None;
        }
        let mut replay = Replay {
            runs: &runs,
            prices: told.prices,
            spent: SearchCost::new(0.0, Some(0.0)),
            completed: 0,
        };
        let mut forecast = Forecast::default();
        forecast.reset(space.len());
        // Nothing is drawn from it.
        let mut stream = Stream::seeded(0);
        let ended = rule.search(&others, &told, &mut replay, &mut stream, &mut forecast);
        let repeats = task.repeats.max(1);
        let mut choices: Vec<usize> = match ended {
            Ok(()) => forecast
                .decided
                .into_iter()
                .chain(forecast.instead)
                .collect(),
            Err(_) => Vec::new(),
        };
        choices.retain(|&at| at < runs.len());
        let mut chosen = None;
        for at in choices {
            if let Some(time_s) = runs[at].time_s() {
                chosen = Some(value(at, time_s));
                break;
            }
            // A choice that fails is one more trial.
            let _ = replay.probe(at, Extent::ToTarget);
        }
        let spent = match told.objective {
            Some(Objective::Cost) => replay.spent.usd.unwrap_or(0.0),
            _ => replay.spent.seconds,
        };
        let to_come = match chosen {
            Some(value) => repeats.saturating_sub(replay.completed) as f64 * value,
            None => repeats as f64 * most,
        };
        Some((spent + to_come) / (repeats as f64 * least))
    }
}

struct SubsetPrices<'a> {
    all: &'a dyn Prices,
    kept: &'a [usize],
}

impl Prices for SubsetPrices<'_> {
    fn run_usd(&self, configuration: usize, seconds: f64) -> Option<f64> {
        self.all.run_usd(*self.kept.get(configuration)?, seconds)
    }
}

/// An earlier job, run again as it went, at the prices of now.
struct Replay<'a> {
    runs: &'a [OtherRun],
    prices: Option<&'a dyn Prices>,
    spent: SearchCost,
    completed: u64,
}

impl Testbed for Replay<'_> {
    fn cold_start(&mut self, _: usize, _: u64) -> Result<(), Stop> {
        Ok(())
    }

    fn probe(&mut self, configuration: usize, extent: Extent) -> Result<Observation, Stop> {
        let (OtherRun::Reached(whole_s) | OtherRun::Failed(whole_s)) = self.runs[configuration];
        let usd = |seconds: f64| self.prices.and_then(|p| p.run_usd(configuration, seconds));
        let most_s = match extent {
            Extent::ToTarget => f64::INFINITY,
            Extent::ToTargetInSeconds(seconds) => seconds,
            Extent::ToTargetForUsd(most) => match usd(SECONDS_PER_HOUR) {
                Some(hour) if hour > 0.0 => most / hour * SECONDS_PER_HOUR,
                _ => f64::INFINITY,
            },
            _ => {
                let why = "of an earlier job only whole runs are known";
                return Err(Stop::Failed(why.to_owned()));
            }
        };
        let took_s = whole_s.min(most_s);
        let paid = usd(took_s).unwrap_or(0.0);
        self.spent.seconds += took_s;
        self.spent.usd = self.spent.usd.map(|usd| usd + paid);
        let target = match self.runs[configuration] {
            _ if took_s < whole_s => Target::MoreThan(took_s),
            OtherRun::Reached(time_s) => {
                self.completed += 1;
                Target::Reached(time_s)
            }
            OtherRun::Failed(time_s) => Target::Failed(time_s),
        };
        Ok(Observation {
            target,
            ..Observation::default()
        })
    }

    fn spent(&mut self) -> SearchCost {
        self.spent
    }
}
