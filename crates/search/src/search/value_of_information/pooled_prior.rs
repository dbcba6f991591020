//! What other jobs tell of a job before anything was seen of it. Logarithms of time, less the prior of any job, are a part
//! that jobs share (a share of the variance, the likeliest) and a part of each job's own. Earlier jobs give the shared part a mean, and
//! their own parts a covariance, mixed with the prior's as if so many jobs had shown it. History weighs all this: the runs of
//! each program are predicted from the others, and an expert weighs by how likely it made them.

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
        let programs: Vec<&str> = others.programs().collect();
        let every = programs.len().div_ceil(PROGRAMS).max(1);
        let programs: Vec<&str> = programs.into_iter().step_by(every).collect();
        let log_of = |program: &str, prior: &Prior, scale: f64| -> f64 {
            let jobs = others.jobs.iter().filter(|job| job.program == program);
            jobs.map(|job| foretells(prior, scale, job)).sum()
        };
        let by_share = constants.shared.iter().map(|share| {
            let earlier = EarlierJobs::new(any, others, constants.like_jobs, *share);
            let left_out = programs
                .iter()
                .map(|program| earlier.pooled(|job| job.program != *program));
            let left_out: Vec<Prior> = left_out.collect();
            let each = programs.iter().zip(&left_out);
            let log: f64 = each
                .map(|(program, before)| log_of(program, before, 1.0))
                .sum();
            (log, earlier, left_out)
        });
        let likeliest = by_share.max_by(|a, b| a.0.total_cmp(&b.0));
        // As if each had been the best for one program.
        let mut wins = [vec![1.0; scales.len()], vec![1.0; scales.len()]];
        let Some((_, earlier, left_out)) = likeliest else {
            return PooledPrior {
                prior: any.clone(),
                log_weights: wins,
            };
        };
        for (program, before) in programs.iter().zip(&left_out) {
            let of_kind = |prior| {
                scales
                    .iter()
                    .map(move |scale| log_of(program, prior, *scale))
            };
            let logs = [any, before].map(|prior| of_kind(prior).collect::<Vec<f64>>());
            let most = logs.iter().flatten().copied().fold(f64::MIN, f64::max);
            let sum: f64 = logs.iter().flatten().map(|log| libm::exp(log - most)).sum();
            for (win, log) in wins.iter_mut().flatten().zip(logs.iter().flatten()) {
                *win += libm::exp(log - most) / sum;
            }
        }
        PooledPrior {
            prior: earlier.pooled(|_| true),
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

/// Earlier jobs, by the configurations that they were run on. ln T of job j at x is m(x) + s(x) + d_j(x) + l_j + e: the mean and the
/// covariance C of any job, of which s, shared by all, has the share s and d_j, the job's own, the rest; a level; luck.
struct EarlierJobs<'a> {
    any: &'a Prior,
    like_jobs: f64,
    share: f64,
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
    fn new(seen: Vec<usize>, any: &Prior, share: f64) -> Pattern {
        let (n, m) = (any.mean.len(), seen.len());
        let own = |a: usize, b: usize| (1.0 - share) * any.covariance[a * n + b];
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
            precision: (0..m).flat_map(|at| field.weights(unit(m, at))).collect(),
            left: symmetric(n, |a, b| own(a, b) - dot(&solved[a], &solved[b])),
            field,
            seen,
        }
    }
}

fn unit(count: usize, at: usize) -> Vec<f64> {
    let mut unit = vec![0.0; count];
    unit[at] = 1.0;
    unit
}

