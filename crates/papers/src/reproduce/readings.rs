//! Readings of a claim: every combination of the values that its words leave open.

use std::sync::Arc;

use scavsim_read::expression::tree::{Call, Expression, Node, SpannedWord};
use scavsim_read::expression::{Text, Value, World, evaluate};
use scavsim_read::input::{Diagnostic, Source};

/// Names of the open values, with their alternatives.
#[derive(Debug, Default)]
pub struct Readings {
    loops: Vec<(SpannedWord, Expression)>,
    /// For each name its value in every reading.
    pub values: Vec<Text>,
}

impl Readings {
    /// The readings of clauses `for NAME in LIST` in `source`.
    pub fn new(loops: Vec<(SpannedWord, Expression)>, source: &Arc<Source>) -> Readings {
        let mut readings = Readings {
            loops,
            values: Vec::new(),
        };
        let each = readings.loops.iter().map(|(word, _)| Text {
            source: Arc::clone(source),
            root: Expression {
                node: Node::Name(Arc::clone(&word.text)),
                span: word.span.clone(),
            },
        });
        let each: Vec<Text> = each.collect();
        readings.values = each.into_iter().map(|one| readings.over(one)).collect();
        readings
    }

    /// The list of values of `text` in every reading; `text` itself without open values.
    pub fn over(&self, text: Text) -> Text {
        if self.loops.is_empty() {
            return text;
        }
        let span = text.root.span.clone();
        let call = Call {
            loops: self.loops.clone(),
            ..Call::with_argument("list", span.clone(), text.root)
        };
        Text {
            source: text.source,
            root: Expression {
                node: Node::Call(Box::new(call)),
                span,
            },
        }
    }

    /// Names and their values for each reading.
    pub fn named(&self, world: &dyn World) -> Result<Vec<Vec<(String, String)>>, Diagnostic> {
        let mut readings: Vec<Vec<(String, String)>> = Vec::new();
        for ((name, _), values) in self.loops.iter().zip(&self.values) {
            let values = match evaluate(values, world)? {
                Value::List(all) => all,
                one => vec![one],
            };
            readings.resize(values.len(), Vec::new());
            for (reading, value) in readings.iter_mut().zip(values) {
                let value = match value {
                    Value::Number(number) => number.to_string(),
                    Value::Text(text) => text.to_string(),
                    other => other.shown(),
                };
                reading.push((name.text.to_string(), value));
            }
        }
        if readings.is_empty() {
            readings.push(Vec::new());
        }
        Ok(readings)
    }
}
