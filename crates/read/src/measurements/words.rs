//! Names of columns as people write them.

use csv::{ReaderBuilder, Trim};

use crate::input::Source;

/// The cells of a table, each row with its line from 0.
pub(super) struct Cells {
    pub(super) header: Vec<String>,
    pub(super) header_line: usize,
    pub(super) rows: Vec<(usize, Vec<String>)>,
    pub(super) delimiter: u8,
}

impl Cells {
    /// `None` of a text that is no table: one column, or broken.
    pub(super) fn read(source: &Source) -> Option<Cells> {
        let first =
            (source.text.lines()).find(|line| !line.trim().is_empty() && !line.starts_with('#'))?;
        let delimiter = *b",;\t"
            .iter()
            .find(|own| first.contains(char::from(**own)))?;
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .delimiter(delimiter)
            .flexible(true)
            .comment(Some(b'#'))
            .trim(Trim::All)
            .from_reader(source.text.as_bytes());
        let mut records = reader.records().map(|record| {
            let record = record.ok()?;
            let line = record.position()?.line() as usize - 1;
            Some((
                line,
                record.iter().map(str::to_owned).collect::<Vec<String>>(),
            ))
        });
        let (header_line, header) = records.next()??;
        let rows: Option<Vec<_>> = records.collect();
        Some(Cells {
            header,
            header_line,
            rows: rows?,
            delimiter,
        })
    }
}

/// A name in small letters, with `_` for what is neither letter nor digit.
pub(super) fn normalised(name: &str) -> String {
    let letters = name.trim().to_lowercase();
    let words = letters.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("_")
}

/// What a column of an own table says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Role {
    /// A column of the table itself, under this name.
    Column(&'static str),
    /// Workers, each on a GPU.
    Gpus,
    Nodes,
    GpusPerNode,
    /// Samples of all workers in a step, whatever is accumulated.
    GlobalBatch,
    /// Samples of each worker in a pass.
    LocalBatch,
    Accumulation,
    Sequence,
    /// So many seconds per step, times this.
    StepTime(f64),
    EpochTime(f64),
    Steps(Rate),
    Samples(Rate),
    Tokens(Rate),
    /// What no step time needs.
    Ignored,
}

/// Per second, of all workers or of each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rate {
    OfAll,
    OfEach,
}

const ROLES: &[(Role, &[&str])] = &[
    (
        Role::Column("vm"),
        &[
            "vm",
            "vm_type",
            "instance",
            "instance_type",
            "machine",
            "machine_type",
            "node_type",
            "vm_shape",
        ],
    ),
    (
        Role::Column("workers"),
        &["workers", "n_workers", "num_workers", "worker_count"],
    ),
    (Role::Column("batch"), &["batch", "batch_size", "bs"]),
    (Role::Column("step_s"), &["step_s"]),
    (Role::Column("compute_s"), &["compute_s"]),
    (Role::Column("communication_s"), &["communication_s"]),
    (Role::Column("noise"), &["noise"]),
    (Role::Column("epochs"), &["epochs"]),
    (
        Role::Gpus,
        &[
            "gpus",
            "gpu",
            "num_gpus",
            "n_gpus",
            "ngpus",
            "gpu_count",
            "world_size",
            "devices",
            "num_devices",
            "ranks",
            "processes",
            "num_processes",
            "total_gpus",
            "accelerators",
        ],
    ),
    (
        Role::Nodes,
        &[
            "nodes",
            "num_nodes",
            "n_nodes",
            "nnodes",
            "machines",
            "num_machines",
            "vms",
            "num_vms",
            "hosts",
            "servers",
        ],
    ),
    (
        Role::GpusPerNode,
        &[
            "gpus_per_node",
            "gpus_per_vm",
            "gpus_per_machine",
            "nproc_per_node",
            "workers_per_vm",
            "workers_per_node",
            "local_world_size",
        ],
    ),
    (
        Role::GlobalBatch,
        &[
            "global_batch",
            "global_batch_size",
            "gbs",
            "total_batch",
            "total_batch_size",
            "effective_batch",
            "effective_batch_size",
            "train_batch_size",
        ],
    ),
    (
        Role::LocalBatch,
        &[
            "micro_batch",
            "micro_batch_size",
            "mbs",
            "local_batch",
            "local_batch_size",
            "per_gpu_batch",
            "per_gpu_batch_size",
            "per_device_batch",
            "per_device_batch_size",
            "per_device_train_batch_size",
            "batch_per_gpu",
            "batch_size_per_gpu",
            "batch_per_device",
            "device_batch_size",
            "train_micro_batch_size_per_gpu",
        ],
    ),
    (
        Role::Accumulation,
        &[
            "gradient_accumulation",
            "gradient_accumulation_steps",
            "grad_accum",
            "grad_accum_steps",
            "accumulation",
            "accumulation_steps",
            "accum_steps",
            "accumulate_grad_batches",
            "ga",
        ],
    ),
    (
        Role::Sequence,
        &[
            "sequence",
            "sequence_length",
            "seq",
            "seq_len",
            "seq_length",
            "seqlen",
            "context_length",
            "block_size",
            "max_seq_len",
        ],
    ),
    (
        Role::Ignored,
        &[
            "loss",
            "mfu",
            "tflops",
            "memory",
            "memory_gb",
            "gpu_util",
            "date",
            "run",
            "run_name",
            "name",
            "notes",
            "note",
            "comment",
            "seed",
            "dtype",
            "precision",
        ],
    ),
];

