//! The catalogue's GPUs as scenarios of parallel plans.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::question::{ModelQuestion, is_path, unknown};
use super::setups::{self, Setup};
use super::tuning::{self, Tuning};
use crate::advise::offers::Offer;
use scavsim_data::cloud::{Catalogue, Market};
use scavsim_experiment::effort::Effort;
use scavsim_parallel::TrainingMethod;
use scavsim_parallel::architecture::{self, Architecture, ModelTable};
use scavsim_parallel::gpu::{self, GpuSheet};
use scavsim_read::input::{Diagnostic, Diagnostics, Source};
use scavsim_scenario::{Extensions, Overrides, Scenario};

/// Default maximum tokens of a sequence.
pub(super) const MOST_SEQUENCE: u32 = 8192;
/// Tokens of a step if the number of sequences is not given.
const STEP_TOKENS: u32 = 1 << 20;
/// Default rate of checkpoints to storage and back, in 10⁹ bytes per second.
pub(super) const CHECKPOINT_GB_PER_S: f64 = 2.0;

pub(super) struct ResolvedQuestion {
    pub(super) tuning: Option<Tuning>,
    /// Number of tokens that are computed.
    pub(super) tokens: f64,
    pub(super) model: Arc<Architecture>,
    pub(super) setups: Vec<Setup>,
    pub(super) sequence: u32,
    pub(super) batch: u32,
    pub(super) gpus: Vec<Arc<str>>,
    pub(super) vms: BTreeSet<String>,
}

/// Sequences of a step of about a million tokens.
pub(super) fn usual_batch(sequence: u32) -> u32 {
    (STEP_TOKENS / sequence.max(1)).max(1)
}

impl ResolvedQuestion {
    pub(super) fn from_question(
        question: &ModelQuestion,
        d: &mut Diagnostics,
    ) -> Option<ResolvedQuestion> {
        let model = model(&question.model, d);
        for name in &question.gpus {
            if gpu::named(name).is_none() {
                unknown("GPU", name, &gpu::names(), d);
            }
        }
        let model = model?;
        let tuning = match &question.tuning {
            Some(asked) => Some(asked.read(&model, d)?),
            None => None,
        };
        let setups = setups::read(question, (&model, tuning.as_ref()), d)?;
        let wanted: BTreeSet<&str> = (question.gpus.iter())
            .filter_map(|name| gpu::named(name).map(|gpu| &*gpu.name))
            .collect();
        let is_wanted = |name: &str| wanted.is_empty() || wanted.contains(name);
        let (mut gpus, mut vms) = (Vec::new(), BTreeSet::new());
        for vm in &Catalogue::current().types {
            let Some(own) = gpu::of_vm(&vm.vm).and_then(|of| of.gpu) else {
                continue;
            };
            if !is_wanted(&own.name) || !setups.iter().any(|setup| setup.runs_on(own)) {
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
                setups.first().map_or("it", |setup| setup.precision.name())
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
            tuning,
            model,
            setups,
            sequence,
            gpus,
            vms,
        })
    }
}

impl ResolvedQuestion {
    /// The first setup that runs on a GPU.
    pub(super) fn setup_on(&self, sheet: &GpuSheet) -> Option<&Setup> {
        self.setups.iter().find(|setup| setup.runs_on(sheet))
    }

    /// FLOPs of a token of a step.
    pub(super) fn token_flops(&self) -> f64 {
        let method = self.tuning.map_or(TrainingMethod::Full, |of| of.method);
        method.token_flops(&self.model, f64::from(self.sequence))
    }

    /// Whether a VM type of the catalogue has such GPUs.
    pub(super) fn is_rented(&self, sheet: &GpuSheet) -> bool {
        self.setup_on(sheet).is_some()
            && (Catalogue::current().types.iter())
                .filter_map(|vm| gpu::of_vm(&vm.vm)?.gpu)
                .any(|own| own.name == sheet.name)
    }
}

fn model(word: &str, d: &mut Diagnostics) -> Option<Arc<Architecture>> {
    let found = architecture::library::embedded(word);
    if !is_path(word) || found.is_some() && !Path::new(word).exists() {
        if found.is_none() {
            unknown("model", word, &architecture::library::names(), d);
        }
        return found;
    }
    if !Path::new(word).exists() && Path::new(word).extension().is_none_or(|end| end != "toml") {
        let help = "`scavsim list models` prints those known; `scavsim import model` reads the config.json of any other";
        d.push(Diagnostic::general(format!("unknown model `{word}`")).with_help(help));
        return None;
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

/// Offers that share a scenario: one market with one lifetime.
pub(super) fn lots<'o>(all: &[&'o Offer]) -> Vec<Vec<&'o Offer>> {
    let mut lots: BTreeMap<(Market, Option<&str>), Vec<&Offer>> = BTreeMap::new();
    for offer in all {
        let lives = offer.lifetime.map(|model| &*model.name);
        lots.entry((offer.market, lives)).or_default().push(offer);
    }
    lots.into_values().collect()
}

/// The scenario of one lot under the setup of these lines. `Err` also if no plan fits any of its VMs.
pub(super) fn scenario_of_lot(
    question: &ModelQuestion,
    asked: &ResolvedQuestion,
    lines: &str,
    (lot, is_spot): (&[&Offer], bool),
) -> Result<Scenario, Diagnostics> {
    let prices: Vec<String> = lot
        .iter()
        .map(|offer| format!("{:?} = {:?}", offer.vm, offer.usd_per_hour))
        .collect();
    let nodes: Vec<String> = lot
        .iter()
        .map(|offer| format!("{{ vm = {:?} }}", offer.vm))
        .collect();
    let spot = (lot.iter().filter(|_| is_spot))
        .find_map(|offer| offer.spot_lines())
        .unwrap_or_default();
    let spot_prices = if is_spot {
        format!("spot_usd_per_hour_of = {{ {} }}\n", prices.join(", "))
    } else {
        String::new()
    };
    let text = format!(
        "name = \"advice\"\n\
         [parallel]\nmodel = {:?}\n{}sequence = {}\nglobal_batch = [{}]\n\
         target_tokens = {:?}\nmarkets = [{:?}]\nmost_gpus = {}\ncheckpoint_gb_per_s = {CHECKPOINT_GB_PER_S:?}\nnodes = [{}]\n\
         [cluster]\nstart_up_s = {:?}\n{spot}\
         [pricing]\npolicies = [\"list\"]\n\
         [pricing.define.list]\nusd_per_hour_of = {{ {} }}\n{spot_prices}granularity_s = 1\nminimum_s = 60\n\
         [search]\nstrategies = [\"oracle\"]\nobjectives = [{:?}]\n",
        question.model,
        lines,
        asked.sequence,
        asked.batch,
        asked.tokens,
        if is_spot { "spot" } else { "on-demand" },
        question.most_gpus(),
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
        Some(scenario) if diagnostics.is_empty() => Ok(Scenario {
            effort: Effort::ROUGH,
            ..scenario
        }),
        _ => Err(diagnostics),
    }
}
