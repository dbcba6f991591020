//! Time and cost that a search adds to the oracle's.

use super::super::description::{Axis, Block, Figure, Mark, Panel, Scale, Series, Shape};
use super::super::material::Material;
use super::super::style::{BLACK, Marker, Style};
use super::kind::{FigureKind, FigureRequest, Row};
use super::no_figure::NoFigure;
use super::panels::{cut_above, name_of_cut, room};

pub(super) const KIND: FigureKind = FigureKind {
    name: "overhead",
    about: "time and cost over the oracle's, with search steps lost (gross) and credited (net)",
    is_usual: true,
    make,
};

const SIZE: [f64; 2] = [420.0, 300.0];
const HALF: f64 = 0.18;

fn make(material: &Material, asked: &FigureRequest) -> Result<Figure, NoFigure> {
    let [pricing, objective] = asked.shown(material)?;
    let [behind_name, behind_title] = asked.setting_words(material)?;
    let (rows, left_out) = room(asked.groups(material)?);
    let mut panels = Vec::new();
    let mut words = Vec::new();
    for (workload, rows) in &rows {
        let rows: Vec<&Row<'_>> = (rows.iter())
            .filter(|row| row.group.strategy != "oracle")
            .filter(|row| row.group.mean("overhead_net_time").is_some())
            .collect();
        if rows.is_empty() {
            continue;
        }
        let percent = |row: &Row<'_>, metric: &str| {
            row.group.mean(metric).map_or(0.0, |mean| 100.0 * mean.mean)
        };
        let each = rows.iter().map(|row| {
            let of = |metric| percent(row, metric);
            format!(
                "{} gross {:+.1} % time and {:+.1} % cost, net {:+.1} and {:+.1} %",
                row.group.strategy,
                of("overhead_gross_time"),
                of("overhead_gross_cost"),
                of("overhead_net_time"),
                of("overhead_net_cost")
            )
        });
        words.push(format!(
            "{workload}: {}.",
            each.collect::<Vec<_>>().join("; ")
        ));
        for (what, metrics) in [
            ("time", ["overhead_gross_time", "overhead_net_time"]),
            ("cost", ["overhead_gross_cost", "overhead_net_cost"]),
        ] {
            let cut = cut_above(rows.iter().map(|row| percent(row, metrics[0])));
            let names = rows
                .iter()
                .map(|row| name_of_cut(row, percent(row, metrics[0]), cut));
            panels.push(Panel {
                title: format!("{workload}: {what}"),
                x: Axis::names("", names),
                y: Axis::new(&format!("{what} over the oracle's"), "%", Scale::FromZero),
                series: bars(&rows, metrics, cut.unwrap_or(f64::INFINITY)),
            });
        }
    }
    if panels.is_empty() {
        return Err(NoFigure::OracleAlone);
    }
    Ok(Figure {
        name: format!("overhead-{pricing}-{objective}{behind_name}"),
        title: format!(
            "{}: overhead of the search, {pricing}, objective {objective}{behind_title}",
            material.name
        ),
        alt: format!(
            "Bars of mean time and cost over the oracle's in percent. {}",
            words.join(" ")
        ),
        note: format!(
            "Gross: search steps earn no progress. Net: they count as training. Means over runs with 95 % intervals; \
             negative where a choice is faster or cheaper than that of the objective. Bars with an arrow go on: the number is \
             that of the longer one.{left_out}"
        ),
        columns: 2,
        size: SIZE,
        panels,
    })
}

/// Bars up to `cut`; higher ones have no mark.
fn bars(rows: &[&Row<'_>], metrics: [&str; 2], cut: f64) -> Vec<Series> {
    let mut series = Vec::new();
    for (n, (metric, label)) in metrics.into_iter().zip(["gross", "net"]).enumerate() {
        let (mut blocks, mut marks) = (Vec::new(), Vec::new());
        for (at, row) in rows.iter().enumerate() {
            let Some(mean) = row.group.mean(metric) else {
                continue;
            };
            let centre = (at + 1) as f64 + [-HALF, HALF][n];
            let value = 100.0 * mean.mean;
            let name = row.group.strategy.clone();
            blocks.push(Block {
                x: [centre - HALF, centre + HALF],
                y: [value.min(0.0), value.clamp(0.0, cut)],
                shade: None,
                name: name.clone(),
            });
            let ends = mean.interval.map(|interval| [interval.low, interval.high]);
            let ends = ends.map(|ends| ends.map(|end| (100.0 * end).min(cut)));
            if value <= cut {
                marks.push(Mark {
                    at: [centre, value],
                    x: None,
                    y: ends,
                    name,
                });
            }
        }
        let style = Style::nth([5, 0][n]);
        series.push(Series::new(label, style, Shape::Blocks(blocks)));
        let marker = [Marker::Circle, Marker::Square][n];
        let style = Style::plain(BLACK).marked(marker, 2);
        series.push(Series::new("", style, Shape::Marks(marks)));
    }
    series
}
