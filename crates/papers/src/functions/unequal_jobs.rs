//! Mixed workers: jobs, clusters and policies of batches, by their names in a file.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::no_value::NoValue;
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_data::workload::law::worker::zero;
use scavsim_data::workload::law::{Speed, WorkerLaw};
use scavsim_fit::worker::{TimedStep, by_size};
use scavsim_read::input::checked::{Count, NonNegative, Positive};
use scavsim_sim::cluster::balance::{MOST_LOOKS, settle, slowest};
use scavsim_sim::cluster::batching::{Batching, LEAST_SHARE, WorkerGroup};

/// Every job runs on any cluster under any policy.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UnequalJobInputs {
    pub(super) jobs: BTreeMap<String, Job>,
    clusters: BTreeMap<String, Vec<Worker>>,
    batching: BTreeMap<String, Batching>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Worker {
    /// Cores or FLOPS.
    size: Positive,
    /// b_min.
    least: Option<Positive>,
    /// κ: samples beyond which its throughput falls, as its memory is full, where the law says by how much.
    knee: Option<Positive>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    pub(super) time_s: f64,
    pub(super) changes: usize,
    pub(super) batches: Vec<f64>,
}

/// A job, whose global batch is `batch` times the workers. Its law is given, or fitted to its times.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "JobForm")]
pub(super) struct Job {
    batch: Positive,
    steps: Count,
    pub(super) law: Law,
    restart_s: NonNegative,
}

#[derive(Debug, Clone)]
pub(super) enum Law {
    Given(WorkerLaw),
    FittedToMin(Times),
}

/// Minutes of a job by cluster and policy of batches.
pub(super) type Times = BTreeMap<String, BTreeMap<String, Positive>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JobForm {
    batch: Positive,
    steps: Count,
    law: Option<WorkerLaw>,
    fitted_to_min: Option<Times>,
    restart_s: NonNegative,
}

impl TryFrom<JobForm> for Job {
    type Error = &'static str;

    fn try_from(form: JobForm) -> Result<Job, Self::Error> {
        let law = match (form.law, form.fitted_to_min) {
            (Some(law), None) => Law::Given(law),
            (None, Some(times)) => Law::FittedToMin(times),
            _ => return Err("expected either `law` or `fitted_to_min`"),
        };
        Ok(Job {
            batch: form.batch,
            steps: form.steps,
            law,
            restart_s: form.restart_s,
        })
    }
}

pub(super) fn named<'a, T>(
    all: &'a BTreeMap<String, T>,
    what: &'static str,
    name: &str,
) -> Result<&'a T, NoValue> {
    let known = all.keys().map(String::as_str);
    all.get(name)
        .ok_or_else(|| NoValue::unknown(what, name, known))
}

pub(super) type Setup<'a> = (&'a str, &'a str);

impl UnequalJobInputs {
    /// The result of a job with this law on a cluster under a policy.
    pub(super) fn outcome(
        &self,
        job: &Job,
        law: WorkerLaw,
        setup: Setup<'_>,
    ) -> Result<Outcome, NoValue> {
        let workers = named(&self.clusters, "cluster", setup.0)?;
        let batching = named(&self.batching, "batching", setup.1)?;
        let usual = LEAST_SHARE * job.batch.get();
        let least = |worker: &Worker| worker.least.map_or(usual, Positive::get);
        let group = WorkerGroup {
            sizes: workers.iter().map(|worker| worker.size.get()).collect(),
            least: workers.iter().map(least).collect(),
            batch: job.batch.get() * workers.len() as f64,
        };
        let least: f64 = group.least.iter().sum();
        // Bounds that sum to the global batch, except for rounding, leave one way to share it.
        if workers.is_empty() || least > group.batch * (1.0 + 1e-12) {
            let batch = group.batch;
            return Err(NoValue::NoBatches { batch, least });
        }
        let steps = u64::from(job.steps.get());
        let every = batching.policy().looks_every();
        let looks = every.map_or(0, |every| ((steps - 1) / every) as usize);
        let balance = settle(
            batching,
            None,
            group,
            looks.min(MOST_LOOKS),
            |worker, batch| {
                let Worker { size, knee, .. } = workers[worker];
                Ok::<_, NoValue>(law.step_s(batch, size.get(), knee.map(Positive::get)))
            },
        )?;
        let step_s = |times: &Vec<f64>| slowest(times) + law.waiting_step_s(times.iter().copied());
        let settled = steps - balance.every * balance.changes() as u64;
        let tried_s: f64 = balance.tried_s.iter().map(step_s).sum();
        let time_s = settled as f64 * step_s(&balance.times_s)
            + balance.every as f64 * tried_s
            + balance.changes() as f64 * job.restart_s.get();
        if !time_s.is_normal() {
            return Err(NoValue::NoTime);
        }
        Ok(Outcome {
            time_s,
            changes: balance.changes(),
            batches: balance.batches,
        })
    }

