//! Rows of a grid's table, read as its specification says.

use std::ops::{Bound as End, Range, RangeBounds};
use std::sync::Arc;

use super::cheap;
use super::expression::Line;
use super::meaning::{AxisSpec, From, KindSpec, RunMetrics, TargetRule};
use super::meaning::{Bound, Meaning};
use super::scope::listed;
use super::spec::Spec;
use super::{Bill, Charge, DerivedMetrics, Outcome, Run, StepFrom};
use scavsim_read::input::csv::Row;
use scavsim_read::input::{Diagnostic, Diagnostics, Source, did_you_mean};

pub(super) struct ReadRow {
    /// Job and repeat, where columns tell them.
    pub job: Option<String>,
    pub repeat: Option<String>,
    /// One per axis.
    pub values: Vec<f64>,
    /// Share of the whole run, where it is a cheap version of it.
    pub share: Option<f64>,
    pub run: Run,
    pub bill: Option<Bill>,
    /// What the names of the rule of costs are here; empty without a rule.
    pub priced_by: Vec<f64>,
    pub vms: Option<u32>,
    pub span: Range<usize>,
}

pub(super) struct Reader<'a> {
    pub spec: &'a Spec,
    pub source: &'a Arc<Source>,
    /// Names per axis so far.
    pub levels: Vec<Vec<Arc<str>>>,
}

/// Largest figure: sums of squares over all runs stay finite, and nothing measured is larger.
const MOST: f64 = 1e12;
const AT_LEAST_0: (End<f64>, End<f64>) = (End::Included(0.0), End::Included(MOST));
const ABOVE_0: (End<f64>, End<f64>) = (End::Excluded(0.0), End::Included(MOST));
const NOISE: (End<f64>, End<f64>) = (End::Excluded(0.0), End::Included(1.0));

impl<'a> Reader<'a> {
    pub fn new(spec: &'a Spec, source: &'a Arc<Source>) -> Reader<'a> {
        let levels = spec.axes.iter().map(|axis| match &axis.kind {
            KindSpec::Ordinal(levels) => levels.clone(),
            _ => Vec::new(),
        });
        Reader {
            spec,
            source,
            levels: levels.collect(),
        }
    }

    pub fn read(&mut self, row: &Row<'_>, d: &mut Diagnostics) -> Option<ReadRow> {
        let before = d.len();
        let spec = self.spec;
        let text = |column: &Option<String>, d: &mut Diagnostics| {
            (column.as_ref()).and_then(|column| row.name(column, d).map(str::to_owned))
        };
        let (job, repeat) = (text(&spec.job, d), text(&spec.repeat, d));
        let values: Vec<Option<f64>> = (spec.axes.iter().enumerate())
            .map(|(place, axis)| self.axis(place, axis, row, d))
            .collect();
        let cells = Cells {
            spec,
            source: self.source,
            row,
            values: &values,
        };
        let run = cells.run(&spec.figures, d);
        // A run that is wrong is priced all the same, for what may be wrong with its price.
        let time_s = run.as_ref().map_or(0.0, |run| run.time_s);
        let cost = spec.cost.as_ref();
        let inputs = cost.and_then(|cost| cells.inputs(&cost.bound, d));
        let priced_by = inputs.iter().flatten().map(|input| input.at).collect();
        let bill = cost.zip(inputs);
        let bill = bill.and_then(|(cost, inputs)| cells.bill(&cost.bound, inputs, time_s, d));
        let vms = spec.vms.as_ref().and_then(|bound| cells.vms(bound, d));
        let share =
            (spec.fidelity.as_ref()).and_then(|spec| cheap::share(spec, self.source, row, d));
        if d.len() > before {
            return None;
        }
        Some(ReadRow {
            share,
            job,
            repeat,
            values: values.into_iter().collect::<Option<_>>()?,
            run: run?,
            bill,
            priced_by,
            vms,
            span: row.line_span(),
        })
    }

    fn axis(
        &mut self,
        place: usize,
        axis: &AxisSpec,
        row: &Row<'_>,
        d: &mut Diagnostics,
    ) -> Option<f64> {
        match (&axis.kind, &axis.from) {
            (KindSpec::Numeric { is_whole: true, .. }, From::Column(column)) => row
                .whole_number(column, 1..=u64::from(u32::MAX), d)
                .map(|v| v as f64),
            (KindSpec::Numeric { .. }, From::Column(column)) => row.number(column, .., d),
            (KindSpec::Numeric { is_whole, .. }, From::Formula(bound)) => {
                let cells = Cells {
                    spec: self.spec,
                    source: self.source,
                    row,
                    values: &[],
                };
                let value = cells.computed(bound, d)?.at;
                let is_legal = if *is_whole {
                    value.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&value)
                } else {
                    value.is_finite()
                };
                if !is_legal {
                    let kind = if *is_whole {
                        "whole number of at least 1"
                    } else {
                        "number"
                    };
                    let title = format!("the axis `{}` is {value} here", axis.name);
                    d.error_at(
                        self.source,
                        row.line_span(),
                        title,
                        format!("expected a {kind}"),
                    );
                }
                is_legal.then_some(value)
            }
            (kind, From::Column(column)) => {
                let text = row.name(column, d)?;
                let levels = &mut self.levels[place];
                if let Some(level) = levels.iter().position(|level| **level == *text) {
                    return Some(level as f64);
                }
                if matches!(kind, KindSpec::Ordinal(_)) {
                    let names = || levels.iter().map(|level| &**level);
                    let label = did_you_mean(text, names(), "not among its levels");
                    let title = format!("the axis `{}` has no level `{text}`", axis.name);
                    let told = Diagnostic::at_span(self.source, row.span(column), title, label);
                    d.push(told.with_help(format!("its levels: {}", listed(names()))));
                    return None;
                }
                levels.push(text.into());
                Some((levels.len() - 1) as f64)
            }
            // The specification refused it.
            (_, From::Formula(_)) => None,
        }
    }
}

