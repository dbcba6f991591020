//! Fractions in percent.

/// Percent with a sign; beyond ten times as much, tenths say nothing.
pub fn signed(fraction: f64) -> String {
    if is_many_times(fraction) {
        format!("{:+.0}", 100.0 * fraction)
    } else {
        format!("{:+.1}", no_minus_zero(fraction))
    }
}

/// Whether a fraction is so many times that its tenths of a percent say nothing.
pub fn is_many_times(fraction: f64) -> bool {
    fraction.abs() >= 10.0
}

/// In percent, and −0.0 as 0.0.
fn no_minus_zero(fraction: f64) -> f64 {
    let rounded = (1000.0 * fraction).round() / 10.0;
    if rounded == 0.0 { 0.0 } else { rounded }
}
