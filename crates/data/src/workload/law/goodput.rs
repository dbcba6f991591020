//! Progress per step from the gradient noise scale over training (Pollux): a step at batch B is worth (B/M₀)·(φ_p + M₀)/(φ_p
//! + B) steps at the initial batch M₀, φ_p the noise scale in samples at progress p (Qiao et al., OSDI 2021, after AdaScale).

/// Steps at `batch` to go from progress 0 to the end of the last of `pieces`: (progress at the
/// end of the piece in steps at M₀, noise scale in it), in order. n = Σ Δp·(M₀/B)(φ + B)/(φ + M₀).
pub fn steps(initial_batch: f64, batch: f64, pieces: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    let mut done = 0.0;
    let mut steps = 0.0;
    for (until, noise_scale) in pieces {
        steps += (until - done) / rate(initial_batch, batch, noise_scale);
        done = until;
    }
    steps
}

/// Progress of one step at `batch`, in steps at M₀.
pub fn rate(initial_batch: f64, batch: f64, noise_scale: f64) -> f64 {
    let gain = if noise_scale.is_finite() {
        (noise_scale + initial_batch) / (noise_scale + batch)
    } else {
        1.0
    };
    batch / initial_batch * gain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_makes_a_large_batch_worth_it_and_its_absence_does_not() {
        assert_eq!(rate(100.0, 800.0, f64::INFINITY), 8.0);
        assert_eq!(rate(100.0, 800.0, 0.0), 1.0);
        assert_eq!(rate(100.0, 100.0, 37.0), 1.0);
        let pieces = [(50.0, 0.0), (130.0, f64::INFINITY)];
        assert_eq!(steps(100.0, 800.0, pieces), 60.0);
    }
}
