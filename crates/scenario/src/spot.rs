//! VMs that the provider may preempt.

use std::ops::Range;
use std::sync::Arc;

use super::complaints::Complaints;
use super::failures_table::CheckpointChoice;
use super::file::{KindTable, RentedOn, ScenarioFile, SpotTable};
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};
use scavsim_data::cloud::Market;
use scavsim_data::cloud::delays::{CheckpointWrite, Restart, Startup};
use scavsim_data::cloud::lifetimes::{Exponential, Kind, Lifetime, Model};
use scavsim_read::input::checked::Delay;
use scavsim_read::input::{Spanned, listed};
use scavsim_sim::cluster::Checkpoints;
use scavsim_sim::cluster::checkpoint::{Periodic, Policy};
use scavsim_sim::cluster::{Losses, Pause, RecoveryTerms, Spot, Write};

const MOST_NAMED: usize = 6;

/// Models of VMs that are lost one by one, the most similar to `name` first.
pub(super) fn lost_alone(name: &str) -> String {
    let models = Model::embedded().0;
    let alone = models.iter().filter(|m| matches!(m.kind, Kind::Alone(_)));
    let mut names: Vec<&str> = alone.map(|model| model.name.as_str()).collect();
    let alike = |own: &str| {
        own.chars()
            .zip(name.chars())
            .take_while(|(a, b)| a == b)
            .count()
    };
    names.sort_by_key(|own| std::cmp::Reverse(alike(own)));
    let more = names.len().saturating_sub(MOST_NAMED);
    let named = listed(names.into_iter().take(MOST_NAMED));
    format!(
        "{named} and {more} more: those that `scavsim list lifetimes` shows as neither `batch` nor `trace`"
    )
}

pub(super) fn read(file: &ScenarioFile, complaints: &mut Complaints<'_>) -> Option<Arc<Spot>> {
    let table = file.spot.as_ref()?;
    let terms = SpotTerms {
        table: table.get_ref(),
        span: table.span(),
        of_kinds: life_of_kinds(file),
    };
    let found = terms.losses(complaints);
    let start_up = terms.start_up(complaints);
    let (cold_join, restart) = terms.joins(complaints);
    let checkpoints = checkpoints(terms.table.checkpoint);
    let write = terms.write(complaints);
    let (losses, model_notice_s) = found?;
    if checkpoints == Checkpoints::Dynamic && losses.lifetime().is_none() {
        complaints.error_at(
            terms.span,
            "`checkpoint = \"dynamic\"` needs VMs that are lost each by itself, by their age",
            "these are lost together, at random times",
        );
        return None;
    }
    let table = terms.table;
    let notice = match table.notice_s {
        Some(given) => SimTime::from_seconds(given.get()),
        None => SimTime::from_seconds(model_notice_s as f64),
    };
    Some(Arc::new(Spot {
        losses,
        start_up,
        recovery: RecoveryTerms {
            replacement: fixed(&table.replacement_s)
                .or(start_up)
                .or(file.cluster.start_up_s.map(pause))
                .unwrap_or(Pause::NONE),
            restart,
            keeps: table.keeps,
            checkpoints,
            write,
        },
        cold_join: cold_join.unwrap_or(Pause::NONE),
        on_loss: table.on_loss,
        chief: table.chief,
        fewest_workers: table.fewest_workers.map_or(1, |k| k.get()),
        notice: table.checkpoint_on_notice.then_some(notice),
    }))
}

fn pause(seconds: Delay) -> Pause {
    Pause::Fixed(SimTime::from_seconds(seconds.get()))
}

fn fixed(given: &Option<Spanned<Delay>>) -> Option<Pause> {
    given.as_ref().map(|s| pause(*s.get_ref()))
}

/// Losses of VMs by a model, and the notice in seconds.
pub(super) fn lifetime(
    name: &Spanned<String>,
    complaints: &mut Complaints<'_>,
) -> Option<(Losses, u64)> {
    let models = Model::embedded().0;
    let Some(model) = models.iter().find(|m| m.name == *name.get_ref()) else {
        let names: Vec<&str> = models.iter().map(|m| m.name.as_str()).collect();
        let title = format!("unknown lifetime `{}`", name.get_ref());
        complaints.unknown(title, name, &names, "list lifetimes");
        return None;
    };
    let losses = match &model.kind {
        Kind::Alone(lifetime) => Losses::Alone(lifetime.clone()),
        Kind::Batch(batch) => Losses::Batch(batch.clone()),
        Kind::Trace(trace) => Losses::Trace(trace.clone()),
    };
    Some((losses, model.notice_s))
}

/// Lifetime law of the first kind with spot VMs, if all clusters have such kinds.
fn life_of_kinds(file: &ScenarioFile) -> Option<&Spanned<String>> {
    let is_kind = |vm: &Spanned<String>| file.kind.contains_key(vm.get_ref().as_str());
    if !file.cluster.vm.iter().all(is_kind) {
        return None;
    }
    let kinds = file.kind.values().map(Spanned::get_ref);
    let on_spot: Vec<&KindTable> = kinds
        .filter(|kind| kind.is_rented_on(RentedOn::Spot))
        .collect();
    let lives: Option<Vec<_>> = on_spot.iter().map(|kind| kind.lifetime.as_ref()).collect();
    lives?.first().copied()
}

