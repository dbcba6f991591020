//! Noise against 1/√B, with the line that a search fits (figure 9 of the Scavenger paper).

use super::super::description::{Axis, Figure, Mark, Panel, Scale, Series, Shape};
use super::super::material::Material;
use super::super::style::{BLACK, Style};
use super::kind::{FigureKind, FigureRequest};
use super::no_figure::NoFigure;
use super::panels::{COLUMNS, SIZE, room};
use scavsim_data::workload::{Origin, Reach};
use scavsim_search::search::models::NoiseLine;
use scavsim_search::search::settings::NoiseBy;
use scavsim_search::testbed::History;

pub(super) const KIND: FigureKind = FigureKind {
    name: "noise",
    about: "measured gradient noise against 1/√B, with the line averaged over workers",
    is_usual: false,
    make,
};

fn make(material: &Material, asked: &FigureRequest) -> Result<Figure, NoFigure> {
    let workloads = asked.workloads(material)?.into_iter();
    let measured = workloads.filter(|workload| !workload.noise.rows().is_empty());
    let (workloads, left_out) = room(measured.collect());
    if workloads.is_empty() {
        return Err(NoFigure::NotMeasured("noise"));
    }
    let mut panels = Vec::new();
    let mut words = Vec::new();
    for workload in workloads {
        let rows = workload.noise.rows();
        let mut counts: Vec<u32> = rows.iter().map(|row| row.workers).collect();
        counts.dedup();
        let x = |batch: u32| 1.0 / f64::from(batch).sqrt();
        let mut series = Vec::new();
        for (n, workers) in counts.into_iter().enumerate() {
            let own = || rows.iter().filter(|row| row.workers == workers);
            let derived = own().all(|row| row.origin == Origin::Derived);
            let how = if derived { ", derived" } else { "" };
            let marks = own().map(|row| {
                let name = format!("{workers} × {}", row.batch);
                Mark::new([x(row.batch), row.noise_normalised], name)
            });
            let style = Style::nth(n).marked(Style::nth(n).marker, 5);
            series.push(Series::new(
                format!("K = {workers}{how}"),
                style,
                Shape::Marks(marks.collect()),
            ));
        }
        let history = History::from_workload(workload, &Reach::default());
        let line =
            NoiseLine::from_history(&history, NoiseBy::Average).and_then(|line| line.single());
        if let Some(line) = line {
            let mut ends: Vec<f64> = rows.iter().map(|row| x(row.batch)).collect();
            ends.sort_by(f64::total_cmp);
            ends.dedup();
            let points = ends.iter().map(|x| [*x, line.value_at(*x)]).collect();
            let style = Style::plain(BLACK);
            series.push(Series::new(
                "line, averaged over K",
                style,
                Shape::Line(points),
            ));
            words.push(format!(
                "{}: γ/K = {:.4} + {:.3}/√B.",
                workload.name, line.intercept, line.slope
            ));
        }
        panels.push(Panel {
            title: workload.name.clone(),
            x: Axis::new("1/√B", "1/√samples", Scale::Linear),
            y: Axis::new("normalised noise γ/K", "ratio", Scale::Linear),
            series,
        });
    }
    Ok(Figure {
        name: "noise".to_owned(),
        title: format!("{}: gradient noise at the target", material.name),
        alt: format!(
            "Normalised noise over 1/√B, one mark per measurement, with a line. {}",
            words.join(" ")
        ),
        note: format!(
            "Marks: as measured, or as derived from other worker counts. Line: least squares through the averages over worker counts.{left_out}"
        ),
        columns: COLUMNS,
        size: SIZE,
        panels,
    })
}
