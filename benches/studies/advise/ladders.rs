//! Advice on the few rows that people measure: ladders of one GPU, a full VM, two to four VMs.
//!
//! A cut keeps 4, 6, 8 or 12 rows of a measured application, all on one ladder: the same samples per worker on each rung
//! (weak), the same global batch (strong), or any (mixed). It goes the way of any user's table, with what is expected of laws
//! taken from the other applications. Asked is what was measured on the shapes of the ladder within the bounds of
//! advice; beside advice stand rules of thumb.

use std::collections::BTreeMap;
use std::fmt::Write;

use rayon::prelude::*;

use super::{Asked, Fact, all_facts, ask, table, value};
use scavsim::advise::decision::{Measurement, MeasuringEffort};
use scavsim::advise::repeats::{EPOCHS_SD, STEP_SD};
use scavsim::configuration::Shape;
use scavsim::fit::linear::{Equation, non_negative};
use scavsim::input::Diagnostics;
use scavsim::rng::{Purpose, StrategyKey, Stream, Streams};
use scavsim::search::{Limits, Objective};
use scavsim::validate::folds::{Fold, measured};
use scavsim::validate::steps::answers_by;
use scavsim::workload::{Workload, library, load};

/// Applications that were measured at hundreds of configurations.
pub(super) const WORKLOADS: [&str; 3] = ["pollux-bert", "pollux-cifar10", "pollux-imagenet"];
/// Rows of a cut.
pub(super) const ROWS: [usize; 4] = [4, 6, 8, 12];
/// A choice this close to the best is right.
const RIGHT: f64 = 0.005;
/// Deadlines, over the time of the fastest that was measured.
const DEADLINE: f64 = 1.5;
/// Random measurements that each advised one is compared with.
const RANDOM: usize = 3;

/// What is done with a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    Advice,
    BestMeasured,
    LargestMeasured,
    Ernest,
    EveryOther,
}

