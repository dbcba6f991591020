//! The life of a job on plans: failures of machines, and reactions.

use std::sync::Arc;

use crate::complaints::Complaints;
use crate::failures_table::{CauseTable, FailuresTable, ReactionTable, Spares};
use crate::file::ScenarioFile;
use crate::forms::NameOrTable;
use crate::parallel_table::ParallelTable;
use crate::spot;
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};
use scavsim_plans::failures::{self, Cause, FailureScope, Failures, UnreliableNodes};
use scavsim_plans::reaction::{Aim, ReactionTerms, StateSaving};
use scavsim_plans::{Forecast, Reaction, ReactionCosts};
use scavsim_read::input::Spanned;
use scavsim_read::input::checked::{Delay, Positive};
use scavsim_sim::cluster::checkpoint::Policy;
use scavsim_sim::cluster::{Checkpoints, Pause, RecoveryTerms, Setup, Write};

/// Nodes behind a switch by default: a rack of two servers, as Llama 3 was trained on.
const NODES_PER_SWITCH: u32 = 2;

fn time(delay: Option<Delay>) -> SimTime {
    SimTime::from_seconds(delay.map_or(0.0, Delay::get))
}

/// The failures; `None` without any or with mistakes.
pub(super) fn failures(
    file: &ScenarioFile,
    complaints: &mut Complaints<'_>,
) -> Option<Arc<Failures>> {
    let place = file.failures.as_ref()?;
    let table = place.get_ref();
    let before = complaints.count();
    let causes = causes(place, complaints);
    for (keys, are_given) in [
        (
            ["by_hand_share", "by_hand_mean_s"],
            [
                table.by_hand_share.is_some(),
                table.by_hand_mean_s.is_some(),
            ],
        ),
        (
            ["lemon_share", "lemon_factor"],
            [table.lemon_share.is_some(), table.lemon_factor.is_some()],
        ),
        (
            ["maintenance_every_h", "maintenance_s"],
            [
                table.maintenance_every_h.is_some(),
                table.maintenance_s.is_some(),
            ],
        ),
    ] {
        let [given, missing] = match are_given {
            [true, false] => keys,
            [false, true] => [keys[1], keys[0]],
            _ => continue,
        };
        let title = format!("`failures.{given}` needs `failures.{missing}`");
        complaints.error_at(place.span(), title, "one says nothing without the other");
    }
    let by_hand = table.by_hand_share.zip(table.by_hand_mean_s.as_ref());
    let lemons = table.lemon_share.zip(table.lemon_factor.as_ref());
    let maintenance = table.maintenance_every_h.zip(table.maintenance_s.as_ref());
    let checkpoints = spot::checkpoints(table.checkpoint);
    if checkpoints == Checkpoints::Dynamic {
        let title = "`failures.checkpoint = \"dynamic\"` needs VMs of some age";
        complaints.error_at(place.span(), title, "machines that fail do so at any age");
    }
    if complaints.count() > before {
        return None;
    }
    Some(Arc::new(Failures {
        causes,
        nodes_per_switch: table.nodes_per_switch.map_or(NODES_PER_SWITCH, |n| n.get()),
        detection: time(table.detection_s),
        by_hand: by_hand.map(|(share, mean)| (share.get(), mean.get_ref().get())),
        lemons: lemons.map(|(share, factor)| UnreliableNodes {
            share: share.get(),
            factor: factor.get_ref().get(),
        }),
        maintenance: maintenance.map(|(every, takes)| {
            let every = SimTime::from_seconds(every.get() * SECONDS_PER_HOUR);
            (every, SimTime::from_seconds(takes.get_ref().get()))
        }),
        upkeep: RecoveryTerms {
            replacement: Pause::Fixed(time(table.replacement_s)),
            restart: table.restart_s.map(|given| Pause::Fixed(time(Some(given)))),
            keeps: table.keeps,
            checkpoints,
            write: Write::Fixed(time(table.checkpoint_write_s)),
        },
    }))
}