    /// The law of a job; a fitted one uses all times except those with the batches of `without` on its cluster.
    pub(super) fn law(&self, job: &Job, without: Option<Setup<'_>>) -> Result<WorkerLaw, NoValue> {
        let times = match (&job.law, without) {
            (Law::Given(law), None) => return Ok(*law),
            (Law::Given(_), Some(_)) => return Err(NoValue::LawIsGiven),
            (Law::FittedToMin(times), _) => times,
        };
        let left_out = match without {
            Some(setup) => Some((setup.0, self.timed(job, setup, 1.0)?)),
            None => None,
        };
        let mut steps = Vec::new();
        for (cluster, batching, minutes) in all(times) {
            let step = self.timed(job, (cluster, batching), minutes)?;
            let is_left_out = (left_out.as_ref())
                .is_some_and(|(own, out)| *own == cluster && has_same_batches(out, &step));
            if !is_left_out {
                steps.push(step);
            }
        }
        by_size(&steps).ok_or(NoValue::FewTimes(steps.len()))
    }

    /// A step of a job that needs this number of minutes.
    fn timed(&self, job: &Job, setup: Setup<'_>, minutes: f64) -> Result<TimedStep, NoValue> {
        let batching = named(&self.batching, "batching", setup.1)?;
        if batching.policy().looks_every().is_some() {
            return Err(NoValue::BatchesChange(setup.1.to_owned()));
        }
        // Fixed batches depend on the sizes, for any law.
        let batches = self.outcome(job, any_law(), setup)?.batches;
        let sizes = named(&self.clusters, "cluster", setup.0)?.iter();
        Ok(TimedStep {
            workers: (batches
                .into_iter()
                .zip(sizes.map(|worker| worker.size.get())))
            .collect(),
            step_s: minutes * SECONDS_PER_HOUR / 60.0 / f64::from(job.steps.get()),
        })
    }

    /// Seconds of a job by the law fitted to its other times.
    pub(super) fn left_out_s(&self, job: &Job, setup: Setup<'_>) -> Result<f64, NoValue> {
        let law = self.law(job, Some(setup))?;
        Ok(self.outcome(job, law, setup)?.time_s)
    }
}

/// Whether the workers of a cluster have equal batches in both steps, except for rounding.
fn has_same_batches(one: &TimedStep, other: &TimedStep) -> bool {
    let mut pairs = one.workers.iter().zip(&other.workers);
    pairs.all(|(one, other)| (one.0 / other.0 - 1.0).abs() < 1e-9)
}

/// A nanosecond per sample and core, so that no job is too long.
fn any_law() -> WorkerLaw {
    WorkerLaw {
        sample_s: Positive::new(1e-9).expect("it is above 0"),
        fixed_samples: zero(),
        fixed_s: zero(),
        speed: Speed::Linear,
        fixed_speed: None,
        beyond_knee: None,
        waiting_s: zero(),
    }
}

pub(super) fn all(times: &Times) -> impl Iterator<Item = (&str, &str, f64)> {
    (times.iter()).flat_map(|(cluster, by)| {
        (by.iter()).map(move |(batching, minutes)| (&**cluster, &**batching, minutes.get()))
    })
}
