//! How long a job on a plan takes through losses, by formula.
//!
//! Where VMs are lost at a rate λ, a piece of x seconds that has to be done without a loss takes, with A seconds from a loss
//! until training goes on,
//!
//! (e^(λx) − 1) (1/λ + A), A = e^(λR) (e^(λD) − 1)/λ + (e^(λR) − 1)/λ,
//!
//! D until another VM runs, R to go on from a checkpoint: both begin again with the next loss. A piece is the work between two
//! checkpoints and the write at its end. Source: Daly 2006. Lives that are not memoryless count by their mean.
//!
//! Where a trace says how many GPUs there are, a job trains while there are enough: what it takes is the mean over moments of
//! the trace at which it may begin.

use crate::reaction::{Moves, Reaction};
use crate::terms::{PlanWithTerms, Terms};
use crate::{Choices, FeasiblePlan};
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_data::cloud::lifetimes::Trace;
use scavsim_sim::cluster::checkpoint::Policy;
use scavsim_sim::cluster::{Keeps, Losses, RecoveryTerms};

/// Moments of a trace at which a job may begin.
const MOMENTS: u32 = 128;
/// Rounds of a trace without a checkpoint after which a job is taken not to come to its end.
const MOST_ROUNDS: u32 = 2;

#[derive(Debug, Clone, Copy)]
struct LossPauses {
    /// Work between checkpoints; infinite without them.
    interval: f64,
    write: f64,
    restart: f64,
    replacement: f64,
    start_up: f64,
}

impl LossPauses {
    fn new(terms: &Terms, way: &FeasiblePlan, upkeep: &RecoveryTerms, step_s: f64) -> LossPauses {
        let interval = match terms.checkpoints(way, way.draft.gpus()) {
            Policy::None | Policy::Dynamic(_) => f64::INFINITY,
            Policy::Periodic(periodic) => periodic.interval_h() * SECONDS_PER_HOUR,
            Policy::YoungDaly(young_daly) => young_daly.interval_h() * SECONDS_PER_HOUR,
        };
        LossPauses {
            // They come after whole steps.
            interval: (interval / step_s).ceil().max(1.0) * step_s,
            write: terms.mean_write_s(way),
            restart: terms.mean_restart_s(way),
            replacement: upkeep.replacement.mean_s(),
            start_up: terms.start_up_of(way).mean_s(),
        }
    }

    /// Checkpoints in so much work; none at its end.
    fn writes(&self, work_s: f64) -> f64 {
        // An infinite interval makes none.
        ((work_s / self.interval).ceil() - 1.0).max(0.0)
    }

    fn undisturbed(&self, work_s: f64) -> f64 {
        work_s + self.writes(work_s) * self.write
    }

    /// Expected seconds of so much work, where losses come at `rate` per second.
    fn at_rate(&self, rate: f64, work_s: f64, keeps: Keeps, step_s: f64) -> f64 {
        if rate <= 0.0 {
            return self.undisturbed(work_s);
        }
        let until_none = |seconds: f64| libm::expm1(rate * seconds) / rate;
        let pause = libm::exp(rate * self.restart) * until_none(self.replacement)
            + until_none(self.restart);
        let piece = |seconds: f64| until_none(seconds) * (1.0 + rate * pause);
        match keeps {
            // Half a step is lost.
            Keeps::Steps => self.undisturbed(work_s) * (1.0 + rate * (pause + 0.5 * step_s)),
            Keeps::Checkpoint => {
                let writes = self.writes(work_s);
                if writes == 0.0 {
                    return piece(work_s);
                }
                writes * piece(self.interval + self.write) + piece(work_s - writes * self.interval)
            }
        }
    }

    /// Expected seconds of work done while there are enough GPUs, from when its VMs run; infinite where it is never done.
    fn in_spans(&self, spans: &Spans, work_s: f64, keeps: Keeps) -> f64 {
        let moments = f64::from(MOMENTS);
        let each = (0..MOMENTS).map(|n| {
            let from = (f64::from(n) + 0.5) / moments * spans.round_s;
            self.beginning_at(spans, from, work_s, keeps)
        });
        each.sum::<f64>() / moments
    }

