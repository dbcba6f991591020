//! Advice over the catalogue: from few rows on one machine to the cheapest and the fastest of all with an equal GPU; and GPUs
//! without measurements.
//!
//! A cut is a ladder of `cuts`. It is processed like a user's table, with the prices of the catalogue and priors of laws
//! from the other applications. A machine with one T4 has the measurements of one worker on each VM with four: alone, or if
//! its network is as fast. The judged choice is the first one with known truth.

use std::collections::BTreeMap;
use std::fmt::Write;

use rayon::prelude::*;

use super::cuts::ladder;
use super::ladders::{ROWS, WORKLOADS};
use super::{Fact, all_facts, table};
use scavsim::advise::answer::advise_on;
use scavsim::advise::speeds::{Speeds, Training, trainings};
use scavsim::advise::{Advice, Goal, OfferFilter, Question};
use scavsim::cloud::{Catalogue, Market};
use scavsim::configuration::{Configuration, Shape, vm_type};
use scavsim::engine::Interrupt;
use scavsim::input::Diagnostics;
use scavsim::parallel::gpu::{GpuSheet, Precision};
use scavsim::rng::{Purpose, StrategyKey, Streams};
use scavsim::search::{Limits, Objective};
use scavsim::stats::normal;
use scavsim::workload::{Workload, library, load};
use scavsim_import::profile;

/// The machine that was measured.
const MEASURED: &str = "g4dn.12xlarge";
/// Machines with one T4 and the network of that one.
const WITH_ITS_NETWORK: [&str; 2] = ["g4dn.8xlarge", "g4dn.16xlarge"];
/// Simulated runs of each configuration: they only widen intervals, by the scatter of repeats.
const RUNS: u64 = 20;

/// The results of cuts.
#[derive(Debug, Default)]
struct Tally {
    /// Cuts, and those without an answer.
    cuts: [usize; 2],
    /// Regrets over the best within the bounds of advice, over all measured ones, and of the best measured machine.
    regrets: BTreeMap<&'static str, Vec<[f64; 3]>>,
    /// Number of choices of unmeasured machines.
    untouched: BTreeMap<&'static str, usize>,
    /// Predicted intervals, and those that contain the truth: on the measured machine, and on others.
    asked: [usize; 2],
    held: [usize; 2],
}

impl Tally {
    fn add(&mut self, other: Tally) {
        for (key, values) in other.regrets {
            self.regrets.entry(key).or_default().extend(values);
        }
        for (key, count) in other.untouched {
            *self.untouched.entry(key).or_default() += count;
        }
        for i in 0..2 {
            self.cuts[i] += other.cuts[i];
            self.asked[i] += other.asked[i];
            self.held[i] += other.held[i];
        }
    }
}

/// The study on `cuts` cuts of each size from each application, as a document.
pub fn document(cuts: usize) -> String {
    let mut all: BTreeMap<(&str, usize), Tally> = BTreeMap::new();
    for name in WORKLOADS {
        let folder = library::embedded(name);
        let workload = folder.and_then(|f| load::load(&f, &mut Diagnostics::default()));
        let Some(workload) = workload else { continue };
        let facts = all_facts(&workload);
        for rows in ROWS {
            let tallies: Vec<Tally> = (0..cuts as u64)
                .into_par_iter()
                .map(|number| one(&workload, &facts, rows, number))
                .collect();
            let tally = all.entry((name, rows)).or_default();
            tallies.into_iter().for_each(|other| tally.add(other));
        }
    }
    let command = if cuts < 20 {
        "catalogue-sample"
    } else {
        "catalogue"
    };
    let count = cuts * ROWS.len() * WORKLOADS.len() * 2;
    let mut text = format!(
        "# Advice over the catalogue

`cargo bench --bench studies -- {command}`: {count} pieces of advice, by cost and by time, on {cuts} ladders of 4, 6, 8 and 12 rows from each
of {} applications, measured on {MEASURED} with T4s, through `scavsim advise` with the prices of the catalogue in us-east-1. A machine with one
T4 does what was measured with one worker on each VM, alone or if its network is as fast ({}). Regret: the true value of the first choice whose truth is known over that of
the best that was measured within the bounds of advice (at most twice the workers and as many samples per worker as were shown, on the
shapes of the ladder and on single GPUs), and over the best of all that was ever measured with a T4. What is expected of laws comes from
the other applications; nothing here was used to set a constant of machines.

| application | rows | by | regret, mean | median | 90 % of cuts | over all, mean | median | best measured machine, mean | not measured |
| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
",
        WORKLOADS.len(),
        WITH_ITS_NETWORK.join(", "),
    );
    let names = WORKLOADS.into_iter().chain(["all"]);
    for (name, rows) in names.flat_map(|n| ROWS.into_iter().chain([0]).map(move |r| (n, r))) {
        if name == "all" || rows == 0 {
            regrets(&all, (name, rows), &mut text);
        }
    }
    text += "
Of 90 % intervals of times that were not shown, these shares hold the truth:

| application | on the measured machine | asked | on machines that were not measured | asked | without an answer |
| --- | ---: | ---: | ---: | ---: | ---: |
";
    for name in WORKLOADS.into_iter().chain(["all"]) {
        intervals(&all, name, &mut text);
    }
    text += &left_out();
    text
}

