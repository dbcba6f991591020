//! What the benches measure against, and what they measure.
//!
//! - [`run`]: the reference, a discrete-event loop written by hand for one workload and nothing
//!   else: K workers draw a log-normal compute time, a barrier, a constant communication time.
//! - [`stepping`]: the same workload as the engine sees it.
//! - [`Training`]: a job that trains it; [`Alone`] and [`plan`]: strategies on the 16 measured
//!   configurations of `scavenger-resnet18`.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::path::Path;

use rand::SeedableRng;
use rand_distr::{Distribution, LogNormal};
use rand_pcg::Pcg64;

use scavsim::experiment::Plan;
use scavsim::input::{Diagnostics, Source};
use scavsim::job::Job;
use scavsim::rng::{Purpose, Stream, Streams};
use scavsim::scenario::{self, Overrides, Scenario};
use scavsim::search::{Forecast, Objective, Point, objective::choose};
use scavsim::testbed::{Metered, SimulatedCluster};
use scavsim::training::drift::DriftPath;
use scavsim::training::sync::fast::Pace;
use scavsim::training::sync::{Goal, Protocol};
use scavsim::training::variation::{Family, WorkerTime};
use scavsim::training::{Fidelity, Stepping, slowest};
use scavsim::units::SimTime;

/// Workers of the training workload, K.
pub const WORKERS: u32 = 16;
/// σ of the logarithm of one worker's compute time; the mean is 1 s.
pub const SIGMA: f64 = 0.3;
/// Seconds of communication after each barrier.
pub const COMMUNICATION_S: f64 = 0.25;

/// A pending event; the worker K stands for the end of the communication.
pub struct Entry {
    /// When.
    pub time_s: f64,
    /// Number of entries made before it.
    pub sequence: u64,
    /// Whose.
    pub worker: u32,
}

// Turned round, because the heap is a maximum heap: earliest first, then first in.
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.time_s.total_cmp(&self.time_s)).then(other.sequence.cmp(&self.sequence))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

/// The reference: trains `steps` steps and returns the simulated seconds.
pub fn run(steps: u64) -> f64 {
    let compute = LogNormal::new(-0.5 * SIGMA * SIGMA, SIGMA).expect("a legal sigma");
    let mut streams: Vec<Pcg64> = (0..u64::from(WORKERS)).map(Pcg64::seed_from_u64).collect();
    let mut heap = BinaryHeap::new();
    let (mut now_s, mut sequence, mut done) = (0.0, 0, 0);
    while done < steps {
        for (worker, stream) in (0..WORKERS).zip(&mut streams) {
            heap.push(Entry {
                time_s: now_s + compute.sample(stream),
                sequence,
                worker,
            });
            sequence += 1;
        }
        let mut finished = 0;
        while let Some(entry) = heap.pop() {
            now_s = entry.time_s;
            if entry.worker == WORKERS {
                done += 1;
                break;
            }
            finished += 1;
            if finished == WORKERS {
                heap.push(Entry {
                    time_s: now_s + COMMUNICATION_S,
                    sequence,
                    worker: WORKERS,
                });
                sequence += 1;
            }
        }
    }
    now_s
}

/// The workload of the reference as the engine sees it.
pub fn stepping() -> Stepping {
    let time = WorkerTime {
        sigma: SIGMA,
        straggler: None,
        family: Family::LogNormal,
    };
    Stepping {
        workers: WORKERS,
        worker_s: 1.0,
        communication_s: COMMUNICATION_S,
        time,
        slowest: slowest::moments(WORKERS, time),
        machines: None,
    }
}

/// A job that trains the workload of the reference from time zero, again and again.
pub struct Training {
    streams: Streams,
    job: Job,
    stepping: Stepping,
    pace: Pace,
}

impl Training {
    /// A job in one fidelity.
    pub fn new(fidelity: Fidelity) -> Self {
        let streams = Streams::new(1);
        let stepping = stepping();
        Training {
            streams,
            pace: Pace::of(Protocol::Bsp, fidelity, &stepping),
            job: Job::new(fidelity, SimTime::ZERO, Self::network(), streams),
            stepping,
        }
    }

