//! Columns of a sheet laid out on the lines of a terminal.

use comfy_table::{CellAlignment, Table, presets};
use console::measure_text_width;

use super::markup::Markup;
use super::page::Page;

#[derive(Clone)]
pub(super) struct Strip {
    pub(super) head: String,
    pub(super) is_text: bool,
    pub(super) rank: u8,
    /// Whether it is shown only when asked for all.
    pub(super) is_long: bool,
    /// Whether its lines are broken to fill the room that others leave.
    pub(super) is_wrapped: bool,
    pub(super) cells: Vec<String>,
    pub(super) short: Option<Vec<String>>,
    /// Cells on two lines, where even columns of rank [`NEEDED`] have no room.
    pub(super) stacked: Option<Vec<String>>,
}

/// Columns up to this rank are worth a second line per row.
pub const NEEDED: u8 = 3;

const GAP: usize = 2;

/// Columns of characters that a wrapped column has at least.
const LEAST: usize = 24;

impl Strip {
    fn word(&self) -> &str {
        self.head.split(' ').next().unwrap_or(&self.head)
    }

    fn cells(&self, form: Form) -> &[String] {
        let other = match form {
            Form::Whole => None,
            Form::Short => self.short.as_deref(),
            // Whatever has no second line is short.
            Form::Stacked => self.stacked.as_deref().or(self.short.as_deref()),
        };
        other.unwrap_or(&self.cells)
    }

    fn width(&self, form: Form) -> usize {
        let lines = self.cells(form).iter().flat_map(|cell| cell.lines());
        let widest = lines.map(measure_text_width).max().unwrap_or(0);
        widest.max(measure_text_width(&self.head)) + GAP
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Whole,
    Short,
    Stacked,
}

#[derive(Debug)]
pub struct TableLayout {
    /// The line of heads, with its line end.
    pub header: String,
    pub rows: Vec<String>,
    footer: String,
    pub shown: Vec<usize>,
    pub left_out: Vec<String>,
    pub is_short: bool,
}

impl TableLayout {
    /// All lines, the header in bold letters.
    pub fn text(&self, page: &Page) -> String {
        page.bold(&self.header) + &self.rows.concat() + &self.footer
    }

