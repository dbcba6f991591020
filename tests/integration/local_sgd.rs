//! Local SGD against exact theory.

use scavsim::training::sync::{Goal, Protocol};
use scavsim::training::variation::WorkerTime;
use statrs::distribution::{ContinuousCDF, Gamma};

use crate::sync::{assert_mean, event, log_normal, protocol, runs, stepping, stream};

#[test]
fn a_period_of_one_is_bsp_bit_for_bit() {
    for (workers, cv) in [(1, 0.3), (8, 0.3), (37, 0.1), (8, 0.0)] {
        let stepping = stepping(workers, 0.25, log_normal(cv));
        let one = protocol("{ local-sgd = { period = 1 } }");
        let goal = Goal::updates(300);
        let bsp = event(Protocol::Bsp, &stepping, goal, stream(5, 0));
        let local = event(one, &stepping, goal, stream(5, 0));
        assert_eq!(bsp.1.to_bits(), local.1.to_bits());
        assert_eq!(bsp.0.gradients, local.0.gradients);
    }
}

/// The slowest of K sums of H exponential steps, by quadrature of 1 − F(t)^K, F Erlang's distribution.
fn slowest_sum(workers: u32, period: u32) -> f64 {
    let sum = Gamma::new(f64::from(period), 1.0).expect("a distribution");
    let (end, steps) = (20.0 * f64::from(period) + 40.0, 400_000);
    let each = end / f64::from(steps);
    (0..steps)
        .map(|i| 1.0 - sum.cdf((f64::from(i) + 0.5) * each).powi(workers as i32))
        .sum::<f64>()
        * each
}

#[test]
fn a_round_takes_as_long_as_the_slowest_sum_of_its_steps() {
    for (workers, period) in [(1, 8), (4, 2), (8, 8), (16, 32)] {
        let name = format!("{{ local-sgd = {{ period = {period} }} }}");
        let stepping = stepping(workers, 0.5, WorkerTime::EXPONENTIAL);
        let rounds = 200;
        let seen = runs(&name, &stepping, Goal::updates(rounds), 30, |s, end| {
            assert_eq!(s.gradients, rounds * u64::from(workers * period));
            end / rounds as f64
        });
        let expected = slowest_sum(workers, period) + 0.5;
        assert_mean(
            &format!("{workers} workers, period {period}"),
            &seen,
            expected,
        );
    }
}

/// One communication for H steps, and the slowest of a sum waits less: both shorten steps.
#[test]
fn steps_get_shorter_with_the_period() {
    let stepping = stepping(8, 0.5, log_normal(0.3));
    let mean = |period: u64| {
        let name = format!("{{ local-sgd = {{ period = {period} }} }}");
        let updates = 64 / period;
        runs(&name, &stepping, Goal::updates(updates), 40, |_, end| {
            end / 64.0
        })
    };
    let mut before = f64::INFINITY;
    for period in [1, 2, 8, 64] {
        let event = mean(period);
        assert!(event.mean() < before, "{period}");
        before = event.mean();
    }
}
