use std::ops::Bound;

use super::Table;
use crate::input::{Diagnostics, Source};

const ABOVE_ZERO: (Bound<f64>, Bound<f64>) = (Bound::Excluded(0.0), Bound::Unbounded);

#[track_caller]
fn says(d: &Diagnostics, expected: &[&str]) {
    let shown = d.render(false);
    for part in expected {
        assert!(shown.contains(part), "{part}\nnot in\n{shown}");
    }
}

/// The mistakes of a table with these columns.
fn told(text: &str, columns: &[&'static str]) -> Diagnostics {
    let mut d = Diagnostics::default();
    Table::read(&Source::new("t.csv", text), columns, &[], &mut d);
    d
}

#[test]
fn a_good_table_is_read_without_complaint() {
    let text =
        "# prices\r\nname, price ,count\r\n\r\n\"a, \"\"b\"\"\",1.5,3\r\n# more\r\n'c',,0\r\n";
    let source = Source::new("t.csv", text);
    let mut d = Diagnostics::default();
    let table = Table::read(&source, &["name", "count"], &["price", "note"], &mut d)
        .expect("all columns are there");
    let rows: Vec<_> = table.rows().collect();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].text("name", &mut d), Some("a, \"b\""));
    assert_eq!(rows[0].number("price", 0.0..=2.0, &mut d), Some(1.5));
    assert_eq!(rows[0].whole_number("count", 1.., &mut d), Some(3));
    assert_eq!(rows[1].optional_number("price", .., &mut d), None);
    assert_eq!(rows[1].optional_number("note", .., &mut d), None);
    assert_eq!(rows[1].optional_text("note"), None);
    assert_eq!(rows[1].text("name", &mut d), Some("'c'"));
    assert!(d.is_empty(), "{}", d.render(false));
    assert_eq!(&text[rows[0].span("name")], "\"a, \"\"b\"\"\"");
    assert_eq!(&text[rows[1].span("count")], "0");
    assert_eq!(&text[rows[1].span("price")], "");
    assert_eq!(&text[rows[1].line_span()], "'c',,0");
}

#[test]
fn a_table_of_a_spreadsheet_has_semicolons_and_decimal_commas() {
    let semicolons = "\u{feff}name;step;count\r\na,b;0,5;20,0\r\nc;x;1\r\n";
    let tabs = "name\tstep\tcount\na,b\t0,5\t20\nc\tx\t1\n";
    for text in [semicolons, tabs] {
        let source = Source::new("t.csv", text);
        let mut d = Diagnostics::default();
        let table = Table::read(&source, &["name", "step", "count"], &[], &mut d);
        let table = table.expect("all columns are there");
        let rows: Vec<_> = table.rows().collect();
        assert_eq!(rows[0].text("name", &mut d), Some("a,b"));
        assert_eq!(rows[0].number("step", .., &mut d), Some(0.5));
        assert_eq!(rows[0].whole_number("count", .., &mut d), Some(20));
        assert!(d.is_empty(), "{}", d.render(false));
        assert_eq!(rows[1].number("step", .., &mut d), None);
        says(&d, &["t.csv:3:3"]);
    }
    let shown = told("name,step\na,0,5\n", &["name", "step"]).render(false);
    let words: Vec<&str> = shown.split_whitespace().collect();
    assert!(words.join(" ").contains("put semicolons between cells"));
}

#[test]
fn a_whole_number_may_be_written_with_a_point_and_zeros() {
    let source = Source::new("t.csv", "n\n20.0\n20.\n20.5\n.0\n");
    let mut d = Diagnostics::default();
    let table = Table::read(&source, &["n"], &[], &mut d).expect("it has the column");
    let read: Vec<_> = (table.rows().map(|row| row.whole_number("n", .., &mut d))).collect();
    assert_eq!(read, [Some(20), Some(20), None, None]);
}

#[test]
fn all_bad_cells_and_rows_are_reported() {
    let text =
        "name,price,count\nvm,cheap,1\nvm,NaN,-1\n,-0.5,1.5\nvm,1\n\"a,b\",inf,2,3\nvm,0,9\n";
    let source = Source::new("prices.csv", text);
    let mut d = Diagnostics::default();
    let table = Table::read(&source, &["name", "price", "count"], &[], &mut d)
        .expect("all columns are there");
    for row in table.rows() {
        row.text("name", &mut d);
        row.number("price", ABOVE_ZERO, &mut d);
        row.whole_number("count", 1..=8, &mut d);
    }
    let expected = [
        "error: `price`: expected a number above 0, found `cheap`\n --> prices.csv:2:4",
        "error: `price`: expected a number above 0, found `NaN`\n --> prices.csv:3:4",
        "error: `count`: expected a whole number between 1 and 8, found `-1`\n --> prices.csv:3:8",
        "error: `name`: expected a text without control characters, found an empty cell\n --> prices.csv:4:1",
        "error: `price`: expected a number above 0, found `-0.5`\n --> prices.csv:4:2",
        "error: `count`: expected a whole number between 1 and 8, found `1.5`\n --> prices.csv:4:7",
        "error: expected 3 cells in this row, found 2\n --> prices.csv:5:1",
        "error: expected 3 cells in this row, found 4\n --> prices.csv:6:1",
        "error: `price`: expected a number above 0, found `0`\n --> prices.csv:7:4",
        "error: `count`: expected a whole number between 1 and 8, found `9`\n --> prices.csv:7:6",
    ];
    says(&d, &expected);
    assert_eq!(d.len(), expected.len());
}

