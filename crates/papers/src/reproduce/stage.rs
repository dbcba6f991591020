//! A scenario of a paper, read with the paper's settings.

use std::path::Path;
use std::sync::Arc;

use super::form::ScenarioForm;
use crate::functions::scenarios::Variants;
use scavsim_read::input::checked::Count;
use scavsim_read::input::{Diagnostic, Diagnostics, Source, toml};
use scavsim_scenario::Overrides;
use scavsim_sim::training::Fidelity;

#[derive(Debug, Clone, Copy, Default)]
pub struct Size {
    /// The fidelity of simulations, which a paper does not set.
    pub fidelity: Fidelity,
    /// Replicas of each scenario; the scenario's own number by default.
    pub replicas: Option<Count>,
}

/// Reads the scenario in `text`, once for each line of `each` in `form`, with the keys that it sets, all from `source`, and
/// with the changed keys. A scenario that sets its fidelity is refused: a paper's figures hold in every fidelity, or do not
/// hold.
pub(super) fn read(
    text: &Arc<Source>,
    folder: &Path,
    form: &ScenarioForm,
    source: &Arc<Source>,
    (size, changed): (Size, &[Arc<Source>]),
    diagnostics: &mut Diagnostics,
) -> Option<Variants> {
    let line = |line: &::toml::Spanned<String>| {
        let name = format!("{}: `{}`", source.name, line.get_ref());
        Source::new(name, line.get_ref().clone())
    };
    let set: Vec<Arc<Source>> = form.set.iter().map(line).collect();
    let each: Vec<Option<&::toml::Spanned<String>>> = match &form.each[..] {
        [] => vec![None],
        all => all.iter().map(Some).collect(),
    };
    let is_of_policies = toml::is_written(text, "policy");
    let mut variants = Vec::new();
    for own in each {
        let overrides = Overrides {
            set: (set.iter().cloned())
                .chain(own.map(line))
                .chain(changed.iter().cloned())
                .collect(),
            // Lives of policies begin where the paper sets it.
            replicas: size.replicas.filter(|_| !is_of_policies),
            ..Overrides::default()
        };
        let mut scenario = scavsim_scenario::load(text, folder, overrides, diagnostics)?;
        if scenario.fidelity != Fidelity::default() {
            let title = format!(
                "a scenario of a paper sets `fidelity = \"{}\"`",
                scenario.fidelity.name()
            );
            let wrong = Diagnostic::at_span(source, form.file.span(), title, "this one");
            let help = "`scavsim reproduce --fidelity` runs all papers in another";
            diagnostics.push(wrong.with_help(help));
            return None;
        }
        scenario.fidelity = size.fidelity;
        let name = own.map_or("", |own| own.get_ref().as_str());
        variants.push((Arc::from(name), scenario));
    }
    Some(Variants(variants))
}
