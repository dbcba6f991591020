use std::collections::HashMap;
use std::sync::Arc;

use super::lifetime::Law;
use scavsim_base::{Declaration, Declared};
use scavsim_read::input::csv::Table;
use scavsim_read::input::{Diagnostics, Source};

/// A counted F: linear from (0, 0) through its points, level behind the last. The rest up to 1 is never lost.
#[derive(Debug, Clone, PartialEq)]
pub struct EmpiricalLaw {
    points: Vec<LifePoint>,
    /// Per slot, equally wide up to the last point: the point where it begins, or the last before.
    slots: Vec<u32>,
    slots_per_h: f64,
}

/// Slots per point, and points of a slot that are looked at one after the other.
const SLOTS_PER_POINT: usize = 8;
const MOST_IN_SLOT: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq)]
struct LifePoint {
    age_h: f64,
    lost: f64,
    /// E[min(T, age)] in hours.
    mean_until_h: f64,
}

const START: LifePoint = LifePoint {
    age_h: 0.0,
    lost: 0.0,
    mean_until_h: 0.0,
};

impl Declared for EmpiricalLaw {
    const DECLARATION: Declaration = Declaration {
        name: "empirical",
        what: "VMs are lost each by itself, as they were counted; the rest at the cap.",
        formula: "F counted, linear between its points",
        source: "GCP 2019 by machine type, GCP GPUs by region",
        example: "spot.lifetime = \"gcp-2019\"",
    };
}

impl EmpiricalLaw {
    /// From (age in hours, share lost by then): ages rise from above 0, shares of at most 1 never fall.
    pub fn new(counted: &[(f64, f64)]) -> Option<Self> {
        let mut points = vec![START];
        for &(age_h, lost) in counted {
            let last = points.last().copied().unwrap_or(START);
            let is_next = age_h.is_finite() && age_h > last.age_h;
            if !(is_next && (last.lost..=1.0).contains(&lost)) {
                return None;
            }
            let alive = 1.0 - 0.5 * (last.lost + lost);
            points.push(LifePoint {
                age_h,
                lost,
                mean_until_h: last.mean_until_h + alive * (age_h - last.age_h),
            });
        }
        let last_h = points.last().filter(|last| last.age_h > 0.0)?.age_h;
        let slots = SLOTS_PER_POINT * points.len();
        let slots_per_h = slots as f64 / last_h;
        let last_before = |slot: usize| {
            let begins_h = slot as f64 / slots_per_h;
            points.partition_point(|p: &LifePoint| p.age_h <= begins_h) as u32 - 1
        };
        Some(EmpiricalLaw {
            slots: (0..slots).map(last_before).collect(),
            slots_per_h,
            points,
        })
    }

    /// The first point above an age. Searches all points where a slot holds many, or rounding chose the wrong slot.
    #[inline]
    fn next(&self, age_h: f64) -> usize {
        let slot = ((age_h * self.slots_per_h) as usize).min(self.slots.len() - 1);
        let from = self.slots[slot] as usize;
        let near = &self.points[from..self.points.len().min(from + MOST_IN_SLOT)];
        let place = near.iter().position(|point| point.age_h > age_h);
        match place {
            Some(place @ 1..) => from + place,
            _ => self.next_of_all(age_h),
        }
    }

    #[cold]
    fn next_of_all(&self, age_h: f64) -> usize {
        self.points.partition_point(|p| p.age_h <= age_h)
    }

    /// The points around an age; the same one twice behind the last.
    #[inline]
    fn around(&self, age_h: f64) -> (LifePoint, LifePoint) {
        let next = self.next(age_h);
        let before = self.points[next.saturating_sub(1)];
        (before, self.points.get(next).copied().unwrap_or(before))
    }
}

impl Law for EmpiricalLaw {
    fn cdf(&self, age_h: f64) -> f64 {
        let (before, next) = self.around(age_h);
        before.lost + rise(before, next, age_h)
    }

    fn density(&self, age_h: f64) -> f64 {
        let (before, next) = self.around(age_h);
        let width = next.age_h - before.age_h;
        if width > 0.0 {
            (next.lost - before.lost) / width
        } else {
            0.0
        }
    }

    fn inverse_cdf(&self, u: f64) -> f64 {
        // Level stretches are skipped: the point before the first that reaches u is below u.
        let next = self.points.partition_point(|p| p.lost < u);
        match (self.points.get(next.wrapping_sub(1)), self.points.get(next)) {
            (_, None) => f64::INFINITY,
            (None, Some(first)) => first.age_h,
            (Some(before), Some(next)) => {
                let part = (u - before.lost) / (next.lost - before.lost);
                before.age_h + part * (next.age_h - before.age_h)
            }
        }
    }

