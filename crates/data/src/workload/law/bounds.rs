/// A parameter of a law that is no number, or below its least value.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("expected `{name}` {}, found {value}", self.expected())]
pub struct OutOfBounds {
    name: &'static str,
    value: f64,
    least: f64,
}

impl OutOfBounds {
    fn expected(&self) -> String {
        match self.least {
            ANY => "to be a number".to_owned(),
            ABOVE_ZERO => "above 0".to_owned(),
            least => format!("of at least {least}"),
        }
    }
}

/// Complains about the first of `parameters` (name, value, least value) that is not a number of at least its least value.
pub(super) fn at_least(parameters: &[(&'static str, f64, f64)]) -> Result<(), OutOfBounds> {
    for &(name, value, least) in parameters {
        if !(value.is_finite() && value >= least) {
            return Err(OutOfBounds { name, value, least });
        }
    }
    Ok(())
}

pub(super) const ANY: f64 = f64::NEG_INFINITY;
pub(super) const ABOVE_ZERO: f64 = f64::MIN_POSITIVE;