struct Cells<'a> {
    spec: &'a Spec,
    source: &'a Arc<Source>,
    row: &'a Row<'a>,
    values: &'a [Option<f64>],
}

impl Cells<'_> {
    fn wrong(&self, span: Range<usize>, title: String, label: &str, d: &mut Diagnostics) {
        d.error_at(self.source, span, title, label);
    }

    /// One value per name; `None` if one is missing or wrong.
    fn inputs(&self, bound: &Bound, d: &mut Diagnostics) -> Option<Vec<Line>> {
        let each = bound.meanings.iter().map(|meaning| match meaning {
            Meaning::Time => Some(Line::TIME),
            Meaning::Axis(place) => (*self.values.get(*place)?).map(Line::constant),
            Meaning::Column(column) => self.row.number(column, .., d).map(Line::constant),
            Meaning::Lookup(place) => self.lookup(*place, d).map(Line::constant),
        });
        // All of them, so that all mistakes are told.
        let all: Vec<Option<Line>> = each.collect();
        all.into_iter().collect()
    }

    fn lookup(&self, place: usize, d: &mut Diagnostics) -> Option<f64> {
        let lookup = &self.spec.lookups[place];
        let text = self.row.text(&lookup.by, d)?;
        let found = lookup.values.get(text);
        if found.is_none() {
            let names = || lookup.values.keys().map(String::as_str);
            let label = did_you_mean(text, names(), "not among its values");
            let title = format!("the lookup `{}` has no value for `{text}`", lookup.name);
            let told = Diagnostic::at_span(self.source, self.row.span(&lookup.by), title, label);
            d.push(told.with_help(format!("it has: {}", listed(names()))));
        }
        found.copied()
    }

    fn computed(&self, bound: &Bound, d: &mut Diagnostics) -> Option<Line> {
        let inputs = self.inputs(bound, d)?;
        Some(bound.expression.eval(&inputs))
    }

    /// A figure within `range`; where it is not needed, any empty cell leaves it out.
    fn figure(
        &self,
        key: &str,
        bound: &Bound,
        range: (End<f64>, End<f64>),
        is_needed: bool,
        d: &mut Diagnostics,
    ) -> Option<f64> {
        let is_empty = |column: &str| self.row.optional_text(column).is_none();
        if !is_needed && bound.columns().any(is_empty) {
            return None;
        }
        if let Some(column) = bound.as_column() {
            return self.row.number(column, range, d);
        }
        let value = self.computed(bound, d)?.at;
        let is_legal = value.is_finite() && range.contains(&value);
        if !is_legal {
            let title = format!("`{key}` = {} is {value} here", bound.expression.text());
            let label = match range {
                AT_LEAST_0 => "expected a number from 0 to 10^12",
                ABOVE_0 => "expected a number above 0 and at most 10^12",
                NOISE => "expected a number above 0 and at most 1",
                _ => "expected a number",
            };
            self.wrong(self.row.line_span(), title, label, d);
        }
        is_legal.then_some(value)
    }

    fn run(&self, figures: &RunMetrics, d: &mut Diagnostics) -> Option<Run> {
        let time_s = self.figure("time_s", &figures.time_s, AT_LEAST_0, true, d);
        let mut optional = |key, bound: &Option<Bound>, range| {
            (bound.as_ref()).and_then(|bound| self.figure(key, bound, range, false, d))
        };
        let quality = optional(
            "quality",
            &figures.quality,
            (End::Unbounded, End::Unbounded),
        );
        let steps = optional("steps", &figures.steps, AT_LEAST_0);
        let epochs = optional("epochs", &figures.epochs, ABOVE_0);
        let samples = optional("samples_per_epoch", &figures.samples_per_epoch, ABOVE_0);
        let step_s = optional("step_s", &figures.step_s, ABOVE_0);
        let compute_s = optional("compute_s", &figures.compute_s, AT_LEAST_0);
        let communication_s = optional("communication_s", &figures.communication_s, AT_LEAST_0);
        let noise = optional("noise_normalised", &figures.noise_normalised, NOISE);
        let outcome = self.outcome(quality, d)?;
        let split = compute_s.zip(communication_s).map(|(a, b)| a + b);
        let of_run = time_s.zip(steps).map(|(time_s, steps)| time_s / steps);
        let of_run = of_run.filter(|step_s| *step_s > 0.0 && step_s.is_finite());
        let (step_s, step_from) = match (step_s.or(split), of_run) {
            (None, Some(of_run)) => (Some(of_run), StepFrom::WholeRun),
            (step_s, _) => (step_s, StepFrom::Itself),
        };
        let by_steps = self.spec.probe.charge == Charge::Steps;
        if by_steps && step_s.is_none() && outcome != Outcome::Failed {
            let title = "this run has no step time, by which a probe is charged".to_owned();
            let label = "`step_s` is empty, and no `steps` give it";
            self.wrong(self.row.line_span(), title, label, d);
        }
        Some(Run {
            outcome,
            time_s: time_s?,
            quality,
            steps,
            epochs,
            samples_per_epoch: samples,
            step_s,
            step_from,
            compute_s,
            communication_s,
            noise_normalised: noise,
            derived: self.derived(d),
        })
    }

    fn flag(&self, column: &str, d: &mut Diagnostics) -> Option<bool> {
        let text = self.row.text(column, d)?;
        let flag = match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => Some(true),
            "false" | "no" | "0" => Some(false),
            _ => None,
        };
        if flag.is_none() {
            let title = format!("`{column}`: expected true or false, found `{text}`");
            self.wrong(self.row.span(column), title, "true or false", d);
        }
        flag
    }

    fn outcome(&self, quality: Option<f64>, d: &mut Diagnostics) -> Option<Outcome> {
        if let Some(completed) = &self.spec.completed
            && !self.flag(completed, d)?
        {
            return Some(Outcome::Failed);
        }
        let mut about = |is_reached: fn(f64, f64) -> bool, bound: f64| {
            if quality.is_none() {
                let title = "this run has no quality, which the target is about".to_owned();
                self.wrong(self.row.line_span(), title, "`quality` is empty", d);
            }
            quality.map(|quality| is_reached(quality, bound))
        };
        let reached = match &self.spec.target {
            TargetRule::Completed => true,
            TargetRule::AtLeast(least) => about(|quality, least| quality >= least, *least)?,
            TargetRule::AtMost(most) => about(|quality, most| quality <= most, *most)?,
            TargetRule::Column(column) => self.flag(column, d)?,
        };
        Some(if reached {
            Outcome::Reached
        } else {
            Outcome::Unreached
        })
    }

    fn derived(&self, d: &mut Diagnostics) -> DerivedMetrics {
        let mut derived = DerivedMetrics::default();
        let Some(column) = &self.spec.derived else {
            return derived;
        };
        for word in self
            .row
            .optional_text(column)
            .unwrap_or("")
            .split_whitespace()
        {
            match word {
                "epochs" => derived.epochs = true,
                "noise_normalised" => derived.noise_normalised = true,
                other => {
                    let title = format!("`{column}`: unknown figure `{other}`");
                    let label = "expected `epochs`, `noise_normalised`, both or nothing";
                    self.wrong(self.row.span(column), title, label, d);
                }
            }
        }
        derived
    }

    /// What a run of `time_s` costs whose rule has these `inputs`.
    fn bill(
        &self,
        bound: &Bound,
        inputs: Vec<Line>,
        time_s: f64,
        d: &mut Diagnostics,
    ) -> Option<Bill> {
        let line = bound.expression.eval(&inputs);
        let is_timed = bound.meanings.contains(&Meaning::Time);
        let at = |seconds: f64| {
            if !line.is_bent {
                return line.at + line.per * seconds;
            }
            let given: Vec<Line> = (inputs.iter().zip(&bound.meanings))
                .map(|(input, meaning)| match meaning {
                    Meaning::Time => Line::constant(seconds),
                    _ => *input,
                })
                .collect();
            bound.expression.eval(&given).at
        };
        let some = [0.0, time_s / 2.0, time_s];
        let wrong = some
            .into_iter()
            .find(|s| !(at(*s).is_finite() && at(*s) >= 0.0));
        if let Some(seconds) = wrong {
            let title = format!("{seconds} s of this run cost {} USD", at(seconds));
            let label = "by `cost_usd`; expected a number of at least 0";
            self.wrong(self.row.line_span(), title, label, d);
            return None;
        }
        Some(match (line.is_bent, is_timed) {
            (true, _) => Bill::Bent(inputs),
            // The bill of the whole run: a part of it costs its share.
            (false, false) if time_s > 0.0 => Bill::Linear {
                at_start: 0.0,
                per_s: line.at / time_s,
            },
            (false, _) => Bill::Linear {
                at_start: line.at,
                per_s: line.per,
            },
        })
    }

    fn vms(&self, bound: &Bound, d: &mut Diagnostics) -> Option<u32> {
        let value = self.computed(bound, d)?.at;
        let is_legal = value.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&value);
        if !is_legal {
            let title = format!("`vms` = {} is {value} here", bound.expression.text());
            let label = "expected a whole number of at least 1";
            self.wrong(self.row.line_span(), title, label, d);
        }
        is_legal.then_some(value as u32)
    }
}
