//! A finished run under a tariff: hours and USD, of the whole and of its parts.

use super::record::Record;
use super::score::TimeAndCost;
use super::search_problem::SearchProblem;
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};
use scavsim_data::pricing::{Parts, Tariff, charges};
use scavsim_data::usage::{Phase, Usage};
use scavsim_search::testbed::Timeline;
use scavsim_sim::job::Totals;

/// A run to the target and what it used, before any price.
#[derive(Debug, Clone)]
pub struct Run {
    /// Choices before it that never reached the target.
    pub failed: Vec<usize>,
    pub line: Timeline,
    /// Used until the target, search steps counting as progress.
    pub net: Usage,
    /// Used until the target if search steps earn nothing.
    pub gross: Usage,
    /// Used until the choice began to train.
    pub search: Usage,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    pub(super) choice: usize,
    pub(super) total: TimeAndCost,
    pub(super) parts: Parts,
    pub(super) gross: TimeAndCost,
    pub(super) search: TimeAndCost,
    pub(super) cold_start: Option<TimeAndCost>,
    /// The choice without search; `None` where nobody asks for it or it does not come to its end.
    pub(super) alone: Option<TimeAndCost>,
    pub(super) lost_vms: u32,
    /// Share of the time after the search that is useful steps, as with all VMs.
    pub(super) effective: Option<f64>,
    pub(super) totals: Option<Totals>,
    pub(super) oracle: TimeAndCost,
    pub(super) reached_in_search: bool,
}

/// Hours and USD of a whole job.
pub(super) fn value(tariff: &Tariff, end: SimTime, usage: &Usage) -> TimeAndCost {
    TimeAndCost {
        hours: end.hours(),
        usd: tariff.bill_usd(usage),
    }
}

/// A run under one tariff; what is about the oracle and the choice alone is not filled in.
pub(super) fn bill(
    arena: &SearchProblem,
    tariff: &Tariff,
    run: &Run,
    scratch: &mut Usage,
) -> Outcome {
    let line = &run.line;
    let parts = tariff.parts(&run.net);
    let total = TimeAndCost {
        hours: line.net_end.hours(),
        usd: parts.whole,
    };
    let cold_start = line.cold_start.map(|(index, seconds)| {
        arena.ground.plan_usage(index, seconds, scratch);
        TimeAndCost {
            hours: seconds / SECONDS_PER_HOUR,
            usd: tariff.so_far_usd(scratch),
        }
    });
    Outcome {
        choice: line.choice,
        total,
        parts,
        gross: if line.gross_end == line.net_end {
            total
        } else {
            value(tariff, line.gross_end, &run.gross)
        },
        search: TimeAndCost {
            hours: line.search_end.hours(),
            usd: match line.search_end {
                SimTime::ZERO => 0.0,
                _ => tariff.so_far_usd(&run.search),
            },
        },
        cold_start,
        alone: None,
        lost_vms: line.lost_vms,
        effective: effective(&run.net),
        totals: line.totals,
        oracle: total,
        reached_in_search: line.reached.is_some(),
    }
}

/// Effective training time ratio: training that counts over all time but that of a search. Steps slowed by missing VMs count as
/// the seconds that they take with all. Source: Kokolis et al., HPCA 2025, but for these.
fn effective(usage: &Usage) -> Option<f64> {
    let seconds = usage.phases.sample_seconds;
    let all: f64 = seconds.iter().sum();
    let run = all - seconds[Phase::Searching as usize];
    let useful = seconds[Phase::Training as usize] - usage.phases.slow_seconds;
    (run > 0.0).then(|| useful / run)
}

pub(super) fn divide(record: &mut Record<'_>, parts: &Parts) {
    record.bill_useful_usd = Some(parts.useful);
    record.bill_search_usd = Some(parts.search);
    record.bill_waiting_usd = Some(parts.waiting);
    record.bill_lost_usd = Some(parts.lost);
    record.bill_restore_usd = Some(parts.restore);
    let charges = &parts.charges;
    record.bill_egress_usd = Some(charges::egress::CHARGE.value_in(charges));
    record.bill_storage_usd = Some(charges::storage::CHARGE.value_in(charges));
    let named = [&charges::egress::CHARGE, &charges::storage::CHARGE];
    record.bill_charges_usd = Some(charges::all_but(&named, charges));
}
