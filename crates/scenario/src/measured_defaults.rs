//! Measured values for missing keys of `[spot]` and `[failures]`, with a sentence about them.

use super::failures_table::CheckpointChoice;
use super::failures_table::Spares;
use super::file::{RentedOn, ScenarioFile};
use super::forms::NameOrTable;
use scavsim_base::stats::median_of;
use scavsim_data::cloud::Market;
use scavsim_data::cloud::delays::checkpoint_write::{self, MeasuredWrites};
use scavsim_data::cloud::delays::{CheckpointWrite, Restart, Startup, restart, startup};
use scavsim_plans::ReactionCosts;
use scavsim_read::input::Spanned;
use scavsim_read::input::checked::Delay;
use scavsim_sim::cluster::{Chief, Keeps, OnLoss};

const NO_CHECKPOINTS: &str = "`checkpoint = \"none\"` for no checkpoints";
const NO_COSTS: &str = "`costs = { pause_s = 0 }` for free reactions";

#[derive(Debug, Default)]
pub(super) struct MeasuredDefaults {
    used: Vec<String>,
    /// Keys that disable a time or an action.
    denied: Vec<&'static str>,
}

impl MeasuredDefaults {
    /// Fills in missing keys about losses, if VMs are lost.
    pub(super) fn fill(&mut self, file: &mut ScenarioFile) {
        if file.spot.is_none() && file.failures.is_none() {
            return;
        }
        self.start_up(file);
        self.restart(file);
        self.checkpoints(file);
        self.write(file);
        self.reaction(file);
    }

    pub(super) fn sentence(&self) -> Option<String> {
        let (used, denied) = (self.used.join(", "), self.denied.join(", "));
        (!used.is_empty()).then(|| format!("using {used}; say {denied}"))
    }

    /// Times until VMs run, on spot and on demand.
    fn start_up(&mut self, file: &mut ScenarioFile) {
        let median_s = |market| {
            let all = Startup::embedded().0.iter();
            let measured = all.filter(|own| own.market == market);
            median_of(measured.map(|own| own.delay.mean_s()))
        };
        let is_unsaid = file.cluster.start_up_s.is_none();
        if is_unsaid && rents_on_demand(file) {
            let measured_s = median_s(Market::OnDemand);
            file.cluster.start_up_s = self.seconds("cluster.start_up_s", measured_s, startup::FILE);
        }
        let mut on_spot_s = None;
        if let Some(spot) = table(&mut file.spot) {
            if is_unsaid && spot.start_up.is_none() && spot.start_up_s.is_none() {
                let measured_s = median_s(Market::Spot);
                let seconds = self.seconds("spot.start_up_s", measured_s, startup::FILE);
                spot.start_up_s = seconds.map(unplaced);
            }
            on_spot_s = spot.start_up_s.as_ref().map(|own| *own.get_ref());
        }
        if let Some(failures) = table(&mut file.failures)
            && failures.replacement_s.is_none()
        {
            let usual_s = on_spot_s.or(file.cluster.start_up_s);
            let measured = || {
                let key = "failures.replacement_s";
                self.seconds(key, median_s(Market::Spot), startup::FILE)
            };
            failures.replacement_s = usual_s.or_else(measured);
        }
    }

    /// Times to resume and to join. Workloads give the first for clusters; bags have neither.
    fn restart(&mut self, file: &mut ScenarioFile) {
        let all = || Restart::embedded().0.iter();
        let warm_s = median_of(all().map(|own| own.warm.mean_s()));
        let cold_s = median_of(all().map(|own| own.cold.mean_s()));
        let (is_plan, is_bag) = (file.parallel.is_some(), file.bag.is_some());
        if let Some(spot) = table(&mut file.spot)
            && spot.restart.is_none()
        {
            if is_plan && spot.warm_restart_s.is_none() {
                let seconds = self.seconds("spot.warm_restart_s", warm_s, restart::FILE);
                spot.warm_restart_s = seconds.map(unplaced);
            }
            let joins = !is_plan && !is_bag && spot.on_loss == OnLoss::GoOn;
            if joins && spot.cold_join_s.is_none() {
                let seconds = self.seconds("spot.cold_join_s", cold_s, restart::FILE);
                spot.cold_join_s = seconds.map(unplaced);
            }
        }
        if let Some(failures) = table(&mut file.failures)
            && failures.restart_s.is_none()
        {
            failures.restart_s = self.seconds("failures.restart_s", warm_s, restart::FILE);
        }
    }

