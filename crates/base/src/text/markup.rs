//! Tables for documents: as Markdown, or as LaTeX with the rules of its package `booktabs`.

/// What a page is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Markup {
    #[default]
    Terminal,
    Markdown,
    Latex,
}

const LATEX_BEGIN: &str = "\\begin{tabular}";
const LATEX_END: &str = "\\end{tabular}";

impl Markup {
    /// A row of a table, with its line end. Cells on several lines are joined.
    pub(super) fn row(self, cells: &[&str]) -> String {
        let cells = cells.iter().map(|cell| {
            let cell = cell.split_whitespace().collect::<Vec<_>>().join(" ");
            match self {
                Markup::Terminal => cell,
                Markup::Markdown => cell.replace('|', "\\|"),
                Markup::Latex => latex(&cell),
            }
        });
        let cells: Vec<String> = cells.collect();
        match self {
            Markup::Terminal => cells.join("  ") + "\n",
            Markup::Markdown => format!("| {} |\n", cells.join(" | ")),
            Markup::Latex => format!("{} \\\\\n", cells.join(" & ")),
        }
    }

    /// What comes before the rows: heads, and which columns are text.
    pub(super) fn header(self, heads: &[&str], are_text: &[bool]) -> String {
        let row = self.row(heads);
        match self {
            Markup::Terminal => row,
            Markup::Markdown => {
                let rules = are_text
                    .iter()
                    .map(|text| if *text { "---" } else { "---:" });
                row + &format!("| {} |\n", rules.collect::<Vec<_>>().join(" | "))
            }
            Markup::Latex => {
                let columns: String = (are_text.iter())
                    .map(|text| if *text { 'l' } else { 'r' })
                    .collect();
                format!("{LATEX_BEGIN}{{{columns}}}\n\\toprule\n{row}\\midrule\n")
            }
        }
    }

    pub(super) fn footer(self) -> String {
        match self {
            Markup::Latex => format!("\\bottomrule\n{LATEX_END}\n"),
            Markup::Terminal | Markup::Markdown => String::new(),
        }
    }

    /// The text of a page as a document: in Markdown with empty lines around its tables, in LaTeX with all else as comments.
    pub fn document(self, text: &str) -> String {
        let (mut document, mut in_table) = (String::new(), false);
        for line in text.lines() {
            let was_in_table = in_table;
            match self {
                Markup::Terminal => return text.to_owned(),
                Markup::Markdown => {
                    in_table = line.starts_with("| ");
                    let is_apart = document.is_empty() || document.ends_with("\n\n");
                    if in_table != was_in_table && !is_apart && !line.is_empty() {
                        document.push('\n');
                    }
                }
                Markup::Latex => {
                    in_table = line.starts_with(LATEX_BEGIN) || (in_table && line != LATEX_END);
                    if !in_table && !was_in_table && !line.is_empty() {
                        document.push_str("% ");
                    }
                }
            }
            document += line;
            document.push('\n');
        }
        document
    }
}

/// A text with what LaTeX would take for its own.
fn latex(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', letter]),
            '\\' => escaped += "\\textbackslash{}",
            '~' => escaped += "\\textasciitilde{}",
            '^' => escaped += "\\textasciicircum{}",
            '×' => escaped += "$\\times$",
            '±' => escaped += "$\\pm$",
            '<' => escaped += "$<$",
            '>' => escaped += "$>$",
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::Markup;
    use crate::text::{Column, Page, Sheet};

    fn shown(markup: Markup) -> String {
        let columns = [
            Column::text("name", |row: &[&'static str; 2]| row[0]),
            Column::number("cost $", |row: &[&'static str; 2]| row[1]),
        ];
        let page = Page {
            markup,
            ..Page::default()
        };
        let sheet = Sheet::new([["8 × a_b", "1.5"], ["x|y\nz", "20 %"]], columns);
        markup.document(&format!("Title\n{}The end\n", sheet.fit(&page).text(&page)))
    }

    #[test]
    fn tables_of_documents_are_in_their_markup() {
        assert_eq!(
            shown(Markup::Markdown),
            "Title\n\n| name | cost $ |\n| --- | ---: |\n| 8 × a_b | 1.5 |\n| x\\|y z | 20 % |\n\nThe end\n"
        );
        assert_eq!(
            shown(Markup::Latex),
            "% Title\n\\begin{tabular}{lr}\n\\toprule\nname & cost \\$ \\\\\n\\midrule\n\
             8 $\\times$ a\\_b & 1.5 \\\\\nx|y z & 20 \\% \\\\\n\\bottomrule\n\\end{tabular}\n% The end\n"
        );
    }
}
