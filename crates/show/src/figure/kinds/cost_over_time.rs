//! Cost over time: time and cost of every configuration, and where the strategies' jobs ended.

use std::collections::{BTreeMap, BTreeSet};

use super::super::description::{Axis, Figure, Mark, Panel, Scale, Series, Shape};
use super::super::material::{Cloud, Material};
use super::super::place::Place;
use super::super::style::{BLACK, Dash, GREY, Marker, Style};
use super::kind::{FigureKind, FigureRequest, Row};
use super::no_figure::NoFigure;
use super::panels::{COLUMNS, SIZE, differs_by_vm, nested_sizes, room};
use crate::report::percent::mean_of;

pub(super) const KIND: FigureKind = FigureKind {
    name: "cost-over-time",
    about: "expected time and cost of configurations, their Pareto front and knee, and the jobs of each strategy",
    is_usual: true,
    make,
};

/// Maximum number of marks in a panel; above it every second, third, … configuration is marked. The front is always complete.
const MOST_MARKS: usize = 1_500;
const MOST_LINES: usize = 7;
/// Ratio of the largest to the least value above which an axis is logarithmic.
const WIDE: f64 = 20.0;

fn make(material: &Material, asked: &FigureRequest) -> Result<Figure, NoFigure> {
    let [pricing, objective] = asked.shown(material)?;
    let setting = asked.setting(material)?;
    let [behind_name, behind_title] = asked.setting_words(material)?;
    let (rows, left_out) = room(asked.groups(material)?);
    let mut panels = Vec::new();
    let (mut is_all, mut words) = (true, Vec::new());
    let clouds = rows
        .iter()
        .filter_map(|(workload, _)| material.cloud(setting, workload, pricing));
    let keys: BTreeSet<u32> = (clouds.clone().flat_map(|cloud| &cloud.places))
        .filter_map(|place| joined_by(place, asked))
        .collect();
    let keys: Vec<u32> = keys.into_iter().collect();
    for (workload, rows) in &rows {
        let cloud = material.cloud(setting, workload, pricing);
        is_all &= cloud.is_some_and(|cloud| cloud.is_all);
        let [time, cost] = [0, 1].map(|axis| scale(cloud, axis));
        let mut series = cloud.map_or(Vec::new(), |cloud| configurations(cloud, asked, &keys));
        series.extend(jobs(rows, cloud));
        words.push(in_words(workload, rows, cloud));
        panels.push(Panel {
            title: (*workload).to_owned(),
            x: Axis::new("time", "h", time),
            y: Axis::new("cost", "USD", cost),
            series,
        });
    }
    let which = if is_all {
        "all configurations"
    } else {
        "configurations that somebody chose (`--scenario FILE` shows all)"
    };
    let most = clouds.clone().map(|cloud| cloud.places.len()).max();
    let most = most.unwrap_or(0);
    let failing = clouds.map(|cloud| cloud.places.len() - finishing(cloud).count());
    let failing = match failing.sum::<usize>() {
        0 => String::new(),
        1 => " One configuration is not marked: the job fails on it.".to_owned(),
        count => format!(" {count} configurations are not marked: the job fails on them."),
    };
    let thinned = match most.div_ceil(MOST_MARKS) {
        0 | 1 => String::new(),
        every => format!(" Of {most} configurations one in {every} is marked."),
    };
    Ok(Figure {
        name: format!("cost-over-time-{pricing}-{objective}{behind_name}"),
        title: format!(
            "{}: cost over time, {pricing}, objective {objective}{behind_title}",
            material.name
        ),
        alt: format!(
            "Cost in USD over time in hours of {which}, one panel per workload, under {pricing}. {}",
            words.join(" ")
        ),
        note: format!(
            "Small marks: expected time and cost of {which}. A strategy's mark: mean time and cost of its jobs, search \
             included; bars hold 90 % of them. Dotted from it: to the configuration it chose most often.{left_out}{failing}{thinned}"
        ),
        columns: COLUMNS,
        size: SIZE,
        panels,
    })
}

fn time_and_cost(place: &Place) -> [f64; 2] {
    [place.time_h, place.cost_usd]
}

/// Configurations on which the job succeeds.
fn finishing(cloud: &Cloud) -> impl Iterator<Item = &Place> + Clone {
    cloud.places.iter().filter(|place| place.time_h.is_finite())
}

fn scale(cloud: Option<&Cloud>, axis: usize) -> Scale {
    let values = (cloud.into_iter().flat_map(finishing)).map(|place| time_and_cost(place)[axis]);
    let least = values.clone().fold(f64::INFINITY, f64::min);
    if least > 0.0 && values.fold(0.0, f64::max) > WIDE * least {
        Scale::Log
    } else {
        Scale::Linear
    }
}

