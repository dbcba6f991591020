use super::constants::Constants;
use super::experts::{Experts, ObjectivePrediction};

/// What to run next, and at which value of the objective to give it up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NextRun {
    pub(super) at: usize,
    pub(super) cap: Option<f64>,
}

pub(super) struct Question<'q> {
    pub(super) power: f64,
    pub(super) best: Option<f64>,
    /// Runs of the job that are to come.
    pub(super) runs: f64,
    pub(super) open: &'q [usize],
    pub(super) fails: &'q [f64],
}

struct Candidate {
    at: usize,
    expected: f64,
    first: f64,
    cap: Option<f64>,
    worth: f64,
}

/// The whole run that is worth most, if any is worth its price. A run of x costs what it takes until it ends or is given up,
/// after which the best known is run; each of the R − 1 runs that follow costs the least then expected. Until something has
/// reached the target, one is always run.
pub(super) fn next_run(
    experts: &Experts<'_>,
    told: &ObjectivePrediction,
    asked: &Question<'_>,
    constants: &Constants,
) -> Option<NextRun> {
    let expected: Vec<f64> = asked.open.iter().map(|&at| told.expected(at)).collect();
    // What is tried until it succeeds takes as much more.
    let least = (asked.open.iter().zip(&expected))
        .map(|(&at, expected)| expected / (1.0 - asked.fails[at]))
        .fold(f64::INFINITY, f64::min);
    let reference = asked.best.map_or(least, |best| best.min(least));
    let mut all: Vec<Candidate> = (asked.open.iter().zip(&expected))
        .map(|(&at, &expected)| {
            let (first, cap) = first(told, asked, at, expected, reference, constants);
            let (taken, above) = told.until(at, reference);
            // E[max(reference − value, 0)].
            let gain = (1.0 - above) * reference - (taken - reference * above);
            Candidate {
                at,
                expected,
                first,
                cap,
                worth: asked.runs * gain * (1.0 - asked.fails[at]) - first,
            }
        })
        .collect();
    if all.is_empty() {
        return None;
    }
    let hopeful = hopeful(told, asked.open, constants.hopeful);
    let mut close: Vec<usize> = (0..all.len()).collect();
    close.sort_by(|&a, &b| all[b].worth.total_cmp(&all[a].worth).then(a.cmp(&b)));
    let mut chosen: Vec<usize> = close.iter().copied().take(constants.closely).collect();
    close.sort_by(|&a, &b| all[a].expected.total_cmp(&all[b].expected).then(a.cmp(&b)));
    chosen.extend(close.iter().copied().take(constants.closely));
    chosen.sort_unstable();
    chosen.dedup();
    let best = asked.best.unwrap_or(f64::INFINITY);
    let total = |place: usize| {
        let Candidate { at, first, .. } = all[place];
        if asked.runs <= 1.0 || asked.best.is_none() {
            return first;
        }
        // Where it fails, and others that are tried in its place, the best that is known by then is left.
        let worth = |other: usize, value: f64, outcome: f64| {
            let known = best.min(libm::exp(outcome));
            let fails = asked.fails[other].powi(constants.fail_alike);
            (1.0 - fails) * value.min(known) + fails * known
        };
        let worth = (constants.caution_after, worth);
        let ends = experts.after(told, at, asked.power, &hopeful, worth, constants);
        let after: f64 = (ends.iter())
            .map(|(odds, outcome, least)| odds * best.min(libm::exp(*outcome)).min(*least))
            .sum();
        let fails = asked.fails[at];
        first + (asked.runs - 1.0) * ((1.0 - fails) * after + fails * reference)
    };
    let found = (chosen.into_iter().map(|place| (place, total(place))))
        .reduce(|least, next| if next.1 < least.1 { next } else { least });
    let (place, total) = found?;
    if asked.best.is_some_and(|best| total >= asked.runs * best) {
        return None;
    }
    let Candidate { at, cap, .. } = all.swap_remove(place);
    Some(NextRun { at, cap })
}

/// What the next of the runs is expected to take if it begins with `at`, and where to give that up.
fn first(
    told: &ObjectivePrediction,
    asked: &Question<'_>,
    at: usize,
    expected: f64,
    reference: f64,
    constants: &Constants,
) -> (f64, Option<f64>) {
    let fails = asked.fails[at];
    let failed =
        |taken: f64, then: f64| (1.0 - fails) * (taken + then) + fails * (taken + reference);
    let whole = (failed(expected, 0.0), None);
    let Some(best) = asked.best else { return whole };
    // What takes far longer than what is known is not waited for, however unlikely that seems.
    (constants.caps.iter())
        .map(|factor| {
            let cap = factor * reference;
            let (taken, above) = told.until(at, cap);
            (failed(taken, best * above), Some(cap))
        })
        .reduce(|least, next| if next.0 < least.0 { next } else { least })
        .unwrap_or(whole)
}

