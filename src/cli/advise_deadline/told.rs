//! The answer as text.

use super::answer::PlannedAnswer;
use super::plan::Plan;
use super::spot::{MeanFrom, SpotMarket};
use scavsim_base::text::words::{figure, plural, rate, share, short_figure, small_usd};
use scavsim_base::text::{Column, EXPLAIN, Page, Sheet};
use scavsim_measure::advise::rental::RentalChoice;

/// Number of plans that are shown in addition to the best.
const OTHERS: usize = 5;

pub(super) fn render(answer: &PlannedAnswer<'_>, page: &Page) -> String {
    let within = match answer.in_time.deadline.now {
        Some(_) => format!(
            "by {}",
            answer.in_time.deadline.after(answer.in_time.deadline.hours)
        ),
        None => format!("within {} h", short_figure(answer.in_time.deadline.hours)),
    };
    let mut told = format!("{}, {within}, by cost\n\n", answer.advice.name);
    for (title, sentences) in &answer.advice.sections {
        told += &section(title, sentences, page);
    }
    told += &section("How it is planned", &planned(answer), page);
    let Some(first) = answer.plans.first() else {
        return told;
    };
    told += &format!("Next best\n{}\n", others(answer, page));
    let take = format!(
        "{}{}, under {}",
        first.candidate.choice.name,
        first.candidate.choice.offer.in_brackets(),
        first.policy
    );
    told += &format!("Take\n{}", indented(&take, page));
    for sentence in answer.rule.sentences(&answer.in_time.deadline) {
        told += &indented(&sentence, page);
    }
    told += &indented(&comes_to(first), page);
    told += &indented(&why(answer, first), page);
    told + EXPLAIN
}

fn section(title: &str, sentences: &[String], page: &Page) -> String {
    let lines = sentences
        .iter()
        .map(|one| page.prose(&format!("- {one}"), 2));
    format!("{title}\n{}\n", lines.collect::<String>())
}

fn indented(text: &str, page: &Page) -> String {
    page.prose(&format!("\u{a0}\u{a0}{text}"), 2)
        .replace('\u{a0}', " ")
}

/// The assumptions of the plans, one clause each.
fn planned(answer: &PlannedAnswer<'_>) -> Vec<String> {
    let promise = answer.promise;
    let mut all = vec![
        format!(
            "policies know the hours that {} of runs do not exceed (--max-miss); costs are means over all run times",
            share(1.0 - promise.miss)
        ),
        format!(
            "{} keep the deadline on demand; the {} that may cost least ran under {} policies, over {} of the spot market each",
            plural(answer.advice.choices.len() as u64, "configuration"),
            answer.candidates,
            answer.in_time.policies.len(),
            plural(answer.lives, "replica")
        ),
    ];
    let mut spots: Vec<String> = Vec::new();
    let mut lives: Vec<String> = Vec::new();
    let mut without: Vec<&str> = Vec::new();
    for plan in shown(answer) {
        let choice = plan.candidate.choice;
        let Some(spot) = &plan.candidate.spot else {
            without.push(&choice.offer.vm);
            continue;
        };
        let day = spot
            .offer
            .date
            .map_or(String::new(), |day| format!(" of {day}"));
        spots.push(format!(
            "{} {}{day}",
            spot.offer.vm,
            rate(spot.offer.usd_per_hour)
        ));
        lives.push(runs(spot, choice));
    }
    let (spots, lives) = (each_once(spots), each_once(lives));
    let without = each_once(without);
    if !spots.is_empty() {
        all.push(format!(
            "spot prices where they are on demand, an hour: {}",
            spots.join(", ")
        ));
    }
    if !without.is_empty() {
        let is_capped = answer.caps.spot_usd.is_some() || !answer.caps.spot_usd_of.is_empty();
        let within = if is_capped {
            " within --max-spot-usd"
        } else {
            ""
        };
        all.push(format!(
            "no spot price{within} is known of {}: on demand only",
            without.join(", ")
        ));
    }
    all.extend(lives);
    let is_assumed = shown(answer).any(|plan| {
        let spot = plan.candidate.spot.as_ref();
        spot.is_some_and(|spot| {
            spot.run_h.1 == MeanFrom::StandIn || spot.pause_h.1 == MeanFrom::StandIn
        })
    });
    if is_assumed {
        let stand_in = answer.stand_in;
        all.push(format!(
            "ASSUMED where nothing is published: spot VMs last and return as those of {} (mean {:.2} h and {:.2} h); --spot-run-h and --spot-pause-h say otherwise",
            lower(&stand_in.about),
            stand_in.run_h,
            stand_in.pause_h
        ));
    }
    all.push(
        "losing one VM stops the job; checkpoints are as frequent as Young and Daly say, each as long as a restore"
            .to_owned(),
    );
    all
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(letters).collect()
    })
}

