//! Studies from Rust: read, with policies of one's own, run.

use std::path::Path;

use super::Study;
use super::check;
use super::overlap::Sample;
use super::policy_metrics::{PolicyMetrics, Sums};
use super::run::run;
use crate::policy::registry::{CLAIRVOYANT, POLICIES};
use crate::policy::{Net, Recipe};
use scavsim_read::input::name::not_a_name;
use scavsim_read::input::{Diagnostic, Diagnostics, Mistakes, Source};

/// What a policy comes to in a setting.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PolicyOutcome {
    /// Name of the policy; that of the clairvoyant comes last in each setting.
    pub policy: String,
    /// Number of the setting, in the order of tables.
    pub setting: usize,
    /// What its lives come to.
    pub figures: PolicyMetrics,
}

impl Study {
    /// Reads and checks the text of a scenario with `[policy]`.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn parse(text: &str) -> Result<Study, Mistakes> {
        Study::checked(|_| Some(Source::new("scenario", text)), Path::new("."))
    }

    /// Reads and checks a file; folders that it names are looked for beside it.
    ///
    /// # Errors
    /// All that is wrong with it, or why it cannot be read.
    pub fn open(file: impl AsRef<Path>) -> Result<Study, Mistakes> {
        let file = file.as_ref();
        let base = file.parent().unwrap_or(Path::new("."));
        Study::checked(|d| Source::read(file, d), base)
    }

    fn checked(
        read: impl FnOnce(&mut Diagnostics) -> Option<std::sync::Arc<Source>>,
        base: &Path,
    ) -> Result<Study, Mistakes> {
        let mut d = Diagnostics::default();
        let study = read(&mut d).and_then(|source| check::load(&source, base, &mut d));
        match study {
            Some(study) if d.is_empty() => Ok(study),
            _ => Err(Mistakes::new(d)),
        }
    }

    /// The study with one more policy, behind those that it has.
    ///
    /// # Errors
    /// The name is none, or taken; or the policy may be late, and being late has no price.
    pub fn with(mut self, name: &str, recipe: impl Recipe + 'static) -> Result<Study, Mistakes> {
        let mut d = Diagnostics::default();
        let mut wrong = |title: String, help: &str| {
            d.push(Diagnostic::general(title).with_help(help));
        };
        if let Some(why) = not_a_name(name) {
            wrong(format!("a policy cannot be called `{name}`"), why);
        }
        let is_known = name == CLAIRVOYANT || POLICIES.iter().any(|policy| policy.name == name);
        if is_known || self.policies.iter().any(|(known, _)| known == name) {
            wrong(
                format!("there is a policy `{name}` already"),
                "take another name",
            );
        }
        let has_price = |setting: &super::Setting| setting.job.lateness_usd_per_h.is_some();
        if recipe.policy().net() == Net::None && !self.settings.iter().all(has_price) {
            let help = "set `job.lateness_usd_per_h`; 0 where it costs nothing";
            wrong(
                format!("`{name}` may be late, and being late has no price"),
                help,
            );
        }
        if !d.is_empty() {
            return Err(Mistakes::new(d));
        }
        self.policies.push((name.to_owned(), Box::new(recipe)));
        Ok(self)
    }

    /// Runs all lives on all threads; a row per setting and policy. Results do not depend on the number of threads.
    pub fn run(&self) -> Vec<PolicyOutcome> {
        let mut rows = Vec::new();
        for (setting, one) in self.settings.iter().enumerate() {
            let names = self.policies.iter().map(|(name, _)| name.as_str());
            let mut sums = Sums::new(self.policies.len());
            for lives in one.lives.blocks() {
                sums.add(&run(self, one, lives));
            }
            let figures = sums.figures(&Sample::from_setting(one));
            rows.extend(
                names
                    .chain([CLAIRVOYANT])
                    .zip(figures)
                    .map(|(policy, figures)| PolicyOutcome {
                        policy: policy.to_owned(),
                        setting,
                        figures,
                    }),
            );
        }
        rows
    }
}
