//! The table of runs: a plan and the time of its step, one row each.

use std::sync::Arc;

use scavsim_parallel::architecture::{Architecture, ModelTable, library};
use scavsim_parallel::gpu::{self, Precision};
use scavsim_parallel::law::GpuNode;
use scavsim_parallel::law::fit::MeasuredRun;
use scavsim_parallel::law::run::PlanRun;
use scavsim_parallel::runtime::{Attention, PlanForm, Recompute, Shard};
use scavsim_parallel::{ReplicaSharing, TrainingMethod};
use scavsim_read::input::csv::{Row, Table};
use scavsim_read::input::{Diagnostic, Diagnostics, Source, did_you_mean};

/// Default number of GPUs of a node.
const USUAL_NODE: u32 = 8;
const MOST_GPUS: u64 = 131_072;
/// Layers, widths and so on.
const MOST_OF_A_MODEL: u64 = 10_000_000;
/// Runs of one plan that differ by more than this factor contradict each other.
const CONTRADICTION: f64 = 1.25;

#[derive(Debug, Clone)]
pub struct PlanRow {
    pub line: usize,
    pub measured: MeasuredRun,
    pub precision: String,
    /// Maximum GiB of a GPU, if measured.
    pub peak_gib: Option<f64>,
}

impl PlanRow {
    /// Forms of the plan that were not measured in every runtime.
    pub fn forms(&self) -> Vec<PlanForm> {
        let run = &self.measured.run;
        let has_experts = run.model.experts.is_some();
        PlanForm::with([
            run.virtual_stages > 1,
            run.sharing.context > 1,
            has_experts,
            false,
        ])
    }
}

const COLUMNS: [&str; 5] = ["model", "gpu", "gpus", "micro_batch", "global_batch"];
const OPTIONAL: [&str; 29] = [
    "sequence",
    "tensor",
    "pipeline",
    "gpus_per_node",
    "network_gbit_per_s",
    "precision",
    "attention",
    "recompute",
    "shard",
    "sequence_parallel",
    "train",
    "virtual_stages",
    "context",
    "expert",
    "step_s",
    "tokens_per_s_per_gpu",
    "peak_gib",
    "layers",
    "hidden",
    "heads",
    "kv_heads",
    "head_width",
    "ffn",
    "gated",
    "vocabulary",
    "tied",
    "positions",
    "dropout",
    "data",
];

/// All runs of a table, with a default precision. Mistakes go to `diagnostics`.
pub fn read(
    source: &Arc<Source>,
    precision: &str,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<PlanRow>> {
    let before = diagnostics.len();
    let table = Table::read(source, &COLUMNS, &OPTIONAL, diagnostics)?;
    let mut rows = Vec::new();
    for row in table.rows() {
        let reading = Reading {
            row: &row,
            source,
            precision,
        };
        rows.extend(reading.plan(diagnostics));
    }
    if rows.is_empty() && diagnostics.len() == before {
        let title = format!("{}: there are no runs in it", source.name);
        diagnostics.push(Diagnostic::general(title));
    }
    (diagnostics.len() == before).then_some(rows)
}

struct Reading<'r> {
    row: &'r Row<'r>,
    source: &'r Arc<Source>,
    precision: &'r str,
}

