//! The input of the figures of a result: the contents of its records, completed by the scenario if available.

use std::collections::HashMap;

use super::place::{Outcome, Place};
use super::record_digest::{ChosenPoint, Outcomes, RecordDigest};
use crate::report::manifest::Identity;
use scavsim_base::stats::Share;
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_data::workload::Workload;
use scavsim_experiment::{Chosen, Group, Ranked, Ranking};
use scavsim_scenario::Scenario;
use scavsim_search::search::Objective;
use scavsim_search::search::objective::{Point, choose};

/// Minimum number of runs of a configuration for its 5 % and 95 % quantiles.
const FEWEST_RUNS: u64 = 20;

pub struct Material {
    pub identity: Identity,
    pub name: String,
    pub groups: Vec<Group>,
    /// The results of their cases, in the same order.
    pub outcomes: Vec<Outcome>,
    /// Configurations by setting, workload and policy.
    pub clouds: Vec<Cloud>,
    pub workloads: Vec<Workload>,
    pub scenario: Option<Scenario>,
    pub gathered: RecordDigest,
}

/// The configurations of one workload in one setting under one policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Cloud {
    /// Setting; empty if no key of the scenario has several values.
    pub setting: String,
    pub workload: String,
    pub pricing: String,
    /// Whether these are all configurations, or only the chosen ones.
    pub is_all: bool,
    pub places: Vec<Place>,
}

impl Material {
    /// Combines the data from the records of `identity` with other known data.
    pub fn new(
        identity: Identity,
        mut gathered: RecordDigest,
        rankings: Option<Vec<Ranking>>,
        workloads: Vec<Workload>,
        scenario: Option<Scenario>,
    ) -> Material {
        let (groups, mut all) = gathered.finish();
        let outcomes = (groups.iter().map(|group| outcome(group, &mut all))).collect();
        let clouds = match rankings {
            Some(rankings) => Cloud::of_rankings(rankings, &gathered.chosen),
            None => of_choices(&gathered.chosen),
        };
        let name = identity.get("scenario").and_then(|name| name.as_str());
        Material {
            name: name.unwrap_or_default().to_owned(),
            identity,
            groups,
            outcomes,
            clouds,
            workloads,
            scenario,
            gathered,
        }
    }

    pub fn cloud(&self, setting: &str, workload: &str, pricing: &str) -> Option<&Cloud> {
        let key = (setting, workload, pricing);
        (self.clouds.iter()).find(|c| (&*c.setting, &*c.workload, &*c.pricing) == key)
    }

    /// Distinct values of a key of the groups, in their order.
    pub fn distinct<'m>(&'m self, key: impl Fn(&'m Group) -> &'m str) -> Vec<&'m str> {
        distinct(self.groups.iter().map(key))
    }
}

/// Each word once, in the order in which they come.
pub(crate) fn distinct<'w>(words: impl Iterator<Item = &'w str>) -> Vec<&'w str> {
    let mut all: Vec<&str> = Vec::new();
    for word in words {
        if !all.contains(&word) {
            all.push(word);
        }
    }
    all
}

fn outcome(group: &Group, all: &mut [Outcomes]) -> Outcome {
    let own = all.iter_mut().find(|one| {
        (&one.setting, &one.workload, &one.pricing)
            == (&group.setting, &group.workload, &group.pricing)
            && (&one.objective, &one.strategy) == (&group.objective, &group.strategy)
    });
    own.map_or_else(Outcome::default, Outcomes::ends)
}

type Key<'a> = (
    [&'a str; 3],
    Option<&'a str>,
    [Option<u32>; 2],
    Option<&'a str>,
);

impl Cloud {
    pub fn place_of(&self, chosen: &Chosen) -> Option<&Place> {
        self.places.iter().find(|place| place.is(chosen))
    }

