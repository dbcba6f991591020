//! From a model's architecture to what to rent for it: plans on all GPUs of the catalogue, predicted by the law of layers.

pub mod json;
mod question;
mod room;
mod scenario;
mod setups;
pub mod text;
mod tuning;

pub use question::ModelQuestion;
pub use tuning::{SampleSet, Tuning, TuningQuestion};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::decision::{Goal, SURELY};
use super::offers::{Offer, offers};
use super::question::NoAdvice;
use scavsim_base::stats::normal;
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_data::cloud::{Catalogue, Market};
use scavsim_engine::Interrupt;
use scavsim_experiment::ranking::{NoRanking, Ranked, RankingOptions, rank};
use scavsim_parallel::gpu::{self, Precision, VmGpus};
use scavsim_parallel::runtime::Unmeasured;
use scavsim_read::input::{Diagnostic, Diagnostics};
use scavsim_search::search::Objective;

#[derive(Debug, Clone)]
pub struct PlanChoice {
    pub gpu: Arc<str>,
    pub gpus: u32,
    pub vm: String,
    pub vms: u32,
    pub offer: Offer,
    /// The chosen forms, degrees and micro-batch.
    pub plan: String,
    pub runtime: Arc<str>,
    pub precision: Precision,
    /// Precision, runtime and form in words.
    pub form: String,
    /// Whether it is the default form of the runtime.
    pub is_plain: bool,
    /// Features of the plan without a known run.
    pub unmeasured: Vec<Unmeasured>,
    /// Mean hours, with the ends of the 90 % interval.
    pub time_h: [f64; 3],
    /// Mean USD, with the ends of the 90 % interval.
    pub cost_usd: [f64; 3],
    pub log_sd: f64,
    /// Tokens per second while it trains.
    pub tokens_per_s: f64,
    /// GiB that a GPU holds at its peak, and its capacity.
    pub memory_gib: [f64; 2],
    /// Model FLOPs utilisation: share of the GPUs' peak that the model's own operations use.
    pub mfu: f64,
    /// Probability of meeting the limits, if there are any.
    pub keeps: Option<f64>,
    /// Seconds of a checkpoint, and of a restore.
    pub checkpoint_s: f64,
}

impl PlanChoice {
    pub fn usd_per_1e9_tokens(&self, tokens: f64) -> f64 {
        self.cost_usd[0] / tokens * 1e9
    }

    /// Whether it meets the limits in the required share of runs, by default 95 %.
    pub fn is_within(&self, goal: &Goal) -> bool {
        let miss = goal.limits.max_miss.unwrap_or(SURELY);
        self.keeps.is_none_or(|keeps| keeps >= 1.0 - miss)
            && goal.allows_mean(SECONDS_PER_HOUR * self.time_h[0])
    }

    fn worth(&self, objective: Objective) -> f64 {
        match objective {
            Objective::Time => self.time_h[0],
            _ => self.cost_usd[0],
        }
    }
}

#[derive(Debug, Clone)]
pub struct PlanMeasurement {
    /// The plan whose steps are timed.
    pub choice: PlanChoice,
    pub minutes: f64,
    pub usd: f64,
    /// Expected improvement of the choice: USD, or hours for the objective time.
    pub gain: f64,
}

#[derive(Debug, Clone)]
pub struct ModelAdvice {
    pub question: ModelQuestion,
    pub model: (String, u64),
    /// Tokens of a sequence, sequences of a step.
    pub step: (u32, u32),
    /// Number of tokens that are computed.
    pub tokens: f64,
    pub tuning: Option<Tuning>,
    /// The default form of the first runtime on the GPU of the best choice; `None` if it does not fit.
    pub plain: Option<PlanChoice>,
    pub plans: usize,
    /// The best on each GPU, sorted; choices that meet the limits come first.
    pub choices: Vec<PlanChoice>,
    /// The best with each number of each GPU, in the same order.
    pub of_each_size: Vec<PlanChoice>,
    /// GPUs on which no plan fits.
    pub without_plan: Vec<Arc<str>>,
    /// Measurements that are worth their price, the best first.
    pub measurements: Vec<PlanMeasurement>,
}

impl ModelAdvice {
    /// Whether the first choice meets the limits.
    pub fn is_within(&self) -> bool {
        self.choices
            .first()
            .is_some_and(|best| best.is_within(&self.question.goal))
    }

