//! Questions of a case's search and runs of its choices, and the case made again from these.

use std::sync::Arc;

use super::evaluate::Evaluator;
use super::plan::Case;
use super::record::Record;
use scavsim_search::search::Strategy;
use scavsim_search::testbed::TestbedExchange;

impl<'p> Evaluator<'p> {
    /// The record of a case in which `strategy` searches in place of the case's own.
    pub fn evaluate_as(&mut self, case: Case, strategy: Arc<dyn Strategy>) -> Record<'p> {
        self.simulation.stand_in(Some(strategy));
        let record = self.evaluate(case);
        self.simulation.stand_in(None);
        record
    }

    /// Questions and answers of the last search, where the plan asks for them.
    pub fn questions(&self) -> &[TestbedExchange] {
        self.simulation.questions()
    }

    /// Choices of the last case that were run, whatever came of them.
    pub fn ran(&self) -> &[usize] {
        &self.ran
    }

    /// When the search of the last case ended, and then each run of a choice, in seconds, with USD until then.
    pub fn ends(&mut self, case: Case) -> Vec<(f64, f64)> {
        let Ok(arena) = self.plan.arena(case.arena) else {
            return Vec::new();
        };
        let tariff = &arena.tariffs[case.policy];
        (0..=self.ran.len())
            .map(|runs| {
                let end = (self.simulation).spent(case, &self.ran[..runs], &mut self.usage);
                (end.seconds(), tariff.so_far_usd(&self.usage))
            })
            .collect()
    }
}