    /// A sentence on what has no room; nothing where all is shown. `short` is what shortened cells lack.
    pub fn remark(&self, short: &str, page: &Page) -> String {
        let heads: Vec<&str> = self.left_out.iter().map(String::as_str).collect();
        let short = (self.is_short && !short.is_empty()).then_some(short);
        remark(&heads, short, page)
    }
}

/// A sentence on columns that have no room, and what shortened cells lack.
pub fn remark(columns: &[&str], short: Option<&str>, page: &Page) -> String {
    let missing: Vec<&str> = columns.iter().copied().chain(short).collect();
    if missing.is_empty() || page.is_wide || !page.columns.is_empty() {
        String::new()
    } else {
        page.dim(&page.prose(
            &format!("not shown: {}; `--wide` shows all", missing.join(", ")),
            3,
        ))
    }
}

/// Lays columns out on a page. Long ones have no room unless the page is wide.
pub(super) fn fit(mut strips: Vec<Strip>, page: &Page) -> TableLayout {
    if page.is_wide {
        return fit_whole(&strips, page);
    }
    let long = strips.iter().filter(|strip| strip.is_long);
    let long: Vec<String> = long.map(|strip| strip.head.clone()).collect();
    strips.retain(|strip| !strip.is_long);
    let mut fitted = match strips.iter().position(|strip| strip.is_wrapped) {
        Some(at) => fit_around(&strips, at, page),
        None => fit_whole(&strips, page),
    };
    fitted.left_out.extend(long);
    fitted
}

/// Lays columns out on a page, one broken into the room that the others leave, at least [`LEAST`] columns of characters.
fn fit_around(strips: &[Strip], at: usize, page: &Page) -> TableLayout {
    let narrowed = |width: usize| {
        let mut all = strips.to_vec();
        let narrow = Page::of_width(width);
        for cell in &mut all[at].cells {
            *cell = narrow.prose(cell, 0).trim_end().to_owned();
        }
        all
    };
    let first = fit_whole(&narrowed(LEAST), page);
    let of_others = first.shown.iter().filter(|shown| **shown != at);
    let used: usize = of_others
        .map(|&other| strips[other].width(Form::Whole))
        .sum();
    fit_whole(&narrowed(page.width.saturating_sub(used).max(LEAST)), page)
}

/// Lays columns out on a page: as many as have room, in the order of their ranks, then as much of each as has room.
/// `NEEDED` columns go on two lines before one of them leaves.
fn fit_whole(columns: &[Strip], page: &Page) -> TableLayout {
    let all: Vec<(usize, Form)> = (0..columns.len()).map(|at| (at, Form::Whole)).collect();
    if page.is_wide {
        return laid_out(columns, all, page.markup);
    }
    if !page.columns.is_empty() {
        let is_asked = |at: &usize| {
            let column = &columns[*at];
            column.rank == 0 || page.columns.iter().any(|word| word == column.word())
        };
        let asked = all.into_iter().filter(|(at, _)| is_asked(at));
        return laid_out(columns, asked.collect(), page.markup);
    }
    // The last gap is not seen.
    let room = page.width + GAP;
    let mut by_rank: Vec<usize> = (0..columns.len()).collect();
    by_rank.sort_by_key(|&at| columns[at].rank);
    let take = |form: Form| {
        let (mut taken, mut used) = (Vec::new(), 0);
        for &at in &by_rank {
            let width = columns[at].width(form);
            if columns[at].rank == 0 || used + width <= room {
                taken.push((at, form));
                used += width;
            }
        }
        (taken, used)
    };
    let needed = columns.iter().filter(|c| c.rank <= NEEDED).count();
    let has_all_needed = |(taken, used): &(Vec<(usize, Form)>, usize)| {
        let there = taken.iter().filter(|(at, _)| columns[*at].rank <= NEEDED);
        *used <= room && there.count() == needed
    };
    let flat = take(Form::Short);
    let (mut taken, mut used) = if has_all_needed(&flat) {
        flat
    } else {
        take(Form::Stacked)
    };
    for (at, form) in taken.iter_mut().filter(|(_, form)| *form == Form::Stacked) {
        let now = used + columns[*at].width(Form::Short) - columns[*at].width(*form);
        // What has no second line is shorter already.
        if columns[*at].stacked.is_none() || now <= room {
            (*form, used) = (Form::Short, now);
        }
    }
    // All are shown whole or none: half of the intervals would ask where the others are.
    let is_short = |(_, form): &(usize, Form)| *form == Form::Short;
    let whole = taken.iter().filter(|one| is_short(one)).map(|(at, form)| {
        columns[*at]
            .width(Form::Whole)
            .saturating_sub(columns[*at].width(*form))
    });
    if used + whole.sum::<usize>() <= room {
        for one in taken.iter_mut().filter(|one| is_short(one)) {
            one.1 = Form::Whole;
        }
    }
    taken.sort_by_key(|(at, _)| *at);
    laid_out(columns, taken, page.markup)
}

fn laid_out(columns: &[Strip], taken: Vec<(usize, Form)>, markup: Markup) -> TableLayout {
    let count = columns.iter().map(|c| c.cells.len()).max().unwrap_or(0);
    let row = |at: usize| -> Vec<&str> {
        let cell = |(column, form): &(usize, Form)| &*columns[*column].cells(*form)[at];
        taken.iter().map(cell).collect()
    };
    let cells: Vec<Vec<&str>> = (0..count).map(row).collect();
    let shown = taken.iter().map(|(at, _)| &columns[*at]);
    let (header, rows) = match markup {
        Markup::Terminal => {
            let mut lines = lines(shown, &cells).into_iter();
            let header = lines.next().unwrap_or_default();
            let heights = cells
                .iter()
                .map(|row| row.iter().map(|cell| cell.lines().count()).max());
            let rows =
                heights.map(|height| lines.by_ref().take(height.unwrap_or(1).max(1)).collect());
            (header, rows.collect())
        }
        Markup::Markdown | Markup::Latex => {
            let heads: Vec<&str> = shown.clone().map(|column| column.head.trim()).collect();
            let are_text: Vec<bool> = shown.map(|column| column.is_text).collect();
            let rows = cells.iter().map(|row| markup.row(row));
            (markup.header(&heads, &are_text), rows.collect())
        }
    };
    let is_out = |at: &usize| taken.iter().all(|(shown, _)| shown != at);
    let left_out = (0..columns.len()).filter(is_out);
    let is_short = |(at, form): &(usize, Form)| {
        let short = columns[*at].short.as_ref();
        *form == Form::Short && short.is_some_and(|short| *short != columns[*at].cells)
    };
    TableLayout {
        header,
        rows,
        footer: markup.footer(),
        left_out: left_out.map(|at| columns[at].head.clone()).collect(),
        is_short: taken.iter().any(is_short),
        shown: taken.into_iter().map(|(at, _)| at).collect(),
    }
}

/// The lines of a table, the header first, each with its line end. Text is flush left, numbers right; without rules, so
/// that a line is a row for `grep` and `awk` too.
fn lines<'c>(columns: impl Iterator<Item = &'c Strip> + Clone, rows: &[Vec<&str>]) -> Vec<String> {
    let mut table = Table::new();
    let heads = columns.clone().map(|column| &*column.head);
    table.load_style(presets::NOTHING).set_header(heads);
    for row in rows {
        table.add_row(row);
    }
    for (own, column) in table.column_iter_mut().zip(columns) {
        own.set_padding((0, GAP as u16));
        own.set_cell_alignment(if column.is_text {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Column, Sheet};

    type Row = [&'static str; 6];

    fn sample_sheet() -> Sheet<'static, Row> {
        let [one_line, two_lines] = [
            "8 × 64 on 8 vm-of-some-kind",
            "8 × 64\non 8 vm-of-some-kind",
        ];
        let rows: [Row; 2] = [
            ["full", one_line, two_lines, "+1.0 ±0.1 %", "+1.0 %", "1 %"],
            ["partial", "none", "none", "+20.0 ±0.2 %", "+20.0 %", "2 %"],
        ];
        let columns = [
            Column::text("name", |row: &Row| row[0]).rank(0),
            Column::number("choice", |row: &Row| row[1])
                .rank(0)
                .stacked(|row| row[2].to_owned()),
            Column::number("net t / $", |row: &Row| row[3])
                .rank(2)
                .short(|row| row[4].to_owned()),
            Column::number("error (max)", |row: &Row| row[5]).rank(9),
        ];
        Sheet::new(rows, columns)
    }

    fn shown(width: usize) -> (String, Vec<usize>) {
        let table = sample_sheet().fit(&Page::of_width(width));
        let text = table.header + &table.rows.concat();
        assert!(Page::of_width(width).has_room_for(&text), "{text}");
        (text, table.shown)
    }

    #[test]
    fn columns_shorten_leave_and_stack_in_this_order() {
        let (all, places) = shown(100);
        assert_eq!(places, [0, 1, 2, 3]);
        assert!(all.contains("±0.1") && all.lines().count() == 3, "{all}");
        // The last column's short neighbour makes room for it.
        let (short, places) = shown(62);
        assert_eq!(places, [0, 1, 2, 3]);
        assert!(!short.contains("±0.1"), "{short}");
        let (fewer, places) = shown(51);
        assert_eq!(places, [0, 1, 2]);
        assert_eq!(fewer.lines().count(), 3, "{fewer}");
        let (stacked, places) = shown(43);
        assert_eq!(places, [0, 1, 2]);
        assert!(stacked.contains("8 × 64  "), "{stacked}");
        assert_eq!(stacked.lines().count(), 4, "{stacked}");
    }

    #[test]
    fn all_or_what_was_asked_for_is_shown_however_wide() {
        let mut page = Page::of_width(20);
        page.is_wide = true;
        assert_eq!(sample_sheet().fit(&page).shown, [0, 1, 2, 3]);
        page.is_wide = false;
        page.columns = vec!["error".to_owned()];
        assert_eq!(sample_sheet().fit(&page).shown, [0, 1, 3]);
    }
}
