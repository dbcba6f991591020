//! The page of a recommendation.

use super::answer::{Answer, CardLine, HeadlineValue};
use super::contents::{Contents, Fact, Picker};
use super::picture::{Layer, Picture};
use super::sources::Source;
use super::table::Table;
use crate::figure::material::distinct;
use scavsim_base::text::words::first_of;
use scavsim_base::text::words::{
    hours, plural, plural_with_commas, rate, share, short_time, small_usd,
};
use scavsim_base::text::{Cell, Column, Sheet};
use scavsim_data::workload::Provenance;
use scavsim_measure::advise::advice::{Advice, Choice, NextMeasurement};
use scavsim_measure::advise::words::capital;
use scavsim_measure::advise::{Offer, text};

const MOST_ROWS: usize = 1_500;
/// Columns that appear when a row is opened.
const MORE: [&str; 9] = [
    "VM type",
    "VMs",
    "workers",
    "batch",
    "time 5 %, h",
    "time 95 %, h",
    "cost 5 %, USD",
    "cost 95 %, USD",
    "terms",
];
/// Probability of being better from which two choices count as indistinguishable.
const EVEN: f64 = 0.4;

pub fn contents(advice: &Advice) -> Contents {
    let choices = || advice.choices.iter();
    let vms = distinct(choices().map(|choice| &*choice.configuration.vm));
    let from = distinct(choices().map(|choice| choice.provenance.name()));
    let markets = distinct(choices().map(|choice| choice.offer.terms()));
    let pickers = [
        Picker::among("VM type", "VM type", &vms),
        Picker::among("market", "market", &markets),
        Picker::among("from", "predicted from", &from),
    ];
    let told = advice.known.told.iter();
    let measured = told.filter(|told| told.0 == Provenance::Measured);
    let measured = measured.map(|told| told.1 as u64).sum();
    Contents {
        title: format!("{}: what to rent, and what to measure next", advice.name),
        about: vec![
            format!("chosen by {}", advice.goal.objective.name()),
            format!("{} measured", plural(measured, "configuration")),
            format!(
                "{} to choose from",
                plural_with_commas(advice.choices.len() as u64, "configuration")
            ),
        ],
        pickers: pickers.into_iter().flatten().map(Picker::or_all).collect(),
        answers: vec![answer(advice)],
        picture: (!advice.choices.is_empty()).then(picture),
        tables: vec![measurements(advice), configurations(advice)],
        caveats: (text::caveats(advice).iter().map(|one| sentence(one)))
            .chain(advice.report.warnings().iter().map(|one| one.title.clone()))
            .collect(),
        facts: facts(advice),
        sources: prices(advice),
    }
}

fn sentence(clause: &str) -> String {
    capital(clause) + "."
}

fn facts(advice: &Advice) -> Vec<Fact> {
    let told = text::evidence_clauses(advice);
    let known = told
        .iter()
        .map(|one| Fact::new("based on your measurements", sentence(one)));
    [
        Fact::new("profile", &*advice.name),
        Fact::new("scavsim", env!("CARGO_PKG_VERSION")),
        Fact::new("chosen by", advice.goal.objective.name()),
        Fact::new("runs of the job", advice.times.to_string()),
        Fact::new(
            "configurations that keep to the limits",
            advice.choices.len().to_string(),
        ),
        Fact::new(
            "configurations that do not",
            advice.beyond_limits.to_string(),
        ),
    ]
    .into_iter()
    .chain(known)
    .collect()
}

/// The region, market, price and date of an offer.
fn terms(offer: &Offer) -> Vec<String> {
    let price = format!("{} an hour", rate(offer.usd_per_hour));
    let day = match offer.date {
        Some(day) => format!("price of {day}"),
        None => "price as given".to_owned(),
    };
    let terms = [offer.terms().to_owned(), price, day];
    offer.place().into_iter().chain(terms).collect()
}

