//! Reading the files a person wrote, with every mistake at once: each is put into a [`Diagnostics`], and the caller refuses
//! to go on if that is not empty. What a reader returns besides is built from what could be understood, so that checks of
//! meaning can add their findings. Texts with characters that a terminal would obey are refused at their places.

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
