//! What other jobs tell of a job before anything was seen of it. Logarithms of time, less the prior of any job, are a part
//! that jobs share (this share of the variance) and a part of each job's own. Earlier jobs give the shared part a mean, and
//! their own parts a covariance, mixed with the prior's as if so many jobs had shown it. History weighs all this: the runs of
//! each program are foretold from the others, and an expert weighs as often as it foretells best.

use super::constants::Constants;
use super::field::{Field, LEVEL, OBSERVED, Prior};
use crate::search::other_jobs::{OtherJob, OtherJobs};
use scavsim_base::stats::field::{Field as Observations, dot, symmetric};

/// Runs of an earlier job that are foretold, one after the other, to weigh an expert: about as many as a search makes.
const FORETOLD: usize = 12;
/// Programs that are foretold from the others, from all over the list: each takes as long as the prior itself.
const PROGRAMS: usize = 8;

#[derive(Debug, Clone)]
pub(super) struct PooledPrior {
    pub(super) prior: Prior,
    /// Logarithms of the weights of experts by the prior of any job, per scale, and of those by this one.
    pub(super) log_weights: [Vec<f64>; 2],
}

impl PooledPrior {
    pub(super) fn new(any: &Prior, others: &OtherJobs, constants: &Constants) -> PooledPrior {
        let scales = &constants.scales;
        // As if each had been the best for one program.
        let mut wins = [vec![1.0; scales.len()], vec![1.0; scales.len()]];
        let all: Vec<usize> = (0..any.mean.len()).collect();
        let programs: Vec<&str> = others.programs().collect();
        let every = programs.len().div_ceil(PROGRAMS).max(1);
        for program in programs.into_iter().step_by(every) {
            let left = others.without(program, &all);
            let before = pooled(any, &left, constants);
            let of_program = || others.jobs.iter().filter(|job| job.program == program);
            let mut best: Option<(f64, usize, usize)> = None;
            for (kind, prior) in [any, &before].into_iter().enumerate() {
                for (place, scale) in scales.iter().enumerate() {
                    let log: f64 = of_program().map(|job| foretells(prior, *scale, job)).sum();
                    if best.is_none_or(|(most, ..)| log > most) {
                        best = Some((log, kind, place));
                    }
                }
            }
            if let Some((_, kind, place)) = best {
                wins[kind][place] += 1.0;
            }
        }
        PooledPrior {
            prior: pooled(any, others, constants),
            log_weights: wins.map(|wins| wins.into_iter().map(libm::log).collect()),
        }
    }
}

/// Logarithm of how likely some runs of a job were, one after the other.
fn foretells(prior: &Prior, scale: f64, job: &OtherJob) -> f64 {
    let mut field = Field::new(prior, scale);
    let logs = job.logs().into_iter().enumerate();
    let seen: Vec<(usize, f64)> = logs.filter_map(|(at, log)| Some((at, log?))).collect();
    // From all over the list.
    let every = seen.len().div_ceil(FORETOLD).max(1);
    (seen.iter().step_by(every))
        .map(|&(at, log)| field.observe(at, log))
        .sum()
}

/// Logarithms of the times of each job, less what is believed of any job, less their mean.
fn residuals(any: &Prior, others: &OtherJobs) -> Vec<Vec<Option<f64>>> {
    let of_job = |job: &OtherJob| {
        let off = |(log, mean): (Option<f64>, &f64)| log.map(|log| log - mean);
        let offs: Vec<Option<f64>> = job.logs().into_iter().zip(&any.mean).map(off).collect();
        let known = offs.iter().copied().flatten();
        let level = known.clone().sum::<f64>() / known.count().max(1) as f64;
        offs.into_iter()
            .map(|off| off.map(|off| off - level))
            .collect()
    };
    others.jobs.iter().map(of_job).collect()
}