fn question(workload: &Workload, objective: Objective) -> Question {
    Question {
        import: profile::ProfileOptions {
            file: "cut.csv".into(),
            name: "cut".to_owned(),
            samples_per_epoch: workload.constants.samples_per_epoch.value as u64,
            epochs: None,
            unit: Some(profile::Unit::S),
            batch: Some(profile::BatchIs::Global),
            cold_start_steps: None,
            probe_steps: None,
            restore_s: None,
            parameters: None,
            run: profile::RunDescription::default(),
        },
        wanted: OfferFilter {
            market: Some(Market::OnDemand),
            ..OfferFilter::default()
        },
        goal: Goal {
            objective,
            limits: Limits::default(),
            max_mean_time_s: None,
        },
        setup_min: 0.0,
        steps: 120,
        times: 1.0,
        runs: RUNS,
    }
}

/// The measurement of a choice: for a machine with one GPU, that of one worker on each VM.
fn fact_of<'f>(facts: &'f [Fact], c: &Configuration) -> Option<&'f Fact> {
    let shape = Shape::parse(&c.vm).ok()?;
    let is_alike = c.workers == 1 || WITH_ITS_NETWORK.contains(&shape.vm_type);
    let is_one = shape.suffix.is_empty() && shape.vm_type.starts_with("g4dn.") && is_alike;
    let on = match shape.vm_type {
        MEASURED => c.vm.to_string(),
        "g4dn.metal" => return None,
        _ if is_one => MEASURED.to_owned(),
        _ => return None,
    };
    facts.iter().find(|fact| {
        let f = &fact.configuration;
        *f.vm == *on && (f.workers, f.batch) == (c.workers, c.batch)
    })
}

fn one(workload: &Workload, facts: &[Fact], rows: usize, number: u64) -> Tally {
    let mut tally = Tally::default();
    let key = Purpose::Strategy(StrategyKey::from_name("catalogue"));
    let mut stream = Streams::new(number).stream(rows as u64, key);
    let kept = ladder(facts, rows, &mut stream);
    let source = table(facts, &kept, &[]);
    for (objective, name) in [(Objective::Time, "time"), (Objective::Cost, "cost")] {
        tally.cuts[0] += 1;
        let question = question(workload, objective);
        let Ok(advice) = advise_on(&question, &source, 1, &Interrupt::default()) else {
            tally.cuts[1] += 1;
            continue;
        };
        if objective == Objective::Time {
            coverage(&advice, facts, &kept, &mut tally);
        }
        if let Some(regrets) = regret(&advice, objective, (facts, &kept), &mut tally, name) {
            tally.regrets.entry(name).or_default().push(regrets);
        } else {
            tally.cuts[1] += 1;
        }
    }
    tally
}

fn coverage(advice: &Advice, facts: &[Fact], kept: &[usize], tally: &mut Tally) {
    for choice in &advice.choices {
        let Some(fact) = fact_of(facts, &choice.configuration) else {
            continue;
        };
        let is_shown = kept
            .iter()
            .any(|i| facts[*i].configuration == choice.configuration);
        if is_shown {
            continue;
        }
        let by = usize::from(choice.stands.is_some());
        tally.asked[by] += 1;
        let [_, low, high] = choice.time_h;
        tally.held[by] += usize::from((low..=high).contains(&(fact.truth.time_s / 3600.0)));
    }
}

/// USD per hour of a machine, the newest price on demand.
fn usd(vm: &str) -> f64 {
    let prices = Catalogue::embedded().0.prices_of("aws", vm).iter();
    let own = prices.filter(|p| &*p.region == "us-east-1" && p.market == Market::OnDemand);
    own.max_by_key(|p| p.valid_to)
        .map_or(f64::INFINITY, |p| p.usd_per_hour)
}

