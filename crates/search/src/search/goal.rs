/// What the quality of a run has to come to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

impl Goal {
    /// By how much a quality is on the right side, below 0 on the wrong one.
    #[inline]
    pub fn beyond(self, quality: f64) -> f64 {
        match self {
            Goal::AtLeast(least) => quality - least,
            Goal::AtMost(most) => most - quality,
        }
    }
}
