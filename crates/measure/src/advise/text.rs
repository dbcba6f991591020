//! A recommendation as text: the evidence, the choice, and what to measure next.

use super::advice::{Advice, Choice, MeasuredCounterpart, NextMeasurement};
use super::candidates::FURTHER;
use super::decision::SURELY;
use super::machines::Basis;
use super::measurement_summary::NoGain;
use super::words::{self, bullet, capital, indented, with_interval};
use scavsim_base::text::words::{
    figure, is_in_minutes, plural, rate, share, short_figure, short_time, signed_percent, small_usd,
};
use scavsim_base::text::{Column, EXPLAIN, Sheet};
use scavsim_data::workload::Provenance;
use scavsim_import::profile::ASSUMED_NOISE_SCALE;
use scavsim_search::search::Objective;

/// Titles of the sections with the evidence.
pub const EVIDENCE: &str = "Based on your measurements";
pub const CAVEATS: &str = "Caveats";

/// Number of choices that are shown in addition to the best.
const OTHERS: usize = 5;

pub fn render(advice: &Advice) -> String {
    let mut text = String::new();
    let head = format!("{}, by {}", advice.name, advice.goal.objective.name());
    text += &format!("{head}{}\n\n", limits(advice));
    text += &section(EVIDENCE, &evidence_clauses(advice));
    text += &section(CAVEATS, &caveats(advice));
    if !advice.choices.is_empty() {
        text += &format!("Next best (workers × global batch)\n{}\n", others(advice));
    }
    text += &format!("Measure next\n{}\n", next(advice));
    text + &answer(advice)
}

/// The recommendation, on the last screen.
fn answer(advice: &Advice) -> String {
    let Some(best) = advice.choices.first().or(advice.nearest.as_ref()) else {
        return "No recommendation: no configuration can be predicted.\n".to_owned();
    };
    let mut text = if advice.choices.is_empty() {
        format!(
            "No configuration keeps to the limits. Closest\n{}",
            choice_text(best, advice)
        )
    } else {
        let stands = best.stands.as_ref().map(counterpart_sentence);
        let stands = stands.map_or_else(String::new, |text| indented(&text));
        let why = indented(&why(advice));
        let measured = best_measured(advice);
        format!("Take\n{}{stands}{why}{measured}", choice_text(best, advice))
    };
    if let Some(before) = &advice.by_shipped_prices {
        text += &indented(&price_change(best, before));
    }
    if advice.setup_min > 0.0 {
        let setup = format!(
            "Times include {} min of set-up (--setup-min); those of `rank` have none.",
            short_figure(advice.setup_min)
        );
        text += &indented(&setup);
    }
    text + EXPLAIN
}

/// The effect of a price pack.
fn price_change(now: &Choice, before: &Choice) -> String {
    let usd = small_usd(before.cost_usd[0]);
    let is_same =
        now.configuration == before.configuration && now.offer.place() == before.offer.place();
    if is_same {
        let change = signed_percent(now.cost_usd[0] / before.cost_usd[0] - 1.0);
        format!(
            "Without the price pack: the same, at {usd}; the pack changes the cost by {change}."
        )
    } else {
        format!(
            "Without the price pack: {}, {}{}, {usd}.",
            before.named(),
            before.offer.terms(),
            before.offer.in_brackets()
        )
    }
}

fn limits(advice: &Advice) -> String {
    let runs = 1.0 - advice.goal.limits.max_miss.unwrap_or(SURELY);
    words::limits(&advice.goal, runs).map_or_else(String::new, |limits| format!(", {limits}"))
}

fn section(title: &str, sentences: &[String]) -> String {
    let lines: String = sentences.iter().map(|s| bullet(s)).collect();
    format!("{title}\n{lines}\n")
}