/// Configurations that may turn out to be the best: of the least values that are still likely.
fn hopeful(told: &ObjectivePrediction, open: &[usize], most: usize) -> Vec<usize> {
    let likely = |at: usize| {
        let of = |(weight, moments): (&f64, &Vec<(f64, f64)>)| {
            let (m, v) = moments[at];
            weight * (m + 0.5 * v - 1.5 * v.sqrt())
        };
        told.weights.iter().zip(&told.moments).map(of).sum::<f64>()
    };
    let mut order: Vec<(usize, f64)> = open.iter().map(|&at| (at, likely(at))).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    order.truncate(most);
    order.into_iter().map(|(at, _)| at).collect()
}

/// What a look at some steps of each configuration is expected to cost, in the unit of the objective.
pub(super) struct LookCosts<'q> {
    pub(super) power: f64,
    pub(super) charge: &'q [f64],
    pub(super) runs: f64,
    /// Configurations that were not looked at.
    pub(super) open: &'q [usize],
    pub(super) all: &'q [usize],
}

/// The configuration that a look is worth most at, if any is worth its price: its charge, and for each of the R runs the
/// least that is then expected of any configuration. `is_new`: nothing was seen yet, so one look is always worth it.
pub(super) fn next_look(
    experts: &Experts<'_>,
    told: &ObjectivePrediction,
    asked: &LookCosts<'_>,
    is_new: bool,
    constants: &Constants,
) -> Option<usize> {
    let now = (asked.all.iter())
        .map(|&at| told.expected(at))
        .fold(f64::INFINITY, f64::min);
    let hopeful = hopeful(told, asked.all, constants.hopeful);
    let mut close: Vec<(usize, f64)> = (asked.open.iter())
        .map(|&at| {
            let (taken, above) = told.until(at, now);
            let gain = (1.0 - above) * now - (taken - now * above);
            (at, asked.charge[at] - asked.runs * gain)
        })
        .collect();
    close.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    close.truncate(2 * constants.closely);
    let total = |at: usize| {
        let worth = (f64::INFINITY, |_, value, _| value);
        let ends = experts.after(told, at, asked.power, &hopeful, worth, constants);
        let after: f64 = (ends.iter())
            .map(|(odds, outcome, least)| odds * libm::exp(*outcome).min(*least))
            .sum();
        asked.charge[at] + asked.runs * after
    };
    let found = (close.into_iter().map(|(at, _)| (at, total(at))))
        .reduce(|least, next| if next.1 < least.1 { next } else { least });
    found
        .filter(|(_, total)| is_new || *total < asked.runs * now)
        .map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::value_of_information::experts::{End, LogObjective, ObservedRun};
    use crate::search::value_of_information::field::Prior;

    /// Four that are alike, and one of which nothing is known by the others.
    fn prior() -> Prior {
        let mut covariance = vec![0.0; 25];
        for a in 0..5 {
            for b in 0..5 {
                covariance[a * 5 + b] = match (a == b, a < 4 && b < 4) {
                    (true, _) => 1.0,
                    (false, true) => 0.9,
                    (false, false) => 0.0,
                };
            }
        }
        Prior {
            mean: vec![0.0, 0.1, 0.2, 0.3, 0.5],
            covariance,
            unsettled: Vec::new(),
            own: 0.0,
        }
    }

    fn ask(runs: f64, seen: Option<f64>) -> Option<NextRun> {
        let constants = Constants::default();
        let prior = prior();
        let to = LogObjective {
            power: 1.0,
            offset: vec![0.0; 5],
        };
        let mut experts = Experts::new(&[&prior], &[1.0], constants.caution);
        let mut open = vec![0, 1, 2, 3, 4];
        if let Some(log_time) = seen {
            open.remove(0);
            let seen = ObservedRun {
                log_time,
                log_step: None,
                end: End::Reached,
            };
            experts.learn(0, &seen);
        }
        let told = experts.predict_objective(&to);
        let asked = Question {
            power: 1.0,
            best: seen.map(libm::exp),
            runs,
            open: &open,
            fails: &[0.05; 5],
        };
        next_run(&experts, &told, &asked, &constants)
    }

    #[test]
    fn the_likeliest_best_is_run_first_and_to_its_end() {
        assert_eq!(ask(1.0, None), Some(NextRun { at: 0, cap: None }));
    }

    #[test]
    fn one_run_more_is_no_reason_to_look_further_and_a_hundred_are() {
        assert_eq!(ask(1.0, Some(3.0)), None);
        let next = ask(100.0, Some(3.0)).expect("worth it");
        assert!(next.at == 4 && next.cap.is_some(), "{next:?}");
    }
}
