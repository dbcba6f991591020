//! Runtimes by name: what a framework does by default, and the constants of the law under it.

use std::sync::Arc;

use include_dir::{Dir, include_dir};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::{Activations, Attention, Recompute, Runtime, Shard, StateBytes};
use crate::parallel::law::constants::{
    COUNT, Constant, Constants, GENERATIONS, NAMES, Prior, RUNTIME_CONSTANTS,
};
use scavsim_read::input::{self, Diagnostic, Diagnostics, Source, closest};

static EMBEDDED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../data/runtimes");

/// The runtime of who names none.
pub const USUAL: &str = "megatron-deepspeed-2024";

/// Spread of the logarithm of a constant that is given without one, to be fitted: a fifth.
const GIVEN_SPREAD: f64 = 0.2;

/// A runtime with what is known of its constants.
#[derive(Debug, Clone)]
pub struct RuntimePreset {
    /// What it is called.
    pub name: Arc<str>,
    /// What it is, for people.
    pub description: String,
    /// Where its constants are from.
    pub source: String,
    /// What it does; the constants in it are the medians.
    pub settings: Runtime,
    /// Sharding that it can do.
    pub shards: Vec<Shard>,
    /// Precision that it computes with.
    pub precision: String,
    /// The constants of the law.
    pub prior: Prior,
    /// How far the law is off under it.
    pub errors: Errors,
    /// The embedded runtime that it is like where it says nothing else.
    pub base: Option<Arc<str>>,
    /// Hash of the table of runs that its constants are fitted to.
    pub fitted_to: Option<String>,
}

/// How far foretold steps are off: standard deviations of ln(measured / foretold), from runs that were left out.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Errors {
    /// Deviation of a run on GPUs, with as many of them and of a precision that were measured.
    pub step: f64,
    /// What is added in the square on a GPU that was not measured.
    pub gpu: f64,
    /// What is added with more GPUs than were measured, per doubling.
    pub doubling: f64,
    /// What is added at a precision that was not measured.
    pub precision: f64,
    /// What is added at a tensor degree that was not measured.
    pub tensor: f64,
    /// What is added on a cluster that no run is from.
    pub cluster: f64,
    /// What is added where replicas run on unlike nodes.
    pub unlike: f64,
    /// What is added with virtual stages, split backward passes, shared sequences or shared experts, which were not measured.
    pub form: f64,
    /// GPUs that were measured.
    pub gpus: Vec<String>,
    /// Most GPUs of a run that was measured.
    pub most_gpus: u32,
    /// Precisions that were measured.
    pub precisions: Vec<String>,
    /// Tensor degrees that were measured.
    pub tensors: Vec<u32>,
}

/// A plan as far as it decides how well it is foretold.
#[derive(Debug, Clone, Copy)]
pub struct Foretold<'a> {
    /// GPUs by their data sheets.
    pub gpus: &'a [&'a str],
    /// How many.
    pub count: u32,
    /// Precision of its values.
    pub precision: &'a str,
    /// GPUs that share a layer.
    pub tensor: u32,
    /// Whether its replicas run on unlike nodes.
    pub is_unlike: bool,
    /// Whether it is of a form that was not measured.
    pub is_unusual: bool,
}

/// How far what is foretold of plans may be off.
#[derive(Debug, Clone, Default)]
pub struct Doubt {
    /// By what was measured.
    pub errors: Errors,
    /// Precision of the plans.
    pub precision: String,
    /// GPU of each kind of node, by its data sheet.
    pub gpus: Vec<Arc<str>>,
}

const SIXTEEN_BITS: [&str; 2] = ["fp16", "bf16"];

impl Errors {
    /// With as many digits as they deserve.
    fn rounded(&self) -> Errors {
        Errors {
            step: digits(self.step),
            gpu: digits(self.gpu),
            doubling: digits(self.doubling),
            precision: digits(self.precision),
            tensor: digits(self.tensor),
            cluster: digits(self.cluster),
            unlike: digits(self.unlike),
            form: digits(self.form),
            ..self.clone()
        }
    }

