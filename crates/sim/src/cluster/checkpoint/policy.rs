use std::sync::Arc;

use crate::cluster::checkpoint::{DynamicSchedule, YoungDaly};

/// A checkpoint after every interval of work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Periodic {
    interval_h: f64,
}

impl Periodic {
    pub fn new(interval_h: f64) -> Option<Self> {
        (interval_h.is_finite() && interval_h > 0.0).then_some(Periodic { interval_h })
    }

    pub fn interval_h(self) -> f64 {
        self.interval_h
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Policy {
    /// Never: a loss costs all work done.
    None,
    Periodic(Periodic),
    /// After equal work, as suits the rate of losses.
    YoungDaly(YoungDaly),
    Dynamic(Arc<DynamicSchedule>),
}

impl Policy {
    pub fn heeds_age(&self) -> bool {
        matches!(self, Policy::Dynamic(_))
    }

    /// Hours of work until the next checkpoint, with `left_h` left on a VM of age `age_h`; `None` if none is due before the
    /// end. Asked after a start and after every checkpoint.
    pub fn next_h(&self, left_h: f64, age_h: f64) -> Option<f64> {
        let work_h = match self {
            Policy::None => return None,
            Policy::Periodic(periodic) => periodic.interval_h(),
            Policy::YoungDaly(young_daly) => young_daly.interval_h(),
            Policy::Dynamic(dynamic) => dynamic.next_h(left_h, age_h),
        };
        (work_h < left_h).then_some(work_h)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_checkpoint_is_due_at_the_end_or_without_a_policy() {
        let hourly = Policy::Periodic(Periodic::new(1.0).expect("it is legal"));
        assert_eq!(hourly.next_h(2.5, 0.0), Some(1.0));
        assert_eq!(hourly.next_h(1.0, 7.0), None);
        assert_eq!(Policy::None.next_h(99.0, 0.0), None);
    }
}
