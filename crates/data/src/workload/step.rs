#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepCost {
    /// Forward and backward pass of one worker, or of the slowest when the step was measured at the barrier.
    pub compute_s: f64,
    /// Communication that compute does not hide.
    pub communication_s: f64,
}

impl StepCost {
    pub fn total_s(self) -> f64 {
        self.compute_s + self.communication_s
    }
}
