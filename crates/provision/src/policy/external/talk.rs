//! The protocol between scavsim and a policy that is a program, in lines of JSON; see `docs/own-policy.md`.

use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error, SeqAccess, Unexpected};
use serde_json::{Map, Value, json};

use crate::policy_run::events::Event;
use crate::policy_run::policy_view::PolicyView;
use crate::policy_run::{Market, Place};
use scavsim_read::deserialize_forms;
use scavsim_read::input::did_you_mean;
use scavsim_talk::lines::{Given, NotUnderstood};
use scavsim_talk::numbered_conversation::Said;
use scavsim_talk::program::MessageTerms;

pub(super) const TERMS: MessageTerms = MessageTerms {
    task: "life",
    done: "decided",
    answers: "`stay`, `wait`, `spot`, `on_demand`, `probe`, `give_up`, `fail`",
};

#[derive(Debug)]
pub(super) enum Answer {
    Stay,
    /// Give all machines back.
    Wait,
    /// Spot machines in the first of these zones that has some, with an optional form.
    Spot(Vec<usize>, Option<usize>),
    /// On demand in a zone, with an optional form.
    OnDemand(usize, Option<usize>),
    /// Look whether a zone has spot machines.
    Probe(usize),
    /// Give all machines back for good.
    GiveUp,
}

/// Ticks until the program is asked again: 1 by default, unlimited where it waits for an event.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NextDecision(pub(super) usize);

/// An answer as written, with when to ask again, and the number of its line.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PolicyReply {
    number: Given<u64>,
    until: NextDecision,
    stay: Given<bool>,
    wait: Given<bool>,
    spot: Given<ZoneNames>,
    on_demand: Given<String>,
    #[serde(rename = "as")]
    form: Given<String>,
    probe: Given<String>,
    give_up: Given<bool>,
    fail: Given<String>,
    ready: Given<bool>,
}

/// A zone, or several in the order in which they are asked.
#[derive(Debug)]
struct ZoneNames(Vec<String>);

