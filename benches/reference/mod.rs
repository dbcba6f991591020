//! References and paths of the benches.
//!
//! - `loops`: the reference loop, written by hand, and its workload in the engine.
//! - [`Alone`] and [`plan`]: strategies on the 16 measured configurations of `scavenger-resnet18`.

mod loops;

pub use loops::*;

use std::path::Path;

use scavsim::experiment::Plan;
use scavsim::input::{Diagnostics, Source};
use scavsim::rng::Purpose;
use scavsim::scenario::ClusterScenario as _;
use scavsim::scenario::{self, Overrides, Scenario};
use scavsim::search::{Forecast, Objective, Point, objective::choose};
use scavsim::testbed::{JobTrial, Metered, SimulatedCluster};

/// Default number of workers of the training workload, K.
pub const WORKERS: u32 = 16;

/// The cases of one workload of the main scenario: `scavenger-resnet18` with its 16 measured
/// configurations, the variation of `scenarios/scavenger.toml`, fidelity `fast`.
pub fn plan(strategies: &[&str], objectives: &[Objective], replicas: u64) -> Plan {
    plan_with(strategies, objectives, replicas, &[])
}

/// The plan with some keys set, like `--set`.
pub fn plan_with(
    strategies: &[&str],
    objectives: &[Objective],
    replicas: u64,
    set: &[&str],
) -> Plan {
    Plan::new(&scenario_with(strategies, objectives, replicas, set))
        .expect("the main scenario can be planned")
}

/// A scenario of this repository.
pub fn shipped(name: &str) -> Scenario {
    shipped_with(name, &[])
}

fn shipped_with(name: &str, set: &[&str]) -> Scenario {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut diagnostics = Diagnostics::default();
    let overrides = Overrides {
        set: set.iter().map(|line| Source::new("set", *line)).collect(),
        ..Overrides::default()
    };
    Source::read(&folder.join(name), &mut diagnostics)
        .and_then(|source| scenario::load(&source, &folder, overrides, &mut diagnostics))
        .unwrap_or_else(|| panic!("{}", diagnostics.render(false)))
}

/// The scenario of [`plan`].
pub fn scenario(strategies: &[&str], objectives: &[Objective], replicas: u64) -> Scenario {
    scenario_with(strategies, objectives, replicas, &[])
}

fn scenario_with(
    strategies: &[&str],
    objectives: &[Objective],
    replicas: u64,
    set: &[&str],
) -> Scenario {
    let mut scenario = shipped_with("scavenger.toml", set);
    if let Some(clusters) = scenario.clusters_mut() {
        clusters.workloads.truncate(1);
    }
    assert_eq!(scenario.workloads()[0].0.name, "scavenger-resnet18");
    assert_eq!(scenario.workloads()[0].1.len(), 16);
    scenario.strategies = strategies.iter().map(ToString::to_string).collect();
    scenario.objectives = objectives.to_vec();
    scenario.replicas = replicas;
    scenario
}

/// One strategy on a cluster, without an oracle and without a bill: search, choice of the fastest, run to the target.
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
