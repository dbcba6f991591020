//! The names that expressions of a paper can use.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::evidence::Evidence;
use super::expectations::Expectation;
use crate::functions::scenarios::{self, Variants};
use crate::functions::{FileInputs, Function, NoValue};
use scavsim_read::expression::{
    self, Arguments, Cell, ColumnTable, Definition, ExpressionDependencies, Refusal, Value, World,
};
use scavsim_read::input::{Diagnostic, Diagnostics, csv};
use scavsim_search::search::{Objective, Point, objective};

/// The table of the paper's figures and ours, as far as known.
pub(super) const FIGURES: &str = "figures";
const OF_FIGURES: [&str; 7] = [
    "quantity",
    "of",
    "kind",
    "evidence",
    "value",
    "ours",
    "difference",
];
/// The scenario of aggregates that name no table.
const MAIN: &str = "main";

#[derive(Debug, Default)]
pub struct Names {
    pub(super) given: FileInputs,
    pub(super) stages: BTreeMap<String, Variants>,
    pub(super) defined: BTreeMap<String, Definition>,
    /// Columns that expressions use, by table: all others of records are dropped.
    used: BTreeMap<String, BTreeSet<String>>,
    /// Rows of scenarios that were computed.
    known: RefCell<BTreeMap<String, Rc<ColumnTable>>>,
}

/// A CSV file as a table: cells that are numbers, and words.
pub(super) fn table(file: &csv::Table) -> Rc<ColumnTable> {
    let names: Vec<&str> = file.columns().collect();
    let mut table = ColumnTable::new(names.iter().copied());
    for row in file.rows() {
        let cell = |column: &&str| match row.optional_text(column) {
            None => Cell::Empty,
            Some(text) => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Cell::Number(number),
                _ => Cell::Text(text.into()),
            },
        };
        table.push(names.iter().map(cell));
    }
    Rc::new(table)
}

impl Names {
    /// Reports all unknown names in the expressions of a paper.
    pub(super) fn check(&mut self, expectations: &[Expectation], diagnostics: &mut Diagnostics) {
        let mut used = ExpressionDependencies::default();
        for Definition { parameters, body } in self.defined.values() {
            expression::check(body, parameters, self, &mut used, diagnostics);
        }
        for row in expectations {
            let open = row.readings.values.iter().chain(&row.interval);
            for text in [&row.ours].into_iter().chain(open) {
                expression::check(text, &[], self, &mut used, diagnostics);
            }
        }
        self.used = used.columns;
        if !diagnostics.is_empty() {
            return;
        }
        for row in expectations {
            let title = match (row.evidence, self.calls_model(row)) {
                (Evidence::Prediction, false) => "a prediction that calls nothing of the model",
                (Evidence::Data, true) => "`data` that call the model",
                _ => continue,
            };
            let wrong = Diagnostic::at_span(&row.ours.source, row.place.clone(), title, "here");
            diagnostics.push(wrong.with_help("`scavsim explain data` says what is of which class"));
        }
    }

    /// Whether an expression uses the paper's own figures.
    pub(super) fn asks_for_figures(&self, row: &Expectation) -> bool {
        self.used_by(row).columns.contains_key(FIGURES)
    }

    /// Whether the expression of a row calls a function of the model or reads computed data of a scenario.
    fn calls_model(&self, row: &Expectation) -> bool {
        let used = self.used_by(row);
        let is_data = |name: &String| Function::all().any(|own| own.name == *name && own.is_data);
        let mut functions = used.functions.iter();
        let mut tables = used.columns.keys();
        functions.any(|name| !self.defined.contains_key(name) && !is_data(name))
            || tables
                .any(|name| !self.given.tables.contains_key(name) && !name.ends_with(".history"))
    }

    /// The dependencies of a row's expression, also through functions of the paper.
    fn used_by(&self, row: &Expectation) -> ExpressionDependencies {
        let (mut used, mut followed) = (ExpressionDependencies::default(), BTreeSet::new());
        let silent = &mut Diagnostics::default();
        expression::check(&row.ours, &[], self, &mut used, silent);
        while let Some(name) = used.functions.difference(&followed).next().cloned() {
            if let Some(Definition { parameters, body }) = self.defined.get(&name) {
                expression::check(body, parameters, self, &mut used, silent);
            }
            followed.insert(name);
        }
        used
    }