fn causes(place: &Spanned<FailuresTable>, complaints: &mut Complaints<'_>) -> Vec<Cause> {
    let table = place.get_ref();
    let scale = table.scale.map_or(1.0, Positive::get);
    let mut all = match (&table.fleet, table.causes.first()) {
        (Some(_), Some(own)) => {
            let why = "both say what fails";
            complaints.exclude_each_other("fleet", "causes", own, why);
            Vec::new()
        }
        (Some(name), None) => {
            let counted = failures::counted(name.get_ref());
            if counted.is_empty() {
                let known = failures::names();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let title = format!("unknown fleet `{}`", name.get_ref());
                complaints.unknown(title, name, &known, "list failures");
            }
            counted
        }
        (None, Some(_)) => {
            let per_switch = table.nodes_per_switch.map_or(NODES_PER_SWITCH, |n| n.get());
            let own = table.causes.iter();
            own.filter_map(|own| cause(own, per_switch, complaints))
                .collect()
        }
        (None, None) => {
            if !complaints.is_reported(&complaints.table_from(place.span().start)) {
                let title = "`failures` does not say what fails";
                complaints.error_at(place.span(), title, "give `fleet` or `causes`");
            }
            Vec::new()
        }
    };
    for cause in &mut all {
        cause.per_gpu_h *= scale;
        cause.per_node_h *= scale;
    }
    all
}

fn cause(
    place: &Spanned<CauseTable>,
    per_switch: u32,
    complaints: &mut Complaints<'_>,
) -> Option<Cause> {
    let own = place.get_ref();
    let title = format!("a failure cannot lose `{}`", own.loses.get_ref());
    let scopes = FailureScope::ALL.map(|one| (one.name(), one));
    let loses = complaints.known(title, &own.loses, &scopes);
    let rates = [own.per_gpu_h, own.per_node_h, own.per_switch_h];
    if rates.iter().flatten().count() != 1 {
        let title = format!(
            "nothing, or more than one thing, says how often `{}` fails",
            own.name
        );
        let label = "expected one of `per_gpu_h`, `per_node_h`, `per_switch_h`";
        complaints.error_at(place.span(), title, label);
        return None;
    }
    let rate = |given: Option<Positive>| given.map_or(0.0, Positive::get);
    Some(Cause {
        name: own.name.as_str().into(),
        loses: loses?,
        per_gpu_h: rate(own.per_gpu_h),
        per_node_h: rate(own.per_node_h) + rate(own.per_switch_h) / f64::from(per_switch),
    })
}

/// The job's reaction to losses; the default after mistakes.
pub(super) fn reacting(
    file: &ScenarioFile,
    table: &ParallelTable,
    setup: &Setup,
    complaints: &mut Complaints<'_>,
) -> ReactionTerms {
    let own = &table.reaction;
    let reactions = Reaction::ALL.map(|one| (one.name(), one));
    let forecasts = Forecast::ALL.map(|one| (one.name(), one));
    let aims = Aim::ALL.map(|one| (one.name(), one));
    let copying = time(own.copying_s);
    let saves = [
        ("blocking", StateSaving::Blocking),
        ("asynchronous", StateSaving::Asynchronous(copying)),
        ("in-memory", StateSaving::InMemory),
    ];
    let reacting = ReactionTerms {
        reaction: complaints
            .one_of("policy", &own.policy, &reactions)
            .unwrap_or_default(),
        costs: costs(own, complaints),
        forecast: complaints
            .one_of("forecast", &own.forecast, &forecasts)
            .unwrap_or_default(),
        aim: complaints
            .one_of("aim", &own.aim, &aims)
            .unwrap_or_default(),
        spares: match own.spares {
            Some(Spares::Some(count)) => count.get(),
            _ => 0,
        },
        swap: time(own.swap_s),
        saves: complaints
            .one_of("saves", &own.saves, &saves)
            .unwrap_or_default(),
    };
    impossible(file, table, setup, &reacting, complaints);
    reacting
}

