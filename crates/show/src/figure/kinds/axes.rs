//! Search cost over two axes that a scenario sweeps.

use super::super::description::{Axis, Figure, Panel};
use super::super::material::Material;
use super::heat_map::{Cell, shaded};
use super::kind::{FigureKind, FigureRequest};
use super::no_figure::NoFigure;
use super::panels::{COLUMNS, room};
use crate::report::axis_map::AxisMaps;

pub(super) const KIND: FigureKind = FigureKind {
    name: "axes",
    about: "how much worse than the oracle each strategy's jobs are, search included, over the two swept axes with the most \
            values, as heat maps",
    is_usual: true,
    make,
};

/// Values that have a label.
const LABELS: usize = 8;
const SIZE: [f64; 2] = [330.0, 300.0];

fn make(material: &Material, asked: &FigureRequest) -> Result<Figure, NoFigure> {
    let [_, objective] = asked.shown(material)?;
    let workload = asked.one_workload(material)?;
    let Some(all) = material.gathered.axes.maps(objective, workload) else {
        return Err(if material.gathered.axes.is_cut {
            NoFigure::ManyPairs
        } else {
            NoFigure::FewAxes
        });
    };
    let axes = all.axes.join(" and ");
    let words = all.maps.iter().map(|(strategy, map)| {
        let sum: f64 = map.values().map(|(sum, count)| sum / count).sum();
        format!("{strategy} {:+.1} %", 100.0 * sum / map.len() as f64)
    });
    let words = words.collect::<Vec<_>>().join("; ");
    let (panels, left_out) = room((0..all.maps.len()).map(|at| panel(&all, at)).collect());
    let [behind_name, behind_title] = workload.map_or_else(Default::default, |workload| {
        [format!("-{workload}"), format!(", {workload}")]
    });
    Ok(Figure {
        name: format!("axes-{objective}{behind_name}"),
        title: format!(
            "{}: worse than the oracle, by {axes}, objective {objective}{behind_title}",
            material.name
        ),
        alt: format!("Heat maps, one per strategy. Mean of all cells: {words}"),
        note: format!(
            "A cell is the mean over all other keys; net: search steps count as training. The darker, the worse.{left_out}"
        ),
        // Four panels form a square.
        columns: if panels.len() == 4 { 2 } else { COLUMNS },
        panels,
        size: SIZE,
    })
}

fn panel(all: &AxisMaps<&str>, at: usize) -> Panel {
    let (strategy, map) = &all.maps[at];
    let cells = map.iter().map(|(&[x, y], (sum, count))| {
        let [a, b] = [all.values[0][x], all.values[1][y]];
        Cell {
            at: [x as f64 + 1.0, y as f64 + 1.0],
            excess: sum / count,
            name: format!("{} {a:.4}, {} {b:.4}", all.axes[0], all.axes[1]),
        }
    });
    let axis = |at: usize| {
        let values = &all.values[at];
        let every = values.len().div_ceil(LABELS);
        let labels = values.iter().enumerate().map(|(place, value)| {
            // Some names are left out, so that the others can be read.
            let digits = if *value < 10.0 { 2 } else { 0 };
            if place % every == 0 {
                format!("{value:.digits$}")
            } else {
                String::new()
            }
        });
        Axis::names(&all.axes[at].replace('_', " "), labels)
    };
    Panel {
        title: (*strategy).to_owned(),
        x: axis(0),
        y: axis(1),
        series: shaded(cells).collect(),
    }
}