/// Regret of the choice over the best within bounds and over all, and that of the best on the measured machine over the best within bounds.
fn regret(
    advice: &Advice,
    objective: Objective,
    (facts, kept): (&[Fact], &[usize]),
    tally: &mut Tally,
    name: &'static str,
) -> Option<[f64; 3]> {
    let worth = |fact: &Fact, usd: f64| match objective {
        Objective::Time => fact.truth.time_s,
        _ => usd * fact.vms * fact.truth.time_s,
    };
    // Single GPUs cost the price of the cheapest machine with one, and more with the network of the measured one.
    let least = |facts: &mut dyn Iterator<Item = &Fact>| {
        let value = |fact: &Fact| {
            let c = &fact.configuration;
            let vm = match (*c.vm == *MEASURED, c.workers) {
                (true, 1) => "g4dn.xlarge",
                (true, _) => WITH_ITS_NETWORK[0],
                _ => MEASURED,
            };
            worth(fact, usd(vm))
        };
        facts.map(value).fold(f64::INFINITY, f64::min)
    };
    let shown = || kept.iter().map(|i| &facts[*i].configuration);
    let most = shown().map(|c| c.workers).max()?;
    let local = || shown().map(Configuration::local_batch);
    let bounds = (
        0.5 * local().fold(f64::INFINITY, f64::min) * (1.0 - 1e-9),
        local().fold(0.0, f64::max) * (1.0 + 1e-9),
    );
    let within = |fact: &&Fact| {
        let c = &fact.configuration;
        c.workers <= 2 * most
            && (bounds.0..=bounds.1).contains(&c.local_batch())
            && (*c.vm == *MEASURED || shown().any(|own| own.vm == c.vm))
    };
    let known = |c: &Configuration| fact_of(facts, c).map(|fact| worth(fact, usd(vm_type(&c.vm))));
    let first = advice
        .choices
        .iter()
        .find(|c| known(&c.configuration).is_some())?;
    let of_measured = (advice.choices.iter())
        .filter(|c| c.stands.is_none())
        .find_map(|c| known(&c.configuration))?;
    let taken = known(&first.configuration)?;
    if first.stands.is_some() {
        *tally.untouched.entry(name).or_default() += 1;
    }
    let (best, of_all) = (
        least(&mut facts.iter().filter(within)),
        least(&mut facts.iter()),
    );
    Some([
        taken / best.min(taken) - 1.0,
        taken / of_all - 1.0,
        of_measured / best.min(taken) - 1.0,
    ])
}

type Tallies<'t> = BTreeMap<(&'t str, usize), Tally>;

/// Rows of the first table: for an application or all, for a number of rows or all (0).
fn regrets(all: &Tallies<'_>, (name, rows): (&str, usize), text: &mut String) {
    let own = || {
        let fits = move |(n, r): &(&str, usize)| {
            (name == "all" || *n == name) && (rows == 0 || *r == rows)
        };
        all.iter()
            .filter(move |(key, _)| fits(key))
            .map(|(_, tally)| tally)
    };
    let told = if rows == 0 {
        "all".to_owned()
    } else {
        rows.to_string()
    };
    for by in ["cost", "time"] {
        let mut found: Vec<[f64; 3]> = own()
            .filter_map(|t| t.regrets.get(by))
            .flatten()
            .copied()
            .collect();
        let n = found.len();
        if n == 0 {
            continue;
        }
        let mean = |i: usize| 100.0 * found.iter().map(|r| r[i]).sum::<f64>() / n as f64;
        let means = [mean(0), mean(1), mean(2)];
        let mut middle = |i: usize, share: usize| {
            found.sort_by(|a, b| a[i].total_cmp(&b[i]));
            100.0 * found[(n * share / 10).min(n - 1)][i]
        };
        let untouched: usize = own().filter_map(|t| t.untouched.get(by)).sum();
        let _ = writeln!(
            text,
            "| {name} | {told} | {by} | {:.1} % | {:.1} % | {:.1} % | {:.1} % | {:.1} % | {:.1} % | {:.0} % |",
            means[0],
            middle(0, 5),
            middle(0, 9),
            means[1],
            middle(1, 5),
            means[2],
            100.0 * untouched as f64 / n as f64,
        );
    }
}

