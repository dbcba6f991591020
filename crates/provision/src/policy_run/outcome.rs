//! What the life of a job came to.

use scavsim_base::units::SimTime;

/// Money, time and what happened.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// When the work was done; `None` where the window ended before.
    pub finished: Option<SimTime>,
    /// Time after the deadline; of what is not done, until the window ended.
    pub late: SimTime,
    /// Work that was done.
    pub done: SimTime,
    /// USD for spot machines.
    pub spot_usd: f64,
    /// USD for machines on demand.
    pub on_demand_usd: f64,
    /// USD for checkpoints carried between regions.
    pub egress_usd: f64,
    /// USD for machines that were started to see whether there are any.
    pub probes_usd: f64,
    /// USD for being late; `None` where that has no price.
    pub lateness_usd: Option<f64>,
    /// Time on spot machines.
    pub spot: SimTime,
    /// Time on machines on demand.
    pub on_demand: SimTime,
    /// Time that machines were paid and did not work yet.
    pub start_up: SimTime,
    /// How often machines were started.
    pub launches: u32,
    /// Work that was lost with spot machines, and done again.
    pub lost_work: SimTime,
    /// How often spot machines were lost.
    pub losses: u32,
    /// How often it went to another zone.
    pub moves: u32,
    /// How often it asked for spot machines where there were none.
    pub refused: u32,
    /// Whether the safety net took over.
    pub caught: bool,
    /// Whether the policy gave up.
    pub gave_up: bool,
    /// Why the policy failed, which leaves a life without a result; `None` where it did not.
    pub failed: Option<String>,
}

impl Outcome {
    /// USD for all.
    pub fn cost_usd(&self) -> f64 {
        let lateness_usd = self.lateness_usd.unwrap_or(0.0);
        self.spot_usd + self.on_demand_usd + self.egress_usd + self.probes_usd + lateness_usd
    }

    /// Whether it was done in time.
    pub fn kept(&self) -> bool {
        self.finished.is_some() && self.late == SimTime::ZERO && self.failed.is_none()
    }
}
