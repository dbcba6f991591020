use scavsim_base::stats::line::locate;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub workers: f64,
    pub batch: f64,
    pub value: f64,
}

/// Measured values by worker count and batch. Between points: first linear in a given function of B, then linear in K
/// (bilinear on a rectangular grid with the identity).
#[derive(Debug, Clone)]
pub struct Grid {
    workers: Vec<f64>,
    /// One per worker count: the abscissae (ascending) and values along the batch.
    columns: Vec<(Vec<f64>, Vec<f64>)>,
    /// One per worker count: its least and greatest batch.
    ends: Vec<(f64, f64)>,
    abscissa: fn(f64) -> f64,
}

impl Grid {
    /// `abscissa(B)` must increase with B. If two points share a place, the later counts.
    pub fn new(points: &[Point], abscissa: fn(f64) -> f64) -> Self {
        let mut workers: Vec<f64> = points.iter().map(|p| p.workers).collect();
        workers.sort_by(f64::total_cmp);
        workers.dedup();
        let columns = workers
            .iter()
            .map(|&k| {
                let mut column: Vec<&Point> = points.iter().filter(|p| p.workers == k).collect();
                column.sort_by(|a, b| a.batch.total_cmp(&b.batch));
                column.iter().map(|p| (abscissa(p.batch), p.value)).unzip()
            })
            .collect();
        let ends = (workers.iter())
            .map(|&k| {
                let of = points.iter().filter(|p| p.workers == k);
                of.fold((f64::INFINITY, 0.0), |(least, most), p| {
                    (p.batch.min(least), p.batch.max(most))
                })
            })
            .collect();
        Grid {
            workers,
            columns,
            ends,
            abscissa,
        }
    }

    /// The value at (`workers`, `batch`), or `None` where no measurements surround it.
    pub fn value_at(&self, workers: f64, batch: f64) -> Option<f64> {
        let (left, share) = locate(&self.workers, workers)?;
        let x = (self.abscissa)(batch);
        if share == 0.0 {
            return self.along(left, x);
        }
        if share == 1.0 {
            return self.along(left + 1, x);
        }
        let (low, high) = (self.along(left, x)?, self.along(left + 1, x)?);
        Some(low + share * (high - low))
    }

    /// The value at (`workers`, `batch`), or at the nearest measured worker count, then batch; `None` without points.
    pub fn nearest(&self, workers: f64, batch: f64) -> Option<f64> {
        let (first, last) = (*self.workers.first()?, *self.workers.last()?);
        let (left, share) = locate(&self.workers, workers.clamp(first, last))?;
        let x = (self.abscissa)(batch);
        let along = |column: usize| {
            let xs = &self.columns[column].0;
            self.along(column, x.clamp(xs[0], xs[xs.len() - 1]))
        };
        let low = along(left)?;
        if share == 0.0 {
            return Some(low);
        }
        Some(low + share * (along(left + 1)? - low))
    }

    /// `batch` within those of the worker count nearest to `workers`, and the value there.
    pub fn edge(&self, workers: f64, batch: f64) -> Option<(f64, f64)> {
        let apart = |k: &f64| (k - workers).abs();
        let columns = 0..self.workers.len();
        let column =
            columns.min_by(|&a, &b| apart(&self.workers[a]).total_cmp(&apart(&self.workers[b])))?;
        let (least, most) = self.ends[column];
        let batch = batch.clamp(least, most);
        Some((batch, self.along(column, (self.abscissa)(batch))?))
    }

    fn along(&self, column: usize, x: f64) -> Option<f64> {
        let (xs, values) = &self.columns[column];
        let (left, share) = locate(xs, x)?;
        Some(if share == 0.0 {
            values[left]
        } else if share == 1.0 {
            values[left + 1]
        } else {
            values[left] + share * (values[left + 1] - values[left])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn square() -> Grid {
        let point = |workers, batch, value| Point {
            workers,
            batch,
            value,
        };
        Grid::new(
            &[
                point(8.0, 100.0, 1.0),
                point(8.0, 200.0, 3.0),
                point(16.0, 100.0, 5.0),
                point(16.0, 200.0, 11.0),
            ],
            |b| b,
        )
    }

    #[test]
    fn measured_points_are_exact_and_the_middle_is_bilinear() {
        assert_eq!(square().value_at(16.0, 200.0), Some(11.0));
        assert_eq!(square().value_at(8.0, 100.0), Some(1.0));
        assert_eq!(square().value_at(12.0, 150.0), Some(5.0));
    }

    #[test]
    fn outside_the_nearest_place_is_on_the_edge() {
        assert_eq!(square().nearest(20.0, 150.0), Some(8.0));
        assert_eq!(square().nearest(12.0, 900.0), Some(7.0));
        let inside = square().value_at(12.0, 150.0);
        assert_eq!(square().nearest(12.0, 150.0), inside);
        assert_eq!(square().edge(20.0, 900.0), Some((200.0, 11.0)));
        assert_eq!(Grid::new(&[], |b| b).nearest(1.0, 1.0), None);
    }

    #[test]
    fn outside_is_refused() {
        for (k, b) in [(7.9, 150.0), (16.1, 150.0), (12.0, 99.0), (12.0, 201.0)] {
            assert_eq!(square().value_at(k, b), None);
        }
    }

    proptest! {
        #[test]
        fn inside_stays_between_the_corners(k in 8.0f64..=16.0, b in 100.0f64..=200.0) {
            let value = square().value_at(k, b).expect("inside the hull");
            prop_assert!((1.0..=11.0).contains(&value));
        }
    }
}
