//! Conversations with programs of users: a line of JSON in, a line of JSON out.
//!
//! - [`conversation`]: somebody who answers lines.
//! - [`lines`]: how lines are read and quoted.
//! - [`numbered_conversation`]: lines with numbers, by which an answer is known to be one to what was asked; what went wrong,
//!   how often; who waits for the next task.
//! - [`program`]: a command of a scenario, found, with its limits.
//! - [`process`]: a program under way; `guard`: who ends it where nobody else can.
//!
//! What is talked about is nobody's business here: search strategies and policies have protocols of their own.

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
