//! The catalogue's GPUs as scenarios of parallel plans.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::tuning::{self, SampleSet, Tuning, TuningQuestion};
use crate::advise::decision::Goal;
use crate::advise::offers::{Offer, OfferFilter};
use scavsim_data::cloud::{Catalogue, Market};
use scavsim_parallel::TrainingMethod;
use scavsim_parallel::architecture::{self, Architecture, ModelTable};
use scavsim_parallel::gpu::{self, GpuSheet, Precision};
use scavsim_parallel::runtime::{RuntimePreset, preset};
use scavsim_read::input::{Diagnostic, Diagnostics, Source, nearest_or_all};
use scavsim_scenario::{Extensions, Overrides, Scenario};

#[derive(Debug, Clone)]
pub struct ModelQuestion {
    /// A model's name, or the path of an architecture.
    pub model: String,
    /// Tokens that are computed; [`SampleSet`] says them otherwise.
    pub tokens: f64,
    /// Samples in place of tokens.
    pub data: Option<SampleSet>,
    /// What is trained; all, from nothing, when absent.
    pub tuning: Option<TuningQuestion>,
    /// Tokens of a sequence; what the model was made for, at most 8,192, when absent.
    pub sequence: Option<u32>,
    /// Sequences of a step; about a million tokens when absent.
    pub batch: Option<u32>,
    /// The runtime: a name, or the path of one; the usual one when absent.
    pub runtime: Option<String>,
    /// Precision; the runtime's when absent.
    pub precision: Option<String>,
    /// GPUs to choose from; all when empty.
    pub gpus: Vec<String>,
    pub most_gpus: Option<u32>,
    pub wanted: OfferFilter,
    pub goal: Goal,
    pub setup_min: f64,
    pub steps: u32,
    /// Simulated runs of each plan, where luck plays.
    pub runs: u64,
}

/// Most tokens of a sequence where nobody says how many.
pub(super) const MOST_SEQUENCE: u32 = 8192;
/// Tokens of a step where nobody says how many sequences.
const STEP_TOKENS: u32 = 1 << 20;
/// 10⁹ bytes of a checkpoint per second to its storage and back, where nobody says.
pub(super) const CHECKPOINT_GB_PER_S: f64 = 2.0;

/// Runtime of who names none.
const RUNTIME: &str = "fsdp";
/// Most GPUs of who says nothing.
const MOST_GPUS: u32 = 64;

impl ModelQuestion {
    pub fn runtime(&self) -> &str {
        let usual = match self.tuning {
            Some(_) => tuning::RUNTIME,
            None => RUNTIME,
        };
        self.runtime.as_deref().unwrap_or(usual)
    }

    pub fn most_gpus(&self) -> u32 {
        self.most_gpus.unwrap_or(match self.tuning {
            Some(_) => tuning::MOST_GPUS,
            None => MOST_GPUS,
        })
    }
}

pub(super) struct ResolvedQuestion {
    pub(super) runtime: RuntimePreset,
    pub(super) tuning: Option<Tuning>,
    /// Tokens that are computed.
    pub(super) tokens: f64,
    /// Precision of GPUs that lack the one that was chosen, where nobody asked for it.
    instead: Option<Precision>,
    pub(super) model: Arc<Architecture>,
    pub(super) precision: Precision,
    pub(super) sequence: u32,
    pub(super) batch: u32,
    pub(super) gpus: Vec<Arc<str>>,
    pub(super) vms: BTreeSet<String>,
}

/// Sequences of a step of about a million tokens.
pub(super) fn usual_batch(sequence: u32) -> u32 {
    (STEP_TOKENS / sequence.max(1)).max(1)
}

fn is_path(word: &str) -> bool {
    word.contains('/') || word.starts_with('.')
}

