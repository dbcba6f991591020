//! A scenario of a paper, read with what the paper sets beside it.

use std::path::Path;
use std::sync::Arc;

use super::form::ScenarioForm;
use crate::functions::scenarios::Variants;
use crate::input::{Diagnostics, Source};
use crate::scenario::{self, Overrides};

/// Reads the scenario in `text`, once for each line of `each` in `form`, with the keys that it sets, all of which are of
/// `source`.
pub(super) fn read(
    text: &Arc<Source>,
    folder: &Path,
    form: &ScenarioForm,
    source: &Arc<Source>,
    diagnostics: &mut Diagnostics,
) -> Option<Variants> {
    let line = |line: &toml::Spanned<String>| {
        let name = format!("{}: `{}`", source.name, line.get_ref());
        Source::new(name, line.get_ref().clone())
    };
    let set: Vec<Arc<Source>> = form.set.iter().map(line).collect();
    let each: Vec<Option<&toml::Spanned<String>>> = match &form.each[..] {
        [] => vec![None],
        all => all.iter().map(Some).collect(),
    };
    let mut variants = Vec::new();
    for own in each {
        let overrides = Overrides {
            set: set.iter().cloned().chain(own.map(line)).collect(),
            ..Overrides::default()
        };
        let scenario = scenario::load(text, folder, overrides, diagnostics)?;
        let name = own.map_or("", |own| own.get_ref().as_str());
        variants.push((Arc::from(name), scenario));
    }
    Some(Variants(variants))
}
