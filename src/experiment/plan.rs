//! Everything that cases share, computed once; the order of cases.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::record::Record;
use crate::cluster::{Truth, World};
use crate::configuration::Configuration;
use crate::pricing::{NoPrice, Policy, Rented, Tariff};
use crate::rng::{Streams, identity};
use crate::scenario::{Scenario, Together, by_vm, machines};
use crate::search::{
    Knowledge, Limits, ORACLE, Objective, Point, Strategy, Unusable, objective::choose,
};
use crate::testbed::{History, SimulatedCluster};
use crate::training::Fidelity;
use crate::training::waits::Waits;
use crate::units::SimTime;
use crate::usage::Usage;

/// Why a scenario that was read without complaint cannot be planned.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PlanError {
    /// A configuration outside the measured hull.
    #[error(transparent)]
    OutsideHull(#[from] crate::workload::OutsideHull),
    /// A VM type that a policy has no price for.
    #[error("pricing policy `{0}`: {1}")]
    NoPrice(String, NoPrice),
    /// A strategy that lacks what it needs.
    #[error(transparent)]
    Unusable(#[from] Unusable),
    /// A strategy that does not exist.
    #[error("unknown strategy `{0}`")]
    UnknownStrategy(String),
}

/// A scenario, ready to run.
///
/// Arenas are made when a case first asks for one, and can be forgotten again: a scenario of ten
/// thousand clusters never holds them all.
pub struct Plan {
    source: Scenario,
    spaces: Vec<Space>,
    waits: Waits,
    /// Places of the scenario's own VM types, by name.
    machines: HashMap<Arc<str>, usize>,
    arenas: Vec<OnceLock<Made>>,

    /// Name of the scenario.
    pub scenario: String,
    /// Random streams.
    pub streams: Streams,
    /// How finely runs are simulated.
    pub fidelity: Fidelity,
    /// Delay between a request of VMs and their readiness.
    pub start_up: SimTime,
    /// Pricing policies.
    pub policies: Vec<Policy>,
    /// Objectives.
    pub objectives: Vec<Objective>,
    /// Replicas per combination.
    pub replicas: u64,
    /// What no choice may exceed.
    pub limits: Limits,
}

/// An arena, or why there is none, in words.
type Made = Result<Box<Arena>, String>;

/// The configurations of a workload that are searched together.
#[derive(Debug, Clone)]
struct Space {
    workload: usize,
    configurations: Range<usize>,
}

/// A workload on some configurations, with all that compete on it.
pub struct Arena {
    /// The truth.
    pub world: World,
    /// Its configurations, in the order of the world's truths.
    pub configurations: Vec<Configuration>,
    /// All that compete, in the scenario's order.
    pub contenders: Vec<Contender>,
    /// Index of the configuration that break-even is counted against.
    pub default: usize,
    /// What its VM types are billed by, per policy.
    pub tariffs: Vec<Tariff>,
    /// Expected time and cost per policy and configuration, without search.
    pub expected: Vec<Vec<Point>>,
    /// The best configuration by expectation per policy and objective; `None` where the limits
    /// leave nothing.
    pub oracle: Vec<Vec<Option<usize>>>,
}

/// One that competes.
pub struct Contender {
    /// Its name.
    pub name: String,
    /// Key of its random streams.
    pub identity: u64,
    /// The strategy, ready for the workload; the oracle has none.
    pub strategy: Option<Box<dyn Strategy>>,
}

/// Place of a case in the order arena → strategy → replica → policy → objective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    /// Number of the case, from 0.
    pub number: u64,
    /// Index of the arena: the workload, or where every VM is searched by itself one VM of it.
    pub arena: usize,
    /// Index of the pricing policy.
    pub policy: usize,
    /// Index of the objective.
    pub objective: usize,
    /// Index of the strategy.
    pub strategy: usize,
    /// The replica.
    pub replica: u64,
}

/// Runs behind an expectation that has no closed form.
const EXPECTATION_REPLICAS: u64 = 200;