#[test]
fn all_wrong_columns_are_reported() {
    let source = Source::new("t.csv", "nam,price,price,,colour\nx,1,1,1,1\n");
    let mut d = Diagnostics::default();
    let table = Table::read(&source, &["name", "price", "count"], &["zone"], &mut d);
    assert!(table.is_none());
    let expected = "\
error: missing columns `name`, `count`
 --> t.csv:1:1
  |
1 | nam,price,price,,colour
  | ^^^^^^^^^^^^^^^^^^^^^^^ the columns of this table
  |
  = help: every table of this kind needs: `name`, `price`, `count`
";
    says(
        &d,
        &[
            expected,
            "unknown column `nam`\n --> t.csv:1:1\n",
            "^^^ did you mean `name`?\n",
            "duplicate column `price`\n --> t.csv:1:11\n",
            "column 4 has no name\n --> t.csv:1:17\n",
            "unknown column `colour`\n --> t.csv:1:18\n",
        ],
    );
    assert_eq!(d.len(), 5);
}

#[test]
fn a_table_of_another_kind_lacks_columns_and_names_those_alike() {
    let source = Source::new("t.csv", "Epoche,Fehler,Wert\n1,2,3\n");
    let mut d = Diagnostics::default();
    assert!(Table::read(&source, &["epochs", "price"], &["zone"], &mut d).is_none());
    says(&d, &["missing columns `epochs`, `price`", "`epochs`?"]);
    assert_eq!(d.len(), 2);
}

#[test]
fn characters_that_are_not_seen_are_told_in_the_header_too() {
    let text = "a\u{202e}b,c\n1,2\n";
    let mut d = Diagnostics::default();
    assert!(Table::read_any(&Source::new("t.csv", text), &mut d).is_none());
    says(&d, &["found `a\\u{202e}b`\n --> t.csv:1:1\n"]);
    // Reported once if there is no such column.
    assert_eq!(told(text, &["c"]).distinct(), 1);
}

#[test]
fn empty_tables_and_open_quotes_are_refused() {
    let read = |text: &str| told(text, &["a"]).render(false);
    let open_quote = "error: this quote is never closed\n --> t.csv:3:1\n";
    for (text, expected) in [
        ("", "error: the table is empty\n"),
        ("\n\n", "error: the table is empty\n"),
        ("# only a comment", "error: the table is empty\n"),
        (" \n\t", "error: the table is empty\n"),
        ("a\n", "error: the table has no rows\n"),
        ("a\n1\n\"2\n3\n4\n", open_quote),
    ] {
        let shown = read(text);
        assert!(shown.starts_with(expected), "{text:?}: {shown}");
        assert_eq!(shown.matches("error: ").count(), 1, "{shown}");
    }
    assert_eq!(read("a\n1\n  \n# the end"), "");
}

#[test]
fn a_column_nobody_declared_is_not_silently_nothing() {
    let source = Source::new("t.csv", "a\n1\n");
    let mut d = Diagnostics::default();
    let table = Table::read(&source, &["a"], &[], &mut d).expect("the column is there");
    let row = table.rows().next().expect("a row");
    assert_eq!(row.number("b", .., &mut d), None);
    says(&d, &["`b`: expected a number, found no such column"]);
}

#[test]
fn spans_agree_with_what_the_csv_crate_read() {
    let pieces = ["a", "\"", ",", "\n", "\r\n", "#", " ", "\"\"", "ö"];
    // All texts of four pieces: an unquoted cell is at the place where it was read.
    for number in 0..pieces.len().pow(4) {
        let mut rest = number;
        let mut text = String::from("k,l\n");
        for _ in 0..4 {
            text.push_str(pieces[rest % pieces.len()]);
            rest /= pieces.len();
        }
        let source = Source::new("t.csv", text.as_str());
        let mut d = Diagnostics::default();
        let Some(table) = Table::read(&source, &["k"], &[], &mut d) else {
            continue;
        };
        for row in table.rows() {
            for column in ["k", "l"] {
                let written = &text[row.span(column)];
                let read = row.optional_text(column).unwrap_or_default();
                assert!(written.contains('"') || written == read, "{text:?}");
            }
        }
        d.render(false);
    }
}