impl Reading<'_> {
    fn unknown(&self, column: &str, what: &str, legal: &[&str], d: &mut Diagnostics) {
        let word = self.row.optional_text(column).unwrap_or_default();
        let label = did_you_mean(word, legal.iter().copied(), "not known");
        let title = format!("unknown {what} `{word}`");
        let mistake = Diagnostic::at_span(self.source, self.row.span(column), title, label);
        d.push(mistake.with_help(format!("allowed here: {}", legal.join(", "))));
    }

    /// One of some words, or `None` where the cell is empty.
    fn word<T: Copy>(
        &self,
        column: &str,
        all: &[(&str, T)],
        d: &mut Diagnostics,
    ) -> Option<Option<T>> {
        let Some(word) = self.row.optional_text(column) else {
            return Some(None);
        };
        let found = all.iter().find(|(name, _)| *name == word);
        if found.is_none() {
            let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
            self.unknown(column, column, &names, d);
        }
        found.map(|(_, value)| Some(*value))
    }

    /// Yes or no, as tables and programs write it.
    fn flag(&self, column: &str, d: &mut Diagnostics) -> Option<Option<bool>> {
        let words = [
            ("true", true),
            ("false", false),
            ("True", true),
            ("False", false),
            ("1", true),
            ("0", false),
        ];
        self.word(column, &words, d)
    }

    fn read_whole(&self, column: &str, most: u64, d: &mut Diagnostics) -> Option<u32> {
        let value = self.row.whole_number(column, 1..=most, d);
        value.map(|value| value as u32)
    }

    fn whole_or(&self, column: &str, usual: u32, most: u64, d: &mut Diagnostics) -> Option<u32> {
        match self.row.optional_text(column) {
            None => Some(usual),
            Some(_) => self.read_whole(column, most, d),
        }
    }

    /// The model by its name, or by the columns with its numbers.
    fn model(&self, d: &mut Diagnostics) -> Option<Arc<Architecture>> {
        let row = self.row;
        let name = row.name("model", d)?;
        if row.optional_text("layers").is_none() {
            let found = library::embedded(name);
            if found.is_none() {
                self.unknown("model", "model", &library::names(), d);
            }
            return found;
        }
        let mut whole = |column: &str| self.read_whole(column, MOST_OF_A_MODEL, d);
        let (layers, hidden, heads) = (whole("layers"), whole("hidden"), whole("heads"));
        let vocabulary = whole("vocabulary");
        let mut optional = |column: &str| match row.optional_text(column) {
            None => Some(None),
            Some(_) => (row.whole_number(column, 0..=MOST_OF_A_MODEL, d)).map(|v| Some(v as u32)),
        };
        let table = ModelTable {
            kv_heads: optional("kv_heads")?,
            head_width: optional("head_width")?,
            ffn: optional("ffn")?,
            positions: optional("positions")?.unwrap_or(0),
            gated: self.flag("gated", d)?.unwrap_or(false),
            tied: self.flag("tied", d)?.unwrap_or(true),
            dropout: self.flag("dropout", d)?.unwrap_or(false),
            layers: layers?,
            hidden: hidden?,
            heads: heads?,
            vocabulary: vocabulary?,
            ..ModelTable::default()
        };
        match table.architecture(name) {
            Ok(model) => Some(Arc::new(model)),
            Err(wrong) => {
                for impossible in wrong {
                    let title = format!("`{}` makes no model", impossible.key);
                    let column = if row.has(impossible.key) {
                        impossible.key
                    } else {
                        "model"
                    };
                    d.error_at(self.source, row.span(column), title, impossible.why);
                }
                None
            }
        }
    }

    fn node(&self, precision: Precision, gpus: u32, d: &mut Diagnostics) -> Option<GpuNode> {
        let row = self.row;
        let name = row.text("gpu", d)?;
        let Some(gpu) = gpu::named(name) else {
            self.unknown("gpu", "GPU", &gpu::names(), d);
            return None;
        };
        let Some(device) = gpu.device(precision) else {
            let title = format!("a {} has no {}", gpu.name, precision.name());
            let help = format!("it has {}", gpu.precisions().join(", "));
            let label = "say its `precision`";
            d.push(Diagnostic::at_span(self.source, row.span("gpu"), title, label).with_help(help));
            return None;
        };
        let per_node = self.whole_or("gpus_per_node", USUAL_NODE, 10_000, d)?;
        let network = row.optional_number("network_gbit_per_s", 0.001..=1e6, d);
        if gpus > per_node && network.is_none() {
            let title = "nothing says how nodes are joined";
            let label = format!("{gpus} GPUs on nodes of {per_node}");
            let mistake = Diagnostic::at_span(self.source, row.line_span(), title, label);
            d.push(mistake.with_help("give `network_gbit_per_s` of a node"));
            return None;
        }
        Some(GpuNode {
            gpu: Arc::clone(&gpu.name),
            device,
            gpus: per_node,
            link_bytes_per_s: gpu.link_bytes_per_s(),
            network_bytes_per_s: network.map(|gbit| gbit * 1e9 / 8.0),
        })
    }

    fn plan(&self, d: &mut Diagnostics) -> Option<PlanRow> {
        let row = self.row;
        let model = self.model(d);
        let precisions = Precision::ALL.map(|precision| (precision.name(), precision));
        let precision = match self.word("precision", &precisions, d)? {
            Some(said) => Some(said),
            None => Precision::named(self.precision),
        }?;
        let gpus = self.read_whole("gpus", MOST_GPUS, d);
        let micro_batch = self.read_whole("micro_batch", 1_000_000, d);
        let global_batch = self.read_whole("global_batch", 1_000_000_000, d);
        let tensor = self.whole_or("tensor", 1, 1024, d);
        let pipeline = self.whole_or("pipeline", 1, 100_000, d);
        let attention = [("plain", Attention::Plain), ("flash", Attention::Flash)];
        let attention = self.word("attention", &attention, d);
        let recompute = Recompute::ALL.map(|one| (one.name(), one));
        let recompute = self.word("recompute", &recompute, d);
        let shard = Shard::ALL.map(|one| (one.name(), one));
        let shard = self.word("shard", &shard, d);
        let sequence_parallel = self.flag("sequence_parallel", d);
        let virtual_stages = self.whole_or("virtual_stages", 1, 1000, d);
        let context = self.whole_or("context", 1, 100_000, d);
        let expert = self.whole_or("expert", 1, 100_000, d);
        let peak_gib = row.optional_number("peak_gib", 0.001..=1e6, d);
        let (gpus, tensor, pipeline) = (gpus?, tensor?, pipeline?);
        let node = self.node(precision, gpus, d);
        let model = model?;
        let training = self.training(&model, d)?;
        let sequence = self.whole_or("sequence", model.sequence, 100_000_000, d)?;
        let group = u64::from(tensor) * u64::from(pipeline) * u64::from(context?);
        if u64::from(gpus) % group != 0 {
            let title = format!("{gpus} GPUs are no multiple of {group} that hold a replica");
            d.error_at(
                self.source,
                row.line_span(),
                title,
                "tensor × pipeline × context × data GPUs",
            );
            return None;
        }
        let run = PlanRun {
            model,
            node: node?,
            gpus,
            sequence,
            tensor,
            pipeline,
            micro_batch: micro_batch?,
            global_batch: global_batch?,
            attention: attention?,
            recompute: recompute?,
            shard: shard?,
            sequence_parallel: sequence_parallel?,
            training,
            virtual_stages: virtual_stages?,
            sharing: ReplicaSharing {
                context: context?,
                expert: expert?,
            },
        };
        let step_s = self.step_s(&run, d)?;
        Some(PlanRow {
            line: self.source.text[..row.line_span().start]
                .matches('\n')
                .count()
                + 1,
            measured: MeasuredRun { run, step_s },
            precision: precision.name().to_owned(),
            peak_gib,
        })
    }

    fn training(&self, model: &Architecture, d: &mut Diagnostics) -> Option<TrainingMethod> {
        let Some(word) = self.row.optional_text("train") else {
            return Some(TrainingMethod::Full);
        };
        match TrainingMethod::read(word, model) {
            Ok(method) => Some(method),
            Err(wrong) => {
                let place = self.row.span("train");
                let mistake = Diagnostic::at_span(self.source, place, wrong.title, "not possible");
                d.push(mistake.with_help(wrong.help));
                None
            }
        }
    }

    fn step_s(&self, run: &PlanRun, d: &mut Diagnostics) -> Option<f64> {
        let row = self.row;
        match (
            row.optional_text("step_s"),
            row.optional_text("tokens_per_s_per_gpu"),
        ) {
            (Some(_), _) => row.number("step_s", 1e-6..=1e6, d),
            (None, Some(_)) => {
                let rate = row.number("tokens_per_s_per_gpu", 1e-3..=1e9, d)?;
                Some(run.tokens() / rate / f64::from(run.gpus))
            }
            (None, None) => {
                let title = "nothing says how long a step took";
                let label = "expected `step_s` or `tokens_per_s_per_gpu`";
                d.error_at(self.source, row.line_span(), title, label);
                None
            }
        }
    }
}