deserialize_forms! {
    ZoneNames, "the name of a zone, or a list of some";

    fn visit_str<E: Error>(self, name: &str) -> Result<ZoneNames, E> {
        Ok(ZoneNames(vec![name.to_owned()]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<ZoneNames, A::Error> {
        match Vec::deserialize(SeqAccessDeserializer::new(list))? {
            none if none.is_empty() => Err(A::Error::invalid_length(0, &self)),
            names => Ok(ZoneNames(names)),
        }
    }
}

deserialize_forms! {
    NextDecision, "\"event\" or a number of ticks from 1";

    fn visit_str<E: Error>(self, word: &str) -> Result<NextDecision, E> {
        match word {
            "event" => Ok(NextDecision(usize::MAX)),
            _ => Err(E::invalid_value(Unexpected::Str(word), &self)),
        }
    }

    fn visit_u64<E: Error>(self, ticks: u64) -> Result<NextDecision, E> {
        match usize::try_from(ticks) {
            Ok(ticks @ 1..) => Ok(NextDecision(ticks)),
            _ => Err(E::invalid_value(Unexpected::Unsigned(ticks), &self)),
        }
    }
}

pub(super) fn understood(
    said: PolicyReply,
    view: &PolicyView<'_, '_>,
) -> Result<Said<(Answer, NextDecision)>, NotUnderstood> {
    let zone = |name: &String| {
        called(name, "zone", || {
            (0..view.zones()).map(|zone| view.zone_name(zone))
        })
    };
    let form = |name: &String| {
        called(name, "form", || {
            (0..view.forms()).map(|form| view.form_name(form))
        })
    };
    let form = said.form.0.as_ref().map(form).transpose()?;
    if let (Some(form), Some(name)) = (form, &said.on_demand.0)
        && !view.is_served(zone(name)?, form)
    {
        let form = view.form_name(form);
        let why = format!("`{name}` has no machines of the form `{form}`");
        return Err(NotUnderstood(why));
    }
    let zones = |names: &ZoneNames| names.0.iter().map(zone).collect::<Result<Vec<_>, _>>();
    let (spot, on_demand) = (&said.spot.0, &said.on_demand.0);
    let yes = |said: &Given<bool>| said.0.filter(|said| *said);
    let answers = [
        yes(&said.stay).map(|_| Answer::Stay),
        yes(&said.wait).map(|_| Answer::Wait),
        (spot.as_ref().map(zones).transpose()?).map(|zones| Answer::Spot(zones, form)),
        (on_demand.as_ref().map(zone).transpose()?).map(|zone| Answer::OnDemand(zone, form)),
        (said.probe.0.as_ref().map(zone).transpose()?).map(Answer::Probe),
        yes(&said.give_up).map(|_| Answer::GiveUp),
    ];
    let answers = answers.into_iter().flatten();
    Ok(Said {
        number: said.number.0,
        answers: answers.map(|answer| (answer, said.until)).collect(),
        fail: said.fail.0,
        is_ready: said.ready.0 == Some(true),
    })
}

fn has_forms(view: &PolicyView<'_, '_>) -> bool {
    (0..view.forms()).any(|form| !view.form_name(form).is_empty())
}

fn called<'n, I: Iterator<Item = &'n str>>(
    name: &str,
    what: &str,
    names: impl Fn() -> I,
) -> Result<usize, NotUnderstood> {
    let at = names().position(|known| known == name);
    at.ok_or_else(|| {
        let all = names().collect::<Vec<_>>().join(", ");
        let help = did_you_mean(name, names(), format!("there are {all}"));
        NotUnderstood(format!("no {what} is called `{name}`; {help}"))
    })
}

/// An object by the names of some zones or forms.
fn by_name<'n, V: Into<Value>>(
    all: impl Iterator<Item = usize>,
    name: impl Fn(usize) -> &'n str,
    value: impl Fn(usize) -> V,
) -> Value {
    let named = all.map(|at| (name(at).to_owned(), value(at).into()));
    Value::Object(named.collect())
}

/// The begin of a life, as an object of JSON.
pub(super) fn life(view: &PolicyView<'_, '_>, seed: usize, settings: &Map<String, Value>) -> Value {
    let zone = |zone: usize| view.zone_name(zone);
    let form = |form: usize| view.form_name(form);
    // A job without forms has one that has no name.
    let forms = || 0..(if has_forms(view) { view.forms() } else { 0 });
    let zones = (0..view.zones()).map(|at| {
        let served = forms().filter(|&form| view.is_served(at, form));
        let prices = by_name(served, form, |form| view.on_demand_usd_per_h_as(at, form));
        json!({
            "name": zone(at),
            "region": view.region(at),
            "on_demand_usd_per_h": view.on_demand_usd_per_h(at),
            "on_demand_usd_per_h_as": prices,
        })
    });
    let egress_from = |from| {
        by_name(0..view.zones(), zone, |to| {
            view.egress_between_usd(from, to)
        })
    };
    json!({
        "protocol": 1,
        "tick_s": view.tick_s(),
        "work_s": view.work_s(),
        "deadline_s": view.deadline_s(),
        "changeover_s": view.changeover_s(),
        "reconfigure_s": view.reconfigure_s(),
        "checkpoint_every_s": view.checkpoint_every_s(),
        "lateness_usd_per_h": view.lateness_usd_per_h(),
        "probe_s": view.probe_s(),
        "zones": zones.collect::<Vec<_>>(),
        "forms": by_name(forms(), form, |form| view.form_machines(form)),
        "egress_usd": by_name(0..view.zones(), zone, egress_from),
        "seed": seed,
        "settings": settings,
    })
}

/// Result of the answer before, within the same tick.
#[derive(Debug)]
pub(super) enum Reply {
    /// None of these zones has spot machines.
    Refused(Vec<usize>),
    /// Whether a probed zone has spot machines.
    Offered(usize, bool),
}

/// A view for the program, with events since its last answer and that answer's result.
pub(super) fn shown(view: &PolicyView<'_, '_>, events: &[Event], reply: Option<&Reply>) -> Value {
    let name = |zone: usize| view.zone_name(zone);
    let form = |form: usize| view.form_name(form);
    let running = view.running().map(|Place { zone, market }| {
        let market = match market {
            Market::Spot => "spot",
            Market::OnDemand => "on_demand",
        };
        json!({ "zone": name(zone), "market": market })
    });
    let event = |event: &Event| match *event {
        Event::Lost(zone) => json!({ "lost": name(zone) }),
        Event::Works(zone) => json!({ "works": name(zone) }),
        Event::Checkpoint(saved_s) => json!({ "checkpoint": saved_s }),
        Event::Price(zone) => json!({ "price": name(zone) }),
        Event::DeadlineNear => json!({ "deadline_near": true }),
    };
    let mut shown = json!({
        "tick": view.tick(),
        "elapsed_s": view.elapsed_s(),
        "ticks_left": view.ticks_left(),
        "done_s": view.done_s(),
        "left_s": view.left_s(),
        "saved_s": view.saved_s(),
        "slack_s": view.slack_s(),
        "spent_usd": view.spent_usd(),
        "running": running,
        "start_up_left_s": view.start_up_left_s(),
        "checkpoint": view.checkpoint().map(name),
        "lost": view.lost().map(name),
        "spot_usd_per_h": by_name(0..view.zones(), name, |zone| view.spot_usd_per_h(zone)),
        "events": events.iter().map(event).collect::<Vec<_>>(),
    });
    if has_forms(view) {
        let prices_as = |form| {
            let zones = (0..view.zones()).filter(|&zone| view.is_served(zone, form));
            by_name(zones, name, |zone| view.spot_usd_per_h_as(zone, form))
        };
        shown["form"] = view.running_form().map(form).into();
        shown["speed"] = by_name(0..view.forms(), form, |form| view.speed(form));
        shown["spot_usd_per_h_as"] = by_name(0..view.forms(), form, prices_as);
    }
    match reply {
        None => {}
        Some(Reply::Refused(zones)) => {
            shown["refused"] = zones.iter().map(|&zone| name(zone)).collect();
        }
        Some(Reply::Offered(zone, is_offered)) => {
            shown["probed"] = json!({ "zone": name(*zone), "offered": is_offered });
        }
    }
    shown
}
