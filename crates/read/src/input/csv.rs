//! Tables with named columns, each cell with its place in the text. The first row names the columns, in any order. Lines that
//! start with `#` and empty lines are skipped; blanks around a cell are ignored. A quote must be the first character of its
//! cell.

mod limits;
mod row;
mod scan;
mod table;

pub use row::Row;
pub use table::Table;
pub(crate) use table::whole_records;

#[cfg(test)]
mod tests;
