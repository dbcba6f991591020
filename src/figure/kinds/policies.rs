//! What every configuration costs under every policy, against the cheapest.

use super::super::description::{Axis, Block, Figure, Mark, Panel, Series, Shape};
use super::super::material::{Cloud, Material};
use super::super::style::{Marker, Style};
use super::{Asked, Kind, differs_by_vm, room};

pub(super) const KIND: Kind = Kind {
    name: "policies",
    about: "cost of configurations under each pricing policy over the cheapest, as a heat map; needs the scenario",
    is_usual: true,
    make,
};

/// Configurations and policies that a map has room for.
const MOST: usize = 80;
/// Cost over the cheapest at which a cell is darkest.
const DARKEST: f64 = 1.0;

fn make(material: &Material, asked: &Asked) -> Result<Figure, String> {
    let policies = material.distinct(|group| &group.pricing);
    if policies.len() < 2 {
        return Err("it has one pricing policy only".to_owned());
    }
    if !material.clouds.iter().all(|cloud| cloud.is_all) {
        return Err(
            "records hold chosen configurations only: name the scenario with `--scenario FILE`"
                .to_owned(),
        );
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
            .filter_map(|policy| material.cloud(workload, policy))
            .collect();
        let Some(first) = clouds.first() else {
            continue;
        };
        if first.places.len() > MOST {
            return Err(format!(
                "a map has room for {MOST} configurations; `{workload}` has {}",
                first.places.len()
            ));
        }
        words.push(format!("{workload}: {}.", cheapest(&clouds).join("; ")));
        panels.push(panel(workload, &clouds));
    }
    if panels.is_empty() {
        return Err("it has no such workload".to_owned());
    }
    let most = |count: fn(&Panel) -> usize| panels.iter().map(count).max().unwrap_or(1) as f64;
    let names = |axis: &Axis| match &axis.scale {
        super::super::description::Scale::Names(names) => names.len(),
        _ => 1,
    };
    let size = [
        190.0 + 16.0 * most(|panel| panel.x_names()).max(12.0),
        150.0
            + 15.0
                * panels
                    .iter()
                    .map(|panel| names(&panel.y))
                    .max()
                    .unwrap_or(1) as f64,
    ];
    let more = match policies.len() > MOST {
        true => format!(" The first {MOST} of {} policies.", policies.len()),
        false => String::new(),
    };
    Ok(Figure {
        name: "policies".to_owned(),
        title: format!(
            "{}: cost under each policy over the cheapest configuration",
            material.name
        ),
        alt: format!(
            "Heat maps, a row per policy and a column per configuration. Cheapest: {}",
            words.join(" ")
        ),
        note: format!(
            "The darker, the dearer than the cheapest under the same policy: white is the cheapest, darkest from {:.0} % \
             more on. Marked: the cheapest.{left_out}{more}",
            100.0 * DARKEST
        ),
        columns: 1,
        size,
        panels,
    })
}

impl Panel {
    fn x_names(&self) -> usize {
        match &self.x.scale {
            super::super::description::Scale::Names(names) => names.len(),
            _ => 1,
        }
    }
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
    let (mut blocks, mut marks) = (Vec::new(), Vec::new());
    for (row, cloud) in clouds.iter().enumerate() {
        let y = (row + 1) as f64;
        let Some((best, least)) = least(cloud) else {
            continue;
        };
        for (column, place) in cloud.places.iter().enumerate() {
            let x = (column + 1) as f64;
            let over = place.cost_usd / least - 1.0;
            blocks.push(Block {
                x: [x - 0.5, x + 0.5],
                y: [y - 0.5, y + 0.5],
                shade: Some((over / DARKEST).min(1.0)),
                name: format!(
                    "{}, {}: {:+.1} %",
                    cloud.pricing,
                    place.name(with_vm),
                    100.0 * over
                ),
            });
        }
        marks.push(Mark::new(
            [(best + 1) as f64, y],
            cloud.places[best].name(with_vm),
        ));
    }
    Panel {
        title: workload.to_owned(),
        x: Axis::names(
            "workers × global batch",
            clouds[0].places.iter().map(|place| place.name(with_vm)),
        ),
        y: Axis::names("", clouds.iter().map(|cloud| cloud.pricing.as_str())),
        series: vec![
            Series::new("", Style::nth(0), Shape::Blocks(blocks)),
            Series::new(
                "cheapest",
                Style::nth(1).marked(Marker::Diamond, 4),
                Shape::Marks(marks),
            ),
        ],
    }
}
