//! The page of a recommendation.

use super::contents::{Contents, Fact};
use super::sources::Source;
use super::tables::Table;
use crate::figure::style::{BLACK, GREY, Marker};
use crate::figure::{Axis, Figure, Mark, Panel, Scale, Series, Shape, Style};
use scavsim_base::text::{Cell, Column, Sheet};
use scavsim_measure::advise::advice::{Advice, Choice, Next};
use scavsim_measure::advise::decision::Measurement;
use scavsim_measure::advise::text;

/// Configurations that show their intervals.
const MOST_INTERVALS: usize = 12;
/// Rows of the table of configurations.
const MOST_ROWS: usize = 1_500;

/// The page of an answer.
pub fn contents(advice: &Advice) -> Contents {
    let fact = |name: &str, value: String| Fact {
        name: name.to_owned(),
        value,
    };
    let mut prices: Vec<Source> = Vec::new();
    for choice in &advice.choices {
        let offer = &choice.offer;
        let place = [&offer.provider, &offer.region].map(|part| part.as_deref().unwrap_or("own"));
        let name = format!("{}, {} {}", offer.vm, place[0], place[1]);
        if prices.iter().all(|source| source.name != name) {
            prices.push(Source {
                name,
                what: format!(
                    "{} USD per hour, {}",
                    offer.usd_per_hour,
                    offer.market.name()
                ),
                from: match offer.date {
                    Some(date) => format!("the catalogue, until {date}"),
                    None => "stated by whoever asked".to_owned(),
                },
                licence: String::new(),
                hash: String::new(),
            });
        }
    }
    let rendered = text::render(advice);
    let paragraphs = rendered
        .split("\n\n")
        .filter(|part| !part.trim().is_empty());
    let joined = |part: &str| part.split_whitespace().collect::<Vec<_>>().join(" ");
    let (figures, missing) = match figure(advice) {
        Some(figure) => (vec![super::contents::drawn(&figure)], Vec::new()),
        None => (
            Vec::new(),
            vec!["no configuration keeps to the limits".to_owned()],
        ),
    };
    Contents {
        title: format!("{}: what to take, and what to measure next", advice.name),
        facts: vec![
            fact("profile", advice.name.clone()),
            fact("scavsim", env!("CARGO_PKG_VERSION").to_owned()),
            fact("chosen by", advice.goal.objective.name().to_owned()),
            fact("trained so many times", advice.times.to_string()),
            fact(
                "configurations that keep to the limits",
                advice.choices.len().to_string(),
            ),
            fact(
                "configurations that do not",
                advice.beyond_limits.to_string(),
            ),
        ],
        sources: prices,
        headlines: paragraphs.map(joined).collect(),
        warnings: (advice.offers.left_out.iter().cloned())
            .chain(advice.report.warnings().iter().map(|one| one.title.clone()))
            .collect(),
        figures,
        missing,
        tables: vec![choices(advice), measurements(advice)],
        details: "{}".to_owned(),
    }
}

fn name(choice: &Choice) -> String {
    let c = &choice.configuration;
    format!(
        "{} × {} on {}, {}",
        c.workers,
        c.batch,
        c.vm,
        choice.offer.market.name()
    )
}

fn figure(advice: &Advice) -> Option<Figure> {
    let best = advice.choices.first()?;
    let at = |choice: &Choice| [choice.time_h[0], choice.cost_usd[0]];
    let sure = |choice: &Choice| Mark {
        at: at(choice),
        x: Some([choice.time_h[1], choice.time_h[2]]),
        y: Some([choice.cost_usd[1], choice.cost_usd[2]]),
        name: name(choice),
    };
    let others = advice.choices.iter().skip(MOST_INTERVALS);
    let others: Vec<Mark> = others
        .map(|choice| Mark::new(at(choice), name(choice)))
        .collect();
    let next = advice
        .choices
        .iter()
        .skip(1)
        .take(MOST_INTERVALS - 1)
        .map(sure);
    let mut front: Vec<[f64; 2]> = advice
        .choices
        .iter()
        .filter(|c| c.is_on_front)
        .map(at)
        .collect();
    front.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let all = [
        ("others", Style::plain(GREY), Shape::Marks(others)),
        ("Pareto front", Style::plain(BLACK), Shape::Line(front)),
        ("next best", Style::nth(0), Shape::Marks(next.collect())),
        (
            "taken",
            Style::nth(1).marked(Marker::Star, 7),
            Shape::Marks(vec![sure(best)]),
        ),
    ];
    let all = all.map(|(label, style, shape)| Series::new(label, style, shape));
    Some(Figure {
        name: "advice".to_owned(),
        title: format!("{}: cost over time", advice.name),
        alt: format!(
            "Expected cost in USD over time in hours of {} configurations. Taken: {}, {:.2} h ({:.2} to {:.2}), {:.2} USD \
             ({:.2} to {:.2}).",
            advice.choices.len(),
            name(best),
            best.time_h[0],
            best.time_h[1],
            best.time_h[2],
            best.cost_usd[0],
            best.cost_usd[1],
            best.cost_usd[2]
        ),
        note: format!("Bars: 90 % intervals, of the {MOST_INTERVALS} best."),
        columns: 1,
        size: [620.0, 420.0],
        panels: vec![Panel {
            title: String::new(),
            x: Axis::new("time", "h", Scale::Linear),
            y: Axis::new("cost", "USD", Scale::Linear),
            series: all
                .into_iter()
                .filter(|series| !series.is_empty())
                .collect(),
        }],
    })
}