fn pooled(any: &Prior, others: &OtherJobs, constants: &Constants) -> Prior {
    let residuals = &residuals(any, others);
    let (share, like_jobs) = (constants.shared, constants.like_jobs);
    let n = any.mean.len();
    let own_of = |a: usize, b: usize| if a == b { any.own } else { 0.0 };
    // Where at least one job was run, how many were, and what they say in the mean.
    let mean_of = |at: usize| {
        let known = residuals.iter().filter_map(|of_job| of_job[at]);
        let jobs = known.clone().count() as f64;
        (jobs > 0.0).then(|| (at, jobs, known.sum::<f64>() / jobs))
    };
    let known: Vec<(usize, f64, f64)> = (0..n).filter_map(mean_of).collect();
    let field = Observations::with_least_variance(known.len(), f64::MIN_POSITIVE, |i, j| {
        let ((a, jobs_a, _), (b, jobs_b, _)) = (known[i], known[j]);
        let covariance = any.covariance[a * n + b];
        let of_each = (1.0 - share) * covariance + own_of(a, b);
        let shared = LEVEL + share * covariance + of_each / (jobs_a * jobs_b).sqrt();
        if i == j {
            shared + OBSERVED * OBSERVED / jobs_a
        } else {
            shared
        }
    });
    let weights = field.weights(known.iter().map(|(_, _, mean)| *mean).collect());
    // Per configuration the shared part: its covariances with what is known, solved by the triangle.
    let mut shift = vec![0.0; n];
    let mut solved: Vec<Vec<f64>> = Vec::with_capacity(n);
    for (x, shift) in shift.iter_mut().enumerate() {
        let row: Vec<f64> = (known.iter())
            .map(|&(at, ..)| share * any.covariance[x * n + at])
            .collect();
        *shift = dot(&row, &weights);
        solved.push(field.solved(row));
    }
    let own_parts = own_parts(any, residuals, &shift, share);
    let jobs = own_parts.len() as f64;
    let covariance = symmetric(n, |a, b| {
        let sample: f64 = own_parts.iter().map(|part| part[a] * part[b]).sum();
        let of_prior = any.covariance[a * n + b] - dot(&solved[a], &solved[b]);
        (like_jobs * of_prior + sample) / (like_jobs + jobs)
    });
    Prior {
        mean: any.mean.iter().zip(&shift).map(|(m, s)| m + s).collect(),
        covariance,
        own: any.own,
    }
}

