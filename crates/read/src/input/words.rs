//! Quotes the user's words in messages.

use super::name::is_unseen;

/// Longest piece of input repeated in a message.
const LONGEST_SHOWN: usize = 40;

/// The input for a one-line message: invisible characters are escaped, the end of a long text is cut off.
pub(super) fn shown(input: &str) -> String {
    let mut out = String::new();
    for (index, character) in input.chars().enumerate() {
        if index == LONGEST_SHOWN {
            out.push_str("...");
            break;
        }
        if is_unseen(character) {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}

/// Words in code quotes, with commas between.
pub fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}
