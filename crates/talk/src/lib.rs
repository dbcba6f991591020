//! Conversations with programs of users: a line of JSON in, a line of JSON out.
//!
//! [`numbered_conversation`] tells answers apart by the numbers of lines, [`process`] runs a [`program`] of a scenario. Search
//! strategies and policies have their own protocols elsewhere.

pub mod conversation;
mod guard;
pub mod lines;
pub mod numbered_conversation;
pub mod process;
pub mod program;

/// What users of the crate `scavsim` may rely on, of this floor.
pub mod face {
    pub use crate::conversation::Conversation;
}