/// The part of each job that is its own, at all configurations: as it was seen, or as its other runs foretell it.
fn own_parts(
    any: &Prior,
    residuals: &[Vec<Option<f64>>],
    shift: &[f64],
    share: f64,
) -> Vec<Vec<f64>> {
    let n = any.mean.len();
    let of_job = |of_job: &Vec<Option<f64>>| -> Vec<f64> {
        let off = |at: usize| of_job[at].map(|off| (at, off - shift[at]));
        let seen: Vec<(usize, f64)> = (0..n).filter_map(off).collect();
        let level = seen.iter().map(|(_, off)| off).sum::<f64>() / seen.len().max(1) as f64;
        let mut part = vec![0.0; n];
        for &(at, off) in &seen {
            part[at] = off - level;
        }
        if seen.len() == n || seen.is_empty() {
            return part;
        }
        let field = Observations::with_least_variance(seen.len(), f64::MIN_POSITIVE, |i, j| {
            let shared = (1.0 - share) * any.covariance[seen[i].0 * n + seen[j].0];
            if i == j {
                shared + (any.own + OBSERVED * OBSERVED)
            } else {
                shared
            }
        });
        let weights = field.weights(seen.iter().map(|(_, off)| off - level).collect());
        for (x, part) in part.iter_mut().enumerate() {
            if of_job[x].is_none() {
                *part = (seen.iter().zip(&weights))
                    .map(|(&(at, _), w)| (1.0 - share) * any.covariance[x * n + at] * w)
                    .sum();
            }
        }
        part
    };
    residuals.iter().map(of_job).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::other_jobs::OtherRun;

    /// A flat prior over five configurations that vary by themselves.
    fn flat() -> Prior {
        let mut covariance = vec![0.0; 25];
        (0..5).for_each(|at| covariance[at * 6] = 1.0);
        Prior {
            mean: vec![0.0; 5],
            covariance,
            own: 0.01,
        }
    }

    fn others(jobs: &[[f64; 5]]) -> OtherJobs {
        let job = |(number, logs): (usize, &[f64; 5])| OtherJob {
            name: format!("job {number}"),
            program: format!("program {number}"),
            runs: (logs.iter())
                .map(|log| Some(OtherRun::Reached(libm::exp(*log))))
                .collect(),
        };
        OtherJobs {
            jobs: jobs.iter().enumerate().map(job).collect(),
        }
    }

    /// With a prior that knows nothing of how configurations go together, the shared part of J jobs is s·J/(s·J + 1 − s + own + o²) of
    /// their mean, s being the share: configurations by themselves are J observations each.
    #[test]
    fn the_mean_goes_to_that_of_others_as_far_as_jobs_share() {
        let logs = [2.0, 1.0, 0.0, -1.0, -2.0];
        let (any, constants) = (flat(), Constants::default());
        for jobs in [1, 4] {
            let prior = pooled(&any, &others(&vec![logs; jobs]), &constants);
            let (share, jobs) = (constants.shared, jobs as f64);
            let own = 1.0 - share + any.own + OBSERVED * OBSERVED;
            let part = share * jobs / (share * jobs + own);
            for (mean, log) in prior.mean.iter().zip(logs) {
                assert!((mean - part * log).abs() < 1e-9, "{:?}", prior.mean);
            }
        }
    }

    /// Jobs that are one line up or down: what two configurations have in common is learned from them.
    #[test]
    fn how_jobs_differ_is_learned() {
        let up = [-2.0, -1.0, 0.0, 1.0, 2.0];
        let down = [2.0, 1.0, 0.0, -1.0, -2.0];
        let prior = pooled(
            &flat(),
            &others(&[up, down].repeat(20)),
            &Constants::default(),
        );
        let correlation = |a: usize, b: usize| {
            let c = |a: usize, b: usize| prior.covariance[a * 5 + b];
            c(a, b) / (c(a, a) * c(b, b)).sqrt()
        };
        assert!(correlation(0, 4) < -0.8 && correlation(0, 1) > 0.8);
        // What is left of it is the level, which is not known.
        assert!(correlation(0, 2).abs() < 0.2, "{}", correlation(0, 2));
    }

    /// Where jobs go alike, whoever knows them foretold best; where each goes its own way, whoever expects nothing.
    #[test]
    fn weights_are_how_often_an_expert_foretold_best() {
        let (any, constants) = (flat(), Constants::default());
        let alike = PooledPrior::new(&any, &others(&[[2.0, 1.0, 0.0, -1.0, -2.0]; 6]), &constants);
        let sum = |logs: &Vec<f64>| logs.iter().map(|log| libm::exp(*log)).sum::<f64>();
        let [of_any, of_knowing] = &alike.log_weights;
        assert!((sum(of_any) - 3.0).abs() < 1e-9 && (sum(of_knowing) - 9.0).abs() < 1e-9);
        let turned = [
            [2.0, -2.0, 0.0, 0.0, 0.0],
            [0.0, 2.0, -2.0, 0.0, 0.0],
            [0.0, 0.0, 2.0, -2.0, 0.0],
            [0.0, 0.0, 0.0, 2.0, -2.0],
            [-2.0, 0.0, 0.0, 0.0, 2.0],
        ];
        let unlike = PooledPrior::new(&any, &others(&turned), &constants);
        assert!(sum(&unlike.log_weights[0]) > sum(&unlike.log_weights[1]));
    }

    /// A run that failed says at least that the configuration takes long.
    #[test]
    fn what_failed_counts_as_the_longest_run() {
        let mut all = others(&[[0.0, 1.0, 2.0, 3.0, 0.0]]);
        all.jobs[0].runs[4] = Some(OtherRun::Failed(1.0));
        let logs = all.jobs[0].logs();
        assert_eq!(logs[4], logs[3]);
    }
}
