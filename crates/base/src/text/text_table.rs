//! Plain tables for the terminal, and tables for documents.

use comfy_table::{CellAlignment, Table, presets};
use console::measure_text_width;

use super::page::Page;

/// A column of a table that fits its page.
#[derive(Debug, Clone)]
pub struct Column<'h> {
    /// Its head; by its first word it is asked for.
    pub head: &'h str,
    /// Whether it is flush left.
    pub is_text: bool,
    /// The place of the column when there is no room for all: 0 always stays, greater ones leave first.
    pub rank: u8,
    /// A cell per row.
    pub cells: Vec<String>,
    /// The same, shorter, where there is no room.
    pub short: Option<Vec<String>>,
    /// The same on two lines, where even columns of rank [`NEEDED`] have no room.
    pub stacked: Option<Vec<String>>,
}

/// Columns up to this rank are worth a second line per row.
pub const NEEDED: u8 = 3;

/// Spaces between columns.
const GAP: usize = 2;

impl<'h> Column<'h> {
    /// A column that has one form.
    pub fn new(head: &'h str, is_text: bool, rank: u8, cells: Vec<String>) -> Self {
        Column {
            head,
            is_text,
            rank,
            cells,
            short: None,
            stacked: None,
        }
    }

    /// What it is asked for by.
    pub fn word(&self) -> &'h str {
        self.head.split(' ').next().unwrap_or(self.head)
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
        widest.max(measure_text_width(self.head)) + GAP
    }
}

/// How much of a cell is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Whole,
    Short,
    Stacked,
}

/// A table as it fits.
#[derive(Debug)]
pub struct Fitted {
    /// The line of heads, with its line end.
    pub header: String,
    /// The lines of each row.
    pub rows: Vec<String>,
    /// Places of the columns that are shown.
    pub shown: Vec<usize>,
    /// Heads of the columns that have no room.
    pub left_out: Vec<String>,
    /// Whether something is shown shorter than it could be.
    pub is_short: bool,
}

impl Fitted {
    /// All lines, the header in bold letters.
    pub fn text(&self, page: &Page) -> String {
        page.bold(&self.header) + &self.rows.concat()
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
    match missing.is_empty() || page.is_wide || !page.columns.is_empty() {
        true => String::new(),
        false => page.dim(&page.prose(
            &format!("not shown: {}; `--wide` shows all", missing.join(", ")),
            3,
        )),
    }
}

/// Lays columns out on a page with one of them wrapped into the room that the others leave, at least `least` columns of
/// characters.
pub fn fit_around(columns: &[Column<'_>], flexible: usize, least: usize, page: &Page) -> Fitted {
    if page.is_wide {
        return fit(columns, page);
    }
    let wrapped = |width: usize| {
        let mut all = columns.to_vec();
        let narrow = Page::of_width(width);
        for cell in &mut all[flexible].cells {
            *cell = narrow.prose(cell, 0).trim_end().to_owned();
        }
        all
    };
    let first = fit(&wrapped(least), page);
    let of_others = first.shown.iter().filter(|at| **at != flexible);
    let used: usize = of_others.map(|at| columns[*at].width(Form::Whole)).sum();
    fit(&wrapped(page.width.saturating_sub(used).max(least)), page)
}

/// Lays columns out on a page: as many as have room, in the order of their ranks, then as much of each as has room.
/// `NEEDED` columns go on two lines before one of them leaves.
pub fn fit(columns: &[Column<'_>], page: &Page) -> Fitted {
    let all: Vec<(usize, Form)> = (0..columns.len()).map(|at| (at, Form::Whole)).collect();
    if page.is_wide {
        return laid_out(columns, all);
    }
    if !page.columns.is_empty() {
        let is_asked = |at: &usize| {
            let column = &columns[*at];
            column.rank == 0 || page.columns.iter().any(|word| word == column.word())
        };
        return laid_out(
            columns,
            all.into_iter().filter(|(at, _)| is_asked(at)).collect(),
        );
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
    let (mut taken, mut used) = match has_all_needed(&flat) {
        true => flat,
        false => take(Form::Stacked),
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
    laid_out(columns, taken)
}

fn laid_out(columns: &[Column<'_>], taken: Vec<(usize, Form)>) -> Fitted {
    let heads: Vec<&str> = taken.iter().map(|(at, _)| columns[*at].head).collect();
    let places = 0..taken.len();
    let left: Vec<usize> = places.filter(|&to| columns[taken[to].0].is_text).collect();
    let count = columns.iter().map(|c| c.cells.len()).max().unwrap_or(0);
    let row = |at: usize| -> Vec<String> {
        let cell = |(column, form): &(usize, Form)| columns[*column].cells(*form)[at].clone();
        taken.iter().map(cell).collect()
    };
    let cells: Vec<Vec<String>> = (0..count).map(row).collect();
    let mut lines = lines(&heads, &left, &cells).into_iter();
    let header = lines.next().unwrap_or_default();
    let heights = cells
        .iter()
        .map(|row| row.iter().map(|cell| cell.lines().count()).max());
    let is_out = |at: &usize| taken.iter().all(|(shown, _)| shown != at);
    let left_out = (0..columns.len()).filter(is_out);
    let left_out = left_out.map(|at| columns[at].head.to_owned()).collect();
    let rows = heights.map(|height| lines.by_ref().take(height.unwrap_or(1).max(1)).collect());
    Fitted {
        header,
        rows: rows.collect(),
        left_out,
        is_short: taken.iter().any(|(at, form)| {
            *form == Form::Short
                && columns[*at]
                    .short
                    .as_ref()
                    .is_some_and(|s| *s != columns[*at].cells)
        }),
        shown: taken.into_iter().map(|(at, _)| at).collect(),
    }
}

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
        column.set_padding((0, GAP as u16));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<Column<'static>> {
        let cells = |texts: [&str; 2]| texts.map(str::to_owned).to_vec();
        let name = Column::new("name", true, 0, cells(["full", "partial"]));
        let mut choice = Column::new(
            "choice",
            false,
            0,
            cells(["8 × 64 on 8 vm-of-some-kind", "none"]),
        );
        choice.stacked = Some(cells(["8 × 64\non 8 vm-of-some-kind", "none"]));
        let mut net = Column::new(
            "net t / $",
            false,
            2,
            cells(["+1.0 ±0.1 %", "+20.0 ±0.2 %"]),
        );
        net.short = Some(cells(["+1.0 %", "+20.0 %"]));
        let error = Column::new("error (max)", false, 9, cells(["1 %", "2 %"]));
        vec![name, choice, net, error]
    }

    fn shown(width: usize) -> (String, Vec<usize>) {
        let table = fit(&columns(), &Page::of_width(width));
        let text = table.header + &table.rows.concat();
        assert!(
            text.lines().all(|line| line.chars().count() <= width),
            "{text}"
        );
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
        assert!(
            stacked.contains("8 × 64  ") && stacked.lines().count() == 4,
            "{stacked}"
        );
    }

    #[test]
    fn all_or_what_was_asked_for_is_shown_however_wide() {
        let mut page = Page::of_width(20);
        page.is_wide = true;
        assert_eq!(fit(&columns(), &page).shown, [0, 1, 2, 3]);
        page.is_wide = false;
        page.columns = vec!["error".to_owned()];
        assert_eq!(fit(&columns(), &page).shown, [0, 1, 3]);
    }
}