/// A word, and the role of seconds of what it names.
type TimedWord = (&'static str, fn(f64) -> Role);
/// A word, and the role of a rate of what it names.
type CountedWord = (&'static str, fn(Rate) -> Role);

/// What is timed, and the roles of seconds and milliseconds for it.
const TIMES: &[TimedWord] = &[
    ("step", Role::StepTime as fn(f64) -> Role),
    ("step_time", Role::StepTime),
    ("time_per_step", Role::StepTime),
    ("iter", Role::StepTime),
    ("iteration", Role::StepTime),
    ("iter_time", Role::StepTime),
    ("iteration_time", Role::StepTime),
    ("time_per_iter", Role::StepTime),
    ("time_per_iteration", Role::StepTime),
    ("elapsed_time_per_iteration", Role::StepTime),
    ("batch_time", Role::StepTime),
    ("time_per_batch", Role::StepTime),
    ("epoch", Role::EpochTime),
    ("epoch_time", Role::EpochTime),
    ("time_per_epoch", Role::EpochTime),
];

const UNITS: &[(&str, f64)] = &[
    ("s", 1.0),
    ("sec", 1.0),
    ("secs", 1.0),
    ("seconds", 1.0),
    ("ms", 1e-3),
    ("msec", 1e-3),
    ("milliseconds", 1e-3),
    ("min", 60.0),
    ("minutes", 60.0),
    ("h", 3600.0),
    ("hours", 3600.0),
];

/// What is counted per second.
const COUNTS: &[CountedWord] = &[
    ("steps", Role::Steps as fn(Rate) -> Role),
    ("step", Role::Steps),
    ("it", Role::Steps),
    ("its", Role::Steps),
    ("iter", Role::Steps),
    ("iters", Role::Steps),
    ("iterations", Role::Steps),
    ("batches", Role::Steps),
    ("samples", Role::Samples),
    ("sample", Role::Samples),
    ("images", Role::Samples),
    ("image", Role::Samples),
    ("imgs", Role::Samples),
    ("img", Role::Samples),
    ("examples", Role::Samples),
    ("sequences", Role::Samples),
    ("seqs", Role::Samples),
    ("seq", Role::Samples),
    ("tokens", Role::Tokens),
    ("token", Role::Tokens),
    ("tok", Role::Tokens),
    ("toks", Role::Tokens),
];

/// The role of a column by its name; `None` of an unknown one.
pub(super) fn role(name: &str) -> Option<Role> {
    let name = normalised(name);
    let has = |(_, names): &&(Role, &[&str])| names.contains(&name.as_str());
    if let Some((role, _)) = ROLES.iter().find(has) {
        return Some(*role);
    }
    let (rate, of) = without_worker(&name);
    let per_second = ["_per_second", "_per_sec", "_per_s", "_s", "_sec"];
    if let Some(counted) = per_second.iter().find_map(|end| rate.strip_suffix(end))
        && let Some((_, role)) = COUNTS.iter().find(|(word, _)| *word == counted)
        // `step_s` and its like are times.
        && !(of == Rate::OfAll && TIMES.iter().any(|(word, _)| *word == counted))
    {
        return Some(role(of));
    }
    for (unit, seconds) in UNITS {
        let timed = (name.strip_suffix(&format!("_{unit}")))
            .or_else(|| name.strip_prefix(&format!("{unit}_per_")));
        if let Some((_, role)) =
            timed.and_then(|timed| TIMES.iter().find(|(word, _)| *word == timed))
        {
            return Some(role(*seconds));
        }
        // `s/it` is a time per step.
        let of_step = ["it", "iter", "step"];
        if of_step.iter().any(|step| name == format!("{unit}_{step}")) {
            return Some(Role::StepTime(*seconds));
        }
    }
    let is_plain_time = |(word, _): &&TimedWord| *word == name && name.contains("time");
    TIMES.iter().find(is_plain_time).map(|(_, role)| role(1.0))
}

/// A rate without what says that it is each worker's.
fn without_worker(name: &str) -> (&str, Rate) {
    let ends = ["_per_gpu", "_gpu", "_per_device", "_device", "_per_worker"];
    match ends.iter().find_map(|end| name.strip_suffix(end)) {
        Some(rate) => (rate, Rate::OfEach),
        None => (name, Rate::OfAll),
    }
}
