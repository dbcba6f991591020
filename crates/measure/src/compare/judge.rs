//! The ranking of strategies, its significance, and where each strategy loses.

use std::collections::BTreeMap;

use super::{Block, CompetitionUnit};
use scavsim_base::rng::{Purpose, Stream, Streams};
use scavsim_base::stats::{Interval, mean};

/// Seed of all draws here: not a choice of the user.
const SEED: u64 = 2023;
/// Number of draws for an interval of ranks.
const DRAWS: usize = 2_000;
/// All signs are tried for up to this number of clusters; for more, signs are drawn.
const EXACT_UP_TO: usize = 14;
const SIGNS: usize = 20_000;
/// A difference is reported if chance alone would rarely give one as large: with less than this probability.
pub const LEVEL: f64 = 0.05;
/// Totals that differ by less are equal.
const SAME: f64 = 1e-9;
/// A strategy loses if its total exceeds this multiple of the best other's.
const LOSES: f64 = 1.1;

#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Indices of strategies, the best first: those that work before those that failed, then by mean net overhead; those
    /// without one last.
    pub order: Vec<usize>,
    /// Index of the first of them; `None` if none has a net overhead everywhere.
    pub best: Option<usize>,
    pub standings: Vec<StrategyStanding>,
    /// Index of the reference strategy: the named one, by default the best.
    pub reference: Option<usize>,
    /// Independent draws for ranks and differences: programs, or units if there are too few programs.
    pub clusters: usize,
    /// Whether any difference can be significant: with few clusters, too many sign patterns are as extreme as the most extreme one.
    pub can_differ: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct StrategyStanding {
    /// Mean rank over units, 1 is the best; ties share a rank. Strategies that failed more often than allowed come after the
    /// others, and those without a figure last.
    pub rank: f64,
    /// 95 % interval of the rank, by a bootstrap over clusters; `None` for one cluster.
    pub rank_interval: Option<Interval>,
    /// Comparison with the reference; `None` for the reference itself, and without a figure somewhere.
    pub against: Option<ReferenceComparison>,
    /// Units where it loses, the worst first.
    pub losses: Vec<Loss>,
}

/// A paired comparison of a strategy with the reference of a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReferenceComparison {
    /// Geometric mean of its total, search and runs, relative to the reference.
    pub ratio: f64,
    /// Probability that some pair of strategies differs that much under random signs; some pair with the reference, if that
    /// was named. `None` for one cluster.
    pub p: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loss {
    pub unit: usize,
    /// Total relative to the best other; infinite without a figure.
    pub ratio: f64,
    pub to: usize,
}

pub fn judge(block: &Block) -> Verdict {
    let totals: Vec<Vec<Option<f64>>> = (block.entries.iter())
        .map(|entry| {
            let total = |tally: &super::Tally| Some(1.0 + tally.net()?);
            entry.units.iter().map(total).collect()
        })
        .collect();
    let clusters = clusters(&block.units);
    let ranks = ranks(block, &totals);
    let means: Vec<Option<f64>> = (totals.iter())
        .map(|own| own.iter().copied().collect::<Option<Vec<f64>>>())
        .map(mean_of)
        .collect();
    let order = order(block, &means);
    let best = order.first().copied().filter(|&at| means[at].is_some());
    let rank_intervals = intervals(&ranks, &clusters);
    let logs: Vec<Option<Vec<f64>>> = totals.iter().map(|own| logs(own, &clusters)).collect();
    let reference = block.against.or(best);
    let against = held_against(&logs, reference, block.against.is_some());
    Verdict {
        order,
        best,
        reference,
        clusters: clusters.len(),
        can_differ: least_p(clusters.len()) <= LEVEL,
        standings: (0..totals.len())
            .map(|at| StrategyStanding {
                rank: mean(ranks[at].iter().copied()).unwrap_or(f64::NAN),
                rank_interval: rank_intervals[at],
                against: against[at],
                losses: losses(&totals, at),
            })
            .collect(),
    }
}

fn mean_of(values: Option<Vec<f64>>) -> Option<f64> {
    mean(values?)
}

