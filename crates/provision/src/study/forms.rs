//! Checks the forms of a job: sizes, types, speeds, and zones that serve them.

use std::ops::Range;

use super::checking::Check;
use super::form::{FormTable, JobTable, StepTable};
use crate::forms::{Form, Speed};
use crate::world::Zone;
use scavsim_read::input::Spanned;
use scavsim_read::input::name::not_a_name;
use scavsim_read::input::nearest_or_all;

impl Check<'_> {
    /// Forms of `job.form`, or the one of `job.machines`.
    pub(super) fn forms(&mut self, job: &JobTable) -> Option<Vec<Form>> {
        let Some(tables) = &job.form else {
            let machines = job.machines.as_ref();
            let count = machines.map_or(1, |machines| machines.get_ref().get());
            let span = machines.map_or(0..0, Spanned::span);
            return Some(vec![Form::of_machines(self.count(
                "job.machines",
                count,
                span,
            )?)]);
        };
        if let Some(machines) = &job.machines {
            let title = "`job.machines` and `job.form` exclude each other".to_owned();
            self.wrong(machines.span(), title, "each form has its own", "");
        }
        if tables.get_ref().is_empty() {
            let title = "no form is given".to_owned();
            self.wrong(tables.span(), title, "expected at least one", "");
            return None;
        }
        let mut forms: Vec<Form> = Vec::new();
        let mut are_right = true;
        for table in tables.get_ref() {
            match self.form(table.get_ref(), table.span(), &forms) {
                Some(form) => forms.push(form),
                None => are_right = false,
            }
        }
        are_right.then_some(forms)
    }

    fn count(&mut self, key: &str, count: u32, span: Range<usize>) -> Option<u16> {
        let machines = u16::try_from(count).ok();
        if machines.is_none() {
            let title = format!("`{key}`: {count} are too many");
            self.wrong(span, title, "at most 65535", "");
        }
        machines
    }

    fn form(&mut self, table: &FormTable, at: Range<usize>, before: &[Form]) -> Option<Form> {
        let name = self.needed_at(at.clone(), "name", table.name.as_ref(), "a form says it");
        if let Some(name) = name {
            let (word, span) = (name.get_ref(), name.span());
            let is_taken = before.iter().any(|form| form.name == *word);
            let wrong = match not_a_name(word) {
                Some(why) => Some((format!("a form cannot be called `{word}`"), why)),
                None if is_taken => {
                    Some((format!("two forms are called `{word}`"), "named before"))
                }
                None => None,
            };
            if let Some((title, label)) = wrong {
                self.wrong(span, title, label, "");
                return None;
            }
        }
        let machines = self.needed_at(
            at.clone(),
            "machines",
            table.machines.as_ref(),
            "a form says it",
        );
        let machines = machines
            .and_then(|count| self.count("job.form.machines", count.get_ref().get(), count.span()));
        let speed = self.speed(table, at);
        Some(Form {
            name: name?.get_ref().clone(),
            machines: machines?,
            vm: table.vm.as_ref().map(|vm| vm.get_ref().clone()),
            speed: speed?,
        })
    }

    fn speed(&mut self, table: &FormTable, at: Range<usize>) -> Option<Speed> {
        match (&table.speed, &table.steps) {
            (Some(speed), None) => Some(Speed::constant(speed.get())),
            (None, Some(steps)) => self.steps(steps.get_ref(), steps.span()),
            (Some(_), Some(steps)) => {
                let title = "`speed` and `steps` exclude each other".to_owned();
                self.wrong(steps.span(), title, "both say how fast it is", "");
                None
            }
            (None, None) if self.is_told_in(&at) => None,
            (None, None) => {
                let why = "seconds of work per second; or `steps`, where it changes";
                self.needed_at(at, "speed", None, why)
            }
        }
    }

    fn steps(&mut self, steps: &[Spanned<StepTable>], at: Range<usize>) -> Option<Speed> {
        let mut found: Vec<(f64, f64)> = Vec::new();
        let mut are_right = true;
        for step in steps {
            let StepTable { from, speed } = step.get_ref();
            let (Some(from), Some(speed)) = (from, speed) else {
                let title = "a step has `from` and `speed`".to_owned();
                self.wrong(step.span(), title, "one of them is missing", "");
                are_right = false;
                continue;
            };
            let from = from.get();
            let last = found.last().map(|&(share, _)| share);
            let label = match last {
                None if from > 0.0 => "the first begins at 0",
                Some(last) if from <= last => "not after the one before",
                _ if from >= 1.0 => "all work is done then",
                _ => "",
            };
            if !label.is_empty() {
                let title = "the shares of `steps` ascend from 0, below 1".to_owned();
                self.wrong(step.span(), title, label, "");
                are_right = false;
            }
            found.push((from, speed.get()));
        }
        if steps.is_empty() {
            let title = "`steps` is empty".to_owned();
            self.wrong(at, title, "expected at least one", "");
            return None;
        }
        Speed::of_steps(found).filter(|_| are_right)
    }

    /// Checks types and zones of a job's forms in `market` and the zones `taken`: some zone must serve each form.
    pub(super) fn served(&mut self, job: &JobTable, market: &[Zone], taken: &[&Zone]) {
        for table in job.form.iter().flat_map(Spanned::get_ref) {
            let Some(vm) = &table.get_ref().vm else {
                continue;
            };
            let types = |zones: &mut dyn Iterator<Item = &Zone>| -> Vec<String> {
                let mut types: Vec<String> = zones.filter_map(|zone| zone.vm.clone()).collect();
                types.sort();
                types.dedup();
                types
            };
            let (word, span) = (vm.get_ref(), vm.span());
            let legal = types(&mut market.iter());
            if !legal.contains(word) {
                let help = match legal[..] {
                    [] => "the market names no types: `zones.csv` has no column `vm`".to_owned(),
                    _ => nearest_or_all(word, legal.iter().map(String::as_str)),
                };
                let title = format!("unknown VM type `{word}`");
                self.wrong(span, title, "no zone has it", &help);
            } else if !(taken.iter()).any(|zone| zone.vm.as_ref().is_none_or(|vm| vm == word)) {
                let has = types(&mut taken.iter().copied()).join(", ");
                let title = format!("no zone of `market.zones` has `{word}`");
                let help = format!("they have {has}");
                self.wrong(span, title, "no zone serves this form", &help);
            }
        }
    }
}