    /// Standard deviation of ln(measured / foretold) of a plan.
    pub fn spread(&self, of: &Foretold<'_>) -> f64 {
        let is_unseen = |gpu: &&str| !self.gpus.iter().any(|known| known == gpu);
        let mut variance = self.step * self.step + self.cluster * self.cluster;
        if of.gpus.iter().any(is_unseen) {
            variance += self.gpu * self.gpu;
        }
        // Both of 16 bits run on the same units at the same peak.
        let is_seen = |known: &String| {
            known == of.precision
                || [known, of.precision]
                    .iter()
                    .all(|one| SIXTEEN_BITS.contains(one))
        };
        if !self.precisions.iter().any(is_seen) {
            variance += self.precision * self.precision;
        }
        if !self.tensors.contains(&of.tensor) {
            variance += self.tensor * self.tensor;
        }
        for (is_so, spread) in [(of.is_unlike, self.unlike), (of.is_unusual, self.form)] {
            if is_so {
                variance += spread * spread;
            }
        }
        let beyond = f64::from(of.count) / f64::from(self.most_gpus.max(1));
        if beyond > 1.0 {
            let doublings = libm::log2(beyond);
            variance += doublings * self.doubling * self.doubling;
        }
        variance.sqrt()
    }
}

/// A constant: its value, or its value and the standard deviation of its logarithm.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number, or a number and its spread")]
pub enum KnownConstant {
    /// The value.
    Value(f64),
    /// The median and the spread.
    Spread([f64; 2]),
}

impl KnownConstant {
    fn pair(self, spread: f64) -> (f64, f64) {
        match self {
            KnownConstant::Value(value) => (value, spread),
            KnownConstant::Spread([value, spread]) => (value, spread),
        }
    }
}

/// Factors of a generation of GPUs.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GenerationTable {
    /// What its GPUs reach in products of an Ampere GPU's share of its peak.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matmul: Option<KnownConstant>,
    /// What its GPUs reach in fused attention of an Ampere GPU's share of its peak.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attention: Option<KnownConstant>,
}

