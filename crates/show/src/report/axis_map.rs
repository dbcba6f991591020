//! A summary by two axes as a map: a cell for each pair of values, or of neighbouring values if there are many.

use std::collections::BTreeMap;

use scavsim_base::text::Page;
use scavsim_experiment::{AXIS, KeyGroup, KeyTable};
use scavsim_search::search::Objective;

/// Rows that fit a terminal of 24 lines.
const MOST_ROWS: usize = 16;
/// Characters of a cell, including its shade, and of the label of a row.
const WIDTH: usize = 8;
const LABEL: usize = 12;
/// From the least to the most.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];

/// Sum and count behind a mean.
pub(crate) type SumAndCount = (f64, f64);

/// Maps over two named axes: means of cells, for each pair of values that has one.
#[derive(Debug, PartialEq)]
pub struct AxisMaps<N> {
    pub axes: [String; 2],
    /// Values of each axis, in rising order.
    pub values: [Vec<f64>; 2],
    /// By the indices of both values.
    pub maps: Vec<(N, BTreeMap<[usize; 2], SumAndCount>)>,
}

impl<N: PartialEq> AxisMaps<N> {
    /// The maps of these sums and counts, each with its name and pair of values.
    pub fn new(
        axes: [String; 2],
        sums: impl Iterator<Item = (N, [f64; 2], SumAndCount)>,
    ) -> AxisMaps<N> {
        let sums: Vec<_> = sums.collect();
        let values = [0, 1].map(|axis| {
            // Turns −0 into 0.
            let mut values: Vec<f64> = sums.iter().map(|(_, at, _)| at[axis] + 0.0).collect();
            values.sort_by(f64::total_cmp);
            values.dedup();
            values
        });
        let mut maps: Vec<(N, BTreeMap<_, SumAndCount>)> = Vec::new();
        for (name, at, (sum, count)) in sums {
            let place = |axis: usize| values[axis].partition_point(|value| *value < at[axis]);
            let known = maps.iter().position(|(own, _)| *own == name);
            let map = known.unwrap_or_else(|| {
                maps.push((name, BTreeMap::new()));
                maps.len() - 1
            });
            let cell = maps[map].1.entry([place(0), place(1)]).or_default();
            *cell = (cell.0 + sum, cell.1 + count);
        }
        AxisMaps { axes, values, maps }
    }
}

/// A map for each combination of the other columns; `None` unless there are two numeric axes.
///
/// It shows extra cost, or extra time for the objective `time`, if `objective` is among the columns.
pub fn render(table: &KeyTable, page: &Page) -> Option<String> {
    let is_axis = |at: &usize| table.columns[*at].starts_with(AXIS);
    let (axes, others): (Vec<usize>, Vec<usize>) = (0..table.columns.len()).partition(is_axis);
    let &[down, across] = axes.as_slice() else {
        return None;
    };
    let name = |group: &KeyGroup| -> Vec<String> {
        others.iter().map(|at| group.key[*at].clone()).collect()
    };
    let is_time = |name: &[String]| {
        let mut cells = others.iter().zip(name);
        cells.any(|(at, word)| table.columns[*at] == "objective" && *word == Objective::Time.name())
    };
    let sums = table.groups.iter().filter_map(|group| {
        let number = |at: usize| group.key[at].parse::<f64>().ok();
        let name = name(group);
        let metric = if is_time(&name) {
            "overhead_net_time"
        } else {
            "overhead_net_cost"
        };
        let at = [number(down)?, number(across)?];
        let sum = group.mean(metric).map_or((0.0, 0.0), |mean| {
            let count = mean.count as f64;
            (mean.mean * count, count)
        });
        Some((name, at, sum))
    });
    let names = [down, across].map(|at| table.columns[at].clone());
    let maps = AxisMaps::new(names, sums);
    let across_room = page.width.saturating_sub(LABEL) / WIDTH;
    let bins = [MOST_ROWS, across_room].map(|most| most.max(1));
    let each = [0, 1].map(|axis| maps.values[axis].len().div_ceil(bins[axis]).max(1));
    let heads = [0, 1].map(|axis| column_heads(&maps.values[axis], each[axis]));
    if heads.iter().any(Vec::is_empty) {
        return None;
    }
    let mut text = String::new();
    for (name, map) in &maps.maps {
        let what = if is_time(name) { "time" } else { "cost" };
        let what = format!("extra {what} over the best in %, search included");
        let axes = format!("{} down, {} across", maps.axes[0], maps.axes[1]);
        let parts = name.iter().filter(|word| !word.is_empty()).cloned();
        text += &page.bold(&page.parts(parts.chain([what, axes]), 2));
        let mut cells = vec![vec![(0.0, 0.0); heads[1].len()]; heads[0].len()];
        for ([row, column], (sum, count)) in map {
            let cell = &mut cells[row / each[0]][column / each[1]];
            *cell = (cell.0 + sum, cell.1 + count);
        }
        text += &lines(&cells, &heads);
        text.push('\n');
    }
    if each != [1, 1] {
        let sentence = "A row or column stands for several values, from the one that it names on.";
        text += &page.prose(sentence, 2);
    }
    Some(text)
}

