//! A random forest of regression trees: SMAC's model. Each tree is grown on as many observations as there are, drawn with
//! repetition. A node is split, over some of the columns, where the squares about the means of both sides are least, until a
//! side would have too few. Mean and variance are those of all trees together: how trees differ, and how values in a leaf do.

use super::belief::Belief;
use super::features::Features;
use scavsim_base::rng::Stream;

/// Trees, columns that a split is chosen from, and values of a node that is split and of a leaf: as in SMAC3.
const TREES: usize = 10;
const SHARE_OF_COLUMNS: f64 = 5.0 / 6.0;
const LEAST_SPLIT: usize = 3;
const LEAST_LEAF: usize = 3;
/// Least variance of a leaf, over that of all values: no value is known for sure.
const LEAST_VARIANCE: f64 = 1e-4;

#[derive(Debug, Clone)]
pub(super) struct RegressionForest {
    trees: Vec<Vec<Node>>,
    least_variance: f64,
}

#[derive(Debug, Clone, Copy)]
enum Node {
    Leaf {
        mean: f64,
        variance: f64,
    },
    /// Rows whose value in a column is at most `at` go on at one node, the others at another.
    Split {
        column: usize,
        at: f64,
        low: usize,
        high: usize,
    },
}

fn moments(seen: &[(usize, f64)]) -> (f64, f64) {
    let count = seen.len().max(1) as f64;
    let mean = seen.iter().map(|(_, value)| value).sum::<f64>() / count;
    let squares = seen
        .iter()
        .map(|(_, value)| (value - mean) * (value - mean));
    (mean, squares.sum::<f64>() / count)
}

impl RegressionForest {
    /// Trees on values that were `seen` at configurations; `None` below two, which say nothing of how values vary.
    pub(super) fn grow(
        features: &Features,
        seen: &[(usize, f64)],
        stream: &mut Stream,
    ) -> Option<RegressionForest> {
        if seen.len() < 2 {
            return None;
        }
        let trees = (0..TREES).map(|_| {
            let mut drawn: Vec<(usize, f64)> = (0..seen.len())
                .map(|_| seen[stream.below(seen.len())])
                .collect();
            let mut nodes = Vec::new();
            split(features, &mut drawn, &mut nodes, stream);
            nodes
        });
        Some(RegressionForest {
            trees: trees.collect(),
            least_variance: LEAST_VARIANCE * moments(seen).1,
        })
    }

    pub(super) fn belief(&self, row: &[f64]) -> Belief {
        let leaves: Vec<(f64, f64)> = self.trees.iter().map(|tree| leaf(tree, row)).collect();
        let count = leaves.len().max(1) as f64;
        let mean = leaves.iter().map(|leaf| leaf.0).sum::<f64>() / count;
        let variance = leaves
            .iter()
            .map(|(own, variance)| variance.max(self.least_variance) + (own - mean) * (own - mean));
        Belief {
            mean,
            deviation: (variance.sum::<f64>() / count).sqrt(),
        }
    }
}

/// Mean and variance of the leaf that a row comes to; the root is the last node.
fn leaf(tree: &[Node], row: &[f64]) -> (f64, f64) {
    let mut node = tree.len().saturating_sub(1);
    loop {
        match tree.get(node) {
            Some(Node::Leaf { mean, variance }) => return (*mean, *variance),
            Some(Node::Split {
                column,
                at,
                low,
                high,
            }) => node = if row[*column] <= *at { *low } else { *high },
            None => return (0.0, 0.0),
        }
    }
}

/// Adds the tree of these values to `nodes`, its root the last: its place.
fn split(
    features: &Features,
    seen: &mut [(usize, f64)],
    nodes: &mut Vec<Node>,
    stream: &mut Stream,
) -> usize {
    let node = match best_split(features, seen, stream) {
        Some((column, at)) => {
            seen.sort_by(|a, b| features.row(a.0)[column].total_cmp(&features.row(b.0)[column]));
            let border = seen.partition_point(|(row, _)| features.row(*row)[column] <= at);
            let (below, above) = seen.split_at_mut(border);
            let low = split(features, below, nodes, stream);
            let high = split(features, above, nodes, stream);
            Node::Split {
                column,
                at,
                low,
                high,
            }
        }
        None => {
            let (mean, variance) = moments(seen);
            Node::Leaf { mean, variance }
        }
    };
    nodes.push(node);
    nodes.len() - 1
}

