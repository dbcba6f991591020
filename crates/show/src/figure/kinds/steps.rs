//! Seconds of a step, split into compute and communication (figure 3 of the Scavenger paper).

use super::super::description::{Axis, Block, Figure, Panel, Scale, Series, Shape};
use super::super::material::Material;
use super::super::style::Style;
use super::kind::{FigureKind, FigureRequest};
use super::no_figure::NoFigure;
use super::panels::{COLUMNS, room};
use scavsim_base::text::words::first_of;
use scavsim_data::workload::Workload;

pub(super) const KIND: FigureKind = FigureKind {
    name: "steps",
    about: "measured seconds of a step by workers and batch, split into compute and communication",
    is_usual: false,
    make,
};

const SIZE: [f64; 2] = [420.0, 300.0];
const HALF: f64 = 0.4;
/// Maximum number of bars in a panel; hundreds are no bar chart.
const MOST_BARS: usize = 40;

fn make(material: &Material, asked: &FigureRequest) -> Result<Figure, NoFigure> {
    let workloads = asked.workloads(material)?;
    let (mut panels, mut cut) = (Vec::new(), false);
    for workload in workloads {
        for shape in workload.steps.shapes() {
            cut |= workload.steps.points_of(shape).len() > MOST_BARS;
            panels.push(panel(workload, shape));
        }
    }
    let count = panels.len();
    let (panels, _) = room(panels);
    if panels.is_empty() {
        return Err(NoFigure::NotMeasured("step"));
    }
    let mut note =
        "Bars by workers × global batch. Communication: what does not hide behind compute."
            .to_owned();
    note += &first_of(panels.len(), count, " tables; `--workload` shows others.");
    if cut {
        note += &format!(" The first {MOST_BARS} bars of each.");
    }
    let words: Vec<String> = panels.iter().map(|panel| panel.title.clone()).collect();
    Ok(Figure {
        name: "steps".to_owned(),
        title: format!("{}: seconds of a step", material.name),
        alt: format!(
            "Stacked bars of compute and communication seconds per step: {}.",
            words.join("; ")
        ),
        note,
        columns: COLUMNS.min(2),
        size: SIZE,
        panels,
    })
}

fn panel(workload: &Workload, shape: &str) -> Panel {
    let points = workload.steps.points_of(shape);
    let points = &points[..points.len().min(MOST_BARS)];
    let splits = points.iter().any(|(_, cost)| cost.communication_s > 0.0);
    let (mut compute, mut communication) = (Vec::new(), Vec::new());
    for (n, (at, cost)) in points.iter().enumerate() {
        let centre = (n + 1) as f64;
        let x = [centre - HALF, centre + HALF];
        let block = |y: [f64; 2]| Block {
            x,
            y,
            shade: None,
            name: format!("{} × {}", at.workers, at.batch),
        };
        compute.push(block([0.0, cost.compute_s]));
        if cost.communication_s > 0.0 {
            communication.push(block([cost.compute_s, cost.total_s()]));
        }
    }
    let label = if splits { "compute" } else { "step, not split" };
    let mut series = vec![Series::new(
        label,
        Style::nth(if splits { 0 } else { 4 }),
        Shape::Blocks(compute),
    )];
    if !communication.is_empty() {
        series.push(Series::new(
            "communication",
            Style::nth(1),
            Shape::Blocks(communication),
        ));
    }
    let names = points
        .iter()
        .map(|(at, _)| format!("{}×{}", at.workers, at.batch));
    Panel {
        title: format!("{} on {shape}", workload.name),
        x: Axis::names("workers × global batch (samples)", names),
        y: Axis::new("one step", "s", Scale::FromZero),
        series,
    }
}