    /// The model and its tokens.
    pub fn title(&self) -> String {
        let method = self
            .tuning
            .map_or_else(String::new, |of| format!(", {}", of.method));
        format!(
            "{}{method}: {} tokens",
            self.model.0,
            exponential(self.tokens)
        )
    }
}

pub fn advise_model(
    question: &ModelQuestion,
    jobs: usize,
    interrupt: &Interrupt,
) -> Result<ModelAdvice, NoAdvice> {
    let mut diagnostics = Diagnostics::default();
    let asked = scenario::ResolvedQuestion::from_question(question, &mut diagnostics);
    let Some(asked) = asked.filter(|_| diagnostics.is_empty()) else {
        return Err(NoAdvice::Wrong(diagnostics));
    };
    let found = offers(
        &asked.vms,
        &BTreeSet::new(),
        &question.wanted,
        Catalogue::current(),
        &mut diagnostics,
    );
    if !diagnostics.is_empty() {
        return Err(NoAdvice::Wrong(diagnostics));
    }
    let mut cheapest = cheapest_of_each(&found.all);
    if let Some(tuning) = &asked.tuning {
        let most = question.most_gpus();
        cheapest.retain(|offer| room::fits_vm(&asked, tuning, &offer.vm, most));
    }
    let ranker = Ranker {
        question,
        asked: &asked,
        jobs,
        interrupt,
    };
    let mut found_plans = FoundPlans::default();
    for lot in scenario::lots(&cheapest) {
        let lot: Lot<'_> = (lot.into_iter())
            .filter_map(|offer| Some((offer, gpu::of_vm(&offer.vm)?)))
            .collect();
        ranker.rank_lot(&lot, &mut found_plans)?;
    }
    let FoundPlans { mut all, wrong } = found_plans;
    if interrupt.is_raised() {
        return Err(NoAdvice::Failed(NoRanking::Interrupted));
    }
    if all.is_empty() {
        return Err(NoAdvice::Wrong(why_none(
            question, &asked, &cheapest, wrong,
        )));
    }
    let plans = all.len();
    sort(&mut all, &question.goal);
    let choices = first_of_each(&all, |choice| &choice.gpu);
    let is_plain = |choice: &&PlanChoice| choice.is_plain && choice.gpu == choices[0].gpu;
    let plain = all.iter().find(is_plain).cloned();
    let of_each_size = first_of_each(&all, |choice| (&choice.gpu, choice.gpus));
    // Choices that meet the limits come first.
    let within = choices.partition_point(|choice| choice.is_within(&question.goal));
    let worth_measuring = if within == 0 {
        &choices[..]
    } else {
        &choices[..within]
    };
    let is_chosen = |gpu: &Arc<str>| choices.iter().any(|choice| choice.gpu == *gpu);
    Ok(ModelAdvice {
        model: (asked.model.model.clone(), asked.model.parameters()),
        step: (asked.sequence, asked.batch),
        tokens: asked.tokens,
        tuning: asked.tuning,
        plain,
        plans,
        without_plan: asked
            .gpus
            .iter()
            .filter(|gpu| !is_chosen(gpu))
            .cloned()
            .collect(),
        measurements: measurements(question, &asked, worth_measuring),
        choices,
        of_each_size,
        question: question.clone(),
    })
}

/// Why there is no plan, with advice.
fn why_none(
    question: &ModelQuestion,
    asked: &scenario::ResolvedQuestion,
    cheapest: &[&Offer],
    wrong: Option<Diagnostics>,
) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    let caps = &question.wanted.caps;
    let least = cheapest.iter().map(|offer| offer.cluster_usd_per_hour(1));
    let least = least.fold(f64::INFINITY, f64::min);
    if !caps.allow(least) {
        diagnostics.push(caps.without_any(least));
    } else if let Some(tuning) = &asked.tuning {
        diagnostics.push(room::misfit(asked, tuning, question.most_gpus()));
    } else if let Some(wrong) = wrong {
        return wrong;
    } else {
        let title = format!(
            "no plan of `{}` fits any GPU that was asked for",
            question.model
        );
        let help = "more GPUs (--most-gpus), a shorter sequence, or a runtime that keeps less: `recompute`, `shard`";
        diagnostics.push(Diagnostic::general(title).with_help(help));
    }
    diagnostics
}

/// Minimum hours between two losses of VMs, relative to a set-up. Below that, more VMs shorten no run.
const LEAST_SETUPS: f64 = 3.0;

