//! Regret of the choice over the cost of the search.

use super::super::description::{Axis, Figure, Mark, Panel, Scale, Series, Shape};
use super::super::material::Material;
use super::super::style::Style;
use super::kind::{FigureKind, FigureRequest};
use super::no_figure::NoFigure;
use super::panels::{COLUMNS, SIZE, cut_above, name_of_cut, nested_sizes, room};

pub(super) const KIND: FigureKind = FigureKind {
    name: "regret",
    about: "regret of the choices over the money spent on the search",
    is_usual: true,
    make,
};

fn make(material: &Material, asked: &FigureRequest) -> Result<Figure, NoFigure> {
    let [pricing, objective] = asked.shown(material)?;
    let [behind_name, behind_title] = asked.setting_words(material)?;
    // The regret is in the unit of the objective.
    let (metric, what) = match objective {
        "time" => ("regret_time", "time"),
        _ => ("regret_cost", "cost"),
    };
    let (rows, left_out) = room(asked.groups(material)?);
    let mut panels = Vec::new();
    let mut words = Vec::new();
    for (workload, rows) in &rows {
        let shown = rows.iter().enumerate().filter_map(|(n, row)| {
            let spent = row.group.mean("search_cost_usd")?;
            Some((n, row, spent, row.group.mean(metric)?))
        });
        let shown: Vec<_> = shown.collect();
        let cut = cut_above(shown.iter().map(|(.., regret)| 100.0 * regret.mean));
        let most = cut.unwrap_or(f64::INFINITY);
        let places: Vec<[f64; 2]> = (shown.iter())
            .map(|(.., spent, regret)| [spent.mean, (100.0 * regret.mean).min(most)])
            .collect();
        let (mut series, mut each, mut cut_off) = (Vec::new(), Vec::new(), Vec::new());
        let sizes = nested_sizes(&places, 5);
        for ((&(n, row, spent, regret), at), size) in shown.iter().zip(places).zip(sizes) {
            let ends = |interval: Option<scavsim_base::stats::Interval>, times: f64| {
                interval.map(|interval| [times * interval.low, times * interval.high])
            };
            let strategy = &row.group.strategy;
            let percent = 100.0 * regret.mean;
            if percent > most {
                cut_off.push(name_of_cut(row, percent, cut));
            }
            let mark = Mark {
                at,
                x: ends(spent.interval, 1.0),
                y: ends(regret.interval, 100.0).filter(|_| percent <= most),
                name: strategy.clone(),
            };
            each.push(format!(
                "{strategy} {:.2} USD for {percent:+.1} %",
                spent.mean
            ));
            let style = Style::nth(n).marked(Style::nth(n).marker, size);
            series.push(Series::new(
                strategy.clone(),
                style,
                Shape::Marks(vec![mark]),
            ));
        }
        words.push(format!("{workload}: {}.", each.join("; ")));
        panels.push(Panel {
            title: format!("{workload}{}", in_brackets(&cut_off)),
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
             that a strategy knows are not in the money. A mark with an arrow in the heading is above the axis.{left_out}"
        ),
        columns: COLUMNS,
        size: SIZE,
        panels,
    })
}

fn in_brackets(names: &[String]) -> String {
    if names.is_empty() {
        String::new()
    } else {
        format!(" ({})", names.join(", "))
    }
}