fn costs(own: &ReactionTable, complaints: &mut Complaints<'_>) -> ReactionCosts {
    let Some(place) = &own.costs else {
        return ReactionCosts::default();
    };
    match place.get_ref() {
        NameOrTable::Named(word) if word == "parcae" => ReactionCosts::parcae(),
        NameOrTable::Named(word) => {
            let title = format!("unknown costs `{word}`");
            let complaint = complaints.mistake_at(place.span(), title, "not known");
            complaints.push(
                complaint.with_help("allowed here: `parcae`, or seconds: costs = { pause_s = 60 }"),
            );
            ReactionCosts::default()
        }
        NameOrTable::Table(own) => {
            let all = [
                own.pause_s.unwrap_or(0.0),
                own.rendezvous_s,
                own.group_added_s,
                own.group_lost_s,
                own.process_s,
                own.layer_s,
                own.link_gb_per_s,
            ];
            if let Some(wrong) = all.iter().find(|value| !(0.0..=1e9).contains(*value)) {
                let title = format!("`parallel.reaction.costs`: {wrong} is out of range");
                complaints.error_at(place.span(), title, "expected numbers from 0 to 10^9");
            }
            **own
        }
    }
}

/// Refuses reactions to events that never happen, or from copies that do not exist.
fn impossible(
    file: &ScenarioFile,
    table: &ParallelTable,
    setup: &Setup,
    reacting: &ReactionTerms,
    complaints: &mut Complaints<'_>,
) {
    let Some(place) = &table.reaction.policy else {
        return;
    };
    let name = reacting.reaction.name();
    let asked = |axis: &Option<Spanned<crate::axis::Axis>>| {
        axis.as_ref()
            .and_then(|axis| axis.get_ref().values())
            .unwrap_or_default()
            .to_vec()
    };
    if setup.spot.is_none() && file.failures.is_none() && file.spot.is_none() {
        let title = format!("`parallel.reaction.policy = \"{name}\"`, and nothing is ever lost");
        let complaint = complaints.mistake_at(place.span(), title, "nothing to react to");
        complaints.push(complaint.with_help("say in `[spot]` or `[failures]` what is"));
    }
    let checkpoint = match (&file.spot, &file.failures) {
        (Some(spot), _) => spot::checkpoints(spot.get_ref().checkpoint),
        (None, Some(failures)) => spot::checkpoints(failures.get_ref().checkpoint),
        (None, None) => Checkpoints::Dynamic,
    };
    let is_unkept =
        checkpoint == Checkpoints::By(Policy::None) && reacting.saves != StateSaving::InMemory;
    if reacting.reaction.goes_on() && asked(&table.data) == [1] && is_unkept {
        let title = format!("`{name}` goes on from state that nobody keeps");
        let complaint =
            complaints.mistake_at(place.span(), title, "one replica, and no checkpoint");
        complaints
            .push(complaint.with_help(
                "give `data` more replicas, a `checkpoint`, or `saves = \"in-memory\"`",
            ));
    }
    if reacting.reaction == Reaction::Redundant && asked(&table.pipeline) == [1] {
        let title = format!("`{name}` needs a stage beside each, and `parallel.pipeline` is 1");
        complaints.error_at(place.span(), title, "nobody is beside a single stage");
    }
    let is_mixed = !table.mixes.is_empty() || !table.replicas.is_empty();
    if reacting.reaction == Reaction::RePlan && is_mixed {
        let title = format!("`{name}` and mixes of VM types exclude each other");
        complaints.error_at(
            place.span(),
            title,
            "plans are changed on VMs that are alike",
        );
    }
    let is_capacity = table
        .capacity
        .as_ref()
        .is_some_and(|given| *given.get_ref());
    if let (Some(forecast), false) = (&table.reaction.forecast, is_capacity)
        && reacting.forecast != Forecast::None
    {
        let title = "`parallel.reaction.forecast` needs a trace of how many GPUs there are";
        let complaint = complaints.mistake_at(forecast.span(), title, "nothing to foretell");
        complaints.push(complaint.with_help("say `parallel.capacity = true`"));
    }
}