/// Reasons for another fidelity that are told.
const MOST_FALLBACKS: usize = 8;
/// Runs without a result after which none is expected.
const HOPELESS: u64 = 8;
/// The same where every worker-step is an event: so many worker-steps in all, and this many runs at least.
const EXPECTATION_WORKER_STEPS: f64 = 2e7;
const FEWEST_EXPECTATION_REPLICAS: u64 = 8;

/// Runs behind the expectation of a configuration.
fn expectation_replicas(truth: &Truth) -> u64 {
    if truth.cluster.settle(Fidelity::Fast).0 == Fidelity::Fast {
        return EXPECTATION_REPLICAS;
    }
    let worker_steps = truth.steps_to_target * f64::from(truth.configuration.workers);
    let runs = EXPECTATION_WORKER_STEPS / worker_steps.max(1.0);
    (runs as u64).clamp(FEWEST_EXPECTATION_REPLICAS, EXPECTATION_REPLICAS)
}

/// Arenas that are made at once, for an error to come before the run.
const EAGER: usize = 16;

impl Plan {
    /// Computes what the cases of `scenario` share.
    ///
    /// # Errors
    /// [`PlanError`]; none after the scenario's own check.
    pub fn new(scenario: &Scenario) -> Result<Plan, PlanError> {
        let spaces: Vec<Space> = (scenario.workloads.iter().enumerate())
            .flat_map(|(workload, (_, configurations))| {
                let mut ranges = by_vm(configurations);
                if scenario.search == Together::All {
                    ranges.clear();
                    ranges.push(0..configurations.len());
                }
                ranges.into_iter().map(move |configurations| Space {
                    workload,
                    configurations,
                })
            })
            .collect();
        let plan = Plan {
            arenas: spaces.iter().map(|_| OnceLock::new()).collect(),
            spaces,
            waits: Waits::new(
                &scenario.variation,
                scenario.workloads.iter().flat_map(|w| &w.1),
            ),
            machines: (scenario.machines.iter().enumerate())
                .map(|(index, m)| (Arc::clone(&m.stand_in.vm), index))
                .collect(),
            scenario: scenario.name.clone(),
            streams: Streams::new(scenario.seed),
            fidelity: scenario.fidelity,
            start_up: scenario.start_up,
            policies: scenario.policies.clone(),
            objectives: scenario.objectives.clone(),
            replicas: scenario.replicas,
            limits: scenario.limits,
            source: scenario.clone(),
        };
        for index in 0..plan.spaces.len().min(EAGER) {
            let made = plan.make(index)?;
            // Nobody else has the plan yet.
            let _ = plan.arenas[index].set(Ok(Box::new(made)));
        }
        Ok(plan)
    }

    /// Number of arenas.
    pub fn arena_count(&self) -> usize {
        self.spaces.len()
    }

    /// An arena, made if need be.
    ///
    /// # Errors
    /// In words why there is none; none after the scenario's own check.
    pub fn arena(&self, index: usize) -> Result<&Arena, &str> {
        let made = self.arenas[index]
            .get_or_init(|| self.make(index).map(Box::new).map_err(|e| e.to_string()));
        match made {
            Ok(arena) => Ok(arena),
            Err(why) => Err(why),
        }
    }

    /// All arenas that can be made.
    pub fn arenas(&self) -> impl Iterator<Item = &Arena> {
        (0..self.spaces.len()).filter_map(|index| self.arena(index).ok())
    }

    /// Which protocols of the arenas made so far run in `event` although another fidelity is asked for, and why: a
    /// sentence for each reason.
    pub fn fallbacks(&self) -> Vec<String> {
        let made = self.arenas.iter().filter_map(OnceLock::get);
        let arenas = made.filter_map(|made| made.as_ref().ok());
        let mut all: Vec<String> = Vec::new();
        for cluster in arenas.flat_map(|a| a.world.truths.iter().map(|t| &t.cluster)) {
            let (_, Some(why)) = cluster.settle(self.fidelity) else {
                continue;
            };
            let sentence = format!("`{}` runs in `event`: {why}", cluster.protocol.name());
            if !all.contains(&sentence) && all.len() < MOST_FALLBACKS {
                all.push(sentence);
            }
        }
        all
    }

