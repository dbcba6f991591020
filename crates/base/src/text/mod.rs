//! Text for people: [`words`] for figures, and tables declared once as a [`Sheet`], for a terminal's [`Page`] or programs.

mod layout;
mod markup;
pub mod page;
pub mod sheet;
pub mod words;

pub use layout::{NEEDED, TableLayout, remark};
pub use markup::Markup;
pub use page::{EXPLAIN, Page};
pub use sheet::{Cell, Column, Sheet, Tone};
