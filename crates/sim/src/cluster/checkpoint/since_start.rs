//! A schedule by the time since a job began, with the odds of new VMs, to reproduce published figures: facts from the public
//! repository `scispot` (Kadupitiya, Jadhao & Sharma, HPDC 2020), slips included, none of its code.

use super::dynamic::{MOST, ScheduleError, Task};
use scavsim_data::cloud::lifetimes::Lifetime;

/// Checkpoints by the recursion
///
/// M(W, D) = minᵢ p (i + δ + M(W − i, D + i + δ)) + (1 − p) ((i + δ)/2 + R + M(W, R)), at least W
///
/// with work W left at D since the start and p = 1 − (F(D + i + δ) − F(D)). At D = R the second term is (1 − p)/p ((i + δ)/2 + R):
/// work is not done again there, a slip. All in whole steps.
#[derive(Debug, Clone)]
pub struct SinceStart {
    step_h: f64,
    write: usize,
    restart: usize,
    /// Times since the start that are told apart.
    times: usize,
    /// M by W and D, in steps.
    expected: Vec<f64>,
    /// The best next stretch by W and D, in steps.
    best: Vec<usize>,
}

impl SinceStart {
    /// For jobs of up to `task.job_h` hours. [`ScheduleError`] without a cap, for impossible times, or if it would take too
    /// long.
    pub fn new(life: &Lifetime, task: Task) -> Result<SinceStart, ScheduleError> {
        let steps = |hours: f64| (hours / task.step_h).round() as usize;
        let (most, write, restart) = (
            steps(task.job_h),
            steps(task.write_h),
            steps(task.restart_h),
        );
        if !(life.cap_h().is_finite() && task.step_h > 0.0 && most > 0) {
            return Err(ScheduleError::Times);
        }
        let times = steps(life.cap_h()) + 1;
        if most as f64 * most as f64 * times as f64 / 2.0 > MOST {
            return Err(ScheduleError::TooFine);
        }
        let lost: Vec<f64> = (0..times + most + write)
            .map(|at| life.cdf_before(at as f64 * task.step_h))
            .collect();
        let mut expected = vec![0.0; (most + 1) * times];
        let mut best = vec![0; (most + 1) * times];
        for work in 1..=most {
            let row = work * times;
            // Where it starts again comes first: the others need it.
            for at in (restart..=restart).chain(0..times) {
                let mut least = f64::INFINITY;
                for stretch in 1..=work {
                    let spent = stretch + write;
                    let ends = at + spent;
                    let kept = 1.0 - (lost[ends] - lost[at]);
                    let then = expected[(work - stretch) * times + ends.min(times - 1)];
                    let again = spent as f64 / 2.0 + restart as f64;
                    let after_loss = if at == restart {
                        again / kept
                    } else {
                        again + expected[row + restart]
                    };
                    let all = kept * (spent as f64 + then) + (1.0 - kept) * after_loss;
                    let all = all.max(work as f64);
                    if all < least - 1e-12 {
                        (least, best[row + at]) = (all, stretch);
                    }
                }
                expected[row + at] = least;
            }
        }
        Ok(SinceStart {
            step_h: task.step_h,
            write,
            restart,
            times,
            expected,
            best,
        })
    }

    fn steps(&self, hours: f64) -> usize {
        (hours / self.step_h).round() as usize
    }

    pub fn expected_h(&self, job_h: f64, age_h: f64) -> f64 {
        let at = self.steps(age_h).min(self.times - 1);
        self.expected[self.steps(job_h) * self.times + at] * self.step_h
    }

    /// The schedule as it is read off: the first stretch of the job, then at each time since the start, in which no
    /// writing counts, the longest stretch that is best there for any work that can be left; until one would pass the job.
    pub fn stretches_h(&self, job_h: f64) -> Vec<f64> {
        let job = self.steps(job_h);
        let mut stretches = Vec::new();
        let (mut at, mut next) = (0, self.best[job * self.times]);
        while next > 0 && at + next <= job && at + next < self.times {
            stretches.push(next as f64 * self.step_h);
            at += next;
            // Least is done in stretches of one step, each with its checkpoint, after a loss at once.
            let done = at.saturating_sub(self.restart) / (1 + self.write);
            next = (1..=job - done)
                .map(|work| self.best[work * self.times + at])
                .max()
                .unwrap_or(0);
        }
        stretches
    }
}
