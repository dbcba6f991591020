//! Advice on the few rows that users typically measure, cut in more ways than their author would measure.
//!
//! A cut keeps 4, 6, 8 or 12 rows of an application: equal samples per worker on each rung (weak), an equal global batch
//! (strong), or any (mixed), on the placements of one of [`KINDS`]. It is processed like a user's table. Candidates are
//! measured ones on the shapes of the cut within the bounds of advice; advice is compared with rules of thumb.

use std::collections::BTreeMap;
use std::fmt::Write;

use rayon::prelude::*;

use super::cuts::{EIGHT, KINDS, NOISE, SLOWER, cut, eight_gpus, slowed};
use super::{Asked, Fact, all_facts, ask, table, value};
use scavsim::advise::decision::{Measurement, MeasuringEffort, Prospect};
use scavsim::advise::repeats::{EPOCHS_SD, STEP_SD};
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

/// How a cut leads to a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    Advice,
    BestMeasured,
    OneMachine,
    Ernest,
    RootOfWorkers,
    EveryOther,
}

impl Rule {
    const ALL: [(Rule, &'static str); 6] = [
        (Rule::Advice, "advice"),
        (Rule::BestMeasured, "best measured row"),
        (Rule::OneMachine, "one full machine"),
        (Rule::Ernest, "Ernest by least squares"),
        (Rule::RootOfWorkers, "√K by least squares"),
        (Rule::EveryOther, "every other row"),
    ];
}

/// Results of all cuts of one size.
#[derive(Debug, Default)]
struct Tally {
    cuts: usize,
    /// Regrets by objective and rule.
    regrets: BTreeMap<(&'static str, Rule), Vec<f64>>,
    /// Predicted intervals, and those that contain the truth: between rungs, above the largest.
    asked: [usize; 2],
    held: [usize; 2],
    /// Deadlines that can be met, those with an answer, and answers that meet them.
    deadlines: [usize; 3],
    /// Regrets after an advised and after a random measurement, and before, by objective.
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

/// The study on `cuts` cuts of each size from each application, as a document.
pub fn document(cuts: usize) -> String {
    let mut all: BTreeMap<(usize, &str, &str), Tally> = BTreeMap::new();
    for name in WORKLOADS.into_iter().chain([EIGHT]) {
        let measured = if name == EIGHT { WORKLOADS[0] } else { name };
        let Some(folder) = library::embedded(measured) else {
            continue;
        };
        let Some(workload) = load::load(&folder, &mut Diagnostics::default()) else {
            continue;
        };
        let (facts, others) = if name == EIGHT {
            (eight_gpus(&workload), Vec::new())
        } else {
            let facts = all_facts(&workload);
            let others = by_every_other(&workload, &facts);
            (facts, others)
        };
        for (size, rows) in ROWS.into_iter().enumerate() {
            let tallies: Vec<(&str, Tally)> = (0..cuts)
                .into_par_iter()
                .map(|number| {
                    // A few cuts of each size are of all kinds together.
                    let kind = KINDS[(number + size * cuts) % KINDS.len()];
                    (
                        kind,
                        one(&workload, (&facts, &others), kind, rows, number as u64),
                    )
                })
                .collect();
            for (kind, other) in tallies {
                all.entry((rows, name, kind)).or_default().add(other);
            }
        }
    }
    text(&all, cuts)
}

/// Seconds of each step predicted from all other measurements of its application: the limit for laws of a few rows.
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

fn one(
    workload: &Workload,
    (facts, others): (&[Fact], &[f64]),
    kind: &str,
    rows: usize,
    number: u64,
) -> Tally {
    let mut tally = Tally::default();
    let key = Purpose::Strategy(StrategyKey::from_name("ladders"));
    let mut stream = Streams::new(number).stream(rows as u64, key);
    let slow = (kind == "slow network").then(|| slowed(facts));
    let facts = slow.as_deref().unwrap_or(facts);
    let others = if slow.is_some() { &[] } else { others };
    let kept = cut(facts, kind, rows, &mut stream);
    let samples = workload.constants.samples_per_epoch.value;
    let mut seen = facts.to_vec();
    if kind == "noise" {
        for i in &kept {
            seen[*i].step_s *= libm::exp(NOISE * stream.normal());
        }
    }
    let Some(asked) = ask(workload, facts, &table(&seen, &kept, &[]), samples) else {
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
            if let Some(choice) = choose(rule, objective, &asked, (&seen, others), &kept) {
                let regret = truth(choice) / best - 1.0;
                tally.regrets.entry((name, rule)).or_default().push(regret);
            }
        }
        if kind == KINDS[0]
            && let Some(next) = next(workload, facts, &kept, objective, &asked, &mut stream)
        {
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
    if let Some(&choice) = asked.ranked(&decision).first() {
        tally.deadlines[1] += 1;
        let time_s = facts[choice].truth.time_s;
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
    let least = |all: &mut dyn Iterator<Item = (usize, f64)>| {
        Some(all.min_by(|a, b| a.1.total_cmp(&b.1))?.0)
    };
    let known = |i: usize, step_s: f64| {
        let own = kept.iter().find(|own| **own == i);
        own.map_or(step_s, |own| facts[*own].step_s)
    };
    let by_steps = |step_s: &dyn Fn(usize) -> f64| {
        let predicted = |(prospect, i): (&Prospect, &usize)| {
            let own = known(*i, step_s(*i)) / prospect.step_s;
            (*i, own * value(objective, &prospect.expected))
        };
        least(&mut asked.prospects.iter().zip(&asked.places).map(predicted))
    };
    let truth = |at: &usize| value(objective, &facts[*at].truth);
    let by_line = |grown: &dyn Fn(f64) -> [f64; 2]| {
        let x = |i: usize| {
            let c = &facts[i].configuration;
            let [first, second] = grown(f64::from(c.workers));
            [1.0, c.local_batch(), first, second]
        };
        let equations: Vec<Equation<4>> = (kept.iter())
            .map(|&i| Equation::relative(x(i), facts[i].step_s))
            .collect();
        let law = non_negative(&equations)?;
        by_steps(&|i| x(i).iter().zip(law).map(|(x, c)| x * c).sum())
    };
    match rule {
        Rule::Advice => {
            let decision = asked.decision(objective, Limits::default());
            asked.ranked(&decision).first().copied()
        }
        Rule::BestMeasured => least(&mut kept.iter().map(|i| (*i, truth(i)))),
        Rule::OneMachine => {
            let one = asked.within.iter().filter(|i| facts[**i].vms == 1.0);
            let size = |i: &&usize| {
                let c = &facts[**i].configuration;
                (c.workers, c.batch)
            };
            one.max_by_key(size).copied()
        }
        Rule::Ernest => by_line(&|k| [k.log2(), k]),
        Rule::RootOfWorkers => by_line(&|k| [if k > 1.0 { k.sqrt() } else { 0.0 }, 0.0]),
        Rule::EveryOther if others.is_empty() => None,
        Rule::EveryOther => {
            let predicted = |i: &usize| truth(i) * known(*i, others[*i]) / facts[*i].step_s;
            least(&mut asked.within.iter().map(|i| (*i, predicted(i))))
        }
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
        // More configurations are then within the measured bounds: these are not compared.
        let ranked = again.ranked(&again.decision(objective, Limits::default()));
        let choice = ranked.into_iter().find(|at| asked.within.contains(at))?;
        Some(truth(choice) / best - 1.0)
    };
    let random: Option<Vec<f64>> = (0..RANDOM)
        .map(|_| regret(&[asked.places[left[stream.below(left.len())]]]))
        .collect();
    let random = random?;
    let random = random.iter().sum::<f64>() / random.len() as f64;
    Some([regret(&[])?, regret(&[advised])?, random])
}

/// Tallies by application, by kind, or total, and by rows, or all (0).
type Sums<'t> = BTreeMap<(&'t str, usize), Vec<&'t Tally>>;

fn text(all: &BTreeMap<(usize, &str, &str), Tally>, cuts: usize) -> String {
    let mut sums = Sums::new();
    for ((rows, name, kind), tally) in all {
        for key in [(*name, 0), (*kind, 0), ("all", *rows), ("all", 0)] {
            sums.entry(key).or_default().push(tally);
        }
    }
    let command = if cuts < 40 {
        "ladders-sample"
    } else {
        "ladders"
    };
    let mut text = format!(
        "# Advice on few rows

`cargo bench --bench studies -- {command}`: {cuts} cuts of 4, 6, 8 and 12 rows each from {} applications that were measured at
hundreds of configurations, on machines of four GPUs, and from one on machines of eight GPUs, `{EIGHT}`, whose steps are of a
formula. Kinds of cuts take turns: a ladder of one GPU, a VM and several; the same without a full VM, or without one GPU; on
several VMs only, or on one; of mixed shapes; in a network so slow that each further VM makes a step {:.0} % longer; with noise
of {:.0} % on the rows. Regret: the true value of the choice over that of the best that was measured within the bounds of
advice, on the shapes of the cut. Right: within {:.1} % of it. Ernest and √K are laws of steps: they have the same epochs as advice,
those of the cut and what it makes of them. The last rule knows all epochs, every row of the application but the one that it
asks about, and the cut: more than that no law of a few rows can know.

| application or kind | rows | by | rule | regret, mean | median | 90 % of cuts | right |
| --- | ---: | --- | --- | ---: | ---: | ---: | ---: |
",
        WORKLOADS.len(),
        100.0 * SLOWER,
        100.0 * NOISE,
        100.0 * RIGHT,
    );
    let names = || WORKLOADS.into_iter().chain([EIGHT]).chain(KINDS);
    for name in names() {
        regrets(&sums, (name, 0), &mut text);
    }
    for rows in ROWS.into_iter().chain([0]) {
        regrets(&sums, ("all", rows), &mut text);
    }
    text += "
Of 90 % intervals of times that were not measured, these shares hold the truth: of up to as many workers as were measured, and of more.
Deadlines are a third below the fastest measured row; those that some configuration keeps are to be answered, and the answer
is to keep them. A measurement more on a ladder, within its bounds: the mean regret before, after the advised one, and after one
at random.

| application or kind | held | of more workers | deadlines | answered | kept | by | before | after advised | after random |
| --- | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: |
";
    for name in names().chain(["all"]) {
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
        let mean = |i: usize| match next.len() {
            0 => String::new(),
            n => format!(
                "{:.2} %",
                100.0 * next.iter().map(|n| n[i]).sum::<f64>() / n as f64
            ),
        };
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {possible} | {} | {} | {by} | {} | {} | {} |",
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