/// The list without repetitions.
fn each_once<T: PartialEq>(list: Vec<T>) -> Vec<T> {
    let mut seen = Vec::new();
    for one in list {
        if !seen.contains(&one) {
            seen.push(one);
        }
    }
    seen
}

/// How long machines of a spot market run, and how long they are unavailable.
fn runs(spot: &SpotMarket, choice: &RentalChoice) -> String {
    let basis = |basis: &MeanFrom| match basis {
        MeanFrom::Said => "as given".to_owned(),
        MeanFrom::Published(name) => format!("lives `{name}`"),
        MeanFrom::Measured => "measured there".to_owned(),
        MeanFrom::StandIn => "assumed".to_owned(),
    };
    format!(
        "spot {} × {}: one is lost after {:.2} h in the mean ({}), others come after {:.2} h ({})",
        choice.vms,
        spot.offer.vm,
        spot.run_h.0,
        basis(&spot.run_h.1),
        spot.pause_h.0,
        basis(&spot.pause_h.1)
    )
}

fn comes_to(plan: &Plan<'_>) -> String {
    let [usd, low_usd, high_usd] = plan.came.cost_usd;
    let [hours, low_h, high_h] = plan.came.done_h;
    format!(
        "{} ({}–{}), done after {} h ({}–{}); in time in {} of runs.",
        small_usd(usd),
        small_usd(low_usd),
        small_usd(high_usd),
        figure(hours),
        figure(low_h),
        figure(high_h),
        share(plan.came.kept)
    )
}

fn why(answer: &PlannedAnswer<'_>, first: &Plan<'_>) -> String {
    let mut text = format!(
        "Why: the cheapest of {} plans in expectation.",
        answer.plans.len()
    );
    if let Some(only) = answer
        .on_demand_only()
        .filter(|only| !std::ptr::eq(*only, first))
    {
        let more = only.came.cost_usd[0] - first.came.cost_usd[0];
        text += &format!(
            " On demand only: {}, {}, {} more.",
            only.candidate.choice.name,
            small_usd(only.came.cost_usd[0]),
            match first.came.cost_usd[0] {
                0.0 => small_usd(more),
                least => share(more / least),
            }
        );
    }
    text
}

/// The plans that are shown: the first, the next best, and the best on demand only.
fn shown<'a>(answer: &'a PlannedAnswer<'a>) -> impl Iterator<Item = &'a Plan<'a>> {
    let only = answer.on_demand_only();
    let first = answer.plans.iter().take(1 + OTHERS);
    let is_among = only.is_none_or(|only| first.clone().any(|plan| std::ptr::eq(plan, only)));
    first.chain(only.filter(|_| !is_among))
}

fn others(answer: &PlannedAnswer<'_>, page: &Page) -> String {
    type PlanRow<'a> = &'a Plan<'a>;
    let columns = vec![
        Column::text(format!("  {}", answer.advice.form), |plan: &PlanRow<'_>| {
            format!("  {}", plan.candidate.choice.form)
        }),
        Column::text("on", |plan: &PlanRow<'_>| {
            let choice = plan.candidate.choice;
            format!("{} {}", choice.vms, choice.offer.vm)
        }),
        Column::text("policy", |plan: &PlanRow<'_>| plan.policy.to_owned()),
        Column::number("cost $", |plan: &PlanRow<'_>| figure(plan.came.cost_usd[0])),
        Column::number("90 %", |plan: &PlanRow<'_>| {
            let [_, low, high] = plan.came.cost_usd.map(figure);
            format!("{low}–{high}")
        }),
        Column::number("time h", |plan: &PlanRow<'_>| figure(plan.came.done_h[0])),
        Column::number("in time %", |plan: &PlanRow<'_>| {
            format!("{:.1}", 100.0 * plan.came.kept)
        }),
        Column::text("from", |plan: &PlanRow<'_>| plan.candidate.choice.evidence),
    ];
    let sheet = Sheet::new(shown(answer).skip(1), columns);
    if sheet.rows.is_empty() {
        return "  there is no other\n".to_owned();
    }
    sheet.fit(page).text(page)
}