    /// Forgets the arenas before `first`, if there are too many to keep.
    pub fn forget_before(&mut self, first: usize) {
        if self.spaces.len() > EAGER {
            // Cases come in the order of arenas: those made lie close before `first`.
            for cell in self.arenas[..first].iter_mut().rev() {
                if cell.take().is_none() {
                    break;
                }
            }
        }
    }

    /// Name of an arena's workload.
    pub fn workload(&self, arena: usize) -> &str {
        &self.source.workloads[self.spaces[arena].workload].0.name
    }

    fn make(&self, index: usize) -> Result<Arena, PlanError> {
        let scenario = &self.source;
        let space = &self.spaces[index];
        let (workload, configurations) = &scenario.workloads[space.workload];
        let configurations = &configurations[space.configurations.clone()];
        let reach = &scenario.setup.reach(&scenario.reach, configurations);
        let variation = &scenario.variation;
        let world = World::with(
            workload,
            configurations,
            reach,
            variation,
            &self.waits,
            &scenario.setup,
        )
        .map_err(|mut all| all.swap_remove(0))?;
        let stored: Vec<History> = (scenario.stored.iter())
            .map(|w| History::of(w, reach))
            .collect();
        let own = History::of(workload, reach);
        let knowledge = Knowledge::of(workload, configurations, &own, &stored);
        let contenders = (scenario.strategies.iter())
            .map(|name| {
                let strategy = match scenario.settings.build(name, &knowledge) {
                    Some(built) => Some(built?),
                    None if name == ORACLE => None,
                    None => return Err(PlanError::UnknownStrategy(name.clone())),
                };
                Ok(Contender {
                    name: name.clone(),
                    identity: identity(name),
                    strategy,
                })
            })
            .collect::<Result<_, PlanError>>()?;
        let vms: Vec<Rented<'_>> = (world.vms.iter())
            .map(|vm| Rented {
                vm: &vm.name,
                on_spot: vm.on_spot,
            })
            .collect();
        let own = vms.iter().filter_map(|rented| self.machines.get(rented.vm));
        let fleet = machines::fleet(own.map(|index| &scenario.machines[*index]));
        let tariffs = (scenario.policies.iter())
            .map(|policy| {
                let tariff = policy.tariff(&vms, &fleet);
                tariff.map_err(|why| PlanError::NoPrice(policy.name.clone(), why))
            })
            .collect::<Result<Vec<Tariff>, _>>()?;
        let mut scratch = (Usage::default(), Vec::new());
        let may_change = |truth: &Truth| truth.cluster.may_change();
        let expected: Vec<Vec<Point>> = match world.truths.iter().any(may_change) {
            false => (tariffs.iter())
                .map(|tariff| expectations(&world, tariff, &mut scratch.0))
                .collect(),
            true => self.expectations_with_losses(&world, &tariffs),
        };
        let best = |points: &Vec<Point>, objective: Objective, scratch: &mut Vec<_>| {
            let points: Vec<Option<Point>> = points.iter().copied().map(Some).collect();
            choose(objective, &scenario.limits, &points, scratch)
        };
        let oracle = expected
            .iter()
            .map(|points| {
                (scenario.objectives.iter())
                    .map(|&objective| best(points, objective, &mut scratch.1))
                    .collect()
            })
            .collect();
        Ok(Arena {
            default: scenario.settings.fixed.index(&knowledge)?,
            configurations: configurations.to_vec(),
            world,
            contenders,
            tariffs,
            expected,
            oracle,
        })
    }

