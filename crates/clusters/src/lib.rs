//! Clusters that train workloads, as the subject of experiments: their configurations and VM types, and what is left out.

pub mod left_out;
pub mod machine;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

pub use left_out::LeftOut;
use machine::{Machine, fleet};
use scavsim_data::configuration::{Configuration, Shape, vm_type};
use scavsim_data::space::Space;
use scavsim_data::workload::{Reach, Workload};
use scavsim_experiment::PlanError;
use scavsim_experiment::scenario::Scenario;
use scavsim_experiment::subject::{
    PreparedSearch, Search, SearchKnowledge, SearchPreparation, Setting, Subject, SweptVm,
};
use scavsim_read::input::range::digits;
use scavsim_search::search::WorkloadFacts;
use scavsim_search::testbed::History;
use scavsim_sim::cluster::{Setup, World};
use scavsim_sim::training::barrier_waits::BarrierWaits;

/// Which configurations a search chooses between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SearchGrouping {
    /// All of a workload.
    #[default]
    All,
    /// Configurations of one VM type together: every type is a cluster of its own, searched by itself.
    EachVm,
}

#[derive(Debug, Clone)]
pub struct Clusters {
    pub workloads: Vec<(Workload, Vec<Configuration>)>,
    pub search: SearchGrouping,
    /// Workloads whose earlier runs the model of all jobs may use.
    pub stored: Vec<Workload>,
    pub reach: Reach,
    pub left_out: Vec<LeftOut>,
    /// VM types that were not measured, and their indices by name.
    pub machines: Vec<Machine>,
    pub places: HashMap<Arc<str>, usize>,
}

/// Ranges of neighbours on the same VM type.
pub fn by_vm(configurations: &[Configuration]) -> Vec<Range<usize>> {
    let mut start = 0;
    // Most neighbours share the name of their shape.
    (configurations.chunk_by(|a, b| a.vm == b.vm || vm_type(&a.vm) == vm_type(&b.vm)))
        .map(|run| {
            start += run.len();
            start - run.len()..start
        })
        .collect()
}

impl Clusters {
    fn workload_and_configurations(&self, search: &Search) -> (&Workload, &[Configuration]) {
        let (workload, all) = &self.workloads[search.choice];
        (workload, &all[search.configurations.clone()])
    }

    fn known_within(&self, search: &Search, reach: &Reach) -> SearchKnowledge<'_> {
        let (workload, configurations) = self.workload_and_configurations(search);
        SearchKnowledge {
            workload: &workload.name,
            space: Cow::Owned(Space::of_clusters(configurations)),
            figures: WorkloadFacts::from_workload(workload),
            own: History::from_workload(workload, reach),
            stored: (self.stored.iter())
                .map(|stored| History::from_workload(stored, reach))
                .collect::<Vec<_>>()
                .into(),
            layer_model: None,
            fidelities: Vec::new(),
        }
    }

    /// Whether two searches are each on one VM shape, and alike.
    fn is_alike(&self, a: &Search, b: &Search) -> bool {
        let like = |c: &Configuration| {
            let shape = Shape::parse(&c.vm).ok()?;
            let stand_in = self.reach.stand_in(shape.vm_type)?;
            Some((Arc::clone(&stand_in.like), shape.suffix.to_owned()))
        };
        let ((_, own), (_, other)) = (
            self.workload_and_configurations(a),
            self.workload_and_configurations(b),
        );
        let (Some(first), Some(second)) = (own.first(), other.first()) else {
            return false;
        };
        let is_same = |(a, b): (&Configuration, &Configuration)| {
            (a.workers, a.batch) == (b.workers, b.batch) && a.vm == first.vm && b.vm == second.vm
        };
        a.choice == b.choice
            && own.len() == other.len()
            && own.iter().zip(other).all(is_same)
            && like(first).is_some_and(|first| Some(first) == like(second))
    }

    /// VM types and pairs of workers and batch: if these are equal, a strategy has equal requirements.
    fn kind(&self, search: &Search) -> impl Eq + Hash + use<> {
        let shapes = self
            .workload_and_configurations(search)
            .1
            .chunk_by(|a, b| a.vm == b.vm);
        let pairs = |same: &[Configuration]| -> Vec<[u32; 2]> {
            same.iter().map(|c| [c.workers, c.batch]).collect()
        };
        let kinds = shapes.map(|same| {
            let like = &self.reach.measured(&same[0]).0.vm;
            (Arc::clone(like), pairs(same))
        });
        (search.choice, kinds.collect::<Vec<_>>())
    }

    /// Searches on every VM type, but only one for types with equal measured type and configurations.
    pub fn representatives(&self) -> Vec<Search> {
        let mut searches = self.searches();
        if self.search == SearchGrouping::EachVm {
            let (mut seen, mut last) = (HashSet::new(), None);
            searches.retain(|search| {
                // Neighbours are mostly alike, which is cheaper to compare than keys.
                let is_seen = (last.as_ref()).is_some_and(|last| self.is_alike(last, search));
                last = Some(search.clone());
                !is_seen && seen.insert(self.kind(search))
            });
        }
        searches
    }
}

impl Subject for Clusters {
    fn choices(&self) -> Vec<(&str, usize)> {
        let workloads = self.workloads.iter();
        workloads.map(|(w, all)| (&*w.name, all.len())).collect()
    }