/// The first value of each bin of `each` values, as its label.
fn column_heads(values: &[f64], each: usize) -> Vec<String> {
    values.chunks(each).map(|bin| bin[0].to_string()).collect()
}

/// The heads and rows of a map of sums and counts; darker cells have larger means.
fn lines(cells: &[Vec<(f64, f64)>], [rows, columns]: &[Vec<String>; 2]) -> String {
    let mean = |(sum, count): &(f64, f64)| (*count > 0.0).then(|| 100.0 * sum / count);
    let seen = || cells.iter().flatten().filter_map(mean);
    let least = seen().fold(f64::INFINITY, f64::min);
    let most = seen().fold(f64::NEG_INFINITY, f64::max);
    let shade = |value: f64| {
        let share = (value - least) / (most - least).max(f64::MIN_POSITIVE);
        SHADES[((SHADES.len() as f64 * share) as usize).min(SHADES.len() - 1)]
    };
    let heads = columns.iter().map(|head| format!("{head:>0$} ", WIDTH - 1));
    let heads: String = heads.collect();
    let mut text = format!("{:LABEL$}{}\n", "", heads.trim_end());
    for (head, row) in rows.iter().zip(cells) {
        let cell = |cell| match mean(cell) {
            Some(value) => format!("{:>1$}{2}", format!("{value:+.1}"), WIDTH - 1, shade(value)),
            None => format!("{:>1$} ", "–", WIDTH - 1),
        };
        let row: String = row.iter().map(cell).collect();
        text += &format!("{:LABEL$}{}\n", head, row.trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_places_and_names_stand_as_they_come() {
        let sums = [("b", [2.0, 0.0]), ("a", [-1.0, -0.0]), ("b", [2.0, 0.0])];
        let sums = sums.into_iter().map(|(name, at)| (name, at, (0.3, 1.0)));
        let maps = AxisMaps::new(["x", "y"].map(str::to_owned), sums);
        assert_eq!(maps.values, [vec![-1.0, 2.0], vec![0.0]]);
        let own = |at, sum, count| BTreeMap::from([(at, (sum, count))]);
        let expected = [("b", own([1, 0], 0.6, 2.0)), ("a", own([0, 0], 0.3, 1.0))];
        assert_eq!(maps.maps, expected);
    }

    #[test]
    fn cells_are_means_and_darker_where_there_is_more() {
        let cells = vec![vec![(0.0, 2.0), (0.3, 1.0)], vec![(0.0, 0.0), (0.6, 2.0)]];
        let text = lines(
            &cells,
            &[
                column_heads(&[1.0, 2.0, 3.0], 2),
                column_heads(&[0.5, 1.5], 1),
            ],
        );
        let expected = [
            "                0.5     1.5",
            "1              +0.0   +30.0█",
            "3                 –   +30.0█",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }
}