/// The evidence of the measurements and prices, a clause each.
pub fn evidence_clauses(advice: &Advice) -> Vec<String> {
    let known = &advice.known;
    let mut all = Vec::new();
    let counts: Vec<String> = (known.told.iter())
        .map(|(by, count, within)| format!("{} ±{} ({count})", by.name(), share(*within)))
        .collect();
    let count: u64 = known.told.iter().map(|t| t.1 as u64).sum();
    all.push(if count == 0 {
        "no measured VM type is offered there".to_owned()
    } else {
        format!(
            "predicted: {}. 90 % intervals: {}",
            plural(count, "configuration"),
            counts.join(", ")
        )
    });
    let machines: Vec<String> = (known.machines.iter())
        .map(|m| {
            let with = match m.basis {
                Basis::SameGpu => "with the same GPU",
                Basis::OtherGpu => "with other GPUs",
                Basis::SameFamily => "of the same family",
            };
            format!(
                "{} {with} ±{} ({})",
                plural(m.types as u64, "VM type"),
                share(m.within),
                m.configurations
            )
        })
        .collect();
    if !machines.is_empty() {
        all.push(format!(
            "not measured, from the catalogue, 90 % intervals: {}",
            machines.join(", ")
        ));
    }
    all.extend(known.no_gain.iter().map(NoGain::sentence));
    let (steps, runs) = known.repeats.beyond_first;
    let source = |repeats: usize| match repeats {
        0 => "assumed: no repeats".to_owned(),
        n => format!("from {}", plural(n as u64, "repeat")),
    };
    all.push(format!(
        "repeats scatter by {} in steps ({}) and {} in epochs ({}); the job will, too",
        share(known.repeats.step_sd),
        source(steps),
        share(known.repeats.epochs_sd),
        source(runs),
    ));
    match (known.stated_epochs, &known.batches[..]) {
        (Some(epochs), _) => all.push(format!(
            "{} epochs with every batch, as stated: whether large batches need more was not measured",
            figure(epochs)
        )),
        (None, [one]) => all.push(format!(
            "epochs of batch {one} only; of others ASSUMED: proportional to 1 + batch / {}",
            ASSUMED_NOISE_SCALE * f64::from(*one)
        )),
        (None, batches) => all.push(format!(
            "epochs of {} batches from {} to {}{}",
            batches.len(),
            batches.first().copied().unwrap_or(0),
            batches.last().copied().unwrap_or(0),
            if known.epoch_law {", and a law beyond them"} else {"; no law beyond them"}
        )),
    }
    all.extend(prices(advice));
    all.extend(places(advice));
    all
}

/// The prices of measured and shown types, by region and day.
fn prices(advice: &Advice) -> Vec<String> {
    let known = &advice.known;
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    let shown = || advice.choices.iter().take(1 + OTHERS);
    for offer in &advice.offers.all {
        let is_measured = known.largest_local.contains_key(&offer.vm);
        if !is_measured && !shown().any(|choice| choice.offer.vm == offer.vm) {
            continue;
        }
        let day = offer
            .date
            .map_or_else(|| "as given".to_owned(), |day| format!("of {day}"));
        let day = if offer.is_old {
            format!("{day}, which is old")
        } else {
            day
        };
        let at = (offer.place()).map_or_else(String::new, |place| format!(" at {place}"));
        let lives = offer.lives_in_words();
        let group = format!("{}{at} {day}{lives}", offer.terms());
        let reserved = match offer.reserved {
            0 => String::new(),
            vms => format!(" (up to {vms} reserved: $0; more at that price)"),
        };
        let price = format!("{} {}{reserved}", offer.vm, rate(offer.usd_per_hour));
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, prices)) => prices.push(price),
            None => groups.push((group, vec![price])),
        }
    }
    let line = |(group, prices): (String, Vec<String>)| {
        format!("prices {group}, an hour: {}", prices.join(", "))
    };
    groups.into_iter().map(line).collect()
}

/// The regions of the prices, and other regions.
fn places(advice: &Advice) -> Option<String> {
    let all: Vec<String> = (advice.offers.places.iter())
        .map(|place| {
            let others: Vec<&str> = place.others.iter().map(String::as_str).collect();
            let others = match &others[..] {
                [] => String::new(),
                [one] => format!(" (or {one})"),
                [first, second, rest @ ..] if !rest.is_empty() => {
                    format!(" (or {first}, {second} and {} more)", rest.len())
                }
                both => format!(" (or {})", both.join(", ")),
            };
            format!("{} {}{others}", place.provider, place.region)
        })
        .collect();
    let ways = "--region and --provider choose";
    (!all.is_empty()).then(|| format!("where: {}; {ways}", all.join("; ")))
}

