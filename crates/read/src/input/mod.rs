//! Reads files of users and reports all mistakes at once: each is put into a [`Diagnostics`], and the caller stops if that is
//! not empty. A reader also returns the part that it understood, so that later checks can add their mistakes. Texts with
//! control characters for terminals are refused at their places.

pub mod checked;
pub mod csv;
pub mod folder;
pub mod json;
pub mod toml;

mod closest;
mod diagnostic;
pub mod foreign;
mod mistakes;
pub mod name;
pub mod range;
pub mod regular;
mod render;
mod settings_by_name;
mod source;
mod spanned;
mod words;
mod written_forms;

pub use closest::{closest, did_you_mean, nearest_or_all};
pub use diagnostic::{Diagnostic, Diagnostics};
pub use folder::Folder;
pub use mistakes::Mistakes;
pub use settings_by_name::known_or_own;
pub use source::Source;
pub use spanned::Spanned;
pub use words::listed;
