//! What is believed of a job before anything was seen of it: how its logarithms go with what configurations are.
//!
//! Constants are of training jobs and analytics on clusters of VMs in general. They were chosen on the grids Scout and
//! TrimTuner and on step tables of Pollux, Gavel and Scavenger: what is reported of those is in-sample.

use super::field::Field;
use crate::search::Prices;
use crate::space::{Kind, Space};

/// Own deviation of every configuration.
const OWN: f64 = 0.05;

/// What an axis is to a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Machines: more are faster.
    Workers,
    /// What an hour of one costs, in place of how fast it is.
    Price,
    /// Samples per step.
    Batch,
    /// Any other number or ordered name.
    Number,
    /// One of several names.
    Name,
}

/// One coordinate of all configurations.
struct Column {
    role: Role,
    values: Vec<f64>,
}

/// The configurations of a space as a prior sees them.
pub(super) struct Configurations {
    columns: Vec<Column>,
    count: usize,
}

/// Mean and standard deviation of a slope per unit of a coordinate.
type Slope = (f64, f64);

/// How a logarithm goes.
pub(super) struct Shape {
    workers: Slope,
    price: Slope,
    batch: Slope,
    number: Slope,
    /// Deviation of what no slope tells, over machines alone.
    machines: f64,
    /// The same over everything, where configurations differ in more than machines.
    all: f64,
}

/// Of the time to the target.
pub(super) const TIME: Shape = Shape {
    workers: (-0.35, 0.5),
    price: (-0.35, 0.5),
    batch: (0.0, 0.3),
    number: (0.0, 1.0),
    machines: 0.4,
    all: 1.6,
};
/// Of the seconds of a step.
pub(super) const STEP: Shape = Shape {
    workers: (-0.4, 0.35),
    price: (-0.4, 0.35),
    batch: (0.2, 0.3),
    number: (0.0, 0.3),
    machines: 0.5,
    all: 0.2,
};
/// Of the steps to the target.
pub(super) const STEPS: Shape = Shape {
    workers: (0.1, 0.3),
    price: (0.0, 0.05),
    batch: (-0.2, 0.2),
    number: (0.0, 1.0),
    machines: 0.15,
    all: 1.2,
};

impl Role {
    /// How far apart values must be to tell little of each other.
    fn length(self) -> f64 {
        match self {
            Role::Workers => 2.5,
            Role::Price => 2.0,
            Role::Batch => 3.0,
            Role::Number => 2.5,
            Role::Name => 1.5,
        }
    }

    fn is_of_machines(self) -> bool {
        matches!(self, Role::Workers | Role::Price)
    }
}

impl Shape {
    fn slope(&self, role: Role) -> Slope {
        match role {
            Role::Workers => self.workers,
            Role::Price => self.price,
            Role::Batch => self.batch,
            Role::Number => self.number,
            Role::Name => (0.0, 0.0),
        }
    }
}

impl Configurations {
    /// Workers, batch and price in doublings, other numbers above zero in powers of ten, names as coordinates of their own.
    pub(super) fn of(space: &Space, prices: &dyn Prices) -> Configurations {
        let count = space.len();
        let mut columns = Vec::new();
        for (place, axis) in space.axes().iter().enumerate() {
            let values: Vec<f64> = (0..count).map(|at| space.value(at, place)).collect();
            if values.iter().all(|value| *value == values[0]) {
                continue;
            }
            let above_zero = values.iter().all(|value| *value > 0.0);
            let role = match (&axis.kind, &*axis.name) {
                (Kind::Categorical { .. }, _) => Role::Name,
                (Kind::Numeric { .. }, "workers") if above_zero => Role::Workers,
                (Kind::Numeric { unit }, _) if above_zero && &**unit == "samples" => Role::Batch,
                _ => Role::Number,
            };
            match (role, &axis.kind) {
                (Role::Name, kind) => {
                    let levels = match kind {
                        Kind::Categorical { levels } => levels.len(),
                        _ => 0,
                    };
                    let side = 0.5_f64.sqrt();
                    columns.extend((0..levels).map(|level| {
                        Column {
                            role,
                            values: (values.iter())
                                .map(|v| if *v == level as f64 { side } else { 0.0 })
                                .collect(),
                        }
                    }));
                }
                (Role::Workers | Role::Batch, _) => columns.push(Column {
                    role,
                    values: values.into_iter().map(libm::log2).collect(),
                }),
                (_, Kind::Numeric { .. }) if above_zero => columns.push(Column {
                    role,
                    values: values.into_iter().map(libm::log10).collect(),
                }),
                _ => columns.push(Column { role, values }),
            }
        }
        let each = |at: usize| {
            let workers = space.workers(at).map_or(1.0, f64::from);
            let usd = prices.usd_per_hour(at).filter(|usd| *usd > 0.0)?;
            Some(libm::log2(usd / workers))
        };
        let priced: Option<Vec<f64>> = (0..count).map(each).collect();
        columns.extend(priced.map(|values| Column {
            role: Role::Price,
            values,
        }));
        Configurations { columns, count }
    }

    /// Whether they differ in more than machines.
    fn has_more(&self) -> bool {
        self.columns
            .iter()
            .any(|column| !column.role.is_of_machines() && !matches!(column.role, Role::Name))
    }

    /// The belief of a logarithm that goes so; what no slope tells, and the slopes, are `scale` times as uncertain.
    pub(super) fn field(&self, shape: &Shape, scale: f64) -> Field {
        let n = self.count;
        let mut mean = vec![0.0; n];
        for column in &self.columns {
            let (slope, _) = shape.slope(column.role);
            for (mean, value) in mean.iter_mut().zip(&column.values) {
                *mean += slope * value;
            }
        }
        let centre: Vec<f64> = (self.columns.iter())
            .map(|column| column.values.iter().sum::<f64>() / n as f64)
            .collect();
        let all = if self.has_more() { shape.all } else { 0.0 };
        let (machines, all) = (shape.machines * shape.machines, all * all);
        let mut covariance = vec![0.0; n * n];
        for a in 0..n {
            for b in 0..=a {
                let (mut sloped, mut near, mut far) = (0.0, 0.0, 0.0);
                for (column, centre) in self.columns.iter().zip(&centre) {
                    let (x, y) = (column.values[a], column.values[b]);
                    let (_, deviation) = shape.slope(column.role);
                    sloped += deviation * deviation * (x - centre) * (y - centre);
                    let apart = (x - y) / column.role.length();
                    far += apart * apart;
                    // Machines of other names are others, whatever else they are.
                    if column.role.is_of_machines() || column.role == Role::Name {
                        near += apart * apart;
                    }
                }
                let own = if a == b { OWN * OWN } else { 0.0 };
                let rest = machines * matern(near) + all * matern(far);
                let entry = scale * scale * (sloped + rest) + own;
                covariance[a * n + b] = entry;
                covariance[b * n + a] = entry;
            }
        }
        Field::new(mean, covariance)
    }
}

/// Matérn 5/2 at the square of a distance.
fn matern(square: f64) -> f64 {
    let r = (5.0 * square).sqrt();
    (1.0 + r + r * r / 3.0) * libm::exp(-r)
}
