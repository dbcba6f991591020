//! Errors of predictions for each configuration (figure 11 of the Scavenger paper).

use std::collections::BTreeMap;

use super::super::description::{Axis, Block, Figure, Mark, Panel, Scale, Series, Shape};
use super::super::material::Material;
use super::super::style::{BLACK, Style};
use super::kind::{FigureKind, FigureRequest};
use super::no_figure::NoFigure;
use super::panels::{COLUMNS, SIZE, room};
use scavsim_base::text::words::first_of;
use scavsim_experiment::{Evaluator, Plan, PlanError};

pub(super) const KIND: FigureKind = FigureKind {
    name: "errors",
    about: "boxes of prediction errors over configurations, by strategy and workers; needs the scenario",
    is_usual: true,
    make,
};

/// Replicas that are searched again for their predictions.
const REPLICAS: u64 = 20;
/// Maximum number of worker counts with separate boxes; more are pooled.
const MOST_COUNTS: usize = 8;
/// Workloads that are searched again.
const MOST_ARENAS: usize = 12;
/// Half the width that the boxes of one worker count share.
const HALF: f64 = 0.4;

/// Errors in percent by strategy and worker count.
type Errors = Vec<(String, BTreeMap<Option<u32>, Vec<f64>>)>;

fn make(material: &Material, asked: &FigureRequest) -> Result<Figure, NoFigure> {
    let scenario = (material.scenario.as_ref()).ok_or(NoFigure::NeedsScenario(
        "records hold no prediction of single configurations",
    ))?;
    let plan = Plan::new(scenario)?;
    let replicas = plan.replicas.min(REPLICAS);
    let setting = asked.setting(material)?;
    let [behind_name, behind_title] = asked.setting_words(material)?;
    let shown = |at: &usize| {
        let workload = asked.workload.as_deref();
        plan.setting(*at) == setting && workload.is_none_or(|w| w == plan.workload(*at))
    };
    let all: Vec<usize> = (0..plan.arena_count()).filter(shown).collect();
    if all.is_empty() {
        return Err(NoFigure::NoSuchWorkload);
    }
    if all.len() > MOST_ARENAS && asked.workload.is_none() {
        return Err(NoFigure::ManySearches(all.len()));
    }
    let count = all.len();
    let mut panels = Vec::new();
    let mut words = Vec::new();
    for arena in all.into_iter().take(MOST_ARENAS) {
        let errors = errors(&plan, arena, replicas)?;
        if errors.is_empty() {
            continue;
        }
        for (strategy, by_workers) in &errors {
            let own: Vec<f64> = by_workers.values().flatten().copied().collect();
            let mean = own.iter().sum::<f64>() / own.len() as f64;
            words.push(format!(
                "{}, {strategy}: {mean:.1} % on average.",
                plan.workload(arena)
            ));
        }
        panels.push(panel(plan.workload(arena), &errors));
    }
    if panels.is_empty() {
        return Err(NoFigure::NoPredictions);
    }
    let (panels, _) = room(panels);
    let of = first_of(MOST_ARENAS, count, " searches.");
    Ok(Figure {
        name: format!("errors{behind_name}"),
        title: format!("{}: error of predicted times{behind_title}", material.name),
        alt: format!(
            "Box plots of absolute errors of predicted times in percent. {}",
            words.join(" ")
        ),
        note: format!(
            "|predicted − expected time| / expected time over configurations, in {replicas} replicas. Boxes: quartiles and median; \
             bars: least and largest; marks: mean.{of}"
        ),
        columns: COLUMNS,
        size: SIZE,
        panels,
    })
}

fn errors(plan: &Plan, at: usize, replicas: u64) -> Result<Errors, NoFigure> {
    let arena = plan.arena(at).map_err(PlanError::clone)?;
    let mut all = Errors::new();
    let mut evaluator = Evaluator::new(plan);
    for (strategy, contender) in arena.contenders.iter().enumerate() {
        if contender.strategy.is_none() {
            continue;
        }
        let mut own: BTreeMap<Option<u32>, Vec<f64>> = BTreeMap::new();
        for replica in 0..replicas {
            let predicted = evaluator.predicted(at, strategy, replica);
            for (index, time_s) in predicted.iter().enumerate() {
                if let Some(time_s) = time_s {
                    let error = time_s / arena.expected(0, index).time_s - 1.0;
                    let workers = arena.space.workers(index);
                    own.entry(workers).or_default().push(100.0 * error.abs());
                }
            }
        }
        if own.values().flatten().all(|error| error.is_finite()) && !own.is_empty() {
            all.push((contender.name.clone(), own));
        }
    }
    Ok(all)
}

fn panel(workload: &str, errors: &Errors) -> Panel {
    let mut counts: Vec<Option<u32>> = errors
        .iter()
        .flat_map(|(_, own)| own.keys().copied())
        .collect();
    counts.sort_unstable();
    counts.dedup();
    let is_split = counts.len() <= MOST_COUNTS && counts.iter().all(Option::is_some);
    let (names, label): (Vec<String>, &str) = if is_split {
        (
            counts.iter().flatten().map(u32::to_string).collect(),
            "workers",
        )
    } else {
        (vec!["all configurations".to_owned()], "")
    };
    let width = 2.0 * HALF / errors.len() as f64;
    let mut series = Vec::new();
    for (n, (strategy, own)) in errors.iter().enumerate() {
        let (mut blocks, mut marks, mut medians) = (Vec::new(), Vec::new(), Vec::new());
        let groups: Vec<Vec<f64>> = if is_split {
            counts
                .iter()
                .map(|count| own.get(count).cloned().unwrap_or_default())
                .collect()
        } else {
            vec![own.values().flatten().copied().collect()]
        };
        for (place, mut values) in groups.into_iter().enumerate() {
            if values.is_empty() {
                continue;
            }
            values.sort_by(f64::total_cmp);
            let left = (place + 1) as f64 - HALF + n as f64 * width;
            let x = [left + 0.1 * width, left + 0.9 * width];
            let middle = quantile(&values, 0.5);
            let name = format!("{strategy}, {}", names[place]);
            blocks.push(Block {
                x,
                y: [quantile(&values, 0.25), quantile(&values, 0.75)],
                shade: None,
                name: name.clone(),
            });
            medians.push(vec![[x[0], middle], [x[1], middle]]);
            marks.push(Mark {
                at: [
                    left + 0.5 * width,
                    values.iter().sum::<f64>() / values.len() as f64,
                ],
                x: None,
                y: Some([values[0], values[values.len() - 1]]),
                name,
            });
        }
        series.push(Series::new(
            strategy.clone(),
            Style::nth(n),
            Shape::Blocks(blocks),
        ));
        for median in medians {
            series.push(Series::new("", Style::plain(BLACK), Shape::Line(median)));
        }
        let style = Style::plain(BLACK).marked(Style::nth(n).marker, 2);
        series.push(Series::new("", style, Shape::Marks(marks)));
    }
    Panel {
        title: workload.to_owned(),
        x: Axis::names(label, names),
        y: Axis::new("error of the predicted time", "%", Scale::FromZero),
        series,
    }
}

/// The n-th of several numbers, linear between ranks; of at least one.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    low + (high - low) * at.fract()
}
