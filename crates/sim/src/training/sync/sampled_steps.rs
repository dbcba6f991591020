//! Steps that all workers end together but no formula tells: their moments and distribution, measured once per configuration.

use std::sync::{Arc, OnceLock};

use super::event_protocol::EventProtocol;
use super::long_run::MOST_TO_BE_EXACT;
use super::shared_measurements::{MeasurementTable, SharedMeasurements};
use super::stretch::{Goal, Stretch, deviations};
use crate::training::drift::DriftPath;
use crate::training::scratch::Scratch;
use crate::training::slowest::Moments;
use crate::training::stepping::Stepping;
use crate::training::{Floor, Log};
use scavsim_base::rng::{Purpose, Stream, Streams};
use scavsim_base::stats::Welford;
use scavsim_engine::{Interrupt, Queue};

const WORKER_STEPS: f64 = 200_000.0;
/// Most of them: a quarter of a second of compute.
const MOST_WORKER_STEPS: f64 = 4e6;
/// Steps of a measurement, at least.
const FEWEST_STEPS: f64 = 5_000.0;
/// Stragglers that it has to meet.
const STRAGGLERS: f64 = 1000.0;
/// Steps that stay, each for as many others.
const KEPT: usize = 4096;
const LUCK: u64 = 0x7361_6d70_6c65;

static MEASURED: SharedMeasurements<(), Arc<Sample>> = SharedMeasurements::new();

/// Steps of a protocol on a configuration, measured when they are first asked for.
#[derive(Debug)]
pub(crate) struct SampledSteps {
    protocol: Arc<dyn EventProtocol>,
    nominal: Stepping,
    steps: u64,
    rate_error: f64,
    shared: Arc<MeasurementTable<(), Arc<Sample>>>,
    /// What is shared, once it is asked for here.
    known: OnceLock<Arc<Sample>>,
}

#[derive(Debug)]
pub(super) struct Sample {
    /// Compute of a step, relative to a worker's mean.
    pub(super) one: Moments,
    /// Fraction of the machines' compute time that is spent on what is done twice.
    pub(super) wasted: f64,
    /// All compute of a step, that included, relative to a worker's mean: workers may be unequal.
    pub(super) computed: f64,
    /// Relative standard error of the mean.
    error: f64,
    /// Steps in order of their compute.
    kept: Box<[f64]>,
}

/// Steps to measure; `None` where it takes too long.
pub(super) fn steps_to_measure(stepping: &Stepping) -> Option<u64> {
    let workers = f64::from(stepping.workers);
    let stragglers = (stepping.time.straggler).map_or(0.0, |s| STRAGGLERS / s.probability);
    let steps = (WORKER_STEPS.max(stragglers) / workers).max(FEWEST_STEPS);
    (steps * workers <= MOST_WORKER_STEPS).then_some(steps.ceil() as u64)
}

impl SampledSteps {
    /// The sample of workers without luck; `None` where it takes too long.
    pub(super) fn new(
        protocol: Arc<dyn EventProtocol>,
        nominal: &Stepping,
        rate_error: f64,
    ) -> Option<Arc<SampledSteps>> {
        let steps = steps_to_measure(nominal)?;
        let nominal = Stepping {
            communication_s: 0.0,
            ..nominal.clone()
        };
        Some(Arc::new(SampledSteps {
            shared: MEASURED.table(&*protocol, &nominal, rate_error),
            protocol,
            nominal,
            steps,
            rate_error,
            known: OnceLock::new(),
        }))
    }

    /// The steps of these workers, whatever luck scales their times; `None` where machines are unlike the measured ones.
    pub(super) fn for_workers(&self, stepping: &Stepping) -> Option<&Sample> {
        let is_alike = stepping.machines == self.nominal.machines;
        let shared = || self.shared.get_or_measure((), || self.measure());
        is_alike.then(|| &**self.known.get_or_init(shared))
    }

