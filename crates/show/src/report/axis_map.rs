//! A summary by two axes as a map: a cell for each pair of their values, or of neighbours where there are many.

use scavsim_base::text::Page;
use scavsim_experiment::{AXIS, KeyGroup, KeyTable};
use scavsim_search::search::Objective;

/// Rows for which a terminal of 24 lines has room.
const MOST_ROWS: usize = 16;
/// Characters of a cell, with its shade, and of the label of a row.
const WIDTH: usize = 8;
const LABEL: usize = 12;
/// From the least to the most.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];

struct MapAxis {
    name: String,
    /// Values in ascending order, cut into as many bins as there is room for.
    bins: Vec<Vec<f64>>,
}

impl MapAxis {
    fn new(name: &str, mut values: Vec<f64>, most: usize) -> MapAxis {
        values.sort_by(f64::total_cmp);
        values.dedup();
        let each = values.len().div_ceil(most.max(1)).max(1);
        MapAxis {
            name: name.to_owned(),
            bins: values.chunks(each).map(<[f64]>::to_vec).collect(),
        }
    }

    fn bin(&self, value: f64) -> Option<usize> {
        self.bins.iter().position(|bin| bin.contains(&value))
    }

    /// The first value of a bin, which stands for all.
    fn label(&self, at: usize) -> String {
        self.bins[at][0].to_string()
    }

    fn is_binned(&self) -> bool {
        self.bins.iter().any(|bin| bin.len() > 1)
    }
}

/// A map for each combination of the other columns; `None` where there are not two axes with numbers.
///
/// It shows extra cost, or extra time for the objective `time`, where `objective` is among the columns.
pub fn render(table: &KeyTable, page: &Page) -> Option<String> {
    let is_axis = |at: &usize| table.columns[*at].starts_with(AXIS);
    let (axes, others): (Vec<usize>, Vec<usize>) = (0..table.columns.len()).partition(is_axis);
    let &[down, across] = axes.as_slice() else {
        return None;
    };
    let number = |group: &KeyGroup, at: usize| group.key[at].parse::<f64>().ok();
    let values = |at| {
        table
            .groups
            .iter()
            .filter_map(move |group| number(group, at))
    };
    let across_room = page.width.saturating_sub(LABEL) / WIDTH;
    let rows = MapAxis::new(&table.columns[down], values(down).collect(), MOST_ROWS);
    let columns = MapAxis::new(
        &table.columns[across],
        values(across).collect(),
        across_room,
    );
    if rows.bins.is_empty() || columns.bins.is_empty() {
        return None;
    }
    let mut names: Vec<Vec<&str>> = Vec::new();
    for group in &table.groups {
        let name = others.iter().map(|at| &*group.key[*at]).collect();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut text = String::new();
    for name in names {
        let is_time = (others.iter().zip(&name))
            .any(|(at, word)| table.columns[*at] == "objective" && *word == Objective::Time.name());
        let (metric, what) = if is_time {
            ("overhead_net_time", "extra time over the best")
        } else {
            ("overhead_net_cost", "extra cost over the best")
        };
        let mut cells = vec![vec![(0.0, 0.0); columns.bins.len()]; rows.bins.len()];
        for group in &table.groups {
            let is_of_it = others
                .iter()
                .map(|at| &*group.key[*at])
                .eq(name.iter().copied());
            let place = number(group, down).and_then(|value| rows.bin(value));
            let place = place.zip(number(group, across).and_then(|value| columns.bin(value)));
            if let (true, Some((row, column)), Some(mean)) = (is_of_it, place, group.mean(metric)) {
                let (sum, count) = &mut cells[row][column];
                *sum += mean.mean * mean.count as f64;
                *count += mean.count as f64;
            }
        }
        let what = format!("{what} in %, search included");
        let axes = format!("{} down, {} across", rows.name, columns.name);
        let parts = name.iter().filter(|word| !word.is_empty());
        let parts = parts.map(|word| (*word).to_owned()).chain([what, axes]);
        text += &page.bold(&page.parts(parts, 2));
        text += &lines(&cells, &rows, &columns);
        text.push('\n');
    }
    if rows.is_binned() || columns.is_binned() {
        let sentence = "A row or column stands for several values, from the one that it names on.";
        text += &page.prose(sentence, 2);
    }
    Some(text)
}

/// The heads and rows of a map of sums and counts, darker where there is more.
fn lines(cells: &[Vec<(f64, f64)>], rows: &MapAxis, columns: &MapAxis) -> String {
    let mean = |(sum, count): &(f64, f64)| (*count > 0.0).then(|| 100.0 * sum / count);
    let seen = || cells.iter().flatten().filter_map(mean);
    let least = seen().fold(f64::INFINITY, f64::min);
    let most = seen().fold(f64::NEG_INFINITY, f64::max);
    let shade = |value: f64| {
        let share = (value - least) / (most - least).max(f64::MIN_POSITIVE);
        SHADES[((SHADES.len() as f64 * share) as usize).min(SHADES.len() - 1)]
    };
    let heads = (0..columns.bins.len()).map(|at| format!("{:>1$} ", columns.label(at), WIDTH - 1));
    let heads: String = heads.collect();
    let mut text = format!("{:LABEL$}{}\n", "", heads.trim_end());
    for (at, row) in cells.iter().enumerate() {
        let cell = |cell| match mean(cell) {
            Some(value) => format!("{:>1$}{2}", format!("{value:+.1}"), WIDTH - 1, shade(value)),
            None => format!("{:>1$} ", "–", WIDTH - 1),
        };
        let row: String = row.iter().map(cell).collect();
        text += &format!("{:LABEL$}{}\n", rows.label(at), row.trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_values_share_as_many_bins_as_there_is_room_for() {
        let axis = MapAxis::new("a", vec![3.0, 1.0, 2.0, 2.0, 5.0, 4.0], 3);
        assert_eq!(axis.bins, [vec![1.0, 2.0], vec![3.0, 4.0], vec![5.0]]);
        assert_eq!((axis.bin(4.0), axis.bin(6.0)), (Some(1), None));
        assert!(axis.is_binned() && axis.label(2) == "5");
    }

    #[test]
    fn cells_are_means_and_darker_where_there_is_more() {
        let axis = |values: &[f64]| MapAxis::new("a", values.to_vec(), 9);
        let cells = vec![vec![(0.0, 2.0), (0.3, 1.0)], vec![(0.0, 0.0), (0.6, 2.0)]];
        let text = lines(&cells, &axis(&[1.0, 2.0]), &axis(&[0.5, 1.5]));
        let expected = [
            "                0.5     1.5",
            "1              +0.0   +30.0█",
            "2                 –   +30.0█",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }
}
