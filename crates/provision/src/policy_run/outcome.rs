use scavsim_base::units::SimTime;
use scavsim_data::pricing::Tariff;
use scavsim_data::usage::VmInterval;

/// What a life costs in USD, at the market's price for the exact time or by a tariff.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bill {
    pub spot: f64,
    pub on_demand: f64,
    /// For checkpoints carried between regions, which no tariff changes.
    pub egress: f64,
    /// For machines that were started as a probe.
    pub probes: f64,
    /// `None` where lateness has no price.
    pub lateness: Option<f64>,
    pub charges: f64,
}

impl Bill {
    pub fn usd(&self) -> f64 {
        let lateness = self.lateness.unwrap_or(0.0);
        self.spot + self.on_demand + self.egress + self.probes + lateness + self.charges
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// `None` where the window ended before.
    pub finished: Option<SimTime>,
    /// Time after the deadline; without an end, until the window ended.
    pub late: SimTime,
    pub done: SimTime,
    /// At the market's price.
    pub bill: Bill,
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
        self.bill.usd()
    }

    /// The bill by a tariff; without one, at the market's price.
    pub fn billed_by(&self, tariff: Option<&Tariff>) -> Bill {
        let Some(tariff) = tariff else {
            return self.bill;
        };
        let all = self.rentals.iter().copied();
        let is_on_demand = |rental: &VmInterval| rental.vm % 2 == 1;
        let probes = self.probes.iter();
        Bill {
            spot: tariff.vms_usd(all.clone().filter(|rental| !is_on_demand(rental))),
            on_demand: tariff.vms_usd(all.clone().filter(is_on_demand)),
            probes: probes
                .map(|usd| tariff.moment_usd(*usd, self.probe_s))
                .sum(),
            charges: tariff.charges_usd(all),
            ..self.bill
        }
    }

    pub fn kept(&self) -> bool {
        self.finished.is_some() && self.late == SimTime::ZERO && self.failed.is_none()
    }
}