/// Clusters of units: those of one program, because its inputs, halves and policies share measurements. If there are fewer
/// than three programs, each unit is a cluster.
fn clusters(units: &[CompetitionUnit]) -> Vec<Vec<usize>> {
    let mut by_program: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (at, unit) in units.iter().enumerate() {
        let key = (unit.scenario.as_str(), unit.program.as_str());
        by_program.entry(key).or_default().push(at);
    }
    match by_program.len() {
        0..3 => (0..units.len()).map(|at| vec![at]).collect(),
        _ => by_program.into_values().collect(),
    }
}

/// Strategies with a figure everywhere first, then those that work before those that failed, then by their means.
fn order(block: &Block, means: &[Option<f64>]) -> Vec<usize> {
    let is_unsound: Vec<bool> = (block.entries.iter())
        .map(|entry| !entry.is_sound(&block.units))
        .collect();
    let mean = |at: usize| means[at].unwrap_or(f64::INFINITY);
    let mut order: Vec<usize> = (0..means.len()).collect();
    order.sort_by(|&a, &b| {
        let lacks = |at: usize| (means[at].is_none(), is_unsound[at]);
        (lacks(a).cmp(&lacks(b))).then(mean(a).total_cmp(&mean(b)))
    });
    order
}

fn ranks(block: &Block, totals: &[Vec<Option<f64>>]) -> Vec<Vec<f64>> {
    let value = |at: usize, unit: usize| {
        let failed = block.entries[at].units[unit].failed_share();
        let total = totals[at][unit].unwrap_or(f64::INFINITY);
        (failed > block.units[unit].may_fail, total)
    };
    let rank = |at: usize, unit: usize| {
        let (fails, own) = value(at, unit);
        let (mut below, mut same) = (0.0, 0.0);
        for other in 0..totals.len() {
            let (it_fails, it) = value(other, unit);
            let is_near = it == own || (own.is_finite() && (it - own).abs() <= SAME * own.abs());
            if fails == it_fails && is_near {
                same += 1.0;
            } else if (it_fails, it) < (fails, own) {
                below += 1.0;
            }
        }
        below + 0.5 * (same + 1.0)
    };
    let units = block.units.len();
    (0..totals.len())
        .map(|at| (0..units).map(|unit| rank(at, unit)).collect())
        .collect()
}

fn stream(number: u64) -> Stream {
    Streams::new(SEED).stream(number, Purpose::Resampling)
}

/// Percentiles of the means of figures of units, over clusters drawn with replacement.
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

/// The mean of a figure over units, and its 95 % interval by a bootstrap over clusters, if there are two.
pub fn mean_of_units(
    block: &Block,
    of: impl Fn(usize) -> Option<f64>,
) -> Option<(f64, Option<Interval>)> {
    let figures: Vec<f64> = (0..block.units.len()).map(of).collect::<Option<_>>()?;
    let clusters = clusters(&block.units);
    let interval = intervals(std::slice::from_ref(&figures), &clusters);
    Some((mean(figures)?, interval.into_iter().next().flatten()))
}

/// The mean logarithm of a strategy's totals for each cluster; `None` if one is missing.
fn logs(own: &[Option<f64>], clusters: &[Vec<usize>]) -> Option<Vec<f64>> {
    let log = |unit: &usize| own[*unit].map(libm::log);
    (clusters.iter())
        .map(|units| mean_of(units.iter().map(log).collect()))
        .collect()
}

/// Compares each strategy with the reference, by the logarithms of its totals per cluster.
fn held_against(
    logs: &[Option<Vec<f64>>],
    reference: Option<usize>,
    is_named: bool,
) -> Vec<Option<ReferenceComparison>> {
    let known: Vec<(usize, &[f64])> = (logs.iter().enumerate())
        .filter_map(|(at, own)| Some((at, own.as_deref()?)))
        .collect();
    let mut against = vec![None; logs.len()];
    let place = known.iter().position(|(at, _)| Some(*at) == reference);
    let Some(place) = place else {
        return against;
    };
    let only: Vec<&[f64]> = known.iter().map(|(_, own)| *own).collect();
    let chances = chances(&only, place, is_named, SIGNS);
    for ((at, own), p) in known.iter().zip(chances) {
        if Some(*at) != reference {
            let differences = own.iter().zip(only[place]).map(|(own, other)| own - other);
            let log = mean(differences).filter(|log| log.is_finite());
            against[*at] = log.map(|log| ReferenceComparison {
                ratio: libm::exp(log),
                p,
            });
        }
    }
    against
}

