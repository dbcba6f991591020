//! The excess of a job's bill over the oracle's.

use super::super::description::{Axis, Block, Figure, Mark, Panel, Scale, Series, Shape};
use super::super::material::Material;
use super::super::style::{BLACK, Marker, Style};
use super::kind::{FigureKind, FigureRequest, Row};
use super::no_figure::NoFigure;
use super::panels::{COLUMNS, SIZE, room};

pub(super) const KIND: FigureKind = FigureKind {
    name: "bill",
    about: "mean bill of each strategy's jobs over the oracle's by cause: training, search, waiting, lost work, restores, charges",
    is_usual: true,
    make,
};

const PARTS: [(&str, &str); 8] = [
    ("bill_useful_usd", "training"),
    ("bill_search_usd", "search"),
    ("bill_waiting_usd", "waiting for VMs"),
    ("bill_lost_usd", "lost work"),
    ("bill_restore_usd", "checkpoints, restores"),
    ("bill_egress_usd", "egress"),
    ("bill_storage_usd", "storage"),
    ("bill_charges_usd", "other charges"),
];
const HALF: f64 = 0.35;

fn make(material: &Material, asked: &FigureRequest) -> Result<Figure, NoFigure> {
    let [pricing, objective] = asked.shown(material)?;
    let [behind_name, behind_title] = asked.setting_words(material)?;
    let (rows, left_out) = room(asked.groups(material)?);
    let mut panels = Vec::new();
    let mut words = Vec::new();
    for (workload, rows) in &rows {
        let rows: Vec<&Row<'_>> = (rows.iter())
            .filter(|row| row.group.mean("bill_useful_usd").is_some())
            .collect();
        if rows.is_empty() {
            continue;
        }
        let oracle = rows.iter().find(|row| row.group.strategy == "oracle");
        let series = bars(&rows, oracle.copied());
        let total = |row: &Row<'_>| {
            PARTS
                .map(|(metric, _)| part(row, metric))
                .iter()
                .sum::<f64>()
        };
        let each = rows.iter().map(|row| {
            format!(
                "{} {:.2} USD, of that {:.2} for search steps",
                row.group.strategy,
                total(row),
                part(row, "bill_search_usd")
            )
        });
        words.push(format!(
            "{workload}: {}.",
            each.collect::<Vec<_>>().join("; ")
        ));
        panels.push(Panel {
            title: (*workload).to_owned(),
            x: Axis::names("", rows.iter().map(|row| row.group.strategy.as_str())),
            y: Axis::new(
                if oracle.is_some() {
                    "bill over the oracle's"
                } else {
                    "bill of a job"
                },
                "USD",
                Scale::FromZero,
            ),
            series,
        });
    }
    if panels.is_empty() {
        return Err(NoFigure::NoResult);
    }
    Ok(Figure {
        name: format!("bill-{pricing}-{objective}{behind_name}"),
        title: format!(
            "{}: what jobs pay for, {pricing}, objective {objective}{behind_title}",
            material.name
        ),
        alt: format!("Stacked bars of mean bills in USD. {}", words.join(" ")),
        note: format!(
            "Causes that cost more than in the oracle's bill stand above 0, those that cost less below; diamonds: the sum. \
             Search steps are paid whether they are credited or not.{left_out}"
        ),
        columns: COLUMNS,
        size: SIZE,
        panels,
    })
}

fn part(row: &Row<'_>, metric: &str) -> f64 {
    row.group.mean(metric).map_or(0.0, |mean| mean.mean)
}

/// Bars of each part relative to the oracle's part, with their sums.
fn bars(rows: &[&Row<'_>], oracle: Option<&Row<'_>>) -> Vec<Series> {
    let mut series = Vec::new();
    // Parts that cost more than the oracle's are drawn above 0, cheaper ones below.
    let mut ends = vec![[0.0f64; 2]; rows.len()];
    for (n, (metric, label)) in PARTS.into_iter().enumerate() {
        let mut blocks = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let value = part(row, metric) - oracle.map_or(0.0, |oracle| part(oracle, metric));
            if value != 0.0 {
                let centre = (at + 1) as f64;
                let end = &mut ends[at][usize::from(value < 0.0)];
                let (from, to) = (*end, *end + value);
                *end = to;
                blocks.push(Block {
                    x: [centre - HALF, centre + HALF],
                    y: [from.min(to), from.max(to)],
                    shade: None,
                    name: format!("{}: {label}", row.group.strategy),
                });
            }
        }
        if !blocks.is_empty() {
            series.push(Series::new(label, Style::nth(n), Shape::Blocks(blocks)));
        }
    }
    let sums = ends.iter().enumerate();
    let sums = sums.map(|(at, [above, below])| Mark::new([(at + 1) as f64, above + below], "sum"));
    let style = Style::plain(BLACK).marked(Marker::Diamond, 3);
    series.push(Series::new("sum", style, Shape::Marks(sums.collect())));
    series
}
