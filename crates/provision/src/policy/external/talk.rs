//! What scavsim and a policy that is a program say to each other, a line of JSON each time; `docs/own-policy.md` has it.

use std::fmt;

use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use crate::policy_run::events::Event;
use crate::policy_run::policy_view::PolicyView;
use crate::policy_run::{Market, Place};
use scavsim_read::input::did_you_mean;
use scavsim_talk::conversation::ConversationError;
use scavsim_talk::lines::{NotUnderstood, given, read};
use scavsim_talk::numbered_conversation::UnexpectedReply;

/// Why a life under a program has failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Breach {
    #[error("{0}")]
    Silence(#[from] ConversationError),
    #[error(transparent)]
    NotUnderstood(#[from] NotUnderstood),
    #[error(transparent)]
    Unasked(#[from] UnexpectedReply),
    #[error("the program goes on with a life that is over")]
    GoesOn,
    #[error("the program is ready in the middle of a life")]
    ReadyTooSoon,
    #[error("the program asked more than {0} times within a tick (`max_asks`)")]
    TooManyAsks(u32),
    #[error("{0}")]
    Fails(String),
    #[error("interrupted")]
    Interrupted,
}

/// What the program says.
#[derive(Debug)]
pub(super) enum Answer {
    /// Leave all as it is.
    Stay,
    /// Give all machines back.
    Wait,
    /// Spot machines of the first of these zones that has some, in a form where one is named.
    Spot(Vec<usize>, Option<usize>),
    /// On demand in a zone, in a form where one is named.
    OnDemand(usize, Option<usize>),
    /// Look whether a zone has spot machines.
    Probe(usize),
    /// Give all machines back for good.
    GiveUp,
    /// The policy has failed.
    Fail(String),
    /// The end of a life was heard.
    Ready,
}

/// When the program wants to be asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum NextDecision {
    /// With the next tick.
    #[default]
    Tick,
    /// When something has happened.
    Event,
    /// After so many ticks, or when something has happened.
    Ticks(usize),
}

/// An answer as it is written: one of these, when to ask again, and the number of the line that it answers.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PolicyReply {
    #[serde(deserialize_with = "given")]
    number: Option<u64>,
    until: NextDecision,
    #[serde(deserialize_with = "given")]
    stay: Option<bool>,
    #[serde(deserialize_with = "given")]
    wait: Option<bool>,
    #[serde(deserialize_with = "given")]
    spot: Option<ZoneNames>,
    #[serde(deserialize_with = "given")]
    on_demand: Option<String>,
    /// Name of a form.
    #[serde(rename = "as", deserialize_with = "given")]
    form: Option<String>,
    #[serde(deserialize_with = "given")]
    probe: Option<String>,
    #[serde(deserialize_with = "given")]
    give_up: Option<bool>,
    #[serde(deserialize_with = "given")]
    fail: Option<String>,
    #[serde(deserialize_with = "given")]
    ready: Option<bool>,
}

/// A zone, or several in the order in which they are asked.
#[derive(Debug)]
struct ZoneNames(Vec<String>);

impl<'de> Deserialize<'de> for ZoneNames {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<ZoneNames, D::Error> {
        struct ZoneOrZones;
        impl<'de> Visitor<'de> for ZoneOrZones {
            type Value = ZoneNames;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a zone, or a list of some")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<ZoneNames, E> {
                Ok(ZoneNames(vec![name.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ZoneNames, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = list.next_element()? {
                    names.push(name);
                }
                if names.is_empty() {
                    return Err(A::Error::invalid_length(0, &self));
                }
                Ok(ZoneNames(names))
            }
        }
        from.deserialize_any(ZoneOrZones)
    }
}

impl<'de> Deserialize<'de> for NextDecision {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<NextDecision, D::Error> {
        struct EventOrTicks;
        impl Visitor<'_> for EventOrTicks {
            type Value = NextDecision;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"event\" or a number of ticks from 1")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<NextDecision, E> {
                match word {
                    "event" => Ok(NextDecision::Event),
                    _ => Err(E::invalid_value(Unexpected::Str(word), &self)),
                }
            }

