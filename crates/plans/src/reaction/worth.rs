//! Which plan is worth a pause, by dynamic programming over the spans that are foretold.

use super::Aim;
use crate::FastestOn;
use crate::forecast::SpanOf;

#[derive(Debug, Clone, Copy)]
pub struct Prospect<'a> {
    /// The fastest plans on ever more GPUs.
    pub fastest: &'a [FastestOn],
    pub gpus: u32,
    /// GPUs that there will be, from now on; a first span without end: nobody looks ahead.
    pub path: &'a [SpanOf],
    /// The plan that trains and can go on, by its number.
    pub trained: Option<usize>,
    /// Seconds in which nobody trains when the plan changes.
    pub pause_s: f64,
    /// Whether nothing trained yet: everybody has to meet whatever is chosen.
    pub is_start: bool,
    pub aim: Aim,
}

/// The plan, among the fastest, to train with now, and how many of its replicas; `None` where none can.
///
/// W(i, k) is what is done from span i on, if plan k trains when it begins: the most over plans j that can train on the GPUs of the
/// span, of (length of i − pause if j ≠ k) × rate of j + W(i + 1, j).
pub fn best(prospect: &Prospect<'_>) -> Option<(usize, u32)> {
    let best = valued(prospect)?;
    Some((best.2, best.3))
}

/// Steps that can be done until the end of the path; none where nobody can train.
pub(crate) fn steps(prospect: &Prospect<'_>) -> f64 {
    valued(prospect).map_or(0.0, |best| best.0)
}

/// Steps until the end of the path with the best plan, whether it goes on, the plan, and how many of its replicas.
fn valued(prospect: &Prospect<'_>) -> Option<(f64, bool, usize, u32)> {
    let plans = prospect.fastest;
    let rates = |gpus: u32| -> Vec<Option<(f64, u32)>> {
        let rate = |plan: &FastestOn| {
            let replicas = replicas_on(plan, gpus, prospect.aim)?;
            let share = f64::from(replicas) / f64::from(plan.data);
            Some((share / plan.step_s, replicas))
        };
        plans.iter().map(rate).collect()
    };
    let mut path = prospect.path.iter().copied();
    let first = path.next()?;
    let now = rates(prospect.gpus);
    let mut after = vec![0.0_f64; plans.len()];
    for span in path.rev() {
        let of_span = rates(span.gpus);
        let worth = |j: usize, pause: f64| {
            let (rate, _) = of_span[j]?;
            Some((span.seconds - pause).max(0.0) * rate + after[j])
        };
        let best = |k: usize| {
            let pause = |j: usize| if j == k { 0.0 } else { prospect.pause_s };
            let all = (0..plans.len()).filter_map(|j| worth(j, pause(j)));
            // Where nobody can train, all wait until there are more.
            all.reduce(f64::max).unwrap_or(after[k])
        };
        after = (0..plans.len()).map(best).collect();
    }
    let trained = prospect.trained;
    let worth = |j: usize| {
        let (rate, replicas) = now[j]?;
        let stays = trained == Some(plans[j].at);
        let pause = if stays || prospect.is_start {
            0.0
        } else {
            prospect.pause_s
        };
        let done = if first.seconds.is_finite() {
            (first.seconds - pause).max(0.0) * rate + after[j]
        } else {
            // Without a horizon every pause is worth while.
            rate
        };
        Some((done, stays, j, replicas))
    };
    let all = (0..plans.len()).filter_map(worth);
    all.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
}

/// Replicas of a plan that train on so many GPUs: all, or, where what survives counts, those that there are GPUs for.
fn replicas_on(plan: &FastestOn, gpus: u32, aim: Aim) -> Option<u32> {
    match aim {
        Aim::Throughput => (plan.gpus <= gpus).then_some(plan.data),
        Aim::Liveput => {
            let of_replica = plan.gpus / plan.data;
            let left = (gpus / of_replica).min(plan.data);
            (left > 0).then_some(left)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FastestOn;

    fn best(gpus: u32, now: Option<usize>, path: &[(f64, u32)], pause_s: f64) -> Option<usize> {
        chosen(gpus, now, (path, pause_s), Aim::Throughput).map(|(at, _)| at)
    }

    fn chosen(
        gpus: u32,
        now: Option<usize>,
        (path, pause_s): (&[(f64, u32)], f64),
        aim: Aim,
    ) -> Option<(usize, u32)> {
        let fastest = [(8, 1.0), (12, 0.7), (16, 0.5)].map(|(gpus, step_s)| FastestOn {
            gpus,
            step_s,
            data: 4,
            at: gpus as usize,
        });
        let span = |&(seconds, gpus): &(f64, u32)| SpanOf { seconds, gpus };
        let path: Vec<SpanOf> = path.iter().map(span).collect();
        super::best(&Prospect {
            gpus,
            trained: now,
            fastest: &fastest,
            path: &path,
            pause_s,
            is_start: false,
            aim,
        })
        .map(|(best, replicas)| (fastest[best].at, replicas))
    }

    /// By hand: 100 s of the faster plan are worth a pause, 10 s are not.
    #[test]
    fn a_pause_is_taken_where_it_pays() {
        assert_eq!(best(16, Some(8), &[(100.0, 16)], 30.0), Some(16));
        assert_eq!(best(16, Some(8), &[(10.0, 16)], 8.0), Some(8));
        // What is to be given up again at once is not begun: two pauses for 50 s of twice the rate.
        assert_eq!(best(16, Some(8), &[(50.0, 16), (500.0, 8)], 30.0), Some(8));
        assert_eq!(best(16, Some(8), &[(50.0, 16), (500.0, 8)], 10.0), Some(16));
        assert_eq!(best(12, Some(16), &[(100.0, 12)], 30.0), Some(12));
        assert_eq!(best(7, None, &[(100.0, 7)], 0.0), None);
        // What survives counts: three of four replicas go on without a pause, three quarters as fast.
        let short: &[(f64, u32)] = &[(20.0, 12), (500.0, 16)];
        let of = |aim| chosen(12, Some(16), (short, 30.0), aim);
        assert_eq!(of(Aim::Liveput), Some((16, 3)));
        assert_eq!(of(Aim::Throughput).map(|c| c.0), Some(12));
        // Nobody looks ahead.
        assert_eq!(best(16, Some(8), &[(f64::INFINITY, 16)], 1e6), Some(16));
    }
}
