//! A configuration in a figure: where it is, and who chose it.

use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_experiment::Chosen;
use scavsim_search::search::Objective;
use scavsim_search::search::objective::Point;
use scavsim_search::testbed::PlanMetrics;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Hours: 5 % and 95 % quantiles.
    pub time_h: Option<[f64; 2]>,
    /// USD: 5 % and 95 % quantiles.
    pub cost_usd: Option<[f64; 2]>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Place {
    /// VM shape or kind of cluster.
    pub vm: Option<String>,
    /// VMs with their number, if all configurations are known.
    pub held: Option<String>,
    pub workers: Option<u32>,
    pub batch: Option<u32>,
    /// Values on all other axes.
    pub other: Option<String>,
    pub time_h: f64,
    pub cost_usd: f64,
    /// Measured, interpolated or extrapolated.
    pub provenance: String,
    /// Metrics of a parallel plan; known if all configurations are.
    pub plan: Option<PlanMetrics>,
    /// Whether no other is faster without costing more, or cheaper without being slower.
    pub is_on_front: bool,
    /// Whether it is the knee of the front.
    pub is_knee: bool,
    /// Whether the limits allow it; true if unknown.
    pub is_allowed: bool,
    /// Objectives for which it is the oracle's choice; empty unless all configurations are known.
    pub best_for: Vec<Objective>,
    /// 5 % and 95 % quantiles of hours and of USD, if runs were simulated.
    pub ends: Option<[[f64; 2]; 2]>,
    /// Share of runs that miss a limit, if there is one.
    pub miss: Option<f64>,
    pub by: Vec<Chooser>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Chooser {
    pub strategy: String,
    pub objective: String,
    pub cases: u64,
}

impl Place {
    pub fn is(&self, chosen: &Chosen) -> bool {
        (&self.vm, &self.other) == (&chosen.vm, &chosen.other)
            && (self.workers, self.batch) == (chosen.workers, chosen.batch)
    }

    /// The name: workers × batch, and the other values that identify the configuration.
    pub fn name(&self, with_vm: bool) -> String {
        let mut parts = Vec::new();
        match (self.workers, self.batch) {
            (Some(workers), Some(batch)) => parts.push(format!("{workers} × {batch}")),
            (Some(workers), None) => parts.push(workers.to_string()),
            (None, Some(batch)) => parts.push(format!("batch {batch}")),
            (None, None) => {}
        }
        if with_vm || parts.is_empty() {
            parts.extend(self.vm.clone());
        }
        parts.extend(self.other.clone());
        parts.join(" ")
    }

    pub(super) fn point(&self) -> Point {
        Point {
            time_s: self.time_h * SECONDS_PER_HOUR,
            cost_usd: self.cost_usd,
        }
    }
}
