//! Beliefs about a new job from the runs of other jobs. The logarithm of time, less the prior mean of any job, is the sum of a part
//! that all jobs share and a part of each job's own. Earlier jobs determine the mean of the shared part and the covariance of their own
//! parts; the prior counts as a few more jobs. How much jobs share is uncertain: there is one belief per share of the variance, and
//! share 0 is the prior of any job. All but one of them share nothing of slopes whose mean over jobs is known, nor of sudden changes:
//! few jobs would shift these as if nothing had been known. History weighs them: each program's runs are predicted from the others, and
//! an expert's weight grows with the likelihood that it gave them.

use std::collections::BTreeSet;

use super::constants::Constants;
use super::experts::shares;
use super::field::{Field, LEVEL, OBSERVED, Prior};
use crate::search::other_jobs::{OtherJob, OtherJobs};
use scavsim_base::stats::field::{Field as Observations, dot, symmetric};

/// Runs of an earlier job that are predicted, one after the other, to weigh an expert: about as many as a search makes.
const PREDICTED_RUNS: usize = 12;
/// Programs that are predicted from the others, spread over the list: each takes as long as the prior itself.
const PROGRAMS: usize = 8;
/// Programs that beliefs by earlier jobs start with, all shares together, where the prior of any job starts with one.
const FIRST_WINS: f64 = 5.0;

/// Beliefs about a new job from earlier jobs, one per share of the variance that jobs have in common.
#[derive(Debug, Clone)]
pub(super) struct PooledPriors {
    pub(super) by_share: Vec<Prior>,
    /// Logarithms of the weights of experts, per belief and scale; first those of the prior of any job.
    pub(super) log_weights: Vec<Vec<f64>>,
}

impl PooledPriors {
    pub(super) fn new(any: &Prior, others: &OtherJobs, constants: &Constants) -> PooledPriors {
        let scales = &constants.scales;
        let programs: Vec<&str> = others.programs().collect();
        let every = programs.len().div_ceil(PROGRAMS).max(1);
        let programs: Vec<&str> = programs.into_iter().step_by(every).collect();
        let everywhere: Vec<usize> = (0..any.mean.len()).collect();
        let (shared, like_jobs) = (&constants.shared, constants.like_jobs);
        let of_unsettled = shared.iter().map(|share| (*share, &*any.unsettled));
        let of_all = shared.first().map(|share| (*share, &*any.covariance));
        let earlier: Vec<EarlierJobs<'_>> = (of_unsettled.chain(of_all))
            .map(|shared| EarlierJobs::new(any, shared, others, like_jobs))
            .collect();
        // Logarithms of the likelihood of each program by each expert.
        let logs = programs.iter().map(|program| {
            let jobs = (others.jobs.iter()).filter(|job| job.program == *program);
            let predicted: Vec<Vec<(usize, f64)>> = jobs.map(predicted_runs).collect();
            let places: BTreeSet<usize> = predicted.iter().flatten().map(|run| run.0).collect();
            let places: Vec<usize> = places.into_iter().collect();
            let left_out = earlier
                .iter()
                .map(|jobs| jobs.pooled(|job| job.program != *program, &places));
            let beliefs = std::iter::once(any.only(&places)).chain(left_out);
            let log = |prior: &Prior, scale: f64| -> f64 {
                let logs = predicted.iter();
                logs.map(|runs| log_likelihood(prior, scale, &places, runs))
                    .sum()
            };
            let by_scale = |prior| scales.iter().map(|scale| log(&prior, *scale)).collect();
            beliefs.map(by_scale).collect()
        });
        let logs: Vec<Vec<Vec<f64>>> = logs.collect();
        let by_share = (1..=earlier.len())
            .map(|belief| logs.iter().map(|logs| log_sum(&logs[belief])).sum::<f64>());
        let by_share = shares(by_share.collect::<Vec<f64>>().into_iter());
        let by_share = by_share.into_iter().map(|share| FIRST_WINS * share);
        let weights: Vec<f64> = std::iter::once(1.0).chain(by_share).collect();
        // Each expert starts with some programs of its own, and each program counts for the experts that made it likely.
        let mut wins: Vec<Vec<f64>> = (weights.iter())
            .map(|weight| vec![*weight; scales.len()])
            .collect();
        for logs in &logs {
            let weighted = weights.iter().zip(logs).flat_map(|(weight, logs)| {
                logs.iter()
                    .map(|log| libm::log(weight.max(f64::MIN_POSITIVE)) + log)
            });
            let weighted: Vec<f64> = weighted.collect();
            let won = shares(weighted.into_iter());
            for (win, won) in wins.iter_mut().flatten().zip(won) {
                *win += won;
            }
        }
        PooledPriors {
            by_share: earlier
                .iter()
                .map(|jobs| jobs.pooled(|_| true, &everywhere))
                .collect(),
            log_weights: wins
                .into_iter()
                .map(|wins| wins.into_iter().map(libm::log).collect())
                .collect(),
        }
    }
}

/// Logarithm of a sum, from logarithms.
fn log_sum(logs: &[f64]) -> f64 {
    let most = logs.iter().copied().fold(f64::MIN, f64::max);
    most + libm::log(logs.iter().map(|log| libm::exp(log - most)).sum())
}