impl Rule {
    const ALL: [(Rule, &'static str); 5] = [
        (Rule::Advice, "advice"),
        (Rule::BestMeasured, "best measured row"),
        (Rule::LargestMeasured, "most workers measured"),
        (Rule::Ernest, "Ernest by least squares"),
        (Rule::EveryOther, "every other row"),
    ];
}

/// What came of all cuts of one size.
#[derive(Debug, Default)]
struct Tally {
    cuts: usize,
    /// Regrets by objective and rule.
    regrets: BTreeMap<(&'static str, Rule), Vec<f64>>,
    /// Intervals asked and held: between rungs, beyond the largest.
    asked: [usize; 2],
    held: [usize; 2],
    /// Deadlines that can be kept, that were answered, and those answers that keep them.
    deadlines: [usize; 3],
    /// What an advised and a random measurement leave of the regret, with that before, by objective.
    next: BTreeMap<&'static str, Vec<[f64; 3]>>,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.cuts += other.cuts;
        for (key, values) in other.regrets {
            self.regrets.entry(key).or_default().extend(values);
        }
        for (key, values) in other.next {
            self.next.entry(key).or_default().extend(values);
        }
        for i in 0..2 {
            self.asked[i] += other.asked[i];
            self.held[i] += other.held[i];
        }
        for i in 0..3 {
            self.deadlines[i] += other.deadlines[i];
        }
    }
}

/// The study on so many cuts of each size from each application, as a document.
pub fn document(cuts: usize) -> String {
    let mut all: BTreeMap<(usize, &str), Tally> = BTreeMap::new();
    for name in WORKLOADS {
        let Some(folder) = library::embedded(name) else {
            continue;
        };
        let Some(workload) = load::load(&folder, &mut Diagnostics::default()) else {
            continue;
        };
        let facts = all_facts(&workload);
        let others = by_every_other(&workload, &facts);
        for rows in ROWS {
            let tallies: Vec<Tally> = (0..cuts as u64)
                .into_par_iter()
                .map(|number| one(&workload, (&facts, &others), rows, number))
                .collect();
            let tally = all.entry((rows, name)).or_default();
            tallies.into_iter().for_each(|other| tally.add(other));
        }
    }
    text(&all, cuts)
}

/// Rows of a ladder, drawn.
pub(super) fn ladder(facts: &[Fact], rows: usize, stream: &mut Stream) -> Vec<usize> {
    let at = |each: u32, vms: u32| {
        let on = move |f: &Fact| {
            let shape = Shape::parse(&f.configuration.vm).ok();
            let vms_of = shape.and_then(|s| s.vms(f.configuration.workers));
            vms_of == Some(vms) && f.configuration.workers == each * vms
        };
        (0..facts.len()).filter(move |i| on(&facts[*i]))
    };
    loop {
        // Four GPUs on a VM most often.
        let each = [1, 2, 3, 4, 4, 4][stream.below(6)];
        let mut rungs = vec![(1, 1), (each, 1), (each, 2), (each, 3), (each, 4)];
        rungs.dedup();
        while rungs.len() > 2 + stream.below(3) {
            rungs.remove(stream.below(rungs.len()));
        }
        let mode = stream.below(3);
        let of_rung: Vec<Vec<usize>> = rungs.iter().map(|r| at(r.0, r.1).collect()).collect();
        let Some(first) = of_rung.first().filter(|of| !of.is_empty()) else {
            continue;
        };
        let mut kept: Vec<usize> = Vec::new();
        for _ in 0..rows {
            let model = &facts[first[stream.below(first.len())]].configuration;
            for of in &of_rung {
                let apart = |i: &usize| {
                    let c = &facts[*i].configuration;
                    let off = match mode {
                        0 => c.local_batch() / model.local_batch(),
                        _ => f64::from(c.batch) / f64::from(model.batch.max(c.workers)),
                    };
                    off.ln().abs()
                };
                let near = of.iter().min_by(|a, b| apart(a).total_cmp(&apart(b)));
                let any = (!of.is_empty()).then(|| &of[stream.below(of.len().max(1))]);
                if let Some(&i) = if mode == 2 { any } else { near }
                    && !kept.contains(&i)
                    && kept.len() < rows
                {
                    kept.push(i);
                }
            }
        }
        let counts = kept.iter().map(|i| facts[*i].configuration.workers);
        let several = counts.clone().max() != counts.min();
        if kept.len() == rows && several {
            return kept;
        }
    }
}

/// Seconds of each step as all other measurements of its application tell them: what no law of a few rows can do better.
fn by_every_other(workload: &Workload, facts: &[Fact]) -> Vec<f64> {
    let all = measured(workload);
    let told = |fact: &Fact| {
        let own = all.iter().position(|m| *m.at == fact.configuration);
        let out: Vec<usize> = own.into_iter().collect();
        let asked = out.clone();
        let answers = answers_by(&workload.laws, workload, &all, &Fold { out, asked });
        let said = answers.first().and_then(|answer| answer.said);
        said.map_or(f64::INFINITY, |(step_s, _)| step_s)
    };
    facts.par_iter().map(told).collect()
}

fn one(workload: &Workload, (facts, others): (&[Fact], &[f64]), rows: usize, number: u64) -> Tally {
    let mut tally = Tally::default();
    let key = Purpose::Strategy(StrategyKey::from_name("ladders"));
    let mut stream = Streams::new(number).stream(rows as u64, key);
    let kept = ladder(facts, rows, &mut stream);
    let samples = workload.constants.samples_per_epoch.value;
    let Some(asked) = ask(workload, facts, &table(facts, &kept, &[]), samples) else {
        return tally;
    };
    tally.cuts = 1;
    let most = kept.iter().map(|i| facts[*i].configuration.workers).max();
    for (index, at) in asked.places.iter().enumerate() {
        if kept.contains(at) {
            continue;
        }
        let decision = asked.decision(Objective::Time, Limits::default());
        let [interval, _] = decision.intervals(index);
        let by = usize::from(Some(facts[*at].configuration.workers) > most);
        tally.asked[by] += 1;
        let holds = (interval[0]..=interval[1]).contains(&facts[*at].truth.time_s);
        tally.held[by] += usize::from(holds);
    }
    for (objective, name) in [(Objective::Time, "time"), (Objective::Cost, "cost")] {
        let truth = |at: usize| value(objective, &facts[at].truth);
        let least = |all: &[usize]| all.iter().map(|i| truth(*i)).fold(f64::INFINITY, f64::min);
        let best = least(&asked.within);
        for (rule, _) in Rule::ALL {
            if let Some(choice) = choose(rule, objective, &asked, (facts, others), &kept) {
                let regret = truth(choice) / best - 1.0;
                tally.regrets.entry((name, rule)).or_default().push(regret);
            }
        }
        if let Some(next) = next(workload, facts, &kept, objective, &asked, &mut stream) {
            tally.next.entry(name).or_default().push(next);
        }
    }
    deadline(&asked, facts, &kept, &mut tally);
    tally
}

/// Advice on the cheapest within a deadline.
fn deadline(asked: &Asked, facts: &[Fact], kept: &[usize], tally: &mut Tally) {
    let fastest = (kept.iter().map(|i| facts[*i].truth.time_s)).fold(f64::INFINITY, f64::min);
    let most = fastest / DEADLINE;
    if asked.within.iter().all(|i| facts[*i].truth.time_s > most) {
        return;
    }
    tally.deadlines[0] += 1;
    let limits = Limits {
        max_time_s: Some(most),
        ..Limits::default()
    };
    let decision = asked.decision(Objective::Cost, limits);
    if let Some(choice) = decision.ranked().first() {
        tally.deadlines[1] += 1;
        let time_s = facts[asked.places[*choice]].truth.time_s;
        tally.deadlines[2] += usize::from(time_s <= most);
    }
}

fn choose(
    rule: Rule,
    objective: Objective,
    asked: &Asked,
    (facts, others): (&[Fact], &[f64]),
    kept: &[usize],
) -> Option<usize> {
    let by_steps = |step_s: &dyn Fn(usize) -> f64| {
        let told = |i: &usize| {
            let known = if kept.contains(i) {
                facts[*i].step_s
            } else {
                step_s(*i)
            };
            value(objective, &facts[*i].truth) * known / facts[*i].step_s
        };
        let best = (asked.within.iter()).min_by(|a, b| told(a).total_cmp(&told(b)));
        best.copied()
    };
    let truth = |at: &usize| value(objective, &facts[*at].truth);
    match rule {
        Rule::Advice => {
            let decision = asked.decision(objective, Limits::default());
            decision.ranked().first().map(|at| asked.places[*at])
        }
        Rule::BestMeasured => {
            let best = kept.iter().min_by(|a, b| truth(a).total_cmp(&truth(b)));
            best.copied()
        }
        Rule::LargestMeasured => {
            let most = kept.iter().map(|i| facts[*i].configuration.workers).max()?;
            let own = kept
                .iter()
                .filter(|i| facts[**i].configuration.workers == most);
            own.min_by(|a, b| truth(a).total_cmp(&truth(b))).copied()
        }
        Rule::Ernest => {
            let x = |i: usize| {
                let c = &facts[i].configuration;
                let k = f64::from(c.workers);
                [1.0, c.local_batch(), k.log2(), k]
            };
            let equations: Vec<Equation<4>> = kept
                .iter()
                .map(|&i| Equation::relative(x(i), facts[i].step_s))
                .collect();
            let law = non_negative(&equations)?;
            by_steps(&|i| x(i).iter().zip(law).map(|(x, c)| x * c).sum())
        }
        Rule::EveryOther => by_steps(&|i| others[i]),
    }
}

/// Regret before, after the advised measurement, and after a random one.
fn next(
    workload: &Workload,
    facts: &[Fact],
    kept: &[usize],
    objective: Objective,
    asked: &Asked,
    stream: &mut Stream,
) -> Option<[f64; 3]> {
    let samples = workload.constants.samples_per_epoch.value;
    let effort = MeasuringEffort {
        setup_s: 600.0,
        is_expected: false,
        steps: 120.0,
        times: 1.0,
        noise: [STEP_SD * STEP_SD, EPOCHS_SD * EPOCHS_SD],
    };
    let truth = |at: usize| value(objective, &facts[at].truth);
    let best = (asked.within.iter().map(|i| truth(*i))).fold(f64::INFINITY, f64::min);
    let decision = asked.decision(objective, Limits::default());
    let left: Vec<usize> = (0..asked.places.len())
        .filter(|index| !kept.contains(&asked.places[*index]))
        .collect();
    if left.is_empty() {
        return None;
    }
    let advised =
        (decision.measurements(&effort).into_iter()).find_map(|worth| match worth.measurement {
            Measurement::Step(index) if left.contains(&index) => Some(asked.places[index]),
            _ => None,
        })?;
    let regret = |steps_only: &[usize]| -> Option<f64> {
        let again = ask(workload, facts, &table(facts, kept, steps_only), samples)?;
        // More is within the bounds of what was measured then: that is not what is compared.
        let ranked = again.decision(objective, Limits::default()).ranked();
        let choice =
            (ranked.into_iter().map(|at| again.places[at])).find(|at| asked.within.contains(at))?;
        Some(truth(choice) / best - 1.0)
    };
    let random: Option<Vec<f64>> = (0..RANDOM)
        .map(|_| regret(&[asked.places[left[stream.below(left.len())]]]))
        .collect();
    let random = random?;
    let random = random.iter().sum::<f64>() / random.len() as f64;
    Some([regret(&[])?, regret(&[advised])?, random])
}

/// Tallies by application, or of all, and by rows, or all (0).
type Sums<'t> = BTreeMap<(&'t str, usize), Vec<&'t Tally>>;

