//! Constants of a paper's model that were chosen, and the rows that they affect.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::evidence::Evidence;
use super::expectations::Expectation;
use scavsim_read::input::{Diagnostic, Diagnostics, Source};

/// A constant as `[[constants]]` of `paper.toml` states it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstantForm {
    pub name: Spanned<String>,
    /// Values of the constant, where they are few.
    #[serde(default)]
    pub values: Vec<f64>,
    /// How many values there are, where they are many.
    pub count: Option<usize>,
    #[serde(default)]
    pub unit: String,
    pub chosen: String,
    /// Patterns of the rows that it was chosen on.
    #[serde(default)]
    pub on: Vec<Spanned<String>>,
    /// Patterns of further rows that hang on it.
    #[serde(default)]
    pub touches: Vec<Spanned<String>>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Constant {
    pub name: String,
    /// Values of the constant; none where they are too many to be named.
    pub values: Vec<f64>,
    pub count: usize,
    pub unit: String,
    pub chosen: String,
    pub on: Vec<AffectedRows>,
    pub touches: Vec<AffectedRows>,
}

impl Constant {
    /// The values with their unit, or their number.
    pub fn shown(&self) -> String {
        let numbers: Vec<String> = self.values.iter().map(f64::to_string).collect();
        let values = match (numbers.len(), self.count) {
            (0, 1) => "1 value".to_owned(),
            (0, count) => format!("{count} values"),
            _ => numbers.join(", "),
        };
        match self.unit.as_str() {
            "" => values,
            unit => format!("{values} {unit}"),
        }
    }

    /// The constant, how it was chosen, and the rows that it affects.
    pub fn sentence(&self) -> String {
        let rows = |what: &str, all: &[AffectedRows]| {
            let each = all.iter().map(|one| match one.rows {
                1 => format!("`{}`", one.pattern),
                rows => format!("`{}` ({rows} rows)", one.pattern),
            });
            let each: Vec<String> = each.collect();
            if each.is_empty() {
                String::new()
            } else {
                format!(" {what} {}.", each.join(", "))
            }
        };
        let Constant { name, chosen, .. } = self;
        let on = rows("Chosen on", &self.on);
        let touches = rows("Touches", &self.touches);
        format!("{name}: {}; {chosen}.{on}{touches}", self.shown())
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AffectedRows {
    /// `QUANTITY: OF`, in which `*` stands for anything.
    pub pattern: String,
    pub rows: usize,
}

/// Whether `text` matches `pattern`, in which `*` matches anything.
pub fn is_like(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(behind) = text.strip_prefix(head) else {
        return false;
    };
    let mut ends = behind.char_indices().map(|(at, _)| at);
    ends.any(|at| is_like(rest, &behind[at..])) || is_like(rest, "")
}

/// Reads the constants in `source`. A calibrated row has a constant that was chosen on it, and all such rows are calibrated;
/// exceptions are reported to `diagnostics`.
pub fn read(
    forms: Vec<ConstantForm>,
    rows: &[Expectation],
    source: &Arc<Source>,
    diagnostics: &mut Diagnostics,
) -> Vec<Constant> {
    let names: Vec<String> = rows.iter().map(Expectation::name).collect();
    let mut is_chosen_on = vec![false; rows.len()];
    let mut constants = Vec::new();
    for form in forms {
        let count = form.count.unwrap_or(form.values.len());
        if count == 0 || (!form.values.is_empty() && form.values.len() != count) {
            let title = format!("`{}`: its values are missing", form.name.get_ref());
            let label = "expected `values`, or their `count`";
            diagnostics.error_at(source, form.name.span(), title, label);
        }
        let mut touched = |patterns: &[Spanned<String>], chosen_on: bool| -> Vec<AffectedRows> {
            let each = |pattern: &Spanned<String>| {
                let like = (0..rows.len()).filter(|at| is_like(pattern.get_ref(), &names[*at]));
                let like: Vec<usize> = like.collect();
                if like.is_empty() {
                    let title = format!("no row is called `{}`", pattern.get_ref());
                    let wrong = Diagnostic::at_span(source, pattern.span(), title, "here");
                    let help = "a row is called `QUANTITY: OF`; `*` stands for anything";
                    diagnostics.push(wrong.with_help(help));
                }
                for at in like.iter().filter(|_| chosen_on) {
                    is_chosen_on[*at] = true;
                    if rows[*at].evidence != Evidence::Calibrated {
                        let name = form.name.get_ref();
                        let title = format!("`{name}` was chosen on `{}`", names[*at]);
                        let wrong = Diagnostic::at_span(source, pattern.span(), title, "here");
                        let found = rows[*at].evidence.name();
                        let help =
                            format!("the evidence of that row is `calibrated`, not `{found}`");
                        diagnostics.push(wrong.with_help(help));
                    }
                }
                AffectedRows {
                    pattern: pattern.get_ref().clone(),
                    rows: like.len(),
                }
            };
            patterns.iter().map(each).collect()
        };
        let (on, touches) = (touched(&form.on, true), touched(&form.touches, false));
        constants.push(Constant {
            name: form.name.into_inner(),
            values: form.values,
            count,
            unit: form.unit,
            chosen: form.chosen,
            on,
            touches,
        });
    }
    for (row, is_chosen_on) in rows.iter().zip(is_chosen_on) {
        if row.evidence == Evidence::Calibrated && !is_chosen_on {
            let title = format!("no constant was chosen on `{}`", row.name());
            let wrong =
                Diagnostic::at_span(&row.ours.source, row.place.clone(), title, "calibrated");
            let help = "`[[constants]]` of paper.toml has each constant and, as `on`, such rows";
            diagnostics.push(wrong.with_help(help));
        }
    }
    constants
}

#[cfg(test)]
mod tests {
    use super::is_like;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, text, is) in [
            ("a: b", "a: b", true),
            ("a: b", "a: bc", false),
            ("a: *", "a: ", true),
            ("a: *c", "a: bcdc", true),
            ("a*b*c", "axbyc", true),
            ("a*b*c", "axcyb", false),
            ("*", "σ/μ", true),
            ("", "a", false),
        ] {
            assert_eq!(is_like(pattern, text), is, "{pattern} {text}");
        }
    }
}
