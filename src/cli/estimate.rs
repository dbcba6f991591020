//! Estimates the time and size of a run from a sample of its cases.

use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use scavsim_base::text::words::{rough_size, rough_time};
use scavsim_engine::Interrupt;
use scavsim_experiment::{self, Conduct, Evaluator, Plan, RunEnding, Summary, Tasks};
use scavsim_provision::subject::MarketPolicies;
use scavsim_scenario::{ClusterScenario as _, Scenario};

/// Simulations that are sampled, each with all its cases; fewer if they are slow.
const SAMPLE: u64 = 100;
/// After this time a sample is large enough.
const PATIENCE: Duration = Duration::from_secs(2);
/// Extra time for computations that do not check their interrupt.
const GRACE: Duration = Duration::from_secs(1);
/// A rehearsal of this length shows how fast a run is.
const REHEARSAL: Duration = Duration::from_millis(700);
/// After this time no further rehearsal begins.
const LAST_REHEARSAL: Duration = Duration::from_millis(1000);
/// Factor by which each rehearsal is longer than the one before.
const LONGER: u64 = 4;

/// Fewer simulations than this begin without an estimate.
const MANY: u64 = 1000;
/// A first glance covers at most one of this many simulations, and at most this time.
const GLANCE: u64 = 50;
const GLANCE_TIME: Duration = Duration::from_millis(200);

/// Policies with fewer decisions in total begin without an estimate.
const MANY_DECISIONS: f64 = 1e8;
/// Time for the shared computation of some configurations, if that of all is longer.
const PATIENCE_FOR_SOME: Duration = Duration::from_secs(4);
/// The share of configurations in this sample: one of this many.
const ONE_OF: usize = 16;

#[derive(Debug)]
pub struct Estimate {
    /// Estimated seconds, or a lower bound, if known.
    pub seconds: Option<f64>,
    pub bytes: Option<f64>,
    pub text: String,
}

struct Sample {
    /// Cases and simulations of the whole run.
    cases: u64,
    simulations: u64,
    /// Cases and simulations that were finished, their bytes and their time.
    tried: u64,
    finished: u64,
    bytes: u64,
    time: Duration,
    /// The time including one more simulation, which was cut off.
    cut: Option<Duration>,
    /// Search problems of the whole run, those made, and the time for that: all simulations on a search problem share it.
    arenas: u64,
    made: u64,
    making: Duration,
    /// Seconds of the whole run on its threads, estimated by running a part of it in the same way.
    rehearsed: Option<f64>,
}

/// Estimates a run of `scenario` on `jobs` threads, within a few seconds.
pub fn estimate_run(scenario: &Scenario, jobs: usize) -> anyhow::Result<Estimate> {
    let ours = scenario.clone();
    let found = within(PATIENCE, move |interrupt| sample(&ours, jobs, interrupt))?;
    let mut estimate = match found.transpose()?.flatten() {
        Some(sample) => sample.estimate(jobs),
        None => preparation(scenario, jobs)?,
    };
    if let Some(study) = MarketPolicies::study_of(&*scenario.subject) {
        let bytes = study.size().bytes * jobs as f64;
        estimate.text += &format!(", up to {} of memory", rough_size(bytes));
    }
    Ok(estimate)
}

/// Estimates a run in words; its strategies that are programs are removed, and not started.
pub fn without_programs(scenario: &mut Scenario, jobs: usize) -> anyhow::Result<String> {
    let all = scenario.strategies.len();
    scenario.leave_out_programs();
    Ok(match (scenario.strategies.len(), all) {
        (0, _) => "nobody knows how long its programs take; a dry run starts none".to_owned(),
        (some, all) if some == all => estimate_run(scenario, jobs)?.text,
        _ => format!(
            "without its programs: {}",
            estimate_run(scenario, jobs)?.text
        ),
    })
}

/// Bytes of free memory; `None` if the system does not report it.
pub fn free_memory() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let mut lines = text.lines();
    let free = lines.find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: f64 = free.trim().trim_end_matches("kB").trim_end().parse().ok()?;
    Some(1024.0 * kib)
}

/// Whether a run may exceed these limits: a rough estimate that is rather too high than too low. Short runs are skipped.
pub fn may_exceed(
    plan: &Plan,
    interrupt: &Interrupt,
    jobs: usize,
    share: f64,
    most: (f64, Option<u64>),
) -> anyhow::Result<bool> {
    let simulations = plan.cases() / plan.cases_per_simulation().max(1);
    // Simulations of a shard only.
    let simulations = (simulations as f64 * share) as u64;
    if let Some(study) = MarketPolicies::study_of(plan.subject()) {
        return Ok(share * study.size().decisions >= MANY_DECISIONS);
    }
    if simulations < MANY {
        return Ok(false);
    }
    let count = SAMPLE.min(simulations / GLANCE);
    let (sample, _) = tried(plan, interrupt, count, (GLANCE_TIME, Duration::ZERO))?;
    let estimate = sample.estimate(jobs);
    let is_long = estimate
        .seconds
        .is_some_and(|seconds| share * seconds > most.0);
    let bytes = estimate.bytes.zip(most.1);
    Ok(is_long || bytes.is_some_and(|(bytes, free)| share * bytes > free as f64))
}

