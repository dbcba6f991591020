use std::ops::Bound;

use super::Table;
use crate::input::{Diagnostics, Source};

const ABOVE_ZERO: (Bound<f64>, Bound<f64>) = (Bound::Excluded(0.0), Bound::Unbounded);

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
    for (text, place) in [
        (
            "\u{feff}name;step;count\r\na,b;0,5;20,0\r\nc;x;1\r\n",
            "t.csv:3:3",
        ),
        ("name\tstep\tcount\na,b\t0,5\t20\nc\tx\t1\n", "t.csv:3:3"),
    ] {
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
        assert!(d.render(false).contains(place), "{}", d.render(false));
    }
    let source = Source::new("t.csv", "name,step\na,0,5\n");
    let mut d = Diagnostics::default();
    let _ = Table::read(&source, &["name", "step"], &[], &mut d);
    let shown = d.render(false);
    let words: Vec<&str> = shown.split_whitespace().collect();
    assert!(
        words.join(" ").contains("put semicolons between cells"),
        "{shown}"
    );
}

#[test]
fn a_whole_number_may_be_written_with_a_point_and_zeros() {
    let source = Source::new("t.csv", "n\n20.0\n20.\n20.5\n.0\n");
    let mut d = Diagnostics::default();
    let table = Table::read(&source, &["n"], &[], &mut d).expect("it has the column");
    let read: Vec<_> = table
        .rows()
        .map(|row| row.whole_number("n", .., &mut d))
        .collect();
    assert_eq!(read, [Some(20), Some(20), None, None]);
}

#[test]
fn all_bad_cells_and_rows_are_reported() {
    let text = "\
name,price,count
vm,cheap,1
vm,NaN,-1
,-0.5,1.5
vm,1
\"a,b\",inf,2,3
vm,0,9
";
    let source = Source::new("prices.csv", text);
    let mut d = Diagnostics::default();
    let table = Table::read(&source, &["name", "price", "count"], &[], &mut d)
        .expect("all columns are there");
    for row in table.rows() {
        row.text("name", &mut d);
        row.number("price", ABOVE_ZERO, &mut d);
        row.whole_number("count", 1..=8, &mut d);
    }
    let shown = d.render(false);
    for expected in [
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
    ] {
        assert!(shown.contains(expected), "{expected}\nnot in\n{shown}");
    }
    assert_eq!(d.len(), 10, "{shown}");
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
    let shown = d.render(false);
    for part in [
        expected,
        "unknown column `nam`\n --> t.csv:1:1\n",
        "^^^ did you mean `name`?\n",
        "duplicate column `price`\n --> t.csv:1:11\n",
        "column 4 has no name\n --> t.csv:1:17\n",
        "unknown column `colour`\n --> t.csv:1:18\n",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    assert_eq!(d.len(), 5, "{shown}");
}

#[test]
fn characters_that_are_not_seen_are_told_in_the_header_too() {
    let source = Source::new("t.csv", "a\u{202e}b,c\n1,2\n");
    let mut d = Diagnostics::default();
    assert!(Table::read_any(&source, &mut d).is_none());
    let shown = d.render(false);
    assert!(
        shown.contains("found `a\\u{202e}b`\n --> t.csv:1:1\n"),
        "{shown}"
    );
    // Once, where it is no column at all.
    let mut d = Diagnostics::default();
    assert!(Table::read(&source, &["c"], &[], &mut d).is_none());
    assert_eq!(d.distinct(), 1, "{}", d.render(false));
}

#[test]
fn empty_tables_and_open_quotes_are_refused() {
    let read = |text: &str| {
        let mut d = Diagnostics::default();
        Table::read(&Source::new("t.csv", text), &["a"], &[], &mut d);
        d.render(false)
    };
    for text in ["", "\n\n", "# only a comment", " \n\t"] {
        assert!(
            read(text).starts_with("error: the table is empty\n"),
            "{text:?}"
        );
    }
    assert_eq!(read("a\n1\n  \n# the end"), "");
    assert!(read("a\n").starts_with("error: the table has no rows\n"));
    let shown = read("a\n1\n\"2\n3\n4\n");
    assert!(
        shown.starts_with("error: this quote is never closed\n --> t.csv:3:1\n"),
        "{shown}"
    );
    assert_eq!(shown.matches("error: ").count(), 1, "{shown}");
}

#[test]
fn a_column_nobody_declared_is_not_silently_nothing() {
    let source = Source::new("t.csv", "a\n1\n");
    let mut d = Diagnostics::default();
    let table = Table::read(&source, &["a"], &[], &mut d).expect("the column is there");
    let found = table
        .rows()
        .next()
        .and_then(|row| row.number("b", .., &mut d));
    assert_eq!(found, None);
    assert!(
        d.render(false)
            .contains("`b`: expected a number, found no such column")
    );
}

#[test]
fn spans_agree_with_what_the_csv_crate_read() {
    let pieces = ["a", "\"", ",", "\n", "\r\n", "#", " ", "\"\"", "ö"];
    // All texts of four pieces: an unquoted cell is written where it was read.
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
                assert!(
                    written.contains('"') || written == read,
                    "{text:?}: {written:?} {read:?}"
                );
            }
        }
        d.render(false);
    }
}
