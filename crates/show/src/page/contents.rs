//! All that stands on a page.

use minijinja::Value;
use serde::Serialize;

use super::sources::{self, Source};
use super::tables::{self, Table};
use super::{headlines, warnings};
use crate::figure::{Asked, Figure, KINDS, Material, draw};

/// The contents of one page.
#[derive(Debug, Serialize)]
pub struct Contents {
    /// Heading.
    pub title: String,
    /// What was run.
    pub facts: Vec<Fact>,
    /// Where its data come from.
    pub sources: Vec<Source>,
    /// What came out.
    pub headlines: Vec<String>,
    /// What to mind.
    pub warnings: Vec<String>,
    /// The figures.
    pub figures: Vec<Drawn>,
    /// Kinds of figures that it does not have, and why.
    pub missing: Vec<String>,
    /// The tables.
    pub tables: Vec<Table>,
    /// What opens behind a row, as JSON in which no tag can begin.
    #[serde(serialize_with = "as_it_is")]
    pub details: String,
}

/// A property of the run.
#[derive(Debug, Serialize)]
pub struct Fact {
    /// Name of the fact.
    pub name: String,
    /// What it is.
    pub value: String,
}

/// A figure as it stands on the page.
#[derive(Debug, Serialize)]
pub struct Drawn {
    /// Anchor of the figure.
    pub id: String,
    /// Heading.
    pub title: String,
    /// How to read it.
    pub note: String,
    /// The figure in words.
    pub alt: String,
    /// The drawing.
    #[serde(serialize_with = "as_it_is")]
    pub svg: String,
}

/// A text that is HTML already.
fn as_it_is<S: serde::Serializer>(text: &str, to: S) -> Result<S::Ok, S::Error> {
    Value::from_safe_string(text.to_owned()).serialize(to)
}

impl Contents {
    /// The contents of the page of a result.
    pub fn of(material: &Material) -> Contents {
        let (mut figures, mut missing) = (Vec::new(), Vec::new());
        for kind in KINDS {
            match (kind.make)(material, &Asked::default()) {
                Ok(figure) => figures.push(drawn(&figure)),
                Err(why) if kind.is_usual => missing.push(format!("{}: {why}", kind.name)),
                Err(_) => {}
            }
        }
        let tables = tables::of(material);
        Contents {
            title: material.name.clone(),
            facts: facts(material),
            sources: sources::of(material),
            headlines: headlines::of(material),
            warnings: warnings::of(material),
            figures,
            missing,
            details: tables::details(material).replace('<', "\\u003c"),
            tables,
        }
    }
}

/// A figure, drawn.
pub(super) fn drawn(figure: &Figure) -> Drawn {
    Drawn {
        id: format!("figure-{}", figure.name),
        title: figure.title.clone(),
        note: figure.note.clone(),
        alt: figure.alt.clone(),
        svg: inside_a_page(&draw::svg(figure), &figure.name),
    }
}

/// A drawing whose names are its own among all of a page.
fn inside_a_page(svg: &str, name: &str) -> String {
    let own: String = (name.chars())
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    svg.replace(" id=\"", &format!(" id=\"{own}-"))
        .replace("url(#", &format!("url(#{own}-"))
        .replace("href=\"#", &format!("href=\"#{own}-"))
}

/// What the manifest says in one word.
fn facts(material: &Material) -> Vec<Fact> {
    let of = |key: &str| match material.identity.get(key) {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(serde_json::Value::Array(all)) => all.len().to_string(),
        Some(value) => value.to_string(),
        None => "not told".to_owned(),
    };
    let names = |all: Vec<&str>| all.join(", ");
    let fact = |name: &str, value: String| Fact {
        name: name.to_owned(),
        value,
    };
    let settings = material.distinct(|group| &group.setting);
    let settings = (settings.len() > 1).then(|| fact("settings", names(settings)));
    let facts = [
        fact("scenario", of("scenario")),
        fact("scavsim", of("scavsim")),
        fact("seed", of("seed")),
        fact("replicas", of("replicas")),
        fact("cases", of("cases")),
        fact("without a result", of("failed")),
        fact("fidelity", of("fidelity")),
        fact(
            "workloads",
            names(material.distinct(|group| &group.workload)),
        ),
        fact("pricing policies", of("policies")),
        fact(
            "objectives",
            names(material.distinct(|group| &group.objective)),
        ),
        fact(
            "strategies",
            names(material.distinct(|group| &group.strategy)),
        ),
        fact("random streams", of("rng")),
        fact("hash of the scenario", of("scenario_hash")),
        fact("hash of the prices", of("prices_hash")),
    ];
    facts.into_iter().chain(settings).collect()
}
