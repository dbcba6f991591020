//! The advice as text.

use std::collections::BTreeSet;

use super::question::is_path;
use super::{ModelAdvice, ModelQuestion, PlanChoice, PlanMeasurement, tuning};
use crate::advise::decision::SURELY;
use crate::advise::words::{WIDTH, bullet, capital, indented, limits, with_interval};
use scavsim_base::text::words::{figure, plural, share, short_figure, small_usd};
use scavsim_base::text::{Column, EXPLAIN, Page, Sheet};
use scavsim_search::search::Objective;

const OTHERS: usize = 6;
/// Minimum gain that is reported.
const LEAST_GAIN: f64 = 1.05;
/// Normal quantile of the ends of a 90 % interval.
const NINETY: f64 = 1.645;
/// Minimum deviation at which unmeasured features are reported.
const LEAST_DEVIATION: f64 = 0.05;
/// Share of a GPU's memory above which a predicted peak may not fit.
const TIGHT: f64 = 0.95;

pub fn render(advice: &ModelAdvice) -> String {
    let question = &advice.question;
    let objective = question.goal.objective;
    let mut text = format!(
        "{}, by {}{}\n\n",
        advice.title(),
        objective.name(),
        limits(&question.goal, 1.0 - SURELY).map_or_else(String::new, |all| format!(", {all}")),
    );
    let Some(best) = advice.choices.first() else {
        return text;
    };
    text += "Assumptions\n";
    for sentence in basis(advice) {
        text += &bullet(&sentence);
    }
    if advice.choices.len() > 1 {
        let others = advice.choices.iter().skip(1).take(OTHERS);
        text += &format!("\nThe best on other GPUs\n{}", table(others, advice));
    }
    let sizes = sizes(advice, best);
    if sizes.len() > 1 {
        text += &format!(
            "\nBy number of {}: a step of {} has work for {}\n{}",
            best.gpu,
            plural(u64::from(advice.step.1), "sequence"),
            plural(u64::from(advice.step.1), "replica"),
            table(sizes.into_iter(), advice)
        );
    }
    text += &format!("\nMeasure first\n{}\n", measure(advice));
    text += if advice.is_within() {
        "Take\n"
    } else {
        "No plan keeps to the limits. Closest\n"
    };
    text += &choice_text(best, advice);
    if question.setup_min > 0.0 {
        let setup = short_figure(question.setup_min);
        text += &format!("  Times include {setup} min of set-up (--setup-min).\n");
    }
    text + EXPLAIN
}

fn on(choice: &PlanChoice) -> String {
    format!("{} {}", choice.vms, choice.vm)
}

fn choice_text(choice: &PlanChoice, advice: &ModelAdvice) -> String {
    let mut text = format!(
        "  {} × {} on {}, {}{}\n  {}\n{}  {}\n{}  {}, {}\n  {} tokens per second, {} of the peak; {} per 10⁹ tokens\n",
        choice.gpus,
        choice.gpu,
        on(choice),
        choice.offer.terms(),
        choice.offer.in_brackets(),
        choice.form,
        gain(choice, advice),
        choice.plan,
        memory(choice, advice),
        with_interval(&choice.time_h, " h", figure),
        with_interval(&choice.cost_usd, "", small_usd),
        figure(choice.tokens_per_s),
        share(choice.mfu),
        small_usd(choice.usd_per_1e9_tokens(advice.tokens)),
    );
    if let Some(keeps) = choice.keeps {
        text += &format!("  keeps to the limits in {} of runs\n", share(keeps));
    }
    text
}

/// Memory of a GPU for a fine-tuning.
fn memory(choice: &PlanChoice, advice: &ModelAdvice) -> String {
    let [peak, has] = choice.memory_gib.map(figure);
    let method = advice.tuning.map(|of| of.method);
    method.map_or_else(String::new, |method| {
        let tight = if choice.memory_gib[0] > TIGHT * choice.memory_gib[1] {
            ", tight: try a few steps first"
        } else {
            ""
        };
        format!("  `{method}`: {peak} GiB of {has} on each GPU{tight}\n")
    })
}

