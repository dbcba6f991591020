//! VMs that the provider may take away: names and figures → terms.

use std::sync::Arc;

use toml::Spanned;

use super::check::Check;
use super::file::{CheckpointChoice, ScenarioFile, SpotTable};
use crate::checked::NonNegative;
use crate::cloud::Market;
use crate::cloud::delays::{CheckpointWrite, Restart, Startup};
use crate::cloud::lifetimes::{Exponential, Kind, Lifetime, Model};
use crate::cluster::Checkpoints;
use crate::cluster::checkpoint::{Periodic, Policy};
use crate::cluster::{Losses, Pause, Spot, Write};
use crate::units::{SECONDS_PER_HOUR, SimTime};

impl Check<'_> {
    /// The terms of spot VMs, if the scenario has any.
    pub(super) fn spot(&mut self, file: &ScenarioFile) -> Option<Arc<Spot>> {
        let table = file.spot.as_ref()?;
        let (span, table) = (table.span(), table.get_ref());
        let found = match (&table.lifetime, &table.exponential_mean_h) {
            (Some(name), None) => self.model(name),
            (None, Some(mean_h)) => Exponential::new(mean_h.get_ref().get())
                .map(|exponential| (Losses::Alone(Lifetime::new(exponential, None)), 0)),
            (Some(_), Some(mean_h)) => {
                self.exclude(
                    "lifetime",
                    "exponential_mean_h",
                    mean_h,
                    "both say how long VMs live",
                );
                None
            }
            (None, None) => {
                // A misspelt key is reported as such.
                if !self.is_reported(&self.table_from(span.start)) {
                    self.diagnostics.error_at(
                        self.source,
                        span.clone(),
                        "`spot` does not say how long VMs live",
                        "give `lifetime` or `exponential_mean_h`",
                    );
                }
                None
            }
        };
        let seconds = |given: NonNegative| SimTime::from_seconds(given.get());
        let fixed = |given: &Option<Spanned<NonNegative>>| {
            given.as_ref().map(|s| Pause::Fixed(seconds(*s.get_ref())))
        };
        let measured_start = self.start_up(table);
        let start_up = file.cluster.start_up_s.map(|s| Pause::Fixed(seconds(s)));
        let (cold, warm) = match self.restart(table) {
            Some(restart) => (
                Some(Pause::Measured(restart.cold)),
                Some(Pause::Measured(restart.warm)),
            ),
            None => (fixed(&table.cold_join_s), fixed(&table.warm_restart_s)),
        };
        let checkpoints = match table.checkpoint {
            CheckpointChoice::None => Checkpoints::By(Policy::None),
            CheckpointChoice::YoungDaly => Checkpoints::YoungDaly,
            CheckpointChoice::Dynamic => Checkpoints::Dynamic,
            CheckpointChoice::PeriodicS(every) => Periodic::new(every.get() / SECONDS_PER_HOUR)
                .map_or(Checkpoints::By(Policy::None), |p| {
                    Checkpoints::By(Policy::Periodic(p))
                }),
        };
        let write = self.write(table);
        let (losses, model_notice_s) = found?;
        if checkpoints == Checkpoints::Dynamic && !matches!(losses, Losses::Alone(_)) {
            self.diagnostics.error_at(
                self.source,
                span,
                "`checkpoint = \"dynamic\"` needs VMs that are lost each by itself, by their age",
                "these are lost together, at random times",
            );
            return None;
        }
        let notice = match table.notice_s {
            Some(given) => seconds(given),
            None => SimTime::from_seconds(model_notice_s as f64),
        };
        Some(Arc::new(Spot {
            losses,
            replacement: measured_start
                .or(fixed(&table.replacement_s))
                .or(start_up)
                .unwrap_or(Pause::NONE),
            cold_join: cold.unwrap_or(Pause::NONE),
            warm_restart: warm,
            on_loss: table.on_loss,
            keeps: table.keeps,
            chief: table.chief,
            fewest_workers: table.fewest_workers.map_or(1, |k| k.get()),
            checkpoints,
            write,
            notice: table.checkpoint_on_notice.then_some(notice),
        }))
    }

    fn exclude<T>(&mut self, one: &str, other: &str, place: &Spanned<T>, why: &str) {
        self.diagnostics.error_at(
            self.source,
            place.span(),
            format!("`{one}` and `{other}` exclude each other"),
            why,
        );
    }

    /// The start-up that was measured, if it is asked for.
    fn start_up(&mut self, table: &SpotTable) -> Option<Pause> {
        let name = table.start_up.as_ref()?;
        if let Some(given) = &table.replacement_s {
            self.exclude(
                "start_up",
                "replacement_s",
                given,
                "both say how long a VM takes to start",
            );
        }
        let all = Startup::embedded().0.iter();
        let spot: Vec<(String, Pause)> = all
            .filter(|s| s.market == Market::Spot)
            .map(|s| (s.name(), Pause::Measured(s.delay)))
            .collect();
        self.named(name, "start-up", &spot)
    }

    /// The restart that was measured, if it is asked for.
    fn restart(&mut self, table: &SpotTable) -> Option<&'static Restart> {
        let name = table.restart.as_ref()?;
        let given = [
            ("cold_join_s", &table.cold_join_s),
            ("warm_restart_s", &table.warm_restart_s),
        ];
        for (key, given) in given {
            if let Some(given) = given {
                self.exclude(
                    "restart",
                    key,
                    given,
                    "both say how long a worker takes to start",
                );
            }
        }
        let all: Vec<(String, &'static Restart)> = (Restart::embedded().0.iter())
            .map(|r| (r.name(), r))
            .collect();
        self.named(name, "restart", &all)
    }

    fn named<T: Copy>(
        &mut self,
        name: &Spanned<String>,
        what: &str,
        all: &[(String, T)],
    ) -> Option<T> {
        let found = all.iter().find(|(known, _)| known == name.get_ref());
        if found.is_none() {
            let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
            self.unknown(
                format!("no {what} was measured for `{}`", name.get_ref()),
                name.span(),
                name.get_ref(),
                &names,
                "list delays",
            );
        }
        found.map(|(_, found)| *found)
    }

    fn write(&mut self, table: &SpotTable) -> Write {
        let seconds = (table.checkpoint_write_s.as_ref()).map_or(0.0, |s| s.get_ref().get());
        let fixed = Write::Fixed(SimTime::from_seconds(seconds));
        let Some(mb) = &table.checkpoint_mb else {
            return fixed;
        };
        if table.checkpoint_write_s.is_some() {
            let why = "both say how long a checkpoint takes to write";
            self.exclude("checkpoint_write_s", "checkpoint_mb", mb, why);
        }
        match CheckpointWrite::embedded().0 {
            Some(write) => Write::Measured(write, mb.get_ref().get()),
            None => fixed,
        }
    }

    /// How VMs are lost, and the seconds of warning before.
    pub(super) fn model(&mut self, name: &Spanned<String>) -> Option<(Losses, u64)> {
        let models = Model::embedded().0;
        match models.iter().find(|m| m.name == *name.get_ref()) {
            Some(model) => Some((
                match &model.kind {
                    Kind::Alone(lifetime) => Losses::Alone(lifetime.clone()),
                    Kind::Batch(batch) => Losses::Batch(batch.clone()),
                    Kind::Trace(trace) => Losses::Trace(trace.clone()),
                },
                model.notice_s,
            )),
            None => {
                let names: Vec<&str> = models.iter().map(|m| m.name.as_str()).collect();
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
