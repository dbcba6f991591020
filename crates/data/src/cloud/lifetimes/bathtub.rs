use std::collections::HashMap;
use std::ops::Bound;
use std::sync::Arc;

use super::lifetime::Law;
use scavsim_base::{Declaration, Declared};
use scavsim_read::input::csv::Table;
use scavsim_read::input::{Diagnostics, Source};

/// F(t) = A (1 − exp(−t/τ₁) + exp((t − b)/τ₂)), at most 1; t in hours. A is the share lost early, with the time constant τ₁;
/// b is about the deadline and τ₂ how far ahead of it losses grow. F(0) = A exp(−b/τ₂), 10⁻¹⁴ for the published figures.
/// Source: Kadupitiya, Jadhao & Sharma, HPDC 2020.
#[derive(Debug, Clone, PartialEq)]
pub struct Bathtub {
    a: f64,
    tau1_h: f64,
    tau2_h: f64,
    b_h: f64,
    /// Age at which F reaches 1.
    full_h: f64,
    /// F at equal steps from 0 to `full_h`: where the inverse starts to search.
    table: [f64; CELLS + 1],
}

const CELLS: usize = 256;

impl Declared for Bathtub {
    const DECLARATION: Declaration = Declaration {
        name: "bathtub",
        what: "VMs are lost each by itself: early, then hardly, then towards a deadline; the rest at the cap.",
        formula: "F(t) = A (1 − exp(−t/τ₁) + exp((t − b)/τ₂)), t in hours",
        source: "GCP 2019 as published",
        example: "spot.lifetime = \"gcp-2019-bathtub\"",
    };
}

impl Bathtub {
    /// With A in (0, 1] and positive times in hours.
    pub fn new(a: f64, tau1_h: f64, tau2_h: f64, b_h: f64) -> Option<Self> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if !(positive(a) && a <= 1.0 && [tau1_h, tau2_h, b_h].into_iter().all(positive)) {
            return None;
        }
        let mut law = Bathtub {
            a,
            tau1_h,
            tau2_h,
            b_h,
            full_h: 0.0,
            table: [0.0; CELLS + 1],
        };
        // There the last term alone makes F at least 1.
        let beyond = b_h - tau2_h * libm::log(a);
        law.full_h = law.solve(1.0, 0.0, beyond);
        for cell in 0..=CELLS {
            law.table[cell] = law.unbounded(law.cell_h(cell));
        }
        law.full_h.is_finite().then_some(law)
    }

    fn cell_h(&self, cell: usize) -> f64 {
        self.full_h * (cell as f64 / CELLS as f64)
    }

    fn unbounded(&self, t: f64) -> f64 {
        let late = libm::exp((t - self.b_h) / self.tau2_h);
        self.a * (late - libm::expm1(-t / self.tau1_h))
    }

    fn slope(&self, t: f64) -> f64 {
        let early = libm::exp(-t / self.tau1_h) / self.tau1_h;
        let late = libm::exp((t - self.b_h) / self.tau2_h) / self.tau2_h;
        self.a * (early + late)
    }

    /// The age in [low, high] where F is `u` within 10⁻¹⁵, by Newton's steps, halving where they leave the bracket.
    fn solve(&self, u: f64, mut low: f64, mut high: f64) -> f64 {
        let mut t = 0.5 * (low + high);
        for _ in 0..100 {
            let error = self.unbounded(t) - u;
            if error.abs() <= 1e-15 {
                return t;
            }
            if error < 0.0 {
                low = t;
            } else {
                high = t;
            }
            let newton = t - error / self.slope(t);
            t = if newton > low && newton < high {
                newton
            } else {
                0.5 * (low + high)
            };
            if t <= low || t >= high {
                return t;
            }
        }
        t
    }
}

impl Law for Bathtub {
    fn cdf(&self, age_h: f64) -> f64 {
        if age_h >= self.full_h {
            1.0
        } else {
            self.unbounded(age_h).min(1.0)
        }
    }

    fn density(&self, age_h: f64) -> f64 {
        if age_h < self.full_h {
            self.slope(age_h)
        } else {
            0.0
        }
    }

    fn inverse_cdf(&self, u: f64) -> f64 {
        let above = self.table.partition_point(|f| *f < u);
        match above {
            0 => 0.0,
            above if above > CELLS => self.full_h,
            above => self.solve(u, self.cell_h(above - 1), self.cell_h(above)),
        }
    }