            fn visit_u64<E: Error>(self, ticks: u64) -> Result<NextDecision, E> {
                match usize::try_from(ticks) {
                    Ok(ticks @ 1..) => Ok(NextDecision::Ticks(ticks)),
                    _ => Err(E::invalid_value(Unexpected::Unsigned(ticks), &self)),
                }
            }
        }
        from.deserialize_any(EventOrTicks)
    }
}

/// An answer, understood, with the number of the line that it says it answers. Zones are those of the view.
pub(super) fn understood(
    line: &str,
    view: &PolicyView<'_, '_>,
) -> Result<(Option<u64>, (Answer, NextDecision)), Breach> {
    let said: PolicyReply = read(line)?;
    let zone = |name: &String| zone_called(name, line, view);
    let form = said.form.as_ref().map(|name| form_called(name, line, view));
    let form = form.transpose()?;
    if let (Some(form), Some(name)) = (form, &said.on_demand)
        && !view.is_served(zone(name)?, form)
    {
        let why = format!(
            "`{name}` has no machines of the form `{}`",
            view.form_name(form)
        );
        return Err(NotUnderstood::new(line, &why).into());
    }
    let zones = |names: &ZoneNames| names.0.iter().map(zone).collect::<Result<Vec<_>, _>>();
    let yes = |said: Option<bool>| said.filter(|said| *said);
    let all = [
        yes(said.stay).map(|_| Answer::Stay),
        yes(said.wait).map(|_| Answer::Wait),
        (said.spot.as_ref().map(zones).transpose()?).map(|zones| Answer::Spot(zones, form)),
        (said.on_demand.as_ref().map(zone).transpose()?).map(|zone| Answer::OnDemand(zone, form)),
        (said.probe.as_ref().map(zone).transpose()?).map(Answer::Probe),
        yes(said.give_up).map(|_| Answer::GiveUp),
        said.fail.map(Answer::Fail),
        yes(said.ready).map(|_| Answer::Ready),
    ];
    let mut all = all.into_iter().flatten();
    match (all.next(), all.next()) {
        (Some(one), None) => Ok((said.number, (one, said.until))),
        _ => {
            let why =
                "expected one of `stay`, `wait`, `spot`, `on_demand`, `probe`, `give_up`, `fail`";
            Err(NotUnderstood::new(line, why).into())
        }
    }
}

/// What is to be said when a life is over.
pub(super) fn ready((answer, _): (Answer, NextDecision)) -> Result<(), Breach> {
    match answer {
        Answer::Ready => Ok(()),
        _ => Err(Breach::GoesOn),
    }
}

fn form_called(name: &str, line: &str, view: &PolicyView<'_, '_>) -> Result<usize, NotUnderstood> {
    let names = || (0..view.forms()).map(|form| view.form_name(form));
    called(name, line, "form", names)
}

fn zone_called(name: &str, line: &str, view: &PolicyView<'_, '_>) -> Result<usize, NotUnderstood> {
    let names = || (0..view.zones()).map(|zone| view.zone_name(zone));
    called(name, line, "zone", names)
}

/// Whether a job has forms that its scenario names.
fn has_forms(view: &PolicyView<'_, '_>) -> bool {
    (0..view.forms()).any(|form| !view.form_name(form).is_empty())
}

/// The place of a name among those that are there.
fn called<'n, I: Iterator<Item = &'n str>>(
    name: &str,
    line: &str,
    what: &str,
    names: impl Fn() -> I,
) -> Result<usize, NotUnderstood> {
    let at = names().position(|known| known == name);
    at.ok_or_else(|| {
        let help = did_you_mean(
            name,
            names(),
            format!("there are {}", names().collect::<Vec<_>>().join(", ")),
        );
        NotUnderstood::new(line, &format!("no {what} is called `{name}`; {help}"))
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

/// What a life begins with, as an object of JSON.
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

/// What came of the answer before, within the same tick.
#[derive(Debug)]
pub(super) enum Reply {
    /// None of these zones has spot machines.
    Refused(Vec<usize>),
    /// Whether a probed zone has spot machines.
    Offered(usize, bool),
}

/// A view as a program is shown it, with the events since it was last asked and what came of its answer before.
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
