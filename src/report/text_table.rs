//! Plain tables for the terminal, and tables for documents.

use comfy_table::{CellAlignment, Table, presets};

/// Lays out `rows` under `header`; a line of text each.
pub fn render(header: &[&str], left: &[usize], rows: &[Vec<String>]) -> String {
    lines(header, left, rows).concat()
}

/// The lines of a table, the header first, each with its line end. Columns named in `left` are
/// flush left, all others right; without rules, so that a line is a row for `grep` and `awk` too.
pub fn lines(header: &[&str], left: &[usize], rows: &[Vec<String>]) -> Vec<String> {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_header(header.to_vec());
    for row in rows {
        table.add_row(row);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        column.set_cell_alignment(if left.contains(&index) {
            CellAlignment::Left
        } else {
            CellAlignment::Right
        });
    }
    table
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

/// A table in Markdown.
pub fn markdown(header: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells: Vec<String> = cells.map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut text = line(&mut header.iter().copied());
    text += &line(&mut header.iter().map(|_| "---"));
    for row in rows {
        text += &line(&mut row.iter().map(String::as_str));
    }
    text
}
