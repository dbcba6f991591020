//! A comparison as text: a table per block, where each strategy loses, and last the leaders.

use std::collections::BTreeSet;

use super::curve::{Regrets, SPENT};
use super::judge::{LEVEL, Loss, Verdict, judge};
use super::{Block, Comparison, CompetitionUnit, Entry, PriorKnowledge, Tally, tally::reasons};
use scavsim_base::text::words::{
    NONE, or_dash, percent, plural, plural_with_commas, signed_percent, whole_share, with_commas,
};
use scavsim_base::text::{Column, EXPLAIN, Page, Sheet, Tone};

/// Heads of optional columns.
const FAILS: &str = "fails";
const NO_FIGURE: &str = "none";
const OVER_BEST: &str = "× best";
const OVER_NAMED: &str = "× named";

/// How many cases of a strategy lack something.
type CountOf = fn(&Tally) -> u64;

/// What a case may lack, by the head of its column.
const LACKS: [(&str, CountOf); 2] = [
    (FAILS, |tally| tally.failed),
    (NO_FIGURE, |tally| tally.without),
];

pub fn render(comparison: &Comparison, page: &Page) -> String {
    let verdicts: Vec<Verdict> = comparison.blocks.iter().map(judge).collect();
    let all = || comparison.blocks.iter().zip(&verdicts);
    let mut text = String::new();
    for (block, verdict) in all() {
        if !text.is_empty() {
            text.push('\n');
        }
        text += &page.parts(title(block, comparison.replicas, verdict), 2);
        text += &table(block, verdict, page);
        text += &no_stars(verdict, page);
        text += &losses(block, verdict, page);
        text += &failures(block, verdict, page);
    }
    text += &curves(&comparison.blocks, &verdicts, page);
    text.push('\n');
    text += &told_before(&comparison.told, page);
    text.push('\n');
    text + &answer(&all().collect::<Vec<_>>(), page) + &page.dim(EXPLAIN)
}

/// Knowledge of strategies other than the configurations, in groups.
fn told_before(all: &[PriorKnowledge], page: &Page) -> String {
    let what = |told: &PriorKnowledge| {
        let known = match told.known_runs.round() {
            0.0 => String::new(),
            1.0 => "1 earlier run".to_owned(),
            runs => format!("{runs} earlier runs"),
        };
        let parts = [
            (told.depends.objective, "objective"),
            (told.depends.prices, "prices"),
            (!known.is_empty(), &known),
        ];
        let parts: Vec<&str> = (parts
            .into_iter()
            .filter_map(|(is, word)| is.then_some(word)))
        .collect();
        match &parts[..] {
            [] => "nothing".to_owned(),
            parts => parts.join(", "),
        }
    };
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for told in all {
        let what = what(told);
        match groups.iter_mut().find(|(known, _)| *known == what) {
            Some((_, names)) => names.push(&told.strategy),
            None => groups.push((what, vec![&told.strategy])),
        }
    }
    let lines: Vec<(String, String)> = (groups.into_iter())
        .map(|(what, names)| (what, names.join(", ")))
        .collect();
    let lines = lines.iter().map(|(what, names)| (&**what, &**names));
    page.prose(
        "known to strategies besides configurations, machines, R and limits:",
        2,
    ) + &page.legend(lines)
}

fn runs(repeats: u64) -> String {
    match repeats {
        1 => "run once".to_owned(),
        repeats => format!("run {repeats} times"),
    }
}

/// Maximum rows of the answer, so that it fits the last screen.
const MOST: usize = 9;
type Judged<'c> = (&'c Block, &'c Verdict);

