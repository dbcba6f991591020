//! Stale gradients without a price.

use super::Scenario;

impl Scenario {
    /// A sentence where gradients are stale and neither workload nor scenario gives their cost: they count as fresh.
    pub fn unpriced_staleness(&self) -> Option<String> {
        // All settings have the same protocols.
        let setup = &self.runs_in.first()?.setup;
        if setup.staleness.is_some() {
            return None;
        }
        let mut names: Vec<String> = Vec::new();
        let unpriced = self
            .workloads()
            .iter()
            .filter(|(w, _)| w.staleness.is_none());
        let unpriced = unpriced.flat_map(|(w, all)| all.iter().map(move |c| (w, c)));
        for (workload, configuration) in unpriced {
            let protocol = setup.protocol_on(&workload.name, &configuration.vm);
            let is_stale = configuration.workers > 1 && !protocol.has_barrier();
            let name = format!("`{}`", protocol.name());
            if is_stale && !names.contains(&name) {
                names.push(name);
            }
        }
        (!names.is_empty()).then(|| {
            format!(
                "stale gradients under {} cost nothing, as no `staleness.per_missed_batch` is set; 0 says that they do \
                 no harm",
                names.join(", ")
            )
        })
    }
}
