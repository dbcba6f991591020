//! Claims of papers about their searches, compared with results on the shipped grids and trainings: each claim in all its readings.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::atomic::AtomicU64;

use scavsim::Interrupt;
use scavsim::compare::judge::mean_of_units;
use scavsim::compare::{
    Block, Comparison, ComparisonOptions, ComparisonQuestion, Entry, Tally, compare,
};
use scavsim::input::{Diagnostics, Source};
use scavsim::scenario::{self, Overrides};
use scavsim::search::Objective;
use scavsim::stats::Interval;

/// The comparisons for claims: their names in rows, and their scenarios.
const GROUNDS: [(&str, &str); 3] = [
    ("Scout", "compare-scout"),
    ("Scavenger", "compare-steps-scavenger"),
    ("Pollux", "compare-steps-pollux"),
];

/// All comparisons, by both objectives, of a job that is run once and of one that is run ten times.
fn comparisons() -> Vec<Comparison> {
    GROUNDS.map(|(_, scenario)| comparison(scenario)).into()
}

fn comparison(scenario: &str) -> Comparison {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let text = std::fs::read_to_string(folder.join(format!("{scenario}.toml")));
    let source = Source::new(scenario, text.expect("a shipped scenario"));
    let overrides = Overrides {
        set: vec![Source::new("set", "search.objectives = ['cost', 'time']")],
        ..Overrides::default()
    };
    let mut wrong = Diagnostics::default();
    let scenario = scenario::load(&source, &folder, overrides, &mut wrong);
    let question = ComparisonQuestion {
        repeats: vec![1, 10],
        parts: 0,
        against: None,
    };
    let effort = ComparisonOptions {
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        interrupt: &Interrupt::default(),
        progress: &AtomicU64::new(0),
    };
    let scenario = scenario.expect("it has no mistakes");
    compare(&[scenario], &question, effort).expect("a comparison")
}

/// The charge of a search.
#[derive(Clone, Copy)]
enum Accounting {
    /// All but the progress for the job itself.
    Net,
    /// Everything.
    Gross,
}

use Accounting::{Gross, Net};
use Objective::{Cost, Time};

impl Accounting {
    fn of(self, tally: &Tally) -> Option<f64> {
        match self {
            Net => tally.net(),
            Gross => tally.gross(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Net => "net",
            Gross => "gross",
        }
    }
}

/// A figure and its 95 % interval over workloads.
type Measured = (f64, Option<Interval>);

/// A measure of a strategy in a block, if it competes.
type Measure = fn(&Block, &str, Accounting) -> Option<Measured>;

/// A claim and its open words.
struct Claim {
    /// Source and text.
    what: &'static str,
    source: &'static str,
    /// The bound, with the margin of its rounding.
    bound: &'static str,
    legal: RangeInclusive<f64>,
    /// The measured figure, and its format.
    measured: &'static str,
    measure: Measure,
    written: fn(f64) -> String,
    /// Readings: every combination of these. No accountings if nothing is charged.
    on: &'static [&'static str],
    strategies: &'static [&'static str],
    objectives: &'static [Objective],
    repeats: &'static [u64],
    accountings: &'static [Accounting],
}

fn entry<'b>(block: &'b Block, strategy: &str) -> Option<&'b Entry> {
    let mut entries = block.entries.iter();
    entries.find(|entry| entry.strategy == strategy)
}

/// Mean over units of a figure of a strategy.
fn mean(block: &Block, strategy: &str, of: impl Fn(&Tally) -> Option<f64>) -> Option<Measured> {
    let entry = entry(block, strategy)?;
    mean_of_units(block, |unit| of(&entry.units[unit]))
}

/// Share of exact choices.
fn exact(block: &Block, strategy: &str, _: Accounting) -> Option<Measured> {
    let share = |tally: &Tally| Some(tally.exact as f64 / tally.cases.max(1) as f64);
    mean(block, strategy, share)
}

fn regret(block: &Block, strategy: &str, _: Accounting) -> Option<Measured> {
    mean(block, strategy, Tally::regret)
}

fn error(block: &Block, strategy: &str, _: Accounting) -> Option<Measured> {
    mean(block, strategy, Tally::error)
}

fn overhead(block: &Block, strategy: &str, accounting: Accounting) -> Option<Measured> {
    mean(block, strategy, |tally| accounting.of(tally))
}

/// Geometric mean over units of search and runs with CherryPick relative to a strategy.
fn cherrypick_over(block: &Block, strategy: &str, accounting: Accounting) -> Option<Measured> {
    let (a, b) = (entry(block, "cherrypick")?, entry(block, strategy)?);
    let log = |unit: usize| {
        let (a, b) = (&a.units[unit], &b.units[unit]);
        Some(libm::log(
            (1.0 + accounting.of(a)?) / (1.0 + accounting.of(b)?),
        ))
    };
    let (log, interval) = mean_of_units(block, log)?;
    let interval = interval.map(|of| Interval {
        low: libm::exp(of.low),
        high: libm::exp(of.high),
    });
    Some((libm::exp(log), interval))
}

