//! Shared parts of the pages of a leaderboard and of a comparison: strategies by objective and runs of the job.

use super::answer::{Answer, CardLine, HeadlineValue};
use super::contents::Picker;
use super::picture::{Layer, Picture, PictureAxis};
use super::table::Table;
use crate::figure::material::distinct;
use scavsim_base::text::words::first_of;
use scavsim_base::text::words::{plural, share, signed_percent};
use scavsim_base::text::{Cell, Column, Sheet};
use scavsim_measure::compare::judge::judge;
use scavsim_measure::compare::{Block, CompetitionUnit, Entry, Tally};

fn runs(block: &Block) -> String {
    match block.repeats {
        1 => "once".to_owned(),
        repeats => format!("{repeats} times"),
    }
}

pub(super) fn pickers(blocks: &[Block]) -> Vec<Picker> {
    let runs: Vec<String> = blocks.iter().map(runs).collect();
    let objectives = distinct(blocks.iter().map(|block| block.objective.name()));
    let runs = distinct(runs.iter().map(String::as_str));
    let names = blocks.iter().flat_map(|block| &block.entries);
    let names = distinct(names.map(|entry| &*entry.strategy));
    let objective = Picker::among("objective", "best by", &objectives);
    let runs = Picker::among("job is run", "job is run", &runs);
    let marks = Picker::among("strategy", "strategy", &names).map(Picker::marking);
    [objective, runs, marks].into_iter().flatten().collect()
}

pub(super) fn answers(blocks: &[Block]) -> Vec<Answer> {
    blocks.iter().map(answer).collect()
}

fn fails(entry: &Entry) -> f64 {
    entry.share(|tally| tally.failed + tally.without)
}

fn answer(block: &Block) -> Answer {
    let mut answer = Answer {
        of: [
            ("objective", block.objective.name().to_owned()),
            ("job is run", runs(block)),
        ]
        .into(),
        lead: "Search with".to_owned(),
        detail: format!(
            "lowest mean overhead over {}",
            plural(block.units.len() as u64, "job")
        ),
        ..Answer::default()
    };
    let verdict = judge(block);
    let Some(first) = verdict.best else {
        "Nothing".clone_into(&mut answer.what);
        answer
            .lines
            .push(CardLine::new("Why", "nobody has a figure everywhere."));
        return answer;
    };
    let over = |value: Option<f64>| value.map_or_else(|| "no figure".to_owned(), signed_percent);
    let net = |at: usize| over(block.entries[at].mean(Tally::net));
    let best = &block.entries[first];
    best.strategy.clone_into(&mut answer.what);
    answer.figures = vec![
        HeadlineValue::new(net(first), "over the oracle, search counted"),
        HeadlineValue::new(
            over(best.mean(Tally::regret)),
            "what its choices lose alone",
        ),
    ];
    let point = best.mean(Tally::regret).zip(best.mean(Tally::net));
    answer.point = point.map(|(regret, net)| [100.0 * regret, 100.0 * net]);
    answer.mark = Some(best.strategy.clone());
    let others = || verdict.order.iter().copied().filter(|at| *at != first);
    if let Some(second) = others().next() {
        let p = verdict.standings[second]
            .against
            .and_then(|against| against.p);
        let chance = match p {
            Some(p) if verdict.can_differ => {
                format!("; p = {p:.3} that chance alone parts a pair this far")
            }
            _ => "; too few independent jobs to tell them apart".to_owned(),
        };
        let text = format!(
            "{}: {}{chance}.",
            block.entries[second].strategy,
            net(second)
        );
        answer.lines.push(CardLine::new("Runner-up", text));
    }
    if let Some(last) = others().next_back().filter(|_| block.entries.len() > 2) {
        let text = format!("{}: {}.", block.entries[last].strategy, net(last));
        answer.lines.push(CardLine::new("Last", text));
    }
    if let Some(loss) = verdict.standings[first].losses.first() {
        let unit = &block.units[loss.unit];
        let to = &block.entries[loss.to].strategy;
        let by = if loss.ratio.is_finite() {
            format!("by {}", signed_percent(loss.ratio - 1.0))
        } else {
            "without a result".to_owned()
        };
        let text = format!("on {} it is behind {to}, {by}.", unit.workload);
        answer.lines.push(CardLine::new("Loses most", text));
    }
    if fails(best) > 0.0 {
        let text = format!(
            "{} of its searches end without a result.",
            share(fails(best))
        );
        answer.lines.push(CardLine::new("Risk", text));
    }
    answer
}

