//! What a specification means for the columns of a table.

use std::ops::Range;
use std::sync::Arc;

use super::axes::axes;
use super::cheap;
use super::check::Check;
use super::meaning::{
    AxisSpec, Bound, Cost, FidelitySpec, From, Lookup, RunMetrics, TIME, TargetRule,
};
use super::scope::Scope;
use super::types;
use super::written_grid::{Text, WrittenGrid};
use super::{About, ProbeCharge, StatedType};
use scavsim_read::input::{Diagnostics, Source};

pub(super) struct Spec {
    pub name: String,
    pub about: About,
    pub probe: ProbeCharge,
    pub job: Option<String>,
    pub default_jobs: Vec<Text>,
    pub programs: Vec<(String, Vec<Text>)>,
    pub repeats: bool,
    pub repeat: Option<String>,
    pub completed: Option<String>,
    pub derived: Option<String>,
    pub target: TargetRule,
    pub axes: Vec<AxisSpec>,
    pub lookups: Vec<Lookup>,
    pub figures: RunMetrics,
    pub cost: Option<Cost>,
    pub vms: Option<Bound>,
    pub keep: Vec<String>,
    pub types: Vec<(StatedType, Range<usize>)>,
    pub fidelity: Option<FidelitySpec>,
}

impl Spec {
    pub fn new(
        written: &WrittenGrid,
        source: &Arc<Source>,
        table: &str,
        columns: &[String],
        diagnostics: &mut Diagnostics,
    ) -> Option<Spec> {
        let before = diagnostics.len();
        let mut check = Check {
            source,
            table,
            columns,
            diagnostics,
        };
        let (name, about) = check.about(written);
        let lookups = check.lookups(&written.axis, &written.lookup);
        let axes = axes(&mut check, &written.axis, &lookups);
        // What is wrong with these was told; who names them makes no mistake.
        let refused: Vec<&str> = (written.axis.keys().chain(written.lookup.keys()))
            .map(|name| name.get_ref().as_str())
            .collect();
        let mut scope = Scope {
            source,
            axes: &axes,
            columns,
            lookups: &lookups,
            time: &[],
            refused: &refused,
        };
        let figures = check.figures(&written.figures, &scope);
        let target = check.target(written.target.as_ref(), &written.figures);
        // A bare column is another name of the time, which a bill over part of a run replaces.
        let column = figures
            .as_ref()
            .and_then(|figures| figures.time_s.as_column());
        let names = [TIME, column.unwrap_or(TIME)];
        scope.time = &names;
        let rule = written.cost_usd.as_ref();
        let cost = rule.and_then(|text| cost(text, &scope, column, &mut check));
        scope.time = &[];
        let vms = written
            .vms
            .as_ref()
            .and_then(|text| check.vms(text, &scope));
        check.some_price(written);
        let probe = check.probe(written);
        let job = check.optional_column(&written.job);
        let default_jobs = check.default_jobs(written);
        let types = types::stated(&mut check, written);
        let fidelity = cheap::specified(&mut check, written, &axes);
        let repeat = check.optional_column(&written.repeat);
        let completed = check.optional_column(&written.completed);
        let derived = check.optional_column(&written.derived);
        let keep = (written.keep.iter())
            .filter_map(|name| check.column(name))
            .collect();
        if check.diagnostics.len() > before {
            return None;
        }
        Some(Spec {
            name,
            about,
            probe,
            job,
            default_jobs,
            programs: (written.programs.iter())
                .map(|(name, jobs)| (name.get_ref().clone(), jobs.clone()))
                .collect(),
            repeats: written.repeats,
            repeat,
            completed,
            derived,
            target,
            figures: figures?,
            cost,
            vms,
            axes,
            lookups,
            keep,
            types,
            fidelity,
        })
    }

    /// Columns whose cells are names or choices, not measurements.
    pub fn exact_columns(&self) -> impl Iterator<Item = &str> {
        let axes = self.axes.iter().flat_map(|axis| match &axis.from {
            From::Column(column) => vec![column.as_str()],
            From::Formula(bound) => bound.columns().collect(),
        });
        let lookups = self.lookups.iter().map(|lookup| lookup.by.as_str());
        let target = match &self.target {
            TargetRule::Column(column) => Some(column),
            _ => None,
        };
        let others = [&self.job, &self.repeat, &self.completed, &self.derived];
        let fidelity = self.fidelity.iter().map(|fidelity| &fidelity.column);
        let others = others.into_iter().flatten().chain(target).chain(fidelity);
        axes.chain(lookups).chain(others.map(String::as_str))
    }

    pub fn columns(&self) -> impl Iterator<Item = &str> {
        let rules = [
            self.cost.as_ref().map(|cost| &cost.bound),
            self.vms.as_ref(),
        ];
        let bounds = self.figures.all().chain(rules.into_iter().flatten());
        let measured = bounds.flat_map(Bound::columns);
        let kept = self.keep.iter().map(String::as_str);
        self.exact_columns().chain(measured).chain(kept)
    }
}

/// The rule of costs; `column` is another name of the time, if there is one.
fn cost(
    text: &Text,
    scope: &Scope<'_>,
    column: Option<&str>,
    check: &mut Check<'_>,
) -> Option<Cost> {
    let bound = scope.bind("cost_usd", text, check.diagnostics)?;
    check.one_time(&bound, column);
    let places = 0..bound.meanings.len();
    let doubtful = places.filter(|&place| !scope.is_known_beforehand(&bound.meanings[place]));
    Some(Cost {
        doubtful: doubtful.collect(),
        bound,
        span: text.span(),
    })
}
