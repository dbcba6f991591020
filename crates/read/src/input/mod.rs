//! Reading the files a person wrote, and telling them about every mistake at once.
//!
//! Readers never stop at the first mistake: each is put into a [`Diagnostics`], and
//! whoever asked for the reading refuses to go on if that is not empty. What a reader
//! returns besides is built from what could be understood, so that checks of meaning
//! can add their own findings to the same report.
//!
//! Texts come without characters that a terminal would obey, whatever they are read from: [`csv`], [`json`] and [`toml`] refuse
//! them at their places.
//!
//! [`checked`] holds numbers that are legal by type, [`name`](mod@name) the rule of names, [`foreign`] texts that somebody else wrote, [`regular`] files that have an end, [`range`] values in equal
//! steps.

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
mod source;
mod words;

pub use closest::{closest, did_you_mean, nearest_or_all};
pub use diagnostic::{Diagnostic, Diagnostics};
pub use folder::Folder;
pub use mistakes::Mistakes;
pub use source::Source;