    /// Trains `steps` steps, the making of the random stream included, and returns the simulated
    /// seconds.
    pub fn run(&mut self, steps: u64) -> f64 {
        self.job.restart(Self::network(), 0, None);
        let mut stream = stream(self.streams);
        self.job
            .stretch(
                &self.pace,
                &self.stepping,
                Goal::updates(steps),
                &mut stream,
            )
            .expect("a training without stops does not stall");
        self.job.now().seconds()
    }

    fn network() -> DriftPath {
        DriftPath::still()
    }
}

/// A random stream.
pub fn stream(streams: Streams) -> Stream {
    streams.stream(0, Purpose::Trial(1))
}

/// The cases of one workload of the main scenario: `scavenger-resnet18` with its 16 measured
/// configurations, the variation of `scenarios/scavenger.toml`, fidelity `fast`.
pub fn plan(strategies: &[&str], objectives: &[Objective], replicas: u64) -> Plan {
    Plan::new(&scenario(strategies, objectives, replicas))
        .expect("the main scenario can be planned")
}

/// A scenario of this repository.
pub fn shipped(name: &str) -> Scenario {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("scenarios")
        .join(name);
    let mut diagnostics = Diagnostics::default();
    let read = Source::read(&file, &mut diagnostics).and_then(|source| {
        let folder = file.parent().unwrap_or(Path::new("."));
        scenario::load(&source, folder, Overrides::default(), &mut diagnostics)
    });
    read.expect("the scenario is legal")
}

/// The scenario of [`plan`].
pub fn scenario(strategies: &[&str], objectives: &[Objective], replicas: u64) -> Scenario {
    let mut scenario = shipped("scavenger.toml");
    scenario.workloads.truncate(1);
    assert_eq!(scenario.workloads[0].0.name, "scavenger-resnet18");
    assert_eq!(scenario.workloads[0].1.len(), 16);
    scenario.strategies = strategies.iter().map(ToString::to_string).collect();
    scenario.objectives = objectives.to_vec();
    scenario.replicas = replicas;
    scenario
}

/// One strategy on a cluster, without an oracle and without a bill: search, choice of the fastest,
/// run to the target.
pub struct Alone<'p> {
    plan: &'p Plan,
    cluster: SimulatedCluster<'p>,
    forecast: Forecast,
    points: Vec<Option<Point>>,
    scratch: Vec<(usize, Point)>,
}

impl<'p> Alone<'p> {
    /// The first strategy of `plan` on its first workload.
    pub fn new(plan: &'p Plan) -> Self {
        let world = &plan.arena(0).expect("an arena").world().expect("simulated");
        Alone {
            plan,
            cluster: SimulatedCluster::new(world, &plan.terms),
            forecast: Forecast::default(),
            points: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Searches and trains in `replica`; returns the simulated seconds.
    pub fn run(&mut self, replica: u64) -> f64 {
        let arena = self.plan.arena(0).expect("an arena");
        let strategy = arena.contenders[0]
            .strategy
            .as_ref()
            .expect("not the oracle");
        self.cluster.restart(replica);
        self.forecast.reset(arena.space.len());
        let mut stream = self.plan.terms.streams.stream(replica, Purpose::Trial(1));
        strategy
            .search(
                &arena.task(),
                &mut Metered::new(&mut self.cluster, arena.space.len(), None),
                &mut stream,
                &mut self.forecast,
            )
            .expect("the search ends before the target");
        let point = |time_s: &Option<f64>| {
            let cost_usd = 0.0;
            time_s.map(|time_s| Point { time_s, cost_usd })
        };
        self.points.clear();
        self.points.extend(self.forecast.time_s.iter().map(point));
        let (points, scratch) = (&self.points, &mut self.scratch);
        let limits = &self.plan.limits;
        let choice = choose(Objective::Time, |_, p| limits.allow(p), points, scratch)
            .expect("something is predicted");
        let line = (self.cluster.run_to_target(choice)).expect("the run does not stall");
        line.net_end.seconds()
    }
}
