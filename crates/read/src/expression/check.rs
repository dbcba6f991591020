//! Reports unknown names before anything is computed, and collects the requested columns.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::aggregates::AGGREGATES;
use super::rows::table_of;
use super::tree::{Call, Expression, Node, SpannedWord, Text};
use super::world::World;
use crate::input::{Diagnostic, Diagnostics, Source, did_you_mean, listed};

/// What expressions need from the data: columns and functions for the evaluation.
#[derive(Debug, Default)]
pub struct ExpressionDependencies {
    pub columns: BTreeMap<String, BTreeSet<String>>,
    /// Functions that are neither aggregates nor plain.
    pub functions: BTreeSet<String>,
}

/// Reports unknown names in `text`, whose `parameters` are variables; adds its dependencies to `used`.
pub fn check(
    text: &Text,
    parameters: &[String],
    world: &dyn World,
    used: &mut ExpressionDependencies,
    diagnostics: &mut Diagnostics,
) {
    let variables = parameters.iter().map(String::as_str).collect();
    NameChecker {
        source: &text.source,
        world,
        variables,
        table: None,
        used,
        diagnostics,
    }
    .part(&text.root);
}

struct NameChecker<'a> {
    source: &'a Arc<Source>,
    world: &'a dyn World,
    variables: Vec<&'a str>,
    /// The table whose columns can be named, with these columns.
    table: Option<(String, Vec<String>)>,
    used: &'a mut ExpressionDependencies,
    diagnostics: &'a mut Diagnostics,
}

impl<'a> NameChecker<'a> {
    fn part(&mut self, part: &'a Expression) {
        match &part.node {
            Node::Number(_) | Node::Quoted(_) => {}
            Node::Name(name) => {
                if !self.is_known(name) {
                    self.unknown_name(name, part);
                }
            }
            Node::List(all) => all.iter().for_each(|part| self.part(part)),
            Node::Range(steps) => {
                let step = steps.step.iter();
                [&steps.from, &steps.to]
                    .into_iter()
                    .chain(step)
                    .for_each(|part| self.part(part));
            }
            Node::Negative(inner) => self.part(inner),
            Node::Chain(chain) => chain.all().for_each(|part| self.part(part)),
            Node::Compare(condition) => {
                self.part(&condition.left);
                condition.right.iter().for_each(|part| self.word(part));
            }
            Node::Call(call) => self.call(call),
        }
    }

    /// A bare name is a word here.
    fn word(&mut self, part: &'a Expression) {
        if !matches!(part.node, Node::Name(_)) {
            self.part(part);
        }
    }

    /// Whether it is a variable or a column, which is then used.
    fn is_known(&mut self, name: &str) -> bool {
        let is_variable = self.variables.contains(&name);
        let Some((table, columns)) = &self.table else {
            return is_variable;
        };
        let is_column = columns.iter().any(|column| column == name);
        if is_column {
            let used = self.used.columns.entry(table.clone()).or_default();
            used.insert(name.to_owned());
        }
        is_variable || is_column
    }

    fn unknown_name(&mut self, name: &str, part: &Expression) {
        let variables = self.variables.iter().copied();
        let (title, legal): (String, Vec<&str>) = match &self.table {
            Some((table, columns)) => (
                format!("`{table}` has no column `{name}`"),
                variables
                    .chain(columns.iter().map(String::as_str))
                    .collect(),
            ),
            None => (format!("`{name}` is nothing here"), variables.collect()),
        };
        let complaint = complaint(self.source, part.span.clone(), title, name, &legal);
        self.diagnostics.push(complaint);
    }

    fn unknown(&mut self, what: &str, word: &SpannedWord, legal: &[&str]) {
        let title = format!("unknown {what} `{}`", word.text);
        let complaint = complaint(self.source, word.span.clone(), title, &word.text, legal);
        self.diagnostics.push(complaint);
    }

    fn call(&mut self, call: &'a Call) {
        if AGGREGATES.contains(&&*call.name.text) {
            self.aggregate(call)
        } else {
            self.function(call)
        }
    }

