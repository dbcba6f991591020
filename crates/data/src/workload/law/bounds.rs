//! What parameters of a law may be.

/// Complains about the first of `parameters` (name, value, least value) that is not a number of
/// at least its least value.
pub(super) fn at_least(parameters: &[(&str, f64, f64)]) -> Result<(), String> {
    for &(name, value, least) in parameters {
        if !(value.is_finite() && value >= least) {
            return Err(match least {
                ANY => format!("expected `{name}` to be a number, found {value}"),
                ABOVE_ZERO => format!("expected `{name}` above 0, found {value}"),
                _ => format!("expected `{name}` of at least {least}, found {value}"),
            });
        }
    }
    Ok(())
}

/// A least value for what may be anything.
pub(super) const ANY: f64 = f64::NEG_INFINITY;
/// A least value for what must be above zero.
pub(super) const ABOVE_ZERO: f64 = f64::MIN_POSITIVE;
