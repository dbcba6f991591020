//! Forms of plans: schedules, virtual stages, recomputation, sharding.

use super::layers::PlanSubject;
use crate::complaints::Complaints;
use crate::forms::OneOrMore;
use crate::parallel_table::ParallelTable;
use scavsim_parallel::runtime::{Recompute, RuntimePreset, Shard};
use scavsim_parallel::{Activations, ReplicaSharing, Schedule};
use scavsim_plans::Form;
use scavsim_read::input::{Spanned, listed};

const USUAL_VIRTUAL_STAGES: u32 = 2;

/// Values that `key` names, each once; `None` if it is absent.
fn named<T: Copy + PartialEq>(
    (key, asked): (&str, &Option<Spanned<OneOrMore<String>>>),
    all: &[T],
    name: impl Fn(T) -> &'static str,
    complaints: &mut Complaints<'_>,
) -> Option<Vec<T>> {
    let place = asked.as_ref()?;
    let mut chosen = Vec::new();
    for word in place.get_ref().all() {
        match all.iter().find(|value| name(**value) == word) {
            Some(value) if !chosen.contains(value) => chosen.push(*value),
            Some(_) => twice(key, word, place, complaints),
            None => {
                let title = format!("unknown {key} `{word}`");
                let help = format!("allowed here: {}", listed(all.iter().map(|v| name(*v))));
                complaints.refuse(place.span(), title, "not known", help);
            }
        }
    }
    not_empty(key, place, complaints);
    Some(chosen)
}

fn twice(key: &str, word: &str, place: &Spanned<impl Sized>, complaints: &mut Complaints<'_>) {
    let title = format!("`parallel.{key}` holds `{word}` twice");
    complaints.error_at(place.span(), title, "remove one of the two");
}

fn not_empty<T>(key: &str, place: &Spanned<OneOrMore<T>>, complaints: &mut Complaints<'_>) {
    if place.get_ref().all().is_empty() {
        let title = format!("`parallel.{key}` is an empty list");
        complaints.error_at(place.span(), title, "expected at least one entry");
    }
}

/// Schedules, with the virtual stages of those that have any.
pub(super) fn schedules(
    table: &ParallelTable,
    runtime: Option<&RuntimePreset>,
    complaints: &mut Complaints<'_>,
) -> (Vec<Schedule>, Vec<u32>) {
    let asked = ("schedule", &table.schedule);
    let chosen = named(asked, &Schedule::ALL, Schedule::name, complaints)
        .unwrap_or_else(|| vec![Schedule::OneForwardOneBackward]);
    if let (Some(place), Some(runtime)) = (&table.schedule, runtime)
        && runtime.settings.activations != Activations::Overlapped
    {
        for schedule in chosen.iter().filter(|schedule| schedule.needs_overlap()) {
            let title = format!(
                "`parallel.schedule`: under `{}` both ends of a message wait, and `{}` needs them to compute on",
                runtime.name,
                schedule.name()
            );
            complaints.refuse(place.span(), title, "not with this runtime", "name a runtime whose `activations` are \"overlapped\": runtime = \"megatron-lm\", or runtime = { base = …, activations = \"overlapped\" }");
        }
    }
    let virtual_stages = complaints.numbers("parallel.virtual_stages", &table.virtual_stages);
    let has_any = chosen.iter().any(|schedule| schedule.has_virtual_stages());
    if let (Some(place), false) = (&table.virtual_stages, has_any) {
        let title = "`parallel.virtual_stages` needs a schedule that has any";
        let all = Schedule::ALL.iter().filter(|s| s.has_virtual_stages());
        let help = format!("add to `schedule`: {}", listed(all.map(|s| s.name())));
        complaints.refuse(place.span(), title, "no schedule interleaves", help);
    }
    let usual = if has_any { USUAL_VIRTUAL_STAGES } else { 1 };
    (chosen, virtual_stages.unwrap_or_else(|| vec![usual]))
}

