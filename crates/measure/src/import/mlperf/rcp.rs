//! Reference convergence points: epochs or samples to the target, over seeds, per batch.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use scavsim_read::input::{Diagnostic, Diagnostics, Source, json};

/// A reference convergence point.
#[derive(Debug, Clone)]
pub struct Point {
    pub name: String,
    pub benchmark: String,
    pub batch: u32,
    /// Epochs or samples to the target, one per seed.
    pub values: Vec<f64>,
    source: Arc<Source>,
}

impl Point {
    /// Mean over seeds.
    pub fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / self.values.len() as f64
    }

    pub fn complaint(&self, title: impl Into<String>) -> Diagnostic {
        Diagnostic::at_span(&self.source, place(&self.source, &self.name), title, "here")
    }
}

/// An object as pairs: a name that stands twice is two points, not the last of them.
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Pairs;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of reference convergence points")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// Reads all files. Every mistake goes to `diagnostics`; points come back only without any.
pub fn read_all(paths: &[PathBuf], diagnostics: &mut Diagnostics) -> Option<Vec<Point>> {
    let before = diagnostics.len();
    let mut points = Vec::new();
    for path in paths {
        let Some(source) = Source::read(path, diagnostics) else {
            continue;
        };
        points.extend(read(&source, diagnostics));
    }
    (diagnostics.len() == before).then_some(points)
}

fn read(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Vec<Point> {
    let title = format!("{} is no table of convergence points", source.name);
    let Some(pairs) = json::read_repeating::<Pairs>(source, &title, diagnostics) else {
        return Vec::new();
    };
    if pairs.0.is_empty() {
        let title = format!("{} has no convergence points", source.name);
        diagnostics.push(Diagnostic::general(title));
    }
    let points = pairs.0.iter().map(|(name, value)| {
        point(source, name, value).map_err(|wrong| {
            let title = format!("`{name}`: {wrong}");
            diagnostics.error_at(source, place(source, name), title, "of this point");
        })
    });
    points.filter_map(Result::ok).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum WrongPoint {
    #[error("no {0}")]
    Missing(&'static str),
    #[error("`BS` must be a whole number above 0")]
    Batch,
    #[error("what it took to converge must be numbers above 0")]
    Numbers,
    #[error("the list of what it took to converge is empty")]
    Empty,
}

fn point(source: &Arc<Source>, name: &str, value: &Value) -> Result<Point, WrongPoint> {
    let benchmark = value.get("Benchmark").and_then(Value::as_str);
    let batch = value.get("BS").and_then(Value::as_u64);
    let batch = batch.and_then(|b| u32::try_from(b).ok()).filter(|&b| b > 0);
    // Named after epochs or samples, in either case.
    let values = value.as_object().and_then(|fields| {
        let converge = |key: &str| key.to_lowercase().ends_with("to converge");
        fields.iter().find(|(key, _)| converge(key))?.1.as_array()
    });
    let values = values.ok_or(WrongPoint::Missing(
        "list `Epochs to converge` or `samples to converge`",
    ))?;
    let number = |v: &Value| v.as_f64().filter(|v| v.is_finite() && *v > 0.0);
    let numbers: Option<Vec<f64>> = values.iter().map(number).collect();
    let numbers = numbers.ok_or(WrongPoint::Numbers)?;
    if numbers.is_empty() {
        return Err(WrongPoint::Empty);
    }
    Ok(Point {
        name: name.to_owned(),
        benchmark: benchmark
            .ok_or(WrongPoint::Missing("text `Benchmark`"))?
            .to_owned(),
        batch: batch.ok_or(WrongPoint::Batch)?,
        values: numbers,
        source: Arc::clone(source),
    })
}

/// Where a name stands in quotes.
fn place(source: &Source, name: &str) -> Range<usize> {
    let quoted = format!("\"{name}\"");
    let start = source.text.find(&quoted).unwrap_or(0);
    let end = (start + quoted.len()).min(source.text.len());
    start..end
}

/// The point of each batch that converges fastest, by rising batch: rules allow the best tuning.
pub fn fastest(points: &[Point]) -> Vec<&Point> {
    let mut sorted: Vec<&Point> = points.iter().collect();
    sorted.sort_by(|a, b| (a.batch.cmp(&b.batch)).then(a.mean().total_cmp(&b.mean())));
    sorted.dedup_by_key(|p| p.batch);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> (Vec<Point>, String) {
        let mut diagnostics = Diagnostics::default();
        let points = read(&Source::new("r.json", text), &mut diagnostics);
        (points, diagnostics.render(false))
    }

    #[test]
    fn the_fastest_of_a_batch_stays_even_under_one_name() {
        let (points, _) = parse(
            r#"{"a": {"Benchmark": "bert", "BS": 8, "Epochs to converge": [4, 6]},
                "a": {"Benchmark": "bert", "BS": 8, "samples to converge": [3]},
                "b": {"Benchmark": "bert", "BS": 4, "Epochs to converge": [2]}}"#,
        );
        let means: Vec<_> = fastest(&points)
            .iter()
            .map(|p| (p.batch, p.mean()))
            .collect();
        assert_eq!(means, [(4, 2.0), (8, 3.0)]);
    }

    #[test]
    fn every_wrong_point_is_told() {
        let (points, told) = parse(
            r#"{"a": {"Benchmark": "bert", "BS": 0, "Epochs to converge": [4]},
                "b": {"Benchmark": "bert", "BS": 8, "Epochs to converge": [-4]},
                "c": {"Benchmark": "bert", "BS": 8},
                "d": 7}"#,
        );
        assert!(points.is_empty());
        for name in ["`a`", "`b`", "`c`", "`d`"] {
            assert!(told.contains(name), "{told}");
        }
        assert!(parse("{").1.contains("r.json:1"));
        assert!(parse("").1.contains("no table"));
    }
}