    fn beginning_at(&self, spans: &Spans, from: f64, work_s: f64, keeps: Keeps) -> f64 {
        let (mut left, mut fruitless) = (work_s, 0);
        let mut boot = self.start_up;
        let mut restart = 0.0;
        for round in 0.. {
            let before = left;
            for &(begin, end) in &spans.enough {
                let shift = f64::from(round) * spans.round_s;
                let (begin, end) = ((begin + shift).max(from), end + shift);
                let ready = begin + boot + restart;
                if begin >= end || ready >= end {
                    // Whoever met a loss while VMs started asks for others.
                    boot = if begin < end { self.replacement } else { boot };
                    continue;
                }
                let there_are = end - ready;
                if self.undisturbed(left) <= there_are {
                    return ready + self.undisturbed(left) - from - self.start_up;
                }
                left -= match keeps {
                    Keeps::Checkpoint => {
                        let pieces = (there_are / (self.interval + self.write)).floor();
                        if pieces > 0.0 {
                            pieces * self.interval
                        } else {
                            0.0
                        }
                    }
                    Keeps::Steps => there_are / self.undisturbed(left) * left,
                };
                (boot, restart) = (self.replacement, self.restart);
            }
            fruitless = if left < before { 0 } else { fruitless + 1 };
            if fruitless > MOST_ROUNDS {
                break;
            }
        }
        f64::INFINITY
    }
}

/// When there are enough GPUs, in a round of a trace that begins again and again.
#[derive(Debug, Clone, PartialEq)]
struct Spans {
    round_s: f64,
    /// Beginnings and ends; what goes on over the seam stands as one that ends in the next round.
    enough: Vec<(f64, f64)>,
    always: bool,
}

impl Spans {
    fn from_trace(trace: &Trace, gpus: u32) -> Spans {
        let round = trace.length_s();
        let mut cursor = trace.cursor(0);
        // The second round: the first begins without what the seam leaves.
        let mut changes = Vec::new();
        while let Some(change) = trace.next(&mut cursor) {
            if change.at_s >= 2 * round {
                break;
            }
            let there_are = (change.held + change.added).saturating_sub(change.removed);
            if change.at_s >= round {
                changes.push(((change.at_s - round) as f64, there_are >= gpus));
            }
        }
        let round_s = round as f64;
        let mut enough: Vec<(f64, f64)> = Vec::new();
        let all = changes.iter().enumerate();
        for (number, &(at, is_enough)) in all.filter(|(_, change)| change.1) {
            debug_assert!(is_enough);
            let next = changes.get(number + 1).map_or(round_s, |change| change.0);
            match enough.last_mut() {
                Some(last) if last.1 >= at => last.1 = next,
                _ => enough.push((at, next)),
            }
        }
        let first = changes.first().map_or(0.0, |change| change.0);
        let always = !changes.is_empty() && changes.iter().all(|change| change.1);
        // What reaches the seam goes on behind it.
        if let [begins, .., last] = &mut enough[..]
            && last.1 >= round_s
            && begins.0 <= first
        {
            last.1 = round_s + begins.1;
        }
        Spans {
            round_s,
            enough,
            always,
        }
    }
}

/// Expected seconds of `work_s` seconds of training in steps of `step_s`, through losses, from when its VMs run; may be
/// infinite.
pub fn through_losses(on: PlanWithTerms<'_>, work_s: f64, step_s: f64) -> f64 {
    let PlanWithTerms {
        choices,
        way,
        terms,
        ..
    } = on;
    let Some(upkeep) = terms.upkeep(way) else {
        return work_s;
    };
    let mut pauses = LossPauses::new(terms, way, upkeep, step_s);
    let reacting = &terms.reacting;
    if let Some(failures) = &terms.failures {
        pauses.restart += failures.mean_response_s();
    }
    if reacting.spares > 0 {
        pauses.replacement = reacting.swap.seconds();
    }
    // Who goes on loses no work, and only the seconds of the reaction.
    let goes_on = reacting.reaction.goes_on();
    let keeps = if goes_on { Keeps::Steps } else { upkeep.keeps };
    if goes_on {
        pauses.replacement = 0.0;
        pauses.restart = reacting.costs.pause_s(&Moves {
            data: way.draft.data,
            pipeline: way.draft.pipeline,
            layers: 0,
            bytes: 0.0,
            adds: false,
        });
    }
    match terms.spot_of(way).map(|spot| &spot.losses) {
        Some(Losses::Trace(trace))
            if terms.is_capacity && reacting.reaction == Reaction::RePlan =>
        {
            re_planned(on, trace, work_s / step_s)
        }
        Some(Losses::Trace(trace)) if terms.is_capacity => {
            let spans = Spans::from_trace(trace, gpus(choices, way));
            if spans.always {
                pauses.undisturbed(work_s)
            } else {
                pauses.in_spans(&spans, work_s, keeps)
            }
        }
        _ => {
            let between_h = terms.between_losses_h(way, way.draft.gpus());
            pauses.at_rate(1.0 / (between_h * SECONDS_PER_HOUR), work_s, keeps, step_s)
        }
    }
}

