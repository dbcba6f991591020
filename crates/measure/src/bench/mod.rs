//! A suite of searches that strategies are judged by, and what strangers hand in.
//!
//! In: a suite, and a strategy. Out: a folder with a transcript of every search, which anybody can replay without the strategy.
//!
//! - [`suite`]: which grids, objectives, runs and starts; `library`: suites embedded in the binary.
//! - [`transcript`]: one search as a line; [`replay`](mod@replay): a strategy that asks what a transcript says was asked.
//! - [`contestant`]: who is judged.
//! - `suite_searches`: every search of a suite in its order, made or replayed; [`submission`]: what a folder says of itself.
//! - [`verify`](mod@verify): a folder → what is wrong with it, or what it came to; [`board`]: verified folders beside each other.
//! - [`card`]: what a grid holds, in words; [`export`](mod@export): a suite with all that it needs, as files.

pub mod board;
pub mod card;
pub mod contestant;
pub mod export;
pub mod library;
pub mod replay;
pub mod submission;
pub mod suite;
mod suite_searches;
pub mod transcript;
pub mod verify;

pub use contestant::Contestant;
pub use submission::{Refusal, Submission, run};
pub use suite::Suite;
pub use suite_searches::NoBench;
pub use verify::{VerifiedSubmission, verify};
