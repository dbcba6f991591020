//! What the choice is worth, over what was spent to find it.

use super::super::description::{Axis, Figure, Mark, Panel, Scale, Series, Shape};
use super::super::material::Material;
use super::super::style::Style;
use super::kind::{FigureKind, FigureRequest};
use super::no_figure::NoFigure;
use super::panels::{COLUMNS, SIZE, room};

pub(super) const KIND: FigureKind = FigureKind {
    name: "regret",
    about: "regret of the choices over the money spent on the search",
    is_usual: true,
    make,
};

fn make(material: &Material, asked: &FigureRequest) -> Result<Figure, NoFigure> {
    let [pricing, objective] = asked.shown(material)?;
    let [behind_name, behind_title] = asked.setting_words(material)?;
    // What is looked for is what is regretted.
    let (metric, what) = match objective {
        "time" => ("regret_time", "time"),
        _ => ("regret_cost", "cost"),
    };
    let (rows, left_out) = room(asked.groups(material)?);
    let mut panels = Vec::new();
    let mut words = Vec::new();
    for (workload, rows) in &rows {
        let (mut series, mut each) = (Vec::new(), Vec::new());
        for (n, row) in rows.iter().enumerate() {
            let group = row.group;
            let (Some(spent), Some(regret)) = (group.mean("search_cost_usd"), group.mean(metric))
            else {
                continue;
            };
            let ends = |interval: Option<scavsim_base::stats::Interval>, times: f64| {
                interval.map(|interval| [times * interval.low, times * interval.high])
            };
            let mark = Mark {
                at: [spent.mean, 100.0 * regret.mean],
                x: ends(spent.interval, 1.0),
                y: ends(regret.interval, 100.0),
                name: group.strategy.clone(),
            };
            each.push(format!(
                "{} {:.2} USD for {:+.1} %",
                group.strategy,
                spent.mean,
                100.0 * regret.mean
            ));
            let style = Style::nth(n).marked(Style::nth(n).marker, 6);
            series.push(Series::new(
                group.strategy.clone(),
                style,
                Shape::Marks(vec![mark]),
            ));
        }
        words.push(format!("{workload}: {}.", each.join("; ")));
        panels.push(Panel {
            title: (*workload).to_owned(),
            x: Axis::new("spent on the search", "USD", Scale::FromZero),
            y: Axis::new(&format!("regret in {what}"), "%", Scale::FromZero),
            series,
        });
    }
    if panels.iter().all(|panel| panel.series.is_empty()) {
        return Err(NoFigure::NoResult);
    }
    Ok(Figure {
        name: format!("regret-{pricing}-{objective}{behind_name}"),
        title: format!(
            "{}: regret over search money, {pricing}, objective {objective}{behind_title}",
            material.name
        ),
        alt: format!(
            "Regret in percent of the oracle's {what} over USD spent on the search. {}",
            words.join(" ")
        ),
        note: format!(
            "Regret: expected {what} of the choice over the oracle's. Means over runs with 95 % intervals. Earlier runs \
             that a strategy knows are not in the money.{left_out}"
        ),
        columns: COLUMNS,
        size: SIZE,
        panels,
    })
}
