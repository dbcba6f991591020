//! Text for people: [`words`] for figures, and tables that are declared once as a [`Sheet`] and written for a terminal's
//! [`Page`] or for programs.

mod layout;
pub mod page;
pub mod sheet;
pub mod words;

pub use layout::{NEEDED, TableLayout, remark};
pub use page::Page;
pub use sheet::{Cell, Column, Sheet, Tone};
