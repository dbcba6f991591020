//! From a handful of measurements to a recommendation, and to the next measurement that is worth its money.
//!
//! In: a table of the user's own measurements, prices and lives of VMs. Out: an [`Advice`]. Nothing is written.
//!
//! - [`question`]: what is asked; [`advice`]: what is answered; [`answer`]: all of it in order; `simulate`: the configurations in each market; [`measurement_summary`](mod@measurement_summary): what the measurements tell.
//! - [`candidates`](mod@candidates): the configurations that the measurements say something of.
//! - [`machines`](mod@machines): what of the catalogue may stand in for what was measured; [`speeds`]: how fast GPUs are beside each other.
//! - [`offers`](mod@offers): what the VM types cost, where, and how long they live.
//! - [`repeats`]: how far repeats lie apart; [`uncertainty`]: how far off predictions may be; `process`: the field behind it.
//! - [`decision`]: which configuration, and which measurement.
//! - [`model`](mod@model): from a model's architecture, where nothing was measured.
//! - [`text`] with its `words`, [`json`](mod@json): the answer; [`hand_over`]: what rents the VMs of a choice.

pub mod advice;
pub mod answer;
pub mod candidates;
pub mod decision;
pub mod hand_over;
pub mod json;
pub mod machines;
pub mod measurement_summary;
pub mod model;
pub mod offers;
mod process;
pub mod question;
pub mod repeats;
mod simulate;
pub mod speeds;
pub mod text;
pub mod uncertainty;
mod words;

pub use advice::Advice;
pub use answer::advise;
pub use decision::{Decision, Goal, Measurement, MeasurementValue, Prospect};
pub use offers::{Offer, OfferFilter};
pub use question::Question;
