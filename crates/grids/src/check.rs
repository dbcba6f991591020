use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::meaning::Bound;
use super::meaning::{Lookup, RunMetrics, TIME, TargetRule};
use super::scope::{Scope, listed};
use super::written_grid::{
    Text, WrittenAxis, WrittenGrid, WrittenLookup, WrittenMetrics, WrittenTarget,
};
use super::{About, Charge, ProbeCharge};
use scavsim_data::space;
use scavsim_read::input::name::not_a_name;
use scavsim_read::input::{Diagnostic, Diagnostics, Source, Spanned, did_you_mean};

pub(super) struct Check<'a> {
    pub source: &'a Arc<Source>,
    pub table: &'a str,
    pub columns: &'a [String],
    pub diagnostics: &'a mut Diagnostics,
}

impl Check<'_> {
    pub fn wrong(&mut self, span: Range<usize>, title: String, label: &str, help: &str) {
        let told = Diagnostic::at_span(self.source, span, title, label);
        self.diagnostics.push(told.with_help(help));
    }

    pub fn missing(&mut self, key: &str, help: &str) {
        if !scavsim_read::input::toml::is_written(self.source, key) {
            let title = format!("`{key}` is missing");
            self.wrong(0..0, title, "not in this file", help);
        }
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

    pub fn about(&mut self, written: &WrittenGrid) -> (String, About) {
        let name = self.text("name", &written.name, "the name under which it is listed");
        let why = (!name.is_empty()).then(|| not_a_name(&name)).flatten();
        if let (Some(written), Some(why)) = (&written.name, why) {
            self.diagnostics
                .error_at(self.source, written.span(), "`name` is no name", why);
        }
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

    pub fn column(&mut self, name: &Text) -> Option<String> {
        self.column_at(name.get_ref(), name.span())
    }

    pub fn column_at(&mut self, word: &str, span: Range<usize>) -> Option<String> {
        if self.columns.iter().any(|column| column == word) {
            return Some(word.to_owned());
        }
        let all = || self.columns.iter().map(String::as_str);
        let label = did_you_mean(word, all(), "no such column");
        let help = format!("its columns: {}", listed(all()));
        let title = format!("{} has no column `{word}`", self.table);
        self.wrong(span, title, &label, &help);
        None
    }

    pub fn optional_column(&mut self, name: &Option<Text>) -> Option<String> {
        name.as_ref().and_then(|name| self.column(name))
    }

    pub fn lookups(
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

    pub fn figures(&mut self, written: &WrittenMetrics, scope: &Scope<'_>) -> Option<RunMetrics> {
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
        Some(RunMetrics {
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

    pub fn target(
        &mut self,
        written: Option<&Spanned<WrittenTarget>>,
        figures: &WrittenMetrics,
    ) -> TargetRule {
        let Some(written) = written else {
            return TargetRule::Completed;
        };
        let span = written.span();
        let target = match written.get_ref() {
            WrittenTarget {
                at_least: Some(least),
                at_most: None,
                column: None,
            } => TargetRule::AtLeast(*least),
            WrittenTarget {
                at_least: None,
                at_most: Some(most),
                column: None,
            } => TargetRule::AtMost(*most),
            WrittenTarget {
                at_least: None,
                at_most: None,
                column: Some(column),
            } => {
                return match self.column(column) {
                    Some(column) => TargetRule::Column(column),
                    None => TargetRule::Completed,
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
                return TargetRule::Completed;
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
        if let TargetRule::AtLeast(bound) | TargetRule::AtMost(bound) = target
            && !bound.is_finite()
        {
            let title = format!("a target of {bound} is out of range");
            self.wrong(
                written.span(),
                title,
                "no finite number",
                "expected a number",
            );
        }
        target
    }

    /// A rule of costs with a name that is both the time and a column that is not the time.
    pub fn one_time(&mut self, rule: &Bound, column: Option<&str>) {
        let has = self.columns.iter().any(|column| column == TIME);
        let named = rule
            .expression
            .names()
            .iter()
            .find(|(name, _)| name == TIME);
        if let Some((_, span)) = named.filter(|_| has && column != Some(TIME)) {
            let title = format!("`cost_usd`: `{TIME}` is both a column and the time of the run");
            let help = format!("give that column of {} another name", self.table);
            self.wrong(span.clone(), title, "one of two things", &help);
        }
    }

    pub fn vms(&mut self, text: &Text, scope: &Scope<'_>) -> Option<Bound> {
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

    pub fn some_price(&mut self, written: &WrittenGrid) {
        if written.cost_usd.is_none() && written.vms.is_none() {
            let help = "a rule such as `cost_usd = \"time_s / 3600 * price * workers\"`, or `vms = \"workers\"` for a pricing policy";
            self.missing("cost_usd", help);
        }
    }

    pub fn probe(&mut self, written: &WrittenGrid) -> ProbeCharge {
        let charge = written.probe.charge.as_ref();
        let figures = &written.figures;
        let has_split = figures.compute_s.is_some() && figures.communication_s.is_some();
        if let Some(charge) = charge
            && *charge.get_ref() == Charge::Steps
            && !(figures.step_s.is_some() || figures.steps.is_some() || has_split)
        {
            let help = "`step_s` in `[figures]`, or `steps`, or `compute_s` and `communication_s`";
            let title = "a probe cannot be charged by steps".to_owned();
            self.wrong(charge.span(), title, "no step time is known", help);
        }
        ProbeCharge {
            charge: charge.map_or(Charge::Whole, |charge| *charge.get_ref()),
            cut_off: written.probe.cut_off,
        }
    }

    pub fn default_jobs(&mut self, written: &WrittenGrid) -> Vec<Text> {
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
