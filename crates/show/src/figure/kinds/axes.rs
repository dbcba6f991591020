//! What searching costs over two axes that a scenario sweeps.

use super::super::axis_means::AxisMap;
use super::super::description::{Axis, Figure, Panel};
use super::super::material::Material;
use super::heat_map::{Cell, shaded};
use super::kind::{FigureKind, FigureRequest};
use super::no_figure::NoFigure;
use super::panels::{COLUMNS, room};

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
    let maps = material.gathered.axes.maps(objective);
    let Some(first) = maps.first() else {
        return Err(if material.gathered.axes.is_cut {
            NoFigure::ManyPairs
        } else {
            NoFigure::FewAxes
        });
    };
    let axes = first.axes.join(" and ");
    let words = maps.iter().map(|map| {
        let sum: f64 = map.cells.iter().map(|(_, excess)| excess).sum();
        format!(
            "{} {:+.1} %",
            map.strategy,
            100.0 * sum / map.cells.len() as f64
        )
    });
    let words = words.collect::<Vec<_>>().join("; ");
    let (maps, left_out) = room(maps);
    Ok(Figure {
        name: format!("axes-{objective}"),
        title: format!(
            "{}: worse than the oracle, by {axes}, objective {objective}",
            material.name
        ),
        alt: format!("Heat maps, one per strategy. Mean of all cells: {words}"),
        note: format!(
            "A cell is the mean over all other keys; net: search steps count as training. The darker, the worse.{left_out}"
        ),
        // Four stand in a square.
        columns: if maps.len() == 4 { 2 } else { COLUMNS },
        panels: maps.iter().map(panel).collect(),
        size: SIZE,
    })
}

fn panel(map: &AxisMap) -> Panel {
    let cells = map.cells.iter().map(|&([x, y], excess)| {
        let [a, b] = [map.values[0][x], map.values[1][y]];
        Cell {
            at: [x as f64 + 1.0, y as f64 + 1.0],
            excess,
            name: format!("{} {a:.4}, {} {b:.4}", map.axes[0], map.axes[1]),
        }
    });
    let axis = |at: usize| {
        let values = &map.values[at];
        let every = values.len().div_ceil(LABELS);
        let labels = values.iter().enumerate().map(|(place, value)| {
            // Names between are left out, so that the others can be read.
            let digits = if *value < 10.0 { 2 } else { 0 };
            if place % every == 0 {
                format!("{value:.digits$}")
            } else {
                String::new()
            }
        });
        Axis::names(&map.axes[at].replace('_', " "), labels)
    };
    Panel {
        title: map.strategy.clone(),
        x: axis(0),
        y: axis(1),
        series: shaded(cells).collect(),
    }
}
