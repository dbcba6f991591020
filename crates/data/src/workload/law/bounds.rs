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

/// Laws to choose from: their parameters, each with its least value behind `=>`, and what is declared of them.
macro_rules! laws {
    (
        $(#[$about:meta])*
        pub enum $laws:ident {
            $(
                $(#[$doc:meta])*
                $law:ident $({
                    $($(#[$symbol:meta])* $name:ident: $type:ty $(=> $least:expr)?,)*
                })?: $declared:expr,
            )*
        }
    ) => {
        #[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
        $(#[$about])*
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        pub enum $laws {
            $($(#[$doc])* $law $({ $($(#[$symbol])* $name: $type,)* })?,)*
        }

        impl $laws {
            pub const DECLARED: &'static [Declaration] = &[$($declared),*];

            #[allow(unused_variables, reason = "some parameters are checked as they are read")]
            pub fn check(&self) -> Result<(), OutOfBounds> {
                match *self {
                    $($laws::$law $({ $($name,)* })? => at_least(&[
                        $($($((stringify!($name), f64::from($name), $least),)?)*)?
                    ]),)*
                }
            }
        }
    };
}
pub(super) use laws;
