//! A table, declared once: its columns, each with its cell for a row. Writers make it terminal lines, Markdown, CSV or JSON.

use std::borrow::Cow;

use serde_json::Value;

use super::layout::{self, Strip, TableLayout};
use super::markup::Markup;
use super::page::Page;
use super::words;

type Show<'s, R, C> = Box<dyn Fn(&R) -> C + 's>;

pub struct Sheet<'s, R> {
    pub rows: Vec<R>,
    pub columns: Vec<Column<'s, R>>,
    tone: Option<Show<'s, R, Tone>>,
}

pub struct Column<'s, R> {
    /// Head of the column, with the unit; by its first word it is asked for.
    pub head: Cow<'s, str>,
    /// Whether it is text, flush left, and not numbers.
    pub is_text: bool,
    /// The place of the column where there is no room for all: 0 always stays, greater ones leave first. Its place in the
    /// sheet when `None`.
    rank: Option<u8>,
    /// Whether a terminal shows it only when asked for all.
    is_long: bool,
    /// Whether a terminal breaks its lines to fill the room that others leave.
    is_wrapped: bool,
    cell: Show<'s, R, Cell>,
    short: Option<Show<'s, R, String>>,
    stacked: Option<Show<'s, R, String>>,
}

#[derive(Debug, Clone, Default)]
pub struct Cell {
    pub text: String,
    /// What rows are sorted by, where it is a number.
    pub number: Option<f64>,
    /// For programs; the text when `None`.
    value: Option<Value>,
}

/// How a line stands out where there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Best,
    Failed,
    Dim,
}

impl Tone {
    fn paint(self, line: &str, page: &Page) -> String {
        match self {
            Tone::Plain => line.to_owned(),
            Tone::Best => page.best(line),
            Tone::Failed => page.failed(line),
            Tone::Dim => page.dim(line),
        }
    }
}

