//! Slack at which a table has values, in steps that grow with it.

/// Hours of the first step. Finer ones trust learned rates too much.
const FIRST_H: f64 = 0.3;
/// Ratio of a step to the one before.
const GROWS: f64 = 1.03;
/// Most steps; all are longer where slack exceeds them.
const MOST_STEPS: usize = 200;

/// Hours of slack in order, from none to the most; at least two.
#[derive(Debug)]
pub(super) struct Grid {
    at_h: Vec<f64>,
    /// Steps per hour from each to the next.
    per_h: Vec<f64>,
    /// Step at the begin of each stretch as long as the first step: no stretch touches more than two.
    steps: Vec<u16>,
    stretches_per_h: f64,
}

/// A step and the share of the way to the next.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct GridPosition {
    low: usize,
    share: f64,
}

impl Grid {
    pub(super) fn up_to_hours(most_h: f64) -> Grid {
        let most_h = most_h.max(1e-6);
        let (mut step_h, mut sum_h, mut at_h) = (FIRST_H, 0.0, vec![0.0]);
        while sum_h < most_h && at_h.len() < MOST_STEPS {
            sum_h += step_h;
            at_h.push(sum_h);
            step_h *= GROWS;
        }
        let scale = most_h / sum_h;
        at_h.iter_mut().for_each(|hours| *hours *= scale);
        let first_h = at_h[1];
        let step = |stretch: usize| {
            let begins_h = stretch as f64 * first_h;
            let behind = at_h.partition_point(|&at_h| at_h <= begins_h);
            behind.clamp(1, at_h.len() - 1) as u16 - 1
        };
        Grid {
            steps: (0..=(most_h / first_h) as usize).map(step).collect(),
            stretches_per_h: 1.0 / first_h,
            per_h: at_h
                .windows(2)
                .map(|pair| 1.0 / (pair[1] - pair[0]))
                .collect(),
            at_h,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.at_h.len()
    }

    pub(super) fn hours(&self) -> &[f64] {
        &self.at_h
    }

    /// Position of a slack, held at the ends.
    #[inline]
    pub(super) fn between(&self, slack_h: f64) -> GridPosition {
        // Negative slack becomes the first stretch; 32 bits are converted faster.
        let stretch = (slack_h * self.stretches_per_h) as u32 as usize;
        let first = usize::from(self.steps[stretch.min(self.steps.len() - 1)]);
        let goes_on = slack_h >= self.at_h[first + 1] && first + 2 < self.at_h.len();
        let low = first + usize::from(goes_on);
        let share = (slack_h - self.at_h[low]) * self.per_h[low];
        GridPosition {
            low,
            share: share.clamp(0.0, 1.0),
        }
    }
}

impl GridPosition {
    /// A row's values there. Infinite values count only where they are met exactly.
    #[inline]
    pub(super) fn interpolate<T, const N: usize>(
        self,
        row: &[T],
        of: impl Fn(&T) -> [f64; N],
    ) -> [f64; N] {
        let pair = &row[self.low..][..2];
        let (mut values, b) = (of(&pair[0]), of(&pair[1]));
        if self.share != 0.0 {
            for (a, b) in values.iter_mut().zip(b) {
                *a += self.share * (b - *a);
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::Grid;

    fn searched(grid: &Grid, slack_h: f64) -> f64 {
        let steps = grid.len() - 1;
        let behind = grid.hours().partition_point(|&at_h| at_h <= slack_h);
        let low = behind.clamp(1, steps) - 1;
        let (a, b) = (grid.hours()[low], grid.hours()[low + 1]);
        low as f64 + ((slack_h - a) / (b - a)).clamp(0.0, 1.0)
    }

    #[test]
    fn a_slack_is_found_where_a_search_finds_it() {
        for most_h in [0.0, 0.1, 4.0, 22.0, 500.0, 1e5] {
            let grid = Grid::up_to_hours(most_h);
            let last = grid.len() - 1;
            assert!((grid.hours()[last] - most_h.max(1e-6)).abs() <= 1e-9 * most_h.max(1.0));
            let ends = grid.hours().iter().copied();
            let more = (0..=5000).map(|at| most_h * (f64::from(at) / 4000.0 - 0.1));
            for slack_h in ends.chain(more) {
                let found = grid.between(slack_h);
                let place = found.low as f64 + found.share;
                let known = searched(&grid, slack_h);
                assert!(
                    (place - known).abs() < 1e-9,
                    "{slack_h}: {place}, not {known}"
                );
            }
        }
    }
}
