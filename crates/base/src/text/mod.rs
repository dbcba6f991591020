//! Text for people: tables as wide as their [`Page`], and [`percent`].

pub mod page;
pub mod percent;
pub mod text_table;

pub use page::Page;