    /// Mean time and cost per policy and configuration, without search, through losses of VMs: they have no
    /// closed form, so they are means over runs of replicas that no case has. A run that does not reach the target
    /// is begun again, from scratch: what it took is shared by those that do.
    fn expectations_with_losses(&self, world: &World, tariffs: &[Tariff]) -> Vec<Vec<Point>> {
        let mut cluster = SimulatedCluster::new(world, self.streams, Fidelity::Fast, self.start_up);
        let mut usage = Usage::default();
        let none = Point {
            time_s: 0.0,
            cost_usd: 0.0,
        };
        let mut reached = vec![0.0; world.truths.len()];
        let mut means = vec![vec![none; world.truths.len()]; tariffs.len()];
        for replica in 0..EXPECTATION_REPLICAS {
            cluster.restart(u64::MAX - replica);
            cluster.mark();
            for (choice, truth) in world.truths.iter().enumerate() {
                let hopeless = replica >= HOPELESS && reached[choice] == 0.0;
                if hopeless || replica >= expectation_replicas(truth) {
                    continue;
                }
                cluster.back_to_mark();
                let end = match cluster.run_to_target(choice) {
                    Ok(line) => {
                        reached[choice] += 1.0;
                        line.net_end
                    }
                    Err(why) => why.at(),
                };
                cluster.usage_until(end, &mut usage);
                for (tariff, means) in tariffs.iter().zip(&mut means) {
                    means[choice].time_s += end.seconds();
                    means[choice].cost_usd += tariff.bill_usd(&usage);
                }
            }
        }
        for means in &mut means {
            for (mean, reached) in means.iter_mut().zip(&reached) {
                // Infinite where no run reached the target.
                mean.time_s /= reached;
                mean.cost_usd /= reached;
            }
        }
        means
    }

    /// Number of cases.
    pub fn cases(&self) -> u64 {
        (self.spaces.len() * self.contenders()) as u64 * self.replicas * self.cases_per_simulation()
    }

    /// Cases that share a simulation, and follow each other: those that differ only in their policy
    /// and objective.
    pub fn cases_per_simulation(&self) -> u64 {
        (self.policies.len() * self.objectives.len()) as u64
    }

    /// Cases that one task evaluates, in whole simulations: enough to make its start free, few
    /// enough to share out well, and so few of the slow ones that an interrupt is heeded, and rows
    /// appear, within seconds.
    pub fn cases_per_task(&self) -> u64 {
        let shared = self.cases_per_simulation().max(1);
        match self.fidelity {
            Fidelity::Fast => 64u64.div_ceil(shared) * shared,
            Fidelity::Step | Fidelity::Event => shared,
        }
    }

    /// Name of a strategy.
    pub fn strategy(&self, index: usize) -> &str {
        &self.source.strategies[index]
    }

    fn contenders(&self) -> usize {
        self.source.strategies.len()
    }

    /// Whether a record that was stored is one of the case whose number it bears.
    pub fn owns(&self, record: &Record<'_>) -> bool {
        if record.case >= self.cases() {
            return false;
        }
        let case = self.case(record.case);
        record.workload == self.workload(case.arena)
            && record.pricing == self.policies[case.policy].name
            && record.objective == self.objectives[case.objective].name()
            && record.strategy == self.strategy(case.strategy)
            && record.replica == case.replica
    }

    /// The case with this `number`, computed, never stored: the number of cases costs no memory.
    pub fn case(&self, number: u64) -> Case {
        let mut rest = number;
        let mut digit = |base: u64| {
            let digit = rest % base;
            rest /= base;
            digit
        };
        let objective = digit(self.objectives.len() as u64) as usize;
        let policy = digit(self.policies.len() as u64) as usize;
        let replica = digit(self.replicas);
        let strategy = digit(self.contenders() as u64) as usize;
        Case {
            number,
            arena: digit(self.spaces.len() as u64) as usize,
            policy,
            objective,
            strategy,
            replica,
        }
    }
}

/// Expected time and cost of every configuration, without search.
fn expectations(world: &World, tariff: &Tariff, usage: &mut Usage) -> Vec<Point> {
    (world.truths.iter())
        .map(|truth| {
            let time_s = truth.expected_time_s();
            let at = &truth.configuration;
            Point {
                time_s,
                cost_usd: tariff.run_usd(truth.held(), at.batch, time_s, usage),
            }
        })
        .collect()
}