impl ResolvedQuestion {
    pub(super) fn from_question(
        question: &ModelQuestion,
        d: &mut Diagnostics,
    ) -> Option<ResolvedQuestion> {
        let model = model(&question.model, d);
        let runtime = runtime(question.runtime(), d);
        let word = (question.precision.as_deref()).or(runtime.as_ref().map(|r| &*r.precision));
        let precision = word.and_then(|word| {
            let found = Precision::named(word);
            if found.is_none() {
                unknown("precision", word, &Precision::ALL.map(Precision::name), d);
            }
            found
        });
        for name in &question.gpus {
            if gpu::named(name).is_none() {
                unknown("GPU", name, &gpu::names(), d);
            }
        }
        let (model, precision, runtime) = (model?, precision?, runtime?);
        let tuning = match &question.tuning {
            Some(asked) => Some(asked.read(&model, d)?),
            None => None,
        };
        let is_free = question.precision.is_none() && tuning.is_some();
        let instead = (is_free && precision == Precision::Bf16).then_some(Precision::Fp16);
        let computes = |sheet: &GpuSheet| {
            let with = [Some(precision), instead];
            with.into_iter()
                .flatten()
                .any(|with| sheet.tflops(with).is_some())
        };
        let wanted: BTreeSet<&str> = (question.gpus.iter())
            .filter_map(|name| gpu::named(name).map(|gpu| &*gpu.name))
            .collect();
        let is_wanted = |name: &str| wanted.is_empty() || wanted.contains(name);
        let (mut gpus, mut vms) = (Vec::new(), BTreeSet::new());
        for vm in &Catalogue::current().types {
            let Some(own) = gpu::of_vm(&vm.vm).and_then(|of| of.gpu) else {
                continue;
            };
            if !is_wanted(&own.name) || !computes(own) {
                continue;
            }
            if !gpus.contains(&own.name) {
                gpus.push(Arc::clone(&own.name));
            }
            vms.insert(vm.vm.to_string());
        }
        if vms.is_empty() {
            let lacking: Vec<String> = (question.gpus.iter())
                .filter_map(|name| gpu::named(name))
                .map(|gpu| format!("a {} has {}", gpu.name, gpu.precisions().join(", ")))
                .collect();
            let title = format!(
                "no VM type of the catalogue has such a GPU with {}",
                precision.name()
            );
            d.push(Diagnostic::general(title).with_help(lacking.join("; ")));
            return None;
        }
        let (sequence, batch) = if tuning.is_some() {
            let step = (question.sequence, question.batch);
            tuning::usual_step(&model, question.data.as_ref(), step)
        } else {
            let sequence = question
                .sequence
                .unwrap_or(model.sequence.min(MOST_SEQUENCE));
            (sequence, question.batch.unwrap_or(usual_batch(sequence)))
        };
        if let Some(data) = question.data.filter(|data| data.mean_length > sequence) {
            let title = format!(
                "samples of {} tokens in the mean are longer than a sequence of {sequence}",
                data.mean_length
            );
            let help = format!("--sequence {}", data.mean_length.next_power_of_two());
            d.push(Diagnostic::general(title).with_help(help));
            return None;
        }
        Some(ResolvedQuestion {
            batch,
            tokens: (question.data).map_or(question.tokens, |data| data.computed_tokens(sequence)),
            runtime,
            tuning,
            instead,
            model,
            precision,
            sequence,
            gpus,
            vms,
        })
    }
}

impl ResolvedQuestion {
    /// The precision that a GPU computes with.
    pub(super) fn precision_on(&self, sheet: &GpuSheet) -> Option<Precision> {
        let with = [Some(self.precision), self.instead];
        (with.into_iter().flatten()).find(|with| sheet.tflops(*with).is_some())
    }

    /// FLOPs of a token of a step.
    pub(super) fn token_flops(&self) -> f64 {
        let method = self.tuning.map_or(TrainingMethod::Full, |of| of.method);
        method.token_flops(&self.model, f64::from(self.sequence))
    }

    /// Whether a VM type of the catalogue has such GPUs.
    pub(super) fn is_rented(&self, sheet: &GpuSheet) -> bool {
        self.precision_on(sheet).is_some()
            && (Catalogue::current().types.iter())
                .filter_map(|vm| gpu::of_vm(&vm.vm)?.gpu)
                .any(|own| own.name == sheet.name)
    }
}

fn unknown(what: &str, word: &str, legal: &[&str], d: &mut Diagnostics) {
    let help = nearest_or_all(word, legal.iter().copied());
    d.push(Diagnostic::general(format!("unknown {what} `{word}`")).with_help(help));
}

fn model(word: &str, d: &mut Diagnostics) -> Option<Arc<Architecture>> {
    let found = architecture::library::embedded(word);
    if !is_path(word) || found.is_some() && !Path::new(word).exists() {
        if found.is_none() {
            unknown("model", word, &architecture::library::names(), d);
        }
        return found;
    }
    let source = Source::read(Path::new(word), d)?;
    let before = d.len();
    let table: ModelTable = scavsim_read::input::toml::read(&source, d)?;
    if d.len() > before {
        return None;
    }
    match table.architecture("model") {
        Ok(model) => Some(Arc::new(model)),
        Err(wrong) => {
            for impossible in wrong {
                let title = format!("{word}: `{}` makes no model", impossible.key);
                d.push(Diagnostic::general(title).with_help(impossible.why));
            }
            None
        }
    }
}