    fn mean_until(&self, age_h: f64) -> f64 {
        let (before, next) = self.around(age_h);
        let alive = 1.0 - before.lost - 0.5 * rise(before, next, age_h);
        if alive > 0.0 {
            before.mean_until_h + alive * (age_h - before.age_h)
        } else {
            before.mean_until_h
        }
    }
}

/// F(t) less F at the point before.
fn rise(before: LifePoint, next: LifePoint, age_h: f64) -> f64 {
    let width = next.age_h - before.age_h;
    if width > 0.0 {
        (next.lost - before.lost) * ((age_h - before.age_h) / width)
    } else {
        0.0
    }
}

/// The laws of a table with columns `name`, `age_h` and `lost`; the rows of a law follow each other.
pub(super) fn read(source: &Arc<Source>, d: &mut Diagnostics) -> HashMap<String, EmpiricalLaw> {
    let table = Table::read(source, &["name", "age_h", "lost"], &[], d);
    let mut counted: HashMap<&str, Vec<(f64, f64)>> = HashMap::new();
    for row in table.iter().flat_map(Table::rows) {
        let cells = (row.text("name", d), row.number("age_h", 0.0.., d));
        let ((Some(name), Some(age_h)), Some(lost)) = (cells, row.number("lost", 0.0..=1.0, d))
        else {
            continue;
        };
        let points = counted.entry(name).or_default();
        let last = points.last().copied().unwrap_or((0.0, 0.0));
        if age_h <= last.0 {
            let title = format!("`age_h` of `{name}` does not rise");
            let label = format!("expected above {}", last.0);
            row.report("age_h", title, label, d);
        } else if lost < last.1 {
            let title = format!("`lost` of `{name}` falls");
            let label = format!("expected at least {}", last.1);
            row.report("lost", title, label, d);
        } else {
            points.push((age_h, lost));
        }
    }
    let laws = counted
        .into_iter()
        .filter_map(|(name, points)| Some((name.to_owned(), EmpiricalLaw::new(&points)?)));
    laws.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Lifetime;
    use super::*;

    #[test]
    fn the_curve_is_linear_between_its_points_and_level_behind() {
        let law = EmpiricalLaw::new(&[(1.0, 0.4), (2.0, 0.4), (4.0, 0.5)]).expect("it is legal");
        for (age, lost, mean) in [
            (0.0, 0.0, 0.0),
            (0.5, 0.2, 0.45),
            (1.5, 0.4, 1.1),
            (3.0, 0.45, 1.975),
            (4.0, 0.5, 2.5),
            (6.0, 0.5, 3.5),
        ] {
            assert!((law.cdf(age) - lost).abs() < 1e-12, "{age}");
            assert!((law.mean_until(age) - mean).abs() < 1e-12, "{age}");
        }
        assert!((law.inverse_cdf(0.3) - 0.75).abs() < 1e-12);
        assert!((law.inverse_cdf(0.45) - 3.0).abs() < 1e-12);
        assert_eq!(law.inverse_cdf(0.51), f64::INFINITY);
        assert_eq!(law.cdf(f64::MAX), 0.5);
        let capped = Lifetime::new(law, Some(24.0));
        assert_eq!(capped.quantile(0.51), 24.0);
        assert!((capped.lost_until(24.0) - 12.5).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn slots_find_what_a_search_finds(
            gaps in prop::collection::vec((1e-9..1.0_f64, -9..3_i32), 1..40),
            at in prop::collection::vec(0.0..1.2_f64, 20),
        ) {
            let mut age = 0.0;
            let ages: Vec<f64> = gaps.iter().map(|(gap, power)| { age += gap * 10_f64.powi(*power); age }).collect();
            let counted: Vec<(f64, f64)> = (ages.iter().enumerate())
                .map(|(i, age)| (*age, i as f64 / ages.len() as f64))
                .collect();
            let Some(law) = EmpiricalLaw::new(&counted) else { return Ok(()) };
            let between = at.iter().map(|part| part * age);
            for age_h in between.chain(ages.iter().flat_map(|a| [*a, a.next_down(), a.next_up()])) {
                let searched = law.points.partition_point(|p| p.age_h <= age_h);
                prop_assert_eq!(law.next(age_h), searched, "at {}", age_h);
            }
        }
    }

    #[test]
    fn points_that_are_no_distribution_are_refused() {
        for points in [
            &[][..],
            &[(0.0, 0.1)],
            &[(1.0, 0.2), (1.0, 0.3)],
            &[(1.0, 0.2), (2.0, 0.1)],
            &[(1.0, 1.2)],
            &[(f64::NAN, 0.2)],
        ] {
            assert_eq!(EmpiricalLaw::new(points), None);
        }
    }
}
