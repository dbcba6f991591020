//! What a specification means for the columns of a table.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;

use super::scope::{Bound, Scope, listed};
use super::written::{
    AxisKind, Text, Written, WrittenAxis, WrittenFigures, WrittenLookup, WrittenTarget,
};
use super::{About, Charge, Probe};
use crate::input::{Diagnostic, Diagnostics, Source, closest};
use crate::space;

/// A checked specification.
pub(super) struct Spec {
    pub name: String,
    pub about: About,
    pub probe: Probe,
    pub job: Option<String>,
    pub default_jobs: Vec<Text>,
    pub repeats: bool,
    pub repeat: Option<String>,
    pub completed: Option<String>,
    pub derived: Option<String>,
    pub target: Target,
    pub axes: Vec<AxisSpec>,
    pub lookups: Vec<Lookup>,
    pub figures: Figures,
    pub cost: Option<Cost>,
    pub vms: Option<Bound>,
    pub keep: Vec<String>,
}

/// The rule of costs.
pub(super) struct Cost {
    pub bound: Bound,
    pub is_known_beforehand: bool,
}

/// An axis.
pub(super) struct AxisSpec {
    pub name: String,
    pub from: From,
    pub kind: KindSpec,
}

/// Where the values of an axis stand.
pub(super) enum From {
    Column(String),
    Formula(Bound),
}

/// What the values of an axis are.
pub(super) enum KindSpec {
    Categorical,
    Ordinal(Vec<Arc<str>>),
    Numeric { unit: Arc<str>, is_whole: bool },
}

/// A number for each text in a column.
pub(super) struct Lookup {
    pub name: String,
    pub by: String,
    pub values: BTreeMap<String, f64>,
}

/// When a run has reached its target.
pub(super) enum Target {
    /// When it has completed.
    Completed,
    AtLeast(f64),
    AtMost(f64),
    Column(String),
}

/// The figures of a run.
pub(super) struct Figures {
    pub time_s: Bound,
    pub quality: Option<Bound>,
    pub steps: Option<Bound>,
    pub epochs: Option<Bound>,
    pub samples_per_epoch: Option<Bound>,
    pub step_s: Option<Bound>,
    pub compute_s: Option<Bound>,
    pub communication_s: Option<Bound>,
    pub noise_normalised: Option<Bound>,
}

impl Figures {
    pub fn all(&self) -> impl Iterator<Item = &Bound> {
        let others = [
            &self.quality,
            &self.steps,
            &self.epochs,
            &self.samples_per_epoch,
            &self.step_s,
            &self.compute_s,
            &self.communication_s,
            &self.noise_normalised,
        ];
        std::iter::once(&self.time_s).chain(others.into_iter().flatten())
    }
}

impl Spec {
    /// What `written` means for a table of `columns`; every mistake goes to `diagnostics`.
    pub fn new(
        written: &Written,
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
        let axes = check.axes(&written.axis, &lookups);
        let mut scope = Scope {
            source,
            axes: &axes,
            columns,
            lookups: &lookups,
            time: &[],
        };
        let figures = check.figures(&written.figures, &scope);
        let target = check.target(written.target.as_ref(), &written.figures);
        // A bare column is another name of the time, which a bill over part of a run replaces.
        let column = figures
            .as_ref()
            .and_then(|figures| figures.time_s.as_column());
        let names = [TIME, column.unwrap_or(TIME)];
        scope.time = &names;
        let cost = written.cost_usd.as_ref().and_then(|text| {
            check.one_time(text, column);
            let bound = scope.bind("cost_usd", text, check.diagnostics)?;
            let mut all = bound.meanings.iter();
            let is_known_beforehand = all.all(|meaning| scope.is_known_beforehand(meaning));
            Some(Cost {
                bound,
                is_known_beforehand,
            })
        });
        scope.time = &[];
        let vms = written
            .vms
            .as_ref()
            .and_then(|text| check.vms(text, &scope));
        check.some_price(written);
        let probe = check.probe(written);
        let job = check.optional_column(&written.job);
        let default_jobs = check.default_jobs(written);
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
            Target::Column(column) => Some(column),
            _ => None,
        };
        let others = [&self.job, &self.repeat, &self.completed, &self.derived];
        let others = others.into_iter().flatten().chain(target);
        axes.chain(lookups).chain(others.map(String::as_str))
    }

    /// Columns that the specification has a use for.
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

