//! Common names of columns.

use std::sync::Arc;

use crate::input::Source;
use crate::input::csv::whole_records;

/// The cells of a table, each row with its line from 0.
pub(super) struct Cells {
    pub(super) header: Vec<String>,
    pub(super) header_line: usize,
    pub(super) rows: Vec<(usize, Vec<String>)>,
    pub(super) delimiter: u8,
}

impl Cells {
    /// Returns `None` for a broken or empty text.
    pub(super) fn read(source: &Arc<Source>) -> Option<Cells> {
        let (records, delimiter) = whole_records(source)?;
        let mut rows = records.iter().map(|record| {
            let line = record.position().map_or(0, |at| at.line() as usize - 1);
            (line, record.iter().map(str::to_owned).collect())
        });
        let (header_line, header) = rows.next()?;
        Some(Cells {
            header,
            header_line,
            rows: rows.collect(),
            delimiter,
        })
    }
}

/// A name in lower case, with `_` for all other characters than letters and digits.
pub(super) fn normalised(name: &str) -> String {
    let letters = name.trim().to_lowercase();
    let words = letters.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("_")
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Role {
    /// A column of the table itself, with this name.
    Column(&'static str),
    Gpus,
    Nodes,
    GpusPerNode,
    /// Samples of all workers in a step, including accumulation.
    GlobalBatch,
    /// Samples of each worker in a pass.
    LocalBatch,
    Accumulation,
    Sequence,
    /// Time of a step, in units of this many seconds.
    StepTime(f64),
    EpochTime(f64),
    Steps(Rate),
    Samples(Rate),
    Tokens(Rate),
    /// Not needed for a step time.
    Ignored,
}

/// Rate per second, of all workers or of each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rate {
    OfAll,
    OfEach,
}

/// Roles with their names, separated by blanks.
const ROLES: &[(Role, &str)] = &[
    (
        Role::Column("vm"),
        "vm vm_type vm_shape instance instance_type machine machine_type node_type",
    ),
    (
        Role::Column("workers"),
        "workers n_workers num_workers worker_count",
    ),
    (Role::Column("batch"), "batch batch_size bs"),
    (Role::Column("step_s"), "step_s"),
    (Role::Column("compute_s"), "compute_s"),
    (Role::Column("communication_s"), "communication_s"),
    (Role::Column("noise"), "noise"),
    (Role::Column("epochs"), "epochs"),
    (
        Role::Gpus,
        "gpus gpu num_gpus n_gpus ngpus gpu_count total_gpus world_size devices num_devices ranks processes num_processes accelerators",
    ),
    (
        Role::Nodes,
        "nodes num_nodes n_nodes nnodes machines num_machines vms num_vms hosts servers",
    ),
    (
        Role::GpusPerNode,
        "gpus_per_node gpus_per_vm gpus_per_machine nproc_per_node workers_per_vm workers_per_node local_world_size",
    ),
    (
        Role::GlobalBatch,
        "global_batch global_batch_size gbs total_batch total_batch_size effective_batch effective_batch_size train_batch_size",
    ),
    (
        Role::LocalBatch,
        "micro_batch micro_batch_size mbs local_batch local_batch_size per_gpu_batch per_gpu_batch_size per_device_batch \
         per_device_batch_size per_device_train_batch_size batch_per_gpu batch_size_per_gpu batch_per_device device_batch_size \
         train_micro_batch_size_per_gpu batch_gpu batch_size_gpu bs_gpu bs_per_gpu",
    ),
    (
        Role::Accumulation,
        "gradient_accumulation gradient_accumulation_steps grad_accum grad_accum_steps accumulation accumulation_steps accum_steps \
         accumulate_grad_batches ga",
    ),
    (
        Role::Sequence,
        "sequence sequence_length seq seq_len seq_length seqlen context_length block_size max_seq_len",
    ),
    (
        Role::Ignored,
        "loss mfu tflops memory memory_gb gpu_util date run run_name name notes note comment seed dtype precision",
    ),
];

/// Names of timed things: a step, or a pass over the data.
const OF_STEP: &str = "step step_time time_per_step iter iteration iter_time iteration_time time_per_iter time_per_iteration \
                       elapsed_time_per_iteration batch_time time_per_batch time_step time_iter";
const OF_EPOCH: &str = "epoch epoch_time time_per_epoch";

/// Seconds of a unit of time, by its names.
const UNITS: &[(f64, &str)] = &[
    (1.0, "s sec secs seconds"),
    (1e-3, "ms msec milliseconds"),
    (60.0, "min minutes"),
    (3600.0, "h hours"),
];

/// Names of things that are counted per second.
const STEPS: &str = "steps step it its iter iters iterations batches";
const SAMPLES: &str = "samples sample images image imgs img examples sequences seqs seq";
const TOKENS: &str = "tokens token tok toks";

fn has_word(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|own| own == word)
}