    /// Checkpoints, if a loss goes back to the last one.
    fn checkpoints(&mut self, file: &mut ScenarioFile) {
        let loses_servers = (file.kind.values())
            .filter_map(|kind| kind.get_ref().servers.as_ref())
            .any(|servers| servers.market == RentedOn::Spot);
        let is_bag = file.bag.is_some();
        if let Some(spot) = table(&mut file.spot)
            && !is_bag
            && (spot.keeps == Keeps::Checkpoint || spot.chief == Chief::GoesBack || loses_servers)
        {
            self.checkpoint("spot.checkpoint", &mut spot.checkpoint);
        }
        if let Some(failures) = table(&mut file.failures)
            && failures.keeps == Keeps::Checkpoint
        {
            self.checkpoint("failures.checkpoint", &mut failures.checkpoint);
        }
    }

    fn checkpoint(&mut self, key: &str, choice: &mut Option<CheckpointChoice>) {
        if choice.is_none() {
            *choice = Some(CheckpointChoice::YoungDaly);
            self.add(key, "\"young-daly\"", "Daly 2006", NO_CHECKPOINTS);
        }
    }

    /// Time to write one: for a plan, by the part of each GPU.
    fn write(&mut self, file: &mut ScenarioFile) {
        if let Some(line) = line_by_part(file) {
            let text = format!("{:.2} + {:.4} per MB of a GPU", line.base_s, line.per_mb_s);
            for (is_written, key) in [
                (writes_on_spot(file), "spot.checkpoint_write_s"),
                (writes_at_failures(file), "failures.checkpoint_write_s"),
            ] {
                if is_written {
                    self.add(key, &text, checkpoint_write::FILE, "`KEY = 0` for none");
                }
            }
            return;
        }
        let given_s = write_s(file);
        let has_speed = speed_is_said(file);
        let is_written_on_spot = writes_on_spot(file);
        if let Some(spot) = table(&mut file.spot)
            && is_written_on_spot
            && spot.checkpoint_write_s.is_none()
            && spot.checkpoint_mb.is_none()
            && !has_speed
        {
            let median_s = median_of(
                MeasuredWrites::embedded()
                    .iter()
                    .map(|own| own.delay.mean_s()),
            );
            let measured =
                || self.seconds("spot.checkpoint_write_s", median_s, checkpoint_write::FILE);
            spot.checkpoint_write_s = given_s.or_else(measured).map(unplaced);
        }
        let sized_s = size_mb(file).and_then(|mb| Some(CheckpointWrite::embedded().0?.mean_s(mb)));
        let is_written = writes_at_failures(file) && !has_speed;
        if let Some(failures) = table(&mut file.failures)
            && failures.checkpoint_write_s.is_none()
        {
            let key = "failures.checkpoint_write_s";
            let sized_s = sized_s.filter(|_| is_written);
            failures.checkpoint_write_s =
                given_s.or_else(|| self.seconds(key, Some(sized_s?), checkpoint_write::FILE));
        }
    }