fn text(all: &BTreeMap<(usize, &str), Tally>, cuts: usize) -> String {
    let mut sums = Sums::new();
    for ((rows, name), tally) in all {
        for name in [*name, "all"] {
            for rows in [*rows, 0] {
                sums.entry((name, rows)).or_default().push(tally);
            }
        }
    }
    let command = if cuts < 40 {
        "ladders-sample"
    } else {
        "ladders"
    };
    let mut text = format!(
        "# Advice on ladders of few rows

`cargo bench --bench studies -- {command}`: {cuts} ladders of 4, 6, 8 and 12 rows from each of {} applications, which were measured at
hundreds of configurations. Regret: the true value of the choice over that of the best that was measured within the bounds of
advice, on the shapes of the ladder. Right: within {:.1} % of it. What is expected of laws comes from the other applications. The last rule
knows every row of the application but the one that it asks about, and the ladder: more than that no law of a few rows can know.

| application | rows | by | rule | regret, mean | median | 90 % of cuts | right |
| --- | ---: | --- | --- | ---: | ---: | ---: | ---: |
",
        WORKLOADS.len(),
        100.0 * RIGHT,
    );
    for name in WORKLOADS {
        regrets(&sums, (name, 0), &mut text);
    }
    for rows in ROWS.into_iter().chain([0]) {
        regrets(&sums, ("all", rows), &mut text);
    }
    text += "
Of 90 % intervals of times that were not measured, so many hold the truth: of up to as many workers as were measured, and of more.
Deadlines are a third below the fastest measured row; those that some configuration keeps are to be answered, and the answer
is to keep them. A measurement more, within the bounds of the ladder: the mean regret before, after the advised one, and after one
at random.

| application | held | of more workers | deadlines | answered | kept | by | before | after advised | after random |
| --- | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: |
";
    for name in WORKLOADS.into_iter().chain(["all"]) {
        held(&sums, name, &mut text);
    }
    text
}

