use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use super::cheap::CheapRuns;
use super::follows::Follows;
use super::meaning::KindSpec;
use super::meaning::Meaning;
use super::rows::ReadRow;
use super::spec::Spec;
use super::{Bill, Job, Rule, Run, bits};
use scavsim_data::space::{Axis, AxisKind, Space};
use scavsim_read::input::{Diagnostic, Diagnostics, Source};
use scavsim_search::search::Goal;

pub(super) struct Jobs<'a> {
    spec: &'a Spec,
    source: &'a Arc<Source>,
    all: Vec<JobBuilder>,
    by_name: HashMap<String, usize>,
    pub follows: Follows,
}

struct JobBuilder {
    name: String,
    /// Cheap versions of it, by the bits of their shares.
    cheap: BTreeMap<u64, JobBuilder>,
    places: HashMap<Vec<u64>, usize>,
    configurations: Vec<Configuration>,
}

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

    pub fn add(&mut self, read: ReadRow, diagnostics: &mut Diagnostics) {
        let name = read.job.unwrap_or_else(|| self.spec.name.clone());
        let place = *self.by_name.entry(name).or_insert_with_key(|name| {
            self.all.push(JobBuilder::new(name));
            self.all.len() - 1
        });
        self.follows.learn(place, &read.values, &read.priced_by);
        let mut job = &mut self.all[place];
        if let Some(share) = read.share {
            let cheap = job.cheap.entry(share.to_bits());
            job = cheap.or_insert_with(|| JobBuilder::new(&job.name));
        }
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
                "repeat `{repeat}` of this configuration appears twice"
            )),
            (None, false) => Some("this configuration was run before".to_owned()),
            _ => None,
        };
        if let Some(title) = title {
            let text = &self.source.text[..before.first.start];
            let label = format!("as in line {}", 1 + text.matches('\n').count());
            let help = "`repeats = true` keeps all runs of a configuration; `repeat = \"COLUMN\"` names what tells them apart";
            let told = Diagnostic::at_span(self.source, read.span, title, label);
            diagnostics.push(told.with_help(help));
        }
        before.repeats.extend(read.repeat);
        before.runs.push((read.run, read.bill));
    }

    /// The jobs, whose axes have these `levels`. Rows of cheap runs that stand for nothing go to `stray`.
    pub fn done(
        self,
        levels: &[Vec<Arc<str>>],
        stray: &mut Vec<Range<usize>>,
        diagnostics: &mut Diagnostics,
    ) -> Vec<Job> {
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
        let goal = self.spec.target.goal();
        let is_curve = self
            .spec
            .fidelity
            .as_ref()
            .is_some_and(|spec| spec.is_curve);
        let mut without = Vec::new();
        let done = self.all.into_iter().filter_map(|mut job| {
            let (name, cheap) = (job.name.clone(), std::mem::take(&mut job.cheap));
            let first = cheap.values().flat_map(|cheap| &cheap.configurations);
            let first = first.map(|at| at.first.clone()).next();
            if let (true, Some(first)) = (job.configurations.is_empty(), first) {
                without.push((name, first));
                return None;
            }
            let mut whole = job.done(&axes, rule.clone(), goal, self.source, diagnostics)?;
            for (bits, growing) in cheap {
                let rows = growing.configurations.iter();
                let has_none = rows.clone().filter(|at| whole.find(&at.values).is_none());
                stray.extend(has_none.map(|at| at.first.clone()));
                let spans: Vec<_> = rows.clone().map(|at| at.first.clone()).collect();
                let job = growing.done(&axes, rule.clone(), goal, self.source, diagnostics)?;
                let late = CheapRuns::late(&whole, &job, |at| &spans[at]);
                if let Some(row) = late.filter(|_| is_curve) {
                    let title = "a point on the way of a run is later than its end";
                    let label = "of the whole run with these values on all axes";
                    diagnostics.error_at(self.source, row.clone(), title, label);
                }
                let runs = CheapRuns::among(f64::from_bits(bits), job, &whole);
                whole.cheap.extend(runs);
            }
            whole.is_curve = is_curve;
            Some(whole)
        });
        let done = done.collect();
        for (name, row) in without {
            let title = format!("no run of `{name}` is a whole one");
            let label = "a cheap version, as all others of it";
            let help = "`full` in `[fidelity]` is what whole runs have";
            let told = Diagnostic::at_span(self.source, row, title, label);
            diagnostics.push(told.with_help(help));
        }
        done
    }
}

impl JobBuilder {
    fn new(name: &str) -> JobBuilder {
        JobBuilder {
            name: name.to_owned(),
            cheap: BTreeMap::new(),
            places: HashMap::new(),
            configurations: Vec::new(),
        }
    }

    fn done(
        self,
        axes: &[Axis],
        rule: Option<Arc<Rule>>,
        goal: Option<Goal>,
        source: &Source,
        diagnostics: &mut Diagnostics,
    ) -> Option<Job> {
        let rows = self.configurations.iter().map(|at| &at.values);
        let space = match Space::new(axes.to_vec(), rows) {
            Ok(space) => space,
            Err(wrong) => {
                let title = format!("{}: {wrong}", source.name);
                diagnostics.push(Diagnostic::general(title));
                return None;
            }
        };
        let (mut runs, mut bills, mut first) = (Vec::new(), Vec::new(), vec![0]);
        let vms = self.configurations.iter().filter_map(|at| at.vms).collect();
        for at in self.configurations {
            for (run, bill) in at.runs {
                runs.push(run);
                bills.extend(bill);
            }
            first.push(runs.len());
        }
        Some(Job {
            name: self.name,
            program: None,
            goal,
            cheap: Vec::new(),
            is_curve: false,
            space,
            runs,
            first,
            bills,
            rule,
            vms,
            places: self.places,
        })
    }
}
