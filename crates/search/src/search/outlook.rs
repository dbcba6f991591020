//! What a Gaussian process would believe of a few candidates after imagined observations. It needs only the covariance of the
//! candidates that the real observations leave open; one more is a row over the candidates alone.

use std::rc::Rc;

use super::belief::Belief;
use super::lookahead::Imagined;
use super::products::{PosteriorProducts, Sums};

/// Candidates, by their place in the list that was asked for, as they stand.
#[derive(Debug)]
pub(super) struct Outlook {
    sums: Sums,
    points: Vec<PosteriorProducts>,
    /// By rows, over the variance of the process, before noise.
    covariance: Vec<f64>,
}

/// What is believed of all configurations after some imagined observations.
#[derive(Debug)]
pub(super) struct View<'o> {
    covariance: &'o [f64],
    sums: Sums,
    points: Vec<PosteriorProducts>,
    /// What was imagined, and its row.
    seen: Vec<(usize, Rc<[f64]>)>,
}

impl Outlook {
    pub(super) fn new(sums: Sums, points: Vec<PosteriorProducts>, covariance: Vec<f64>) -> Outlook {
        Outlook {
            sums,
            points,
            covariance,
        }
    }

    pub(super) fn view(&self) -> View<'_> {
        View {
            covariance: &self.covariance,
            sums: self.sums,
            points: self.points.clone(),
            seen: Vec::new(),
        }
    }
}

impl Imagined for View<'_> {
    type Row = Rc<[f64]>;

    fn beliefs(&self) -> impl Iterator<Item = (usize, Belief)> {
        let moments = self.sums.moments();
        let is_left = |at: &usize| self.seen.iter().all(|(seen, _)| seen != at);
        (0..self.points.len())
            .filter(is_left)
            .map(move |at| (at, self.points[at].belief(moments)))
    }

    fn belief(&self, at: usize) -> Belief {
        self.points[at].belief(self.sums.moments())
    }

    fn row(&self, at: usize) -> Rc<[f64]> {
        let width = self.points.len();
        let (diagonal, ..) = self.points[at].observed(0.0);
        let entry = |x: usize| {
            let known: f64 = (self.seen.iter()).map(|(_, row)| row[at] * row[x]).sum();
            (self.covariance[at * width + x] - known) / diagonal
        };
        (0..width).map(entry).collect()
    }

    fn after(&self, at: usize, row: &Rc<[f64]>, value: f64) -> Self {
        let (_, value, one) = self.points[at].observed(value);
        let points = self.points.iter().zip(&**row);
        let mut seen = self.seen.clone();
        seen.push((at, Rc::clone(row)));
        View {
            covariance: self.covariance,
            sums: self.sums.and(value, one),
            points: points.map(|(x, entry)| x.and(*entry, value, one)).collect(),
            seen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::features::Features;
    use super::super::gaussian_process::GaussianProcess;
    use super::super::lookahead::Imagined;
    use scavsim_data::space::{Axis, Space};

    /// Two imagined observations, one after the other, and the same two made.
    #[test]
    fn what_is_imagined_is_what_would_be_seen() {
        let rows: Vec<[f64; 2]> = (0..30)
            .map(|i| [f64::from(i % 6), f64::from(i / 6)])
            .collect();
        let axes = vec![Axis::numeric("x", "1"), Axis::numeric("y", "1")];
        let space = Space::new(axes, rows).expect("a space");
        let features = Features::for_space(&space, None);
        let mut process = GaussianProcess::new(&features, 30);
        for (at, value) in [(0, 9.0), (29, 1.0), (14, 3.0), (5, 2.5)] {
            process.observe(at, value);
        }
        let candidates = [3, 8, 17, 21, 26];
        let outlook = process.outlook(&candidates).expect("enough was seen");
        let start = outlook.view();
        let before = process.beliefs().expect("enough was seen");
        for (place, belief) in start.beliefs() {
            assert!((belief.mean - before[candidates[place]].mean).abs() < 1e-12);
        }
        let once = start.after(1, &start.row(1), 4.0);
        let twice = once.after(3, &once.row(3), 0.5);
        // The same length scale as before, whichever is likelier then.
        let length = process.length();
        process.observe(candidates[1], 4.0);
        process.observe(candidates[3], 0.5);
        let made = process.beliefs_with(length);
        let left: Vec<usize> = twice.beliefs().map(|(place, _)| place).collect();
        assert_eq!(left, [0, 2, 4]);
        for (place, belief) in twice.beliefs() {
            let own = made[candidates[place]];
            assert!((belief.mean - own.mean).abs() < 1e-9, "{belief:?} {own:?}");
            assert!(
                (belief.deviation - own.deviation).abs() < 1e-9,
                "{belief:?} {own:?}"
            );
        }
    }
}
