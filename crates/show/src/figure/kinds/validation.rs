//! Predictions of workloads for held-out measurements, compared with the measured values.

use std::collections::BTreeMap;

use super::super::description::{Axis, Figure, Mark, Panel, Scale, Series, Shape};
use super::super::material::Material;
use super::super::style::{BLACK, Dash, Style};
use super::kind::{FigureKind, FigureRequest};
use super::no_figure::NoFigure;
use super::panels::{COLUMNS, SIZE, room};
use scavsim_base::text::words::first_of;
use scavsim_data::workload::Interval;
use scavsim_measure::validate::{Answer, Depth, ValidationSplit, validate};

pub(super) const KIND: FigureKind = FigureKind {
    name: "validation",
    about: "predicted against measured, for measurements left out one after the other, with 90 % intervals",
    is_usual: false,
    make,
};

/// Number of measured steps up to which each one is held out in turn.
const MOST_STEPS: usize = 200;
/// Ratio of the largest to the least value from which an axis is logarithmic.
const WIDE: f64 = 10.0;

fn make(material: &Material, asked: &FigureRequest) -> Result<Figure, NoFigure> {
    let mut panels = Vec::new();
    let mut words = Vec::new();
    let mut ways: Vec<String> = Vec::new();
    for workload in asked.workloads(material)? {
        let depth = if workload.steps.points().count() <= MOST_STEPS {
            Depth::Whole
        } else {
            Depth::Report
        };
        let mut by_unit: BTreeMap<&str, Vec<(String, Vec<Mark>)>> = BTreeMap::new();
        for split in validate(workload, depth) {
            let unit = if split.of == "epochs" {
                "epochs"
            } else {
                "step"
            };
            let marks = marks(&split);
            if marks.is_empty() {
                continue;
            }
            if let Some(error) = split.error {
                words.push(format!(
                    "{}, {} of {}: {error:.2} %.",
                    split.workload, split.left_out, split.of
                ));
            }
            let of_unit = by_unit.entry(unit).or_default();
            let mut known = of_unit.iter_mut();
            match known.find(|(label, _)| label == split.left_out) {
                Some((_, all)) => all.extend(marks),
                None => of_unit.push((split.left_out.to_owned(), marks)),
            }
        }
        for (what, splits) in by_unit {
            panels.push(panel(&workload.name, what, splits, &mut ways));
        }
    }
    let count = panels.len();
    let (panels, _) = room(panels);
    if panels.is_empty() {
        return Err(NoFigure::FewMeasurements);
    }
    let more = first_of(panels.len(), count, " panels; `--workload` shows others.");
    Ok(Figure {
        name: "validation".to_owned(),
        title: format!(
            "{}: predictions of measurements that were left out",
            material.name
        ),
        alt: format!(
            "Predicted over measured values with a diagonal. Mean errors: {}",
            words.join(" ")
        ),
        note: format!(
            "On the line a prediction is right. Bars: 90 % intervals, where there are any.{more}"
        ),
        columns: COLUMNS,
        size: SIZE,
        panels,
    })
}

/// Predictions over measurements, if there are predictions.
fn marks(split: &ValidationSplit) -> Vec<Mark> {
    let mark = |answer: &Answer| {
        let (said, deviation) = answer.said?;
        let interval = deviation.map(|deviation| Interval::around(said, deviation));
        Some(Mark {
            at: [answer.measured, said],
            x: None,
            y: interval.map(|interval| [interval.low, interval.high]),
            name: split.of.clone(),
        })
    };
    split.answers.iter().filter_map(mark).collect()
}

/// The panel of a workload's steps or epochs, with a series for each way of holding out. `ways` are those that have a style.
fn panel(
    workload: &str,
    what: &str,
    splits: Vec<(String, Vec<Mark>)>,
    ways: &mut Vec<String>,
) -> Panel {
    let unit = if what == "epochs" { "passes" } else { "s" };
    let (mut series, scale) = diagonal(&splits);
    for (label, marks) in splits {
        let known = ways.iter().position(|way| *way == label);
        let style = Style::nth(known.unwrap_or(ways.len()));
        let shape = Shape::Marks(marks);
        series.push(Series::new(format!("{label} left out"), style, shape));
        if known.is_none() {
            ways.push(label);
        }
    }
    Panel {
        title: format!("{workload}: {what}"),
        x: Axis::new(&format!("{what}, measured"), unit, scale.clone()),
        y: Axis::new(&format!("{what}, predicted"), unit, scale),
        series,
    }
}

/// The diagonal of correct predictions, and its scale: logarithmic if they differ by much.
fn diagonal(splits: &[(String, Vec<Mark>)]) -> (Vec<Series>, Scale) {
    let values = || (splits.iter().flat_map(|(_, marks)| marks)).map(|mark| mark.at[0]);
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    let scale = if high > WIDE * low {
        Scale::Log
    } else {
        Scale::Linear
    };
    let style = Style::plain(BLACK).dashed(Dash::Dashed);
    let line = Shape::Line(vec![[low, low], [high, high]]);
    (vec![Series::new("as measured", style, line)], scale)
}
