use super::linear::{Equation, non_negative};
use super::steps::{
    Growth, StepFit, StepPoint, additive_law, additive_non_negative, compute_only, equations,
    p_norm, step_seconds,
};
use scavsim_data::workload::law::StepLaw;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chosen {
    pub fit: StepFit,
    /// Mean error in % on points that the law was not fitted to.
    pub left_out: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoLaw {
    /// A law with as many parameters as points cannot be tested.
    #[error("{0} no fit; at least {1} are needed")]
    FewPoints(Points, usize),
    /// The time of a sample is unknown.
    #[error("all have the same local batch, so others cannot be predicted")]
    OneBatch,
    /// The time of communication is unknown.
    #[error("all have the same number of workers, so others cannot be predicted")]
    OneCount,
    #[error("no law goes through them")]
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Points(pub usize);

impl std::fmt::Display for Points {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            1 => f.write_str("1 point is"),
            n => write!(f, "{n} points are"),
        }
    }
}

/// Minimum number of points: one more than the simplest law has parameters.
const FEWEST: usize = 4;
const FEWEST_OF_ONE_COUNT: usize = 3;
/// More points than this are left out in this number of parts, each spread over all of them.
const PARTS: usize = 24;

#[derive(Debug, Clone, Copy)]
enum Candidate {
    /// t = a + b·x.
    Compute,
    /// t = a + b·x + d·growth(K).
    Whole(Growth),
    /// Compute a + b·x and exposed communication c + d·growth(K), each fitted to its own part.
    Split(Growth),
    PNorm,
}

impl Candidate {
    /// The simplest first.
    const ALL: [Candidate; 7] = [
        Candidate::Whole(Growth::Linear),
        Candidate::Whole(Growth::Ring),
        Candidate::Whole(Growth::Tree),
        Candidate::Split(Growth::Linear),
        Candidate::Split(Growth::Ring),
        Candidate::Split(Growth::Tree),
        Candidate::PNorm,
    ];

    fn fit(self, points: &[StepPoint]) -> Option<StepLaw> {
        match self {
            Candidate::Compute => {
                let whole = points.iter().map(|p| ([1.0, p.local_batch], p.step_s));
                non_negative(&equations(whole)).map(compute_only)
            }
            Candidate::Whole(growth) => additive_non_negative(points, growth),
            Candidate::Split(growth) => split(points, growth),
            Candidate::PNorm => p_norm(points).map(|fit| fit.law),
        }
    }

    /// Mean error in % on points left out of the fit; `None` if it gives no time for one.
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
                sum += (step_seconds(&law, p)? / p.step_s - 1.0).abs();
            }
        }
        Some(100.0 * sum / points.len() as f64)
    }
}

/// The candidate with the least error on held-out points, fitted to all. More knowledge never hides a candidate: laws of the
/// whole step are tried in addition to those of its parts.
pub fn best(points: &[StepPoint]) -> Result<Chosen, NoLaw> {
    enough(points, FEWEST)?;
    if has_one_count(points) {
        return Err(NoLaw::OneCount);
    }
    best_of(&Candidate::ALL, points)
}

/// Like [`best`] for points on one VM. If all have equally many workers, the whole step is a + b·x.
pub fn best_on_one_vm(points: &[StepPoint]) -> Result<Chosen, NoLaw> {
    let mut chosen = if has_one_count(points) {
        enough(points, FEWEST_OF_ONE_COUNT)?;
        best_of(&[Candidate::Compute], points)?
    } else {
        best(points)?
    };
    chosen.fit.law.one_vm_only = true;
    Ok(chosen)
}

fn has_one_count(points: &[StepPoint]) -> bool {
    points.iter().all(|p| p.workers == points[0].workers)
}

