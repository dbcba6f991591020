//! One worker's compute by its local batch, where a table gives only whole steps.

use scavsim_base::stats::line::{Line, locate};

#[derive(Debug, Clone)]
pub(super) struct ComputeByLocalBatch {
    local_batch: Vec<f64>,
    seconds: Vec<f64>,
    slope: f64,
}

impl ComputeByLocalBatch {
    /// From (local batch, seconds) in any order; equal local batches are averaged. `None` if empty.
    pub(super) fn new(mut points: Vec<(f64, f64)>) -> Option<Self> {
        let slope = Line::fit(points.iter().copied())?.slope;
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (local_batch, seconds) = points
            .chunk_by(|a, b| a.0 == b.0)
            .map(|same| {
                let sum: f64 = same.iter().map(|p| p.1).sum();
                (same[0].0, sum / same.len() as f64)
            })
            .unzip();
        Some(ComputeByLocalBatch {
            local_batch,
            seconds,
            slope,
        })
    }

    fn inside(&self, b: f64) -> Option<f64> {
        let (left, share) = locate(&self.local_batch, b)?;
        Some(match self.seconds.get(left + 1) {
            Some(right) => self.seconds[left] + share * (right - self.seconds[left]),
            None => self.seconds[left],
        })
    }

    /// [`Self::inside`] the table; outside, from the end point on with the slope of the least-squares line through all
    /// points.
    pub(super) fn seconds_at(&self, b: f64) -> f64 {
        let last = self.seconds.len() - 1;
        self.inside(b).unwrap_or_else(|| {
            let end = if b < self.local_batch[0] { 0 } else { last };
            self.seconds[end] + self.slope * (b - self.local_batch[end])
        })
    }
}
