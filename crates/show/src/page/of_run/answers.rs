//! The card of every setting, workload, policy and objective of a run.

use super::super::answer::{Answer, CardLine, HeadlineValue};
use super::names::{Names, other_axes};
use crate::figure::Material;
use crate::figure::material::Cloud;
use crate::figure::place::{Outcome, Place};
use crate::report::Places;
use crate::report::choices::{
    builds_on_runs, is_all_knowing, objective, oracle_figures, place as in_words,
};
use crate::report::closest::net_overhead;
use crate::report::percent::{mean_of, typical};
use crate::report::summary_table::are_of_a_block;
use scavsim_base::text::words::{hours, plural, share, signed_percent, usd};
use scavsim_experiment::{Chosen, Group};
use scavsim_search::search::{ORACLE, Objective};

/// The strategy that chooses the usual configuration.
const DEFAULT: &str = "default";
const MOST_NAMES: usize = 3;

/// Maximum number of cards of a page; other choices have rows only.
const MOST: usize = 500;

/// A card per block of groups.
pub(super) fn of_result(material: &Material, places: &Places) -> Vec<Answer> {
    let blocks: Vec<&[Group]> = material.groups.chunk_by(are_of_a_block).collect();
    let names = Names::from_clouds(&material.clouds);
    let mut first = 0;
    let mut all = Vec::new();
    for block in blocks.iter().take(MOST) {
        let outcomes = &material.outcomes[first..first + block.len()];
        first += block.len();
        let others = blocks.iter().copied();
        let cloud = &block[0];
        let cloud = material.cloud(&cloud.setting, &cloud.workload, &cloud.pricing);
        all.push(of_block(block, outcomes, cloud, others, places, &names));
    }
    all
}

fn keys(setting: &str, workload: &str, pricing: &str, objective: &str) -> Answer {
    let of = [
        ("setting", setting),
        ("workload", workload),
        ("pricing", pricing),
        ("objective", objective),
    ];
    let of = of.map(|(key, value)| (key, value.to_owned()));
    Answer {
        of: of.into_iter().collect(),
        lead: "Rent".to_owned(),
        ..Answer::default()
    }
}

fn of_block<'m>(
    block: &'m [Group],
    outcomes: &[Outcome],
    cloud: Option<&Cloud>,
    others: impl Iterator<Item = &'m [Group]>,
    places: &Places,
    names: &Names<'_>,
) -> Answer {
    let first = &block[0];
    let mut answer = keys(
        &first.setting,
        &first.workload,
        &first.pricing,
        &first.objective,
    );
    let Some((time, cost)) = oracle_figures(block) else {
        "Nothing".clone_into(&mut answer.what);
        let reason = block.iter().flat_map(|group| &group.reasons).next();
        let reason = reason.map_or("no case has a result", |(reason, _)| reason.as_str());
        answer.lines.push(CardLine::new("Why", reason));
        return answer;
    };
    let by = objective(first);
    answer.point = Some([time, cost]);
    match &first.oracle {
        Some(oracle) => {
            name(&mut answer, oracle, places);
            let same = block.iter().find(|g| g.choice.as_ref() == Some(oracle));
            answer
                .marks
                .extend(same.and_then(|group| group.provenance.clone()));
        }
        None => {
            "Searched".clone_into(&mut answer.lead);
            "Each VM type by itself".clone_into(&mut answer.what);
            "the best of each, in the mean over them".clone_into(&mut answer.detail);
        }
    }
    if places.is_marked(&first.pricing) {
        answer
            .marks
            .push("spot price, but VMs are never lost".to_owned());
    }
    let of_oracle = (block.iter().zip(outcomes)).find(|(group, _)| group.strategy == ORACLE);
    // For several VM types together they are no interval of a run.
    let ends = of_oracle.filter(|_| first.oracle.is_some());
    let ends = ends.and_then(|(_, outcome)| outcome.time_h.zip(outcome.cost_usd));
    figures(&mut answer, [time, cost], ends);
    if let Some(cloud) = cloud
        && let Some(best) = first.oracle.as_ref().and_then(|own| cloud.place_of(own))
    {
        // If the number of workers does not give the number of VMs.
        if let Some(held) = best.held.as_ref().filter(|_| best.workers.is_none()) {
            answer.what.clone_from(held);
        }
        answer.point = Some([best.time_h, best.cost_usd]);
        answer.mark = Some(names.text(best));
        answer
            .lines
            .extend(by.and_then(|by| runner_up(cloud, best, by, names)));
    }
    let lost = of_oracle.and_then(|(group, _)| group.mean("lost_vms"));
    answer.lines.extend(risk(ends, lost.map(|lost| lost.mean)));
    answer
        .lines
        .extend(changes(block, others, cloud, places, names));
    answer.lines.extend(finding(block, by));
    answer
}

