//! A suite of searches that judges strategies, and submissions: folders with a transcript of every search, which anyone can
//! replay without the strategy.

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

pub use contestant::{Contestant, Entrant};
pub use submission::{Refusal, Submission, VerifiedSubmission, run};
pub use suite::{Suite, SuiteScenario};
pub use suite_searches::NoBench;
pub use verify::{Verification, verify};
