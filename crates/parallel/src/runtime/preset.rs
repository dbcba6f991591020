//! Runtimes by name: the defaults of a framework, and its constants of the law.

use std::sync::Arc;

use include_dir::{Dir, include_dir};

use super::errors::{Errors, digits};
use super::table::{GenerationTable, KnownConstant, RuntimeTable, settings};
use super::{Runtime, Shard};
use crate::law::constants::{
    COUNT, Constant, Constants, GENERATIONS, NAMES, Prior, RUNTIME_CONSTANTS,
};
use scavsim_read::input::{self, Diagnostic, Diagnostics, Source, Spanned, did_you_mean};

static EMBEDDED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../data/runtimes");

/// The default runtime.
pub const USUAL: &str = "megatron-deepspeed-2024";

/// Spread of the logarithm of a constant without a given one, for fits: a fifth.
const GIVEN_SPREAD: f64 = 0.2;

#[derive(Debug, Clone)]
pub struct RuntimePreset {
    pub name: Arc<str>,
    pub description: String,
    pub source: String,
    /// The settings; their constants are the medians.
    pub settings: Runtime,
    pub shards: Vec<Shard>,
    pub precision: String,
    pub prior: Prior,
    pub errors: Errors,
    /// The embedded runtime that gives missing values.
    pub base: Option<Arc<str>>,
    /// Hash of the table of runs to which its constants are fitted.
    pub fitted_to: Option<String>,
}

pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = (EMBEDDED.files())
        .filter(|file| file.path().extension().is_some_and(|e| e == "toml"))
        .filter_map(|file| file.path().file_stem()?.to_str())
        .collect();
    names.sort_unstable();
    names
}

/// The embedded runtime called `name`; `None` if there is none, or with `diagnostics`.
pub fn embedded(name: &str, diagnostics: &mut Diagnostics) -> Option<RuntimePreset> {
    let file = EMBEDDED.get_file(format!("{name}.toml"))?;
    let source = Source::new(format!("data/runtimes/{name}.toml"), file.contents_utf8()?);
    RuntimePreset::read(name, &source, diagnostics)
}