pub(super) fn table(blocks: &[Block]) -> Table {
    type EntryRow<'b> = (&'b Block, &'b Entry);
    let rows = blocks.iter().flat_map(|block| {
        let order = judge(block).order;
        order.into_iter().map(move |at| (block, &block.entries[at]))
    });
    let over = |head, of: fn(&Tally) -> Option<f64>| {
        Column::number(head, move |(_, entry): &EntryRow<'_>| {
            Cell::number(entry.mean(of).map(|mean| 100.0 * mean), 1)
        })
    };
    let columns = [
        Column::word("objective", |(block, _): &EntryRow<'_>| {
            block.objective.name()
        }),
        Column::text("job is run", |(block, _): &EntryRow<'_>| runs(block)),
        Column::word("strategy", |(_, entry): &EntryRow<'_>| &*entry.strategy),
        over("net, %", Tally::net),
        over("gross, %", Tally::gross),
        over("regret, %", Tally::regret),
        Column::number("without a result, %", |(_, entry): &EntryRow<'_>| {
            Cell::number(Some(100.0 * fails(entry)), 1)
        }),
    ];
    let note = "Over the oracle, mean over jobs: net counts search steps as training, gross does not; regret is of the choice alone.";
    Table::from_sheet("strategies", "Strategies", note, &Sheet::new(rows, columns))
        .with_bars(&["net, %"])
}

const MOST_ROWS: usize = 1_500;

pub(super) fn units(blocks: &[Block]) -> Table {
    type UnitRow<'b> = (&'b Block, &'b CompetitionUnit, &'b Entry, &'b Tally);
    let rows = || {
        blocks.iter().flat_map(|block| {
            block.entries.iter().flat_map(move |entry| {
                let units = block.units.iter().zip(&entry.units);
                units.map(move |(unit, tally)| (block, unit, entry, tally))
            })
        })
    };
    let over = |head, of: fn(&Tally) -> Option<f64>| {
        Column::number(head, move |(.., tally): &UnitRow<'_>| {
            Cell::number(of(tally).map(|value| 100.0 * value), 1)
        })
    };
    let columns = [
        Column::word("objective", |(block, ..): &UnitRow<'_>| {
            block.objective.name()
        }),
        Column::text("job is run", |(block, ..): &UnitRow<'_>| runs(block)),
        Column::word("scenario", |(_, unit, ..): &UnitRow<'_>| &*unit.scenario),
        Column::word("job", |(_, unit, ..): &UnitRow<'_>| &*unit.workload),
        Column::word("prices", |(_, unit, ..): &UnitRow<'_>| &*unit.policy),
        Column::text("half", |(_, unit, ..): &UnitRow<'_>| match unit.part {
            0 => String::new(),
            part => part.to_string(),
        }),
        Column::word("strategy", |(_, _, entry, _): &UnitRow<'_>| {
            &*entry.strategy
        }),
        over("net, %", Tally::net),
        over("gross, %", Tally::gross),
        over("regret, %", Tally::regret),
    ];
    let count = rows().count();
    let cut = first_of(MOST_ROWS, count, "; `--format units` has all.");
    let note = format!("Means over replicas.{cut}");
    let sheet = Sheet::new(rows().take(MOST_ROWS), columns);
    Table::from_sheet("units", "Every job", note, &sheet).closed()
}

/// The loss of choices over the effort of the search.
pub(super) fn picture() -> Picture {
    Picture {
        title: "What choices lose, and what finding them costs".to_owned(),
        note: "Down and to the left is better: lower overhead, better choices.".to_owned(),
        x: PictureAxis {
            name: "regret of the choice",
            unit: "%",
            has_logarithm: true,
        },
        y: PictureAxis {
            name: "net overhead",
            unit: "%",
            has_logarithm: true,
        },
        over: "",
        layers: vec![Layer {
            table: "strategies",
            label: "strategy",
            x: "regret, %",
            y: "net, %",
            name: "strategy",
            is_named: true,
            ..Layer::default()
        }],
    }
}