impl<'a> EarlierJobs<'a> {
    fn new(any: &'a Prior, others: &'a OtherJobs, like_jobs: f64, share: f64) -> EarlierJobs<'a> {
        let mut patterns: Vec<Pattern> = Vec::new();
        let jobs = others.jobs.iter().map(|job| {
            let logs = job.logs();
            let known = logs.iter().zip(&any.mean).enumerate();
            let (seen, offs): (Vec<usize>, Vec<f64>) = known
                .filter_map(|(at, (log, mean))| Some((at, (*log)? - mean)))
                .unzip();
            let same = patterns.iter().position(|pattern| pattern.seen == seen);
            let pattern = same.unwrap_or_else(|| {
                patterns.push(Pattern::new(seen, any, share));
                patterns.len() - 1
            });
            EarlierJob { job, pattern, offs }
        });
        EarlierJobs {
            jobs: jobs.collect(),
            any,
            like_jobs,
            share,
            patterns,
        }
    }

    /// What is believed of a further job, by the jobs that are known.
    fn pooled(&self, is_known: impl Fn(&OtherJob) -> bool) -> Prior {
        let (any, share, like_jobs) = (self.any, self.share, self.like_jobs);
        let n = any.mean.len();
        let jobs: Vec<(&EarlierJob<'_>, &Pattern)> = (self.jobs.iter())
            .filter(|job| is_known(job.job))
            .map(|job| (job, &self.patterns[job.pattern]))
            .collect();
        // Jobs are independent but for the shared part: what they say of it adds up.
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
        let told = Observations::with_least_variance(count, least, |i, j| {
            precision[known[i] * n + known[j]]
        });
        let scatter: Vec<Vec<f64>> = (0..count).map(|at| told.weights(unit(count, at))).collect();
        let shared = |a: usize, b: usize| share * any.covariance[a * n + b];
        let field = Observations::with_least_variance(count, least, |i, j| {
            shared(known[i], known[j]) + scatter[i][j]
        });
        let values = told.weights(known.iter().map(|&at| pull[at]).collect());
        let weights = field.weights(values);
        let rows = (0..n).map(|x| known.iter().map(|&at| shared(x, at)).collect());
        let rows: Vec<Vec<f64>> = rows.collect();
        let shift: Vec<f64> = rows.iter().map(|row| dot(row, &weights)).collect();
        let solved: Vec<Vec<f64>> = rows.into_iter().map(|row| field.solved(row)).collect();
        // How jobs differ: as the prior says, and as these did, with what their runs leave open.
        let own_parts: Vec<Vec<f64>> = jobs
            .iter()
            .map(|(job, of)| self.own_part(job, of, &shift))
            .collect();
        let covariance = symmetric(n, |a, b| {
            let differ = own_parts.iter().zip(&jobs);
            let differ: f64 = differ
                .map(|(part, (_, of))| part[a] * part[b] + of.left[a * n + b])
                .sum();
            let expected = like_jobs * (1.0 - share) * any.covariance[a * n + b];
            let own = (expected + differ) / (like_jobs + jobs.len() as f64);
            shared(a, b) - dot(&solved[a], &solved[b]) + own
        });
        Prior {
            mean: any.mean.iter().zip(&shift).map(|(m, s)| m + s).collect(),
            covariance,
            own: any.own,
        }
    }

    /// The part of a job that is its own, at all configurations, as its runs tell it.
    fn own_part(&self, job: &EarlierJob<'_>, of: &Pattern, shift: &[f64]) -> Vec<f64> {
        let n = shift.len();
        let offs = job
            .offs
            .iter()
            .zip(&of.seen)
            .map(|(off, &at)| off - shift[at]);
        let weights = of.field.weights(offs.collect());
        let own = |x: usize| {
            let seen = of.seen.iter().zip(&weights);
            seen.map(|(&at, weight)| self.any.covariance[x * n + at] * weight)
                .sum::<f64>()
        };
        (0..n).map(|x| (1.0 - self.share) * own(x)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::other_jobs::OtherRun;

    fn pooled(any: &Prior, others: &OtherJobs, constants: &Constants) -> Prior {
        EarlierJobs::new(any, others, constants.like_jobs, constants.shared[0]).pooled(|_| true)
    }

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

    /// Where jobs go alike, whoever knows them made them likeliest; where each goes its own way, whoever expects nothing.
    #[test]
    fn weights_are_how_likely_an_expert_made_each_program() {
        let (any, constants) = (flat(), Constants::default());
        let alike = PooledPrior::new(&any, &others(&[[2.0, 1.0, 0.0, -1.0, -2.0]; 6]), &constants);
        let sum = |logs: &Vec<f64>| logs.iter().map(|log| libm::exp(*log)).sum::<f64>();
        let [of_any, of_knowing] = &alike.log_weights;
        // Three experts of each kind count as one program each, and six programs are shared among them.
        assert!((sum(of_any) + sum(of_knowing) - 12.0).abs() < 1e-9);
        assert!(
            sum(of_knowing) > 1.5 * sum(of_any),
            "{of_any:?} {of_knowing:?}"
        );
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
