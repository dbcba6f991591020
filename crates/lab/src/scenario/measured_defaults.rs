//! What `[spot]` and `[failures]` leave unsaid is as it was measured: the values, and the sentence that says so.

use toml::Spanned;

use super::failures_table::Spares;
use super::file::{RentedOn, ScenarioFile};
use super::forms::NamedOr;
use scavsim_base::stats::median_of;
use scavsim_data::cloud::Market;
use scavsim_data::cloud::delays::checkpoint_write::{self, Measured};
use scavsim_data::cloud::delays::{CheckpointWrite, Restart, Startup, restart, startup};
use scavsim_read::input::checked::Delay;
use scavsim_sim::cluster::{Checkpoints, Chief, Keeps, OnLoss};
use scavsim_sim::plans::ReactionCosts;

/// Measured values in the place of keys that scenarios leave unsaid.
#[derive(Debug, Default)]
pub(super) struct MeasuredDefaults {
    /// Keys with their values, and where these are from.
    used: Vec<String>,
    /// How to say that something takes no time or is not done.
    denied: Vec<&'static str>,
}

impl MeasuredDefaults {
    /// Fills in what a file leaves unsaid of losses: nothing where nobody is lost.
    pub(super) fn fill(&mut self, file: &mut ScenarioFile) {
        let start_s = |market| {
            let all = Startup::embedded().0.iter();
            median_of(
                all.filter(|own| own.market == market)
                    .map(|own| own.delay.mean_s()),
            )
        };
        let starts = || Restart::embedded().0.iter();
        let warm_s = median_of(starts().map(|own| own.warm.mean_s()));
        let cold_s = median_of(starts().map(|own| own.cold.mean_s()));
        let (is_plan, is_bag) = (file.parallel.is_some(), file.bag.is_some());
        let loses_servers = (file.kind.values())
            .filter_map(|kind| kind.get_ref().servers.as_ref())
            .any(|servers| servers.market == RentedOn::Spot);
        let start_up_s = &mut file.cluster.start_up_s;
        if let Some(spot) = table(&mut file.spot) {
            if spot.start_up.is_none() {
                let spot_s = start_s(Market::Spot);
                self.fill_s("cluster.start_up_s", start_up_s, spot_s, startup::FILE);
            }
            // The workload says how long clusters take to go on.
            let (warm, cold) = (&mut spot.warm_restart_s, &mut spot.cold_join_s);
            match (is_plan, spot.restart.is_none()) {
                (true, true) => self.fill_s("spot.warm_restart_s", warm, warm_s, restart::FILE),
                (false, true) if !is_bag && spot.on_loss == OnLoss::GoOn => {
                    self.fill_s("spot.cold_join_s", cold, cold_s, restart::FILE);
                }
                _ => {}
            }
            let is_kept = spot.keeps == Keeps::Steps && spot.chief != Chief::GoesBack;
            if !is_bag && (!is_kept || loses_servers) {
                self.fill_checkpoint("spot.checkpoint", &mut spot.checkpoint);
            }
        }
        if let Some(failures) = table(&mut file.failures) {
            let own_s = start_s(Market::OnDemand);
            if file.spot.is_none() {
                self.fill_s("cluster.start_up_s", start_up_s, own_s, startup::FILE);
            }
            let replacement_s = &mut failures.replacement_s;
            *replacement_s = replacement_s.or(*start_up_s);
            self.fill_s(
                "failures.replacement_s",
                replacement_s,
                own_s,
                startup::FILE,
            );
            self.fill_s(
                "failures.restart_s",
                &mut failures.restart_s,
                warm_s,
                restart::FILE,
            );
            if failures.keeps == Keeps::Checkpoint {
                self.fill_checkpoint("failures.checkpoint", &mut failures.checkpoint);
            }
        }
        self.fill_write(file);
        if file.spot.is_some() || file.failures.is_some() {
            self.fill_reaction(file);
        }
    }

    /// What was filled in, in a sentence.
    pub(super) fn sentence(&self) -> Option<String> {
        let (used, denied) = (self.used.join(", "), self.denied.join(", "));
        (!used.is_empty()).then(|| format!("using {used}; say {denied}"))
    }

