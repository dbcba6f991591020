//! What papers claim of their searches, beside what the shipped grids and trainings say.

use super::judge::mean_of_units;
use super::{Block, Comparison, Entry, Tally};
use crate::search::Objective;
use crate::stats::Interval;

/// A comparison that claims are held against.
pub struct Ground {
    /// What it is called in rows.
    pub name: &'static str,
    /// Shipped scenarios that it is made of.
    pub scenarios: &'static [&'static str],
    /// Runs of a job.
    pub repeats: &'static [u64],
}

/// The comparisons.
pub const GROUNDS: [Ground; 3] = [
    Ground {
        name: "Scout",
        scenarios: &["compare-scout"],
        repeats: &[1],
    },
    Ground {
        name: "Scavenger",
        scenarios: &["compare-steps-scavenger"],
        repeats: &[1],
    },
    Ground {
        name: "Pollux",
        scenarios: &["compare-steps-pollux"],
        repeats: &[1],
    },
];

/// How a claim came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Holds,
    Fails,
}

/// A claim.
struct Claim {
    /// Who says what, where.
    what: &'static str,
    source: &'static str,
    /// As it is stated.
    stated: &'static str,
    /// Which ground it is held against.
    on: &'static str,
    /// What is measured here.
    measured: &'static str,
    /// The figure and its 95 % interval over workloads; `None` where the strategies are not there.
    figure: fn(&Comparison) -> Option<Measured>,
    /// Whether that is what is claimed.
    holds: fn(f64) -> bool,
    /// How the figure is written.
    written: fn(f64) -> String,
}

/// A figure and its interval.
type Measured = (f64, Option<Interval>);

fn entry<'c>(comparison: &'c Comparison, strategy: &str) -> Option<(&'c Block, &'c Entry)> {
    let block = (comparison.blocks.iter()).find(|block| block.objective == Objective::Cost)?;
    let entry = block
        .entries
        .iter()
        .find(|entry| entry.strategy == strategy)?;
    Some((block, entry))
}

/// Mean over units of a figure of a strategy.
fn mean(
    comparison: &Comparison,
    strategy: &str,
    of: impl Fn(&Tally) -> Option<f64>,
) -> Option<Measured> {
    let (block, entry) = entry(comparison, strategy)?;
    mean_of_units(block, |unit| of(&entry.units[unit]))
}

/// Share of exact choices.
fn exact(comparison: &Comparison, strategy: &str) -> Option<Measured> {
    let share = |tally: &Tally| Some(tally.exact as f64 / tally.cases.max(1) as f64);
    mean(comparison, strategy, share)
}

/// Geometric mean over units of what search and run come to with one strategy over the same with another.
fn over(comparison: &Comparison, strategy: &str, other: &str) -> Option<Measured> {
    let (block, a) = entry(comparison, strategy)?;
    let (_, b) = entry(comparison, other)?;
    let log = |unit: usize| {
        let (a, b) = (&a.units[unit], &b.units[unit]);
        Some(libm::log((1.0 + a.gross()?) / (1.0 + b.gross()?)))
    };
    let (log, interval) = mean_of_units(block, log)?;
    let interval = interval.map(|of| Interval {
        low: libm::exp(of.low),
        high: libm::exp(of.high),
    });
    Some((libm::exp(log), interval))
}

/// A figure with its interval.
fn written((figure, interval): Measured, one: fn(f64) -> String) -> String {
    let interval = interval.map(|of| format!(" ({} to {})", one(of.low), one(of.high)));
    one(figure) + &interval.unwrap_or_default()
}

fn percent(figure: f64) -> String {
    format!("{:.1} %", 100.0 * figure)
}

fn times(figure: f64) -> String {
    format!("{figure:.2} ×")
}

const CHERRYPICK: &str = "CherryPick, NSDI 2017";
const SCAVENGER: &str = "Scavenger, CCGrid 2023";
const ERNEST: &str = "Ernest, NSDI 2016";

const COMPUTED: &str = "an independent program on the same table";

