//! Rows put together to jobs.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use super::follows::Follows;
use super::meaning::KindSpec;
use super::meaning::Meaning;
use super::rows::ReadRow;
use super::spec::Spec;
use super::{Bill, Job, Rule, Run, bits};
use scavsim_data::space::{Axis, AxisKind, Space};
use scavsim_read::input::{Diagnostic, Diagnostics, Source};

/// The jobs of a table while its rows come in.
pub(super) struct Jobs<'a> {
    spec: &'a Spec,
    source: &'a Arc<Source>,
    all: Vec<Growing>,
    by_name: HashMap<String, usize>,
    /// Which figures of the rule of costs are known before a run.
    pub follows: Follows,
}

/// A job while its rows come in.
struct Growing {
    name: String,
    places: HashMap<Vec<u64>, usize>,
    configurations: Vec<Configuration>,
}

/// All that was read of one configuration.
struct Configuration {
    values: Vec<f64>,
    vms: Option<u32>,
    runs: Vec<(Run, Option<Bill>)>,
    repeats: HashSet<String>,
    first: Range<usize>,
}

impl<'a> Jobs<'a> {
    pub fn new(spec: &'a Spec, source: &'a Arc<Source>) -> Jobs<'a> {
        Jobs {
            spec,
            source,
            all: Vec::new(),
            by_name: HashMap::new(),
            follows: Follows::new(spec),
        }
    }

    /// Takes in a row.
    pub fn add(&mut self, read: ReadRow, diagnostics: &mut Diagnostics) {
        let name = read.job.unwrap_or_else(|| self.spec.name.clone());
        let place = *self.by_name.entry(name).or_insert_with_key(|name| {
            self.all.push(Growing {
                name: name.clone(),
                places: HashMap::new(),
                configurations: Vec::new(),
            });
            self.all.len() - 1
        });
        self.follows.learn(place, &read.values, &read.priced_by);
        let job = &mut self.all[place];
        let key = bits(&read.values);
        let Some(&known) = job.places.get(&key) else {
            job.places.insert(key, job.configurations.len());
            job.configurations.push(Configuration {
                values: read.values,
                vms: read.vms,
                runs: vec![(read.run, read.bill)],
                repeats: read.repeat.into_iter().collect(),
                first: read.span,
            });
            return;
        };
        let before = &mut job.configurations[known];
        let title = match (&read.repeat, self.spec.repeats) {
            (Some(repeat), _) if before.repeats.contains(repeat) => Some(format!(
                "repeat `{repeat}` of this configuration stands twice"
            )),
            (None, false) => Some("this configuration was run before".to_owned()),
            _ => None,
        };
        if let Some(title) = title {
            let text = &self.source.text[..before.first.start];
            let label = format!("as in line {}", 1 + text.matches('\n').count());
            let help = "`repeats = true` keeps all runs of a configuration; `repeat = \"COLUMN\"` names what tells them apart";
            let told = Diagnostic::at(self.source, read.span, title, label);
            diagnostics.push(told.with_help(help));
        }
        before.repeats.extend(read.repeat);
        before.runs.push((read.run, read.bill));
    }

    /// The jobs, whose axes have these `levels`.
    pub fn done(self, levels: &[Vec<Arc<str>>], diagnostics: &mut Diagnostics) -> Vec<Job> {
        let axes: Vec<Axis> = (self.spec.axes.iter().zip(levels))
            .map(|(axis, levels)| {
                let levels = levels.clone();
                let kind = match &axis.kind {
                    KindSpec::Categorical => AxisKind::Categorical { levels },
                    KindSpec::Ordinal(_) => AxisKind::Ordinal { levels },
                    KindSpec::Numeric { unit, .. } => AxisKind::Numeric { unit: unit.clone() },
                };
                let name = axis.name.as_str().into();
                Axis { name, kind }
            })
            .collect();
        let rule = self.spec.cost.as_ref().map(|cost| {
            let is_time: Vec<bool> = (cost.bound.meanings.iter())
                .map(|meaning| *meaning == Meaning::Time)
                .collect();
            Arc::new(Rule {
                expression: cost.bound.expression.clone(),
                is_known_beforehand: cost.is_timed() && self.follows.unknown().next().is_none(),
                is_time,
            })
        });
        let done = self.all.into_iter().filter_map(|job| {
            let rows = job.configurations.iter().map(|at| &at.values);
            match Space::new(axes.clone(), rows) {
                Ok(space) => Some(job.done(space, rule.clone())),
                Err(wrong) => {
                    let title = format!("{}: {wrong}", self.source.name);
                    diagnostics.push(Diagnostic::general(title));
                    None
                }
            }
        });
        done.collect()
    }
}

impl Growing {
    fn done(self, space: Space, rule: Option<Arc<Rule>>) -> Job {
        let (mut runs, mut bills, mut first) = (Vec::new(), Vec::new(), vec![0]);
        let vms = self.configurations.iter().filter_map(|at| at.vms).collect();
        for at in self.configurations {
            for (run, bill) in at.runs {
                runs.push(run);
                bills.extend(bill);
            }
            first.push(runs.len());
        }
        Job {
            name: self.name,
            program: None,
            space,
            runs,
            first,
            bills,
            rule,
            vms,
            places: self.places,
        }
    }
}