fn name(answer: &mut Answer, chosen: &Chosen, places: &Places) {
    let vm = chosen.vm.as_deref().filter(|vm| !vm.is_empty());
    let Some(vm) = vm else {
        answer.what = in_words(chosen, places, " on ");
        return;
    };
    answer.what = places.shapes(vm, chosen.workers);
    let workers = chosen
        .workers
        .map(|workers| plural(u64::from(workers), "worker"));
    let batch = chosen.batch.map(|batch| format!("batch {batch}"));
    let other = chosen.other.as_deref().map(other_axes);
    let parts: Vec<String> = [workers, batch, other].into_iter().flatten().collect();
    answer.detail = parts.join(", ");
}

/// Time and cost, with their 90 % intervals over runs.
fn figures(answer: &mut Answer, [time, cost]: [f64; 2], ends: Option<([f64; 2], [f64; 2])>) {
    let note = |ends: Option<[f64; 2]>, text: fn(f64) -> String, is: &str| match ends {
        Some([low, high]) if low < high => format!("90 % of runs: {} to {}", text(low), text(high)),
        _ => is.to_owned(),
    };
    answer.figures = vec![
        HeadlineValue::new(
            hours(time),
            note(ends.map(|ends| ends.0), hours, "mean time"),
        ),
        HeadlineValue::new(usd(cost), note(ends.map(|ends| ends.1), usd, "mean cost")),
    ];
}

/// The next configuration by the objective; for the knee, both ends of the front.
fn runner_up(cloud: &Cloud, best: &Place, by: Objective, names: &Names<'_>) -> Option<CardLine> {
    let others = || (cloud.places.iter()).filter(|own| own.is_allowed && !std::ptr::eq(*own, best));
    let over = |own: f64, best: f64| signed_percent(own / best - 1.0);
    let told = |own: &Place| {
        format!(
            "{}: {} ({}), {} ({}).",
            names.text(own),
            hours(own.time_h),
            over(own.time_h, best.time_h),
            usd(own.cost_usd),
            over(own.cost_usd, best.cost_usd)
        )
    };
    let time = |a: &&Place, b: &&Place| a.time_h.total_cmp(&b.time_h);
    let cost = |a: &&Place, b: &&Place| a.cost_usd.total_cmp(&b.cost_usd);
    match by {
        Objective::Time => others()
            .min_by(time)
            .map(|own| CardLine::new("Runner-up", told(own))),
        Objective::Cost => others()
            .min_by(cost)
            .map(|own| CardLine::new("Runner-up", told(own))),
        Objective::Knee => {
            let (fast, cheap) = (others().min_by(time)?, others().min_by(cost)?);
            Some(CardLine::new(
                "Ends",
                format!("{} {}", told(fast), told(cheap)),
            ))
        }
    }
}

