//! A scenario of a paper, read with what the paper sets beside it.

use std::path::Path;
use std::sync::Arc;

use super::form::ScenarioForm;
use crate::functions::scenarios::{Stage, Variants};
use scavsim_lab::scenario::{self, Overrides};
use scavsim_provision::study::{Study, check};
use scavsim_read::input::checked::Count;
use scavsim_read::input::{Diagnostic, Diagnostics, Source};
use scavsim_sim::training::Fidelity;

#[derive(Debug, Clone, Copy, Default)]
pub struct Size {
    /// How finely: a paper does not say.
    pub fidelity: Fidelity,
    /// Replicas of each scenario; as many as it says when absent.
    pub replicas: Option<Count>,
}

/// Reads the scenario in `text`, once for each line of `each` in `form`, with the keys that it sets, all of which are of
/// `source`; or one with `[policy]`, as it is. A scenario that says how finely it is simulated is refused: a paper's figures hold in every fidelity, or do not
/// hold.
pub(super) fn read(
    text: &Arc<Source>,
    folder: &Path,
    form: &ScenarioForm,
    source: &Arc<Source>,
    size: Size,
    diagnostics: &mut Diagnostics,
) -> Option<Stage> {
    if !Study::is_in(text) {
        return cases(text, folder, form, source, size, diagnostics).map(Stage::Cases);
    }
    for line in form.set.iter().chain(&form.each) {
        let title = "`set` and `each` say nothing of a scenario with `[policy]`";
        let help = "a file for each, or several values of `job.deadline_h` and `job.changeover_s`";
        let wrong = Diagnostic::at_span(source, line.span(), title, "no such lines there");
        diagnostics.push(wrong.with_help(help));
    }
    let study = check::load(text, folder, diagnostics);
    study.map(|study| Stage::Lives(Box::new(study)))
}

/// Reads a scenario without policies.
fn cases(
    text: &Arc<Source>,
    folder: &Path,
    form: &ScenarioForm,
    source: &Arc<Source>,
    size: Size,
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
            replicas: size.replicas,
            ..Overrides::default()
        };
        let mut scenario = scenario::load(text, folder, overrides, diagnostics)?;
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