/// The result of `work` within `patience`, plus a grace time to check its interrupt; `None` if that is too short.
fn within<R: Send + 'static>(
    patience: Duration,
    work: impl FnOnce(&Interrupt) -> R + Send + 'static,
) -> io::Result<Option<R>> {
    let interrupt = Interrupt::default();
    let (send, receive) = mpsc::channel();
    let theirs = interrupt.clone();
    // If it never ends, the program ends it at its exit.
    thread::Builder::new().spawn(move || send.send(work(&theirs)))?;
    let found = receive.recv_timeout(patience).or_else(|_| {
        interrupt.raise();
        receive.recv_timeout(GRACE)
    });
    Ok(found.ok())
}

/// The slowest step before the first case: expectations of all configurations, estimated from some of them.
fn preparation(scenario: &Scenario, jobs: usize) -> io::Result<Estimate> {
    let told = |seconds: f64, text: String| Estimate {
        seconds: Some(seconds),
        bytes: None,
        text,
    };
    let mut some = scenario.clone();
    let (mut all, mut tried) = (0, 0);
    for (_, configurations) in some.workloads_mut() {
        all += configurations.len();
        // Neighbours cost about equal time: the middle one of each group.
        let mut number = 0;
        configurations.retain(|_| {
            number += 1;
            number % ONE_OF == ONE_OF.div_ceil(2) % ONE_OF
        });
        tried += configurations.len();
    }
    if let Some(clusters) = some.clusters_mut() {
        (clusters.workloads).retain(|(_, some)| !some.is_empty());
    }
    let most = (PATIENCE + GRACE).as_secs();
    let unknown = told(
        most as f64,
        format!("more than {most} s: what its cases share was not computed by then"),
    );
    if tried == 0 {
        return Ok(unknown);
    }
    let begin = Instant::now();
    let made = within(PATIENCE_FOR_SOME, move |interrupt| {
        let plan = Plan::heeding(&some, interrupt);
        plan.is_ok() && !interrupt.is_raised()
    })?;
    let seconds = begin.elapsed().as_secs_f64() * all as f64 / tried as f64 / jobs as f64;
    Ok(match made {
        Some(true) => told(
            seconds,
            format!(
                "about {} on {jobs} threads for what its cases share, and then its cases",
                rough_time(seconds.max((PATIENCE + GRACE).as_secs_f64() / jobs as f64))
            ),
        ),
        // It needs some that were left out, or it was cut off.
        Some(false) if begin.elapsed() < PATIENCE_FOR_SOME => unknown,
        _ => told(
            seconds,
            format!(
                "more than {} on {jobs} threads for what its cases share, and then its cases",
                rough_time(seconds)
            ),
        ),
    })
}

impl Sample {
    fn estimate(&self, jobs: usize) -> Estimate {
        let of_arenas = match self.made {
            0 => 0.0,
            made => self.making.as_secs_f64() / made as f64 * self.arenas as f64,
        };
        let per_simulation = |time: Duration, count: u64| {
            let of_simulations = time.as_secs_f64() / count as f64 * self.simulations as f64;
            (of_simulations + of_arenas) / jobs as f64
        };
        // A simulation that was cut off gives a lower bound only.
        let least = (self.cut).map_or(0.0, |time| per_simulation(time, self.finished + 1));
        if self.finished == 0 {
            return Estimate {
                seconds: self.cut.map(|_| least),
                bytes: None,
                text: format!(
                    "more than {} on {jobs} threads, if all cases are like the first: it was not finished in {} s",
                    rough_time(least),
                    PATIENCE.as_secs()
                ),
            };
        }
        let seconds = per_simulation(self.time, self.finished);
        let (how, seconds) = match self.rehearsed {
            Some(seconds) => ("about", seconds),
            None if least > seconds => ("more than", least),
            None => ("about", seconds),
        };
        let bytes = self.bytes as f64 / self.tried as f64 * self.cases as f64;
        Estimate {
            seconds: Some(seconds),
            bytes: Some(bytes),
            text: format!(
                "{how} {} on {jobs} threads, {} of records.csv",
                rough_time(seconds),
                rough_size(bytes)
            ),
        }
    }
}

