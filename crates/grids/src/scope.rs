use std::sync::Arc;

use super::expression::Expression;
use super::meaning::{AxisSpec, Bound, From, KindSpec, Lookup, Meaning};
use super::written_grid::Text;
use scavsim_read::input::{Diagnostic, Diagnostics, Source, did_you_mean};

pub(super) struct Scope<'a> {
    pub source: &'a Arc<Source>,
    pub axes: &'a [AxisSpec],
    pub columns: &'a [String],
    pub lookups: &'a [Lookup],
    /// The names of the time; none where it makes no sense.
    pub time: &'a [&'a str],
    /// Names of what is known to be wrong elsewhere.
    pub refused: &'a [&'a str],
}

impl Scope<'_> {
    /// The expression behind `key`, with every name that stands for nothing reported.
    pub fn bind(&self, key: &str, text: &Text, diagnostics: &mut Diagnostics) -> Option<Bound> {
        let expression = Expression::parse(text, self.source, diagnostics)?;
        let mut meanings = Vec::with_capacity(expression.names().len());
        for (name, span) in expression.names() {
            match self.meaning(name) {
                Ok(meaning) => meanings.push(meaning),
                Err(UnresolvedName::Unknown) if self.refused.contains(&name.as_str()) => {}
                Err(wrong) => {
                    let (title, label, help) = wrong.message_parts(key, name, self);
                    let told = Diagnostic::at_span(self.source, span.clone(), title, label);
                    diagnostics.push(told.with_help(help));
                }
            }
        }
        (meanings.len() == expression.names().len()).then_some(Bound {
            expression,
            meanings,
        })
    }

    fn meaning(&self, name: &str) -> Result<Meaning, UnresolvedName> {
        if self.time.contains(&name) {
            return Ok(Meaning::Time);
        }
        if let Some(place) = self.axes.iter().position(|axis| axis.name == name) {
            return match self.axes[place].kind {
                KindSpec::Numeric { .. } => Ok(Meaning::Axis(place)),
                _ => Err(UnresolvedName::NoNumber),
            };
        }
        if let Some(place) = self.lookups.iter().position(|lookup| lookup.name == name) {
            return Ok(Meaning::Lookup(place));
        }
        if self.columns.iter().any(|column| column == name) {
            Ok(Meaning::Column(name.to_owned()))
        } else {
            Err(UnresolvedName::Unknown)
        }
    }

    /// Whether a user knows it before the run by what it is, whatever the rows say.
    pub fn is_known_beforehand(&self, meaning: &Meaning) -> bool {
        let is_axis = |column: &str| {
            (self.axes.iter()).any(|axis| matches!(&axis.from, From::Column(c) if c == column))
        };
        match meaning {
            Meaning::Axis(_) | Meaning::Time => true,
            Meaning::Column(column) => is_axis(column),
            Meaning::Lookup(place) => is_axis(&self.lookups[*place].by),
        }
    }

    fn legal(&self) -> impl Iterator<Item = &str> {
        let is_number = |axis: &AxisSpec| matches!(axis.kind, KindSpec::Numeric { .. });
        let (numbers, names): (Vec<&AxisSpec>, Vec<&AxisSpec>) =
            self.axes.iter().partition(|axis| is_number(axis));
        let axes = numbers.into_iter().map(|axis| axis.name.as_str());
        let lookups = self.lookups.iter().map(|lookup| lookup.name.as_str());
        let columns = (self.columns.iter().map(String::as_str))
            .filter(move |column| names.iter().all(|axis| axis.name != *column));
        let time = self.time.iter().copied();
        time.chain(axes).chain(lookups).chain(columns)
    }
}

enum UnresolvedName {
    Unknown,
    NoNumber,
}

impl UnresolvedName {
    fn message_parts(&self, key: &str, name: &str, scope: &Scope<'_>) -> (String, String, String) {
        match self {
            UnresolvedName::Unknown => {
                let label = did_you_mean(name, scope.legal(), "not known");
                let title = format!("`{key}`: unknown name `{name}`");
                (
                    title,
                    label,
                    format!("allowed here: {}", listed(scope.legal())),
                )
            }
            UnresolvedName::NoNumber => (
                format!("`{key}`: the axis `{name}` holds names, no numbers"),
                "cannot be computed with".to_owned(),
                format!("a `[lookup.…]` with `by = \"{name}\"` gives a number for each name"),
            ),
        }
    }
}

pub(super) fn listed<'a>(words: impl Iterator<Item = &'a str>) -> String {
    const MOST: usize = 24;
    let mut each: Vec<&str> = Vec::new();
    for word in words {
        if !each.contains(&word) {
            each.push(word);
        }
    }
    let more = if each.len() > MOST { ", …" } else { "" };
    let shown = scavsim_read::input::listed(each.into_iter().take(MOST));
    format!("{shown}{more}")
}
