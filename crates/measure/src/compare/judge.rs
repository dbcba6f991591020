//! Who is ahead, how sure that is, and where each loses.

use std::collections::BTreeMap;

use super::{Block, CompetitionUnit};
use scavsim_base::rng::{Purpose, Stream, Streams};
use scavsim_base::stats::{Interval, mean};

/// Seed of everything that is drawn here: no choice of a user.
const SEED: u64 = 2023;
/// Draws behind an interval of ranks.
const DRAWS: usize = 2_000;
/// Up to so many clusters all signs are tried, beyond so many drawn ones.
const EXACT_UP_TO: usize = 14;
const SIGNS: usize = 20_000;
/// Totals that differ by less are the same.
const SAME: f64 = 1e-9;
/// A strategy loses where its total is beyond this multiple of the best other's.
const LOSES: f64 = 1.1;

/// What is told of a block.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Place of the strategy with the least mean net overhead; `None` where none has one everywhere.
    pub best: Option<usize>,
    /// Per strategy.
    pub standings: Vec<Standing>,
    /// Independent draws behind ranks and differences: workloads, or units where there are too few of these.
    pub clusters: usize,
}

/// How a strategy stands among the others.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Mean rank over units, 1 being the best; equals share a rank, what has no figure is last.
    pub rank: f64,
    /// 95 % interval of the rank, by drawing clusters again; `None` of one cluster.
    pub rank_interval: Option<Interval>,
    /// Against the best; `None` of the best itself, and of one without a figure somewhere.
    pub against_best: Option<Against>,
    /// Units where it loses, the worst first.
    pub losses: Vec<Loss>,
}

/// A strategy against the best of a block, in pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Against {
    /// Geometric mean of its total, search and runs, over that of the best.
    pub ratio: f64,
    /// Probability of a mean logarithm that far from zero if signs were chance, by Holm for all strategies of the block;
    /// `None` of one cluster.
    pub p: Option<f64>,
}

/// A unit where a strategy is beaten.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loss {
    /// Place of the unit.
    pub unit: usize,
    /// Total over that of the best other there; infinite without a figure.
    pub ratio: f64,
    /// Place of that other.
    pub to: usize,
}

/// Judges a block.
pub fn judge(block: &Block) -> Verdict {
    let totals: Vec<Vec<Option<f64>>> = (block.entries.iter())
        .map(|entry| {
            let total = |tally: &super::Tally| Some(1.0 + tally.net()?);
            entry.units.iter().map(total).collect()
        })
        .collect();
    let clusters = clusters(&block.units);
    let ranks = ranks(&totals, block.units.len());
    let means: Vec<Option<f64>> = (totals.iter())
        .map(|own| own.iter().copied().collect::<Option<Vec<f64>>>())
        .map(mean_of)
        .collect();
    let best = (0..totals.len())
        .filter(|&at| means[at].is_some())
        .min_by(|&a, &b| {
            means[a]
                .partial_cmp(&means[b])
                .unwrap_or(std::cmp::Ordering::Equal)
        });
    let rank_intervals = intervals(&ranks, &clusters);
    let mut against: Vec<Option<Against>> = (0..totals.len())
        .map(|at| {
            (best.filter(|best| *best != at))
                .and_then(|best| paired(&totals[at], &totals[best], &clusters))
        })
        .collect();
    correct(&mut against);
    Verdict {
        best,
        clusters: clusters.len(),
        standings: (0..totals.len())
            .map(|at| Standing {
                rank: mean(ranks[at].iter().copied()).unwrap_or(f64::NAN),
                rank_interval: rank_intervals[at],
                against_best: against[at],
                losses: losses(&totals, at),
            })
            .collect(),
    }
}

fn mean_of(values: Option<Vec<f64>>) -> Option<f64> {
    mean(values?)
}

/// Units that belong together: those of one workload, as halves of it and policies share what was measured. Where there are
/// fewer than three workloads, each unit by itself.
fn clusters(units: &[CompetitionUnit]) -> Vec<Vec<usize>> {
    let mut by_workload: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (at, unit) in units.iter().enumerate() {
        let key = (unit.scenario.as_str(), unit.workload.as_str());
        by_workload.entry(key).or_default().push(at);
    }
    match by_workload.len() {
        0..3 => (0..units.len()).map(|at| vec![at]).collect(),
        _ => by_workload.into_values().collect(),
    }
}

/// Rank of each strategy on each unit.
fn ranks(totals: &[Vec<Option<f64>>], units: usize) -> Vec<Vec<f64>> {
    let value = |at: usize, unit: usize| totals[at][unit].unwrap_or(f64::INFINITY);
    let rank = |at: usize, unit: usize| {
        let own = value(at, unit);
        let (mut below, mut same) = (0.0, 0.0);
        for other in 0..totals.len() {
            let it = value(other, unit);
            if it == own || (own.is_finite() && (it - own).abs() <= SAME * own.abs()) {
                same += 1.0;
            } else if it < own {
                below += 1.0;
            }
        }
        below + 0.5 * (same + 1.0)
    };
    (0..totals.len())
        .map(|at| (0..units).map(|unit| rank(at, unit)).collect())
        .collect()
}