/// Offers with the GPUs of their VMs.
type Lot<'o> = Vec<(&'o Offer, VmGpus)>;

#[derive(Default)]
struct FoundPlans {
    all: Vec<PlanChoice>,
    /// The mistakes of the first setup without a plan.
    wrong: Option<Diagnostics>,
}

struct Ranker<'a> {
    question: &'a ModelQuestion,
    asked: &'a scenario::ResolvedQuestion,
    jobs: usize,
    interrupt: &'a Interrupt,
}

impl Ranker<'_> {
    /// All plans on a lot under all setups. On spot terms each plan is simulated: only the best ones of their GPU and number
    /// of GPUs without losses, and the best default one. Numbers of VMs that lose one too soon are left out.
    fn rank_lot(&self, lot: &Lot<'_>, found: &mut FoundPlans) -> Result<(), NoAdvice> {
        let is_spot = lot.iter().any(|(offer, _)| offer.market == Market::Spot);
        let mut calm: Vec<(usize, PlanChoice)> = Vec::new();
        for (number, setup) in self.asked.setups.iter().enumerate() {
            let runs_on =
                |(_, of): &&(&Offer, VmGpus)| of.gpu.is_some_and(|own| setup.runs_on(own));
            let of: Lot<'_> = lot.iter().filter(runs_on).copied().collect();
            let plans = self.plans(setup, &setup.lines(), (&of, false), found)?;
            calm.extend(plans.into_iter().map(|plan| (number, plan)));
        }
        if !is_spot {
            found.all.extend(calm.into_iter().map(|(_, plan)| plan));
            return Ok(());
        }
        let objective = self.question.goal.objective;
        let mut fewest: BTreeMap<Arc<str>, u32> = BTreeMap::new();
        for (_, plan) in &calm {
            let least = fewest.entry(Arc::clone(&plan.gpu)).or_insert(plan.vms);
            *least = plan.vms.min(*least);
        }
        let least_h = LEAST_SETUPS * self.question.setup_min / 60.0;
        let works = |plan: &PlanChoice| plan.offer.mean_h_of_first(plan.vms) >= least_h;
        calm.retain(|(_, plan)| plan.vms == fewest[&plan.gpu] || works(plan));
        calm.sort_by(|a, b| a.1.worth(objective).total_cmp(&b.1.worth(objective)));
        let mut seen = BTreeSet::new();
        let mut alike: BTreeMap<(usize, String), BTreeSet<String>> = BTreeMap::new();
        for (number, plan) in calm {
            let is_first_plain = plan.is_plain && seen.insert((Arc::clone(&plan.gpu), 0));
            if seen.insert((Arc::clone(&plan.gpu), plan.gpus)) || is_first_plain {
                let vms = alike.entry((number, plan.plan)).or_default();
                vms.insert(plan.vm);
            }
        }
        for ((number, plan), vms) in alike {
            let setup = &self.asked.setups[number];
            let has = |(offer, _): &&(&Offer, VmGpus)| vms.contains(&offer.vm);
            let of: Lot<'_> = lot.iter().filter(has).copied().collect();
            let plans = self.plans(setup, &setup.lines_of(&plan), (&of, true), found)?;
            found.all.extend(plans);
        }
        Ok(())
    }

    fn plans(
        &self,
        setup: &setups::Setup,
        lines: &str,
        (of, is_spot): (&Lot<'_>, bool),
        found: &mut FoundPlans,
    ) -> Result<Vec<PlanChoice>, NoAdvice> {
        let own: Vec<&Offer> = of.iter().map(|(offer, _)| *offer).collect();
        if own.is_empty() {
            return Ok(Vec::new());
        }
        let read = scenario::scenario_of_lot(self.question, self.asked, lines, (&own, is_spot));
        let scenario = match read {
            Ok(scenario) => scenario,
            Err(wrong) => {
                found.wrong.get_or_insert(wrong);
                return Ok(Vec::new());
            }
        };
        let effort = RankingOptions {
            runs: self.question.runs,
            jobs: self.jobs,
            interrupt: self.interrupt,
            progress: &AtomicU64::new(0),
        };
        let rankings = rank(&scenario, effort).map_err(NoAdvice::Failed)?;
        let rows = rankings.iter().flat_map(|ranking| &ranking.rows);
        let of_row = |row| choice(self.question, (self.asked, setup), of, row);
        Ok(rows.filter_map(of_row).collect())
    }
}