/// The caveats of the measurements, a clause each.
pub fn caveats(advice: &Advice) -> Vec<String> {
    let known = &advice.known;
    let mut all = Vec::new();
    let left = &advice.offers.left_out;
    if !left.is_empty() {
        all.push(format!("left out: {}", left.join("; ")));
    }
    if !known.without_law.is_empty() {
        all.push(format!(
            "no law of steps on {}: predictions there lie between measurements only",
            known.without_law.join(", ")
        ));
    }
    all.extend(known.poor_laws.iter().map(|(vm, error)| {
        format!(
            "the law of steps on {vm} is poor: {} off on rows that were left out of it",
            share(*error)
        )
    }));
    if !known.on_one_vm.is_empty() {
        all.push(format!(
            "several VMs of {}: measured on one VM only, so they are predicted from other jobs",
            known.on_one_vm.join(", ")
        ));
    }
    let extrapolated = known.told.iter().any(|t| t.0 == Provenance::Extrapolated);
    if extrapolated {
        all.push(
            "extrapolated configurations follow laws: measure them before you rely on them"
                .to_owned(),
        );
    }
    if known.batches.len() == 1 && known.stated_epochs.is_none() {
        all.push("how epochs change with the batch is assumed: only one was measured, and another is taken only if better with 70 % chance".to_owned());
    }
    let local: Vec<String> = (known.largest_local.iter())
        .map(|(vm, most)| format!("{} on {vm}", short_figure(*most)))
        .collect();
    all.push(format!(
        "not covered: more samples per worker than measured ({}), which may not fit into memory; more than {} workers",
        local.join(", "),
        known.workers.1.saturating_mul(FURTHER)
    ));
    all.push(of_others(advice));
    let has_spot = advice.has_spot();
    if has_spot {
        all.push(
            "spot VMs live as long as published, not as today; checkpoints are as frequent as Young and Daly say, each as long as a restore"
                .to_owned(),
        );
    }
    all
}

/// Caveats about unmeasured machines.
fn of_others(advice: &Advice) -> String {
    let looked = &advice.catalogue;
    if !looked.is_wanted {
        return "not covered: VM types that were not measured (--only-measured)".to_owned();
    }
    if looked.machines == 0 {
        return "not covered: VM types that were not measured; the catalogue has no comparable one there"
            .to_owned();
    }
    let has = |basis| advice.known.machines.iter().any(|m| m.basis == basis);
    let more = match (has(Basis::OtherGpu), has(Basis::SameFamily)) {
        (true, _) => "; other GPUs have the speed-up of other trainings",
        (_, true) => "; speed grows nearly with the number of processors",
        _ => "",
    };
    format!(
        "VM types that were not measured: hosts and networks are assumed to be like measured ones{more}"
    )
}

fn from(choice: &Choice) -> String {
    match &choice.stands {
        None => choice.provenance.name().to_owned(),
        Some(_) => "not measured".to_owned(),
    }
}

fn counterpart_sentence(stands: &MeasuredCounterpart) -> String {
    let MeasuredCounterpart {
        like, processor, ..
    } = stands;
    match stands.basis {
        Basis::SameGpu => format!("It has the {processor} of {like}, which was measured."),
        Basis::OtherGpu => format!(
            "Its {processor} is compared with the measured GPU of {like}: compute takes {} times as long ({}–{}).",
            figure(stands.compute_over_like[0]),
            figure(stands.compute_over_like[1]),
            figure(stands.compute_over_like[2])
        ),
        Basis::SameFamily => format!("It is of the family of {like}, which was measured."),
    }
}