/// The leader for each objective and number of runs, and its lead.
fn answer(all: &[Judged<'_>], page: &Page) -> String {
    let name = |(block, _): &Judged<'_>, at: usize| block.entries[at].strategy.clone();
    let net = |(block, _): &Judged<'_>, at: usize| {
        or_dash(block.entries[at].mean(Tally::net).map(signed_percent))
    };
    let best = |(block, verdict): &Judged<'_>| {
        verdict
            .best
            .filter(|best| block.entries[*best].is_sound(&block.units))
    };
    let next = move |row: &Judged<'_>| {
        best(row)?;
        let next = row.1.order.get(1).copied();
        next.filter(|next| is_everywhere(&row.0.entries[*next]))
    };
    let columns = [
        Column::text("for", |(block, _): &Judged<'_>| {
            format!("{}, R = {}", block.objective.name(), block.repeats)
        }),
        Column::text("best strategy", move |row: &Judged<'_>| match best(row) {
            Some(best) => name(row, best),
            None => why_none(row).to_owned(),
        })
        .rank(0),
        Column::number("worse by", move |row: &Judged<'_>| {
            or_dash(best(row).map(|best| net(row, best)))
        })
        .rank(0),
        Column::text("next", move |row: &Judged<'_>| {
            or_dash(next(row).map(|next| name(row, next)))
        })
        .rank(1),
        Column::number("worse by", move |row: &Judged<'_>| {
            or_dash(next(row).map(|next| net(row, next)))
        })
        .rank(1),
        Column::number("p", move |row: &Judged<'_>| {
            or_dash(next(row).and_then(|next| certainty(row, next)))
        })
        .rank(1),
        Column::number("loses", move |row: &Judged<'_>| {
            let lost = |best: usize| row.1.standings[best].losses.len();
            or_dash(best(row).map(|best| format!("{} of {}", lost(best), row.0.units.len())))
        })
        .rank(2),
    ];
    let shown = all.iter().take(MOST).copied();
    let mut text = Sheet::new(shown, columns).fit(page).text(page);
    if all.len() > MOST {
        text += &format!("… and {} more above\n", all.len() - MOST);
    }
    text
}

/// Why a block has no best strategy.
fn why_none((_, verdict): &Judged<'_>) -> &'static str {
    match verdict.best {
        None => "none: no strategy has a figure everywhere",
        Some(_) => "none: every strategy fails in some cases",
    }
}

/// The probability of the distance between the best and the next by chance alone, if one was compared with the other.
fn certainty((_, verdict): &Judged<'_>, next: usize) -> Option<String> {
    // With a third strategy as the reference, these two were not compared.
    let other = match verdict.reference {
        Some(at) if Some(at) == verdict.best => next,
        Some(at) if at == next => verdict.best?,
        _ => return None,
    };
    let p = verdict.standings[other].against.and_then(|own| own.p);
    Some(match p {
        Some(p) if p <= LEVEL => format!("{p:.3}"),
        _ => format!("> {LEVEL}"),
    })
}

fn some(block: &Block, of: fn(&Tally) -> u64) -> bool {
    block.entries.iter().any(|entry| entry.share(of) > 0.0)
}

fn is_everywhere(entry: &Entry) -> bool {
    entry.units.iter().all(|unit| unit.net().is_some())
}

fn title(block: &Block, replicas: u64, verdict: &Verdict) -> Vec<String> {
    let mut scenarios: Vec<&str> = block.units.iter().map(|u| u.scenario.as_str()).collect();
    scenarios.dedup();
    let units = if block.units.iter().any(|unit| unit.part > 0) {
        format!(
            "{} halves of {}",
            block.units.len(),
            plural(count_of(block, |unit| &unit.workload) as u64, "workload")
        )
    } else {
        plural(block.units.len() as u64, "unit")
    };
    let mut programs = Vec::new();
    if verdict.clusters < count_of(block, |unit| &unit.workload) {
        programs.push(plural(verdict.clusters as u64, "program"));
    }
    let mut parts = vec![
        scenarios.join(", "),
        block.objective.name().to_owned(),
        runs(block.repeats),
        units,
    ];
    parts.extend(programs);
    parts.push(plural(replicas, "replica"));
    if let Some(at) = block.against {
        parts.push(format!("against {}", block.entries[at].strategy));
    }
    parts
}

/// Number of different texts of units.
fn count_of(block: &Block, of: impl Fn(&CompetitionUnit) -> &str) -> usize {
    let all: BTreeSet<(&str, &str)> = (block.units.iter())
        .map(|unit| (unit.scenario.as_str(), of(unit)))
        .collect();
    all.len()
}

/// Why no strategy has a star, if none can have one.
fn no_stars(verdict: &Verdict, page: &Page) -> String {
    if verdict.can_differ {
        return String::new();
    }
    let many = verdict.clusters;
    page.prose(
        &format!(
            "No star is possible: of {} chance alone has all on one side in more than 5 %.",
            plural(many as u64, "independent job")
        ),
        2,
    )
}

fn table(block: &Block, verdict: &Verdict, page: &Page) -> String {
    let sheet = Sheet::new(verdict.order.clone(), columns(block, verdict));
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
    let over = |at: &usize| {
        or_dash(verdict.standings[*at].against.map(|against| {
            let stars = match against.p {
                Some(p) if p <= 0.01 => "**",
                Some(p) if p <= LEVEL => "* ",
                _ => "  ",
            };
            format!("{:.2}{stars}", against.ratio)
        }))
    };
    let lack = |head, of: fn(&Tally) -> u64| {
        Column::number(head, move |at| match entry(at).share(of) {
            0.0 => NONE.to_owned(),
            share => whole_share(share),
        })
    };
    let over_head = match block.against {
        Some(_) => OVER_NAMED,
        None => OVER_BEST,
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
        Column::number(over_head, over).rank(2),
        Column::number("loses", |at: &usize| {
            verdict.standings[*at].losses.len().to_string()
        })
        .rank(2),
    ];
    columns.extend(history_columns(block));
    for (head, of) in LACKS {
        if some(block, of) {
            columns.push(lack(head, of).rank(1));
        }
    }
    columns
}

/// The total of earlier runs, and when they break even, if a strategy used any.
fn history_columns(block: &Block) -> Vec<Column<'_, usize>> {
    let entry = |at: &usize| &block.entries[*at];
    let is_known = |entry: &Entry| entry.mean(Tally::history) > Some(0.0);
    let mut columns = Vec::new();
    if block.entries.iter().any(is_known) {
        let amount = |figure: f64| {
            if figure < 10.0 {
                format!("{figure:.1}")
            } else {
                with_commas(figure.round() as u64)
            }
        };
        columns.push(
            Column::number("history", move |at| {
                let history = entry(at).mean(Tally::history).filter(|all| *all > 0.0);
                or_dash(history.map(|history| format!("{} ×", amount(history))))
            })
            .rank(1),
        );
        columns.push(
            Column::number("pays after", move |at| {
                let jobs = |jobs: f64| plural_with_commas(jobs.ceil() as u64, "job");
                match (is_known(entry(at)), block.pays_after(*at)) {
                    (false, _) => NONE.to_owned(),
                    (true, jobs_after) => jobs_after.map_or("never".to_owned(), jobs),
                }
            })
            .rank(2),
        );
    }
    columns
}

