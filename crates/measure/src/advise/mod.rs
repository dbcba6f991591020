//! From a handful of measurements, prices and lifetimes of VMs to a recommendation, and to the next measurement that is worth
//! its price. Nothing is written.

pub mod advice;
pub mod answer;
pub mod candidates;
pub mod decision;
pub mod gambles;
pub mod hand_over;
pub mod json;
pub mod machines;
pub mod measurement_summary;
pub mod model;
pub mod offer;
pub mod offers;
mod process;
pub mod question;
pub mod rental;
pub mod repeats;
mod simulate;
pub mod speeds;
pub mod text;
pub mod uncertainty;
pub mod words;

pub use advice::Advice;
pub use answer::advise;
pub use decision::{Decision, Goal, Measurement, MeasurementValue, Prospect};
pub use offers::{Offer, OfferFilter};
pub use question::Question;
