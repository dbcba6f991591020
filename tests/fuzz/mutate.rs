//! Changes texts and bytes, and keeps most of their structure.

use crate::luck::Luck;

/// Replacements of a number or a word.
const ODD: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "3",
    "0.5",
    "1e-9",
    "1e-300",
    "5e-324",
    "1e9",
    "1e15",
    "1e300",
    "1e308",
    "-1e308",
    "1e309",
    "nan",
    "inf",
    "-inf",
    "255",
    "256",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "2147483648",
    "9007199254740993",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1e18",
    "0.1",
    "0x10",
    "1_000",
    "01",
    "+1",
    ".5",
    "5.",
    "",
    " ",
    "true",
    "\"\"",
    "[]",
    "{}",
    "[[]]",
    "[1, 2]",
    "{ from = 1, to = 9 }",
    "{ from = 1, to = 1000000, step = 0.001 }",
    "\"a\"",
    "null",
    "\u{1b}[31m",
    "\0",
    "\u{feff}",
    "é",
    "𝄞",
    "\u{202e}",
    "=1+1",
    "\"",
    "'",
    "\\",
    "\n",
    "\r\n",
    "\t",
    ",",
    ";",
    "#",
    "..",
    "/",
    "../x",
    "default",
    "oracle",
    "full",
];

/// The parts of a text: numbers, words, and single other characters.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.' || c == '-';
        let end = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, behind) = rest.split_at(end);
        tokens.push(token);
        rest = behind;
    }
    tokens
}

/// Makes a few changes of `text`; words and lines also come from `others`.
pub fn text(text: &str, others: &[&str], luck: &mut Luck) -> String {
    let mut text = text.to_owned();
    for _ in 0..=luck.below(3) {
        text = match luck.below(12) {
            0..5 => of_tokens(&text, others, luck),
            5..9 => of_lines(&text, others, luck),
            9 | 10 => of_cells(&text, luck),
            _ => {
                let changed = bytes(text.as_bytes(), luck);
                String::from_utf8_lossy(&changed).into_owned()
            }
        };
    }
    text
}

/// Replaces, repeats or removes a word, a number or a sign.
fn of_tokens(text: &str, others: &[&str], luck: &mut Luck) -> String {
    let mut all: Vec<String> = tokens(text).into_iter().map(str::to_owned).collect();
    let solid: Vec<usize> = (0..all.len())
        .filter(|&at| !all[at].trim().is_empty())
        .collect();
    if solid.is_empty() {
        return (*luck.pick(ODD)).to_owned();
    }
    let at = *luck.pick(&solid);
    let number: Option<f64> = all[at].parse().ok();
    match (luck.below(8), number) {
        (0..3, Some(number)) => {
            let factors = [
                -1.0, 0.1, 0.5, 0.999, 1.001, 2.0, 10.0, 1e3, 1e6, 1e-6, 1e12,
            ];
            let scaled = number * luck.pick(&factors);
            all[at] = if luck.once_in(2) {
                format!("{scaled}")
            } else {
                format!("{}", scaled.round())
            };
        }
        (0..3, None) if !others.is_empty() => {
            let other = tokens(luck.pick::<&str>(others));
            let words: Vec<&&str> = other.iter().filter(|t| t.len() > 1).collect();
            if !words.is_empty() {
                all[at] = (**luck.pick(&words)).to_owned();
            }
        }
        (3, _) => all[at] = all[at].repeat(2),
        (4, _) => all[at].clear(),
        (5, _) => all[at].insert_str(0, luck.pick::<&str>(ODD)),
        _ => all[at] = (*luck.pick(ODD)).to_owned(),
    }
    all.concat()
}

/// Moves, repeats, removes or replaces a line.
fn of_lines(text: &str, others: &[&str], luck: &mut Luck) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    if lines.is_empty() {
        return text.to_owned();
    }
    let (at, to) = (luck.below(lines.len()), luck.below(lines.len()));
    match luck.below(6) {
        0 => drop(lines.remove(at)),
        1 => lines.swap(at, to),
        2 => lines.insert(to, lines[at]),
        3 => lines.truncate(at),
        _ if !others.is_empty() => {
            let other: Vec<&str> = luck.pick::<&str>(others).split_inclusive('\n').collect();
            if !other.is_empty() {
                let from = luck.below(other.len());
                let count = 1 + luck.below(3.min(other.len() - from));
                lines.splice(at..at, other[from..from + count].iter().copied());
            }
        }
        _ => lines.rotate_left(at),
    }
    lines.concat()
}

/// Replaces, removes or adds a cell of a table.
fn of_cells(text: &str, luck: &mut Luck) -> String {
    let mut lines: Vec<Vec<String>> = (text.split('\n'))
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect();
    let (row, from) = (luck.below(lines.len()), luck.below(lines.len()));
    let (at, of) = (luck.below(lines[row].len()), luck.below(lines[from].len()));
    match luck.below(5) {
        0 => lines[row][at] = lines[from][of].clone(),
        1 => drop(lines[row].remove(at)),
        2 => lines[row].insert(at, (*luck.pick(ODD)).to_owned()),
        3 => {
            // Replaces a whole column.
            let odd = *luck.pick(ODD);
            for line in lines.iter_mut().skip(1) {
                if let Some(cell) = line.get_mut(at) {
                    *cell = odd.to_owned();
                }
            }
        }
        _ => lines[row][at] = (*luck.pick(ODD)).to_owned(),
    }
    let lines: Vec<String> = lines.iter().map(|line| line.join(",")).collect();
    lines.join("\n")
}

/// Makes a few changes of `bytes`, mostly near the end, where some formats have their index.
pub fn bytes(bytes: &[u8], luck: &mut Luck) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=luck.below(3) {
        if bytes.is_empty() {
            return bytes;
        }
        let near = bytes.len().min(4000);
        let at = if luck.once_in(2) {
            luck.below(bytes.len())
        } else {
            bytes.len() - 1 - luck.below(near)
        };
        match luck.below(7) {
            0 | 1 => bytes[at] ^= 1 << luck.below(8),
            2 => bytes[at] = *luck.pick(&[0, 1, 0x7f, 0x80, 0xff, b'\n', b',', b'"']),
            3 => bytes.truncate(at),
            4 => {
                let end = (at + 1 + luck.below(64)).min(bytes.len());
                bytes.drain(at..end);
            }
            5 => {
                let end = (at + 1 + luck.below(64)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                let to = luck.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            _ => bytes[at] = bytes[at].wrapping_add(1 + luck.below(254) as u8),
        }
    }
    bytes
}