/// A row of the second table.
fn intervals(all: &Tallies<'_>, name: &str, text: &mut String) {
    let own = || all.iter().filter(|((n, _), _)| name == "all" || *n == name);
    let sum = |of: &dyn Fn(&Tally) -> usize| own().map(|(_, t)| of(t)).sum::<usize>();
    let share = |i: usize| 100.0 * sum(&|t| t.held[i]) as f64 / sum(&|t| t.asked[i]).max(1) as f64;
    let _ = writeln!(
        text,
        "| {name} | {:.0} % | {} | {:.0} % | {} | {} of {} |",
        share(0),
        sum(&|t| t.asked[0]),
        share(1),
        sum(&|t| t.asked[1]),
        sum(&|t| t.cuts[1]),
        sum(&|t| t.cuts[0]),
    );
}

/// Predictions of one GPU from another.
#[derive(Debug, Clone, Default)]
struct Beside {
    /// Relative errors of time: of the law, and of the ratios of fp32 peaks, of 16-bit peaks and of bandwidths.
    errors: [Vec<f64>; 4],
    held: usize,
    /// Factors of the 90 % intervals.
    factors: Vec<f64>,
}

impl Beside {
    fn add(&mut self, law: &Speeds, training: &Training, to: &GpuSheet) {
        let Some((_, speed)) = training.speeds.iter().find(|(gpu, _)| gpu.name == to.name) else {
            return;
        };
        for (from, own) in training
            .speeds
            .iter()
            .filter(|(gpu, _)| gpu.name != to.name)
        {
            let truth = libm::log(own / speed);
            let told = law.predict(&[(from, 0.0, 0.0)], &[to]);
            let half = |gpu: &GpuSheet| {
                gpu.tflops(Precision::Fp16)
                    .or(gpu.tflops(Precision::Fp32))
                    .unwrap_or(1.0)
            };
            let single = |gpu: &GpuSheet| gpu.tflops(Precision::Fp32).unwrap_or(1.0);
            let ratios = [
                told.log_s[0],
                libm::log(single(from) / single(to)),
                libm::log(half(from) / half(to)),
                libm::log(from.memory_gb_per_s / to.memory_gb_per_s),
            ];
            for (errors, said) in self.errors.iter_mut().zip(ratios) {
                errors.push((libm::exp(said - truth) - 1.0).abs());
            }
            let reach = normal::AT_95 * told.covariance[0].sqrt();
            self.held += usize::from((told.log_s[0] - truth).abs() <= reach);
            self.factors.push(libm::exp(reach));
        }
    }

    fn row(&self, name: &str, text: &mut String) {
        let n = self.factors.len();
        if n == 0 {
            return;
        }
        let mean = |all: &[f64]| 100.0 * all.iter().sum::<f64>() / n as f64;
        let _ = writeln!(
            text,
            "| {name} | {n} | {:.0} % | {:.0} % | {:.2} | {:.0} % | {:.0} % | {:.0} % |",
            mean(&self.errors[0]),
            100.0 * self.held as f64 / n as f64,
            mean(&self.factors) / 100.0,
            mean(&self.errors[1]),
            mean(&self.errors[2]),
            mean(&self.errors[3]),
        );
    }
}

/// Each GPU held out, and predicted from each other one, for the trainings that are not used in the fit.
fn left_out() -> String {
    let mut text = "
## GPUs that nobody measured

Trainings of `data/gpus/trainings.csv` that set no constant, each predicted on one GPU from its time on one other. The law does not know the GPU
that is asked about: no training that sets it was measured there. Beside it: time in proportion to peaks, and to memory bandwidth.

| GPU | pairs | law, mean error of time | 90 % intervals that hold | reach, factor | fp32 peaks | 16-bit peaks | bandwidths |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"
    .to_owned();
    let judges = || trainings().iter().filter(|t| !t.sets);
    let mut gpus: Vec<&GpuSheet> = Vec::new();
    for (gpu, _) in judges().flat_map(|t| &t.speeds) {
        if !gpus.iter().any(|known| known.name == gpu.name) {
            gpus.push(gpu);
        }
    }
    let (mut all, mut modern, mut known) =
        (Beside::default(), Beside::default(), Beside::default());
    for gpu in gpus {
        let law = Speeds::from_trainings(trainings().iter().filter(|t| t.sets), Some(gpu));
        let mut own = Beside::default();
        for training in judges() {
            own.add(&law, training, gpu);
            all.add(&law, training, gpu);
            if training.source == "lambda-2024" {
                modern.add(&law, training, gpu);
            }
            known.add(Speeds::shipped(), training, gpu);
        }
        own.row(&gpu.name, &mut text);
    }
    all.row("all", &mut text);
    modern.row("all, `lambda-2024`", &mut text);
    known.row("all, the law knows every GPU", &mut text);
    text
}