/// Where each strategy loses most, for those that lose somewhere.
fn losses(block: &Block, verdict: &Verdict, page: &Page) -> String {
    let all: Vec<(&str, &[Loss])> = (verdict.order.iter())
        .map(|at| {
            let losses = &verdict.standings[*at].losses;
            (block.entries[*at].strategy.as_str(), losses.as_slice())
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
            loss.map_or_else(String::new, |loss| loss_text(block, loss))
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

/// Maximum number of failure reasons per strategy.
const REASONS: usize = 3;

fn failures(block: &Block, verdict: &Verdict, page: &Page) -> String {
    let cases = |entry: &Entry| entry.units.iter().map(|unit| unit.cases).sum::<u64>();
    let mut text = String::new();
    for at in &verdict.order {
        let entry = &block.entries[*at];
        let (failures, all) = (reasons(std::iter::once(entry)), cases(entry));
        let count: u64 = failures.iter().map(|(_, count)| count).sum();
        if count == 0 {
            continue;
        }
        let told = failures.iter().take(REASONS);
        let told: Vec<String> = told
            .map(|(why, count)| format!("{count} × {why}"))
            .collect();
        let more = match failures.len().saturating_sub(REASONS) {
            0 => "",
            _ => "; and other reasons",
        };
        let share = whole_share(count as f64 / all as f64);
        let sentence = format!(
            "{} fails in {share} of its cases: {}{more}.",
            entry.strategy,
            told.join("; ")
        );
        text += &page.prose(&sentence, 2);
    }
    if text.is_empty() {
        return text;
    }
    format!("\n{text}")
}

fn loss_text(block: &Block, loss: &Loss) -> String {
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

/// The regret over the spending, for the most runs of each objective.
fn curves(blocks: &[Block], verdicts: &[Verdict], page: &Page) -> String {
    let mut text = String::new();
    for (at, (block, verdict)) in blocks.iter().zip(verdicts).enumerate() {
        let is_last = blocks
            .get(at + 1)
            .is_none_or(|next| next.objective != block.objective);
        if !is_last {
            continue;
        }
        let order = &verdict.order;
        let medians: Vec<Regrets> = (order.iter())
            .map(|at| block.entries[*at].curve.clone().medians())
            .collect();
        // Searches that end before the first amount show no progress.
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