    /// Relative standard error of the mean, if that was measured so far.
    pub(crate) fn error(&self) -> Option<f64> {
        Some(self.known.get()?.error)
    }

    /// Measures the sample; also whether the run came to its end.
    fn measure(&self) -> (Arc<Sample>, bool) {
        let mut scratch = Scratch::default();
        let mut queue = Queue::new();
        let mut stream = Streams::new(0).stream(0, Purpose::Trial(LUCK));
        let mut take = |updates: u64| -> Option<(Stretch, f64)> {
            let start = queue.now();
            let mut floor = Floor {
                queue: &mut queue,
                drift: &mut DriftPath::still(),
                stepping: &self.nominal,
                stream: &mut stream,
                scratch: &mut scratch,
                log: &mut Log::default(),
            };
            let stretch = self.protocol.advance(&mut floor, Goal::updates(updates));
            Some((
                stretch.ok()?,
                (queue.now() - start).seconds() / self.nominal.worker_s,
            ))
        };
        let mut seen = Welford::default();
        let mut all: Vec<f64> = (0..self.steps)
            .filter_map(|_| take(1))
            .map(|one| one.1)
            .collect();
        all.iter().for_each(|step| seen.add(*step));
        // Steps are independent of each other, and many of them are taken in one go.
        let (mut steps, mut sum) = (all.len() as f64, all.iter().sum::<f64>());
        let (mut wasted, mut looked) = (0.0, 0.0);
        let (mut computed_s, mut updates) = (0.0, 0.0);
        let most = MOST_TO_BE_EXACT / f64::from(self.nominal.workers);
        let error = |steps: f64, sum: f64| seen.standard_deviation() * steps.sqrt() / sum;
        while looked == 0.0 || (error(steps, sum) > self.rate_error && steps < most) {
            let Some((stretch, time)) = take(self.steps / 8) else {
                break;
            };
            // Whoever is interrupted gets no further, and needs no answer.
            if stretch.updates == 0 {
                break;
            }
            let more = stretch.updates as f64;
            (steps, sum) = (steps + more, sum + time);
            (wasted, looked) = (wasted + stretch.wasted, looked + 1.0);
            (computed_s, updates) = (computed_s + stretch.computed_s, updates + more);
        }
        let mean = sum / steps;
        let longer = mean / seen.mean();
        all.iter_mut().for_each(|step| *step *= longer);
        all.sort_by(f64::total_cmp);
        // Means of equally many neighbours, so that the mean stays what it is.
        let each = all.len().div_ceil(KEPT).max(1);
        let kept = all
            .chunks(each)
            .map(|near| near.iter().sum::<f64>() / near.len() as f64);
        let sample = Sample {
            one: Moments {
                mean,
                deviation: seen.standard_deviation(),
                skewness: if seen.standard_deviation() > 0.0 {
                    seen.skewness()
                } else {
                    0.0
                },
                calm: None,
            },
            wasted: wasted / f64::max(looked, 1.0),
            computed: computed_s / f64::max(updates, 1.0) / self.nominal.worker_s,
            error: error(steps, sum),
            kept: kept.collect(),
        };
        (
            Arc::new(sample),
            !Interrupt::of_current_thread().is_raised(),
        )
    }
}

impl Sample {
    /// By how many standard deviations so much compute of so many steps, relative to a worker's mean, is off its mean.
    pub(super) fn deviations(&self, steps: u64, compute: f64) -> f64 {
        let (n, longest) = (steps as f64, self.kept.last().copied());
        let off = compute - n * self.one.mean;
        // A single long step is no wonder.
        let slack = longest.unwrap_or(0.0);
        deviations(off, slack, self.one.deviation * n.sqrt(), compute)
    }

    pub(super) fn draw(&self, stream: &mut Stream) -> f64 {
        self.kept
            .get(stream.below(self.kept.len()))
            .copied()
            .unwrap_or(self.one.mean)
    }
}