fn stream(number: u64) -> Stream {
    Streams::new(SEED).stream(number, Purpose::Resampling)
}

/// Percentiles of the means of figures of units, over clusters that are drawn with replacement.
fn intervals(figures: &[Vec<f64>], clusters: &[Vec<usize>]) -> Vec<Option<Interval>> {
    if clusters.len() < 2 {
        return vec![None; figures.len()];
    }
    let mut stream = stream(0);
    let mut means: Vec<Vec<f64>> = vec![Vec::with_capacity(DRAWS); figures.len()];
    for _ in 0..DRAWS {
        let drawn: Vec<&Vec<usize>> = (0..clusters.len())
            .map(|_| &clusters[stream.below(clusters.len())])
            .collect();
        for (own, means) in figures.iter().zip(&mut means) {
            let all = drawn
                .iter()
                .flat_map(|units| units.iter().map(|unit| own[*unit]));
            means.extend(mean(all));
        }
    }
    let interval = |means: &mut Vec<f64>| {
        means.sort_by(f64::total_cmp);
        let at = |q: f64| {
            means
                .get((q * (means.len() - 1) as f64).round() as usize)
                .copied()
        };
        Some(Interval {
            low: at(0.025)?,
            high: at(0.975)?,
        })
    };
    means.iter_mut().map(interval).collect()
}

/// The mean of a figure over units, and its 95 % interval by drawing clusters again, where there are two.
pub fn mean_of_units(
    block: &Block,
    of: impl Fn(usize) -> Option<f64>,
) -> Option<(f64, Option<Interval>)> {
    let figures: Vec<f64> = (0..block.units.len()).map(of).collect::<Option<_>>()?;
    let clusters = clusters(&block.units);
    let interval = intervals(std::slice::from_ref(&figures), &clusters);
    Some((mean(figures)?, interval.into_iter().next().flatten()))
}

/// The mean over clusters of the logarithm of a ratio of totals, and how likely chance alone would give that.
fn paired(own: &[Option<f64>], best: &[Option<f64>], clusters: &[Vec<usize>]) -> Option<Against> {
    let log = |unit: &usize| Some(libm::log(own[*unit]? / best[*unit]?));
    let logs: Vec<f64> = (clusters.iter())
        .map(|units| mean_of(units.iter().map(log).collect()))
        .collect::<Option<_>>()?;
    let ratio = libm::exp(mean(logs.iter().copied())?);
    Some(Against {
        ratio,
        p: (logs.len() > 1).then(|| by_signs(&logs)),
    })
}

/// Share of all ways of giving signs to `logs` whose mean is as far from zero.
fn by_signs(logs: &[f64]) -> f64 {
    let sum: f64 = logs.iter().sum();
    let is_as_far = |other: f64| other.abs() >= sum.abs() * (1.0 - 1e-12);
    let signed = |is_negative: &mut dyn FnMut(usize) -> bool| -> f64 {
        (logs.iter().enumerate())
            .map(|(at, log)| if is_negative(at) { -log } else { *log })
            .sum()
    };
    if logs.len() <= EXACT_UP_TO {
        let all = 1usize << logs.len();
        let far = (0..all).filter(|signs| is_as_far(signed(&mut |at| signs >> at & 1 == 1)));
        return far.count() as f64 / all as f64;
    }
    let mut stream = stream(1);
    let far = (0..SIGNS).filter(|_| is_as_far(signed(&mut |_| stream.below(2) == 1)));
    // What was seen is one of the ways.
    (far.count() + 1) as f64 / (SIGNS + 1) as f64
}

/// Corrects for many comparisons, after Holm 1979.
fn correct(against: &mut [Option<Against>]) {
    let p = |of: &Option<Against>| of.and_then(|of| of.p);
    let mut order: Vec<(usize, f64)> = (against.iter().enumerate())
        .filter_map(|(at, of)| Some((at, p(of)?)))
        .collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    let mut least: f64 = 0.0;
    for (place, (at, p)) in order.iter().enumerate() {
        least = least.max(p * (order.len() - place) as f64).min(1.0);
        if let Some(of) = &mut against[*at] {
            of.p = Some(least);
        }
    }
}