    /// All configurations of each ranking, with the strategies that chose them.
    pub fn of_rankings(rankings: Vec<Ranking>, chosen: &[ChosenPoint]) -> Vec<Cloud> {
        fn key<'p>(of: [&'p str; 3], place: &'p Place) -> Key<'p> {
            let (vm, other) = (place.vm.as_deref(), place.other.as_deref());
            (of, vm, [place.workers, place.batch], other)
        }
        let chosen: HashMap<Key<'_>, &Place> = (chosen.iter())
            .map(|p| {
                (
                    key([&p.setting, &p.workload, &p.pricing], &p.place),
                    &p.place,
                )
            })
            .collect();
        let mut clouds: Vec<Cloud> = rankings.into_iter().map(of_ranking).collect();
        for cloud in &mut clouds {
            for place in &mut cloud.places {
                let of = [&*cloud.setting, &cloud.workload, &cloud.pricing];
                if let Some(own) = chosen.get(&key(of, place)) {
                    place.by = own.by.clone();
                }
            }
        }
        clouds
    }
}

fn of_ranking(ranking: Ranking) -> Cloud {
    // For few runs these quantiles are only the extreme runs.
    let ends = |row: &Ranked| {
        (row.runs >= FEWEST_RUNS).then(|| {
            let hours = row.time_interval_s().map(|end| end / SECONDS_PER_HOUR);
            [hours, row.cost_interval_usd()]
        })
    };
    let held = |row: &Ranked| {
        let each = row
            .held
            .iter()
            .map(|held| format!("{} {}", held.vms, held.vm));
        let all = each.collect::<Vec<_>>().join(" + ");
        (!all.is_empty()).then_some(all)
    };
    let place = |row: Ranked| Place {
        ends: ends(&row),
        held: held(&row),
        vm: row.vm,
        workers: row.workers,
        batch: row.batch,
        other: row.other,
        time_h: row.expected.time_s / SECONDS_PER_HOUR,
        cost_usd: row.expected.cost_usd,
        provenance: row.provenance.to_owned(),
        plan: row.plan,
        is_on_front: row.is_on_front,
        is_knee: row.best_for.contains(&Objective::Knee),
        is_allowed: row.is_allowed,
        miss: row.miss.as_ref().and_then(Share::share),
        best_for: row.best_for,
        by: Vec::new(),
    };
    let mut places: Vec<Place> = ranking.rows.into_iter().map(place).collect();
    if !places.iter().any(|place| place.is_knee) {
        mark_knee(&mut places, |place| place.is_on_front);
    }
    in_order(&mut places);
    Cloud {
        setting: ranking.setting,
        workload: ranking.workload,
        pricing: ranking.pricing,
        is_all: true,
        places,
    }
}

/// Sorts by VM, workers and batch.
fn in_order(places: &mut [Place]) {
    places.sort_by(|a, b| {
        let key = |p: &Place| (p.vm.clone(), p.other.clone(), p.workers, p.batch);
        key(a).cmp(&key(b))
    });
}

fn mark_knee(places: &mut [Place], may: impl Fn(&Place) -> bool) {
    let points: Vec<Option<Point>> = places.iter().map(|p| may(p).then(|| p.point())).collect();
    if let Some(at) = choose(Objective::Knee, |_, _| true, &points, &mut Vec::new()) {
        places[at].is_knee = true;
    }
}

/// Configurations that some strategy chose; front and knee are computed among them.
fn of_choices(chosen: &[ChosenPoint]) -> Vec<Cloud> {
    let mut clouds: Vec<Cloud> = Vec::new();
    for point in chosen {
        let is_it = |c: &&mut Cloud| {
            (&c.setting, &c.workload, &c.pricing)
                == (&point.setting, &point.workload, &point.pricing)
        };
        let place = point.place.clone();
        match clouds.iter_mut().find(is_it) {
            Some(cloud) => cloud.places.push(place),
            None => clouds.push(Cloud {
                setting: point.setting.clone(),
                workload: point.workload.clone(),
                pricing: point.pricing.clone(),
                is_all: false,
                places: vec![place],
            }),
        }
    }
    for cloud in &mut clouds {
        let points: Vec<Point> = cloud.places.iter().map(Place::point).collect();
        for (place, own) in cloud.places.iter_mut().zip(&points) {
            place.is_on_front = !points.iter().any(|other| {
                (other.time_s < own.time_s && other.cost_usd <= own.cost_usd)
                    || (other.time_s <= own.time_s && other.cost_usd < own.cost_usd)
            });
        }
        mark_knee(&mut cloud.places, |place| place.is_on_front);
        in_order(&mut cloud.places);
    }
    clouds
}
