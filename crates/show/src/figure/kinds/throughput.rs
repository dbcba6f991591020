//! Samples per second over the batch (figure 5 of the Scavenger paper).

use std::collections::BTreeMap;

use super::super::description::{Axis, Figure, Mark, Panel, Scale, Series, Shape};
use super::super::material::Material;
use super::super::style::Style;
use super::kind::{FigureKind, FigureRequest};
use super::no_figure::NoFigure;
use super::panels::{COLUMNS, SIZE, room};
use scavsim_base::text::words::first_of;

pub(super) const KIND: FigureKind = FigureKind {
    name: "throughput",
    about: "measured samples per second over the global batch, a line per worker count",
    is_usual: false,
    make,
};

/// Maximum number of separate lines.
const MOST_LINES: usize = 14;

fn make(material: &Material, asked: &FigureRequest) -> Result<Figure, NoFigure> {
    let mut panels = Vec::new();
    for workload in asked.workloads(material)? {
        for shape in workload.steps.shapes() {
            let mut lines: BTreeMap<u32, Vec<[f64; 2]>> = BTreeMap::new();
            for (at, cost) in workload.steps.points_of(shape) {
                let batch = f64::from(at.batch);
                let line = lines.entry(at.workers).or_default();
                line.push([batch, batch / cost.total_s()]);
            }
            if lines.len() > MOST_LINES {
                continue;
            }
            let mut series = Vec::new();
            for (n, (workers, mut points)) in lines.into_iter().enumerate() {
                points.sort_by(|a, b| a[0].total_cmp(&b[0]));
                let style = Style::nth(n);
                let name = |p: &[f64; 2]| format!("{workers} × {}", p[0]);
                let marks = points.iter().map(|p| Mark::new(*p, name(p))).collect();
                series.push(Series::new("", style, Shape::Line(points)));
                series.push(Series::new(
                    format!("K = {workers}"),
                    style,
                    Shape::Marks(marks),
                ));
            }
            panels.push(Panel {
                title: format!("{} on {shape}", workload.name),
                x: Axis::new("global batch", "samples", Scale::Linear),
                y: Axis::new("throughput", "samples/s", Scale::FromZero),
                series,
            });
        }
    }
    let count = panels.len();
    let (panels, _) = room(panels);
    if panels.is_empty() {
        return Err(NoFigure::ManyLines(MOST_LINES));
    }
    let more = first_of(panels.len(), count, " tables; `--workload` shows others.");
    let words: Vec<String> = panels.iter().map(|panel| panel.title.clone()).collect();
    Ok(Figure {
        name: "throughput".to_owned(),
        title: format!("{}: throughput", material.name),
        alt: format!(
            "Lines of samples per second over the global batch, one per worker count: {}.",
            words.join("; ")
        ),
        note: format!("Global batch over the measured seconds of a step.{more}"),
        columns: COLUMNS,
        size: SIZE,
        panels,
    })
}
