use super::constants::{Constants, Shape, Slope};
use super::field::Prior;
use scavsim_base::stats::field::{matern, symmetric};

/// What a coordinate is to a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Virtual processors or accelerators of a machine, in doublings.
    Cores,
    /// Memory per core, in doublings.
    Memory,
    /// Machines, in doublings.
    Nodes,
    /// Samples of a step, in doublings.
    Batch,
    /// Learning rate, in powers of ten.
    Rate,
    Sync,
    /// Any other number or ordered name.
    Number,
    Name,
}

#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) role: Role,
    pub(super) values: Vec<f64>,
}

/// The configurations of a task as a prior sees them.
#[derive(Debug, Clone)]
pub(super) struct Configurations {
    pub(super) columns: Vec<Column>,
    pub(super) count: usize,
    /// Whether a batch is that of each worker, so that more workers make more samples of a step.
    pub(super) per_worker: bool,
}

impl Role {
    fn place(self) -> usize {
        self as usize
    }

    fn is_of_machines(self) -> bool {
        matches!(self, Role::Cores | Role::Memory | Role::Nodes | Role::Name)
    }

    fn slope(self, shape: &Shape) -> Slope {
        match self {
            Role::Cores => shape.cores,
            Role::Memory => shape.memory,
            Role::Nodes => shape.nodes,
            Role::Batch => shape.batch,
            Role::Rate => shape.rate,
            Role::Sync => shape.sync,
            Role::Number => shape.number,
            Role::Name => shape.name,
        }
    }
}

impl Configurations {
    /// Whether they differ in more than machines.
    fn has_more(&self) -> bool {
        (self.columns.iter()).any(|column| !column.role.is_of_machines())
    }

    /// The configurations with the batch of each worker in place of that of all.
    pub(super) fn with_local_batch(mut self) -> Configurations {
        let nodes = self.sum(&[Role::Nodes]);
        if !self.per_worker
            && let Some(nodes) = nodes
            && let Some(batch) = self.columns.iter_mut().find(|c| c.role == Role::Batch)
        {
            (batch.values.iter_mut().zip(&nodes)).for_each(|(batch, nodes)| *batch -= nodes);
        }
        self
    }

    fn slope(&self, role: Role, shape: &Shape) -> Slope {
        match role {
            Role::Nodes if !self.per_worker => shape.nodes_alone,
            role => role.slope(shape),
        }
    }

    fn column(&self, role: Role) -> Option<&[f64]> {
        let found = self.columns.iter().find(|column| column.role == role);
        found.map(|column| &*column.values)
    }

    fn sum(&self, roles: &[Role]) -> Option<Vec<f64>> {
        let mut all = vec![0.0; self.count];
        for role in roles {
            let values = self.column(*role)?;
            all.iter_mut().zip(values).for_each(|(all, v)| *all += v);
        }
        Some(all)
    }

    fn all_memory(&self) -> Option<Vec<f64>> {
        self.sum(&[Role::Memory, Role::Cores, Role::Nodes])
    }

    /// All coordinates, and with them the memory and the cores of all machines together, where they are known.
    pub(super) fn coordinates(&self) -> Vec<Vec<f64>> {
        let mut all: Vec<Vec<f64>> = self.columns.iter().map(|c| c.values.clone()).collect();
        all.extend(self.all_memory());
        all.extend(self.sum(&[Role::Cores, Role::Nodes]));
        all
    }

    /// How scarce the memory of each is: 3·max(0, q − c)/(most − least) of c, the logarithm of all memory, and q, its 30 %
    /// quantile; none where memory is not known.
    pub(super) fn scarcity(&self) -> Option<Vec<f64>> {
        let all = self.all_memory()?;
        let mut sorted = all.clone();
        sorted.sort_by(f64::total_cmp);
        let range = sorted[sorted.len() - 1] - sorted[0];
        let place = 0.3 * (sorted.len() - 1) as f64;
        let low = sorted[place as usize];
        let next = sorted[(place as usize + 1).min(sorted.len() - 1)];
        let quantile = low + place.fract() * (next - low);
        (range > 0.0).then(|| {
            let scarce = |c: f64| 3.0 * (quantile - c).max(0.0) / range;
            all.into_iter().map(scarce).collect()
        })
    }

