//! What a run would take, from a sample of its cases.

use std::io;
use std::time::Instant;

use crate::experiment::{Evaluator, Plan};
use crate::scenario::Scenario;

/// Simulations that are tried, each with all its cases; fewer where they are slow.
const SAMPLE: u64 = 100;
/// Seconds after which a sample is large enough.
const PATIENCE_S: f64 = 2.0;

/// A sentence on time and size of a run of `scenario` on `jobs` threads.
///
/// # Errors
/// Whatever keeps the scenario from being planned.
pub fn sentence(scenario: &Scenario, jobs: usize) -> anyhow::Result<String> {
    let plan = Plan::new(scenario)?;
    let mut evaluator = Evaluator::new(&plan);
    let mut rows = csv::WriterBuilder::new()
        .has_headers(false)
        .from_writer(Bytes(0));
    let start = Instant::now();
    let mut tried = 0.0;
    let shared = plan.cases_per_simulation().max(1);
    let simulations = plan.cases() / shared;
    for index in 0..SAMPLE.min(simulations) {
        let first = spread(index, simulations) * shared;
        for number in first..first + shared {
            rows.serialize(evaluator.evaluate(plan.case(number)))?;
            tried += 1.0;
        }
        if start.elapsed().as_secs_f64() > PATIENCE_S {
            break;
        }
    }
    let seconds = start.elapsed().as_secs_f64() / tried * plan.cases() as f64 / jobs as f64;
    rows.flush()?;
    let bytes = rows.get_ref().0 as f64 / tried * plan.cases() as f64;
    Ok(format!(
        "{}: about {} on {jobs} threads, {} of records.csv",
        scenario.name,
        time_text(seconds),
        size_text(bytes)
    ))
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

fn time_text(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "a second".to_owned(),
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0} h", s / 3600.0),
    }
}

fn size_text(bytes: f64) -> String {
    match bytes {
        b if b < 1e6 => format!("{:.0} kB", (b / 1e3).max(1.0)),
        b if b < 1e9 => format!("{:.0} MB", b / 1e6),
        b => format!("{:.1} GB", b / 1e9),
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

    #[test]
    fn times_and_sizes_as_people_say_them() {
        assert_eq!(time_text(0.2), "a second");
        assert_eq!(time_text(75.4), "75 s");
        assert_eq!(time_text(1200.0), "20 min");
        assert_eq!(time_text(9000.0), "2 h");
        assert_eq!(size_text(10.0), "1 kB");
        assert_eq!(size_text(4.34e8), "434 MB");
        assert_eq!(size_text(2.5e9), "2.5 GB");
    }
}
