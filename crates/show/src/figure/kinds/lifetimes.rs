//! Counted lifetimes of VMs, and the models fitted to them.

use super::super::description::{Axis, Figure, Panel, Scale, Series, Shape};
use super::super::material::Material;
use super::super::style::{BLACK, Style};
use super::kind::{FigureKind, FigureRequest};
use super::no_figure::NoFigure;
use super::panels::{COLUMNS, SIZE, room};
use scavsim_data::cloud::lifetimes::{Kind as Lives, Model};

pub(super) const KIND: FigureKind = FigureKind {
    name: "lifetimes",
    about: "share of VMs lost by their age, counted and by fitted models; the same for every result",
    is_usual: false,
    make,
};

/// Hours that are shown if no cap ends the lifetimes.
const HOURS: f64 = 24.0;
const POINTS: u32 = 96;

fn make(material: &Material, _: &FigureRequest) -> Result<Figure, NoFigure> {
    let models = Model::embedded().0;
    let counted = || models.iter().filter(|model| model.law == "empirical");
    let mut panels = Vec::new();
    for data in counted() {
        let fits: Vec<&Model> = models
            .iter()
            .filter(|model| {
                model.law != "empirical" && owner(&model.name, counted()) == Some(&*data.name)
            })
            .collect();
        if fits.is_empty() {
            continue;
        }
        let mut series = vec![Series::new(
            "counted",
            Style::plain(BLACK),
            Shape::Line(curve(data)),
        )];
        for model in &fits {
            let is_fit = model.name.ends_with("-fit");
            let label = match (is_fit, model.law) {
                (true, law) => format!("{law}, published fit"),
                (false, "bathtub") => "bathtub, as used in policies".to_owned(),
                (false, law) => law.to_owned(),
            };
            let n = match (is_fit, model.law) {
                (true, _) => 1,
                (false, "bathtub") => 2,
                (false, _) => 3,
            };
            series.push(Series::new(label, Style::nth(n), Shape::Line(curve(model))));
        }
        panels.push(Panel {
            title: data.name.clone(),
            x: Axis::new("age of the VM", "h", Scale::FromZero),
            y: Axis::new("share lost", "fraction", Scale::FromZero),
            series,
        });
    }
    let (panels, _) = room(panels);
    if panels.is_empty() {
        return Err(NoFigure::NoLives);
    }
    let names: Vec<&str> = panels.iter().map(|panel| &*panel.title).collect();
    Ok(Figure {
        name: "lifetimes".to_owned(),
        title: "lives of preemptible VMs, counted and modelled".to_owned(),
        alt: format!(
            "Share of VMs lost by their age in hours, counted and by models, for {}.",
            names.join(", ")
        ),
        note: format!(
            "Counted: VMs that their users stopped count as alive until then. Published fits are of preempted VMs only, and \
             lie above. From `scavsim list lifetimes`; not of {} alone.",
            material.name
        ),
        columns: COLUMNS,
        size: SIZE,
        panels,
    })
}

/// The counted lifetimes behind a model: the longest name that is a prefix of the model's name.
fn owner<'m>(name: &str, counted: impl Iterator<Item = &'m Model>) -> Option<&'m str> {
    let begins = |data: &&Model| {
        name.strip_prefix(&*data.name)
            .is_some_and(|rest| rest.starts_with('-'))
    };
    counted
        .filter(begins)
        .map(|data| &*data.name)
        .max_by_key(|name| name.len())
}

fn curve(model: &Model) -> Vec<[f64; 2]> {
    let cap = match &model.kind {
        Lives::Alone(life) if life.cap_h().is_finite() => life.cap_h(),
        _ => HOURS,
    };
    let at = |n: u32| {
        let hours = cap * f64::from(n) / f64::from(POINTS);
        Some([hours, model.lost_by(hours)?])
    };
    (0..=POINTS).filter_map(at).collect()
}
