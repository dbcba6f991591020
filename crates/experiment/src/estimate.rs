//! The mean of runs and its standard error, with the help of outlines of runs.
//!
//! For n runs with time or cost y, reached targets r and outlines s on the same lives, and further outlines:
//!
//! E[y]/E[r] ≈ (ȳ − β (s̄ − μ)) / r̄
//!
//! μ is the mean outline, less its slopes times the surprises of outlines, whose mean is 0 (martingale control variates); β is the
//! slope of y − (ȳ/r̄) r over s, 0 without outlines. The error is that of the residuals over n runs and that of μ. Sources: Giles
//! 2008 (two levels); Glasserman, Monte Carlo Methods in Financial Engineering, 4.1 (bias of the order of 1/n).

use scavsim_base::stats::JointMoments;
use scavsim_search::search::Point;
use scavsim_sim::job::SketchResult;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    pub(super) value: f64,
    pub(super) error: f64,
}

/// Runs of one configuration and outlines of them.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    /// Reached or not, seconds in outline, seconds, USD per policy.
    runs: JointMoments,
    /// Seconds and surprises of outlines by themselves.
    outlines: JointMoments,
    /// Whether runs are outlined; whether all were, and whether all reached their targets.
    is_outlined: bool,
    has_all: bool,
    all_reached: bool,
    losses: u64,
    quantities: usize,
    values: Vec<f64>,
}

/// Places in the runs.
const REACHED: usize = 0;
const OUTLINE: usize = 1;
const FIRST: usize = 2;

impl Sample {
    pub(super) fn new(policies: usize) -> Sample {
        Sample {
            runs: JointMoments::new(FIRST + 1 + policies),
            outlines: JointMoments::new(3),
            is_outlined: false,
            has_all: true,
            all_reached: true,
            losses: 0,
            quantities: policies + 1,
            values: Vec::new(),
        }
    }

    pub(super) fn outline_runs(&mut self) {
        self.is_outlined = true;
    }

    pub(super) fn is_outlined(&self) -> bool {
        self.is_outlined
    }

    pub(super) fn all_reached(&self) -> bool {
        self.all_reached
    }

    pub(super) fn losses(&self) -> u64 {
        self.losses
    }

    pub(super) fn count_losses(&mut self, lost: u64) {
        self.losses += lost;
    }

    /// Takes in a run: seconds, then USD per policy.
    pub(super) fn run(&mut self, values: &[f64], reached: bool, outline: Option<&SketchResult>) {
        self.all_reached &= reached;
        self.has_all &= outline.is_some();
        self.values.clear();
        let seconds = outline.map_or(0.0, |s| s.seconds);
        self.values.extend([f64::from(u8::from(reached)), seconds]);
        self.values.extend(values);
        self.runs.add(&self.values);
    }

    pub(super) fn outline(&mut self, outline: &SketchResult) {
        let [first, second] = outline.surprise;
        self.outlines.add(&[outline.seconds, first, second]);
    }

    pub(super) fn runs(&self) -> u64 {
        self.runs.count()
    }

    pub(super) fn outlines(&self) -> u64 {
        self.outlines.count()
    }

    pub(super) fn has_outlines(&self) -> bool {
        self.all_reached && self.has_all && self.runs.covariance(OUTLINE, OUTLINE) > 0.0
    }

    /// Whether more than `most` runs were made and none reached the target.
    pub(super) fn is_hopeless(&self, most: u64) -> bool {
        self.runs() >= most && self.runs.mean(REACHED) == 0.0
    }

    pub(super) fn point(&self, policy: usize) -> Point {
        Point {
            time_s: self.estimate(0).value,
            cost_usd: self.estimate(policy + 1).value,
        }
    }

    /// The largest relative standard error of all quantities.
    pub(super) fn error(&self) -> f64 {
        let each = (0..self.quantities).map(|of| relative(self.estimate(of)));
        each.fold(0.0, f64::max)
    }

    pub(super) fn outline_error(&self) -> f64 {
        relative(self.mean_outline())
    }

    /// Whether more outlines help more than more runs, judged by the worst quantity.
    pub(super) fn is_short_of_outlines(&self) -> bool {
        if self.outlines() < 2 {
            return true;
        }
        let worst = (0..self.quantities)
            .map(|of| self.with_outlines(of))
            .max_by(|a, b| relative(a.0).total_cmp(&relative(b.0)));
        worst.is_some_and(|(whole, of_runs)| whole.error > of_runs * std::f64::consts::SQRT_2)
    }

    /// Seconds, or USD under a policy, per reached target.
    pub(super) fn estimate(&self, of: usize) -> Estimate {
        let plain = self.by_runs(of);
        if self.has_outlines() && self.outlines() >= 2 {
            let (with, _) = self.with_outlines(of);
            if with.error < plain.error {
                with
            } else {
                plain
            }
        } else {
            plain
        }
    }

    fn by_runs(&self, of: usize) -> Estimate {
        let (runs, y) = (&self.runs, FIRST + of);
        let reached = runs.mean(REACHED);
        if reached == 0.0 {
            // No run reached the target.
            return Estimate {
                value: f64::INFINITY,
                error: f64::INFINITY,
            };
        }
        let value = runs.mean(y) / reached;
        let variance = runs.covariance(y, y) - 2.0 * value * runs.covariance(y, REACHED)
            + value * value * runs.covariance(REACHED, REACHED);
        Estimate {
            value,
            error: (variance.max(0.0) / runs.count() as f64).sqrt() / reached,
        }
    }

    /// From runs, all of which reached the target, and outlines; and the runs' part of the error.
    fn with_outlines(&self, of: usize) -> (Estimate, f64) {
        let (runs, y) = (&self.runs, FIRST + of);
        let slope = runs.covariance(y, OUTLINE) / runs.covariance(OUTLINE, OUTLINE);
        let left = runs.covariance(y, y) - slope * runs.covariance(y, OUTLINE);
        let of_runs = (left.max(0.0) / runs.count() as f64).sqrt();
        let mean = self.mean_outline();
        let of_outlines = slope * mean.error;
        let estimate = Estimate {
            value: runs.mean(y) - slope * (runs.mean(OUTLINE) - mean.value),
            error: (of_runs * of_runs + of_outlines * of_outlines).sqrt(),
        };
        (estimate, of_runs)
    }

    /// The mean of outlines, with slopes over both surprises.
    fn mean_outline(&self) -> Estimate {
        let all = &self.outlines;
        let (a, b, c) = (
            all.covariance(1, 1),
            all.covariance(1, 2),
            all.covariance(2, 2),
        );
        let (x, y) = (all.covariance(0, 1), all.covariance(0, 2));
        let determinant = a * c - b * b;
        let (first, second) = if determinant > 1e-9 * a * c {
            ((c * x - b * y) / determinant, (a * y - b * x) / determinant)
        } else if a > 0.0 {
            (x / a, 0.0)
        } else {
            (0.0, 0.0)
        };
        let left = all.covariance(0, 0) - first * x - second * y;
        Estimate {
            value: all.mean(0) - first * all.mean(1) - second * all.mean(2),
            error: (left.max(0.0) / all.count() as f64).sqrt(),
        }
    }
}

/// Error over value; 0 for a value that is 0 or always the same.
fn relative(estimate: Estimate) -> f64 {
    match estimate.error {
        0.0 => 0.0,
        error if error.is_infinite() => error,
        error => error / estimate.value.abs(),
    }
}
