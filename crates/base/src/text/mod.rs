//! Text for people: [`words`] for figures, and tables declared once as a [`Sheet`], for a terminal's [`Page`] or programs.

mod layout;
pub mod page;
pub mod sheet;
pub mod words;

pub use layout::{NEEDED, TableLayout, remark};
pub use page::{EXPLAIN, Page};
pub use sheet::{Cell, Column, Sheet, Tone};
