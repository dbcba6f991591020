//! Student's t: how far few values may be from what they are taken from.

use std::cell::Cell;

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::normal;

thread_local! {
    /// What was asked for last, and the answer: all figures of a group ask the same.
    static LAST: Cell<(f64, u64, f64)> = const { Cell::new((f64::NAN, 0, f64::NAN)) };
}

/// The quantile at `p` in (0, 1) of Student's t with `degrees` of freedom (at least 1).
pub fn quantile(p: f64, degrees: u64) -> f64 {
    let (last_p, last_degrees, last) = LAST.get();
    if last_p == p && last_degrees == degrees {
        return last;
    }
    let quantile = quantile_anew(p, degrees);
    LAST.set((p, degrees, quantile));
    quantile
}

fn quantile_anew(p: f64, degrees: u64) -> f64 {
    match StudentsT::new(0.0, 1.0, degrees.max(1) as f64) {
        Ok(t) => t.inverse_cdf(p),
        // Unreachable: location 0, scale 1 and at least one degree are legal parameters.
        Err(_) => normal::inverse_cdf(p),
    }
}

/// How much wider an interval at `p` is than a normal one if its deviation has so many `degrees` of freedom: t_p/z_p.
pub fn wider(p: f64, degrees: u64) -> f64 {
    quantile(p, degrees) / normal::inverse_cdf(p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_textbook() {
        for (p, degrees, t) in [
            (0.975, 1, 12.706_205),
            (0.975, 9, 2.262_157),
            (0.975, 199, 1.971_957),
            (0.95, 1, 6.313_752),
            (0.95, 2, 2.919_986),
            (0.95, 7, 1.894_579),
            (0.95, 30, 1.697_261),
        ] {
            assert!((quantile(p, degrees) - t).abs() < 1e-6, "{p} {degrees}");
        }
        assert!((wider(0.95, 7) - 1.894_579 / 1.644_854).abs() < 1e-6);
    }
}
