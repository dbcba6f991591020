//! Runs to the target from one state, and what they come to.

use super::billed::{Outcome, Run};
use scavsim_base::units::SimTime;
use scavsim_data::usage::Usage;
use scavsim_search::testbed::{JobTrial, Timeline};

/// Keeps its memory when runs are forgotten.
#[derive(Default)]
pub(super) struct Runs {
    pub(super) all: Vec<Run>,
    used: usize,
    /// Bills under the policy asked for last.
    bills: Vec<Option<(usize, Outcome)>>,
}

impl Runs {
    pub(super) fn forget(&mut self) {
        self.used = 0;
    }

    pub(super) fn find(&self, failed: &[usize], choice: usize) -> Option<usize> {
        let mut all = self.all[..self.used].iter();
        // One by one: most are empty, and `==` would compare no bytes where there is no memory, which takes a fault.
        all.position(|run| run.line.choice == choice && run.failed.iter().eq(failed))
    }

    pub(super) fn copy(&mut self, run: &Run) -> usize {
        match self.all.get_mut(self.used) {
            None => self.all.push(run.clone()),
            Some(place) => {
                place.failed.clear();
                place.line = run.line;
                place.net.copy_from(&run.net);
                place.gross.copy_from(&run.gross);
            }
        }
        self.kept()
    }

    pub(super) fn keep(&mut self, failed: &[usize], line: Timeline, site: &dyn JobTrial) -> usize {
        if self.used == self.all.len() {
            let none = Usage::default;
            self.all.push(Run {
                failed: Vec::new(),
                line,
                net: none(),
                gross: none(),
                search: none(),
            });
        }
        let run = &mut self.all[self.used];
        run.failed.clear();
        run.failed.extend_from_slice(failed);
        run.line = line;
        site.usage_until_target(&run.line, &mut run.net);
        if line.gross_end != line.net_end {
            site.usage_until(line.gross_end, &mut run.gross);
        }
        if line.search_end > SimTime::ZERO {
            site.usage_until(line.search_end, &mut run.search);
        }
        self.kept()
    }

    fn kept(&mut self) -> usize {
        let at = self.used;
        self.used += 1;
        self.bills.truncate(at);
        self.bills.push(None);
        at
    }

    /// A run under a policy, by `bill` unless that was asked just before.
    pub(super) fn billed(
        &mut self,
        at: usize,
        policy: usize,
        bill: impl FnOnce(&Run) -> Outcome,
    ) -> Outcome {
        match self.bills[at] {
            Some((of, outcome)) if of == policy => outcome,
            _ => {
                let outcome = bill(&self.all[at]);
                self.bills[at] = Some((policy, outcome));
                outcome
            }
        }
    }
}
