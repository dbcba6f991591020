//! How often the intervals that summaries print hold: of series of few replicas, against the mean of all of them.
//!
//! `cargo test --release --test integration coverage -- --ignored --nocapture` measures it at length and prints the
//! table; `SCAVSIM_COVERAGE=FILE` does so for another scenario, `SCAVSIM_SERIES=N` for another number of replicas.

use std::collections::BTreeMap;

use scavsim::experiment::tally::{METRICS, SHARES, Tallied};
use scavsim::experiment::{Evaluator, Plan, Sink, Summary};
use scavsim::stats::Interval;

use crate::replay::scenario;

/// Replicas in a series.
const SERIES: u64 = 20;

/// Rare wrong choices (`full` by time, one in 16), none (`partial`), many (`random`).
const SCENARIO: &str = r#"
    workloads = ["scavenger-resnet18"]
    search.strategies = ["full", "partial", "random"]
    search.objectives = ["time", "cost", "knee"]
    variation = { step_cv = 0.05, placement_sigma = 0.03, noise_cv = 0.10, epoch_cv = 0.02 }
"#;

/// Series whose interval was below the mean of all, held it, was above it; and series without an interval.
#[derive(Default, Clone, Copy)]
struct Seen {
    below: u32,
    held: u32,
    above: u32,
    without: u32,
}

impl Seen {
    fn note(&mut self, interval: Option<Interval>, truth: f64) {
        // Rounding must not decide.
        let slack = 1e-9 * truth.abs().max(1e-3);
        match interval {
            None => self.without += 1,
            Some(i) if i.high < truth - slack => self.below += 1,
            Some(i) if i.low > truth + slack => self.above += 1,
            Some(_) => self.held += 1,
        }
    }

    /// Share of the intervals that held; `None` where none was promised.
    fn share(&self) -> Option<f64> {
        let promised = self.below + self.held + self.above;
        (promised > 0).then(|| f64::from(self.held) / f64::from(promised))
    }
}

/// All figures of a group, with their intervals, by name.
fn figures(tallied: &Tallied) -> Vec<(String, f64, Option<Interval>)> {
    let mut all = Vec::new();
    for (metric, mean) in METRICS.iter().zip(&tallied.means) {
        if let Some(mean) = mean {
            all.push((metric.name.to_owned(), mean.mean, mean.interval));
        }
    }
    let shares = tallied.shares.iter().zip(&tallied.share_intervals);
    for (column, (share, interval)) in SHARES.iter().zip(shares) {
        if let Some(value) = share.share() {
            all.push((column.name.to_owned(), value, *interval));
        }
    }
    if let Some(repaid) = tallied.repaid {
        let interval = repaid.low.map(|low| Interval {
            low,
            high: repaid.high.unwrap_or(f64::INFINITY),
        });
        all.push(("repaid".to_owned(), repaid.ratio, interval));
    }
    all
}

/// Coverage of every figure that varies, by strategy, objective and figure.
fn coverage(text: &str, series: u64, length: u64) -> BTreeMap<[String; 3], Seen> {
    let scenario = scenario(&format!("replicas = {}\n{text}", series * length));
    let plan = Plan::new(&scenario).expect("a checked scenario");
    let mut evaluator = Evaluator::new(&plan);
    let mut all = Summary::default();
    for number in 0..plan.cases() {
        all.take(&evaluator.evaluate(plan.case(number)))
            .expect("memory");
    }
    let mut truth: BTreeMap<[String; 3], f64> = BTreeMap::new();
    for group in all.finish() {
        for (name, value, interval) in figures(&group.tallied) {
            let varies = interval.is_none_or(|i| i.high - i.low > 1e-9 * value.abs());
            if varies {
                let who = format!("{} {}", group.workload, group.strategy);
                truth.insert([who, group.objective.clone(), name], value);
            }
        }
    }
    let mut seen: BTreeMap<[String; 3], Seen> = BTreeMap::new();
    let mut one = Summary::default();
    let per_replica = (plan.policies.len() * plan.objectives.len()) as u64;
    for number in 0..plan.cases() {
        one.take(&evaluator.evaluate(plan.case(number)))
            .expect("memory");
        if (number + 1) % (length * per_replica) > 0 {
            continue;
        }
        for group in std::mem::take(&mut one).finish() {
            let who = format!("{} {}", group.workload, group.strategy);
            for (name, _, interval) in figures(&group.tallied) {
                let key = [who.clone(), group.objective.clone(), name];
                if let Some(truth) = truth.get(&key) {
                    seen.entry(key).or_default().note(interval, *truth);
                }
            }
        }
    }
    seen
}

/// Of a series of 20 replicas no less than 93 % may be promised; so many of them tell that from the 62 % of Student's t
/// where a wrong choice is rare.
#[test]
fn intervals_hold_with_few_replicas_and_rare_events() {
    let series = 120;
    let seen = coverage(SCENARIO, series, SERIES);
    assert!(seen.len() > 200, "{}", seen.len());
    assert_held(&seen, series);
}

/// No interval holds less often than 93 %, as far as so many series tell, nor do all together.
fn assert_held(seen: &BTreeMap<[String; 3], Seen>, series: u64) {
    // Four standard deviations of a share of 93 % among so many.
    let least = 0.93 - 4.0 * (0.93 * 0.07 / series as f64).sqrt();
    for (key, seen) in seen {
        let share = seen.share().unwrap_or(1.0);
        assert!(share >= least, "{key:?}: {share:.3}");
    }
    let shares: Vec<f64> = seen.values().filter_map(Seen::share).collect();
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    assert!((0.945..0.985).contains(&mean), "{mean}");
}

/// Pairs of mirrored luck promise no more than they hold, from as many replicas on as the documents ask for.
#[test]
fn intervals_hold_with_antithetic_replicas() {
    let (series, length) = (80, 60);
    let seen = coverage(&format!("antithetic = true\n{SCENARIO}"), series, length);
    assert_held(&seen, series);
}

#[test]
#[ignore = "takes a minute; prints the coverage of every interval"]
fn coverage_of_every_interval_at_length() {
    let length = std::env::var("SCAVSIM_SERIES").map_or(SERIES, |n| n.parse().expect("a number"));
    let text = match std::env::var("SCAVSIM_COVERAGE") {
        Ok(path) => std::fs::read_to_string(path).expect("a scenario"),
        Err(_) => SCENARIO.to_owned(),
    };
    let seen = coverage(&text, 2_000, length);
    let mut outside = 0;
    for ([who, objective, figure], seen) in &seen {
        let Some(share) = seen.share().map(|share| 100.0 * share) else {
            println!("{who} {objective} {figure}: no interval");
            continue;
        };
        let mark = if (93.0..=97.0).contains(&share) {
            ""
        } else {
            " *"
        };
        outside += u32::from(!mark.is_empty());
        println!(
            "{who} {objective} {figure}: {share:.1} % (below {}, above {}, without {}){mark}",
            seen.below, seen.above, seen.without
        );
    }
    println!("{} figures, {outside} outside 93 to 97 %", seen.len());
}