/// The best measured machine, if another one is chosen, and how much worse it is.
fn best_measured(advice: &Advice) -> String {
    let (Some(best), Some(taken)) = (advice.best_measured(), advice.choices.first()) else {
        return String::new();
    };
    let more = match advice.goal.objective {
        Objective::Time => format!("{} more", short_time(best.time_h[0] - taken.time_h[0])),
        Objective::Cost => format!("{} more", small_usd(best.cost_usd[0] - taken.cost_usd[0])),
        Objective::Knee => format!("worse by {}", share(best.over_best)),
    };
    let text = format!(
        "Best measured: {}, {}, {} and {}: {more}.",
        best.named(),
        best.provenance.name(),
        short_time(best.time_h[0]),
        small_usd(best.cost_usd[0]),
    );
    indented(&text)
}

fn choice_text(choice: &Choice, advice: &Advice) -> String {
    let miss = if advice.goal.limits.are_any() {
        format!(", {}", keeps(choice.miss))
    } else {
        String::new()
    };
    let name = format!(
        "{}, {}{}",
        choice.named(),
        choice.offer.terms(),
        choice.offer.in_brackets()
    );
    let figures = format!(
        "{}, {}; {}{miss}",
        hours_with_interval(&choice.time_h),
        with_interval(&choice.cost_usd, "", small_usd),
        from(choice),
    );
    indented(&name) + &indented(&figures)
}

/// Whether limits are met, in words.
fn keeps(miss: f64) -> String {
    let kept = share(1.0 - miss);
    if miss <= SURELY {
        format!("keeps to the limits: surely ({kept})")
    } else if miss <= 0.5 {
        format!("keeps to the limits: likely ({kept})")
    } else {
        format!("keeps to the limits: no ({kept})")
    }
}

/// Hours, or minutes if short, and their interval.
fn hours_with_interval(hours: &[f64; 3]) -> String {
    let (unit, scale) = if is_in_minutes(hours[0]) {
        (" min", 60.0)
    } else {
        (" h", 1.0)
    };
    with_interval(hours, unit, |h| figure(h * scale))
}

fn has_assumed_epochs(advice: &Advice, choice: &Choice) -> bool {
    matches!(advice.known.batches[..], [only] if only != choice.configuration.batch)
}

fn why(advice: &Advice) -> String {
    let all = advice.choices.len();
    let what = match advice.goal.objective {
        Objective::Time => "the fastest".to_owned(),
        Objective::Cost => "the cheapest".to_owned(),
        Objective::Knee => format!(
            "the knee between the fastest and the cheapest, where an hour counts as {}",
            small_usd(advice.usd_per_hour)
        ),
    };
    let limited = match advice.beyond_limits {
        0 => String::new(),
        n => format!("; {n} more exceed the limits"),
    };
    let better = advice
        .choices
        .iter()
        .filter(|choice| choice.over_best < 0.0)
        .count();
    let second = advice.choices.get(1);
    let (aside, other) = match second.filter(|_| better > 0) {
        None => ("", ""),
        Some(second) if second.stands.is_some() => {
            (", without GPUs that were not measured", "Another GPU is")
        }
        Some(second) if has_assumed_epochs(advice, second) => (
            ", without batches whose epochs are assumed",
            "Another batch is",
        ),
        Some(_) => (", without more VMs than were measured", "More VMs are"),
    };
    let mut text = format!("Why: {what} of {all} in expectation{aside}{limited}.");
    let first = advice.choices.first();
    if advice.goal.objective == Objective::Cost && first.is_some_and(|c| c.cost_usd[0] == 0.0) {
        text += " It costs nothing more, so time decides between those that are paid for.";
    }
    if first.is_some_and(|c| c.provenance == Provenance::Extrapolated && c.stands.is_none()) {
        text += " It lies beyond the measurements: measure it before you rely on it.";
    }
    match second {
        None => {}
        Some(second) if better > 0 => {
            text += &format!(
                " {other} expected to be better: {}, by {} (chance {}). Measure it before you rent it.",
                second.named(),
                share(-second.over_best),
                share(second.chance)
            );
        }
        Some(second) if !second.over_best.is_finite() => {
            text += " All others cost money.";
        }
        Some(second) if second.chance > 0.4 => {
            text += &format!(
                " The next is worse by {}, which the measurements cannot separate: its chance to be better is {}.",
                share(second.over_best),
                share(second.chance)
            );
        }
        Some(second) => {
            text += &format!(
                " The next is worse by {}; its chance to be better is {}.",
                share(second.over_best),
                share(second.chance)
            );
        }
    }
    text
}