/// Runs some cases of `scenario`; `None` if not even their shared data are ready in time.
fn sample(
    scenario: &Scenario,
    jobs: usize,
    interrupt: &Interrupt,
) -> anyhow::Result<Option<Sample>> {
    let begin = Instant::now();
    let plan = Plan::heeding(scenario, interrupt);
    if interrupt.is_raised() {
        return Ok(None);
    }
    let mut plan = plan?;
    let making = begin.elapsed();
    let count = SAMPLE.min(plan.cases() / plan.cases_per_simulation().max(1));
    let (mut sample, is_cut) = tried(&plan, interrupt, count, (LAST_REHEARSAL, making))?;
    if !is_cut {
        let rehearsed = rehearse(&mut plan, jobs, begin)?;
        sample.rehearsed = rehearsed.map(|seconds| seconds + making.as_secs_f64() / jobs as f64);
    }
    Ok(Some(sample))
}

/// Runs up to `count` simulations of a plan, which took `making`, until `patience` is over. Returns whether it was interrupted.
fn tried(
    plan: &Plan,
    interrupt: &Interrupt,
    count: u64,
    (patience, making): (Duration, Duration),
) -> anyhow::Result<(Sample, bool)> {
    let mut evaluator = Evaluator::new(plan);
    let mut rows = csv::WriterBuilder::new()
        .has_headers(false)
        .from_writer(Bytes(0));
    let start = Instant::now();
    // Time spent on search problems since then.
    let mut pause = Duration::ZERO;
    let shared = plan.cases_per_simulation().max(1);
    let mut sample = Sample {
        cases: plan.cases(),
        simulations: plan.cases() / shared,
        tried: 0,
        finished: 0,
        bytes: 0,
        time: Duration::ZERO,
        cut: None,
        arenas: plan.arena_count() as u64,
        made: plan.made() as u64,
        making,
        rehearsed: None,
    };
    for index in 0..count {
        let first = golden_ratio_index(index, sample.simulations) * shared;
        let at = plan.case(first).arena;
        if !plan.is_made(at) {
            let begin = Instant::now();
            // Its cases report why there is none.
            let _ = plan.arena(at);
            sample.made += 1;
            sample.making += begin.elapsed();
            pause += begin.elapsed();
        }
        for number in first..first + shared {
            rows.serialize(evaluator.evaluate(plan.case(number)))?;
        }
        if interrupt.is_raised() {
            sample.cut = Some(start.elapsed() - pause);
            return Ok((sample, true));
        }
        rows.flush()?;
        sample.tried += shared;
        sample.finished += 1;
        (sample.bytes, sample.time) = (rows.get_ref().0, start.elapsed() - pause);
        if start.elapsed() > patience {
            break;
        }
    }
    Ok((sample, false))
}

/// Seconds of the cases of a plan, from parts that run as a real run would: with its threads, shared data and warm-up. Each part is larger
/// than the one before, until one is long enough; `None` if none finished.
fn rehearse(plan: &mut Plan, jobs: usize, begin: Instant) -> anyhow::Result<Option<f64>> {
    let tasks = Tasks::from_plan(plan);
    let (all, mut count) = (tasks.count(), LONGER * jobs as u64);
    let mut known = None;
    while begin.elapsed() < LAST_REHEARSAL {
        let mut numbers: Vec<u64> = if count >= all {
            (0..all).collect()
        } else {
            let chosen = |index| golden_ratio_index(index, all);
            (0..count).map(chosen).collect()
        };
        numbers.sort_unstable();
        numbers.dedup();
        let part = numbers.len() as u64;
        let progress = AtomicU64::new(0);
        let conduct = Conduct::new(jobs, &progress);
        let start = Instant::now();
        let mut summary = Summary::new(None, false, tasks);
        let cases = numbers.into_iter().map(|number| tasks.cases(number));
        let finished = scavsim_experiment::gather(plan, cases, conduct, &mut summary)?;
        if finished.ending != RunEnding::Complete {
            break;
        }
        let time = start.elapsed();
        known = Some(time.as_secs_f64() * all as f64 / part as f64);
        if time >= REHEARSAL || part == all {
            break;
        }
        count *= LONGER;
    }
    Ok(known)
}

/// The `index`-th of a series that covers 0..`count` evenly at any length, because neighbours cost about equal time.
fn golden_ratio_index(index: u64, count: u64) -> u64 {
    let fraction = index.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((u128::from(fraction) * u128::from(count)) >> 64) as u64
}

/// Counts bytes and discards them.
struct Bytes(u64);

impl io::Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_sample_comes_from_all_quarters() {
        let mut quarters = [0; 4];
        for index in 0..16 {
            quarters[(golden_ratio_index(index, 1000) / 250) as usize] += 1;
        }
        assert!(quarters.iter().all(|n| (3..=5).contains(n)), "{quarters:?}");
    }
}
