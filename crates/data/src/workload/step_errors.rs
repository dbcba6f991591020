use super::law::StepLaw;
use super::spread::Squares;
use super::step::StepCost;
use super::step_surface::Surface;
use crate::configuration::Configuration;

/// Standard deviations of ln(predicted/measured); `None` where nothing could be left out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StepErrors {
    /// Between measurements: each worker count left out, and each batch.
    pub(super) inside: Option<f64>,
    /// Beyond them: the law's own error, or that between them if it is greater.
    pub(super) beyond: Option<f64>,
}

impl StepErrors {
    pub(super) fn from_points(points: &[(Configuration, StepCost)], law: Option<StepLaw>) -> Self {
        let mut squares = Squares::default();
        let groups: [fn(&Configuration) -> u64; 2] =
            [|c| u64::from(c.workers), |c| c.local_batch().to_bits()];
        for group in groups {
            let mut keys: Vec<u64> = points.iter().map(|(c, _)| group(c)).collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                let (out, kept): (Vec<_>, Vec<_>) =
                    (points.iter().cloned()).partition(|(c, _)| group(c) == key);
                if kept.is_empty() {
                    continue;
                }
                let surface = Surface::new(&kept, law);
                for (c, measured) in &out {
                    if let Some(told) = surface.inside(c) {
                        squares.add(told.total_s(), measured.total_s());
                    }
                }
            }
        }
        let mut by_law = Squares::default();
        for (c, measured) in points {
            if let Some(told) = law.and_then(|law| law.cost(c.workers, c.local_batch(), 1.0, 1.0)) {
                by_law.add(told.total_s(), measured.total_s());
            }
        }
        let inside = squares.deviation();
        let beyond = by_law.deviation();
        StepErrors {
            inside,
            beyond: beyond.map(|d| inside.map_or(d, |i| i.max(d))),
        }
    }
}