/// The values that one run in twenty exceeds, and the number of lost VMs.
fn risk(ends: Option<([f64; 2], [f64; 2])>, lost: Option<f64>) -> Option<CardLine> {
    let mut parts = Vec::new();
    if let Some((time, cost)) = ends
        && time[0] < time[1]
    {
        let (time, cost) = (hours(time[1]), usd(cost[1]));
        parts.push(format!(
            "1 run in 20 takes longer than {time}, 1 in 20 costs more than {cost}"
        ));
    }
    if let Some(lost) = lost.filter(|lost| *lost > 0.0) {
        parts.push(format!("{lost:.1} VMs are lost in a run"));
    }
    (!parts.is_empty()).then(|| CardLine::new("Risk", format!("{}.", parts.join("; "))))
}

/// Other objectives, policies and settings that lead to another choice.
fn changes<'m>(
    block: &[Group],
    others: impl Iterator<Item = &'m [Group]>,
    cloud: Option<&Cloud>,
    places: &Places,
    names: &Names<'_>,
) -> Option<CardLine> {
    let own = &block[0];
    own.oracle.as_ref()?;
    let told = |oracle: &Chosen| {
        let place = cloud.and_then(|cloud| cloud.place_of(oracle));
        place.map_or_else(
            || in_words(oracle, places, " on "),
            |place| names.text(place),
        )
    };
    let mut by_objective: Vec<String> = Vec::new();
    let (mut policies, mut settings) = ([0, 0], [0, 0]);
    for other in others {
        let other = &other[0];
        let Some(oracle) = other
            .oracle
            .as_ref()
            .filter(|_| other.workload == own.workload)
        else {
            continue;
        };
        let is_same = [
            other.setting == own.setting,
            other.pricing == own.pricing,
            other.objective == own.objective,
        ];
        let is_other = usize::from(own.oracle != other.oracle);
        match is_same {
            [true, true, false] if is_other == 1 => {
                by_objective.push(format!("best by {}: {}", other.objective, told(oracle)));
            }
            [true, false, true] => policies = [policies[0] + is_other, policies[1] + 1],
            [false, true, true] => settings = [settings[0] + is_other, settings[1] + 1],
            _ => {}
        }
    }
    let count = |[differ, all]: [usize; 2], what: &str| {
        (all > 0).then(|| match differ {
            0 => format!("none of {all} other {what}"),
            differ => format!("{differ} of {all} other {what}"),
        })
    };
    let all = by_objective.into_iter();
    let all = all
        .chain(count(policies, "policies"))
        .chain(count(settings, "settings"));
    let all: Vec<String> = all.collect();
    (!all.is_empty()).then(|| CardLine::new("Would change it", format!("{}.", all.join("; "))))
}

/// The distance of a group from the oracle: its sort key, smaller is better, and its text.
fn distance(group: &Group, by: Option<Objective>) -> Option<(f64, String)> {
    match by.zip(by.and_then(net_overhead)) {
        Some((by, metric)) => {
            let value = typical(group, metric)?.value();
            Some((value, format!("{} {}", signed_percent(value), by.name())))
        }
        None => {
            let depth = group.mean("knee_depth")?.mean;
            Some((-depth, format!("depth {depth:.2} of 1")))
        }
    }
}