/// Name of the time in the rule of costs.
const TIME: &str = "time_s";

/// Looks at a specification part by part.
struct Check<'a> {
    source: &'a Arc<Source>,
    table: &'a str,
    columns: &'a [String],
    diagnostics: &'a mut Diagnostics,
}

impl Check<'_> {
    fn wrong(&mut self, span: Range<usize>, title: String, label: &str, help: &str) {
        let told = Diagnostic::at(self.source, span, title, label);
        self.diagnostics.push(told.with_help(help));
    }

    fn missing(&mut self, key: &str, help: &str) {
        self.wrong(
            0..0,
            format!("`{key}` is missing"),
            "not in this file",
            help,
        );
    }

    fn text(&mut self, key: &str, text: &Option<Text>, help: &str) -> String {
        match text {
            None => self.missing(key, help),
            Some(text) if text.get_ref().trim().is_empty() => {
                self.wrong(
                    text.span(),
                    format!("`{key}` is empty"),
                    "expected a text",
                    help,
                );
            }
            Some(text) => return text.get_ref().clone(),
        }
        String::new()
    }

    fn about(&mut self, written: &Written) -> (String, About) {
        let name = self.text("name", &written.name, "the name under which it is listed");
        let about = About {
            title: self.text("title", &written.title, "what was measured"),
            source: self.text("source", &written.source, "who measured it"),
            url: self.text(
                "url",
                &written.url,
                "where it is, with the commit if there is one",
            ),
            licence: self.text("licence", &written.licence, "its terms of use"),
            note: self.text("note", &written.note, "what a reader must know of it"),
        };
        (name, about)
    }

    /// The column that `name` names.
    fn column(&mut self, name: &Text) -> Option<String> {
        self.column_at(name.get_ref(), name.span())
    }

    fn column_at(&mut self, word: &str, span: Range<usize>) -> Option<String> {
        if self.columns.iter().any(|column| column == word) {
            return Some(word.to_owned());
        }
        let all = || self.columns.iter().map(String::as_str);
        let label = match closest(word, all()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "no such column".to_owned(),
        };
        let help = format!("its columns: {}", listed(all()));
        let title = format!("{} has no column `{word}`", self.table);
        self.wrong(span, title, &label, &help);
        None
    }

    fn optional_column(&mut self, name: &Option<Text>) -> Option<String> {
        name.as_ref().and_then(|name| self.column(name))
    }

    fn lookups(
        &mut self,
        axes: &BTreeMap<Text, Spanned<WrittenAxis>>,
        lookups: &BTreeMap<Text, Spanned<WrittenLookup>>,
    ) -> Vec<Lookup> {
        let mut all = Vec::new();
        for (name, lookup) in lookups {
            let (span, lookup) = (lookup.span(), lookup.get_ref());
            let word = name.get_ref();
            let is_taken = word == TIME
                || self.columns.iter().any(|column| column == word)
                || axes.keys().any(|axis| axis.get_ref() == word);
            if is_taken {
                let title = format!("the lookup `{word}` has the name of something else");
                self.wrong(
                    name.span(),
                    title,
                    "a column, an axis or the time",
                    "choose another name",
                );
            }
            let Some(by) = &lookup.by else {
                let title = format!("the lookup `{word}` does not say what to look up");
                self.wrong(
                    span,
                    title,
                    "`by` is missing",
                    "`by` is an axis or a column",
                );
                continue;
            };
            // An axis stands for its column.
            let axis = axes.iter().find(|(axis, _)| axis.get_ref() == by.get_ref());
            let column = axis.and_then(|(_, axis)| axis.get_ref().column.as_ref());
            let by = match column {
                Some(column) => self
                    .columns
                    .contains(column.get_ref())
                    .then(|| column.get_ref().clone()),
                None => self.column(by),
            };
            if lookup.values.is_empty() {
                let title = format!("the lookup `{word}` has no values");
                self.wrong(
                    span,
                    title,
                    "nothing to look up",
                    "`[lookup.NAME.values]` has a number for each name",
                );
            }
            let values = lookup.values.iter();
            let wrong = values.clone().filter(|(_, number)| !number.is_finite());
            for (key, number) in wrong {
                let title = format!("`{word}` of `{}` is {number}", key.get_ref());
                self.wrong(key.span(), title, "no finite number", "expected a number");
            }
            all.extend(by.map(|by| {
                Lookup {
                    name: word.clone(),
                    by,
                    values: values
                        .map(|(key, number)| (key.get_ref().clone(), *number))
                        .collect(),
                }
            }));
        }
        all
    }

    fn axes(
        &mut self,
        written: &BTreeMap<Text, Spanned<WrittenAxis>>,
        lookups: &[Lookup],
    ) -> Vec<AxisSpec> {
        if written.is_empty() {
            self.missing(
                "axis",
                "`[axis.vm]`, `[axis.workers]`: what the configurations differ in",
            );
        }
        // A space has its axes in the order in which a person wrote them.
        let mut in_order: Vec<_> = written.iter().collect();
        in_order.sort_by_key(|(name, _)| name.span().start);
        let scope = Scope {
            source: self.source,
            axes: &[],
            columns: self.columns,
            lookups,
            time: &[],
        };
        let each = in_order.into_iter();
        each.filter_map(|(name, axis)| self.axis(name, axis, &scope))
            .collect()
    }

    fn axis(
        &mut self,
        name: &Text,
        written: &Spanned<WrittenAxis>,
        scope: &Scope<'_>,
    ) -> Option<AxisSpec> {
        let (word, axis) = (name.get_ref().as_str(), written.get_ref());
        let from = match (&axis.column, &axis.formula) {
            (Some(_), Some(formula)) => {
                let title = format!("the axis `{word}` has a column and a formula");
                self.wrong(formula.span(), title, "one of both", "remove one of them");
                None
            }
            (_, Some(formula)) => scope
                .bind("formula", formula, self.diagnostics)
                .map(From::Formula),
            (Some(column), None) => self.column(column).map(From::Column),
            (None, None) => self.column_at(word, name.span()).map(From::Column),
        };
        let kind = self.kind(name, axis);
        if let (Some(formula), Some(kind)) = (&axis.formula, &kind)
            && !matches!(kind, KindSpec::Numeric { .. })
        {
            let title = format!("the axis `{word}` holds names, which no formula gives");
            self.wrong(
                formula.span(),
                title,
                "gives numbers",
                "`kind = \"numeric\"`, or a column",
            );
        }
        Some(AxisSpec {
            name: word.to_owned(),
            from: from?,
            kind: kind?,
        })
    }

    fn kind(&mut self, name: &Text, axis: &WrittenAxis) -> Option<KindSpec> {
        let word = name.get_ref().as_str();
        let Some(kind) = &axis.kind else {
            let title = format!("the axis `{word}` has no `kind`");
            let help =
                "`kind` is `categorical`, `ordinal` (with `levels`) or `numeric` (with `unit`)";
            self.wrong(name.span(), title, "of which kind?", help);
            return None;
        };
        let counts = word == space::WORKERS || word == space::BATCH;
        let is_numeric = *kind.get_ref() == AxisKind::Numeric;
        if counts && !is_numeric || word == space::VM && is_numeric {
            let right = if counts { "numeric" } else { "categorical" };
            let title = format!("the axis `{word}` is always {right}");
            let help = format!("`kind = \"{right}\"`, or another name for this axis");
            self.wrong(kind.span(), title, "of another kind", &help);
        }
        if let (Some(unit), false) = (&axis.unit, is_numeric) {
            let title = format!("the axis `{word}` holds names, which have no unit");
            self.wrong(
                unit.span(),
                title,
                "only numbers have a unit",
                "remove it, or `kind = \"numeric\"`",
            );
        }
        if let (Some(levels), false) = (&axis.levels, *kind.get_ref() == AxisKind::Ordinal) {
            let title = format!("the axis `{word}` has levels but no order");
            self.wrong(
                levels.span(),
                title,
                "only an ordinal axis lists its levels",
                "remove it, or `kind = \"ordinal\"`",
            );
        }
        match kind.get_ref() {
            AxisKind::Categorical => Some(KindSpec::Categorical),
            AxisKind::Ordinal => self.levels(word, kind, axis).map(KindSpec::Ordinal),
            AxisKind::Numeric => {
                let unit = axis
                    .unit
                    .as_ref()
                    .filter(|unit| !unit.get_ref().trim().is_empty());
                let Some(unit) = unit else {
                    let span = axis.unit.as_ref().map_or(kind.span(), Spanned::span);
                    let title = format!("the numeric axis `{word}` has no unit");
                    self.wrong(
                        span,
                        title,
                        "`unit` is missing",
                        "`unit = \"GiB\"`, or `unit = \"1\"` for a bare number",
                    );
                    return None;
                };
                Some(KindSpec::Numeric {
                    unit: unit.get_ref().as_str().into(),
                    is_whole: counts,
                })
            }
        }
    }

    fn levels(
        &mut self,
        word: &str,
        kind: &Spanned<AxisKind>,
        axis: &WrittenAxis,
    ) -> Option<Vec<Arc<str>>> {
        let Some(levels) = axis
            .levels
            .as_ref()
            .filter(|levels| !levels.get_ref().is_empty())
        else {
            let title = format!("the ordinal axis `{word}` does not say in which order");
            self.wrong(
                kind.span(),
                title,
                "`levels` is missing",
                "`levels = [\"small\", \"large\"]`, from least to most",
            );
            return None;
        };
        let all = levels.get_ref();
        for (index, level) in all.iter().enumerate() {
            if all[..index]
                .iter()
                .any(|before| before.get_ref() == level.get_ref())
            {
                let title = format!("the level `{}` stands twice", level.get_ref());
                self.wrong(level.span(), title, "named before", "remove one of the two");
            }
        }
        Some(
            all.iter()
                .map(|level| level.get_ref().as_str().into())
                .collect(),
        )
    }

    fn figures(&mut self, written: &WrittenFigures, scope: &Scope<'_>) -> Option<Figures> {
        let mut bind = |key: &str, text: &Option<Text>| {
            (text.as_ref()).and_then(|text| scope.bind(key, text, self.diagnostics))
        };
        let time_s = bind("time_s", &written.time_s);
        let quality = bind("quality", &written.quality);
        let steps = bind("steps", &written.steps);
        let epochs = bind("epochs", &written.epochs);
        let samples_per_epoch = bind("samples_per_epoch", &written.samples_per_epoch);
        let step_s = bind("step_s", &written.step_s);
        let compute_s = bind("compute_s", &written.compute_s);
        let communication_s = bind("communication_s", &written.communication_s);
        let noise_normalised = bind("noise_normalised", &written.noise_normalised);
        if written.time_s.is_none() {
            self.missing(
                "figures.time_s",
                "the seconds of a run: a column, or `{time in h} * 3600`",
            );
        }
        Some(Figures {
            time_s: time_s?,
            quality,
            steps,
            epochs,
            samples_per_epoch,
            step_s,
            compute_s,
            communication_s,
            noise_normalised,
        })
    }

    fn target(
        &mut self,
        written: Option<&Spanned<WrittenTarget>>,
        figures: &WrittenFigures,
    ) -> Target {
        let Some(written) = written else {
            return Target::Completed;
        };
        let span = written.span();
        let target = match written.get_ref() {
            WrittenTarget {
                at_least: Some(least),
                at_most: None,
                column: None,
            } => Target::AtLeast(*least),
            WrittenTarget {
                at_least: None,
                at_most: Some(most),
                column: None,
            } => Target::AtMost(*most),
            WrittenTarget {
                at_least: None,
                at_most: None,
                column: Some(column),
            } => {
                return match self.column(column) {
                    Some(column) => Target::Column(column),
                    None => Target::Completed,
                };
            }
            _ => {
                let help = "one of `at_least` and `at_most`, about `figures.quality`, and `column` of true and false";
                self.wrong(
                    span,
                    "`target` is not one rule".to_owned(),
                    "expected one key",
                    help,
                );
                return Target::Completed;
            }
        };
        if figures.quality.is_none() {
            let help = "`quality` in `[figures]` is what the target is about";
            self.wrong(
                span,
                "a target without a quality".to_owned(),
                "of what?",
                help,
            );
        }
        if let Target::AtLeast(bound) | Target::AtMost(bound) = target
            && !bound.is_finite()
        {
            let title = format!("a target of {bound} is not possible");
            self.wrong(
                written.span(),
                title,
                "no finite number",
                "expected a number",
            );
        }
        target
    }

    /// A column that is called like the time but is not it.
    fn one_time(&mut self, rule: &Text, column: Option<&str>) {
        let has = self.columns.iter().any(|column| column == TIME);
        if has && column != Some(TIME) {
            let title =
                format!("`{TIME}` in the rule of costs is both a column and the time of the run");
            let help = format!("give that column of {} another name", self.table);
            self.wrong(rule.span(), title, "one of two things", &help);
        }
    }

    fn vms(&mut self, text: &Text, scope: &Scope<'_>) -> Option<Bound> {
        let bound = scope.bind("vms", text, self.diagnostics)?;
        for (meaning, (name, span)) in bound.meanings.iter().zip(bound.expression.names()) {
            if !scope.is_known_beforehand(meaning) {
                let title = format!("`vms`: `{name}` is no axis");
                let help = "how many VMs a configuration holds follows from its axes";
                self.wrong(span.clone(), title, "not known before the run", help);
            }
        }
        if !scope.axes.iter().any(|axis| axis.name == space::VM) {
            let help = "`[axis.vm]` says of which type the VMs are";
            self.wrong(
                text.span(),
                "`vms` without an axis `vm`".to_owned(),
                "VMs of which type?",
                help,
            );
        }
        Some(bound)
    }

    fn some_price(&mut self, written: &Written) {
        if written.cost_usd.is_none() && written.vms.is_none() {
            let help = "a rule such as `cost_usd = \"time_s / 3600 * price * workers\"`, or `vms = \"workers\"` for a pricing policy";
            self.missing("cost_usd", help);
        }
    }

    fn probe(&mut self, written: &Written) -> Probe {
        let charge = written.probe.charge.as_ref();
        let figures = &written.figures;
        let has_split = figures.compute_s.is_some() && figures.communication_s.is_some();
        if let Some(charge) = charge
            && *charge.get_ref() == Charge::Steps
            && !(figures.step_s.is_some() || has_split)
        {
            let help = "`step_s` in `[figures]`, or `compute_s` and `communication_s`";
            let title = "a probe cannot be charged by steps".to_owned();
            self.wrong(charge.span(), title, "no step time is known", help);
        }
        Probe {
            charge: charge.map_or(Charge::Whole, |charge| *charge.get_ref()),
            cut_off: written.probe.cut_off,
        }
    }

    fn default_jobs(&mut self, written: &Written) -> Vec<Text> {
        let Some(jobs) = &written.default_jobs else {
            return Vec::new();
        };
        if written.job.is_none() || jobs.get_ref().is_empty() {
            let help =
                "`job` names the column that tells the jobs apart, `default_jobs` some of them";
            self.wrong(
                jobs.span(),
                "`default_jobs` names no job".to_owned(),
                "which jobs?",
                help,
            );
        }
        jobs.get_ref().clone()
    }
}