/// The gain of a choice over the default form on its GPU.
fn gain(choice: &PlanChoice, advice: &ModelAdvice) -> String {
    if advice.tuning.is_some() {
        return String::new();
    }
    let Some(plain) = &advice.plain else {
        return "  the default form of the runtime does not fit\n".to_owned();
    };
    let objective = advice.question.goal.objective;
    let times = plain.worth(objective) / choice.worth(objective);
    if choice.is_plain || !times.is_finite() || times < LEAST_GAIN {
        return String::new();
    }
    let better = match objective {
        Objective::Time => "faster",
        _ => "cheaper",
    };
    format!(
        "  {times:.1} × {better} than the default of `{}`\n",
        plain.runtime
    )
}

/// Features of a choice without a known run, and the error of its time.
fn unmeasured(choice: &PlanChoice) -> Option<String> {
    let widest = choice
        .unmeasured
        .iter()
        .max_by(|a, b| a.variance.total_cmp(&b.variance))?;
    let share = |part: f64| format!("{:.0} %", 100.0 * (libm::exp(NINETY * part) - 1.0));
    let all: Vec<&str> = choice
        .unmeasured
        .iter()
        .map(|one| one.what.as_str())
        .collect();
    (widest.variance.sqrt() >= LEAST_DEVIATION).then(|| {
        format!(
            "no run {} is known under `{}`: ± {}",
            all.join(", none "),
            choice.runtime,
            share(choice.log_sd)
        )
    })
}

/// The best plans on each number of the best choice's GPUs, the fewest first.
fn sizes<'a>(advice: &'a ModelAdvice, best: &PlanChoice) -> Vec<&'a PlanChoice> {
    let of_each = advice.of_each_size.iter();
    let mut sizes: Vec<&PlanChoice> = of_each.filter(|choice| choice.gpu == best.gpu).collect();
    sizes.sort_by_key(|choice| choice.gpus);
    sizes
}

fn table<'a>(choices: impl Iterator<Item = &'a PlanChoice>, advice: &ModelAdvice) -> String {
    type PlanChoiceRow<'a> = &'a PlanChoice;
    let tokens = advice.tokens;
    let mut columns = vec![
        Column::text("  GPUs", |c: &PlanChoiceRow<'_>| {
            format!("  {} {}, {}", c.gpus, c.gpu, c.precision.name())
        }),
        Column::text("on", |c: &PlanChoiceRow<'_>| on(c)),
        Column::number("time h", |c: &PlanChoiceRow<'_>| figure(c.time_h[0])),
        Column::number("cost $", |c: &PlanChoiceRow<'_>| figure(c.cost_usd[0])),
        Column::number("90 %", |c: &PlanChoiceRow<'_>| {
            format!("{}–{}", figure(c.cost_usd[1]), figure(c.cost_usd[2]))
        })
        .rank(3),
        Column::number("$ per 10⁹", move |c: &PlanChoiceRow<'_>| {
            figure(c.usd_per_1e9_tokens(tokens))
        }),
    ];
    if advice.question.goal.limits.are_any() {
        columns.push(Column::number("keeps", |c: &PlanChoiceRow<'_>| {
            c.keeps.map_or_else(String::new, share)
        }));
    }
    // Some machines have long names: intervals give way.
    let page = Page::of_width(WIDTH);
    let sheet = Sheet::new(choices, columns);
    sheet.fit(&page).text(&page)
}

fn measure(advice: &ModelAdvice) -> String {
    let objective = advice.question.goal.objective;
    let Some(first) = advice.measurements.first() else {
        return String::new();
    };
    let gains = |one: &PlanMeasurement| match objective {
        Objective::Time => format!("{} h", figure(one.gain)),
        _ => small_usd(one.gain),
    };
    let pays = match objective {
        Objective::Time => first.gain > 0.0,
        _ => first.gain > first.usd,
    };
    let what = format!(
        "{} steps on {} ({}): {} min, {}",
        advice.question.steps,
        on(&first.choice),
        first.choice.plan,
        figure(first.minutes),
        small_usd(first.usd)
    );
    let text = if pays {
        format!(
            "{what}. Expected to improve the choice by {}. `scavsim import runs` reads the result.",
            gains(first)
        )
    } else {
        format!(
            "No measurement is worth its price. The most informative one is {what}. It would improve the choice by {}.",
            gains(first)
        )
    };
    indented(&capital(&text))
}

