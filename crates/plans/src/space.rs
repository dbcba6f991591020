//! The space of plans: an axis for everything they differ in, VM type and batch first, optional ones where they have two
//! values.

use std::sync::Arc;

use crate::Draft;
use crate::feasible_plan::{FeasiblePlan, Parts};
use scavsim_data::space::{Axis, BATCH, Space, VM};
use scavsim_parallel::ReplicaSharing;

pub const MARKET: &str = "market";

struct PlanAxis<'a> {
    axis: Axis,
    place: Box<dyn Fn(&Draft) -> f64 + 'a>,
}

fn word_axis<'a>(
    name: &str,
    all: impl IntoIterator<Item = Arc<str>>,
    word: impl Fn(&Draft) -> Arc<str> + 'a,
) -> PlanAxis<'a> {
    let mut known: Vec<Arc<str>> = Vec::new();
    for word in all {
        if !known.contains(&word) {
            known.push(word);
        }
    }
    PlanAxis {
        axis: Axis::categorical(name, known.clone()),
        place: Box::new(move |draft| {
            let own = word(draft);
            known.iter().position(|word| *word == own).unwrap_or(0) as f64
        }),
    }
}

fn number<'a>(name: &str, unit: &str, of: impl Fn(&Draft) -> u32 + 'a) -> PlanAxis<'a> {
    PlanAxis {
        axis: Axis::numeric(name, unit),
        place: Box::new(move |draft| f64::from(of(draft))),
    }
}

/// All axes of plans, in the order in which configurations name them.
fn axes(parts: &Parts) -> Vec<PlanAxis<'_>> {
    let axes = &parts.axes;
    let offer = |draft: &Draft| &axes.offers[draft.offer as usize];
    let form = |draft: &Draft| parts.forms[usize::from(draft.form)].form;
    let names = axes.offers.iter().map(|offer| Arc::clone(&offer.name));
    let mut all = vec![
        word_axis(VM, names, move |draft| Arc::clone(&offer(draft).name)),
        number(BATCH, "sequences", |draft| draft.batch),
    ];
    if axes
        .offers
        .iter()
        .any(|o| o.on_spot != axes.offers[0].on_spot)
    {
        let of = |on_spot| Arc::from(if on_spot { "spot" } else { "on-demand" });
        let market = move |draft: &Draft| of(offer(draft).on_spot == Some(true));
        all.push(word_axis(MARKET, [of(false), of(true)], market));
    }
    if !parts.zones.is_empty() {
        let zone = move |draft: &Draft| Arc::clone(&parts.zones[usize::from(offer(draft).zone)]);
        all.push(word_axis("zone", parts.zones.iter().cloned(), zone));
    }
    let schedules = axes.schedules.iter().map(|schedule| schedule.name().into());
    let forms = || parts.forms.iter().map(|formed| formed.form);
    let whether = |is_so: bool| Arc::from(if is_so { "yes" } else { "no" });
    let chosen = [
        word_axis("schedule", schedules, |draft| draft.schedule.name().into()),
        word_axis(
            "recompute",
            forms().map(|form| form.recompute.name().into()),
            move |draft| form(draft).recompute.name().into(),
        ),
        word_axis(
            "shard",
            forms().map(|form| form.shard.name().into()),
            move |draft| form(draft).shard.name().into(),
        ),
        word_axis(
            "sequence_parallel",
            forms().map(|form| whether(form.sequence_parallel)),
            move |draft| whether(form(draft).sequence_parallel),
        ),
        word_axis(
            "offload",
            forms().map(|form| whether(form.offload)),
            move |draft| whether(form(draft).offload),
        ),
    ];
    // A choice of one is none.
    all.extend((chosen.into_iter()).filter(|along| along.axis.levels().len() > 1));
    if axes.virtual_stages.iter().any(|own| *own > 1) {
        all.push(number("virtual_stages", "1", |draft| draft.virtual_stages));
    }
    if forms().any(|form| form.compress > 1) {
        all.push(number("compress", "1", move |draft| form(draft).compress));
    }
    let shared = |of: fn(&ReplicaSharing) -> u32| forms().any(|form| of(&form.sharing) > 1);
    if shared(|sharing| sharing.context) {
        all.push(number("context", "replicas", |draft| draft.sharing.context));
    }
    if shared(|sharing| sharing.expert) {
        all.push(number("expert", "replicas", |draft| draft.sharing.expert));
    }
    all.extend([
        number("data", "replicas", |draft| draft.data),
        number("pipeline", "stages", |draft| draft.pipeline),
        number("tensor", "GPUs", |draft| draft.tensor),
        number("micro_batch", "sequences", |draft| draft.micro_batch),
    ]);
    all
}

pub(crate) fn space_of_plans(parts: &Parts, ways: &[FeasiblePlan]) -> Option<Space> {
    let (axes, places): (Vec<_>, Vec<_>) = (axes(parts).into_iter())
        .map(|along| (along.axis, along.place))
        .unzip();
    let row =
        |way: &FeasiblePlan| -> Vec<f64> { places.iter().map(|place| place(&way.draft)).collect() };
    Space::new(axes, ways.iter().map(row)).ok()
}