    fn aggregate(&mut self, call: &'a Call) {
        let known = self.variables.len();
        for (name, list) in &call.loops {
            self.part(list);
            self.variables.push(&name.text);
        }
        let tables = self.world.tables();
        let name = table_of(call, &self.variables, tables.first().map(String::as_str));
        let inner = match name.map(|name| (name, self.world.columns(name))) {
            Some((name, Some(columns))) => {
                self.used.columns.entry(name.to_owned()).or_default();
                Some((name.to_owned(), columns))
            }
            Some((_, None)) => {
                if let Some(word) = &call.table {
                    let legal: Vec<&str> = tables.iter().map(String::as_str).collect();
                    self.unknown("table", word, &legal);
                }
                self.variables.truncate(known);
                return;
            }
            None => self.table.clone(),
        };
        let outer = std::mem::replace(&mut self.table, inner);
        for argument in &call.arguments {
            self.part(&argument.value);
        }
        for condition in &call.conditions {
            self.part(&condition.left);
            condition.right.iter().for_each(|part| self.word(part));
        }
        self.table = outer;
        self.variables.truncate(known);
    }

    fn function(&mut self, call: &'a Call) {
        let name = &*call.name.text;
        let defined = self.world.defined(name).map(|d| d.parameters.clone());
        let plain = super::PLAIN.iter().find(|(own, _)| *own == name);
        if plain.is_none() {
            self.used.functions.insert(name.to_owned());
        }
        let built_in = plain
            .map(|(_, p)| *p)
            .or_else(|| self.world.parameters(name));
        let owned = || built_in.map(|all| all.iter().map(|p| (*p).to_owned()).collect());
        let Some(parameters) = defined.or_else(owned) else {
            let mut legal = self.world.functions();
            legal.extend(AGGREGATES);
            legal.extend(super::PLAIN.iter().map(|(name, _)| *name));
            legal.sort_unstable();
            self.unknown("function", &call.name, &legal);
            return;
        };
        let mut given = Vec::new();
        let bare: Vec<&str> = parameters.iter().map(|p| p.trim_end_matches('?')).collect();
        for (at, argument) in call.arguments.iter().enumerate() {
            match &argument.name {
                Some(word) if !bare.contains(&&*word.text) => {
                    self.unknown(&format!("argument of `{name}`:"), word, &bare);
                }
                Some(word) => given.push(&*word.text),
                None if at >= bare.len() => {
                    let legal = listed(bare.iter().copied());
                    let title = format!("`{name}` takes {} arguments at most", bare.len());
                    let span = argument.value.span.clone();
                    let wrong = Diagnostic::at_span(self.source, span, title, "one too many");
                    self.diagnostics.push(wrong.with_help(legal));
                }
                None => given.push(bare[at]),
            }
            match &argument.value.node {
                Node::Name(name) => {
                    self.is_known(name);
                }
                _ => self.part(&argument.value),
            }
        }
        let missing: Vec<&str> = (parameters.iter())
            .filter(|p| !p.ends_with('?') && !given.contains(&p.as_str()))
            .map(String::as_str)
            .collect();
        if !missing.is_empty() {
            let title = format!("`{name}` lacks {}", listed(missing));
            let span = call.name.span.clone();
            let help = format!("its arguments: {}", listed(bare));
            let wrong = Diagnostic::at_span(self.source, span, title, "here").with_help(help);
            self.diagnostics.push(wrong);
        }
    }
}

fn complaint(
    source: &Arc<Source>,
    span: std::ops::Range<usize>,
    title: String,
    word: &str,
    legal: &[&str],
) -> Diagnostic {
    let label = did_you_mean(word, legal.iter().copied(), "not known");
    let wrong = Diagnostic::at_span(source, span, title, label);
    match legal {
        [] => wrong,
        legal => wrong.with_help(format!("allowed here: {}", listed(legal.iter().copied()))),
    }
}