const CLAIMS: &[Claim] = &[
    Claim {
        what: "six runs at random end at 1.30 of the optimum",
        source: COMPUTED,
        stated: "30 %",
        on: "Scout",
        measured: "mean regret of `random@6`",
        figure: |c| mean(c, "random@6", Tally::regret),
        holds: |regret| (0.25..=0.35).contains(&regret),
        written: percent,
    },
    Claim {
        what: "ten runs at random end at 1.19 of the optimum",
        source: COMPUTED,
        stated: "19 %",
        on: "Scout",
        measured: "mean regret of `random@10`",
        figure: |c| mean(c, "random@10", Tally::regret),
        holds: |regret| (0.14..=0.24).contains(&regret),
        written: percent,
    },
    Claim {
        what: "CherryPick is exact in 21 % at its own stop of about six runs",
        source: COMPUTED,
        stated: "21 %",
        on: "Scout",
        measured: "exact choices of `cherrypick@6`",
        figure: |c| exact(c, "cherrypick@6"),
        holds: |share| (0.16..=0.26).contains(&share),
        written: percent,
    },
    Claim {
        what: "finds the exact optimum with ten runs",
        source: CHERRYPICK,
        stated: "45 to 90 %",
        on: "Scout",
        measured: "exact choices of `cherrypick@10`",
        figure: |c| exact(c, "cherrypick@10"),
        holds: |share| (0.45..=0.90).contains(&share),
        written: percent,
    },
    Claim {
        what: "finds the exact optimum with twenty runs",
        source: CHERRYPICK,
        stated: "45 to 90 %",
        on: "Scout",
        measured: "exact choices of `cherrypick@20`",
        figure: |c| exact(c, "cherrypick@20"),
        holds: |share| (0.45..=0.90).contains(&share),
        written: percent,
    },
    Claim {
        what: "finds the exact optimum",
        source: CHERRYPICK,
        stated: "45 to 90 %",
        on: "Scout",
        measured: "exact choices of `cherrypick` at its own stop",
        figure: |c| exact(c, "cherrypick"),
        holds: |share| (0.45..=0.90).contains(&share),
        written: percent,
    },
    Claim {
        what: "and otherwise a near one",
        source: CHERRYPICK,
        stated: "near, without a figure; here 10 %",
        on: "Scout",
        measured: "mean regret of `cherrypick` at its own stop",
        figure: |c| mean(c, "cherrypick", Tally::regret),
        holds: |regret| regret <= 0.10,
        written: percent,
    },
    Claim {
        what: "a search that charges its probes is cheaper than CherryPick",
        source: "HeterBO, IPDPS 2020",
        stated: "2.34 ×",
        on: "Scout",
        measured: "search and run of `cherrypick` over those of `ei-per-cost`, gross",
        figure: |c| over(c, "cherrypick", "ei-per-cost"),
        holds: |ratio| ratio >= 2.34,
        written: times,
    },
    Claim {
        what: "a step of lookahead beats CherryPick",
        source: "Lynceus, ICDCS 2020 (first version)",
        stated: "1.7 to 1.9 × in the mean",
        on: "Scout",
        measured: "search and run of `cherrypick` over those of `lynceus`, gross",
        figure: |c| over(c, "cherrypick", "lynceus"),
        holds: |ratio| ratio >= 1.7,
        written: times,
    },
    Claim {
        what: "error of predicted times",
        source: ERNEST,
        stated: "below 20 % in the mean",
        on: "Scout",
        measured: "mean error of `ernest`",
        figure: |c| mean(c, "ernest", Tally::error),
        holds: |error| error < 0.20,
        written: percent,
    },
    Claim {
        what: "error of predicted times",
        source: ERNEST,
        stated: "below 20 % in the mean",
        on: "Pollux",
        measured: "mean error of `ernest`",
        figure: |c| mean(c, "ernest", Tally::error),
        holds: |error| error < 0.20,
        written: percent,
    },
    Claim {
        what: "partial search costs about a tenth over the oracle",
        source: SCAVENGER,
        stated: "about 10 %",
        on: "Scavenger",
        measured: "net overhead of `partial`",
        figure: |c| mean(c, "partial", Tally::net),
        holds: |net| net <= 0.13,
        written: percent,
    },
    Claim {
        what: "partial search costs about a tenth over the oracle",
        source: SCAVENGER,
        stated: "about 10 %",
        on: "Pollux",
        measured: "net overhead of `partial`",
        figure: |c| mean(c, "partial", Tally::net),
        holds: |net| net <= 0.13,
        written: percent,
    },
];

/// A point for each claim, in Markdown; `comparisons` by the order of [`GROUNDS`].
pub fn render(comparisons: &[Comparison]) -> String {
    let mut text = String::from(
        "# What papers claim of searches, and what these grids say\n\nBy cost, of a job that is run once. A claim is about the paper's own \
         jobs and machines: where it does not hold here, it may hold there. `scavsim study claims` prints this.\n\n",
    );
    for claim in CLAIMS {
        let ground = GROUNDS.iter().position(|ground| ground.name == claim.on);
        let figure = ground.and_then(|at| (claim.figure)(comparisons.get(at)?));
        let verdict = figure.map(|(figure, _)| match (claim.holds)(figure) {
            true => Verdict::Holds,
            false => Verdict::Fails,
        });
        let verdict = match verdict {
            Some(Verdict::Holds) => "holds",
            Some(Verdict::Fails) => "does not hold",
            None => "not to be said",
        };
        let figure = figure.map_or_else(|| "–".to_owned(), |figure| written(figure, claim.written));
        let Claim {
            source,
            what,
            stated,
            on,
            measured,
            ..
        } = claim;
        text += &format!("- {verdict}: {source}: {what} ({stated}). {on}, {measured}: {figure}.\n");
    }
    text
}