/// The hash with which a runtime names the table of runs that it is fitted to.
pub fn hash_of_runs(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

impl RuntimePreset {
    pub fn read(
        name: &str,
        source: &Arc<Source>,
        diagnostics: &mut Diagnostics,
    ) -> Option<RuntimePreset> {
        let before = diagnostics.len();
        let table: RuntimeTable = input::toml::read(source, diagnostics)?;
        if diagnostics.len() > before {
            return None;
        }
        let complain = |span, title: String, label: String, help: String| {
            let mistake = match span {
                Some(span) => Diagnostic::at_span(source, span, title, label),
                None => Diagnostic::at_span(source, 0..0, title, label),
            };
            diagnostics.push(mistake.with_help(help));
        };
        RuntimePreset::from_table(name, &table, complain)
    }

    /// A runtime from a table, over its base. `complain`: place, title, label, help.
    pub fn from_table(
        name: &str,
        table: &RuntimeTable,
        mut complain: impl FnMut(Option<std::ops::Range<usize>>, String, String, String),
    ) -> Option<RuntimePreset> {
        let base = match &table.base {
            Some(base) => based_on(base, &mut complain)?,
            None if name == USUAL => RuntimePreset::unknown(),
            None => embedded(USUAL, &mut Diagnostics::default())?,
        };
        let mut all_right = true;
        let mut wrong = |key: &str, found: f64, legal: &str| {
            complain(
                table.base.as_ref().map(Spanned::span),
                format!("`{key}`: {found} is out of range"),
                "out of range".to_owned(),
                format!("expected {legal}"),
            );
            all_right = false;
        };
        for (key, value) in table.figures() {
            if let Some(value) = value
                && !(0.0..=1e15).contains(&value)
            {
                wrong(key, value, "a number that is not negative");
            }
        }
        let mut prior = base.prior;
        for (n, known) in table.constants().into_iter().enumerate() {
            let Some(known) = known else { continue };
            let (value, spread) = known.pair(GIVEN_SPREAD);
            if !(0.0..=1e9).contains(&value) {
                wrong(NAMES[n], value, "a number that is not negative");
            } else if !(0.0..=10.0).contains(&spread) {
                wrong(NAMES[n], spread, "a spread from 0 to 10");
            } else {
                (prior.medians.0[n], prior.spreads[n]) = (value, spread);
            }
        }
        if prior.medians.value_of(Constant::Hiding) < 1.0 {
            wrong(
                "hiding",
                prior.medians.value_of(Constant::Hiding),
                "1 or more",
            );
        }
        for (generation, factors) in &table.generations {
            let Some(at) = GENERATIONS.iter().position(|known| known == generation) else {
                complain(
                    None,
                    format!("unknown generation of GPUs `{generation}`"),
                    "not known".to_owned(),
                    format!("allowed here: {}", GENERATIONS.join(", ")),
                );
                return None;
            };
            for (beside, factor) in [factors.matmul, factors.attention].into_iter().enumerate() {
                if let Some(factor) = factor {
                    let n = RUNTIME_CONSTANTS + 2 * at + beside;
                    (prior.medians.0[n], prior.spreads[n]) = factor.pair(GIVEN_SPREAD);
                }
            }
        }
        if !all_right {
            return None;
        }
        let errors = table.errors.clone().unwrap_or_else(|| base.errors.clone());
        Some(RuntimePreset {
            name: name.into(),
            description: (table.description.clone()).unwrap_or(base.description),
            source: table.source.clone().unwrap_or(base.source),
            settings: with_constants(settings(table, &base.settings), &prior.medians),
            shards: table.shards.clone().unwrap_or(base.shards),
            precision: table.precision.clone().unwrap_or(base.precision),
            prior,
            errors,
            base: table
                .base
                .as_ref()
                .map(|base| base.get_ref().as_str().into()),
            fitted_to: table.fitted_to.clone(),
        })
    }

    /// The runtime before it was fitted to runs whose table has this hash; unchanged if it was not.
    pub fn before(&self, hash: &str) -> RuntimePreset {
        let base = match (&self.fitted_to, &self.base) {
            (Some(fitted_to), Some(base)) if fitted_to == hash => base,
            _ => return self.clone(),
        };
        embedded(base, &mut Diagnostics::default()).unwrap_or_else(|| self.clone())
    }

    fn unknown() -> RuntimePreset {
        RuntimePreset {
            name: "".into(),
            description: String::new(),
            source: String::new(),
            settings: Runtime::default(),
            shards: Shard::ALL.to_vec(),
            precision: "bf16".to_owned(),
            prior: Prior {
                medians: Constants([1.0; COUNT]),
                spreads: [GIVEN_SPREAD; COUNT],
            },
            errors: Errors::default(),
            base: None,
            fitted_to: None,
        }
    }

    pub fn with(&self, constants: &Constants) -> Runtime {
        with_constants(self.settings.clone(), constants)
    }

    /// The text of a file: constants, errors and their source, over its base; also settings if it has none.
    pub fn text(&self) -> String {
        let base = self
            .base
            .as_ref()
            .and_then(|base| embedded(base, &mut Diagnostics::default()));
        let mut table = RuntimeTable {
            description: Some(self.description.clone()),
            source: Some(self.source.clone()),
            errors: Some(self.errors.rounded()),
            fitted_to: self.fitted_to.clone(),
            ..RuntimeTable::default()
        };
        if base.is_none() {
            table.say_settings(self.settings.clone(), &self.shards, &self.precision);
        }
        let known = |n: usize| {
            let least = f64::from(u8::from(n == Constant::Hiding as usize));
            let own = (
                digits(self.prior.medians.0[n].max(least)),
                digits(self.prior.spreads[n]),
            );
            let is_same = |base: &RuntimePreset| {
                own == (
                    digits(base.prior.medians.0[n]),
                    digits(base.prior.spreads[n]),
                )
            };
            let is_told = !base.as_ref().is_some_and(is_same);
            is_told.then_some(KnownConstant::Spread([own.0, own.1]))
        };
        for (n, constant) in table.constants_mut().into_iter().enumerate() {
            *constant = known(n);
        }
        for (at, name) in GENERATIONS.iter().enumerate() {
            let n = RUNTIME_CONSTANTS + 2 * at;
            let own = GenerationTable {
                matmul: known(n),
                attention: known(n + 1),
            };
            if own.matmul.is_some() || own.attention.is_some() {
                table.generations.insert((*name).to_owned(), own);
            }
        }
        let base =
            (self.base.as_ref()).map_or_else(String::new, |base| format!("base = \"{base}\"\n"));
        base + &toml::to_string(&table).expect("numbers, words and tables")
    }
}

fn based_on(
    base: &Spanned<String>,
    complain: &mut impl FnMut(Option<std::ops::Range<usize>>, String, String, String),
) -> Option<RuntimePreset> {
    let found = embedded(base.get_ref(), &mut Diagnostics::default());
    if found.is_none() {
        let known = names();
        let label = did_you_mean(base.get_ref(), known.iter().copied(), "not known");
        complain(
            Some(base.span()),
            format!("unknown runtime `{}`", base.get_ref()),
            label,
            format!("allowed here: {}", known.join(", ")),
        );
    }
    found
}

/// Settings with the constants that they contain.
pub fn with_constants(settings: Runtime, constants: &Constants) -> Runtime {
    Runtime {
        message_s: constants.value_of(Constant::MessageS),
        step_s: constants.value_of(Constant::StepS),
        gather: constants.value_of(Constant::Gather),
        hiding: constants.value_of(Constant::Hiding).max(1.0),
        ..settings
    }
}