/// The strategies that find it, from nothing and with earlier runs, and the cost without a search.
fn finding(block: &[Group], by: Option<Objective>) -> Vec<CardLine> {
    let known = |group: &Group| group.mean("known_cost_usd").map_or(0.0, |m| m.mean);
    let best = |may: &dyn Fn(&Group) -> bool| {
        let all = block
            .iter()
            .filter(|group| !is_all_knowing(group) && may(group));
        let mut all: Vec<(&Group, f64, String)> = all
            .filter_map(|group| distance(group, by).map(|(value, text)| (group, value, text)))
            .collect();
        all.sort_by(|a, b| a.1.total_cmp(&b.1));
        // Equal as printed.
        let text = all.first()?.2.clone();
        let equal: Vec<&Group> = (all.iter().filter(|own| own.2 == text))
            .map(|own| own.0)
            .collect();
        Some((equal, text))
    };
    let search = |group: &Group| match ["search_time_h", "search_cost_usd"]
        .map(|metric| mean_of(group, metric))
    {
        [Some(time), Some(cost)] if time > 0.0 => {
            format!(", search {} and {}", hours(time), usd(cost))
        }
        [Some(time), None] if time > 0.0 => format!(", search {}", hours(time)),
        _ => String::new(),
    };
    let mut lines = Vec::new();
    let fresh = best(&|group| !builds_on_runs(group) && group.strategy != DEFAULT);
    lines.extend(fresh.map(|(groups, text)| {
        CardLine::new(
            "Found from nothing",
            format!("{}: {text}{}.", names(&groups), search(groups[0])),
        )
    }));
    let with = best(&builds_on_runs);
    lines.extend(with.map(|(groups, text)| {
        let least = groups
            .iter()
            .map(|group| known(group))
            .fold(f64::INFINITY, f64::min);
        let runs = if least > 0.0 {
            format!(", after earlier runs of {}", usd(least))
        } else {
            String::new()
        };
        CardLine::new(
            "With earlier runs",
            format!("{}: {text}{runs}{}.", names(&groups), search(groups[0])),
        )
    }));
    let default = block.iter().find(|group| group.strategy == DEFAULT);
    lines.extend(
        default
            .and_then(|group| distance(group, by))
            .map(|(_, text)| CardLine::new("Without a search", format!("{DEFAULT}: {text}."))),
    );
    lines
}

fn names(groups: &[&Group]) -> String {
    let names: Vec<&str> = groups.iter().map(|group| group.strategy.as_str()).collect();
    match names.len() {
        0..=MOST_NAMES => names.join(", "),
        more => format!(
            "{} and {} more",
            names[..MOST_NAMES].join(", "),
            more - MOST_NAMES
        ),
    }
}

/// The objectives for which some configuration is the best.
pub(super) fn objectives(clouds: &[Cloud]) -> Vec<Objective> {
    let all = [Objective::Time, Objective::Cost, Objective::Knee];
    let is_there = |own: &Objective| {
        let mut places = clouds.iter().flat_map(|cloud| &cloud.places);
        places.any(|place| place.best_for.contains(own))
    };
    all.into_iter().filter(is_there).collect()
}

pub(super) fn of_clouds(
    clouds: &[Cloud],
    objectives: &[Objective],
    places: &Places,
) -> Vec<Answer> {
    let names = Names::from_clouds(clouds);
    let mut all = Vec::new();
    for cloud in clouds {
        for by in objectives {
            let by = *by;
            let best = cloud
                .places
                .iter()
                .find(|place| place.best_for.contains(&by));
            let Some(best) = best else { continue };
            let mut answer = keys(&cloud.setting, &cloud.workload, &cloud.pricing, by.name());
            let chosen = Chosen {
                vm: best.vm.clone(),
                workers: best.workers,
                batch: best.batch,
                other: best.other.clone(),
            };
            name(&mut answer, &chosen, places);
            if let Some(held) = best.held.as_ref().filter(|_| best.workers.is_none()) {
                answer.what.clone_from(held);
            }
            answer.marks.push(best.provenance.clone());
            if places.is_marked(&cloud.pricing) {
                answer
                    .marks
                    .push("spot price, but VMs are never lost".to_owned());
            }
            let ends = best.ends.map(|[time, cost]| (time, cost));
            answer.point = Some([best.time_h, best.cost_usd]);
            answer.mark = Some(names.text(best));
            figures(&mut answer, [best.time_h, best.cost_usd], ends);
            answer.lines.extend(runner_up(cloud, best, by, &names));
            answer.lines.extend(risk(ends, None));
            if let Some(miss) = best.miss.filter(|miss| *miss > 0.0) {
                answer.lines.push(CardLine::new(
                    "Limits",
                    format!("missed in {} of runs.", share(miss)),
                ));
            }
            all.push(answer);
        }
    }
    all.truncate(MOST);
    all
}