/// The column and the value in it that part these values best; `None` where no split is due, or none parts them.
fn best_split(
    features: &Features,
    seen: &mut [(usize, f64)],
    stream: &mut Stream,
) -> Option<(usize, f64)> {
    let width = features.width();
    if seen.len() < LEAST_SPLIT.max(2 * LEAST_LEAF) || width == 0 {
        return None;
    }
    let mut columns: Vec<usize> = (0..width).collect();
    let some = ((SHARE_OF_COLUMNS * width as f64).ceil() as usize).clamp(1, width);
    for place in 0..some {
        let other = place + stream.below(width - place);
        columns.swap(place, other);
    }
    let all = moments(seen).1 * seen.len() as f64;
    let mut best: Option<(usize, f64, f64)> = None;
    for &column in &columns[..some] {
        let value = |row: usize| features.row(row)[column];
        seen.sort_by(|a, b| value(a.0).total_cmp(&value(b.0)));
        for border in LEAST_LEAF..=seen.len() - LEAST_LEAF {
            let (low, high) = (value(seen[border - 1].0), value(seen[border].0));
            if low >= high {
                continue;
            }
            let (below, above) = seen.split_at(border);
            let squares = |part: &[(usize, f64)]| moments(part).1 * part.len() as f64;
            let left = squares(below) + squares(above);
            if best.is_none_or(|(_, _, least)| left < least) {
                best = Some((column, 0.5 * (low + high), left));
            }
        }
    }
    let (column, at, left) = best?;
    (left < all).then_some((column, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_data::space::{Axis, Space};

    /// A step in one of two columns is found, with little doubt within a side; at a row between, trees differ.
    #[test]
    fn a_step_is_found() {
        let rows: Vec<[f64; 2]> = (0..40)
            .map(|i| [f64::from(i), f64::from(i * 7 % 11)])
            .collect();
        let axes = vec![Axis::numeric("x", "1"), Axis::numeric("y", "1")];
        let space = Space::new(axes, rows).expect("a space");
        let features = Features::for_space(&space, None);
        let value = |at: usize| if at < 20 { 1.0 } else { 5.0 };
        let seen: Vec<(usize, f64)> = (0..40).step_by(2).map(|at| (at, value(at))).collect();
        let mut stream = Stream::seeded(3);
        let forest =
            RegressionForest::grow(&features, &seen, &mut stream).expect("enough was seen");
        for at in [1, 7, 13, 27, 33, 39] {
            let belief = forest.belief(features.row(at));
            assert!((belief.mean - value(at)).abs() < 0.3, "{at}: {belief:?}");
        }
        let sure = forest.belief(features.row(1)).deviation;
        assert!(sure < forest.belief(features.row(19)).deviation.max(0.5));
        assert!(RegressionForest::grow(&features, &seen[..1], &mut stream).is_none());
    }

    /// Equal values and equal rows leave one leaf, and a forest of equals doubts nothing but its least.
    #[test]
    fn nothing_to_part_is_one_leaf() {
        let axes = vec![Axis::numeric("x", "1")];
        let space = Space::new(axes, [[2.0]; 9]).expect("a space");
        let features = Features::for_space(&space, None);
        let seen: Vec<(usize, f64)> = (0..9).map(|at| (at, at as f64)).collect();
        let mut stream = Stream::seeded(4);
        let forest =
            RegressionForest::grow(&features, &seen, &mut stream).expect("enough was seen");
        assert!(forest.trees.iter().all(|tree| tree.len() == 1));
        let equal: Vec<(usize, f64)> = (0..9).map(|at| (at, 2.0)).collect();
        let forest =
            RegressionForest::grow(&features, &equal, &mut stream).expect("enough was seen");
        assert_eq!(
            forest.belief(features.row(0)),
            Belief {
                mean: 2.0,
                deviation: 0.0
            }
        );
    }
}