/// The cheapest of VM types with as many equal GPUs from one provider and on equal terms. Plans know no other difference
/// except the network; at equal prices the faster one wins. On demand, other providers count, too.
fn cheapest_of_each(all: &[Offer]) -> Vec<&Offer> {
    let gbit = |offer: &Offer| {
        let network = gpu::of_vm(&offer.vm).and_then(|of| of.network_gbit_per_s);
        network.unwrap_or(0.0)
    };
    let mut best: BTreeMap<_, &Offer> = BTreeMap::new();
    for offer in all {
        let Some(of) = gpu::of_vm(&offer.vm) else {
            continue;
        };
        let Some(own) = of.gpu else { continue };
        let is_spot = offer.market == Market::Spot;
        let key = ((Arc::clone(&own.name), of.count, is_spot), &offer.provider);
        let is_better = best.get(&key).is_none_or(|known| {
            (known.reserved == 0 && offer.reserved > 0)
                || offer.usd_per_hour < known.usd_per_hour
                || (offer.usd_per_hour == known.usd_per_hour && gbit(offer) > gbit(known))
        });
        if is_better {
            best.insert(key, offer);
        }
    }
    let is_beaten = |alike: &(Arc<str>, u32, bool), offer: &Offer| {
        let others = best.iter().filter(|((other, _), _)| other == alike);
        let mut others = others.filter(|_| !alike.2 && offer.reserved == 0);
        others
            .any(|(_, other)| other.usd_per_hour < offer.usd_per_hour && gbit(other) >= gbit(offer))
    };
    let kept = best
        .iter()
        .filter(|((alike, _), offer)| !is_beaten(alike, offer));
    kept.map(|(_, offer)| *offer).collect()
}

/// A number with its significant digits, at most three: `6.14e7`.
fn exponential(number: f64) -> String {
    let rounded: f64 = format!("{number:.2e}").parse().unwrap_or(number);
    format!("{rounded:e}")
}

/// The distance of a choice from the limits that it breaks: its share of misses, and its mean relative to the limit.
fn excess(choice: &PlanChoice, goal: &Goal) -> f64 {
    let over = |most: f64| (SECONDS_PER_HOUR * choice.time_h[0] / most - 1.0).max(0.0);
    1.0 - choice.keeps.unwrap_or(1.0) + goal.max_mean_time_s.map_or(0.0, over)
}

/// The best plan first, those within the limits before others.
fn sort(all: &mut [PlanChoice], goal: &Goal) {
    let order = |choice: &PlanChoice| {
        if choice.is_within(goal) {
            (false, choice.worth(goal.objective))
        } else {
            (true, excess(choice, goal))
        }
    };
    all.sort_by(|a, b| {
        let ((a_out, a_worth), (b_out, b_worth)) = (order(a), order(b));
        a_out
            .cmp(&b_out)
            .then(a_worth.total_cmp(&b_worth))
            .then(a.time_h[0].total_cmp(&b.time_h[0]))
    });
}

/// The first one for each key.
fn first_of_each<'c, K: Ord>(
    all: &'c [PlanChoice],
    key: impl Fn(&'c PlanChoice) -> K,
) -> Vec<PlanChoice> {
    let mut seen = BTreeSet::new();
    let first = all.iter().filter(|choice| seen.insert(key(choice)));
    first.cloned().collect()
}