fn percent(figure: f64) -> String {
    format!("{:.1} %", 100.0 * figure)
}

fn times(figure: f64) -> String {
    format!("{figure:.2} ×")
}

const CHERRYPICK: &str = "CherryPick, NSDI 2017";

const CLAIMS: &[Claim] = &[
    Claim {
        what: "45 to 90 % chance of the exact optimum",
        source: CHERRYPICK,
        bound: "45 to 90 %",
        legal: 0.45..=0.90,
        measured: "exact choices",
        measure: exact,
        written: percent,
        on: &["Scout"],
        strategies: &[
            "cherrypick",
            "cherrypick@6",
            "cherrypick@10",
            "cherrypick@20",
        ],
        objectives: &[Cost, Time],
        repeats: &[1],
        accountings: &[],
    },
    Claim {
        what: "otherwise near the optimum",
        source: CHERRYPICK,
        bound: "at most 10 %, as the paper has no figure",
        legal: f64::NEG_INFINITY..=0.10,
        measured: "mean regret",
        measure: regret,
        written: percent,
        on: &["Scout"],
        strategies: &[
            "cherrypick",
            "cherrypick@6",
            "cherrypick@10",
            "cherrypick@20",
        ],
        objectives: &[Cost, Time],
        repeats: &[1],
        accountings: &[],
    },
    Claim {
        what: "a search that charges its probes beats CherryPick 2.34 times",
        source: "HeterBO, IPDPS 2020",
        bound: "at least 2.34 ± 0.005 ×",
        legal: 2.335..=f64::INFINITY,
        measured: "search and runs of `cherrypick` over its own",
        measure: cherrypick_over,
        written: times,
        on: &["Scout"],
        strategies: &["ei-per-cost"],
        objectives: &[Cost, Time],
        repeats: &[1, 10],
        accountings: &[Net, Gross],
    },
    Claim {
        what: "a step of lookahead beats CherryPick 1.7 to 1.9 times in the mean",
        source: "Lynceus, ICDCS 2020 (first version)",
        bound: "at least 1.7 ± 0.05 ×",
        legal: 1.65..=f64::INFINITY,
        measured: "search and runs of `cherrypick` over its own",
        measure: cherrypick_over,
        written: times,
        on: &["Scout"],
        strategies: &["lynceus"],
        objectives: &[Cost, Time],
        repeats: &[1, 10],
        accountings: &[Net, Gross],
    },
    Claim {
        what: "average error of predicted times under 20 %",
        source: "Ernest, NSDI 2016",
        bound: "under 20 %",
        legal: f64::NEG_INFINITY..=0.20,
        measured: "mean error of predicted times",
        measure: error,
        written: percent,
        on: &["Scavenger", "Pollux"],
        strategies: &["ernest"],
        objectives: &[Cost, Time],
        repeats: &[1],
        accountings: &[],
    },
    Claim {
        what: "“an overhead of just 10%” over the oracle",
        source: "Scavenger, CCGrid 2023",
        bound: "at most 10 ± 0.5 %",
        legal: f64::NEG_INFINITY..=0.105,
        measured: "search and runs over the oracle's, less 1",
        measure: overhead,
        written: percent,
        on: &["Scavenger", "Pollux"],
        strategies: &["partial"],
        objectives: &[Cost, Time],
        repeats: &[1],
        accountings: &[Net, Gross],
    },
];

/// Results of an independent program on one table: no claim of a paper.
const LOOKS: &[(&str, &str, Measure, f64)] = &[
    (
        "mean regret of six runs at random",
        "random@6",
        regret,
        0.30,
    ),
    (
        "mean regret of ten runs at random",
        "random@10",
        regret,
        0.19,
    ),
    (
        "exact choices of CherryPick with six runs",
        "cherrypick@6",
        exact,
        0.21,
    ),
];

/// Maximum difference from it.
const LOOK_MARGIN: f64 = 0.05;

/// One reading of a claim.
struct Reading {
    name: String,
    measured: Measured,
    verdict: Verdict,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Holds,
    /// The bound is within the interval.
    Open,
    DoesNotHold,
}

impl Verdict {
    fn new((figure, interval): Measured, legal: &RangeInclusive<f64>) -> Verdict {
        let (low, high) = interval.map_or((figure, figure), |of| (of.low, of.high));
        let is_beyond = high < *legal.start() || low > *legal.end();
        if legal.contains(&low) && legal.contains(&high) {
            Verdict::Holds
        } else if is_beyond {
            Verdict::DoesNotHold
        } else {
            Verdict::Open
        }
    }

    fn name(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Open => "open",
            Verdict::DoesNotHold => "does not hold",
        }
    }
}

