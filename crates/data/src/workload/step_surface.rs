use super::grid::{Grid, Point};
use super::law::StepLaw;
use super::step::StepCost;
use crate::configuration::{Configuration, Shape};

/// The measured points of one VM shape. Those on one VM are apart: Ethernet begins in between, and no line leads across.
/// ln(measured/law) is interpolated, linear in ln K and ln b or ln B; without a law, ln(measured). So are the whole step and
/// one worker's compute; communication is the difference.
#[derive(Debug, Clone)]
pub(super) struct Surface {
    law: Option<StepLaw>,
    /// Whether grids run along the local batch: where fewer local than global batches were measured.
    by_local_batch: bool,
    one_vm: StepGrids,
    several: StepGrids,
}

#[derive(Debug, Clone)]
struct StepGrids {
    whole: Grid,
    compute: Grid,
}

fn on_one_vm(at: &Configuration) -> bool {
    Shape::parse(&at.vm).is_ok_and(|shape| shape.vms(at.workers) == Some(1))
}

impl Surface {
    pub(super) fn new(points: &[(Configuration, StepCost)], law: Option<StepLaw>) -> Self {
        let distinct = |of: fn(&Configuration) -> f64| {
            let mut all: Vec<f64> = points.iter().map(|(c, _)| of(c)).collect();
            all.sort_by(f64::total_cmp);
            all.dedup();
            all.len()
        };
        let by_local_batch =
            distinct(Configuration::local_batch) < distinct(|c| f64::from(c.batch));
        // A law that has no time for a measured point is no ground for the others.
        let law = law.filter(|law| points.iter().all(|(c, _)| cost(law, c).is_some()));
        let mut surface = Surface {
            law,
            by_local_batch,
            one_vm: StepGrids::new(&[]),
            several: StepGrids::new(&[]),
        };
        let value = |(c, measured): &(Configuration, StepCost)| {
            let (workers, along) = surface.place(c);
            let [whole, compute] = match law.and_then(|law| cost(&law, c)) {
                None => [ln(measured.total_s()), ln(measured.compute_s)],
                Some(by_law) => [
                    libm::log(measured.total_s() / by_law.total_s()),
                    libm::log(measured.compute_s / by_law.compute_s),
                ],
            };
            (on_one_vm(c), workers, along, whole, compute)
        };
        let values: Vec<_> = points.iter().map(value).collect();
        let side = |one: bool| {
            let of = values.iter().filter(|v| v.0 == one);
            StepGrids::new(&of.map(|v| (v.1, v.2, v.3, v.4)).collect::<Vec<_>>())
        };
        (surface.one_vm, surface.several) = (side(true), side(false));
        surface
    }

    fn place(&self, at: &Configuration) -> (f64, f64) {
        let workers = f64::from(at.workers);
        let along = if self.by_local_batch {
            at.local_batch()
        } else {
            f64::from(at.batch)
        };
        (libm::log(workers), libm::log(along))
    }

    fn side(&self, at: &Configuration) -> &StepGrids {
        if on_one_vm(at) {
            &self.one_vm
        } else {
            &self.several
        }
    }

    pub(super) fn surrounds(&self, at: &Configuration) -> bool {
        let (workers, along) = self.place(at);
        self.side(at).whole.value_at(workers, along).is_some()
    }

    pub(super) fn inside(&self, at: &Configuration) -> Option<StepCost> {
        let (workers, along) = self.place(at);
        let side = self.side(at);
        let whole = side.whole.value_at(workers, along)?;
        let compute = side.compute.value_at(workers, along)?;
        match self.law {
            None => Some(shared(libm::exp(whole), libm::exp(compute))),
            Some(law) => {
                let by_law = cost(&law, at)?;
                let whole_s = by_law.total_s() * libm::exp(whole);
                Some(shared(whole_s, by_law.compute_s * libm::exp(compute)))
            }
        }
    }

    /// The cost beyond the hull: the scaled law, times measured/law at the nearest place on the edge.
    pub(super) fn beyond(
        &self,
        at: &Configuration,
        compute_scale: f64,
        network_scale: f64,
    ) -> Option<StepCost> {
        let law = self.law.filter(|law| !law.one_vm_only || on_one_vm(at))?;
        let by_law = law.cost(at.workers, at.local_batch(), compute_scale, network_scale)?;
        let (workers, along) = self.place(at);
        let side = self.side(at);
        let ratio = |grid: &Grid| libm::exp(grid.nearest(workers, along).unwrap_or(0.0));
        let whole_s = by_law.total_s() * ratio(&side.whole);
        Some(shared(whole_s, by_law.compute_s * ratio(&side.compute)))
    }

    /// What a whole step is worth here for `compute_s` of it, near the measured share.
    pub(super) fn share(&self, at: &Configuration, whole_s: f64) -> Option<StepCost> {
        let (workers, along) = self.place(at);
        let side = self.side(at);
        let compute = side.compute.nearest(workers, along)?;
        let compute_s = match self.law {
            None => whole_s * libm::exp(compute - side.whole.nearest(workers, along)?),
            Some(law) => cost(&law, at)?.compute_s * libm::exp(compute),
        };
        Some(shared(whole_s, compute_s))
    }
}

/// ln of a time that may be 0.
fn ln(seconds: f64) -> f64 {
    libm::log(seconds.max(f64::MIN_POSITIVE))
}

fn shared(whole_s: f64, compute_s: f64) -> StepCost {
    let compute_s = compute_s.min(whole_s);
    StepCost {
        compute_s,
        communication_s: whole_s - compute_s,
    }
}

fn cost(law: &StepLaw, at: &Configuration) -> Option<StepCost> {
    law.cost(at.workers, at.local_batch(), 1.0, 1.0)
}

impl StepGrids {
    fn new(values: &[(f64, f64, f64, f64)]) -> Self {
        let grid = |of: fn(&(f64, f64, f64, f64)) -> f64| {
            let point = |v: &(f64, f64, f64, f64)| Point {
                workers: v.0,
                batch: v.1,
                value: of(v),
            };
            Grid::new(&values.iter().map(point).collect::<Vec<_>>(), |along| along)
        };
        StepGrids {
            whole: grid(|v| v.2),
            compute: grid(|v| v.3),
        }
    }
}
