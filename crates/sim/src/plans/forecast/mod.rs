//! Forecasts: how many GPUs there will be.
//!
//! In: a trace of how many there are, and where in it the job is. Out: a path of spans, each with GPUs. A forecast is a file and a
//! line in `forecasts!`.

mod clairvoyant;
mod last_value;
mod moving_average;
mod none;
mod trained;

use crate::cluster::Losses;
use crate::provider::Capacity;
use scavsim_base::Declaration;
use scavsim_data::cloud::lifetimes::Trace;

pub use trained::Training;

/// Seconds in which there are so many GPUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpanOf {
    /// How long.
    pub seconds: f64,
    /// GPUs.
    pub gpus: u32,
}

/// What a forecast may know.
#[derive(Debug)]
pub struct Seen<'a> {
    /// How many GPUs there are, and will be: only who is clairvoyant looks on.
    pub capacity: &'a Capacity,
    /// How VMs are lost.
    pub losses: &'a Losses,
    /// The trace.
    pub trace: &'a Trace,
    /// Seconds since the job began.
    pub now_s: f64,
    /// How far it is asked to look.
    pub horizon_s: f64,
    /// What was learned of the trace before the job.
    pub training: Option<&'a Training>,
}

impl Seen<'_> {
    /// GPUs that there were so many seconds ago, as whoever watched the market knows it.
    fn gpus_before(&self, seconds: f64) -> u32 {
        let length = self.trace.length_s().max(1) as f64;
        let at = (self.capacity.start_s as f64 + self.now_s - seconds).rem_euclid(length);
        self.trace.held_at(at as u64)
    }
}

macro_rules! forecasts {
    ($($variant:ident, $module:ident;)*) => {
        /// How a job foretells how many GPUs there will be.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Forecast {
            $(
                #[doc = concat!("The forecast `", stringify!($module), "`.")]
                $variant,
            )*
        }

        impl Forecast {
            /// All of them.
            pub const ALL: &'static [Forecast] = &[$(Forecast::$variant),*];

            /// What all of them say of themselves.
            pub const DECLARED: &'static [Declaration] = &[$($module::DECLARATION),*];

            /// Name in scenarios.
            pub fn name(self) -> &'static str {
                match self { $(Forecast::$variant => $module::DECLARATION.name,)* }
            }

            /// Writes the spans to come into `path`, as many as fill the horizon.
            pub fn foretell(self, seen: &Seen<'_>, path: &mut Vec<SpanOf>) {
                path.clear();
                match self { $(Forecast::$variant => $module::foretell(seen, path),)* }
            }
        }
    };
}

forecasts! {
    None, none;
    LastValue, last_value;
    MovingAverage, moving_average;
    Trained, trained;
    Clairvoyant, clairvoyant;
}
