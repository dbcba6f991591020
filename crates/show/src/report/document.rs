//! A document in Markdown, laid out for a terminal: headings, paragraphs, lists of points and tables.

use scavsim_base::text::{Column, NEEDED, Page, Sheet};

/// Lays a document out on a page. Of a table as many columns are shown as have room, the first ones first; with a sentence
/// on the others.
pub fn on_page(markdown: &str, page: &Page) -> String {
    let blocks = markdown.split("\n\n").map(|block| block.trim_matches('\n'));
    let laid_out =
        blocks
            .filter(|block| !block.is_empty())
            .map(|block| match block.as_bytes()[0] {
                b'#' => page.bold(&page.prose(block.trim_start_matches(['#', ' ']), 0)),
                b'|' => table(block, page),
                b'-' => block.lines().map(|line| page.prose(line, 2)).collect(),
                _ => {
                    // A number stays with its unit.
                    let words = block.replace('\n', " ").replace(" %", "\u{a0}%");
                    page.prose(&words, 0).replace('\u{a0}', " ")
                }
            });
    laid_out.collect::<Vec<_>>().join("\n")
}

fn table(block: &str, page: &Page) -> String {
    let mut rows = block.lines().map(cells);
    let heads = rows.next().unwrap_or_default();
    // Behind the heads stands a rule.
    let rows: Vec<Vec<String>> = rows.skip(1).collect();
    let is_number =
        |cell: &str| cell.starts_with(|c: char| c.is_ascii_digit() || "+-–".contains(c));
    let columns = heads.into_iter().enumerate().map(|(at, head)| {
        let of = move |row: &Vec<String>| row.get(at).cloned().unwrap_or_default();
        if rows.iter().all(|row| is_number(&of(row))) {
            let place = u8::try_from(at).unwrap_or(u8::MAX);
            Column::number(head, of).rank(NEEDED.saturating_add(place))
        } else {
            Column::text(head, of).rank(0)
        }
    });
    let columns: Vec<_> = columns.collect();
    let fitted = Sheet::new(rows, columns).fit(page);
    fitted.text(page) + &fitted.remark("", page)
}

/// The cells of a row; a bar that belongs to a text has a backslash before it.
fn cells(line: &str) -> Vec<String> {
    let inner = line.trim().trim_start_matches("| ").trim_end_matches(" |");
    let cells = inner.split(" | ");
    cells.map(|cell| cell.trim().replace("\\|", "|")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "# A head\n\nWords of a\nparagraph.\n\n| name | first | second one |\n| --- | --- | --- |\n\
        | a \\| b | 1 | 2.5 % |\n| c | 10 | – |\n\n- a point\n- another point\n";

    #[test]
    fn paragraphs_tables_and_points_stand_as_a_terminal_has_them() {
        let text = on_page(DOCUMENT, &Page::of_width(80));
        assert_eq!(
            text,
            "A head\n\nWords of a paragraph.\n\nname   first  second one\na | b      1       2.5 %\nc         10           –\n\n\
             - a point\n- another point\n"
        );
    }

    #[test]
    fn what_has_no_room_is_told() {
        let text = on_page(DOCUMENT, &Page::of_width(20));
        assert!(
            text.lines().all(|line| line.chars().count() <= 20),
            "{text}"
        );
        assert!(text.contains("not shown: second"), "{text}");
    }
}