fn choice(
    question: &ModelQuestion,
    (asked, setup): (&scenario::ResolvedQuestion, &setups::Setup),
    lot: &[(&Offer, VmGpus)],
    row: &Ranked,
) -> Option<PlanChoice> {
    let held = row.held.first()?;
    let (offer, of) = lot.iter().find(|(offer, _)| offer.vm == *held.vm)?;
    let own = of.gpu?;
    let gpus = of.count * held.vms;
    let memory_gib = [row.plan?.peak_gib, own.memory_gib];
    let is_tight = memory_gib[0] > memory_gib[1];
    if asked.tuning.is_some() && is_tight {
        return None;
    }
    if !(question.wanted.caps).allow(offer.cluster_usd_per_hour(held.vms)) {
        return None;
    }
    let hours = |seconds: f64| seconds / 3600.0;
    let [low, high] = row.time_interval_s();
    let paid = offer.paid_share(held.vms);
    let [mean_usd, cheap, dear] = {
        let [cheap, dear] = row.cost_interval_usd();
        [row.expected.cost_usd, cheap, dear].map(|usd| usd * paid)
    };
    let plan = row.other.clone().unwrap_or_default();
    let log_sd = row.spread.time().unwrap_or(0.0);
    let training_s = (row.expected.time_s - 60.0 * question.setup_min).max(1.0);
    let tokens_per_s = asked.tokens / training_s;
    let peak = own.tflops(setup.precision)? * 1e12 * f64::from(gpus);
    let limits = &question.goal.limits;
    let below = |most: f64, mean: f64| {
        if log_sd > 0.0 {
            normal::cdf(libm::log(most / mean) / log_sd)
        } else if mean <= most {
            1.0
        } else {
            0.0
        }
    };
    let within = [
        limits
            .max_time_s
            .map(|most| below(most, row.expected.time_s)),
        limits.max_cost_usd.map(|most| below(most, mean_usd)),
    ];
    Some(PlanChoice {
        gpu: Arc::clone(&own.name),
        gpus,
        vm: offer.vm.clone(),
        vms: held.vms,
        offer: (*offer).clone(),
        runtime: Arc::clone(&setup.runtime.name),
        precision: setup.precision,
        form: setup.form(&plan),
        is_plain: setup.is_plain(&plan),
        unmeasured: setup.unmeasured(&asked.model, own, gpus, &plan),
        plan,
        time_h: [hours(row.expected.time_s), hours(low), hours(high)],
        cost_usd: [mean_usd, cheap, dear],
        log_sd,
        tokens_per_s,
        mfu: asked.token_flops() * tokens_per_s / peak,
        memory_gib,
        // A step that is longer than predicted misses both.
        keeps: within.into_iter().flatten().reduce(f64::min),
        checkpoint_s: row.plan?.checkpoint_gb / scenario::CHECKPOINT_GB_PER_S,
    })
}

/// The worth of timing some steps of the best plan on each GPU: E[max(0, dearer − cheaper)] of the best and the second one,
/// of which one becomes known exactly and both are log-normal around their predictions. Positive if it gains more than it
/// costs.
fn measurements(
    question: &ModelQuestion,
    asked: &scenario::ResolvedQuestion,
    choices: &[PlanChoice],
) -> Vec<PlanMeasurement> {
    let objective = question.goal.objective;
    let Some(best) = choices.first() else {
        return Vec::new();
    };
    let steps = asked.tokens / (f64::from(asked.batch) * f64::from(asked.sequence));
    let second = choices
        .get(1)
        .map_or(f64::INFINITY, |choice| choice.worth(objective));
    let mut all: Vec<PlanMeasurement> = (choices.iter().enumerate())
        .map(|(at, choice)| {
            let worth = choice.worth(objective);
            let gain = if at == 0 {
                exchange(worth, second, choice.log_sd)
            } else {
                // It may turn out cheaper than the best: the opposite side of the exchange.
                exchange(worth, best.worth(objective), choice.log_sd) + best.worth(objective)
                    - worth
            };
            let step_h = (choice.time_h[0] - question.setup_min / 60.0).max(0.0) / steps.max(1.0);
            let hours = question.setup_min / 60.0 + f64::from(question.steps) * step_h;
            PlanMeasurement {
                choice: choice.clone(),
                minutes: 60.0 * hours,
                usd: hours * choice.offer.cluster_usd_per_hour(choice.vms),
                gain: gain.max(0.0),
            }
        })
        .collect();
    let net = |one: &PlanMeasurement| match objective {
        Objective::Time => one.gain,
        _ => one.gain - one.usd,
    };
    all.sort_by(|a, b| net(b).total_cmp(&net(a)));
    all
}

/// E[max(0, X − other)] of a log-normal X with a mean and a standard deviation of its logarithm.
/// Source: Black and Scholes, Journal of Political Economy 1973.
fn exchange(mean: f64, other: f64, log_sd: f64) -> f64 {
    if !other.is_finite() {
        return 0.0;
    }
    // If one of them is free there is nothing to find out.
    if log_sd <= 0.0 || mean <= 0.0 || other <= 0.0 {
        return (mean - other).max(0.0);
    }
    let d = libm::log(mean / other) / log_sd + log_sd / 2.0;
    mean * normal::cdf(d) - other * normal::cdf(d - log_sd)
}

#[cfg(test)]
mod tests;