/// All readings of a claim for which the comparisons, in the order of [`GROUNDS`], have figures.
fn readings(claim: &Claim, comparisons: &[Comparison]) -> Vec<Reading> {
    let mut readings = Vec::new();
    let charged: Vec<Option<Accounting>> = match claim.accountings {
        [] => vec![None],
        all => all.iter().map(|one| Some(*one)).collect(),
    };
    for ((ground, _), comparison) in GROUNDS.iter().zip(comparisons) {
        if !claim.on.contains(ground) {
            continue;
        }
        let asked = |block: &&Block| {
            claim.objectives.contains(&block.objective) && claim.repeats.contains(&block.repeats)
        };
        for block in comparison.blocks.iter().filter(asked) {
            for strategy in claim.strategies {
                for accounting in &charged {
                    let of = accounting.unwrap_or(Gross);
                    let Some(measured) = (claim.measure)(block, strategy, of) else {
                        continue;
                    };
                    let runs = match claim.repeats {
                        [_] => String::new(),
                        _ if block.repeats == 1 => ", 1 run".to_owned(),
                        _ => format!(", {} runs", block.repeats),
                    };
                    let charged = accounting.map_or(String::new(), |of| format!(", {}", of.name()));
                    readings.push(Reading {
                        name: format!(
                            "{ground}, `{strategy}` by {}{runs}{charged}",
                            block.objective.name()
                        ),
                        measured,
                        verdict: Verdict::new(measured, &claim.legal),
                    });
                }
            }
        }
    }
    readings
}

fn count(readings: &[Reading], verdict: Verdict) -> usize {
    let own = readings.iter().filter(|own| own.verdict == verdict);
    own.count()
}

/// The number of readings in which a claim holds.
fn verdict(readings: &[Reading]) -> String {
    let [holds, open] = [Verdict::Holds, Verdict::Open].map(|own| count(readings, own));
    let open = match open {
        0 => String::new(),
        open => format!(", {open} open"),
    };
    format!("holds in {holds} of {} readings{open}", readings.len())
}

/// The summary of all claims.
fn sentence(claims: &[Vec<Reading>]) -> String {
    let all: usize = claims.iter().map(Vec::len).sum();
    let of = |verdict| -> usize { claims.iter().map(|own| count(own, verdict)).sum() };
    let holds = |own: &&Vec<Reading>| count(own, Verdict::Holds);
    let in_all = claims.iter().filter(|own| holds(own) == own.len()).count();
    let in_none = claims.iter().filter(|own| holds(own) == 0).count();
    format!(
        "{} claims of papers: {in_all} in every reading, {} in some, {in_none} in none; {} of {all} readings hold, {} \
         are open.",
        claims.len(),
        claims.len() - in_all - in_none,
        of(Verdict::Holds),
        of(Verdict::Open)
    )
}

/// A figure with its interval.
fn written((figure, interval): Measured, one: fn(f64) -> String) -> String {
    let interval = interval.map(|of| format!(" ({} to {})", one(of.low), one(of.high)));
    one(figure) + &interval.unwrap_or_default()
}

/// Every claim with its readings, in Markdown.
pub fn document() -> String {
    let comparisons = &comparisons()[..];
    let claims: Vec<Vec<Reading>> = CLAIMS
        .iter()
        .map(|claim| readings(claim, comparisons))
        .collect();
    let mut text = format!(
        "# What papers claim of searches, and what these grids say\n\n{}\n\nA claim is about the paper's own jobs and machines: \
         where it does not hold here, it may hold there. It is held against every reading of what its words leave open, and \
         holds in one where the whole 95 % interval over workloads keeps to the bound. `cargo bench --bench studies -- claims` prints this.\n\n",
        sentence(&claims)
    );
    for (claim, readings) in CLAIMS.iter().zip(&claims) {
        let Claim {
            source,
            what,
            bound,
            ..
        } = claim;
        text += &format!(
            "- {source}: {what}: {}. Held to: {bound}.\n",
            verdict(readings)
        );
    }
    text += "\n## Readings\n\n| claim | reading | measured | figure (95 %) | verdict |\n|---|---|---|---|---|\n";
    for (claim, readings) in CLAIMS.iter().zip(&claims) {
        for reading in readings {
            text += &format!(
                "| {} | {} | {} | {} | {} |\n",
                claim.source,
                reading.name,
                claim.measured,
                written(reading.measured, claim.written),
                reading.verdict.name()
            );
        }
    }
    text += "\n## Beside an independent program on the same table\n\nNo claims of papers: figures that were computed before, \
             outside of this program, on Scout by cost.\n\n";
    let is_asked = |block: &&Block| block.objective == Cost && block.repeats == 1;
    let scout = comparisons.first();
    let block = scout.and_then(|scout| scout.blocks.iter().find(is_asked));
    for (what, strategy, measure, outside) in LOOKS {
        let Some(measured) = block.and_then(|block| measure(block, strategy, Gross)) else {
            continue;
        };
        let agrees = if (measured.0 - outside).abs() <= LOOK_MARGIN {
            "agrees within 5 points"
        } else {
            "does not agree within 5 points"
        };
        text += &format!(
            "- {agrees}: {what}: {} there, here {}.\n",
            percent(*outside),
            written(measured, percent)
        );
    }
    text
}