/// Where some runs of a job were, from all over the list, and their logarithms.
fn predicted_runs(job: &OtherJob) -> Vec<(usize, f64)> {
    let logs = job.logs().into_iter().enumerate();
    let seen: Vec<(usize, f64)> = logs.filter_map(|(at, log)| Some((at, log?))).collect();
    let every = seen.len().div_ceil(PREDICTED_RUNS).max(1);
    seen.into_iter().step_by(every).collect()
}

/// Logarithm of how likely runs were, one after the other, by a belief about some places.
fn log_likelihood(prior: &Prior, scale: f64, places: &[usize], runs: &[(usize, f64)]) -> f64 {
    let mut field = Field::new(prior, scale);
    let at = |run: &(usize, f64)| places.partition_point(|place| *place < run.0);
    runs.iter().map(|run| field.observe(at(run), run.1)).sum()
}

/// Earlier jobs, by the configurations that they were run on. ln T of job j at x is m(x) + s(x) + d_j(x) + l_j + e: the mean and the
/// covariance C of any job, of which s, shared by all, has a share of all or of what is not settled and d_j, the job's own, the rest; a level; luck.
struct EarlierJobs<'a> {
    any: &'a Prior,
    like_jobs: f64,
    share: f64,
    /// The covariance of which jobs have this share in common.
    common: &'a [f64],
    jobs: Vec<EarlierJob<'a>>,
    patterns: Vec<Pattern>,
}

struct EarlierJob<'a> {
    job: &'a OtherJob,
    pattern: usize,
    /// Logarithms at the configurations of its pattern, less the mean of any job.
    offs: Vec<f64>,
}

/// Configurations that some jobs were run on, with what follows from them alone.
struct Pattern {
    seen: Vec<usize>,
    /// Logarithms there, but for the shared part.
    field: Observations,
    /// Inverse of their covariances, by rows.
    precision: Vec<f64>,
    /// Covariances of a job's own part at all configurations that these leave.
    left: Vec<f64>,
}

impl Pattern {
    fn new(seen: Vec<usize>, any: &Prior, own: impl Fn(usize, usize) -> f64) -> Pattern {
        let (n, m) = (any.mean.len(), seen.len());
        let field = Observations::with_least_variance(m, f64::MIN_POSITIVE, |i, j| {
            let luck = if i == j {
                any.own + OBSERVED * OBSERVED
            } else {
                0.0
            };
            own(seen[i], seen[j]) + LEVEL + luck
        });
        let solved: Vec<Vec<f64>> = (0..n)
            .map(|x| field.solved(seen.iter().map(|&at| own(x, at)).collect()))
            .collect();
        Pattern {
            precision: field.precision().matrix(),
            left: symmetric(n, |a, b| own(a, b) - dot(&solved[a], &solved[b])),
            field,
            seen,
        }
    }
}

impl<'a> EarlierJobs<'a> {
    fn new(
        any: &'a Prior,
        (share, common): (f64, &'a [f64]),
        others: &'a OtherJobs,
        like_jobs: f64,
    ) -> EarlierJobs<'a> {
        let n = any.mean.len();
        let own = |a, b| any.covariance[a * n + b] - share * common[a * n + b];
        let mut patterns: Vec<Pattern> = Vec::new();
        let jobs = others.jobs.iter().map(|job| {
            let logs = job.logs();
            let known = logs.iter().zip(&any.mean).enumerate();
            let (seen, offs): (Vec<usize>, Vec<f64>) = known
                .filter_map(|(at, (log, mean))| Some((at, (*log)? - mean)))
                .unzip();
            let same = patterns.iter().position(|pattern| pattern.seen == seen);
            let pattern = same.unwrap_or_else(|| {
                patterns.push(Pattern::new(seen, any, own));
                patterns.len() - 1
            });
            EarlierJob { job, pattern, offs }
        });
        EarlierJobs {
            jobs: jobs.collect(),
            any,
            like_jobs,
            share,
            common,
            patterns,
        }
    }

    /// The part of an entry of the covariance that each job has for itself.
    fn own(&self, entry: usize) -> f64 {
        self.any.covariance[entry] - self.share * self.common[entry]
    }