impl Cell {
    /// A number with so many digits behind the point; a dash where there is none, or none that is finite.
    pub fn number(number: Option<f64>, digits: usize) -> Cell {
        let number = number.filter(|number| number.is_finite());
        let text = number.map(|number| format!("{number:.digits$}"));
        Cell {
            text: words::or_dash(text),
            number,
            value: None,
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell {
            text,
            ..Cell::default()
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        text.to_owned().into()
    }
}

impl From<Value> for Cell {
    /// The value without the quotes of JSON; nothing for null.
    fn from(value: Value) -> Cell {
        let text = match &value {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        Cell {
            text,
            number: None,
            value: Some(value),
        }
    }
}

impl<'s, R> Column<'s, R> {
    pub fn text<C: Into<Cell>>(head: impl Into<Cow<'s, str>>, cell: impl Fn(&R) -> C + 's) -> Self {
        Column {
            head: head.into(),
            is_text: true,
            rank: None,
            is_long: false,
            is_wrapped: false,
            cell: Box::new(move |row| cell(row).into()),
            short: None,
            stacked: None,
        }
    }

    pub fn word(head: impl Into<Cow<'s, str>>, word: impl Fn(&R) -> &str + 's) -> Self {
        Column::text(head, move |row| Cell::from(word(row)))
    }

    /// A column of numbers; one that is not finite is none.
    pub fn number<C: Into<Cell>>(
        head: impl Into<Cow<'s, str>>,
        cell: impl Fn(&R) -> C + 's,
    ) -> Self {
        Column {
            is_text: false,
            ..Column::text(head, move |row| {
                let cell: Cell = cell(row).into();
                match cell.text.as_str() {
                    "inf" | "-inf" | "NaN" => Cell::default(),
                    _ => cell,
                }
            })
        }
    }

    pub fn rank(mut self, rank: u8) -> Self {
        self.rank = Some(rank);
        self
    }

    /// Shown in a terminal only when asked for all: sources, descriptions.
    pub fn long(mut self) -> Self {
        self.is_long = true;
        self
    }

    pub fn wrapped(mut self) -> Self {
        self.is_wrapped = true;
        self.rank(0)
    }

    /// What stands in it where there is no room for all of the cell.
    pub fn short(mut self, cell: impl Fn(&R) -> String + 's) -> Self {
        self.short = Some(Box::new(cell));
        self
    }

    /// The cell on several lines, where even columns of rank [`NEEDED`](super::NEEDED) have no room.
    pub fn stacked(mut self, cell: impl Fn(&R) -> String + 's) -> Self {
        self.stacked = Some(Box::new(cell));
        self
    }

    pub fn cell(&self, row: &R) -> Cell {
        (self.cell)(row)
    }
}

impl<'s> Sheet<'s, Vec<String>> {
    /// Rows that are texts already, one under each head.
    pub fn of_texts(heads: &[&'s str], rows: Vec<Vec<String>>) -> Self {
        let column = |(at, head): (usize, &&'s str)| {
            Column::word(*head, move |row: &Vec<String>| {
                row.get(at).map_or("", String::as_str)
            })
        };
        Sheet::new(rows, heads.iter().enumerate().map(column))
    }
}

impl<'s, R> Sheet<'s, R> {
    pub fn new(
        rows: impl IntoIterator<Item = R>,
        columns: impl IntoIterator<Item = Column<'s, R>>,
    ) -> Self {
        Sheet {
            rows: rows.into_iter().collect(),
            columns: columns.into_iter().collect(),
            tone: None,
        }
    }

    /// The lines of rows stand out as `tone` says.
    pub fn toned(mut self, tone: impl Fn(&R) -> Tone + 's) -> Self {
        self.tone = Some(Box::new(tone));
        self
    }

    pub fn without(mut self, head: &str) -> Self {
        self.columns.retain(|column| column.head != head);
        self
    }

    fn texts(&self, row: &R) -> Vec<String> {
        let cells = self.columns.iter().map(|column| column.cell(row).text);
        cells.collect()
    }

    /// The lines for a terminal: as many columns as have room.
    pub fn fit(&self, page: &Page) -> TableLayout {
        let cells = |show: &dyn Fn(&R) -> String| self.rows.iter().map(show).collect();
        let strip = |(place, column): (usize, &Column<'s, R>)| Strip {
            head: column.head.to_string(),
            is_text: column.is_text,
            rank: (column.rank).unwrap_or_else(|| u8::try_from(place).unwrap_or(u8::MAX)),
            is_long: column.is_long,
            is_wrapped: column.is_wrapped,
            cells: cells(&|row| column.cell(row).text),
            short: column.short.as_ref().map(|show| cells(show)),
            stacked: column.stacked.as_ref().map(|show| cells(show)),
        };
        let mut fitted = layout::fit(self.columns.iter().enumerate().map(strip).collect(), page);
        if let Some(tone) = &self.tone {
            for (row, line) in self.rows.iter().zip(&mut fitted.rows) {
                *line = tone(row).paint(line, page);
            }
        }
        fitted
    }

    /// All of it in lines, however wide.
    pub fn lines(&self) -> String {
        let page = Page {
            is_wide: true,
            ..Page::default()
        };
        self.fit(&page).text(&page)
    }

    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| {
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            Markup::Markdown.row(&cells)
        };
        let heads = self.columns.iter().map(|column| column.head.to_string());
        let rule = vec!["---".to_owned(); self.columns.len()];
        let rows = self.rows.iter().map(|row| line(self.texts(row)));
        line(heads.collect()) + &line(rule) + &rows.collect::<String>()
    }

    pub fn csv(&self, with_heads: bool) -> String {
        let heads = self.columns.iter().map(|column| column.head.to_string());
        let heads = with_heads.then(|| heads.collect());
        let rows = self.rows.iter().map(|row| self.texts(row));
        let mut writer = csv::Writer::from_writer(Vec::new());
        for cells in heads.into_iter().chain(rows) {
            // Memory takes all that is written.
            let _: Result<(), _> = writer.write_record::<Vec<String>, _>(cells);
        }
        String::from_utf8_lossy(&writer.into_inner().unwrap_or_default()).into_owned()
    }

    /// An object per row for programs, by the heads.
    pub fn json(&self) -> Vec<Value> {
        let object = |row: &R| {
            let values = self.columns.iter().map(|column| {
                let cell = column.cell(row);
                let value = cell.value.unwrap_or(Value::String(cell.text));
                (column.head.to_string(), value)
            });
            Value::Object(values.collect())
        };
        self.rows.iter().map(object).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_not_finite_is_a_dash() {
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let cell = Cell::number(Some(number), 1);
            assert_eq!((&*cell.text, cell.number), (words::NONE, None));
        }
    }
}
