//! What happened in a job, for those who want to see it: off by default, and then a branch.

/// The entries of a job.
#[derive(Debug, Clone, Default)]
pub struct Log {
    /// Whether single worker-steps are noted.
    fine: bool,
}

impl Log {
    /// Whether single worker-steps are noted.
    #[inline]
    pub fn is_fine(&self) -> bool {
        self.fine
    }
}