    fn searches(&self) -> Vec<Search> {
        let of = |(choice, (_, all)): (usize, &(Workload, Vec<Configuration>))| {
            let one = |configurations| Search {
                choice,
                configurations,
            };
            match self.search {
                SearchGrouping::All => vec![one(0..all.len())],
                SearchGrouping::EachVm => by_vm(all).into_iter().map(one).collect(),
            }
        };
        self.workloads.iter().enumerate().flat_map(of).collect()
    }

    fn never_filled(&self) -> &'static [&'static str] {
        &[
            "chosen_other",
            "oracle_other",
            "peak_gib",
            "bubble",
            "communication",
            "tokens_per_s",
            "mfu",
            "usd_per_1e9_tokens",
            "effective",
            "failed_choices",
        ]
    }

    fn swept_vms(&self) -> Vec<SweptVm<'_>> {
        type Key = (&'static str, fn(&Machine) -> Option<f64>);
        let keys: [Key; 4] = [
            ("compute_scale", |own| Some(own.stand_in.compute_scale)),
            ("network_scale", |own| Some(own.stand_in.network_scale)),
            ("memory_gib", |own| own.memory_gib),
            ("usd_per_hour", |own| own.usd_per_hour),
        ];
        // Axes have the values that names show.
        let value = |value: f64| digits(value).parse().unwrap_or(value);
        let mut swept = keys.to_vec();
        swept.retain(|(_, of)| {
            let mut all = self.machines.iter().map(of);
            let first = all.next();
            all.any(|other| Some(other) != first)
        });
        if swept.is_empty() {
            return Vec::new();
        }
        let values = |own: &Machine| {
            let each = swept.iter().map(|(key, of)| (*key, of(own).map(value)));
            each.collect()
        };
        let machines = self.machines.iter();
        machines
            .map(|own| (&*own.stand_in.vm, values(own)))
            .collect()
    }

    fn known<'s>(&'s self, search: &Search, setup: &Setup) -> SearchKnowledge<'s> {
        self.known_within(
            search,
            &setup.reach(&self.reach, self.workload_and_configurations(search).1),
        )
    }

    fn prepared<'s>(
        &'s self,
        search: &Search,
        preparing: SearchPreparation<'_>,
    ) -> Result<PreparedSearch<'s>, PlanError> {
        let Setting {
            variation, setup, ..
        } = preparing.setting;
        let (workload, configurations) = self.workload_and_configurations(search);
        let reach = &setup.reach(&self.reach, configurations);
        let waits = preparing.waits.get_or_init(|| {
            let all = self.workloads.iter().flat_map(|(_, all)| all);
            BarrierWaits::new(variation, all)
        });
        let terms = (variation, waits, setup);
        let world = World::by(preparing.hands, workload, configurations, reach, terms)
            .map_err(|mut all| all.swap_remove(0))?;
        let own = (world.vms.iter()).filter_map(|rented| self.places.get(&rented.name));
        Ok(PreparedSearch {
            fleet: fleet(own.map(|place| &self.machines[*place])),
            known: self.known_within(search, reach),
            ground: Box::new(world),
        })
    }

    fn is_across_vms(&self) -> bool {
        self.search == SearchGrouping::EachVm
    }

    fn has_fidelities(&self) -> bool {
        true
    }

    fn left_out(&self) -> Vec<String> {
        self.left_out.iter().map(LeftOut::to_string).collect()
    }

    fn keep(&mut self, kept: &mut dyn FnMut(&str, usize) -> Vec<usize>) {
        for (workload, all) in &mut self.workloads {
            let places = kept(&workload.name, all.len());
            *all = places.into_iter().map(|at| all[at].clone()).collect();
        }
    }
}

/// A scenario as one of clusters that train, if it is one.
pub trait ClusterScenario {
    fn clusters(&self) -> Option<&Clusters>;

    fn clusters_mut(&mut self) -> Option<&mut Clusters>;

    fn workloads(&self) -> &[(Workload, Vec<Configuration>)] {
        self.clusters().map_or(&[], |own| &own.workloads)
    }

    fn workloads_mut(&mut self) -> &mut [(Workload, Vec<Configuration>)] {
        self.clusters_mut()
            .map_or(&mut [], |own| &mut own.workloads)
    }

    /// A sentence if gradients are stale and neither workload nor scenario gives their cost: they count as fresh.
    fn unpriced_staleness(&self) -> Option<String>;
}

impl ClusterScenario for Scenario {
    fn clusters(&self) -> Option<&Clusters> {
        self.subject.downcast()
    }

    fn clusters_mut(&mut self) -> Option<&mut Clusters> {
        self.clusters()?; // others are not copied
        self.subject_mut().downcast_mut()
    }

    fn unpriced_staleness(&self) -> Option<String> {
        // All settings share their protocols.
        let setup = &self.runs_in.first()?.setup;
        if setup.staleness.is_some() {
            return None;
        }
        let mut names: Vec<String> = Vec::new();
        let unpriced = self
            .workloads()
            .iter()
            .filter(|(w, _)| w.staleness.is_none());
        let unpriced = unpriced.flat_map(|(w, all)| all.iter().map(move |c| (w, c)));
        for (workload, configuration) in unpriced {
            let protocol = setup.protocol_on(&workload.name, &configuration.vm);
            let is_stale = configuration.workers > 1 && !protocol.has_barrier();
            let name = format!("`{}`", protocol.name());
            if is_stale && !names.contains(&name) {
                names.push(name);
            }
        }
        (!names.is_empty()).then(|| {
            format!(
                "stale gradients under {} cost nothing, as no `staleness.per_missed_batch` is set; 0 says that they do \
                 no harm",
                names.join(", ")
            )
        })
    }
}