/// Rows of the first table.
fn regrets(sums: &Sums<'_>, (name, rows): (&str, usize), text: &mut String) {
    let Some(tallies) = sums.get(&(name, rows)) else {
        return;
    };
    let rows = match rows {
        0 => "all".to_owned(),
        rows => rows.to_string(),
    };
    for by in ["cost", "time"] {
        for (rule, rule_name) in Rule::ALL {
            let own = tallies.iter().filter_map(|t| t.regrets.get(&(by, rule)));
            let mut regrets: Vec<f64> = own.flatten().copied().collect();
            regrets.sort_by(f64::total_cmp);
            let n = regrets.len();
            if n == 0 {
                continue;
            }
            let right = regrets.iter().filter(|r| **r <= RIGHT).count();
            let _ = writeln!(
                text,
                "| {name} | {rows} | {by} | {rule_name} | {:.1} % | {:.1} % | {:.1} % | {:.0} % |",
                100.0 * regrets.iter().sum::<f64>() / n as f64,
                100.0 * regrets[n / 2],
                100.0 * regrets[n * 9 / 10],
                100.0 * right as f64 / n as f64,
            );
        }
    }
}

/// Rows of the second table.
fn held(sums: &Sums<'_>, name: &str, text: &mut String) {
    let Some(tallies) = sums.get(&(name, 0)) else {
        return;
    };
    let sum = |of: &dyn Fn(&Tally) -> usize| tallies.iter().map(|t| of(t)).sum::<usize>();
    let share = |part: usize, of: usize| match of {
        0 => String::new(),
        _ => format!("{:.0} %", 100.0 * part as f64 / of as f64),
    };
    let (possible, answered) = (sum(&|t| t.deadlines[0]), sum(&|t| t.deadlines[1]));
    for by in ["cost", "time"] {
        let next = tallies.iter().filter_map(|t| t.next.get(by));
        let next: Vec<&[f64; 3]> = next.flatten().collect();
        let mean =
            |i: usize| 100.0 * next.iter().map(|n| n[i]).sum::<f64>() / next.len().max(1) as f64;
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {possible} | {} | {} | {by} | {:.2} % | {:.2} % | {:.2} % |",
            share(sum(&|t| t.held[0]), sum(&|t| t.asked[0])),
            share(sum(&|t| t.held[1]), sum(&|t| t.asked[1])),
            share(answered, possible),
            share(sum(&|t| t.deadlines[2]), answered),
            mean(0),
            mean(1),
            mean(2),
        );
    }
}
