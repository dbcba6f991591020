//! Tables of a page: rows of values, which the page's script sorts, filters, draws and downloads.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use serde_json::Value;

use scavsim_base::text::{Cell, Column, Sheet};

#[derive(Debug, Default, Serialize)]
pub struct Table {
    pub id: &'static str,
    pub caption: &'static str,
    /// How to read it; what is left out.
    pub note: String,
    pub columns: Vec<Head>,
    /// Rows of the table: a number, a text or nothing per column.
    pub rows: Vec<Vec<Value>>,
    /// Whether it is closed at first.
    pub is_detail: bool,
    /// Column whose values part the rows into groups.
    pub parts: Option<&'static str>,
    /// Key that a click on a row picks, in place of opening the row, and the column with its value.
    pub picks: Option<[&'static str; 2]>,
    /// Column that rows are in the order of, by objective.
    pub orders: BTreeMap<&'static str, &'static str>,
}

#[derive(Debug, Default, Serialize)]
pub struct Head {
    /// Words of the head, with the unit.
    pub name: String,
    pub is_number: bool,
    pub digits: usize,
    /// Whether it is only shown when a row is opened, and in downloads.
    pub is_more: bool,
    /// Column with half of the interval of this one.
    pub half: Option<&'static str>,
    pub is_bar: bool,
    /// What it means; empty where the head says it.
    pub about: String,
    /// Words of the column, each once: rows have the numbers of words. Empty where rows hold what they show.
    pub words: Vec<String>,
}

impl Table {
    pub(super) fn from_sheet<R>(
        id: &'static str,
        caption: &'static str,
        note: impl Into<String>,
        sheet: &Sheet<'_, R>,
    ) -> Table {
        let cells: Vec<Vec<Cell>> = (sheet.rows.iter())
            .map(|row| {
                sheet
                    .columns
                    .iter()
                    .map(|column| column.cell(row))
                    .collect()
            })
            .collect();
        let head = |(at, column): (usize, &Column<'_, R>)| {
            let digits = (cells.iter()).filter_map(|row| digits(&row[at]));
            Head {
                name: column.head.to_string(),
                is_number: !column.is_text,
                digits: digits.max().unwrap_or(0),
                ..Head::default()
            }
        };
        let mut table = Table {
            id,
            caption,
            note: note.into(),
            columns: sheet.columns.iter().enumerate().map(head).collect(),
            rows: (cells.iter())
                .map(|row| row.iter().map(value).collect())
                .collect(),
            ..Table::default()
        };
        table.keep_words();
        table
    }

    /// Stores repeated words of pure text columns only once.
    pub(super) fn keep_words(&mut self) {
        for (at, column) in self.columns.iter_mut().enumerate() {
            let mut cells = self.rows.iter().map(|row| &row[at]);
            if !column.words.is_empty() || cells.any(|cell| !cell.is_string() && !cell.is_null()) {
                continue;
            }
            let mut numbers: HashMap<String, usize> = HashMap::new();
            for row in &mut self.rows {
                let Value::String(word) = &row[at] else {
                    continue;
                };
                let number = match numbers.get(word) {
                    Some(number) => *number,
                    None => {
                        numbers.insert(word.clone(), column.words.len());
                        column.words.push(word.clone());
                        column.words.len() - 1
                    }
                };
                row[at] = Value::from(number);
            }
        }
    }

    /// Marks columns that appear when a row is opened.
    pub(super) fn with_more(mut self, heads: &[&str]) -> Table {
        for column in &mut self.columns {
            column.is_more |= heads.contains(&column.name.as_str());
        }
        self
    }

    pub(super) fn with_halves(mut self, halves: &[(&str, &'static str)]) -> Table {
        for column in &mut self.columns {
            let own = halves.iter().find(|(head, _)| *head == column.name);
            column.half = own.map(|(_, half)| *half).or(column.half);
        }
        self
    }

    pub(super) fn with_bars(mut self, heads: &[&str]) -> Table {
        for column in &mut self.columns {
            column.is_bar |= heads.contains(&column.name.as_str());
        }
        self
    }

    pub(super) fn with_meanings(mut self, meanings: &[(&str, &str)]) -> Table {
        for column in &mut self.columns {
            let own = meanings.iter().find(|(head, _)| *head == column.name);
            if let Some((_, about)) = own {
                (*about).clone_into(&mut column.about);
            }
        }
        self
    }

    /// Sorts rows by the column of the objective.
    pub(super) fn in_order(mut self, orders: [(&'static str, &'static str); 2]) -> Table {
        self.orders = orders.into();
        self
    }

    pub(super) fn closed(mut self) -> Table {
        self.is_detail = true;
        self
    }
}

/// Decimals of a number as it is shown.
fn digits(cell: &Cell) -> Option<usize> {
    cell.number?;
    let text = cell.text.split(' ').next()?;
    Some(text.split_once('.').map_or(0, |(_, behind)| behind.len()))
}

/// The number as shown, or the text.
fn value(cell: &Cell) -> Value {
    match cell.number {
        Some(number) => short_number(number),
        None if cell.text.is_empty() || cell.text == scavsim_base::text::words::NONE => Value::Null,
        None => Value::String(cell.text.clone()),
    }
}

/// A number in six digits; integers unchanged.
pub(super) fn short_number(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        return Value::from(number as i64);
    }
    let short = format!("{number:.5e}").parse::<f64>();
    Value::from(short.unwrap_or(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_six_digits_and_whole_ones_all() {
        let short = [4.249_912_34, 1_234_567.0, 0.000_123_456_7, -0.5].map(short_number);
        let texts = short.map(|value| value.to_string());
        assert_eq!(texts, ["4.24991", "1234567", "0.000123457", "-0.5"]);
        assert_eq!(short_number(f64::NAN), Value::Null);
    }

    #[test]
    fn a_sheet_becomes_values_with_the_digits_that_it_shows() {
        let columns = [
            Column::text("name", |row: &(&str, Option<f64>)| row.0.to_owned()),
            Column::number("h", |row: &(&str, Option<f64>)| Cell::number(row.1, 2)),
        ];
        let rows = [("a", Some(1.239)), ("", None)];
        let table = Table::from_sheet("t", "T", "", &Sheet::new(rows, columns)).with_more(&["h"]);
        let [first, second] = [
            [Value::from(0), Value::from(1.239)],
            [Value::Null, Value::Null],
        ];
        assert_eq!(table.rows, [first, second]);
        assert_eq!(table.columns[0].words, ["a"]);
        assert_eq!(table.columns[1].digits, 2);
        assert!(table.columns[1].is_more);
        assert!(!table.columns[0].is_number);
    }
}