/// Seconds of so many steps, where the fastest plan on the GPUs that there are takes them, in the mean over a trace.
fn re_planned(on: PlanWithTerms<'_>, trace: &Trace, steps: f64) -> f64 {
    let fastest = on.choices.fastest_like(on.at);
    let rate = |gpus: u32| {
        let fits = fastest.iter().rev().find(|plan| plan.gpus <= gpus);
        fits.map_or(0.0, |plan| 1.0 / plan.step_s)
    };
    let changes = trace.changes();
    let spans = changes.windows(2);
    let done: f64 = spans
        .map(|pair| (pair[1].at_s - pair[0].at_s) as f64 * rate(pair[1].held))
        .sum();
    steps * trace.length_s() as f64 / done
}

fn gpus(choices: &Choices, way: &FeasiblePlan) -> u32 {
    let each = way.nodes.iter();
    each.map(|(vm, count)| count * choices.vm_types[usize::from(*vm)].0)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_base::tests::{close, near};
    use scavsim_sim::cluster::checkpoint::run_time::daly_h;

    const HOURLY: LossPauses = LossPauses {
        interval: 600.0,
        write: 20.0,
        restart: 60.0,
        replacement: 300.0,
        start_up: 120.0,
    };

    /// Beside the published formula, whose pause is lost time that begins again: with nothing to wait for both are the same.
    #[test]
    fn without_replacement_it_is_dalys_formula() {
        let pauses = LossPauses {
            replacement: 0.0,
            ..HOURLY
        };
        let (rate, work_s) = (1.0 / 1800.0, 6000.0);
        let ours = pauses.at_rate(rate, work_s, Keeps::Checkpoint, 1.0);
        let [work_h, interval_h, write_h, restart_h] =
            [work_s, 600.0, 20.0, 60.0].map(|s| s / SECONDS_PER_HOUR);
        let daly = daly_h(work_h, interval_h, write_h, restart_h, 0.5);
        // Daly writes at the end, too.
        let last = libm::expm1(rate * 620.0) - libm::expm1(rate * 600.0);
        let ours = ours + last / rate * libm::exp(rate * 60.0);
        close(ours / SECONDS_PER_HOUR, daly, 1e-9);
    }

    #[test]
    fn without_losses_only_checkpoints_take_time() {
        assert_eq!(HOURLY.at_rate(0.0, 1800.0, Keeps::Checkpoint, 1.0), 1840.0);
        let none = LossPauses {
            interval: f64::INFINITY,
            ..HOURLY
        };
        assert_eq!(none.undisturbed(1800.0), 1800.0);
        let rare = HOURLY.at_rate(1e-12, 1800.0, Keeps::Checkpoint, 1.0);
        near(rare, 1840.0, 1e-3);
    }

    /// Eight GPUs for 600 s, then four for 400 s, then eight again.
    fn trace() -> Trace {
        let rows = [
            (0, 8, 0),
            (600, 0, 4),
            (1000, 4, 0),
            (1600, 0, 4),
            (2000, 4, 0),
        ];
        Trace::new(&rows).expect("it is legal")
    }

    #[test]
    fn spans_are_when_there_are_enough_and_go_over_the_seam() {
        let of = |gpus| Spans::from_trace(&trace(), gpus);
        assert!(of(4).always && !of(8).always);
        assert_eq!(of(8).enough, [(0.0, 600.0), (1000.0, 1600.0)]);
        assert_eq!(of(9).enough, []);
    }

    /// By hand: a job that begins in the middle of the gap waits for its end.
    #[test]
    fn a_job_trains_while_there_are_enough() {
        let spans = Spans::from_trace(&trace(), 8);
        let pauses = LossPauses {
            interval: 100.0,
            write: 0.0,
            restart: 10.0,
            replacement: 30.0,
            start_up: 20.0,
        };
        let from = |at, work| pauses.beginning_at(&spans, at, work, Keeps::Checkpoint);
        // In the first span: 20 s of start-up are not counted.
        assert_eq!(from(0.0, 500.0), 500.0);
        // 800 to 1000 nothing, then 500 of training.
        assert_eq!(from(800.0, 500.0), 200.0 + 500.0);
        // 580 s in the first span keep 500; the rest begins at 1000 + 30 + 10.
        assert_eq!(from(0.0, 600.0), 1040.0 + 100.0 - 20.0);
        // What no span is long enough for is never done.
        let whole = LossPauses {
            interval: f64::INFINITY,
            ..pauses
        };
        let never = whole.beginning_at(&spans, 0.0, 700.0, Keeps::Checkpoint);
        assert_eq!(never, f64::INFINITY);
        assert!(whole.in_spans(&spans, 500.0, Keeps::Checkpoint).is_finite());
    }
}