    /// What one checkpoint takes to write: of a plan by the part of each GPU.
    fn fill_write(&mut self, file: &mut ScenarioFile) {
        let key = match file.spot {
            Some(_) => "spot.checkpoint_write_s",
            None => "failures.checkpoint_write_s",
        };
        if let Some(line) = line_by_part(file) {
            let text = format!("{:.2} + {:.4} per MB of a GPU", line.base_s, line.per_mb_s);
            return self.add(key, &text, checkpoint_write::FILE, FOR_NONE);
        }
        let (given_s, has_speed) = (write_s(file), has_speed(file));
        if let Some(spot) = table(&mut file.spot)
            && (writes(spot.checkpoint) || spot.checkpoint_on_notice)
            && spot.checkpoint_mb.is_none()
            && !has_speed
        {
            let own_s = &mut spot.checkpoint_write_s;
            *own_s = own_s.or(given_s);
            let median_s = median_of(Measured::embedded().iter().map(|own| own.delay.mean_s()));
            self.fill_s(key, own_s, median_s, checkpoint_write::FILE);
        }
        if let Some(failures) = table(&mut file.failures) {
            failures.checkpoint_write_s = failures.checkpoint_write_s.or(given_s);
        }
    }

    /// What a reaction costs.
    fn fill_reaction(&mut self, file: &mut ScenarioFile) {
        let Some(plan) = table(&mut file.parallel) else {
            return;
        };
        let own = &mut plan.reaction;
        let reacts = (own.policy.as_ref()).is_some_and(|name| name.get_ref() != "wait");
        if reacts && own.costs.is_none() {
            own.costs = Some(Spanned::new(0..0, NamedOr::Named("parcae".to_owned())));
            let denied = "`costs = { pause_s = 0 }` for free reactions";
            self.add(
                "parallel.reaction.costs",
                "\"parcae\"",
                ReactionCosts::FILE,
                denied,
            );
        }
        if matches!(own.spares, Some(Spares::Some(_))) {
            let meets_s = Some(ReactionCosts::parcae().rendezvous_s);
            self.fill_s(
                "parallel.reaction.swap_s",
                &mut own.swap_s,
                meets_s,
                ReactionCosts::FILE,
            );
        }
    }

    fn fill_checkpoint(&mut self, key: &str, choice: &mut Option<Checkpoints>) {
        if choice.is_none() {
            *choice = Some(Checkpoints::YoungDaly);
            let denied = "`checkpoint = \"none\"` for no checkpoints";
            self.add(key, "\"young-daly\"", "Daly 2006", denied);
        }
    }

    /// Seconds of a key that has none, to the tenth that is told.
    fn fill_s(&mut self, key: &str, place: &mut Option<Delay>, s: Option<f64>, from: &str) {
        let seconds = s.map(|s| (s * 10.0).round() / 10.0);
        if let (None, Some(s), Some(delay)) = (&place, seconds, seconds.and_then(Delay::new)) {
            *place = Some(delay);
            self.add(key, &s.to_string(), from, FOR_NONE);
        }
    }

    /// A value was used, which other settings may use, too.
    fn add(&mut self, key: &str, value: &str, from: &str, denied: &'static str) {
        let used = format!("`{key} = {value}` from {from}");
        if !self.used.contains(&used) {
            self.used.push(used);
        }
        if !self.denied.contains(&denied) {
            self.denied.push(denied);
        }
    }
}

const FOR_NONE: &str = "`KEY = 0` for none";

/// What writing a checkpoint takes by the part of it that a GPU of a plan holds, where nothing else tells.
pub(super) fn line_by_part(file: &ScenarioFile) -> Option<CheckpointWrite> {
    let (spot, failures) = (file.spot.as_ref(), file.failures.as_ref());
    let is_written = spot.is_some_and(|own| writes(own.get_ref().checkpoint))
        || failures.is_some_and(|own| writes(own.get_ref().checkpoint));
    let has_size = spot.is_some_and(|own| own.get_ref().checkpoint_mb.is_some());
    let is_unsaid = write_s(file).is_none() && !has_size && !has_speed(file);
    let line = CheckpointWrite::embedded().0;
    line.filter(|_| file.parallel.is_some() && is_written && is_unsaid)
}

/// Seconds of a write that are given, for whatever is lost.
fn write_s(file: &ScenarioFile) -> Option<Delay> {
    let of_spot = file
        .spot
        .as_ref()
        .and_then(|own| own.get_ref().checkpoint_write_s);
    of_spot.or_else(|| file.failures.as_ref()?.get_ref().checkpoint_write_s)
}

fn has_speed(file: &ScenarioFile) -> bool {
    let plan = file.parallel.as_ref();
    plan.is_some_and(|plan| plan.get_ref().checkpoint_gb_per_s.is_some())
}

fn writes(choice: Option<Checkpoints>) -> bool {
    choice.unwrap_or_default() != Checkpoints::None
}

fn table<T>(place: &mut Option<Spanned<T>>) -> Option<&mut T> {
    place.as_mut().map(Spanned::get_mut)
}