/// Units where a strategy's total is beyond that of the best other.
fn losses(totals: &[Vec<Option<f64>>], at: usize) -> Vec<Loss> {
    let loss = |unit: usize| {
        let others = (0..totals.len()).filter(|other| *other != at);
        let priced = others.filter_map(|other| Some((other, totals[other][unit]?)));
        let (to, best) = priced.min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)))?;
        let ratio = totals[at][unit].map_or(f64::INFINITY, |own| own / best);
        (ratio > LOSES).then_some(Loss { unit, ratio, to })
    };
    let units = totals.get(at).map_or(0, Vec::len);
    let mut all: Vec<Loss> = (0..units).filter_map(loss).collect();
    all.sort_by(|a, b| b.ratio.total_cmp(&a.ratio).then(a.unit.cmp(&b.unit)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Entry;
    use crate::compare::tally::SeenRecord;
    use scavsim_search::search::Objective;

    /// A block of strategies with these net overheads on units of workloads of their own.
    fn block(nets: &[&[Option<f64>]]) -> Block {
        let unit = |at: usize| CompetitionUnit {
            scenario: "s".into(),
            workload: format!("w{at:02}"),
            policy: "p".into(),
            part: 0,
        };
        let count = nets[0].len();
        let entry = |(at, own): (usize, &&[Option<f64>])| {
            let mut entry = Entry::new(&format!("e{at}"), count);
            for (unit, net) in own.iter().enumerate() {
                entry.add(
                    unit,
                    &SeenRecord {
                        net: *net,
                        gross: *net,
                        regret: *net,
                        error: None,
                        is_exact: false,
                        failed_choices: None,
                    },
                );
            }
            entry
        };
        Block {
            objective: Objective::Cost,
            repeats: 1,
            units: (0..count).map(unit).collect(),
            entries: nets.iter().enumerate().map(entry).collect(),
        }
    }

    #[test]
    fn the_best_has_the_least_mean_and_equals_share_a_rank() {
        let a: Vec<Option<f64>> = vec![Some(0.0), Some(0.0), Some(1.0)];
        let b = vec![Some(0.0), Some(1.0), Some(3.0)];
        let verdict = judge(&block(&[&b, &a]));
        assert_eq!(verdict.best, Some(1));
        // Tied on the first, behind on the others: (1.5 + 2 + 2)/3.
        assert!((verdict.standings[0].rank - 5.5 / 3.0).abs() < 1e-12);
        let against = verdict.standings[0].against_best.expect("a pair");
        // Logarithms 0, ln 2, ln 2.
        assert!((against.ratio - libm::exp(2.0 * libm::log(2.0) / 3.0)).abs() < 1e-12);
        // Of eight ways to give signs, four give the two equal signs.
        assert_eq!(against.p, Some(0.5));
        assert!(verdict.standings[1].against_best.is_none());
    }

    #[test]
    fn what_has_no_figure_is_last_and_never_best() {
        let verdict = judge(&block(&[
            &[Some(0.0), None, Some(0.0)],
            &[Some(5.0), Some(5.0), Some(5.0)],
        ]));
        assert_eq!(verdict.best, Some(1));
        assert!((verdict.standings[0].rank - 4.0 / 3.0).abs() < 1e-12);
        assert_eq!(verdict.standings[0].losses[0].ratio, f64::INFINITY);
        assert_eq!(verdict.standings[0].losses.len(), 1);
        assert!(verdict.standings[0].against_best.is_none());
    }

    /// Twelve of twelve the same way: 2 of 4096 ways are as far; by Holm for two it is twice as likely.
    #[test]
    fn signs_and_their_correction_are_exact() {
        let worse = |by: f64| {
            (0..12)
                .map(|at| Some(by + 0.01 * f64::from(at)))
                .collect::<Vec<_>>()
        };
        let best: Vec<Option<f64>> = vec![Some(0.0); 12];
        let (some, more) = (worse(0.5), worse(0.9));
        let verdict = judge(&block(&[&best, &some, &more]));
        let p = |at: usize| verdict.standings[at].against_best.and_then(|a| a.p);
        assert_eq!(p(1), Some(2.0 * 2.0 / 4096.0));
        assert_eq!(p(2), Some(2.0 * 2.0 / 4096.0));
        let interval = verdict.standings[0].rank_interval.expect("clusters");
        assert_eq!((interval.low, interval.high), (1.0, 1.0));
    }

    /// Whether all signs are tried or some are drawn: with any of them nothing stays nothing, and of many equal figures no others
    /// that are drawn come as far as those that are seen.
    #[test]
    fn what_differs_nowhere_is_no_difference_however_many_there_are() {
        for units in [2, EXACT_UP_TO, EXACT_UP_TO + 1, 4 * EXACT_UP_TO] {
            assert_eq!(by_signs(&vec![0.0; units]), 1.0, "{units}");
        }
        let drawn = 1.0 / (SIGNS as f64 + 1.0);
        assert_eq!(by_signs(&[1.0; 4 * EXACT_UP_TO]), drawn);
    }

    /// Under no difference at all, tested 400 times at 5 %: between 2 and 8 % of 400 is 99.5 % of the binomial.
    #[test]
    fn equals_are_told_apart_as_often_as_is_said() {
        let mut stream = Stream::seeded(5);
        let mut rejected = 0;
        for _ in 0..400 {
            let logs: Vec<f64> = (0..9).map(|_| stream.normal()).collect();
            rejected += usize::from(by_signs(&logs) <= 0.05);
        }
        assert!((8..=32).contains(&rejected), "{rejected} of 400");
    }
}
