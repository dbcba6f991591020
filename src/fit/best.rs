//! The law of step time that foretells best what it has not seen.

use super::linear::{Equation, non_negative};
use super::steps::{
    Growth, StepFit, StepPoint, additive_law, additive_non_negative, at, equations, p_norm,
};
use crate::workload::law::StepLaw;

/// A law, and how it was chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chosen {
    /// The law on all points.
    pub fit: StepFit,
    /// Its mean error in % on points that it was not fitted to.
    pub left_out: f64,
}

/// Why points give no law.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoLaw {
    /// A law with as many parameters as points says nothing.
    #[error("{0} are no fit; at least four are needed")]
    FewPoints(Points),
    /// What a sample takes is not known.
    #[error("all have the same local batch, which tells nothing of others")]
    OneBatch,
    /// What communication takes is not known.
    #[error("all have the same number of workers, which tells nothing of others")]
    OneCount,
    /// No candidate comes out.
    #[error("no law goes through them")]
    None,
}

/// How many points, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Points(pub usize);

impl std::fmt::Display for Points {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            1 => f.write_str("1 point"),
            n => write!(f, "{n} points"),
        }
    }
}

/// Fewest points: one more than the simplest law has parameters.
const FEWEST: usize = 4;
/// With more points they are left out in so many parts, each spread over all of them.
const PARTS: usize = 24;

/// A way to a law.
#[derive(Debug, Clone, Copy)]
enum Candidate {
    /// t = a + b·x + d·growth(K).
    Whole(Growth),
    /// Compute a + b·x and exposed communication c + d·growth(K), each fitted to its own part.
    Split(Growth),
    /// The p-norm of the two.
    PNorm,
}

impl Candidate {
    /// The simplest first.
    const ALL: [Candidate; 7] = [
        Candidate::Whole(Growth::ALL[0]),
        Candidate::Whole(Growth::ALL[1]),
        Candidate::Whole(Growth::ALL[2]),
        Candidate::Split(Growth::ALL[0]),
        Candidate::Split(Growth::ALL[1]),
        Candidate::Split(Growth::ALL[2]),
        Candidate::PNorm,
    ];

    fn fit(self, points: &[StepPoint]) -> Option<StepLaw> {
        match self {
            Candidate::Whole(growth) => additive_non_negative(points, growth),
            Candidate::Split(growth) => split(points, growth),
            Candidate::PNorm => p_norm(points).map(|fit| fit.law),
        }
    }

    /// Mean error in % on points left out of the fit; `None` where it gives no time for one.
    fn left_out(self, points: &[StepPoint]) -> Option<f64> {
        let parts = points.len().min(PARTS);
        let mut sum = 0.0;
        for part in 0..parts {
            let is_out = |i: usize| i % parts == part;
            let indexed = || points.iter().enumerate();
            let seen: Vec<StepPoint> = (indexed().filter(|(i, _)| !is_out(*i)))
                .map(|(_, p)| *p)
                .collect();
            let law = self.fit(&seen)?;
            for (_, p) in indexed().filter(|(i, _)| is_out(*i)) {
                sum += (at(&law, p)? / p.step_s - 1.0).abs();
            }
        }
        Some(100.0 * sum / points.len() as f64)
    }
}

/// The candidate with the least error on points that it has not seen, fitted to all. Knowing more never hides a candidate:
/// laws of the whole step stand beside those of its parts.
///
/// # Errors
/// [`NoLaw`] where the points cannot tell.
pub fn best(points: &[StepPoint]) -> Result<Chosen, NoLaw> {
    let all_alike = |of: fn(&StepPoint) -> f64| points.iter().all(|p| of(p) == of(&points[0]));
    if points.len() < FEWEST {
        return Err(NoLaw::FewPoints(Points(points.len())));
    }
    if all_alike(|p| p.local_batch) {
        return Err(NoLaw::OneBatch);
    }
    if all_alike(|p| f64::from(p.workers)) {
        return Err(NoLaw::OneCount);
    }
    let mut best: Option<Chosen> = None;
    for candidate in Candidate::ALL {
        let (Some(left_out), Some(law)) = (candidate.left_out(points), candidate.fit(points))
        else {
            continue;
        };
        let Some(fit) = StepFit::judged(law, points) else {
            continue;
        };
        // Of those that differ by rounding the simpler one stays.
        if best.is_none_or(|b| left_out < b.left_out - 1e-9) {
            best = Some(Chosen { fit, left_out });
        }
    }
    best.ok_or(NoLaw::None)
}