fn answer(advice: &Advice) -> Answer {
    let mut answer = Answer {
        lead: "Rent".to_owned(),
        ..Answer::default()
    };
    let Some(best) = advice.choices.first() else {
        answer.what = match advice.beyond_limits {
            0 => "Nothing: no configuration can be predicted".to_owned(),
            _ => "Nothing: no configuration keeps to the limits".to_owned(),
        };
        let nearest = advice.nearest.as_ref();
        answer.lines.extend(nearest.map(|near| {
            let text = format!(
                "{}, {}, {}; it keeps to the limits in {} of runs.",
                near.named(),
                hours(near.time_h[0]),
                small_usd(near.cost_usd[0]),
                share(1.0 - near.miss)
            );
            CardLine::new("Closest", text)
        }));
        return answer;
    };
    let c = &best.configuration;
    answer.what = format!("{} {}", best.vms, c.vm);
    let workers = plural(u64::from(c.workers), "worker");
    answer.detail = format!("{workers}, batch {}", c.batch);
    answer.marks.push(best.provenance.name().to_owned());
    answer.marks.extend(terms(&best.offer));
    let ends = |[_, low, high]: [f64; 3], text: fn(f64) -> String| {
        format!("90 %: {} to {}", text(low), text(high))
    };
    answer.figures = vec![
        HeadlineValue::new(hours(best.time_h[0]), ends(best.time_h, hours)),
        HeadlineValue::new(small_usd(best.cost_usd[0]), ends(best.cost_usd, small_usd)),
    ];
    answer.point = Some([best.time_h[0], best.cost_usd[0]]);
    answer.mark = Some(best.named());
    answer.lines.extend(runner_up(advice));
    answer.lines.push(risk(advice, best));
    answer.lines.push(next(advice));
    answer
}

fn runner_up(advice: &Advice) -> Option<CardLine> {
    let second = advice.choices.get(1)?;
    let even = if second.chance > EVEN {
        "; the measurements cannot separate them"
    } else {
        ""
    };
    let text = format!(
        "{}: {}, {}; worse by {}; its chance to be better is {}{even}.",
        second.named(),
        hours(second.time_h[0]),
        small_usd(second.cost_usd[0]),
        share(second.over_best),
        share(second.chance)
    );
    Some(CardLine::new("Runner-up", text))
}

fn risk(advice: &Advice, best: &Choice) -> CardLine {
    let mut text = format!(
        "1 run in 20 takes longer than {}, 1 in 20 costs more than {}",
        hours(best.time_h[2]),
        small_usd(best.cost_usd[2])
    );
    if advice.goal.is_limited() {
        text += &format!("; the limits are missed in {}", share(best.miss));
    }
    CardLine::new("Risk", text + ".")
}

fn next(advice: &Advice) -> CardLine {
    let head = "Would change it";
    let Some(best) = advice.measurements.first() else {
        return CardLine::new(head, "no measurement of these configurations could.");
    };
    let worth = advice.worth_in_words(best.worth.value);
    let price = format!(
        "{} and {}",
        short_time(best.worth.price.time_s / 3600.0),
        small_usd(best.worth.price.cost_usd)
    );
    let verdict = if best.worth.net > 0.0 {
        "It is worth its price"
    } else {
        "It is not worth its price"
    };
    let text = format!(
        "measure {}: {price}. {verdict}: the choice is expected to be better by {worth} per run.",
        best.description()
    );
    CardLine::new(head, text)
}

fn picture() -> Picture {
    let layers = vec![Layer {
        table: "configurations",
        label: "configuration",
        x: "time, h",
        y: "cost, USD",
        x_ends: Some(["time 5 %, h", "time 95 %, h"]),
        y_ends: Some(["cost 5 %, USD", "cost 95 %, USD"]),
        name: "configuration",
        front: Some("Pareto"),
        filled: Some("from"),
        hollow: "not measured",
        ..Layer::default()
    }];
    Picture::cost_over_time(
        "Down and to the left is better. Hollow: predicted, not measured.",
        layers,
    )
}

/// A number of each row with `digits` decimals.
fn number<'r, R: 'r>(
    head: &'static str,
    digits: usize,
    of: impl Fn(&R) -> f64 + 'r,
) -> Column<'r, R> {
    Column::number(head, move |row: &R| Cell::number(Some(of(row)), digits))
}

