//! Shaded cells: darker is worse.

use super::super::description::{Block, Series, Shape};
use super::super::style::Style;

/// Upper bound of the excess, shade and name of each class.
const CLASSES: [(f64, f64, &str); 6] = [
    (0.02, 0.0, "up to 2 % worse"),
    (0.10, 0.2, "up to 10 %"),
    (0.25, 0.4, "up to 25 %"),
    (0.50, 0.6, "up to 50 %"),
    (1.00, 0.8, "up to 100 %"),
    (f64::INFINITY, 1.0, "more"),
];

/// A cell around a position, with its excess over the best as a fraction.
pub(super) struct Cell {
    pub(super) at: [f64; 2],
    pub(super) excess: f64,
    pub(super) name: String,
}

/// One series for each class of cells that occurs.
pub(super) fn shaded(cells: impl IntoIterator<Item = Cell>) -> impl Iterator<Item = Series> {
    let mut classes: Vec<Vec<Block>> = vec![Vec::new(); CLASSES.len()];
    for Cell { at, excess, name } in cells {
        let class = CLASSES.iter().position(|(below, ..)| excess < *below);
        let class = class.unwrap_or(CLASSES.len() - 1);
        classes[class].push(Block {
            x: [at[0] - 0.5, at[0] + 0.5],
            y: [at[1] - 0.5, at[1] + 0.5],
            shade: Some(CLASSES[class].1),
            name: format!("{name}: {:+.1} %", 100.0 * excess),
        });
    }
    let series = classes.into_iter().zip(CLASSES);
    let series = series
        .map(|(blocks, (_, _, label))| Series::new(label, Style::nth(0), Shape::Blocks(blocks)));
    series.filter(|series| !series.is_empty())
}
