//! VMs that the provider may take away: names and figures → terms.

use std::sync::Arc;

use super::check::Check;
use super::file::{CheckpointChoice, ScenarioFile};
use crate::checked::NonNegative;
use crate::cloud::lifetimes::{Exponential, Kind, Lifetime, Model};
use crate::input::Diagnostic;
use crate::training::checkpoint::{Periodic, Policy};
use crate::training::{Checkpoints, Spot};
use crate::units::{SECONDS_PER_HOUR, SimTime};

impl Check<'_> {
    /// The terms of spot VMs, if the scenario has any.
    pub(super) fn spot(&mut self, file: &ScenarioFile) -> Option<Arc<Spot>> {
        let table = file.spot.as_ref()?;
        let (span, table) = (table.span(), table.get_ref());
        let lifetime = match (&table.lifetime, &table.exponential_mean_h) {
            (Some(name), None) => self.lifetime(name),
            (None, Some(mean_h)) => Exponential::new(mean_h.get_ref().get())
                .map(|exponential| Lifetime::new(exponential, None)),
            (Some(_), Some(mean_h)) => {
                self.diagnostics.error_at(
                    self.source,
                    mean_h.span(),
                    "`lifetime` and `exponential_mean_h` exclude each other",
                    "both say how long VMs live",
                );
                None
            }
            (None, None) => {
                // A misspelt key is reported as such.
                if !self.is_reported(&self.table_from(span.start)) {
                    self.diagnostics.error_at(
                        self.source,
                        span,
                        "`spot` does not say how long VMs live",
                        "give `lifetime` or `exponential_mean_h`",
                    );
                }
                None
            }
        };
        let seconds = |given: Option<NonNegative>| given.map(|s| SimTime::from_seconds(s.get()));
        let checkpoints = match table.checkpoint {
            CheckpointChoice::None => Checkpoints::By(Policy::None),
            CheckpointChoice::YoungDaly => Checkpoints::YoungDaly,
            CheckpointChoice::PeriodicS(every) => Periodic::new(every.get() / SECONDS_PER_HOUR)
                .map_or(Checkpoints::By(Policy::None), |p| {
                    Checkpoints::By(Policy::Periodic(p))
                }),
        };
        Some(Arc::new(Spot {
            lifetime: lifetime?,
            replacement: seconds(table.replacement_s)
                .or(seconds(file.cluster.start_up_s))
                .unwrap_or(SimTime::ZERO),
            keeps: table.keeps,
            checkpoints,
            write: seconds(table.checkpoint_write_s).unwrap_or(SimTime::ZERO),
        }))
    }

    fn lifetime(&mut self, name: &toml::Spanned<String>) -> Option<Lifetime> {
        let models = Model::embedded().0;
        let alone = models.iter().filter(|m| matches!(m.kind, Kind::Alone(_)));
        match models
            .iter()
            .find(|m| m.name == *name.get_ref())
            .map(|m| &m.kind)
        {
            Some(Kind::Alone(lifetime)) => Some(lifetime.clone()),
            Some(_) => {
                self.diagnostics.push(
                    Diagnostic::at(
                        self.source,
                        name.span(),
                        format!("`{}` takes several VMs at once", name.get_ref()),
                        "jobs cannot lose VMs like that yet",
                    )
                    .with_help("expected a model in which VMs are lost each by itself"),
                );
                None
            }
            None => {
                let names: Vec<&str> = alone.map(|m| m.name.as_str()).collect();
                self.unknown(
                    format!("unknown lifetime `{}`", name.get_ref()),
                    name.span(),
                    name.get_ref(),
                    &names,
                    "list lifetimes",
                );
                None
            }
        }
    }
}