fn configurations(advice: &Advice) -> Table {
    type ChoiceRow<'a> = &'a Choice;
    let columns = [
        Column::text("configuration", |choice: &ChoiceRow<'_>| choice.named()),
        Column::text("VM type", |choice: &ChoiceRow<'_>| {
            choice.configuration.vm.to_string()
        }),
        Column::word("market", |choice: &ChoiceRow<'_>| choice.offer.terms()),
        number("VMs", 0, |choice: &ChoiceRow<'_>| f64::from(choice.vms)),
        number("workers", 0, |choice: &ChoiceRow<'_>| {
            f64::from(choice.configuration.workers)
        }),
        number("batch", 0, |choice: &ChoiceRow<'_>| {
            f64::from(choice.configuration.batch)
        }),
        number("time, h", 2, |choice: &ChoiceRow<'_>| choice.time_h[0]),
        number("time 5 %, h", 2, |choice: &ChoiceRow<'_>| choice.time_h[1]),
        number("time 95 %, h", 2, |choice: &ChoiceRow<'_>| choice.time_h[2]),
        number("cost, USD", 2, |choice: &ChoiceRow<'_>| choice.cost_usd[0]),
        number("cost 5 %, USD", 2, |choice: &ChoiceRow<'_>| {
            choice.cost_usd[1]
        }),
        number("cost 95 %, USD", 2, |choice: &ChoiceRow<'_>| {
            choice.cost_usd[2]
        }),
        number("behind, %", 1, |choice: &ChoiceRow<'_>| {
            100.0 * choice.over_best
        }),
        number("better in, %", 1, |choice: &ChoiceRow<'_>| {
            100.0 * choice.chance
        }),
        number("misses a limit, %", 1, |choice: &ChoiceRow<'_>| {
            100.0 * choice.miss
        }),
        Column::word("from", |choice: &ChoiceRow<'_>| choice.provenance.name()),
        Column::word(
            "Pareto",
            |choice: &ChoiceRow<'_>| {
                if choice.is_on_front { "front" } else { "" }
            },
        ),
        Column::text("terms", |choice: &ChoiceRow<'_>| {
            terms(&choice.offer).join(", ")
        }),
    ];
    let count = advice.choices.len();
    let rest = first_of(MOST_ROWS, count, "; all are in `--format json`.");
    let note = format!("Those that keep to the limits, the best first.{rest}");
    let sheet = Sheet::new(advice.choices.iter().take(MOST_ROWS), columns);
    let limits = if advice.goal.is_limited() {
        ""
    } else {
        "misses a limit, %"
    };
    Table::from_sheet("configurations", "Every configuration", note, &sheet)
        .with_more(&MORE)
        .with_more(&[limits])
        .with_bars(&["behind, %"])
        .with_meanings(&[
            (
                "behind, %",
                "value by what it is chosen by, over that of the best",
            ),
            ("better in, %", "chance that it is better than the best"),
            ("from", "measured, or how it is predicted from measurements"),
        ])
}

fn measurements(advice: &Advice) -> Table {
    type NextRow<'a> = &'a NextMeasurement;
    let columns = [
        Column::text("measurement", |next: &NextRow<'_>| next.description()),
        number("takes, min", 1, |next: &NextRow<'_>| {
            next.worth.price.time_s / 60.0
        }),
        number("costs, USD", 2, |next: &NextRow<'_>| {
            next.worth.price.cost_usd
        }),
        number("gains per run", 3, |next: &NextRow<'_>| next.worth.value),
        number("gains less price", 3, |next: &NextRow<'_>| next.worth.net),
    ];
    let note = format!(
        "What is worth most above its price first. Gains, over {} of the job, are in {}.",
        plural(advice.times as u64, "run"),
        advice.unit()
    );
    let sheet = Sheet::new(&advice.measurements, columns);
    Table::from_sheet("measurements", "Measure next", note, &sheet)
}

fn prices(advice: &Advice) -> Vec<Source> {
    let mut prices: Vec<Source> = Vec::new();
    for choice in &advice.choices {
        let offer = &choice.offer;
        let place = [&offer.provider, &offer.region].map(|part| part.as_deref().unwrap_or("own"));
        let name = format!("{}, {} {}, {}", offer.vm, place[0], place[1], offer.terms());
        if prices.iter().all(|source| source.name != name) {
            prices.push(Source {
                name,
                what: format!("{} USD per hour", offer.usd_per_hour),
                from: match offer.date {
                    Some(date) => format!("the catalogue, until {date}"),
                    None => "stated by whoever asked".to_owned(),
                },
                licence: String::new(),
                hash: String::new(),
            });
        }
    }
    prices
}
