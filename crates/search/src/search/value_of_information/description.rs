//! A task's configurations as coordinates that a prior knows.

use super::prior::{Column, Configurations, Role};
use crate::search::Task;
use crate::search::machines;
use scavsim_data::space::{Axis, AxisKind, BATCH, VM, WORKERS};

/// Range that a number of unknown meaning is stretched to: about as many units as machines and batches come in.
const RANGE: f64 = 3.0;

pub(super) fn counts_steps(task: &Task<'_>) -> bool {
    let has_batch = task.space.axes().iter().any(is_batch);
    has_batch || task.samples_per_epoch.is_some()
}

/// Machines by what they have, or by their price where that is not known; every other axis by what it is. What follows from the VM
/// type is no axis of its own.
pub(super) fn configurations(task: &Task<'_>) -> Configurations {
    let space = task.space;
    let count = space.len();
    let mut columns = of_machines(task);
    for (place, axis) in space.axes().iter().enumerate() {
        if machines::is_of_machines(task, place) {
            continue;
        }
        let values: Vec<f64> = (0..count).map(|at| space.value(at, place)).collect();
        let is_above_zero = values.iter().all(|value| *value > 0.0);
        match &axis.kind {
            AxisKind::Categorical { .. } if &*axis.name == VM => {}
            AxisKind::Categorical { levels } => match synchronous(axis) {
                Some(level) => columns.push(Column {
                    role: Role::Sync,
                    values: (values.iter())
                        .map(|v| f64::from(*v == level as f64))
                        .collect(),
                }),
                None => columns.extend(names(&values, levels.len())),
            },
            AxisKind::Numeric { .. } if &*axis.name == WORKERS && is_above_zero => {
                columns.push(logs(Role::Nodes, &values, libm::log2));
            }
            AxisKind::Numeric { .. } if is_batch(axis) && is_above_zero => {
                columns.push(logs(Role::Batch, &values, libm::log2));
            }
            AxisKind::Numeric { .. } if axis.name.contains("learning_rate") && is_above_zero => {
                columns.push(logs(Role::Rate, &values, libm::log10));
            }
            AxisKind::Numeric { .. } if is_above_zero => {
                columns.extend(stretched(values.into_iter().map(libm::log).collect()));
            }
            AxisKind::Numeric { .. } | AxisKind::Ordinal { .. } => {
                columns.extend(stretched(values))
            }
        }
    }
    columns.retain(|column| column.values.iter().any(|value| *value != column.values[0]));
    let per_worker = space.axis(BATCH).is_none();
    Configurations {
        columns,
        count,
        per_worker,
    }
}

fn is_batch(axis: &Axis) -> bool {
    matches!(&axis.kind, AxisKind::Numeric { unit } if &**unit == "samples")
}

/// The level that says that workers wait for each other.
fn synchronous(axis: &Axis) -> Option<usize> {
    let place = |wanted: &str| axis.levels().iter().position(|level| **level == *wanted);
    place("async").and(place("sync"))
}

fn logs(role: Role, values: &[f64], log: fn(f64) -> f64) -> Column {
    let values = values.iter().copied().map(log).collect();
    Column { role, values }
}

/// A coordinate per name, so that two of them are 1 apart.
fn names(values: &[f64], levels: usize) -> Vec<Column> {
    let side = 0.5_f64.sqrt();
    let column = |level: usize| {
        let is_it = |value: &f64| if *value == level as f64 { side } else { 0.0 };
        Column {
            role: Role::Name,
            values: values.iter().map(is_it).collect(),
        }
    };
    (0..levels).map(column).collect()
}

/// From 0 to [`RANGE`]; `None` where all are equal.
fn stretched(values: Vec<f64>) -> Option<Column> {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (most > least).then(|| Column {
        role: Role::Number,
        values: (values.iter())
            .map(|value| RANGE * (value - least) / (most - least))
            .collect(),
    })
}

/// What VMs are: accelerators or cores, memory per core; names too where types differ in what these do not tell.
fn of_machines(task: &Task<'_>) -> Vec<Column> {
    let space = task.space;
    let axis = space.axis(VM);
    let names_too = || match axis {
        Some(axis) => {
            let values: Vec<f64> = (0..space.len()).map(|at| space.value(at, axis)).collect();
            names(&values, space.axes()[axis].levels().len())
        }
        None => Vec::new(),
    };
    let Some(known) = machines::machines(task) else {
        return if axis.is_some() {
            names_and_prices(task, names_too())
        } else {
            Vec::new()
        };
    };
    let with_gpus = known.iter().all(|machine| machine.gpus > 0);
    let cores = Column {
        role: Role::Cores,
        values: (known.iter())
            .map(|machine| {
                if with_gpus {
                    libm::log2(f64::from(machine.gpus))
                } else {
                    libm::log2(machine.vcpu)
                }
            })
            .collect(),
    };
    let memory = Column {
        role: Role::Memory,
        values: (known.iter())
            .map(|machine| libm::log2(machine.memory_gib / machine.vcpu))
            .collect(),
    };
    let same = |a: usize, b: usize| {
        cores.values[a] == cores.values[b] && memory.values[a] == memory.values[b]
    };
    let types = |at: usize| axis.map(|axis| space.value(at, axis));
    let are_alike = (1..space.len()).any(|a| (0..a).any(|b| types(a) != types(b) && same(a, b)));
    let mut columns = vec![cores, memory];
    if are_alike || with_gpus {
        columns.extend(names_too());
    }
    columns
}

/// Machines of which nothing is known but what they are called and what an hour costs.
fn names_and_prices(task: &Task<'_>, names: Vec<Column>) -> Vec<Column> {
    let each = |at: usize| {
        let workers = task.space.workers(at).map_or(1.0, f64::from);
        let usd = task.prices?.usd_per_hour(at).filter(|usd| *usd > 0.0)?;
        Some(libm::log2(usd / workers))
    };
    let priced: Option<Vec<f64>> = (0..task.space.len()).map(each).collect();
    let priced = priced.map(|values| Column {
        role: Role::Cores,
        values,
    });
    names.into_iter().chain(priced).collect()
}