/// The least possible probability with this number of clusters: that of equal signs.
fn least_p(clusters: usize) -> f64 {
    match clusters {
        0 | 1 => 1.0,
        _ => libm::exp2(1.0 - clusters as f64).max(1.0 / (SIGNS as f64 + 1.0)),
    }
}

/// For each row, the probability that random signs separate some pair of rows as far as it is from the reference.
///
/// Random signs apply to columns, equally in all rows. The distance of a pair is its sum of differences over the root of
/// their squares, which signs do not change. The maximum over all pairs counts, or over pairs with a reference that was named
/// beforehand. So for any selection from these figures, the rate of false differences is at most the stated one.
fn chances(rows: &[&[f64]], reference: usize, is_named: bool, draws: usize) -> Vec<Option<f64>> {
    let columns = rows.first().map_or(0, |row| row.len());
    if columns < 2 {
        return vec![None; rows.len()];
    }
    let spread = |a: usize, b: usize| {
        let squares = rows[a].iter().zip(rows[b]).map(|(a, b)| (a - b) * (a - b));
        squares.sum::<f64>().sqrt()
    };
    let mut pairs: Vec<(usize, usize, f64)> = Vec::new();
    for a in 0..rows.len() {
        for b in 0..a {
            let is_asked = !is_named || a == reference || b == reference;
            let spread = spread(a, b);
            if is_asked && spread > 0.0 {
                pairs.push((a, b, 1.0 / spread));
            }
        }
    }
    let sums = |is_negative: &mut dyn FnMut(usize) -> bool| -> Vec<f64> {
        let mut sums = vec![0.0; rows.len()];
        for column in 0..columns {
            let sign = if is_negative(column) { -1.0 } else { 1.0 };
            for (sum, row) in sums.iter_mut().zip(rows) {
                *sum += sign * row[column];
            }
        }
        sums
    };
    let farthest = |sums: &[f64]| {
        let apart = pairs
            .iter()
            .map(|(a, b, over)| (sums[*a] - sums[*b]).abs() * over);
        apart.fold(0.0, f64::max)
    };
    let seen = sums(&mut |_| false);
    // Opposite signs give equal distances: the sign of the last column is fixed.
    let by_chance: Vec<f64> = if columns <= EXACT_UP_TO {
        let all = 0..1usize << (columns - 1);
        all.map(|signs| farthest(&sums(&mut |at| signs >> at & 1 == 1)))
            .collect()
    } else {
        let mut stream = stream(1);
        // The observed signs are one of the patterns.
        let drawn = (0..draws).map(|_| farthest(&sums(&mut |_| stream.below(2) == 1)));
        drawn.chain([farthest(&seen)]).collect()
    };
    let chance = |row: usize| {
        let spread = spread(row, reference);
        if spread == 0.0 {
            return 1.0;
        }
        let own = (seen[row] - seen[reference]).abs() / spread;
        let far = by_chance
            .iter()
            .filter(|other| **other >= own * (1.0 - 1e-12));
        far.count() as f64 / by_chance.len() as f64
    };
    (0..rows.len()).map(|row| Some(chance(row))).collect()
}

