//! Conversations with programs of users: a line of JSON in, a line of JSON out.
//!
//! [`numbered_conversation`] identifies answers by the numbers of lines, [`process`] runs a [`program`] of a scenario. Search
//! strategies and policies define their own protocols.

pub mod conversation;
mod guard;
pub mod lines;
pub mod numbered_conversation;
pub mod process;
pub mod program;

/// The supported API of the crate `scavsim`, from this crate.
pub mod face {
    pub use crate::conversation::Conversation;
}