fn enough(points: &[StepPoint], fewest: usize) -> Result<(), NoLaw> {
    if points.len() < fewest {
        return Err(NoLaw::FewPoints(Points(points.len()), fewest));
    }
    if points
        .iter()
        .all(|p| p.local_batch == points[0].local_batch)
    {
        Err(NoLaw::OneBatch)
    } else {
        Ok(())
    }
}

fn best_of(candidates: &[Candidate], points: &[StepPoint]) -> Result<Chosen, NoLaw> {
    let mut best: Option<Chosen> = None;
    for candidate in candidates {
        let (Some(left_out), Some(law)) = (candidate.left_out(points), candidate.fit(points))
        else {
            continue;
        };
        let Some(fit) = StepFit::judged(law, points) else {
            continue;
        };
        // If two differ only by rounding, the simpler one stays.
        if best.is_none_or(|b| left_out < b.left_out - 1e-9) {
            best = Some(Chosen { fit, left_out });
        }
    }
    best.ok_or(NoLaw::None)
}

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
            x: [1.0, growth.value_at(p.workers)],
            y: *exposed,
            weight: 1.0 / p.step_s,
        })
        .collect();
    let [base, slope] = non_negative(&exposed)?;
    Some(additive_law(compute, growth.law(base, slope)))
}

#[cfg(test)]
mod tests {
    use super::super::steps::tests::points;
    use super::*;

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
        // Exposed communication shrinks where compute hides it: no additive law of the parts models that.
        let made = additive_law([0.1, 0.01], Growth::Linear.law(0.0, 0.03));
        let mut all = points(&made, true);
        for p in &mut all {
            p.exposed_s = p.exposed_s.map(|c| c / (1.0 + p.local_batch));
        }
        let mut blind = all.clone();
        blind.iter_mut().for_each(|p| p.exposed_s = None);
        let (seeing, blind) = (best(&all).expect("a law"), best(&blind).expect("a law"));
        assert!(seeing.left_out <= blind.left_out, "{seeing:?} {blind:?}");
    }

    #[test]
    fn on_one_vm_one_count_is_enough_and_says_nothing_of_several() {
        let made = additive_law([0.1, 0.01], Growth::Linear.law(0.05, 0.0));
        let all = points(&made, false);
        let four: Vec<StepPoint> = all.iter().filter(|p| p.workers == 4).copied().collect();
        let found = best_on_one_vm(&four).expect("three batches");
        assert!(found.left_out < 1e-6 && found.fit.law.one_vm_only);
        let whole = found.fit.law.cost(4, 100.0, 1.0, 1.0);
        assert!((whole.expect("a time").total_s() - 1.15).abs() < 1e-9);
        let few = NoLaw::FewPoints(Points(2), 3);
        assert_eq!(best_on_one_vm(&four[..2]), Err(few));
        assert_eq!(best_on_one_vm(&[four[0]; 3]), Err(NoLaw::OneBatch));
        // Several counts determine more.
        let several = best_on_one_vm(&all).expect("a law").fit.law;
        let by_best = best(&all).expect("a law").fit.law;
        assert_eq!(several.communication, by_best.communication);
        assert!(several.one_vm_only && !by_best.one_vm_only);
    }

    #[test]
    fn too_little_gives_no_law() {
        let made = additive_law([0.1, 0.01], Growth::Linear.law(0.0, 0.03));
        let all = points(&made, false);
        assert_eq!(best(&[]), Err(NoLaw::FewPoints(Points(0), 4)));
        assert_eq!(best(&all[..2]), Err(NoLaw::FewPoints(Points(2), 4)));
        let one_count = all.iter().filter(|p| p.workers == 1).cycle().take(6);
        let one_count: Vec<StepPoint> = one_count.copied().collect();
        assert_eq!(best(&one_count), Err(NoLaw::OneCount));
        let one_batch = all.iter().filter(|p| p.local_batch == 4.0);
        let one_batch: Vec<StepPoint> = one_batch.copied().collect();
        assert_eq!(best(&one_batch), Err(NoLaw::OneBatch));
    }
}
