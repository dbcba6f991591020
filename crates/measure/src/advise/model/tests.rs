//! Compares the value of a measurement with its integral, and checks an answer for a model without measurements.

use super::*;

/// Compares the closed form with a sum over a million quantiles.
#[test]
fn an_exchange_is_its_integral() {
    for (mean, other, sd) in [
        (10.0, 12.0, 0.1),
        (10.0, 10.0, 0.3),
        (20.0, 10.0, 0.2),
        (5.0, 9.0, 0.05),
    ] {
        let parts = 200_000;
        let gain = |n: u32| {
            let z = normal::inverse_cdf((f64::from(n) + 0.5) / f64::from(parts));
            (mean * libm::exp(sd * z - sd * sd / 2.0) - other).max(0.0)
        };
        let integral = (0..parts).map(gain).sum::<f64>() / f64::from(parts);
        scavsim_base::tests::near(exchange(mean, other, sd), integral, 1e-4 * mean);
    }
    assert_eq!(exchange(10.0, f64::INFINITY, 0.2), 0.0);
    assert_eq!(exchange(10.0, 8.0, 0.0), 2.0);
}
