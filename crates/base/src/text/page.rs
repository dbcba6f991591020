//! What text for people is printed on: how wide it is, and whether it shows colours.

use console::{Style, measure_text_width};

use super::markup::Markup;

/// A terminal, a file, a pipe.
#[derive(Debug, Clone)]
pub struct Page {
    /// Columns of characters; tables that are asked for whole take more.
    pub width: usize,
    /// Whether escapes for colours and bold letters are obeyed.
    pub is_coloured: bool,
    /// Whether tables show all they have, however wide.
    pub is_wide: bool,
    /// The columns that a table shows, by the first word of their heads; those that fit when empty.
    pub columns: Vec<String>,
    pub markup: Markup,
}

/// All escapes that styles write: plain, bold, dim, red, green.
pub const ESCAPES: [&str; 5] = [
    "\u{1b}[0m",
    "\u{1b}[1m",
    "\u{1b}[2m",
    "\u{1b}[31m",
    "\u{1b}[32m",
];

pub const USUAL: usize = 100;

/// How to ask what words mean: the last line of an answer.
pub const EXPLAIN: &str = "`scavsim explain WORD` says what a column or a sign means\n";

impl Default for Page {
    fn default() -> Page {
        Page {
            width: USUAL,
            is_coloured: false,
            is_wide: false,
            columns: Vec::new(),
            markup: Markup::default(),
        }
    }
}

impl Page {
    pub fn of_width(width: usize) -> Page {
        Page {
            width,
            ..Page::default()
        }
    }

    /// Whether no line of a text is wider than the page. Escapes for colours take no room.
    pub fn has_room_for(&self, text: &str) -> bool {
        let mut lines = text.lines();
        lines.all(|line| measure_text_width(line) <= self.width)
    }

    /// The header of a table, or a title.
    pub fn bold(&self, line: &str) -> String {
        self.styled(Style::new().bold(), line)
    }

    pub fn best(&self, line: &str) -> String {
        self.styled(Style::new().green().bold(), line)
    }

    pub fn failed(&self, line: &str) -> String {
        self.styled(Style::new().red(), line)
    }

    /// What stands beside.
    pub fn dim(&self, line: &str) -> String {
        self.styled(Style::new().dim(), line)
    }

    fn styled(&self, style: Style, line: &str) -> String {
        if !self.is_coloured {
            return line.to_owned();
        }
        let text = line.trim_end_matches('\n');
        let end = &line[text.len()..];
        format!("{}{end}", style.force_styling(true).apply_to(text))
    }

    /// Sentences on lines that fit, those behind the first indented by so many columns. Prose is not wider than
    /// [`USUAL`]: nobody reads longer lines.
    pub fn prose(&self, text: &str, indent: usize) -> String {
        let most = self.width.min(USUAL);
        let (mut lines, mut width) = (String::new(), 0);
        for word in text.split(' ') {
            let length = measure_text_width(word);
            if width > 0 && width + 1 + length > most {
                lines.push('\n');
                lines.extend(std::iter::repeat_n(' ', indent));
                width = indent;
            } else if width > 0 {
                lines.push(' ');
                width += 1;
            }
            lines += word;
            width += length;
        }
        lines + "\n"
    }

    /// Parts with dots between them, on as many lines as it takes, those behind the first indented.
    pub fn parts(&self, parts: impl IntoIterator<Item = String>, indent: usize) -> String {
        let (mut text, mut width) = (String::new(), 0);
        for part in parts {
            let length = measure_text_width(&part);
            if width > 0 && width + 3 + length > self.width {
                text.push('\n');
                text.extend(std::iter::repeat_n(' ', indent));
                width = indent;
            } else if width > 0 {
                text += " · ";
                width += 3;
            }
            // A part that has no room on a line of its own is broken between words.
            if length + indent > self.width {
                text += self.prose(&part, indent).trim_end()
            } else {
                text += &part
            }
            width += length;
        }
        text + "\n"
    }

    /// Words with what they mean: the meanings below each other, on lines that fit.
    pub fn legend<'a>(&self, entries: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
        let entries: Vec<(&str, &str)> = entries.into_iter().collect();
        let lengths = entries.iter().map(|(word, _)| measure_text_width(word));
        let widest = lengths.max().unwrap_or(0);
        let line = |(word, meaning): &(&str, &str)| {
            let gap = widest + 2 - measure_text_width(word);
            // Words are split at single spaces, so that the gap is kept as one.
            let start = format!("{word}{}", "\u{a0}".repeat(gap));
            let text = self.prose(&format!("{start}{meaning}"), widest + 2);
            text.replace('\u{a0}', " ")
        };
        entries.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_broken_between_words_and_loses_nothing() {
        let words: Vec<String> = (0..90).map(|i| format!("word{i}")).collect();
        let text = Page::of_width(80).prose(&words.join(" "), 3);
        assert!(text.lines().count() > 5, "{text}");
        assert!(Page::of_width(80).has_room_for(&text), "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with("   w")));
        let again: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(again, words);
    }

    #[test]
    fn meanings_stand_below_each_other() {
        let long = "a meaning ".repeat(9);
        let text = Page::of_width(60).legend([("K × B", "both"), ("on", long.trim())]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "K × B  both");
        assert!(lines[1].starts_with("on     a meaning"), "{text}");
        assert!(lines[2].starts_with("       "), "{text}");
        assert!(Page::of_width(60).has_room_for(&text), "{text}");
    }

    #[test]
    fn a_plain_page_has_no_escapes_and_a_coloured_one_keeps_line_ends_plain() {
        assert_eq!(Page::default().best("full\n"), "full\n");
        let coloured = Page {
            is_coloured: true,
            ..Page::default()
        };
        for line in [
            coloured.bold("a"),
            coloured.best("a"),
            coloured.failed("a"),
            coloured.dim("a"),
        ] {
            assert!(Page::of_width(1).has_room_for(&line));
            let plain = ESCAPES.iter().fold(line, |line, own| line.replace(own, ""));
            assert_eq!(plain, "a");
        }
        let line = coloured.best("full\n");
        assert!(line.contains("\u{1b}[") && line.ends_with("m\n"));
    }
}