/// Units on which a strategy's total exceeds that of the best other.
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
    use crate::compare::tally::CaseMetrics;
    use scavsim_base::tests::near;
    use scavsim_search::search::Objective;

    /// A block of strategies with these net overheads, on units of different workloads.
    fn block(nets: &[&[Option<f64>]]) -> Block {
        let unit = |at: usize| CompetitionUnit {
            scenario: "s".into(),
            workload: format!("w{at:02}"),
            program: format!("w{at:02}"),
            policy: "p".into(),
            part: 0,
            may_fail: 0.0,
        };
        let count = nets[0].len();
        let entry = |(at, own): (usize, &&[Option<f64>])| {
            let mut entry = Entry::new(&format!("e{at}"), count);
            for (unit, net) in own.iter().enumerate() {
                let mut metrics = CaseMetrics::default();
                (metrics.net, metrics.gross, metrics.regret) = (*net, *net, *net);
                entry.add(unit, &metrics);
            }
            entry
        };
        Block {
            objective: Objective::Cost,
            repeats: 1,
            units: (0..count).map(unit).collect(),
            entries: nets.iter().enumerate().map(entry).collect(),
            against: None,
        }
    }

    #[test]
    fn the_best_has_the_least_mean_and_equals_share_a_rank() {
        let a: Vec<Option<f64>> = vec![Some(0.0), Some(0.0), Some(1.0)];
        let b = vec![Some(0.0), Some(1.0), Some(3.0)];
        let verdict = judge(&block(&[&b, &a]));
        assert_eq!(verdict.best, Some(1));
        // Tied on the first, worse on the others: (1.5 + 2 + 2)/3.
        near(verdict.standings[0].rank, 5.5 / 3.0, 1e-12);
        let against = verdict.standings[0].against.expect("a pair");
        // Logarithms 0, ln 2, ln 2.
        near(against.ratio, libm::exp(2.0 * libm::log(2.0) / 3.0), 1e-12);
        // Among eight sign patterns, four give the two equal signs.
        assert_eq!(against.p, Some(0.5));
        assert!(verdict.standings[1].against.is_none());
    }

    #[test]
    fn what_has_no_figure_is_last_and_never_best() {
        let failing = [Some(0.0), None, Some(0.0)];
        let verdict = judge(&block(&[&failing, &[Some(5.0); 3]]));
        assert_eq!(verdict.best, Some(1));
        let last = &verdict.standings[0];
        near(last.rank, 4.0 / 3.0, 1e-12);
        assert_eq!(last.losses[0].ratio, f64::INFINITY);
        assert_eq!(last.losses.len(), 1);
        assert!(last.against.is_none());
    }

    /// A strategy that fails everywhere would be the best by its charges; one that may fail in half of all cases is no worse
    /// for one in three.
    #[test]
    fn what_fails_is_behind_what_works() {
        let mut block = block(&[&[Some(0.0); 3], &[Some(5.0); 3], &[Some(1.0); 3]]);
        let failed = CaseMetrics {
            net: Some(0.0),
            reason: Some("no luck".to_owned()),
            ..CaseMetrics::default()
        };
        for unit in 0..3 {
            block.entries[0].add(unit, &failed);
        }
        let expect = |block: &Block, order: [usize; 3], ranks: [f64; 3]| {
            let verdict = judge(block);
            assert_eq!(
                (verdict.best, &verdict.order[..]),
                (Some(order[0]), &order[..])
            );
            assert_eq!([0, 1, 2].map(|at| verdict.standings[at].rank), ranks);
        };
        expect(&block, [2, 1, 0], [3.0, 2.0, 1.0]);
        assert_eq!(
            crate::compare::tally::reasons(block.entries[..1].iter()),
            [("no luck", 3)]
        );
        block.units.iter_mut().for_each(|unit| unit.may_fail = 0.5);
        expect(&block, [0, 2, 1], [1.0, 3.0, 2.0]);
    }

    /// An equal difference on twelve of twelve: among 2¹² patterns two are as extreme. Another strategy makes it no more
    /// likely, unless one of its pairs is as extreme under other signs.
    #[test]
    fn signs_are_exact() {
        let worse = |by: f64| vec![Some(libm::exp(by) - 1.0); 12];
        let best: Vec<Option<f64>> = vec![Some(0.0); 12];
        let (some, more) = (worse(0.5), worse(0.9));
        let verdict = judge(&block(&[&best, &some, &more]));
        let p = |verdict: &Verdict, at: usize| verdict.standings[at].against.and_then(|a| a.p);
        assert_eq!(p(&verdict, 1), Some(2.0 / 4096.0));
        assert_eq!(p(&verdict, 2), Some(2.0 / 4096.0));
        let interval = verdict.standings[0].rank_interval.expect("clusters");
        assert_eq!((interval.low, interval.high), (1.0, 1.0));
        // Compared with another one that was named.
        let mut named = block(&[&best, &some, &more]);
        named.against = Some(2);
        let verdict = judge(&named);
        assert_eq!((verdict.best, verdict.reference), (Some(0), Some(2)));
        let ratio = verdict.standings[0].against.map_or(f64::NAN, |a| a.ratio);
        near(ratio, libm::exp(-0.9), 1e-12);
        assert!(verdict.standings[2].against.is_none());
    }

    /// Two inputs of a program are one draw; with five draws, two of 32 patterns are as extreme as the most extreme one, which is no 5 %.
    #[test]
    fn inputs_of_a_program_are_one_draw_and_five_draws_tell_nothing() {
        let (best, worse) = (vec![Some(0.0); 10], vec![Some(1.0); 10]);
        let mut block = block(&[&best, &worse]);
        assert!(judge(&block).can_differ);
        for (at, unit) in block.units.iter_mut().enumerate() {
            unit.program = format!("p{}", at / 2);
        }
        let verdict = judge(&block);
        assert_eq!((verdict.clusters, verdict.can_differ), (5, false));
        let p = verdict.standings[1].against.and_then(|a| a.p);
        assert_eq!(p, Some(2.0 / 32.0));
    }

    /// With exact or drawn signs: zero differences stay zero, and with many equal figures no other drawn pattern is as
    /// extreme as the observed one.
    #[test]
    fn what_differs_nowhere_is_no_difference_however_many_there_are() {
        let chance = |own: &[f64]| chances(&[&vec![0.0; own.len()], own], 0, false, SIGNS)[1];
        for units in [2, EXACT_UP_TO, EXACT_UP_TO + 1, 4 * EXACT_UP_TO] {
            assert_eq!(chance(&vec![0.0; units]), Some(1.0), "{units}");
        }
        let equal = chance(&[1.0; 4 * EXACT_UP_TO]);
        assert_eq!(equal, Some(1.0 / (SIGNS as f64 + 1.0)));
        assert_eq!(chance(&[1.0]), None);
    }

    /// The rate of false stars among 17 equal strategies over a number of comparisons: their totals are log-normal, or
    /// heavy-tailed. The reference is picked from the figures, or the first; with `is_named` it is treated as named.
    fn false_stars(columns: usize, tail: bool, picks: bool, is_named: bool) -> f64 {
        const COMPARISONS: usize = 1_000;
        let mut stream = Stream::seeded(31);
        let mut draw = || {
            if tail {
                -0.3 * libm::log(stream.uniform())
            } else {
                0.3 * stream.normal()
            }
        };
        let mut stars = 0;
        for _ in 0..COMPARISONS {
            let row = |_| (0..columns).map(|_| draw()).collect();
            let rows: Vec<Vec<f64>> = (0..17).map(row).collect();
            let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
            let total = |at: &usize| rows[*at].iter().map(|log| libm::exp(*log)).sum::<f64>();
            let best = (0..rows.len()).min_by(|a, b| total(a).total_cmp(&total(b)));
            let reference = if picks { best.unwrap_or(0) } else { 0 };
            let chances = chances(&rows, reference, is_named, 400);
            stars += usize::from(chances.iter().flatten().any(|p| *p <= LEVEL));
        }
        stars as f64 / COMPARISONS as f64
    }

    /// Limit 6 %; the standard error of 1,000 comparisons at 5 % is 0.7 %. Treating a reference that was picked from the
    /// figures as a named one would be wrong: then more than 10 % of stars are false.
    #[test]
    fn stars_among_equals_are_false_in_one_of_twenty_comparisons() {
        for columns in [11, 18, 28] {
            for tail in [false, true] {
                let picked = false_stars(columns, tail, true, false);
                let named = false_stars(columns, tail, false, true);
                assert!(picked <= 0.06 && named <= 0.06, "{picked} {named}");
            }
        }
        let wrong = false_stars(18, false, true, true);
        assert!(wrong > 0.1, "{wrong}");
    }
}