/// The forms from which a plan was chosen.
fn chosen_among(question: &ModelQuestion) -> String {
    let precision = match &question.precision {
        Some(precision) => format!("in {precision}"),
        None => "in 16 bits or fp8, which changes numbers a little (--precision)".to_owned(),
    };
    match &question.runtime {
        _ if question.tuning.is_some() => {
            let word = question.runtime.as_deref().unwrap_or(tuning::RUNTIME);
            format!("under `{word}` (--runtime), all on each GPU or in shards")
        }
        None => format!("the best form of `fsdp` and `megatron-core` (--runtime), {precision}"),
        Some(word) if is_path(word) => {
            format!(
                "the form of `{word}` alone, as its runs have it: `scavsim rank` compares others"
            )
        }
        Some(word) => format!("the best form of `{word}`, {precision}"),
    }
}

/// The evidence of an advice, a sentence each.
pub(in crate::advise) fn basis(advice: &ModelAdvice) -> Vec<String> {
    let question = &advice.question;
    let (sequence, batch) = advice.step;
    let mut all = vec![
        format!(
            "{:.2} × 10⁹ parameters; steps of {} of {sequence} tokens (--global-batch, --sequence)",
            advice.model.1 as f64 * 1e-9,
            plural(u64::from(batch), "sequence"),
        ),
        "nothing was measured: the law of layers predicts steps; intervals are its errors on runs that were left out"
            .to_owned(),
        chosen_among(question),
        format!(
            "{} with up to {} GPUs (--most-gpus) fit; whether these tokens suffice at this batch is not predicted",
            plural(advice.plans as u64, "plan"),
            question.most_gpus()
        ),
    ];
    let best = advice.choices.first();
    let tuning = advice
        .tuning
        .zip(best)
        .map(|(of, best)| of.sentence(best.precision));
    let data = question
        .data
        .map(|data| tuning::data_sentence(&data, advice.step));
    all.splice(1..1, tuning.into_iter().chain(data));
    let mut told: Vec<String> = (advice.choices.iter().take(1 + OTHERS))
        .filter_map(unmeasured)
        .collect();
    told.dedup();
    all.extend(told);
    let offers = || advice.choices.iter().map(|choice| &choice.offer);
    if let Some(day) = offers().filter_map(|offer| offer.date).max() {
        let old = offers().filter(|offer| offer.is_old);
        let old: BTreeSet<String> =
            (old.filter_map(|o| Some(format!("{} {}", o.vm, o.date?)))).collect();
        let old: Vec<String> = old.into_iter().collect();
        let old = if old.is_empty() {
            String::new()
        } else {
            format!("; old ones: {}", old.join(", "))
        };
        all.push(format!("listed prices, the newest of {day}{old}"));
    }
    let reserved = offers().filter(|offer| offer.reserved > 0);
    let reserved: BTreeSet<String> = reserved
        .map(|o| format!("{} of {}", o.reserved, o.vm))
        .collect();
    all.extend(
        reserved
            .iter()
            .map(|vms| format!("up to {vms} are reserved: they cost nothing more")),
    );
    if advice
        .choices
        .first()
        .is_some_and(|best| best.cost_usd[0] == 0.0)
    {
        all.push(
            "the best costs nothing more: time decides between those that are paid for".to_owned(),
        );
    }
    let lives = advice.choices.iter().map(|choice| &choice.offer);
    let lives = lives.filter(|offer| offer.are_lives_assumed() || offer.stated_run_h.is_some());
    if let Some(offer) = lives.clone().next() {
        let mut vms: Vec<&str> = lives.map(|offer| offer.vm.as_str()).collect();
        vms.dedup();
        all.push(format!("{}{}", vms.join(", "), offer.lives_in_words()));
    }
    if !advice.without_plan.is_empty() {
        let names: Vec<&str> = advice.without_plan.iter().map(|gpu| &**gpu).collect();
        all.push(format!("no plan or no price on {}", names.join(", ")));
    }
    all
}