/// Compute and communication, each from the points that tell them apart.
fn split(points: &[StepPoint], growth: Growth) -> Option<StepLaw> {
    let known: Option<Vec<(&StepPoint, f64)>> =
        points.iter().map(|p| Some((p, p.exposed_s?))).collect();
    let known = known?;
    let compute = non_negative(&equations(
        (known.iter()).map(|(p, exposed)| ([1.0, p.local_batch], p.step_s - exposed)),
    ))?;
    let several = known.iter().filter(|(p, _)| p.workers > 1);
    let exposed: Vec<_> = several
        .map(|(p, exposed)| Equation {
            x: [1.0, growth.at(p.workers)],
            y: *exposed,
            weight: 1.0 / p.step_s,
        })
        .collect();
    let [base, slope] = non_negative(&exposed)?;
    Some(additive_law(compute, growth.law(base, slope)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::step_cost::StepCost;

    fn points(law: &StepLaw, split: bool) -> Vec<StepPoint> {
        let all = [1_u32, 2, 4, 8, 16].map(|k| [4.0, 16.0, 64.0].map(|x| (k, x)));
        let point = |(workers, local_batch)| {
            let cost: StepCost = law.cost(workers, local_batch, 1.0, 1.0).expect("in range");
            StepPoint {
                workers,
                local_batch,
                step_s: cost.total_s(),
                exposed_s: split.then_some(cost.communication_s),
            }
        };
        all.into_iter().flatten().map(point).collect()
    }

    #[test]
    fn the_law_that_made_the_points_is_found_again() {
        for (split, growth) in [
            (true, Growth::Tree),
            (true, Growth::Linear),
            (false, Growth::Ring),
        ] {
            let made = additive_law([0.1, 0.01], growth.law(0.0, 0.03));
            let found = best(&points(&made, split)).expect("enough points");
            assert!(found.left_out < 1e-6, "{growth:?} {found:?}");
        }
    }

    #[test]
    fn knowing_the_split_never_makes_the_law_worse() {
        // Exposed communication falls where compute hides it: no additive law of the parts has that.
        let mut all = points(
            &additive_law([0.1, 0.01], Growth::Linear.law(0.0, 0.03)),
            true,
        );
        for p in &mut all {
            let hidden = p.exposed_s.map(|c| c / (1.0 + p.local_batch));
            p.exposed_s = hidden;
        }
        let blind: Vec<StepPoint> = (all.iter())
            .map(|p| StepPoint {
                exposed_s: None,
                ..*p
            })
            .collect();
        let (seeing, blind) = (best(&all).expect("a law"), best(&blind).expect("a law"));
        assert!(seeing.left_out <= blind.left_out, "{seeing:?} {blind:?}");
    }

    #[test]
    fn too_little_gives_no_law() {
        let made = additive_law([0.1, 0.01], Growth::Linear.law(0.0, 0.03));
        let all = points(&made, false);
        assert_eq!(best(&[]), Err(NoLaw::FewPoints(Points(0))));
        assert_eq!(best(&all[..2]), Err(NoLaw::FewPoints(Points(2))));
        let one_count: Vec<StepPoint> = (all.iter())
            .filter(|p| p.workers == 1)
            .cycle()
            .take(6)
            .copied()
            .collect();
        assert_eq!(best(&one_count), Err(NoLaw::OneCount));
        let one_batch: Vec<StepPoint> = (all.iter())
            .filter(|p| p.local_batch == 4.0)
            .copied()
            .collect();
        assert_eq!(best(&one_batch), Err(NoLaw::OneBatch));
    }
}