fn runtime(word: &str, d: &mut Diagnostics) -> Option<RuntimePreset> {
    if is_path(word) {
        let source = Source::read(Path::new(word), d)?;
        return RuntimePreset::read(word, &source, d);
    }
    let found = preset::embedded(word, d);
    if found.is_none() {
        unknown("runtime", word, &preset::names(), d);
    }
    found
}

/// Offers that share a scenario: a market, how long its VMs live, and whether they compute with the precision that was chosen.
pub(super) fn lots<'o>(
    asked: &ResolvedQuestion,
    all: &[&'o Offer],
) -> Vec<(Precision, Vec<&'o Offer>)> {
    let mut lots: BTreeMap<(Market, Option<&str>, bool), Vec<&Offer>> = BTreeMap::new();
    for offer in all {
        let lives = offer.lifetime.map(|model| &*model.name);
        let sheet = gpu::of_vm(&offer.vm).and_then(|of| of.gpu);
        let lacks = sheet.is_none_or(|own| own.tflops(asked.precision).is_none());
        lots.entry((offer.market, lives, lacks))
            .or_default()
            .push(offer);
    }
    let precision = |lacks: bool| asked.instead.filter(|_| lacks).unwrap_or(asked.precision);
    let each = lots
        .into_iter()
        .map(|((.., lacks), lot)| (precision(lacks), lot));
    each.collect()
}

/// The scenario of one lot; `None` where no plan fits any of its VMs.
pub(super) fn scenario_of_lot(
    question: &ModelQuestion,
    asked: &ResolvedQuestion,
    (precision, lot): (Precision, &[&Offer]),
) -> Result<Option<Scenario>, Diagnostics> {
    let is_spot = lot.iter().any(|offer| offer.market == Market::Spot);
    let prices: Vec<String> = lot
        .iter()
        .map(|offer| format!("{:?} = {:?}", offer.vm, offer.usd_per_hour))
        .collect();
    let nodes: Vec<String> = lot
        .iter()
        .map(|offer| format!("{{ vm = {:?} }}", offer.vm))
        .collect();
    let spot = lot
        .iter()
        .find_map(|offer| offer.spot_lines())
        .unwrap_or_default();
    let spot_prices = if is_spot {
        format!("spot_usd_per_hour_of = {{ {} }}\n", prices.join(", "))
    } else {
        String::new()
    };
    let text = format!(
        "name = \"advice\"\n\
         [parallel]\nmodel = {:?}\nruntime = {:?}\nprecision = {:?}\nsequence = {}\nglobal_batch = [{}]\n\
         target_tokens = {:?}\nmarkets = [{:?}]\nmost_gpus = {}\n{}checkpoint_gb_per_s = {CHECKPOINT_GB_PER_S:?}\nnodes = [{}]\n\
         [cluster]\nstart_up_s = {:?}\n{spot}\
         [pricing]\npolicies = [\"list\"]\n\
         [pricing.define.list]\nusd_per_hour_of = {{ {} }}\n{spot_prices}granularity_s = 1\nminimum_s = 60\n\
         [search]\nstrategies = [\"oracle\"]\nobjectives = [{:?}]\n",
        question.model,
        question.runtime(),
        precision.name(),
        asked.sequence,
        asked.batch,
        asked.tokens,
        if is_spot { "spot" } else { "on-demand" },
        question.most_gpus(),
        asked
            .tuning
            .map_or_else(String::new, |of| of.lines(&asked.runtime)),
        nodes.join(", "),
        60.0 * question.setup_min,
        prices.join(", "),
        question.goal.objective.name(),
    );
    let mut diagnostics = Diagnostics::default();
    let source = Source::new("the scenario of the advice", text);
    let (here, overrides) = (Path::new("."), Overrides::default());
    let loaded = scavsim_scenario::load_with(
        &source,
        here,
        overrides,
        &Extensions::default(),
        &mut diagnostics,
    );
    match loaded {
        Some(scenario) if diagnostics.is_empty() => Ok(Some(scenario)),
        _ => Err(diagnostics),
    }
}
