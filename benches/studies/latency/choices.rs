//! Choices within a limit on time or money, by predictions for unseen set-ups.
//!
//! The work is fixed: a number of samples with one local batch everywhere. Given a limit on time the objective is the
//! cheapest set-up, given one on money the fastest. The upper end of a one-sided 95 % interval must meet the limit, and the
//! prediction itself ranks the allowed ones; if none is allowed, the one with the lowest upper end is chosen.

use super::hidden::Setup;
use scavsim::stats::normal;

/// Standard deviations up to the end of a one-sided interval of 95 %.
const CAUTION: f64 = normal::AT_95;
/// Number of limits between the least and the most of all set-ups.
const LIMITS: i32 = 5;

/// What is limited; the other one is minimised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limited {
    /// Time.
    Time,
    /// Money: VM-hours of one VM type.
    Money,
}

/// One choice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// What was limited.
    pub limited: Limited,
    /// Whether the choice meets the limit, in truth.
    pub kept: bool,
    /// Excess of its true objective over that of the best that meets the limit, relative.
    pub excess: f64,
}

/// The data of a set-up for a choice: time and money per sample, predicted and true, and the factor from predicted to cautious.
struct Candidate {
    told: [f64; 2],
    cautious: f64,
    truth: [f64; 2],
}

/// Choices among set-ups of one workload that were hidden in one way: for each local batch, limits evenly spread in
/// logarithms between the least and the most.
pub fn choices(setups: &[&Setup]) -> Vec<Choice> {
    let mut batches: Vec<f64> = setups.iter().map(|s| s.local_batch).collect();
    batches.sort_by(f64::total_cmp);
    batches.dedup();
    let mut choices = Vec::new();
    for batch in batches {
        let candidates: Vec<Candidate> = (setups.iter())
            .filter(|s| s.local_batch == batch)
            .filter_map(|s| candidate(s))
            .collect();
        for limited in [Limited::Time, Limited::Money] {
            choices.extend(within(&candidates, limited));
        }
    }
    choices
}

fn candidate(setup: &Setup) -> Option<Candidate> {
    let (said, deviation) = setup.said?;
    let samples = setup.local_batch * f64::from(setup.workers);
    let both = |step_s: f64| {
        let time = step_s / samples;
        [time, time * f64::from(setup.vms)]
    };
    Some(Candidate {
        told: both(said),
        cautious: libm::exp(CAUTION * deviation),
        truth: both(setup.measured_s),
    })
}

fn within(candidates: &[Candidate], limited: Limited) -> Vec<Choice> {
    let (bound, least) = match limited {
        Limited::Time => (0, 1),
        Limited::Money => (1, 0),
    };
    let all = || candidates.iter().map(|c| c.truth[bound]);
    let (low, high) = (
        all().fold(f64::INFINITY, f64::min),
        all().fold(0.0, f64::max),
    );
    let by = |of: &dyn Fn(&Candidate) -> f64, keeps: &dyn Fn(&Candidate) -> bool| {
        let kept = candidates.iter().filter(|c| keeps(c));
        kept.min_by(|a, b| of(a).total_cmp(&of(b)))
    };
    let choice = |number: i32| {
        let share = f64::from(number) / f64::from(LIMITS + 1);
        let limit = low * libm::pow(high / low, share);
        let upper = |c: &Candidate| c.told[bound] * c.cautious;
        let chosen =
            by(&|c| c.told[least], &|c| upper(c) <= limit).or_else(|| by(&upper, &|_| true))?;
        let best = by(&|c| c.truth[least], &|c| c.truth[bound] <= limit)?;
        Some(Choice {
            limited,
            kept: chosen.truth[bound] <= limit,
            excess: chosen.truth[least] / best.truth[least] - 1.0,
        })
    };
    (1..=LIMITS).filter_map(choice).collect()
}
