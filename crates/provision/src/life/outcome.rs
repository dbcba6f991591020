//! What the life of a job came to.

/// Money, time and what happened.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// When the work was done; `None` where the window ended before.
    pub finished_s: Option<f64>,
    /// Seconds after the deadline; of what is not done, until the window ended.
    pub late_s: f64,
    /// Seconds of work that were done.
    pub done_s: f64,
    /// USD for spot machines.
    pub spot_usd: f64,
    /// USD for machines on demand.
    pub on_demand_usd: f64,
    /// USD for checkpoints carried between regions.
    pub egress_usd: f64,
    /// USD for machines that were started to see whether there are any.
    pub probes_usd: f64,
    /// USD for being late.
    pub lateness_usd: f64,
    /// Seconds on spot machines.
    pub spot_s: f64,
    /// Seconds on machines on demand.
    pub on_demand_s: f64,
    /// Seconds that machines were paid and did not work yet.
    pub start_up_s: f64,
    /// How often machines were started.
    pub launches: u32,
    /// Seconds of work that were lost with spot machines, and done again.
    pub lost_work_s: f64,
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
        self.spot_usd + self.on_demand_usd + self.egress_usd + self.probes_usd + self.lateness_usd
    }

    /// Whether it was done in time.
    pub fn kept(&self) -> bool {
        self.finished_s.is_some() && self.late_s <= 0.0 && self.failed.is_none()
    }
}