/// Seconds of a cell that names its unit: `412s`, `230 ms`.
pub(super) fn seconds_with_unit(cell: &str) -> Option<(&str, f64)> {
    let number = cell.trim_end_matches(|c: char| c.is_alphabetic() || c == '.');
    let unit = cell[number.len()..].trim_end_matches('.').to_lowercase();
    let found = UNITS.iter().find(|(_, units)| has_word(units, &unit));
    found.map(|(seconds, _)| (number.trim_end(), *seconds))
}

/// The role of seconds for a word.
fn timed(word: &str, seconds: f64) -> Option<Role> {
    if has_word(OF_STEP, word) {
        return Some(Role::StepTime(seconds));
    }
    has_word(OF_EPOCH, word).then_some(Role::EpochTime(seconds))
}

/// The role of a rate for a word.
fn counted(word: &str, rate: Rate) -> Option<Role> {
    if has_word(STEPS, word) {
        Some(Role::Steps(rate))
    } else if has_word(SAMPLES, word) {
        Some(Role::Samples(rate))
    } else {
        has_word(TOKENS, word).then_some(Role::Tokens(rate))
    }
}

/// Words that may surround a measure.
const AROUND: &str = "throughput speed training train average avg mean median";

/// The role of a column by its name; `None` if unknown.
pub(super) fn role(name: &str) -> Option<Role> {
    let name = normalised(name);
    role_of_words(&name).or_else(|| {
        let words = name.split('_').filter(|word| !has_word(AROUND, word));
        role_of_words(&words.collect::<Vec<_>>().join("_"))
    })
}

fn role_of_words(name: &str) -> Option<Role> {
    if let Some((role, _)) = ROLES.iter().find(|(_, names)| has_word(names, name)) {
        return Some(*role);
    }
    let (rate, of) = without_worker(name);
    let per_second = ["_per_second", "_per_sec", "_per_s", "_s", "_sec"];
    if let Some(word) = per_second.iter().find_map(|end| rate.strip_suffix(end))
        && let Some(role) = counted(word, of)
        // `step_s` and similar names are times.
        && (of == Rate::OfEach || timed(word, 1.0).is_none())
    {
        return Some(role);
    }
    let units = UNITS
        .iter()
        .flat_map(|(seconds, units)| units.split_whitespace().map(move |unit| (unit, *seconds)));
    for (unit, seconds) in units {
        let word = (name.strip_suffix(&format!("_{unit}")))
            .or_else(|| name.strip_prefix(&format!("{unit}_per_")));
        if let Some(role) = word.and_then(|word| timed(word, seconds)) {
            return Some(role);
        }
        // `s/it` is a time per step.
        let of_step = ["it", "iter", "step"];
        if of_step.iter().any(|step| name == format!("{unit}_{step}")) {
            return Some(Role::StepTime(seconds));
        }
    }
    timed(name, 1.0).filter(|_| name.contains("time"))
}

/// A rate without the words for each worker.
fn without_worker(name: &str) -> (&str, Rate) {
    let ends = ["_per_gpu", "_gpu", "_per_device", "_device", "_per_worker"];
    match ends.iter().find_map(|end| name.strip_suffix(end)) {
        Some(rate) => (rate, Rate::OfEach),
        None => (name, Rate::OfAll),
    }
}
