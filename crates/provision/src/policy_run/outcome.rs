use scavsim_base::units::SimTime;
use scavsim_data::usage::VmInterval;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// `None` where the window ended before.
    pub finished: Option<SimTime>,
    /// Time after the deadline; without an end, until the window ended.
    pub late: SimTime,
    pub done: SimTime,
    pub spot_usd: f64,
    pub on_demand_usd: f64,
    /// For checkpoints carried between regions.
    pub egress_usd: f64,
    /// For machines that were started as a probe.
    pub probes_usd: f64,
    /// `None` where lateness has no price.
    pub lateness_usd: Option<f64>,
    pub spot: SimTime,
    pub on_demand: SimTime,
    /// Time of paid machines before they work.
    pub start_up: SimTime,
    pub launches: u32,
    /// Work that was lost with spot machines, and done again.
    pub lost_work: SimTime,
    /// What was rented when, by [`rental_index`](super::rental_index).
    pub rentals: Vec<VmInterval>,
    /// USD per hour of the machines of each probe.
    pub probes: Vec<f64>,
    /// Seconds that each of them is billed for.
    pub probe_s: f64,
    pub losses: u32,
    pub moves: u32,
    /// Refused requests for spot machines.
    pub refused: u32,
    /// Whether the safety net took over.
    pub caught: bool,
    pub gave_up: bool,
    /// Why the policy failed, which leaves no result.
    pub failed: Option<String>,
}

impl Outcome {
    pub fn cost_usd(&self) -> f64 {
        let lateness_usd = self.lateness_usd.unwrap_or(0.0);
        self.spot_usd + self.on_demand_usd + self.egress_usd + self.probes_usd + lateness_usd
    }

    pub fn kept(&self) -> bool {
        self.finished.is_some() && self.late == SimTime::ZERO && self.failed.is_none()
    }
}
