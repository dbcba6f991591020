//! The page of a recommendation.

use super::contents::{Contents, Fact};
use super::sources::Source;
use super::tables::{Row, Table, column, number, word};
use crate::figure::style::{BLACK, GREY, Marker};
use crate::figure::{Axis, Figure, Mark, Panel, Scale, Series, Shape, Style};
use scavsim_measure::advise::advice::{Advice, Choice};
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

fn choices(advice: &Advice) -> Table {
    let row = |choice: &Choice| {
        let c = &choice.configuration;
        Row {
            cells: vec![
                word(c.vm.to_string()),
                number(Some(f64::from(choice.vms)), 0),
                number(Some(f64::from(c.workers)), 0),
                number(Some(f64::from(c.batch)), 0),
                word(choice.offer.market.name()),
                number(Some(choice.time_h[0]), 3),
                number(Some(choice.time_h[1]), 3),
                number(Some(choice.time_h[2]), 3),
                number(Some(choice.cost_usd[0]), 2),
                number(Some(choice.cost_usd[1]), 2),
                number(Some(choice.cost_usd[2]), 2),
                number(Some(100.0 * choice.miss), 1),
                word(choice.provenance.name()),
                word(if choice.is_on_front { "front" } else { "" }),
            ],
            opens: String::new(),
        }
    };
    let count = advice.choices.len();
    let rest = match count > MOST_ROWS {
        true => format!(" The first {MOST_ROWS} of {count}; all are in `--format json`."),
        false => String::new(),
    };
    Table {
        id: "configurations".to_owned(),
        caption: "Configurations".to_owned(),
        note: format!("Those that keep to the limits, the best first, with 90 % intervals.{rest}"),
        columns: vec![
            column("VM", false),
            column("VMs", true),
            column("workers", true),
            column("batch", true),
            column("market", false),
            column("time, h", true),
            column("5 %", true),
            column("95 %", true),
            column("cost, USD", true),
            column("5 %", true),
            column("95 %", true),
            column("misses a limit, %", true),
            column("from", false),
            column("Pareto", false),
        ],
        rows: advice.choices.iter().take(MOST_ROWS).map(row).collect(),
    }
}

fn measurements(advice: &Advice) -> Table {
    let rows = advice.measurements.iter().map(|next| {
        let c = &next.configuration;
        Row {
            cells: vec![
                word(match next.worth.measurement {
                    Measurement::Step(_) => "a step",
                    Measurement::Epochs(_) => "epochs",
                }),
                word(c.vm.to_string()),
                number(Some(f64::from(c.workers)), 0),
                number(Some(f64::from(c.batch)), 0),
                number(Some(next.worth.value), 3),
                number(Some(next.worth.price.time_s / 3600.0), 3),
                number(Some(next.worth.price.cost_usd), 2),
                number(Some(next.worth.net), 3),
                word(if next.was_measured { "again" } else { "" }),
            ],
            opens: String::new(),
        }
    });
    Table {
        id: "measurements".to_owned(),
        caption: "Measure next".to_owned(),
        note: format!(
            "Worth above price first; worth and net in {}.",
            advice.unit()
        ),
        columns: vec![
            column("what", false),
            column("VM", false),
            column("workers", true),
            column("batch", true),
            column("worth per run", true),
            column("takes, h", true),
            column("price, USD", true),
            column("net", true),
            column("measured before", false),
        ],
        rows: rows.collect(),
    }
}