    pub(super) fn prior(&self, shape: &Shape, constants: &Constants) -> Prior {
        let n = self.count;
        let mut mean = vec![0.0; n];
        for column in &self.columns {
            let slope = self.slope(column.role, shape);
            for (mean, value) in mean.iter_mut().zip(&column.values) {
                *mean += slope.mean * value;
            }
        }
        if shape.scarce > 0.0
            && let Some(scarcity) = self.scarcity()
        {
            for (mean, scarce) in mean.iter_mut().zip(&scarcity) {
                *mean += shape.scarce * scarce * scarce;
            }
        }
        let columns: Vec<KernelColumn<'_>> = (self.columns.iter())
            .map(|column| {
                let slope = self.slope(column.role, shape);
                KernelColumn {
                    values: &column.values,
                    centre: column.values.iter().sum::<f64>() / n as f64,
                    variance: slope.sd * slope.sd,
                    per_length: 1.0 / constants.lengths[column.role.place()],
                    is_of_machines: column.role.is_of_machines(),
                    is_settled: slope.mean != 0.0,
                }
            })
            .collect();
        let all = if self.has_more() { shape.all } else { 0.0 };
        let (machines, all) = (shape.machines * shape.machines, all * all);
        let memory = self.all_memory().filter(|_| shape.sudden > 0.0);
        let sudden = shape.sudden * shape.sudden;
        let settled = symmetric(n, |a, b| {
            let sloped = columns.iter().filter(|column| column.is_settled);
            let sloped: f64 = sloped.map(|column| column.sloped(a, b)).sum();
            let change = |memory: &Vec<f64>| {
                sudden * libm::exp(-(memory[a] - memory[b]).abs() / constants.sudden)
            };
            sloped + memory.as_ref().map_or(0.0, change)
        });
        let unsettled = symmetric(n, |a, b| {
            let (mut sloped, mut near, mut far) = (0.0, 0.0, 0.0);
            for column in &columns {
                if !column.is_settled {
                    sloped += column.sloped(a, b);
                }
                let apart = (column.values[a] - column.values[b]) * column.per_length;
                far += apart * apart;
                if column.is_of_machines {
                    near += apart * apart;
                }
            }
            let of = |variance: f64, square: f64| {
                if variance > 0.0 {
                    variance * matern((5.0 * square).sqrt())
                } else {
                    0.0
                }
            };
            sloped + of(machines, near) + of(all, far)
        });
        Prior {
            mean,
            covariance: settled.iter().zip(&unsettled).map(|(s, u)| s + u).collect(),
            unsettled,
            own: shape.own * shape.own,
        }
    }
}

/// What a covariance takes of a column.
struct KernelColumn<'a> {
    values: &'a [f64],
    centre: f64,
    variance: f64,
    per_length: f64,
    is_of_machines: bool,
    /// Whether the mean of its slope over jobs is known.
    is_settled: bool,
}

impl KernelColumn<'_> {
    fn sloped(&self, a: usize, b: usize) -> f64 {
        self.variance * (self.values[a] - self.centre) * (self.values[b] - self.centre)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(per_worker: bool) -> Configurations {
        let column = |role, values: [f64; 4]| Column {
            role,
            values: values.to_vec(),
        };
        Configurations {
            columns: vec![
                column(Role::Nodes, [0.0, 0.0, 2.0, 2.0]),
                column(Role::Batch, [5.0, 7.0, 5.0, 7.0]),
            ],
            count: 4,
            per_worker,
        }
    }

    #[test]
    fn more_nodes_are_faster_and_what_is_alike_varies_together() {
        let constants = Constants::default();
        let prior = square(true).prior(&constants.step, &constants);
        assert!(prior.mean[2] < prior.mean[0]);
        let s = |a: usize, b: usize| prior.covariance[a * 4 + b];
        assert!(
            s(0, 0) > s(0, 1) && s(0, 1) > s(0, 3),
            "{:?}",
            prior.covariance
        );
        assert_eq!(s(1, 2), s(2, 1));
    }

    /// With a batch of each worker more nodes do more steps between them; with one of all together they do not.
    #[test]
    fn whose_the_batch_is_decides_what_nodes_are_to_steps() {
        let constants = Constants::default();
        let rise = |per_worker| {
            let prior = square(per_worker).prior(&constants.steps, &constants);
            prior.mean[2] - prior.mean[0]
        };
        assert!(rise(true) > 0.5 && rise(false) == 0.0);
        let local = square(false).with_local_batch();
        assert_eq!(local.columns[1].values, [5.0, 7.0, 3.0, 5.0]);
    }
}
