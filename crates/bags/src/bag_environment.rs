use std::sync::Arc;

use crate::{Bag, BagChoices, BagJob, BagRunSpec, Run};
use scavsim_base::rng::Streams;
use scavsim_base::units::SimTime;
use scavsim_data::usage::Phase;
use scavsim_search::search::WorkloadFacts;

/// Jobs of a probe, where the strategy's settings do not say.
const PROBE_JOBS: u64 = 8;

/// What is known of a bag of jobs before a search: its steps are its jobs.
pub fn workload_facts() -> WorkloadFacts {
    WorkloadFacts {
        probe_steps: PROBE_JOBS,
        ..WorkloadFacts::default()
    }
}

#[derive(Debug)]
pub struct BagEnvironment {
    pub(super) bag: Arc<Bag>,
    pub(super) choices: Arc<BagChoices>,
    /// Seconds of each configuration without luck.
    pub(super) calm_s: Vec<f64>,
}

impl BagEnvironment {
    pub fn new(bag: Arc<Bag>, choices: Arc<BagChoices>) -> BagEnvironment {
        let calm = Arc::new(bag.without_luck());
        let mut ground = BagEnvironment {
            bag: calm,
            choices,
            calm_s: Vec::new(),
        };
        let streams = Streams::new(0);
        let mut run = Run::new(&Default::default());
        let times = (0..ground.choices.sizes.len()).map(|at| {
            let mut job = BagJob::new(&ground.bag, "", &streams, 0);
            let whole = (ground.bag.needed, SimTime::LAST);
            let of = ground.run_spec(at, Phase::Training);
            let ended = run.run(of, &mut job, SimTime::ZERO, whole);
            ended.map_or(f64::INFINITY, |ended| ended.at.seconds())
        });
        let calm_s: Vec<f64> = times.collect();
        (ground.calm_s, ground.bag) = (calm_s, bag);
        ground
    }

    pub(super) fn run_spec(&self, configuration: usize, phase: Phase) -> BagRunSpec<'_> {
        let size = &self.choices.sizes[configuration];
        BagRunSpec {
            bag: &self.bag,
            size,
            on_spot: self.choices.types[usize::from(size.vm)].on_spot == Some(true),
            phase,
        }
    }
}
