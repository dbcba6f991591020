//! One life of a job under a policy, as a record.

use crate::clairvoyant::Optimum;
use crate::policy_run::outcome::{Bill, Outcome};
use crate::study::Study;
use crate::study::run::StartOutcomes;
use scavsim_base::units::SimTime;
use scavsim_data::pricing::Policy;
use scavsim_experiment::beyond_one;
use scavsim_experiment::subject::LifeReplay;
use scavsim_experiment::{Case, Record, Status};

const OUT_OF_TIME: &str = "there is no way to be done in time";
const NO_LIFE: &str = "the traces have no such life";

pub(crate) struct PolicyReplay<'s> {
    pub(crate) study: &'s Study,
    pub(crate) pricings: &'s [Policy],
    pub(crate) seed: u64,
    /// Outcomes of all policies in the last life, by setting and number.
    pub(crate) last: Option<((usize, u64), StartOutcomes)>,
}

impl LifeReplay for PolicyReplay<'_> {
    /// Fills the record of a policy, or of the clairvoyant behind all policies.
    fn fill(&mut self, case: &Case, record: &mut Record<'_>) {
        let (study, setting, life) = (self.study, case.arena, case.replica);
        let pricing = &self.pricings[case.policy];
        record.right = None;
        let key = (setting, life);
        if self.last.as_ref().is_none_or(|(own, _)| *own != key) {
            let met = study.live(setting, life as usize, self.pricings, self.seed);
            self.last = met.map(|met| (key, met));
        }
        let Some((_, met)) = &self.last else {
            record.reason = NO_LIFE.into();
            return;
        };
        record.start = Some(met.start);
        record.independence = Some(study.settings[setting].sample.independence());
        let optimum = met.optimum.as_ref();
        let tariff = met.tariffs[case.policy].as_ref();
        let fastest = study.settings[setting].job.fastest_rest(SimTime::ZERO);
        let bound = |optimum: &Optimum| match tariff {
            None => Some(optimum.bound_usd),
            Some(_) => pricing.least_usd(optimum.bound_usd, fastest.hours()),
        };
        record.oracle_cost_usd = optimum.and_then(bound);
        record.oracle_time_h = optimum
            .and_then(|own| own.outcome.finished)
            .map(SimTime::hours);
        let (outcome, least_usd) = match (met.outcomes.get(case.strategy), optimum) {
            (Some(outcome), _) => (outcome, None),
            (None, Some(optimum)) => {
                record.exact = Some(f64::from(optimum.is_exact && tariff.is_none()));
                (&optimum.outcome, record.oracle_cost_usd)
            }
            (None, None) => {
                record.reason = OUT_OF_TIME.into();
                return;
            }
        };
        let bill = outcome.billed_by(tariff);
        let cost_usd = least_usd.unwrap_or_else(|| bill.usd());
        match &outcome.failed {
            Some(why) => record.reason = why.clone().into(),
            None => fill(record, outcome, bill, cost_usd),
        }
    }
}

fn fill(record: &mut Record<'_>, life: &Outcome, bill: Bill, cost_usd: f64) {
    record.status = Status::Ok;
    record.time_h = life.finished.map(SimTime::hours);
    record.cost_usd = Some(cost_usd);
    record.kept_net = Some(f64::from(life.kept()));
    // A life that is late for nothing, or not done, does not compare.
    let is_comparable = life.kept() || (life.finished.is_some() && bill.lateness.is_some());
    if let Some(least_usd) = record.oracle_cost_usd.filter(|_| is_comparable) {
        record.overhead_net_cost = beyond_one(cost_usd, least_usd);
    }
    record.late_h = Some(life.late.hours());
    record.spot_h = Some(life.spot.hours());
    record.on_demand_h = Some(life.on_demand.hours());
    record.start_up_h = Some(life.start_up.hours());
    record.lost_work_h = Some(life.lost_work.hours());
    record.bill_spot_usd = Some(bill.spot);
    record.bill_on_demand_usd = Some(bill.on_demand);
    record.bill_charges_usd = (bill.charges != 0.0).then_some(bill.charges);
    record.bill_egress_usd = Some(bill.egress);
    record.bill_probes_usd = Some(bill.probes);
    record.bill_lateness_usd = Some(bill.lateness.unwrap_or(0.0));
    record.lost_vms = Some(f64::from(life.losses));
    record.launches = Some(f64::from(life.launches));
    record.moves = Some(f64::from(life.moves));
    record.refused = Some(f64::from(life.refused));
    record.caught = Some(f64::from(life.caught));
    record.gave_up = Some(f64::from(life.gave_up));
}
