//! A comparison for people: who is ahead in words, then a table per block, and where each loses.

use super::curve::{Regrets, SPENT};
use super::judge::{Loss, Verdict, judge};
use super::{Block, Comparison, Entry, Tally};
use scavsim_base::text::words::{NONE, or_dash, percent, signed_percent};
use scavsim_base::text::{Column, Page, Sheet, Tone};

/// Words of the tables.
pub const LEGEND: &[(&str, &str)] = &[
    (
        "net",
        "search and R runs over R runs of the oracle, minus 1, where whole runs of the search are some of the R: mean over \
         units, median and 90th percentile (p90) of all cases",
    ),
    ("gross", "the same where the search earns nothing; mean"),
    (
        "regret",
        "expected value of the choice over the oracle's, minus 1, without search; mean",
    ),
    (
        "exact",
        "share of choices that are worth what the oracle's are",
    ),
    ("near", "share of choices within a tenth of it"),
    (
        "rank",
        "among these strategies, mean over units, 1 being the best, with its 95 % interval",
    ),
    (
        "× best",
        "search and runs over those of the best in the mean, geometric mean; * differs at 5 %, ** at 1 %, by signs of pairs \
         and corrected for many (Holm)",
    ),
    (
        "loses",
        "units where search and runs come to more than 1.1 × those of the best other",
    ),
    (
        "none",
        "cases without a figure: no result, or a limit broken; other columns are of the rest",
    ),
];

/// The whole text.
pub fn render(comparison: &Comparison, page: &Page) -> String {
    let verdicts: Vec<Verdict> = comparison.blocks.iter().map(judge).collect();
    let all = || comparison.blocks.iter().zip(&verdicts);
    let mut text: String = all()
        .map(|(block, verdict)| page.prose(&headline(block, verdict), 2))
        .collect();
    for (block, verdict) in all() {
        text.push('\n');
        text += &page.parts(title(block, comparison.replicas, verdict), 2);
        text += &table(block, verdict, page);
        text += &losses(block, verdict, page);
    }
    text += &curves(&comparison.blocks, page);
    text.push('\n');
    let is_shown =
        |(word, _): &&(&str, &str)| *word != "none" || comparison.blocks.iter().any(lacks_some);
    text + &page.legend(LEGEND.iter().filter(is_shown).copied())
}

/// How often a job is run, in words.
fn runs(repeats: u64) -> String {
    match repeats {
        1 => "run once".to_owned(),
        repeats => format!("run {repeats} times"),
    }
}

