//! Names that users give: of scenarios, policies, kinds, VM types, workloads, axes. They appear in tables on terminals, in
//! CSV cells that spreadsheets read, and in paths. One rule keeps all of these safe.

/// Maximum bytes of a name: with an extension it is still a valid file name.
const LONGEST: usize = 200;

pub(super) const FORMULA: [char; 4] = ['=', '+', '-', '@'];

/// Why `name` is not a valid name, in words: empty, longer than 200 bytes, with control characters (which affect a terminal)
/// or invisible ones, with blanks at its ends, or beginning like a formula of a spreadsheet.
pub fn not_a_name(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("a name is not empty")
    } else if name.len() > LONGEST {
        Some("a name has at most 200 bytes")
    } else if name.chars().any(is_unseen) {
        Some("a name has no control characters and none that are not seen")
    } else if name.trim() != name {
        Some("a name has no blanks at its ends")
    } else if name.starts_with(FORMULA) {
        Some("a name does not begin with `=`, `+`, `-` or `@`: spreadsheets take it for a formula")
    } else {
        None
    }
}

/// Whether a character is invisible, or changes others: the Unicode categories Cc, Cf, Zl and Zp.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
            | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_terminals_spreadsheets_and_people_read_alike() {
        let legal = "a|gcp-2019 spot|ResNet18 (b)|größe|1x|a=b|a, \"b\"|模型";
        for legal in legal.split('|') {
            assert_eq!(not_a_name(legal), None, "{legal}");
        }
        let long = "x".repeat(201);
        let unseen = "\t|a\nb|\u{1b}[31ma|a\u{7f}|a\u{9b}b|a\u{202e}b|a\u{200b}|\u{feff}a";
        let wrong = "| a|a |=1+1|+1|-1|@sum".split('|').chain(unseen.split('|'));
        for wrong in wrong.chain([&*long]) {
            assert!(not_a_name(wrong).is_some(), "{wrong:?}");
        }
    }
}