/// A number of each row with so many digits behind the point.
fn number<'r, R: 'r>(
    head: &'static str,
    digits: usize,
    of: impl Fn(&R) -> f64 + 'r,
) -> Column<'r, R> {
    Column::number(head, move |row: &R| Cell::number(Some(of(row)), digits))
}

fn choices(advice: &Advice) -> Table {
    type ChoiceRow<'a> = &'a Choice;
    let columns = [
        Column::text("VM", |choice: &ChoiceRow<'_>| {
            choice.configuration.vm.to_string()
        }),
        number("VMs", 0, |choice: &ChoiceRow<'_>| f64::from(choice.vms)),
        number("workers", 0, |choice: &ChoiceRow<'_>| {
            f64::from(choice.configuration.workers)
        }),
        number("batch", 0, |choice: &ChoiceRow<'_>| {
            f64::from(choice.configuration.batch)
        }),
        Column::text("market", |choice: &ChoiceRow<'_>| {
            choice.offer.market.name()
        }),
        number("time, h", 3, |choice: &ChoiceRow<'_>| choice.time_h[0]),
        number("5 %", 3, |choice: &ChoiceRow<'_>| choice.time_h[1]),
        number("95 %", 3, |choice: &ChoiceRow<'_>| choice.time_h[2]),
        number("cost, USD", 2, |choice: &ChoiceRow<'_>| choice.cost_usd[0]),
        number("5 %", 2, |choice: &ChoiceRow<'_>| choice.cost_usd[1]),
        number("95 %", 2, |choice: &ChoiceRow<'_>| choice.cost_usd[2]),
        number("misses a limit, %", 1, |choice: &ChoiceRow<'_>| {
            100.0 * choice.miss
        }),
        Column::text("from", |choice: &ChoiceRow<'_>| choice.provenance.name()),
        Column::text(
            "Pareto",
            |choice: &ChoiceRow<'_>| {
                if choice.is_on_front { "front" } else { "" }
            },
        ),
    ];
    let count = advice.choices.len();
    let rest = if count > MOST_ROWS {
        format!(" The first {MOST_ROWS} of {count}; all are in `--format json`.")
    } else {
        String::new()
    };
    let note = format!("Those that keep to the limits, the best first, with 90 % intervals.{rest}");
    let sheet = Sheet::new(advice.choices.iter().take(MOST_ROWS), columns);
    Table::of("configurations", "Configurations", note, &sheet)
}

fn measurements(advice: &Advice) -> Table {
    type NextRow<'a> = &'a Next;
    let what = |next: &NextRow<'_>| match next.worth.measurement {
        Measurement::Step(_) => "a step",
        Measurement::Epochs(_) => "epochs",
    };
    let columns = [
        Column::text("what", what),
        Column::text("VM", |next: &NextRow<'_>| next.configuration.vm.to_string()),
        number("workers", 0, |next: &NextRow<'_>| {
            f64::from(next.configuration.workers)
        }),
        number("batch", 0, |next: &NextRow<'_>| {
            f64::from(next.configuration.batch)
        }),
        number("worth per run", 3, |next: &NextRow<'_>| next.worth.value),
        number("takes, h", 3, |next: &NextRow<'_>| {
            next.worth.price.time_s / 3600.0
        }),
        number("price, USD", 2, |next: &NextRow<'_>| {
            next.worth.price.cost_usd
        }),
        number("net", 3, |next: &NextRow<'_>| next.worth.net),
        Column::text("measured before", |next: &NextRow<'_>| {
            if next.was_measured { "again" } else { "" }
        }),
    ];
    let note = format!(
        "Worth above price first; worth and net in {}.",
        advice.unit()
    );
    let sheet = Sheet::new(&advice.measurements, columns);
    Table::of("measurements", "Measure next", note, &sheet)
}