/// The relative distance from the best; without a percentage if the best is free.
fn behind(over: f64) -> String {
    if over.is_finite() {
        share(over)
    } else {
        "–".to_owned()
    }
}

fn others(advice: &Advice) -> String {
    let text = |head, of: fn(&Choice) -> String| Column::text(head, move |c: &&Choice| of(c));
    let number = |head, of: fn(&Choice) -> String| Column::number(head, move |c: &&Choice| of(c));
    let with = |is_shown: bool, column| is_shown.then_some(column);
    let columns = [
        Some(text("  K × B", |choice| {
            let c = &choice.configuration;
            format!("  {} × {}", c.workers, c.batch)
        })),
        Some(text("on", |c| format!("{} {}", c.vms, c.configuration.vm))),
        with(
            advice.has_spot(),
            text("market", |c| c.offer.terms().to_owned()),
        ),
        Some(number("time h", |c| figure(c.time_h[0]))),
        Some(number("cost $", |c| figure(c.cost_usd[0]))),
        Some(number("worse by", |c| {
            let sign = if c.over_best < 0.0 { "-" } else { "" };
            format!("{sign}{}", behind(c.over_best.abs()))
        })),
        Some(number("better", |c| share(c.chance))),
        with(
            advice.goal.limits.are_any(),
            number("miss", |c| share(c.miss)),
        ),
        Some(text("from", |c| {
            let stands = c.stands.as_ref();
            (stands.map_or(c.provenance.name(), |stands| stands.basis.label())).to_owned()
        })),
    ];
    let columns = columns.into_iter().flatten();
    let sheet = Sheet::new(advice.choices.iter().skip(1).take(OTHERS), columns);
    if sheet.rows.is_empty() {
        return "  there is no other\n".to_owned();
    }
    sheet.lines()
}

fn next(advice: &Advice) -> String {
    let Some(best) = advice.measurements.first() else {
        let of = if advice.catalogue.is_wanted {
            "no measurement could change the choice, on any VM type of the catalogue there"
        } else {
            "no measurement on the measured VM types could change the choice; others were not considered"
        };
        return indented(&format!("Nothing: {of}."));
    };
    let price = |next: &NextMeasurement| {
        let hours_of = short_time(next.worth.price.time_s / 3600.0);
        format!("{hours_of}, {}", small_usd(next.worth.price.cost_usd))
    };
    let times = match advice.times {
        1.0 => "one run".to_owned(),
        n => format!("{} runs", short_figure(n)),
    };
    if best.worth.net > 0.0 {
        let mut text = format!(
            "{} ({}). Expected to improve the choice by {} per run, {} over {times}.",
            capital(&best.description()),
            price(best),
            advice.worth_in_words(best.worth.value),
            advice.worth_in_words(advice.times * best.worth.value),
        );
        if let Some(second) = advice.measurements.get(1).filter(|n| n.worth.net > 0.0) {
            text += &format!(" Then {} ({}).", second.description(), price(second));
        }
        return indented(&text);
    }
    let enough = advice.measurements.iter();
    let runs = enough
        .filter(|next| next.worth.value > 0.0)
        .map(|next| advice.times + (-next.worth.net) / next.worth.value)
        .fold(f64::INFINITY, f64::min);
    let mut text = format!(
        "No measurement is worth its price for {times}. The most informative one is {} ({}). It would improve the choice by {} per run",
        best.description(),
        price(best),
        advice.worth_in_words(best.worth.value),
    );
    if runs < 1e6 {
        text += &format!(", and pays from {:.0} runs on (--times)", runs.ceil());
    }
    text += ".";
    indented(&text)
}