    pub(super) fn tell_figures(&self, rows: impl IntoIterator<Item = [Cell; 7]>) {
        let mut table = ColumnTable::new(OF_FIGURES);
        rows.into_iter().for_each(|row| table.push(row));
        let mut known = self.known.borrow_mut();
        known.insert(FIGURES.to_owned(), Rc::new(table));
    }

    /// The scenario of `name`, `SCENARIO` or `SCENARIO.KIND`, and the kind of its rows.
    fn stage<'n>(&self, name: &'n str) -> Option<(&Variants, &'n str)> {
        let (scenario, kind) = name.rsplit_once('.').unwrap_or((name, scenarios::RECORDS));
        Some((self.stages.get(scenario)?, kind))
    }
}

impl World for Names {
    fn parameters(&self, function: &str) -> Option<&'static [&'static str]> {
        let of_runs = scenarios::FUNCTIONS.iter();
        let mut all = (of_runs.map(|(name, parameters, _)| (*name, *parameters)))
            .chain(Function::all().map(|own| (own.name, own.parameters)));
        Some(all.find(|(name, _)| *name == function)?.1)
    }

    fn functions(&self) -> Vec<&str> {
        let defined = self.defined.keys().map(String::as_str);
        let stages = scenarios::FUNCTIONS.iter().map(|(name, ..)| *name);
        (Function::all().map(|own| own.name))
            .chain(stages)
            .chain(defined)
            .collect()
    }

    fn call(&self, function: &str, arguments: &Arguments<'_>) -> Result<Value, Refusal> {
        if scenarios::FUNCTIONS
            .iter()
            .any(|(name, ..)| *name == function)
        {
            let scenario = arguments.optional_text("scenario")?.unwrap_or(MAIN);
            let stage = self.stages.get(scenario);
            let stage = stage.ok_or_else(|| NoValue::unknown("scenario", scenario, []))?;
            return Ok(Value::Number(stage.after_loss(function, arguments)?));
        }
        let model = Function::all().find(|own| own.name == function);
        let model = model.ok_or(NoValue::NoFunction)?;
        Ok(model.value(&self.given, arguments)?)
    }

    fn knee(&self, points: &[Option<[f64; 2]>]) -> Option<usize> {
        let point = |&[time_s, cost_usd]: &[f64; 2]| Point { time_s, cost_usd };
        let points: Vec<Option<Point>> =
            (points.iter()).map(|own| own.as_ref().map(point)).collect();
        objective::choose(Objective::Knee, |_, _| true, &points, &mut Vec::new())
    }

    fn defined(&self, name: &str) -> Option<&Definition> {
        self.defined.get(name)
    }

    fn tables(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let mut all: Vec<(&String, &Variants)> = self.stages.iter().collect();
        all.sort_by_key(|(name, _)| *name != MAIN);
        names.extend(all.iter().map(|(name, _)| (*name).clone()));
        names.extend(self.given.tables.keys().cloned());
        for (name, _) in all {
            names.extend((scenarios::KINDS.iter()).map(|(kind, _)| format!("{name}.{kind}")));
        }
        names.push(FIGURES.to_owned());
        names
    }

    fn columns(&self, table: &str) -> Option<Vec<String>> {
        if let Some(own) = self.given.tables.get(table) {
            return Some(own.names().to_vec());
        }
        if table == FIGURES {
            return Some(OF_FIGURES.map(str::to_owned).to_vec());
        }
        let (stage, kind) = self.stage(table)?;
        stage.columns(kind)
    }

    fn table(&self, name: &str) -> Result<Rc<ColumnTable>, Refusal> {
        let known = || self.known.borrow().get(name).cloned();
        if let Some(own) = self.given.tables.get(name).cloned().or_else(known) {
            return Ok(own);
        }
        let (stage, kind) = self
            .stage(name)
            .ok_or_else(|| NoValue::unknown("table", name, []))?;
        let used = self.used.get(name).cloned().unwrap_or_default();
        let table = Rc::new(stage.table(kind, &used)?);
        let mut known = self.known.borrow_mut();
        known.insert(name.to_owned(), Rc::clone(&table));
        Ok(table)
    }
}