    /// Belief about a new job at some places, from the known jobs that `is_known` selects.
    fn pooled(&self, is_known: impl Fn(&OtherJob) -> bool, places: &[usize]) -> Prior {
        let (any, share, like_jobs) = (self.any, self.share, self.like_jobs);
        let n = any.mean.len();
        let jobs: Vec<(&EarlierJob<'_>, &Pattern)> = (self.jobs.iter())
            .filter(|job| is_known(job.job))
            .map(|job| (job, &self.patterns[job.pattern]))
            .collect();
        // Given the shared part, jobs are independent: their precisions add up.
        let (mut precision, mut pull) = (vec![0.0; n * n], vec![0.0; n]);
        for (job, of) in &jobs {
            let rows = of.precision.chunks_exact(of.seen.len().max(1));
            for ((&a, row), weight) in
                (of.seen.iter().zip(rows)).zip(of.field.weights(job.offs.clone()))
            {
                pull[a] += weight;
                for (&b, entry) in of.seen.iter().zip(row) {
                    precision[a * n + b] += entry;
                }
            }
        }
        let known: Vec<usize> = (0..n).filter(|at| precision[at * n + at] > 0.0).collect();
        let (count, least) = (known.len(), f64::MIN_POSITIVE);
        let pooled = Observations::with_least_variance(count, least, |i, j| {
            precision[known[i] * n + known[j]]
        });
        let scatter = pooled.precision().matrix();
        let shared = |a: usize, b: usize| share * self.common[a * n + b];
        let field = Observations::with_least_variance(count, least, |i, j| {
            shared(known[i], known[j]) + scatter[i * count + j]
        });
        let values = pooled.weights(known.iter().map(|&at| pull[at]).collect());
        let weights = field.weights(values);
        let row = |x: usize| -> Vec<f64> { known.iter().map(|&at| shared(x, at)).collect() };
        let shift: Vec<f64> = (0..n).map(|x| dot(&row(x), &weights)).collect();
        let solved: Vec<Vec<f64>> = places.iter().map(|&x| field.solved(row(x))).collect();
        // How jobs differ: by the prior, and by these jobs with what their runs leave open.
        let own_parts: Vec<Vec<f64>> = jobs
            .iter()
            .map(|(job, of)| self.own_part(job, of, &shift, places))
            .collect();
        let covariance = symmetric(places.len(), |i, j| {
            let (a, b) = (places[i], places[j]);
            let differ = own_parts.iter().zip(&jobs);
            let differ: f64 = differ
                .map(|(part, (_, of))| part[i] * part[j] + of.left[a * n + b])
                .sum();
            let expected = like_jobs * self.own(a * n + b);
            let own = (expected + differ) / (like_jobs + jobs.len() as f64);
            shared(a, b) - dot(&solved[i], &solved[j]) + own
        });
        Prior {
            mean: places.iter().map(|&x| any.mean[x] + shift[x]).collect(),
            covariance,
            unsettled: Vec::new(),
            own: any.own,
        }
    }

    /// A job's own part at some places, as its runs imply it.
    fn own_part(
        &self,
        job: &EarlierJob<'_>,
        of: &Pattern,
        shift: &[f64],
        places: &[usize],
    ) -> Vec<f64> {
        let n = shift.len();
        let offs = job
            .offs
            .iter()
            .zip(&of.seen)
            .map(|(off, &at)| off - shift[at]);
        let weights = of.field.weights(offs.collect());
        let own = |x: usize| {
            let seen = of.seen.iter().zip(&weights);
            seen.map(|(&at, weight)| self.own(x * n + at) * weight)
                .sum::<f64>()
        };
        places.iter().map(|&x| own(x)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::other_jobs::OtherRun;

    fn pooled(any: &Prior, others: &OtherJobs, constants: &Constants) -> Prior {
        let shared = (constants.shared[0], &*any.unsettled);
        EarlierJobs::new(any, shared, others, constants.like_jobs)
            .pooled(|_| true, &[0, 1, 2, 3, 4])
    }

    /// A flat prior over five configurations that vary by themselves.
    fn flat() -> Prior {
        let mut covariance = vec![0.0; 25];
        (0..5).for_each(|at| covariance[at * 6] = 1.0);
        Prior {
            mean: vec![0.0; 5],
            unsettled: covariance.clone(),
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
            let (share, jobs) = (constants.shared[0], jobs as f64);
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

    /// Programs that are alike count for beliefs by earlier jobs, programs that differ for the prior of any job.
    #[test]
    fn weights_are_how_likely_an_expert_made_each_program() {
        let (any, constants) = (flat(), Constants::default());
        let won = |others: &OtherJobs| -> [f64; 2] {
            let weights = PooledPriors::new(&any, others, &constants).log_weights;
            let sum = |logs: &Vec<f64>| -> f64 { logs.iter().map(|log| libm::exp(*log)).sum() };
            let scales = constants.scales.len() as f64;
            let earlier: f64 = weights[1..].iter().map(sum).sum();
            [sum(&weights[0]) - scales, earlier - FIRST_WINS * scales]
        };
        let [any_won, earlier_won] = won(&others(&[[2.0, 1.0, 0.0, -1.0, -2.0]; 6]));
        assert!((any_won + earlier_won - 6.0).abs() < 1e-9);
        assert!(
            earlier_won > FIRST_WINS * any_won,
            "{any_won} {earlier_won}"
        );
        let [any_won, earlier_won] = won(&others(&[
            [2.0, -2.0, 0.0, 0.0, 0.0],
            [0.0, 2.0, -2.0, 0.0, 0.0],
            [0.0, 0.0, 2.0, -2.0, 0.0],
            [0.0, 0.0, 0.0, 2.0, -2.0],
            [-2.0, 0.0, 0.0, 0.0, 2.0],
        ]));
        // Beliefs by earlier jobs start with five times the weight.
        assert!(
            earlier_won < FIRST_WINS * any_won,
            "{any_won} {earlier_won}"
        );
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
