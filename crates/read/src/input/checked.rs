//! Numbers that are checked as they are read: wrong ones are reported at their places, with all other mistakes.

use serde::{Deserialize, Deserializer, de::Error};

pub const MOST_MACHINES: u32 = 1_000_000;
/// Largest global batch in samples.
pub const MOST_SAMPLES: u32 = 1_000_000_000;

macro_rules! checked {
    ($(#[$doc:meta])* $name:ident($inner:ty), $what:literal, $legal:expr, $schema:tt) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
        pub struct $name($inner);

        impl $name {
            /// The value if it is legal.
            pub fn new(value: $inner) -> Option<Self> {
                let legal: fn($inner) -> bool = $legal;
                legal(value).then_some($name(value))
            }

            /// The number.
            pub fn get(self) -> $inner {
                self.0
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = <$inner>::deserialize(deserializer)?;
                $name::new(value)
                    .ok_or_else(|| D::Error::custom(format!("expected {}, found {value}", $what)))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(serializer)
            }
        }

        $crate::schema_of!($name, is_inline: true, $schema);
    };
}

checked!(
    /// A whole number of at least 1.
    Count(u32), "a whole number of at least 1", |v| v >= 1,
    { "type": "integer", "minimum": 1, "maximum": 4294967295u32 }
);
impl Count {
    pub const ONE: Count = Count(1);
}

checked!(
    /// Steps that are looked ahead; beyond two they multiply, and tell little more.
    StepsAhead(u32), "a whole number from 0 to 2", |v| v <= 2,
    { "type": "integer", "minimum": 0, "maximum": 2 }
);
checked!(
    /// A number of at least 0; beyond 10^9 nothing that is counted or timed here is physical.
    NonNegative(f64), "a number from 0 to 10^9", |v| (0.0..=1e9).contains(&v),
    { "type": "number", "minimum": 0, "maximum": 1e9 }
);
checked!(
    /// A number above 0, within what is physical.
    Positive(f64), "a number from 10^-9 to 10^9", |v| (1e-9..=1e9).contains(&v),
    { "type": "number", "minimum": 1e-9, "maximum": 1e9 }
);
checked!(
    /// A factor that makes nothing less.
    AtLeastOne(f64), "a number from 1 to 1000", |v| (1.0..=1000.0).contains(&v),
    { "type": "number", "minimum": 1, "maximum": 1000 }
);
checked!(
    /// Seconds that something takes once; at most the 11 days in which any cloud has given up.
    Delay(f64), "seconds from 0 to 10^6", |v| (0.0..=1e6).contains(&v),
    { "type": "number", "minimum": 0, "maximum": 1e6 }
);
checked!(
    /// Seconds from one time of something that recurs to the next.
    Interval(f64), "seconds from 1 to 10^6", |v| (1.0..=1e6).contains(&v),
    { "type": "number", "minimum": 1, "maximum": 1e6 }
);
checked!(
    /// Seconds that somebody waits for others in one step; at most a day.
    Patience(f64), "seconds from 10^-6 to 86400", |v| (1e-6..=86_400.0).contains(&v),
    { "type": "number", "minimum": 1e-6, "maximum": 86400 }
);
checked!(
    /// Mean hours that a VM lives; a cloud that takes VMs back sooner than after half a minute has none to rent.
    MeanLife(f64), "hours from 0.01 to 10^12", |v| (0.01..=1e12).contains(&v),
    { "type": "number", "minimum": 0.01, "maximum": 1e12 }
);
checked!(
    /// A price in USD; the dearest VM of any cloud is at some hundred an hour.
    Usd(f64), "USD from 0 to 10^6", |v| (0.0..=1e6).contains(&v),
    { "type": "number", "minimum": 0, "maximum": 1e6 }
);
checked!(
    /// USD per hour of a VM: 0 of one that is paid for.
    VmUsd(f64), "USD from 10^-9 to 10^6, or 0", |v| v == 0.0 || (1e-9..=1e6).contains(&v),
    { "type": "number", "minimum": 0, "maximum": 1e6 }
);
checked!(
    /// A price in USD that is not free.
    PositiveUsd(f64), "USD from 10^-9 to 10^6", |v| (1e-9..=1e6).contains(&v),
    { "type": "number", "minimum": 1e-9, "maximum": 1e6 }
);
checked!(
    /// Further work per unit of what delays it: what is late by one is done at most a hundred times more.
    Penalty(f64), "a number from 0 to 100", |v| (0.0..=100.0).contains(&v),
    { "type": "number", "minimum": 0, "maximum": 100 }
);
checked!(
    /// Machines, of which the largest clusters have some hundred thousand.
    Machines(u32), "a whole number from 1 to 10^6", |v| (1..=MOST_MACHINES).contains(&v),
    { "type": "integer", "minimum": 1, "maximum": 1000000 }
);
impl Machines {
    pub const ONE: Machines = Machines(1);
}
checked!(
    /// A spread (σ or coefficient of variation) from 0 to 2; above, a log-normal has no useful mean.
    Spread(f64), "a number from 0 to 2", |v| (0.0..=2.0).contains(&v),
    { "type": "number", "minimum": 0, "maximum": 2 }
);
checked!(
    /// A probability from 0 to 1, both excluded.
    Probability(f64), "a number between 0 and 1", |v| v > 0.0 && v < 1.0,
    { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 }
);
checked!(
    /// A share of runs that may go wrong; rarer ones take more runs to see than are made, and beyond half it is no limit.
    MissShare(f64), "a share from 0.005 to 0.5", |v| (0.005..=0.5).contains(&v),
    { "type": "number", "minimum": 0.005, "maximum": 0.5 }
);
checked!(
    /// Half of an interval of a fraction; a narrower one takes more replicas than there may be.
    HalfWidth(f64), "a number from 10^-6 to 1", |v| (1e-6..=1.0).contains(&v),
    { "type": "number", "minimum": 1e-6, "maximum": 1 }
);
checked!(
    /// A share of a whole, which may be none or all of it.
    ShareOf(f64), "a share from 0 to 1", |v| (0.0..=1.0).contains(&v),
    { "type": "number", "minimum": 0, "maximum": 1 }
);
checked!(
    /// A fraction of a whole, above 0 and at most 1.
    Fraction(f64), "a number above 0 and at most 1", |v| v > 0.0 && v <= 1.0,
    { "type": "number", "exclusiveMinimum": 0, "maximum": 1 }
);
checked!(
    /// A factor above 1.
    Slowdown(f64), "a number above 1 and at most 1000", |v| v > 1.0 && v <= 1000.0,
    { "type": "number", "exclusiveMinimum": 1, "maximum": 1000 }
);
