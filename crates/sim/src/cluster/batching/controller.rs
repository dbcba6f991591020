//! A policy at work: batches now, and what a look at step times makes of them.

use super::{BatchPolicy, Batching, WorkerGroup};

#[derive(Clone)]
pub struct Controller<'a> {
    policy: &'a dyn BatchPolicy,
    group: &'a WorkerGroup,
    pub batches: Vec<f64>,
    next: Vec<f64>,
    pub changes: u64,
}

impl<'a> Controller<'a> {
    pub fn new(batching: &'a Batching, group: &'a WorkerGroup) -> Self {
        let policy = batching.policy();
        let mut batches = vec![group.batch / group.sizes.len() as f64; group.sizes.len()];
        policy.start(group, &mut batches);
        Controller {
            policy,
            group,
            next: batches.clone(),
            batches,
            changes: 0,
        }
    }

    /// Looks at averaged step times `seen_s`; whether batches change.
    pub fn look(&mut self, seen_s: &[f64]) -> bool {
        let changes = (self.policy).adjust(self.group, seen_s, &self.batches, &mut self.next);
        if changes {
            std::mem::swap(&mut self.batches, &mut self.next);
            self.changes += 1;
        }
        changes
    }
}