/// Runs of one plan that differ by more than a quarter, by their lines: no prediction can match all of them.
pub fn contradictions(rows: &[PlanRow]) -> Vec<(usize, usize, f64)> {
    let key = |row: &PlanRow| {
        let run = &row.measured.run;
        format!(
            "{} {} {} {} {} {} {} {} {:?} {:?} {:?} {} {:?} {:?} {} {:?} {}",
            run.model.name,
            run.node.gpu,
            run.gpus,
            run.sequence,
            run.tensor,
            run.pipeline,
            run.micro_batch,
            run.global_batch,
            run.attention,
            run.recompute,
            run.shard,
            row.precision,
            run.node.network_bytes_per_s,
            run.sequence_parallel,
            run.virtual_stages,
            run.sharing,
            run.training,
        )
    };
    let mut keyed: Vec<(String, &PlanRow)> = rows.iter().map(|row| (key(row), row)).collect();
    keyed.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.line.cmp(&b.1.line)));
    (keyed.windows(2))
        .filter(|pair| pair[0].0 == pair[1].0)
        .filter_map(|pair| {
            let (one, other) = (pair[0].1, pair[1].1);
            let ratio = one.measured.step_s / other.measured.step_s;
            let factor = ratio.max(1.0 / ratio);
            (factor > CONTRADICTION).then_some((one.line, other.line, factor))
        })
        .collect()
}
