//! What a run would take, from a sample of its cases.

use std::io;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use scavsim_base::text::words::{rough_size, rough_time};
use scavsim_lab::experiment::{Evaluator, Plan};
use scavsim_lab::scenario::{Scenario, Subject};
use scavsim_sim::engine::Interrupt;

/// Simulations that are tried, each with all its cases; fewer where they are slow.
const SAMPLE: u64 = 100;
/// After this time a sample is large enough.
const PATIENCE: Duration = Duration::from_secs(2);
/// What computations may take besides that do not look at their interrupt.
const GRACE: Duration = Duration::from_secs(1);

/// For so long configurations are tried where what all of them share takes longer.
const PATIENCE_FOR_SOME: Duration = Duration::from_secs(4);
/// The part of them that is tried: one of so many.
const ONE_OF: usize = 16;

/// What was tried.
struct Sample {
    /// Cases and simulations of the whole run.
    cases: u64,
    simulations: u64,
    /// Cases and simulations that were finished, their rows and their time.
    tried: u64,
    finished: u64,
    bytes: u64,
    time: Duration,
    /// The time with that of one simulation more, which was cut off.
    cut: Option<Duration>,
    /// Arenas of the whole run, those that were made, and the time of that: all simulations on an arena share it.
    arenas: u64,
    made: u64,
    making: Duration,
}

/// A sentence on time and size of a run of `scenario` on `jobs` threads, after a few seconds at most.
///
/// # Errors
/// Whatever keeps the scenario from being planned.
pub fn sentence(scenario: &Scenario, jobs: usize) -> anyhow::Result<String> {
    let name = &scenario.name;
    let ours = scenario.clone();
    let found = within(PATIENCE, move |interrupt| sample(&ours, interrupt))?;
    match found.transpose()?.flatten() {
        Some(sample) => Ok(format!("{name}: {}", sample.sentence(jobs))),
        None => Ok(format!("{name}: {}", preparation(scenario, jobs)?)),
    }
}

/// What `work` comes to in so much time, and a little more to heed its interrupt; `None` where that is not enough.
fn within<R: Send + 'static>(
    patience: Duration,
    work: impl FnOnce(&Interrupt) -> R + Send + 'static,
) -> io::Result<Option<R>> {
    let interrupt = Interrupt::default();
    let (send, receive) = mpsc::channel();
    let theirs = interrupt.clone();
    // If it does not come to an end, the program does.
    thread::Builder::new().spawn(move || send.send(work(&theirs)))?;
    let found = receive.recv_timeout(patience).or_else(|_| {
        interrupt.raise();
        receive.recv_timeout(GRACE)
    });
    Ok(found.ok())
}

/// A sentence on what takes longest before the first case: expectations of all configurations, from those of some.
fn preparation(scenario: &Scenario, jobs: usize) -> io::Result<String> {
    let mut some = scenario.clone();
    let (mut all, mut tried) = (0, 0);
    for (_, configurations) in some.workloads_mut() {
        all += configurations.len();
        // Neighbours cost alike: from the middle of each of so many.
        let mut number = 0;
        configurations.retain(|_| {
            number += 1;
            number % ONE_OF == ONE_OF.div_ceil(2) % ONE_OF
        });
        tried += configurations.len();
    }
    if let Subject::Clusters(clusters) = &mut some.subject {
        (clusters.workloads).retain(|(_, some)| !some.is_empty());
    }
    let most = (PATIENCE + GRACE).as_secs();
    let unknown = format!("more than {most} s: what its cases share was not computed by then");
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
        Some(true) => format!(
            "about {} on {jobs} threads for what its cases share, and then its cases",
            rough_time(seconds.max((PATIENCE + GRACE).as_secs_f64() / jobs as f64))
        ),
        // It cannot be done without some that were left out, or it was cut off.
        Some(false) if begin.elapsed() < PATIENCE_FOR_SOME => unknown,
        _ => format!(
            "more than {} on {jobs} threads for what its cases share, and then its cases",
            rough_time(seconds)
        ),
    })
}

impl Sample {
    fn sentence(&self, jobs: usize) -> String {
        let of_arenas = match self.made {
            0 => 0.0,
            made => self.making.as_secs_f64() / made as f64 * self.arenas as f64,
        };
        let per_simulation = |time: Duration, count: u64| {
            let of_simulations = time.as_secs_f64() / count as f64 * self.simulations as f64;
            (of_simulations + of_arenas) / jobs as f64
        };
        // A simulation that was cut off tells only how long it takes at least.
        let least = (self.cut).map_or(0.0, |time| per_simulation(time, self.finished + 1));
        if self.finished == 0 {
            return format!(
                "more than {} on {jobs} threads, if all cases are like the first: it was not finished in {} s",
                rough_time(least),
                PATIENCE.as_secs()
            );
        }
        let seconds = per_simulation(self.time, self.finished);
        let (how, seconds) = if least > seconds {
            ("more than", least)
        } else {
            ("about", seconds)
        };
        let bytes = self.bytes as f64 / self.tried as f64 * self.cases as f64;
        format!(
            "{how} {} on {jobs} threads, {} of records.csv",
            rough_time(seconds),
            rough_size(bytes)
        )
    }
}

/// Tries some cases of `scenario`; `None` where not even what they share is there in time.
fn sample(scenario: &Scenario, interrupt: &Interrupt) -> anyhow::Result<Option<Sample>> {
    let begin = Instant::now();
    let plan = Plan::heeding(scenario, interrupt);
    if interrupt.is_raised() {
        return Ok(None);
    }
    let plan = plan?;
    let mut evaluator = Evaluator::new(&plan);
    let mut rows = csv::WriterBuilder::new()
        .has_headers(false)
        .from_writer(Bytes(0));
    let start = Instant::now();
    // What arenas took of the time since then.
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
        making: begin.elapsed(),
    };
    for index in 0..SAMPLE.min(sample.simulations) {
        let first = spread(index, sample.simulations) * shared;
        let at = plan.case(first).arena;
        if !plan.is_made(at) {
            let begin = Instant::now();
            // Why there is none is told by its cases.
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
            break;
        }
        rows.flush()?;
        sample.tried += shared;
        sample.finished += 1;
        (sample.bytes, sample.time) = (rows.get_ref().0, start.elapsed() - pause);
    }
    Ok(Some(sample))
}

/// The `index`-th of a series that covers 0..`count` evenly wherever it is cut off, by steps of the
/// golden ratio: neighbours cost alike, so the first ones are no sample.
fn spread(index: u64, count: u64) -> u64 {
    let fraction = index.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((u128::from(fraction) * u128::from(count)) >> 64) as u64
}

/// Counts bytes and forgets them.
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
            quarters[(spread(index, 1000) / 250) as usize] += 1;
        }
        assert!(quarters.iter().all(|n| (3..=5).contains(n)), "{quarters:?}");
    }
}