/// The value that configurations on one line share.
fn joined_by(place: &Place, asked: &FigureRequest) -> Option<u32> {
    if asked.by_workers {
        place.workers
    } else {
        place.batch
    }
}

/// Configurations, joined where they differ in one value, with their front and knee. `keys`: values of the lines in all panels.
fn configurations(cloud: &Cloud, asked: &FigureRequest, keys: &[u32]) -> Vec<Series> {
    let with_vm = differs_by_vm(cloud);
    let mark = |place: &Place| Mark::new(time_and_cost(place), place.name(with_vm));
    let mut lines: BTreeMap<Option<u32>, Vec<&Place>> = BTreeMap::new();
    for place in finishing(cloud) {
        lines
            .entry(joined_by(place, asked))
            .or_default()
            .push(place);
    }
    let joins = !with_vm
        && (2..=MOST_LINES).contains(&lines.len())
        && cloud.places.iter().all(|place| place.other.is_none());
    let mut series = Vec::new();
    if joins && cloud.is_all {
        for (key, places) in &lines {
            let n = keys.iter().position(|known| Some(*known) == *key);
            let style = Style::behind(n.unwrap_or(0));
            let name = if asked.by_workers { "K" } else { "B" };
            let label = key.map_or(String::new(), |key| format!("{name} = {key}"));
            let points = places.iter().map(|place| time_and_cost(place)).collect();
            series.push(Series::new("", style, Shape::Line(points)));
            let marks = places.iter().map(|place| mark(place)).collect();
            series.push(Series::new(label, style, Shape::Marks(marks)));
        }
    } else {
        let style = Style::plain(GREY).marked(Marker::Circle, 2);
        let every = cloud.places.len().div_ceil(MOST_MARKS);
        let marks = finishing(cloud).step_by(every.max(1)).map(mark).collect();
        series.push(Series::new("configurations", style, Shape::Marks(marks)));
    }
    let mut front: Vec<[f64; 2]> = (cloud.places.iter().filter(|place| place.is_on_front))
        .map(time_and_cost)
        .collect();
    front.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let style = Style::plain(BLACK).dashed(Dash::Long);
    series.push(Series::new("Pareto front", style, Shape::Line(front)));
    let knees: Vec<Mark> = (cloud.places.iter().filter(|place| place.is_knee))
        .map(mark)
        .collect();
    let style = Style::plain(BLACK).marked(Marker::Cross, 7);
    series.push(Series::new("knee", style, Shape::Marks(knees)));
    series
}

/// The place that a group chose most often.
fn chosen<'c>(row: &Row<'_>, cloud: Option<&'c Cloud>) -> Option<&'c Place> {
    let choice = row.group.choice.as_ref()?;
    finishing(cloud?).find(|place| place.is(choice))
}

fn jobs(rows: &[Row<'_>], cloud: Option<&Cloud>) -> Vec<Series> {
    let means = rows.iter().enumerate().filter_map(|(n, row)| {
        let mean = |metric| mean_of(row.group, metric);
        Some((n, row, [mean("time_h")?, mean("cost_usd")?]))
    });
    let means: Vec<_> = means.collect();
    let places: Vec<[f64; 2]> = means.iter().map(|(.., at)| *at).collect();
    let mut series = Vec::new();
    for (&(n, row, at), size) in means.iter().zip(nested_sizes(&places, 4)) {
        let style = match row.group.strategy.as_str() {
            "oracle" => Style::plain(BLACK).marked(Marker::Star, size + 1),
            _ => Style::nth(n).marked(Style::nth(n).marker, size),
        };
        if let Some(place) = chosen(row, cloud) {
            let points = vec![time_and_cost(place), at];
            series.push(Series::new(
                "",
                style.dashed(Dash::Dotted),
                Shape::Line(points),
            ));
        }
        let mark = Mark {
            at,
            x: row.outcome.time_h,
            y: row.outcome.cost_usd,
            name: row.group.strategy.clone(),
        };
        let label = row.group.strategy.clone();
        series.push(Series::new(label, style, Shape::Marks(vec![mark])));
    }
    series
}

fn in_words(workload: &str, rows: &[Row<'_>], cloud: Option<&Cloud>) -> String {
    let each = rows.iter().filter_map(|row| {
        let mean = |metric| mean_of(row.group, metric);
        let (time, cost) = (mean("time_h")?, mean("cost_usd")?);
        let choice =
            chosen(row, cloud).map_or(String::new(), |place| format!(" on {}", place.name(false)));
        Some(format!(
            "{}{choice} {time:.2} h, {cost:.2} USD",
            row.group.strategy
        ))
    });
    let each: Vec<String> = each.collect();
    format!("{workload}: {}.", each.join("; "))
}
