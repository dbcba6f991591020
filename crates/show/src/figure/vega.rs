//! A figure as a Vega-Lite specification that includes its data, for users who restyle it.

use serde_json::{Map, Value, json};

use super::description::{Axis, Figure, Panel, Scale, Series, Shape};
use super::style::{Marker, shade};

const SCHEMA: &str = "https://vega.github.io/schema/vega-lite/v5.json";

pub fn text(figure: &Figure) -> String {
    let legend = legend(figure);
    let panel = |panel| self::panel(panel, figure.size, &legend);
    let all = json!({
        "$schema": SCHEMA,
        "title": figure.title,
        "description": figure.alt,
        "usermeta": { "note": figure.note },
        "columns": figure.columns,
        "concat": figure.panels.iter().map(panel).collect::<Vec<_>>(),
        "resolve": { "legend": { "color": "shared" } },
    });
    format!("{all:#}\n")
}

/// The colour scale with all labels of a figure. Layers share a scale; if scales differed, only the first would apply.
fn legend(figure: &Figure) -> Value {
    let (mut labels, mut colours): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for series in figure.panels.iter().flat_map(|panel| &panel.series) {
        if !series.label.is_empty() && !labels.contains(&&*series.label) {
            labels.push(&series.label);
            colours.push(series.style.hex());
        }
    }
    json!({ "domain": labels, "range": colours })
}

fn panel(panel: &Panel, size: [f64; 2], legend: &Value) -> Value {
    let layers: Vec<Value> = (panel.series.iter())
        .flat_map(|series| layers(series, panel, legend))
        .collect();
    json!({
        "title": panel.title,
        "width": (0.75 * size[0]).round(),
        "height": (0.75 * size[1]).round(),
        "layer": layers,
    })
}

fn channel(field: &str, axis: &Axis) -> Value {
    let mut channel = json!({ "field": field, "type": "quantitative", "title": axis.text() });
    match &axis.scale {
        Scale::Linear => channel["scale"] = json!({ "zero": false }),
        Scale::FromZero => {}
        Scale::Log => channel["scale"] = json!({ "type": "log" }),
        Scale::Names(names) => {
            channel["scale"] = json!({ "domain": [0.5, names.len() as f64 + 0.5], "nice": false });
            let places: Vec<usize> = (1..=names.len()).collect();
            channel["axis"] = json!({
                "values": places,
                "labelExpr": format!("{}[datum.value - 1]", Value::from(names.clone())),
            });
        }
    }
    channel
}

/// A series, and its intervals behind it.
fn layers(series: &Series, panel: &Panel, legend: &Value) -> Vec<Value> {
    let colour = series.style.hex();
    let (x, y) = (channel("x", &panel.x), channel("y", &panel.y));
    let layer = |values: Vec<Value>, mark: Value, more: &[(&str, Value)]| {
        let mut encoding: Map<String, Value> =
            Map::from_iter([("x".to_owned(), x.clone()), ("y".to_owned(), y.clone())]);
        encoding.extend(
            more.iter()
                .map(|(key, value)| ((*key).to_owned(), value.clone())),
        );
        if !series.label.is_empty() {
            // A legend of names in the colours of the figure.
            let datum = json!({ "datum": series.label, "type": "nominal", "scale": legend });
            encoding.insert("color".to_owned(), datum);
        }
        json!({ "data": { "values": values }, "mark": mark, "encoding": encoding })
    };
    match &series.shape {
        Shape::Marks(marks) => {
            let mut all = Vec::new();
            for (key, low, high, is_there) in [
                ("x", "x_low", "x2", marks.iter().any(|m| m.x.is_some())),
                ("y", "y_low", "y2", marks.iter().any(|m| m.y.is_some())),
            ] {
                if is_there {
                    let values = (marks.iter()).filter_map(|m| {
                        let [from, to] = if key == "x" { m.x } else { m.y }?;
                        Some(json!({ "x": m.at[0], "y": m.at[1], low: from, high: to }))
                    });
                    let axis = if key == "x" { &panel.x } else { &panel.y };
                    let more = [(key, channel(low, axis)), (high, json!({ "field": high }))];
                    let mark = json!({ "type": "rule", "color": colour });
                    all.push(layer(values.collect(), mark, &more));
                }
            }
            let values = marks.iter();
            let values = values.map(|m| json!({ "x": m.at[0], "y": m.at[1], "name": m.name }));
            let size = f64::from(series.style.size);
            let mark = json!({ "type": "point", "filled": true, "color": colour,
                "shape": shape(series.style.marker), "size": (12.0 * size).round(), "tooltip": true });
            all.push(layer(values.collect(), mark, &[]));
            all
        }
        Shape::Line(points) => {
            let values =
                (points.iter().enumerate()).map(|(at, [x, y])| json!({ "x": x, "y": y, "at": at }));
            let mark = json!({ "type": "line", "color": colour, "strokeDash": series.style.dash.lengths() });
            let order = [("order", json!({ "field": "at", "type": "quantitative" }))];
            vec![layer(values.collect(), mark, &order)]
        }
        Shape::Blocks(blocks) => {
            let shaded = blocks.iter().any(|block| block.shade.is_some());
            let values = blocks.iter().map(|b| {
                let hex = b.shade.map_or_else(|| colour.to_owned(), shade);
                json!({ "x": b.x[0], "x2": b.x[1], "y": b.y[0], "y2": b.y[1], "name": b.name, "hex": hex })
            });
            let mark = json!({ "type": "rect", "color": colour, "opacity": 0.85, "tooltip": true });
            let ends = |end: &str| json!({ "field": end });
            let mut more = vec![("x2", ends("x2")), ("y2", ends("y2"))];
            if shaded {
                more.push((
                    "fill",
                    json!({ "field": "hex", "type": "nominal", "scale": null }),
                ));
            }
            vec![layer(values.collect(), mark, &more)]
        }
    }
}

fn shape(marker: Marker) -> &'static str {
    match marker {
        Marker::Circle | Marker::Pentagon | Marker::Hexagon => "circle",
        Marker::Square => "square",
        Marker::Triangle => "triangle-up",
        Marker::TriangleDown => "triangle-down",
        Marker::Diamond => "diamond",
        Marker::Cross | Marker::Plus | Marker::Star => "cross",
    }
}