fn headline(block: &Block, verdict: &Verdict) -> String {
    let what = format!("{}, {}", block.objective.name(), runs(block.repeats));
    let Some(best) = verdict.best else {
        return format!("{what}: no strategy has a figure everywhere.");
    };
    let net = |at: usize| or_dash(block.entries[at].mean(Tally::net).map(signed_percent));
    let mut text = format!(
        "{what}: {} leads, {} over the oracle in the mean, with its search",
        block.entries[best].strategy,
        net(best)
    );
    let mean = |at: &usize| block.entries[*at].mean(Tally::net);
    let others =
        (0..block.entries.len()).filter(|at| *at != best && is_everywhere(&block.entries[*at]));
    let next = others.min_by(|a, b| {
        mean(a)
            .partial_cmp(&mean(b))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    if let Some(next) = next {
        text += &format!("; then {}, {}", block.entries[next].strategy, net(next));
        text += match verdict.standings[next].against_best.and_then(|a| a.p) {
            Some(p) if p <= 0.05 => "",
            _ => ", which may be chance",
        };
    }
    let lost = verdict.standings[best].losses.len();
    match lost {
        0 => text + ". It loses nowhere.",
        lost => text + &format!(". It loses on {lost} of {}.", block.units.len()),
    }
}

/// Whether a strategy lacks a figure in some case.
fn lacks_some(block: &Block) -> bool {
    let mut entries = block.entries.iter();
    entries.any(|entry| !is_everywhere(entry) || entry.share(|t| t.without) > 0.0)
}

/// Whether a strategy has a figure on every unit.
fn is_everywhere(entry: &Entry) -> bool {
    entry.units.iter().all(|unit| unit.net().is_some())
}

fn title(block: &Block, replicas: u64, verdict: &Verdict) -> Vec<String> {
    let mut scenarios: Vec<&str> = block.units.iter().map(|u| u.scenario.as_str()).collect();
    scenarios.dedup();
    let units = if block.units.iter().any(|unit| unit.part > 0) {
        format!(
            "{} halves of {} workloads",
            block.units.len(),
            verdict.clusters
        )
    } else {
        format!("{} units", block.units.len())
    };
    vec![
        scenarios.join(", "),
        block.objective.name().to_owned(),
        runs(block.repeats),
        units,
        format!("{replicas} replicas"),
    ]
}

fn table(block: &Block, verdict: &Verdict, page: &Page) -> String {
    let sheet = Sheet::new(order(block), columns(block, verdict));
    let fitted = sheet
        .toned(|at| {
            if verdict.best == Some(*at) {
                Tone::Best
            } else {
                Tone::Plain
            }
        })
        .fit(page);
    fitted.text(page) + &fitted.remark("", page)
}

/// What is told of a strategy by its place in the block.
fn columns<'b>(block: &'b Block, verdict: &'b Verdict) -> Vec<Column<'b, usize>> {
    let entry = |at: &usize| &block.entries[*at];
    let figure = |head, of: fn(&Entry) -> Option<f64>| {
        Column::number(head, move |at| or_dash(of(entry(at)).map(signed_percent)))
    };
    let share = |head, of: fn(&Tally) -> u64| {
        Column::number(head, move |at| percent(entry(at).share(of), 0))
    };
    let rank = |at: &usize| {
        let standing = &verdict.standings[*at];
        let interval = standing.rank_interval;
        let interval = interval.map(|i| format!(" ({:.1}–{:.1})", i.low, i.high));
        format!("{:.1}{}", standing.rank, interval.unwrap_or_default())
    };
    let against_best = |at: &usize| {
        or_dash(verdict.standings[*at].against_best.map(|against| {
            let stars = match against.p {
                Some(p) if p <= 0.01 => "**",
                Some(p) if p <= 0.05 => "* ",
                _ => "  ",
            };
            format!("{:.2}{stars}", against.ratio)
        }))
    };
    let none = move |at: &usize| match entry(at).share(|t| t.without) {
        0.0 => NONE.to_owned(),
        share if share < 0.005 => "< 1 %".to_owned(),
        share => percent(share, 0),
    };
    let mut columns = vec![
        Column::text("strategy", move |at| entry(at).strategy.clone()),
        figure("net mean", |own| own.mean(Tally::net)).rank(0),
        figure("median", |own| own.net.clone().median()).rank(1),
        figure("p90", |own| own.net.clone().quantile(0.9)).rank(1),
        figure("gross", |own| own.mean(Tally::gross)).rank(4),
        figure("regret", |own| own.mean(Tally::regret)).rank(2),
        share("exact", |tally| tally.exact).rank(2),
        share("near", |tally| tally.near).rank(3),
        Column::number("rank", rank).rank(1),
        Column::number("× best", against_best).rank(2),
        Column::number("loses", |at: &usize| {
            verdict.standings[*at].losses.len().to_string()
        })
        .rank(2),
    ];
    if lacks_some(block) {
        columns.push(Column::number("none", none).rank(1));
    }
    columns
}

/// Strategies by their mean; those without a figure somewhere last.
fn order(block: &Block) -> Vec<usize> {
    let key = |at: usize| {
        let entry = &block.entries[at];
        let mean = entry.mean(Tally::net).unwrap_or(f64::INFINITY);
        (!is_everywhere(entry), mean)
    };
    let mut order: Vec<usize> = (0..block.entries.len()).collect();
    order.sort_by(|a, b| {
        let (a, b) = (key(*a), key(*b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    order
}

/// Where each loses most, of the strategies that lose somewhere.
fn losses(block: &Block, verdict: &Verdict, page: &Page) -> String {
    let all: Vec<(&str, &[Loss])> = (order(block).into_iter())
        .map(|at| {
            let losses = &verdict.standings[at].losses;
            (block.entries[at].strategy.as_str(), losses.as_slice())
        })
        .filter(|(_, losses)| !losses.is_empty())
        .collect();
    if all.is_empty() {
        return String::new();
    }
    type LossRow<'l> = (&'l str, &'l [Loss]);
    let nth = |place: usize| {
        move |(_, losses): &LossRow<'_>| {
            let loss = losses.get(place);
            loss.map_or_else(String::new, |loss| told(block, loss))
        }
    };
    let count = |(_, losses): &LossRow<'_>| format!("{} of {}", losses.len(), block.units.len());
    let columns = [
        Column::word("loses", |(name, _): &LossRow<'_>| name),
        Column::number("on", count).rank(0),
        Column::text("most on", nth(0)).rank(1),
        Column::text("then on", nth(1)).rank(2),
    ];
    format!("\n{}", Sheet::new(all, columns).fit(page).text(page))
}

fn told(block: &Block, loss: &Loss) -> String {
    let unit = &block.units[loss.unit];
    let is_alone = block
        .units
        .iter()
        .all(|other| other.scenario == unit.scenario);
    let mut name = if is_alone {
        unit.workload.clone()
    } else {
        format!("{}: {}", unit.scenario, unit.workload)
    };
    if unit.part > 0 {
        name += &format!("/{}", unit.part);
    }
    let to = &block.entries[loss.to].strategy;
    if loss.ratio.is_finite() {
        format!("{name}, {:.1} × {to}", loss.ratio)
    } else {
        format!("{name}, no figure")
    }
}

/// The regret of what was found over what was spent, of the most runs of each objective.
fn curves(blocks: &[Block], page: &Page) -> String {
    let mut text = String::new();
    for (at, block) in blocks.iter().enumerate() {
        let is_last = blocks
            .get(at + 1)
            .is_none_or(|next| next.objective != block.objective);
        if !is_last {
            continue;
        }
        let order = order(block);
        let medians: Vec<Regrets> = (order.iter())
            .map(|at| block.entries[*at].curve.clone().medians())
            .collect();
        // Searches that end before the first amount show nothing of how they went.
        if medians.iter().all(|own| own.iter().all(|m| *m == own[0])) {
            continue;
        }
        text.push('\n');
        let what = format!(
            "{}, {}: median regret of the best run so far, over what the search had spent in runs of the oracle; – : nothing \
             found yet by half of all",
            block.objective.name(),
            runs(block.repeats)
        );
        text += &page.prose(&what, 2);
        type StrategyRow<'b> = (&'b Entry, Regrets);
        let mut columns = vec![Column::word("strategy", |(entry, _): &StrategyRow<'_>| {
            &entry.strategy
        })];
        columns.extend(SPENT.iter().enumerate().map(|(place, spent)| {
            let cell =
                move |(_, medians): &StrategyRow<'_>| or_dash(medians[place].map(signed_percent));
            // At least every second amount is shown.
            Column::number(format!("{spent} ×"), cell).rank(u8::from(place % 2 == 0))
        }));
        let entries = order.iter().map(|at| &block.entries[*at]);
        text += &Sheet::new(entries.zip(medians), columns)
            .fit(page)
            .text(page);
    }
    text
}