macro_rules! runtime_table {
    ($($(#[$doc:meta])* $constant:ident,)*) => {
        /// A runtime as it is written: in a file of its own, or as `[parallel.runtime]`. What is absent is as in its base.
        #[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct RuntimeTable {
            /// The runtime that it is like; the usual one when absent.
            #[schemars(with = "Option<String>")]
            #[serde(skip_serializing)]
            pub base: Option<Spanned<String>>,
            /// What it is, for people.
            pub description: Option<String>,
            /// Where its constants are from.
            pub source: Option<String>,
            /// How stages send each other activations.
            pub activations: Option<Activations>,
            /// Whether the host launches passes while the GPU waits for messages.
            pub host_runs_ahead: Option<bool>,
            /// Whether gradients are reduced while the last micro-batch goes backward.
            pub overlap_gradients: Option<bool>,
            /// Most bytes of gradients that are reduced at once.
            pub bucket_bytes: Option<f64>,
            /// Bytes of a GPU that hold no tensor of the model.
            pub reserved_bytes: Option<f64>,
            /// Room for what is computed right now, in what the largest layer needs.
            pub working_layers: Option<f64>,
            /// Whether a tensor degree that was not profiled is derived from degree 1.
            pub derive_tensor: Option<bool>,
            /// How attention is computed.
            pub attention_kernel: Option<Attention>,
            /// What the backward pass computes again.
            pub recompute: Option<Recompute>,
            /// What replicas hold in parts.
            pub shard: Option<Shard>,
            /// Whether GPUs that share a layer also share what lies between its products.
            pub sequence_parallel: Option<bool>,
            /// Tokens that experts are given room for, over the mean; 1 when absent.
            pub capacity_factor: Option<f64>,
            /// 10⁹ bytes per second at which a GPU hands activations to the host and takes them back; needed by `offload`.
            pub offload_gb_per_s: Option<f64>,
            /// Sharding that it can do; any when absent.
            pub shards: Option<Vec<Shard>>,
            /// Bytes per parameter of the weights that are computed with.
            pub weight_bytes: Option<f64>,
            /// Bytes per parameter of gradients.
            pub gradient_bytes: Option<f64>,
            /// Bytes per parameter of the optimiser's state.
            pub optimizer_bytes: Option<f64>,
            /// Standard deviation of what a GPU really holds around what is counted, as a fraction.
            pub memory_spread: Option<f64>,
            /// Precision: fp32, tf32, fp16, bf16 or fp8.
            pub precision: Option<String>,
            /// What GPUs of a generation reach of an Ampere GPU's shares.
            pub generations: std::collections::BTreeMap<String, GenerationTable>,
            /// How far foretold steps are off.
            pub errors: Option<Errors>,
            /// Hash (BLAKE3) of the table of runs that constants and errors are fitted to; those runs are judged from its base.
            pub fitted_to: Option<String>,
            $($(#[$doc])* pub $constant: Option<KnownConstant>,)*
        }

        impl RuntimeTable {
            /// All constants in their order.
            fn constants(&self) -> [Option<KnownConstant>; RUNTIME_CONSTANTS] {
                [$(self.$constant,)*]
            }

            fn constants_mut(&mut self) -> [&mut Option<KnownConstant>; RUNTIME_CONSTANTS] {
                [$(&mut self.$constant,)*]
            }
        }
    };
}

runtime_table! {
    /// Share of the peak that large matrix products reach on an Ampere GPU.
    matmul,
    /// Loss by a short inner dimension k of a product: the share is over 1 + `inner` 100/k + `few` 100/m.
    inner,
    /// Loss by few rows m of a product.
    few,
    /// Power of the share of multiprocessors that the last tiles of a product keep busy.
    tile,
    /// Share of the peak that fused attention reaches on an Ampere GPU.
    attention,
    /// Share of the memory's bandwidth.
    memory,
    /// Passes over memory beside products, as a multiple of those counted.
    passes,
    /// Seconds in which the host launches the forward pass of a block.
    launch_s,
    /// Seconds that it takes beside where tensor parallelism adds kernels.
    tensor_launch_s,
    /// Share of one direction of the link between GPUs of a node that collectives reach.
    link,
    /// Seconds of a collective inside a node beside its bytes.
    link_s,
    /// Share of a node's network that transfers reach.
    network,
    /// Seconds of a transfer between nodes beside its bytes.
    network_s,
    /// Seconds of gathering shards that count, as a multiple of those counted.
    gather,
    /// Norm by which computing and gathering shards add up.
    hiding,
    /// Passes over memory of the optimiser, as a multiple of those counted.
    optimizer,
    /// Seconds of a step that neither the model nor the plan explains.
    step_s,
    /// Seconds of a message between stages beside its bytes.
    message_s,
}

/// The names of all embedded runtimes, in alphabetical order.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = (EMBEDDED.files())
        .filter(|file| file.path().extension().is_some_and(|e| e == "toml"))
        .filter_map(|file| file.path().file_stem()?.to_str())
        .collect();
    names.sort_unstable();
    names
}

/// The embedded runtime called `name`; `None` where there is none, or with `diagnostics`.
pub fn embedded(name: &str, diagnostics: &mut Diagnostics) -> Option<RuntimePreset> {
    let file = EMBEDDED.get_file(format!("{name}.toml"))?;
    let source = Source::new(format!("data/runtimes/{name}.toml"), file.contents_utf8()?);
    RuntimePreset::read(name, &source, diagnostics)
}

/// The hash by which a runtime says which table of runs it is fitted to.
pub fn hash_of_runs(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

impl RuntimePreset {
    /// Reads a runtime from a file. Whatever is wrong goes to `diagnostics`.
    pub fn read(
        name: &str,
        source: &Arc<Source>,
        diagnostics: &mut Diagnostics,
    ) -> Option<RuntimePreset> {
        let before = diagnostics.len();
        let table: RuntimeTable = input::toml::read(source, diagnostics)?;
        if diagnostics.len() > before {
            return None;
        }
        let complain = |span, title: String, label: String, help: String| {
            let mistake = match span {
                Some(span) => Diagnostic::at(source, span, title, label),
                None => Diagnostic::at(source, 0..0, title, label),
            };
            diagnostics.push(mistake.with_help(help));
        };
        RuntimePreset::of(name, &table, complain)
    }

    /// A runtime as a table says, over its base. `complain`: place, title, label, help.
    pub fn of(
        name: &str,
        table: &RuntimeTable,
        mut complain: impl FnMut(Option<std::ops::Range<usize>>, String, String, String),
    ) -> Option<RuntimePreset> {
        let base = match &table.base {
            Some(base) => based_on(base, &mut complain)?,
            None if name == USUAL => RuntimePreset::unknown(),
            None => embedded(USUAL, &mut Diagnostics::default())?,
        };
        let mut all_right = true;
        let mut wrong = |key: &str, found: f64, legal: &str| {
            complain(
                table.base.as_ref().map(Spanned::span),
                format!("`{key}`: {found} is not possible"),
                "out of range".to_owned(),
                format!("expected {legal}"),
            );
            all_right = false;
        };
        for (key, value) in table.figures() {
            if let Some(value) = value
                && !(0.0..=1e15).contains(&value)
            {
                wrong(key, value, "a number that is not negative");
            }
        }
        let mut prior = base.prior;
        for (n, known) in table.constants().into_iter().enumerate() {
            let Some(known) = known else { continue };
            let (value, spread) = known.pair(GIVEN_SPREAD);
            if !(0.0..=1e9).contains(&value) {
                wrong(NAMES[n], value, "a number that is not negative");
            } else if !(0.0..=10.0).contains(&spread) {
                wrong(NAMES[n], spread, "a spread from 0 to 10");
            } else {
                (prior.medians.0[n], prior.spreads[n]) = (value, spread);
            }
        }
        if prior.medians.of(Constant::Hiding) < 1.0 {
            wrong("hiding", prior.medians.of(Constant::Hiding), "1 or more");
        }
        for (generation, factors) in &table.generations {
            let Some(at) = GENERATIONS.iter().position(|known| known == generation) else {
                complain(
                    None,
                    format!("unknown generation of GPUs `{generation}`"),
                    "not known".to_owned(),
                    format!("legal here: {}", GENERATIONS.join(", ")),
                );
                return None;
            };
            for (beside, factor) in [factors.matmul, factors.attention].into_iter().enumerate() {
                if let Some(factor) = factor {
                    let n = RUNTIME_CONSTANTS + 2 * at + beside;
                    (prior.medians.0[n], prior.spreads[n]) = factor.pair(GIVEN_SPREAD);
                }
            }
        }
        if !all_right {
            return None;
        }
        let errors = table.errors.clone().unwrap_or_else(|| base.errors.clone());
        Some(RuntimePreset {
            name: name.into(),
            description: (table.description.clone()).unwrap_or(base.description),
            source: table.source.clone().unwrap_or(base.source),
            settings: with_constants(settings(table, &base.settings), &prior.medians),
            shards: table.shards.clone().unwrap_or(base.shards),
            precision: table.precision.clone().unwrap_or(base.precision),
            prior,
            errors,
            base: table
                .base
                .as_ref()
                .map(|base| base.get_ref().as_str().into()),
            fitted_to: table.fitted_to.clone(),
        })
    }

    /// The runtime before it was fitted to runs whose table has this hash; itself where it was not.
    pub fn before(&self, hash: &str) -> RuntimePreset {
        let base = match (&self.fitted_to, &self.base) {
            (Some(fitted_to), Some(base)) if fitted_to == hash => base,
            _ => return self.clone(),
        };
        embedded(base, &mut Diagnostics::default()).unwrap_or_else(|| self.clone())
    }

    /// A runtime that nothing is known of.
    fn unknown() -> RuntimePreset {
        RuntimePreset {
            name: "".into(),
            description: String::new(),
            source: String::new(),
            settings: Runtime::default(),
            shards: Shard::ALL.to_vec(),
            precision: "bf16".to_owned(),
            prior: Prior {
                medians: Constants([1.0; COUNT]),
                spreads: [GIVEN_SPREAD; COUNT],
            },
            errors: Errors::default(),
            base: None,
            fitted_to: None,
        }
    }

    /// Settings with other constants.
    pub fn with(&self, constants: &Constants) -> Runtime {
        with_constants(self.settings.clone(), constants)
    }

    /// The text of a file: constants, errors and what they are from, over its base; settings too where it has none.
    pub fn text(&self) -> String {
        let base = self
            .base
            .as_ref()
            .and_then(|base| embedded(base, &mut Diagnostics::default()));
        let mut table = RuntimeTable {
            description: Some(self.description.clone()),
            source: Some(self.source.clone()),
            errors: Some(self.errors.rounded()),
            fitted_to: self.fitted_to.clone(),
            ..RuntimeTable::default()
        };
        if base.is_none() {
            table.say_settings(self);
        }
        let known = |n: usize| {
            let own = (
                digits(self.prior.medians.0[n]),
                digits(self.prior.spreads[n]),
            );
            let is_same = |base: &RuntimePreset| {
                own == (
                    digits(base.prior.medians.0[n]),
                    digits(base.prior.spreads[n]),
                )
            };
            let is_told = !base.as_ref().is_some_and(is_same);
            is_told.then_some(KnownConstant::Spread([own.0, own.1]))
        };
        for (n, constant) in table.constants_mut().into_iter().enumerate() {
            *constant = known(n);
        }
        for (at, name) in GENERATIONS.iter().enumerate() {
            let n = RUNTIME_CONSTANTS + 2 * at;
            let own = GenerationTable {
                matmul: known(n),
                attention: known(n + 1),
            };
            if own.matmul.is_some() || own.attention.is_some() {
                table.generations.insert((*name).to_owned(), own);
            }
        }
        let base =
            (self.base.as_ref()).map_or_else(String::new, |base| format!("base = \"{base}\"\n"));
        base + &toml::to_string(&table).expect("numbers, words and tables")
    }
}

/// Four digits, which is more than any constant is known to.
fn digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().expect("a number")
}

impl RuntimeTable {
    /// Says all settings of a runtime.
    fn say_settings(&mut self, of: &RuntimePreset) {
        let own = of.settings.clone();
        self.activations = Some(own.activations);
        self.host_runs_ahead = Some(own.host_runs_ahead);
        self.overlap_gradients = Some(own.overlap_gradients);
        self.bucket_bytes = Some(own.bucket_bytes);
        self.reserved_bytes = Some(own.reserved_bytes);
        self.working_layers = Some(own.working_layers);
        self.derive_tensor = Some(own.derive_tensor);
        self.attention_kernel = Some(own.attention);
        self.recompute = Some(own.recompute);
        self.shard = Some(own.shard);
        self.sequence_parallel = Some(own.sequence_parallel);
        self.capacity_factor = Some(own.capacity_factor);
        self.offload_gb_per_s = Some(own.offload_bytes_per_s * 1e-9);
        self.shards = Some(of.shards.clone());
        self.weight_bytes = own.state_bytes.map(|state| state.weights);
        self.gradient_bytes = own.state_bytes.map(|state| state.gradients);
        self.optimizer_bytes = own.state_bytes.map(|state| state.optimizer);
        self.memory_spread = Some(own.memory_spread);
        self.precision = Some(of.precision.clone());
    }
}

fn based_on(
    base: &Spanned<String>,
    complain: &mut impl FnMut(Option<std::ops::Range<usize>>, String, String, String),
) -> Option<RuntimePreset> {
    let found = embedded(base.get_ref(), &mut Diagnostics::default());
    if found.is_none() {
        let known = names();
        let label = match closest(base.get_ref(), known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "not known".to_owned(),
        };
        complain(
            Some(base.span()),
            format!("unknown runtime `{}`", base.get_ref()),
            label,
            format!("legal here: {}", known.join(", ")),
        );
    }
    found
}

impl RuntimeTable {
    fn figures(&self) -> [(&'static str, Option<f64>); 9] {
        [
            ("bucket_bytes", self.bucket_bytes),
            ("reserved_bytes", self.reserved_bytes),
            ("working_layers", self.working_layers),
            ("weight_bytes", self.weight_bytes),
            ("gradient_bytes", self.gradient_bytes),
            ("optimizer_bytes", self.optimizer_bytes),
            ("memory_spread", self.memory_spread),
            ("capacity_factor", self.capacity_factor),
            ("offload_gb_per_s", self.offload_gb_per_s),
        ]
    }
}

fn settings(table: &RuntimeTable, base: &Runtime) -> Runtime {
    let state = match (
        table.weight_bytes,
        table.gradient_bytes,
        table.optimizer_bytes,
    ) {
        (None, None, None) => base.state_bytes,
        (weights, gradients, optimizer) => {
            let known = base.state_bytes.unwrap_or(StateBytes {
                weights: 4.0,
                gradients: 4.0,
                optimizer: 8.0,
            });
            Some(StateBytes {
                weights: weights.unwrap_or(known.weights),
                gradients: gradients.unwrap_or(known.gradients),
                optimizer: optimizer.unwrap_or(known.optimizer),
            })
        }
    };
    Runtime {
        activations: table.activations.unwrap_or(base.activations),
        host_runs_ahead: table.host_runs_ahead.unwrap_or(base.host_runs_ahead),
        overlap_gradients: table.overlap_gradients.unwrap_or(base.overlap_gradients),
        bucket_bytes: table.bucket_bytes.unwrap_or(base.bucket_bytes),
        reserved_bytes: table.reserved_bytes.unwrap_or(base.reserved_bytes),
        working_layers: table.working_layers.unwrap_or(base.working_layers),
        derive_tensor: table.derive_tensor.unwrap_or(base.derive_tensor),
        attention: table.attention_kernel.unwrap_or(base.attention),
        recompute: table.recompute.unwrap_or(base.recompute),
        shard: table.shard.unwrap_or(base.shard),
        sequence_parallel: table.sequence_parallel.unwrap_or(base.sequence_parallel),
        capacity_factor: table.capacity_factor.unwrap_or(base.capacity_factor),
        offload_bytes_per_s: (table.offload_gb_per_s)
            .map_or(base.offload_bytes_per_s, |rate| rate * 1e9),
        state_bytes: state,
        memory_spread: table.memory_spread.unwrap_or(base.memory_spread),
        ..base.clone()
    }
}

/// Settings with the constants that they hold themselves.
pub fn with_constants(settings: Runtime, constants: &Constants) -> Runtime {
    Runtime {
        message_s: constants.of(Constant::MessageS),
        step_s: constants.of(Constant::StepS),
        gather: constants.of(Constant::Gather),
        hiding: constants.of(Constant::Hiding).max(1.0),
        ..settings
    }
}
