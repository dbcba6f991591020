//! What a scenario file with `[policy]` says.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::policy::registry::Settings;
use scavsim_read::input::checked::{
    Count, Delay, Interval, Machines, NonNegative, Positive, ShareOf,
};

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct StudyFile {
    pub(super) name: Option<String>,
    pub(super) seed: u64,
    pub(super) job: Option<Spanned<JobTable>>,
    pub(super) market: Option<Spanned<MarketTable>>,
    pub(super) starts: Option<Spanned<StartsTable>>,
    pub(super) policy: Option<Spanned<Settings>>,
}

/// What is to be done, until when.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct JobTable {
    pub(super) work_h: Option<Positive>,
    pub(super) deadline_h: Option<Spanned<ValueOrList<Positive>>>,
    pub(super) changeover_s: Option<Spanned<ValueOrList<Delay>>>,
    pub(super) checkpoint_gb: Option<NonNegative>,
    pub(super) checkpoint_every_s: Option<Interval>,
    pub(super) machines: Option<Spanned<Machines>>,
    pub(super) form: Option<Spanned<Vec<Spanned<FormTable>>>>,
    pub(super) lateness_usd_per_h: Option<NonNegative>,
    pub(super) whole_last_tick: bool,
    pub(super) probe_s: Option<Delay>,
}

/// Machines that it can run on, and how fast it is on them.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct FormTable {
    pub(super) name: Option<Spanned<String>>,
    pub(super) machines: Option<Spanned<Machines>>,
    pub(super) vm: Option<Spanned<String>>,
    /// Seconds of work per second, all the time.
    pub(super) speed: Option<Positive>,
    /// Seconds of work per second, from shares of the work on.
    pub(super) steps: Option<Spanned<Vec<Spanned<StepTable>>>>,
}

/// How fast a form is from a share of the work on.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct StepTable {
    pub(super) from: Option<ShareOf>,
    pub(super) speed: Option<Positive>,
}

/// Where it is done.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct MarketTable {
    /// A market of the library, or a folder.
    pub(super) traces: Option<Spanned<String>>,
    pub(super) zones: Option<Spanned<Vec<Spanned<String>>>>,
    /// Whether each zone is a world of its own.
    pub(super) each_alone: bool,
    /// Lives drawn from the process that is fitted to the traces, or from that of `run_h` and `pause_h`.
    pub(super) replicas: Option<Spanned<Count>>,
    pub(super) run_h: Option<Positive>,
    pub(super) pause_h: Option<Positive>,
    pub(super) spot_usd_per_h: Option<Positive>,
    pub(super) on_demand_usd_per_h: Option<Positive>,
    pub(super) tick_s: Option<Positive>,
}

/// Where lives begin in the traces.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct StartsTable {
    /// So many, evenly over the traces.
    pub(super) spread: Option<Count>,
    /// At these seconds.
    pub(super) at_s: Option<Spanned<Vec<Spanned<NonNegative>>>>,
}

/// A value, or a list of some.
#[derive(Debug, Clone)]
pub(super) struct ValueOrList<T>(pub(super) Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ValueOrList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrMany<T> {
            type Value = ValueOrList<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a list of numbers")
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<ValueOrList<T>, E> {
                Ok(ValueOrList(vec![T::deserialize(
                    value.into_deserializer(),
                )?]))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<ValueOrList<T>, E> {
                self.visit_f64(value as f64)
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<ValueOrList<T>, E> {
                self.visit_f64(value as f64)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ValueOrList<T>, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                }
                if values.is_empty() {
                    return Err(A::Error::custom("expected at least one number, found none"));
                }
                Ok(ValueOrList(values))
            }
        }
        deserializer.deserialize_any(OneOrMany(PhantomData))
    }
}