    fn reaction(&mut self, file: &mut ScenarioFile) {
        let Some(plan) = table(&mut file.parallel) else {
            return;
        };
        let own = &mut plan.reaction;
        let reacts = own
            .policy
            .as_ref()
            .is_some_and(|name| name.get_ref() != "wait");
        // A neighbour's copy also comes over a link.
        let copies = |name: &Spanned<String>| name.get_ref() == "in-memory";
        let needs_costs = reacts || own.saves.as_ref().is_some_and(copies);
        if needs_costs && own.costs.is_none() {
            own.costs = Some(unplaced(NameOrTable::Named("parcae".to_owned())));
            let key = "parallel.reaction.costs";
            self.add(key, "\"parcae\"", ReactionCosts::FILE, NO_COSTS);
        }
        if matches!(own.spares, Some(Spares::Some(_))) && own.swap_s.is_none() {
            let meets_s = Some(ReactionCosts::parcae().rendezvous_s);
            own.swap_s = self.seconds("parallel.reaction.swap_s", meets_s, ReactionCosts::FILE);
        }
    }

    /// Seconds of a key, to a tenth.
    fn seconds(&mut self, key: &str, median_s: Option<f64>, from: &str) -> Option<Delay> {
        let seconds = (median_s? * 10.0).round() / 10.0;
        self.add(key, &seconds.to_string(), from, "`KEY = 0` for none");
        Delay::new(seconds)
    }

    /// Records a value, which other settings may use, too.
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

fn rents_on_demand(file: &ScenarioFile) -> bool {
    let mut kinds = file.kind.values().map(Spanned::get_ref);
    let plan = file.parallel.iter().map(Spanned::get_ref);
    let mut markets = plan
        .flat_map(|plan| {
            let of_nodes =
                (plan.nodes.iter().flat_map(Spanned::get_ref)).map(|node| &node.get_ref().markets);
            of_nodes.chain([&plan.markets]).flatten()
        })
        .flat_map(Spanned::get_ref);
    file.spot.is_none()
        || kinds.any(|kind| kind.is_rented_on(RentedOn::OnDemand))
        || markets.any(|market| *market.get_ref() == RentedOn::OnDemand)
}

/// Time of a write by the part of a checkpoint on each GPU of a plan, unless the file gives it.
pub(super) fn line_by_part(file: &ScenarioFile) -> Option<CheckpointWrite> {
    let writes_any = writes_on_spot(file) || writes_at_failures(file);
    let is_unsaid = write_s(file).is_none() && size_mb(file).is_none() && !speed_is_said(file);
    (file.parallel.is_some() && writes_any && is_unsaid)
        .then(|| CheckpointWrite::embedded().0)
        .flatten()
}

fn write_s(file: &ScenarioFile) -> Option<Delay> {
    let of_spot = file.spot.as_ref().map(Spanned::get_ref);
    let of_failures = file.failures.as_ref().map(Spanned::get_ref);
    of_spot
        .and_then(|own| own.checkpoint_write_s.as_ref().map(|own| *own.get_ref()))
        .or(of_failures.and_then(|own| own.checkpoint_write_s))
}

fn size_mb(file: &ScenarioFile) -> Option<f64> {
    let size = file.spot.as_ref()?.get_ref().checkpoint_mb.as_ref()?;
    Some(size.get_ref().get())
}

fn speed_is_said(file: &ScenarioFile) -> bool {
    let plan = file.parallel.as_ref();
    plan.is_some_and(|plan| plan.get_ref().checkpoint_gb_per_s.is_some())
}

fn writes_on_spot(file: &ScenarioFile) -> bool {
    let spot = file.spot.as_ref().map(Spanned::get_ref);
    spot.is_some_and(|own| writes(own.checkpoint) || own.checkpoint_on_notice)
}

fn writes_at_failures(file: &ScenarioFile) -> bool {
    let failures = file.failures.as_ref().map(Spanned::get_ref);
    failures.is_some_and(|own| writes(own.checkpoint))
}

fn writes(choice: Option<CheckpointChoice>) -> bool {
    choice.is_some_and(|choice| !matches!(choice, CheckpointChoice::None))
}

fn table<T>(place: &mut Option<Spanned<T>>) -> Option<&mut T> {
    place.as_mut().map(Spanned::get_mut)
}

/// A value without a place in a file: no mistake refers to it.
fn unplaced<T>(value: T) -> Spanned<T> {
    Spanned::new(0..0, value)
}
