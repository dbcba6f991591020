//! The cost of every configuration under every policy, relative to the cheapest.

use super::super::description::{Axis, Figure, Mark, Panel, Scale, Series, Shape};
use super::super::material::{Cloud, Material};
use super::super::style::{Marker, Style};
use super::heat_map::{Cell, shaded};
use super::kind::{FigureKind, FigureRequest};
use super::no_figure::NoFigure;
use super::panels::{COLUMNS, differs_by_vm, room};
use scavsim_base::text::words::first_of;

pub(super) const KIND: FigureKind = FigureKind {
    name: "policies",
    about: "cost of configurations under each pricing policy over the cheapest, as a heat map; needs the scenario",
    is_usual: true,
    make,
};

/// Maximum number of configurations and of policies on a map.
const MOST: usize = 80;
/// Number of policies above which a map is taller than wide.
const TALL: usize = 12;
fn make(material: &Material, asked: &FigureRequest) -> Result<Figure, NoFigure> {
    let setting = asked.setting(material)?;
    let [behind_name, behind_title] = asked.setting_words(material)?;
    let policies = material.distinct(|group| &group.pricing);
    if policies.len() < 2 {
        return Err(NoFigure::OnePolicy);
    }
    if !material.clouds.iter().all(|cloud| cloud.is_all) {
        let why = "records hold chosen configurations only";
        return Err(NoFigure::NeedsScenario(why));
    }
    let workloads = material.distinct(|group| &group.workload);
    let shown = |workload: &&str| {
        asked
            .workload
            .as_deref()
            .is_none_or(|asked| asked == *workload)
    };
    let workloads: Vec<&str> = workloads.into_iter().filter(shown).collect();
    let (workloads, left_out) = room(workloads);
    let mut panels = Vec::new();
    let mut words = Vec::new();
    for workload in workloads {
        let clouds: Vec<&Cloud> = (policies.iter().take(MOST))
            .filter_map(|policy| material.cloud(setting, workload, policy))
            .collect();
        let Some(first) = clouds.first() else {
            continue;
        };
        if first.places.len() > MOST {
            return Err(NoFigure::ManyPlaces {
                most: MOST,
                workload: workload.to_owned(),
                count: first.places.len(),
            });
        }
        words.push(format!("{workload}: {}.", cheapest(&clouds).join("; ")));
        panels.push(panel(workload, &clouds));
    }
    if panels.is_empty() {
        return Err(NoFigure::NoSuchWorkload);
    }
    let most = |axis: fn(&Panel) -> &Axis| {
        let counts = panels.iter().map(|panel| match &axis(panel).scale {
            Scale::Names(names) => names.len(),
            _ => 1,
        });
        counts.max().unwrap_or(1) as f64
    };
    let size = [
        220.0 + 17.0 * most(|panel| &panel.x).max(12.0),
        150.0 + 16.0 * most(|panel| &panel.y),
    ];
    let more = first_of(MOST, policies.len(), " policies.");
    Ok(Figure {
        name: format!("policies{behind_name}"),
        title: format!(
            "{}: cost over the cheapest, by policy{behind_title}",
            material.name
        ),
        alt: format!(
            "Heat maps, a row per policy and a column per configuration. Cheapest: {}",
            words.join(" ")
        ),
        note: format!(
            "The darker, the dearer than the cheapest configuration under the same policy.{left_out}{more}"
        ),
        // Long maps are placed side by side.
        columns: if policies.len() > TALL { COLUMNS } else { 1 },
        size,
        panels,
    })
}

fn least(cloud: &Cloud) -> Option<(usize, f64)> {
    let costs = cloud.places.iter().map(|place| place.cost_usd).enumerate();
    costs.min_by(|a, b| a.1.total_cmp(&b.1))
}

fn cheapest(clouds: &[&Cloud]) -> Vec<String> {
    let each = clouds.iter().filter_map(|cloud| {
        let (at, _) = least(cloud)?;
        Some(format!(
            "{} {}",
            cloud.pricing,
            cloud.places[at].name(false)
        ))
    });
    each.collect()
}

fn panel(workload: &str, clouds: &[&Cloud]) -> Panel {
    let with_vm = differs_by_vm(clouds[0]);
    let (mut cells, mut marks) = (Vec::new(), Vec::new());
    for (row, cloud) in clouds.iter().enumerate() {
        // The first policy is the top row.
        let y = (clouds.len() - row) as f64;
        let Some((best, least)) = least(cloud) else {
            continue;
        };
        for (column, place) in cloud.places.iter().enumerate() {
            let x = (column + 1) as f64;
            cells.push(Cell {
                at: [x, y],
                excess: place.cost_usd / least - 1.0,
                name: format!("{}, {}", cloud.pricing, place.name(with_vm)),
            });
        }
        marks.push(Mark::new(
            [(best + 1) as f64, y],
            cloud.places[best].name(with_vm),
        ));
    }
    let cheapest = Style::nth(1).marked(Marker::Diamond, 4);
    let cheapest = Series::new("cheapest", cheapest, Shape::Marks(marks));
    Panel {
        title: workload.to_owned(),
        x: Axis::names(
            "workers × global batch (samples)",
            clouds[0].places.iter().map(|place| place.name(with_vm)),
        ),
        y: Axis::names("", clouds.iter().rev().map(|cloud| cloud.pricing.as_str())),
        series: shaded(cells).chain([cheapest]).collect(),
    }
}