/// Every combination of the named forms, by default the runtime's form.
pub(super) fn read(
    table: &ParallelTable,
    subject: &PlanSubject,
    runtime: &RuntimePreset,
    complaints: &mut Complaints<'_>,
) -> Vec<Form> {
    let usual = Form::from_runtime(&runtime.settings);
    let asked = ("recompute", &table.recompute);
    let recompute = named(asked, &Recompute::ALL, Recompute::name, complaints);
    let shard = named(
        ("shard", &table.shard),
        &Shard::ALL,
        Shard::name,
        complaints,
    );
    let sequence_parallel = whether("sequence_parallel", &table.sequence_parallel, complaints);
    let offload = whether("offload", &table.offload, complaints);
    let compress = complaints.numbers("parallel.compress", &table.compress);
    let context = complaints.numbers("parallel.context", &table.context);
    let expert = complaints.numbers("parallel.expert", &table.expert);
    let offloads = offload.iter().flatten().any(|own| *own);
    let codes = compress.iter().flatten().any(|own| *own > 1);
    let settings = &runtime.settings;
    if offloads && settings.offload_bytes_per_s <= 0.0 {
        let what = "how fast a GPU reaches its host's memory";
        let place = table.offload.as_ref().map(Spanned::span);
        lacks_rate("offload", place, what, "offload_gb_per_s = 20", complaints);
    }
    if codes && settings.coding_bytes_per_s <= 0.0 {
        let what = "how fast a GPU encodes messages";
        let place = table.compress.as_ref().map(Spanned::span);
        lacks_rate("compress", place, what, "coding_gb_per_s = 100", complaints);
    }
    lacking(table, shard.as_deref(), runtime, complaints);
    unknown_of_profiles(table, subject, recompute.as_deref(), complaints);
    if let (PlanSubject::Model(own), Some(place), Some(asked)) = (subject, &table.expert, &expert) {
        let there_are = own.model.experts.map_or(1, |experts| experts.count);
        for more in asked.iter().filter(|of| !there_are.is_multiple_of(**of)) {
            let title = format!(
                "`parallel.expert`: {more} replicas cannot share the experts of `{}`",
                own.model.name
            );
            let label = match there_are {
                1 => "it has none".to_owned(),
                count => format!("{count} experts do not divide"),
            };
            complaints.error_at(place.span(), title, label);
        }
    }
    let or = |asked: Option<Vec<u32>>| asked.unwrap_or_else(|| vec![1]);
    let sharing: Vec<ReplicaSharing> = (or(context).into_iter())
        .flat_map(|context| {
            or(expert.clone())
                .into_iter()
                .map(move |expert| ReplicaSharing { context, expert })
        })
        .collect();
    let mut forms = vec![usual];
    every(&mut forms, recompute, |form, recompute| {
        form.recompute = recompute
    });
    every(&mut forms, shard, |form, shard| form.shard = shard);
    every(&mut forms, sequence_parallel, |form, own| {
        form.sequence_parallel = own
    });
    every(&mut forms, offload, |form, offload| form.offload = offload);
    every(&mut forms, compress, |form, own| form.compress = own);
    every(&mut forms, Some(sharing), |form, sharing| {
        form.sharing = sharing
    });
    forms
}

fn every<T: Copy>(forms: &mut Vec<Form>, values: Option<Vec<T>>, set: impl Fn(&mut Form, T)) {
    let Some(values) = values else { return };
    let with = |form: &Form| -> Vec<Form> {
        let each = values.iter().map(|value| {
            let mut own = *form;
            set(&mut own, *value);
            own
        });
        each.collect()
    };
    *forms = forms.iter().flat_map(with).collect();
}

/// One or both values; `None` if the scenario does not say.
fn whether(
    key: &str,
    asked: &Option<Spanned<OneOrMore<bool>>>,
    complaints: &mut Complaints<'_>,
) -> Option<Vec<bool>> {
    let place = asked.as_ref()?;
    let all = place.get_ref().all();
    not_empty(key, place, complaints);
    let mut before = all.iter().enumerate();
    if let Some((_, word)) = before.find(|(n, own)| all[..*n].contains(own)) {
        twice(key, &word.to_string(), place, complaints);
    }
    Some(all.to_vec())
}

fn lacks_rate(
    key: &str,
    place: Option<std::ops::Range<usize>>,
    what: &str,
    example: &str,
    complaints: &mut Complaints<'_>,
) {
    let Some(place) = place else { return };
    let title = format!("`parallel.{key}`: nothing says {what}");
    let complaint = complaints.mistake_at(place, title, "how fast?");
    let help = format!("say it of the runtime: runtime = {{ base = …, {example} }}");
    complaints.push(complaint.with_help(help));
}

/// Sharding that the runtime lacks.
fn lacking(
    table: &ParallelTable,
    shard: Option<&[Shard]>,
    runtime: &RuntimePreset,
    complaints: &mut Complaints<'_>,
) {
    if let (Some(place), Some(chosen)) = (&table.shard, shard) {
        for lacking in chosen.iter().filter(|one| !runtime.shards.contains(one)) {
            let title = format!(
                "the runtime `{}` does not shard `{}`",
                runtime.name,
                lacking.name()
            );
            let can = listed(runtime.shards.iter().map(|one| one.name()));
            let help = format!("it can do: {can}");
            complaints.refuse(place.span(), title, "it lacks this", help);
        }
    }
}

/// Forms that profiles do not cover.
fn unknown_of_profiles(
    table: &ParallelTable,
    subject: &PlanSubject,
    recompute: Option<&[Recompute]>,
    complaints: &mut Complaints<'_>,
) {
    if let PlanSubject::Profile(profile) = subject {
        let selects = recompute.is_some_and(|all| all.contains(&Recompute::Selective));
        if let (Some(place), true) = (&table.recompute, selects) {
            let title = format!(
                "the profile `{}` does not separate scores of attention from the rest of a layer",
                profile.name
            );
            let complaint =
                complaints.mistake_at(place.span(), title, "cannot be computed again alone");
            complaints.push(complaint.with_help(
                "name `none` or `full`; a `model` in place of the profile knows `selective`",
            ));
        }
        let places = [
            (
                "sequence_parallel",
                table.sequence_parallel.as_ref().map(Spanned::span),
            ),
            ("context", table.context.as_ref().map(Spanned::span)),
            ("expert", table.expert.as_ref().map(Spanned::span)),
            ("compress", table.compress.as_ref().map(Spanned::span)),
        ];
        for (key, place) in places {
            if let Some(place) = place {
                let title = format!("`parallel.{key}` needs `model`");
                complaints.error_at(place, title, "a profile was measured with or without");
            }
        }
    }
}