    /// t − A (t + τ₁ (exp(−t/τ₁) − 1) + τ₂ (exp((t − b)/τ₂) − exp(−b/τ₂))), up to where F is 1.
    fn mean_until(&self, age_h: f64) -> f64 {
        let t = age_h.min(self.full_h);
        let late = libm::exp((t - self.b_h) / self.tau2_h) - libm::exp(-self.b_h / self.tau2_h);
        let lost = t + self.tau1_h * libm::expm1(-t / self.tau1_h) + self.tau2_h * late;
        t - self.a * lost
    }
}

pub(super) fn read(source: &Arc<Source>, d: &mut Diagnostics) -> HashMap<String, Bathtub> {
    let columns = ["name", "a", "tau1_h", "tau2_h", "b_h"];
    let table = Table::read(source, &columns, &[], d);
    let mut laws = HashMap::new();
    for row in table.iter().flat_map(Table::rows) {
        let name = row.text("name", d);
        let share = (Bound::Excluded(0.0), Bound::Included(1.0));
        let a = row.number("a", share, d);
        let mut hours = |column| row.number(column, 1e-6..=1e6, d);
        let hours = (hours("tau1_h"), hours("tau2_h"), hours("b_h"));
        let (Some(name), Some(a), (Some(tau1_h), Some(tau2_h), Some(b_h))) = (name, a, hours)
        else {
            continue;
        };
        let Some(law) = Bathtub::new(a, tau1_h, tau2_h, b_h) else {
            let title = format!("`{name}` is no distribution");
            row.report_line(title, "F does not reach 1", d);
            continue;
        };
        if laws.insert(name.to_owned(), law).is_some() {
            row.named_before("name", d);
        }
    }
    laws
}

#[cfg(test)]
mod tests {
    use super::super::Lifetime;
    use super::*;
    use crate::tests::near;

    /// The parameters behind the published policies, under the provider's cap.
    fn published() -> Lifetime {
        let law = Bathtub::new(0.4137, 0.9, 0.76, 24.0).expect("they are legal");
        Lifetime::new(law, Some(24.0))
    }

    /// Figures as printed: half a unit of their last digit.
    #[test]
    fn the_published_curve_has_the_published_values() {
        let life = published();
        near(life.cdf(1.0), 0.278, 5e-4);
        near(life.cdf(6.0), 0.413, 5e-4);
        near(life.cdf_before(24.0), 0.827, 5e-4);
        assert_eq!(life.cdf(24.0), 1.0);
        near(life.lost_until(6.0), 0.369, 5e-4);
        near(life.lost_until(10.0) * 60.0, 22.0, 0.5);
    }

    #[test]
    fn the_inverse_meets_the_curve_within_a_billionth_of_a_permille() {
        for (a, tau1, tau2, b) in [
            (0.4137, 0.9, 0.76, 24.0),
            (0.6859, 0.7818, 1.2279, 25.624),
            (0.5603, 0.5066, 12.0, 30.2225),
            (1.0, 0.01, 0.02, 1.0),
        ] {
            let law = Bathtub::new(a, tau1, tau2, b).expect("they are legal");
            for step in 1..20_000 {
                let u = f64::from(step) / 20_000.0;
                let t = law.inverse_cdf(u);
                if t > 0.0 {
                    near(law.cdf(t), u, 1e-12);
                } else {
                    assert!(u <= law.cdf(0.0));
                }
            }
        }
    }

    #[test]
    fn closed_forms_agree_with_sums_over_the_curve() {
        let life = published();
        const PARTS: u32 = 200_000;
        let width = 24.0 / f64::from(PARTS);
        let (mut mean, mut risen) = (0.0, 0.0);
        for part in 0..PARTS {
            let t = (f64::from(part) + 0.5) * width;
            mean += life.survival(t) * width;
            risen += life.hazard(t) * life.survival(t) * width;
        }
        near(life.mean_until(24.0), mean, 1e-8);
        near(life.cdf_before(24.0), risen, 1e-8);
        near(life.mean_until(99.0), mean, 1e-8);
    }

    #[test]
    fn figures_that_are_no_distribution_are_refused() {
        for (a, tau1, tau2, b) in [
            (0.0, 1.0, 1.0, 24.0),
            (1.1, 1.0, 1.0, 24.0),
            (0.4, 0.0, 1.0, 24.0),
            (0.4, 1.0, f64::NAN, 24.0),
            (0.4, 1.0, 1.0, f64::INFINITY),
        ] {
            assert_eq!(Bathtub::new(a, tau1, tau2, b), None);
        }
    }
}