pub(super) fn checkpoints(choice: Option<CheckpointChoice>) -> Checkpoints {
    match choice {
        None | Some(CheckpointChoice::None) => Checkpoints::By(Policy::None),
        Some(CheckpointChoice::Young) => Checkpoints::Young,
        Some(CheckpointChoice::YoungDaly) => Checkpoints::YoungDaly,
        Some(CheckpointChoice::Searched) => Checkpoints::Searched,
        Some(CheckpointChoice::Dynamic) => Checkpoints::Dynamic,
        Some(CheckpointChoice::PeriodicS(every)) => {
            let periodic = Periodic::new(every.get() / SECONDS_PER_HOUR);
            Checkpoints::By(periodic.map_or(Policy::None, Policy::Periodic))
        }
    }
}

struct SpotTerms<'a> {
    table: &'a SpotTable,
    span: Range<usize>,
    /// If it names no lifetimes: every kind then has its own.
    of_kinds: Option<&'a Spanned<String>>,
}

impl SpotTerms<'_> {
    /// Losses of VMs, and the notice in seconds.
    fn losses(&self, complaints: &mut Complaints<'_>) -> Option<(Losses, u64)> {
        match (&self.table.lifetime, &self.table.exponential_mean_h) {
            (Some(name), None) => lifetime(name, complaints),
            (None, Some(mean_h)) => Exponential::new(mean_h.get_ref().get())
                .map(|exponential| (Losses::Alone(Lifetime::new(exponential, None)), 0)),
            (Some(_), Some(mean_h)) => {
                let why = "both say how long VMs live";
                complaints.exclude_each_other("lifetime", "exponential_mean_h", mean_h, why);
                None
            }
            (None, None) if self.of_kinds.is_some() => lifetime(self.of_kinds?, complaints),
            (None, None) => {
                // A misspelt key is reported as such.
                if !complaints.is_reported(&complaints.table_from(self.span.start)) {
                    complaints.error_at(
                        self.span.clone(),
                        "`spot` does not say how long VMs live",
                        "give `lifetime` or `exponential_mean_h`",
                    );
                }
                None
            }
        }
    }

    fn start_up(&self, complaints: &mut Complaints<'_>) -> Option<Pause> {
        let Some(name) = &self.table.start_up else {
            return fixed(&self.table.start_up_s);
        };
        let given = [
            ("replacement_s", &self.table.replacement_s),
            ("start_up_s", &self.table.start_up_s),
        ];
        for (key, given) in given {
            if let Some(given) = given {
                let why = "both say how long a VM takes to start";
                complaints.exclude_each_other("start_up", key, given, why);
            }
        }
        let all = Startup::embedded().0.iter();
        let spot: Vec<(String, Pause)> = all
            .filter(|s| s.market == Market::Spot)
            .map(|s| (s.name(), Pause::Measured(s.delay)))
            .collect();
        complaints.named(name, "start-up", &spot)
    }

    /// Times of a new VM to join, and of all to resume from a checkpoint.
    fn joins(&self, complaints: &mut Complaints<'_>) -> (Option<Pause>, Option<Pause>) {
        match self.restart(complaints) {
            Some(restart) => (
                Some(Pause::Measured(restart.cold)),
                Some(Pause::Measured(restart.warm)),
            ),
            None => (
                fixed(&self.table.cold_join_s),
                fixed(&self.table.warm_restart_s),
            ),
        }
    }

    fn restart(&self, complaints: &mut Complaints<'_>) -> Option<&'static Restart> {
        let name = self.table.restart.as_ref()?;
        let given = [
            ("cold_join_s", &self.table.cold_join_s),
            ("warm_restart_s", &self.table.warm_restart_s),
        ];
        for (key, given) in given {
            if let Some(given) = given {
                let why = "both say how long a worker takes to start";
                complaints.exclude_each_other("restart", key, given, why);
            }
        }
        let all: Vec<(String, &'static Restart)> = (Restart::embedded().0.iter())
            .map(|r| (r.name(), r))
            .collect();
        complaints.named(name, "restart", &all)
    }

    fn write(&self, complaints: &mut Complaints<'_>) -> Write {
        let given = &self.table.checkpoint_write_s;
        let seconds = given.as_ref().map_or(0.0, |s| s.get_ref().get());
        let fixed = Write::Fixed(SimTime::from_seconds(seconds));
        let Some(mb) = &self.table.checkpoint_mb else {
            return fixed;
        };
        if given.is_some() {
            let why = "both say how long a checkpoint takes to write";
            complaints.exclude_each_other("checkpoint_write_s", "checkpoint_mb", mb, why);
        }
        match CheckpointWrite::embedded().0 {
            Some(write) => Write::Measured(write, mb.get_ref().get()),
            None => fixed,
        }
    }
}
