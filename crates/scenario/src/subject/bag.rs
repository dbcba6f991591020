//! A bag of independent jobs: resolves `[bag]` to its terms, and the ways to run it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::ReadSubject;
use super::form::{Form, Reading};
use crate::bag_table::JobTime;
use crate::bag_table::{BagTable, GivenLosses, NoticeChoice};
use crate::complaints::Complaints;
use crate::file::ScenarioFile;
use crate::prices::{Rentals, place_in_cluster};
use crate::{setup, spot};
use scavsim_bags::subject::BagOfJobs;
use scavsim_bags::{Bag, BagChoices, BagSize, Loss, Notice, Surrogate, logged_bags};
use scavsim_base::rng::{UnitLogNormal, VmTypeKey};
use scavsim_base::units::SimTime;
use scavsim_data::cloud::lifetimes::Lifetime;
use scavsim_data::space::{Axis, Space, VM};
use scavsim_data::usage::RentedVm;
use scavsim_experiment::subject::Setting;
use scavsim_read::input::Spanned;
use scavsim_read::input::checked::{Delay, Fraction, MOST_MACHINES, Machines, Spread};
use scavsim_read::input::name::not_a_name;
use scavsim_sim::cluster::{Losses, Pause, Setup};

pub(super) const FORM: Form = Form {
    key: "bag",
    implied_by: &[],
    is_searched: true,
    reads: &[
        "bag",
        "cluster.vm",
        "cluster.start_up_s",
        "spot.lifetime",
        "spot.exponential_mean_h",
        "spot.replacement_s",
        "spot.start_up",
        "spot.start_up_s",
    ],
    why: "a bag of jobs has its own configurations",
    why_spot: "a lost job of a bag is run again, or not",
    several: &[
        "bag.jobs",
        "bag.sufficient_share",
        "bag.job_cv",
        "bag.dispatch_lag_s",
        "bag.start_stagger_s",
        "bag.keep_spares_s",
        "bag.notice.after-loss-s",
        "bag.losses.attempts",
        "bag.surrogate.after_jobs",
        "bag.surrogate.train_s",
        "bag.surrogate.result_s",
    ],
    policies: Vec::new,
};

/// Reads the bag, and how VMs are rented and lost in its first setting.
pub(super) fn read(
    reading: &Reading<'_>,
    complaints: &mut Complaints<'_>,
) -> Option<(BagOfJobs, Setup)> {
    let setup = setup::read(reading.file, &[], &[], complaints);
    let losses = table(reading.file)?.losses.as_ref();
    if let (Some(losses), Some(_)) = (losses, &setup.spot) {
        let label = "both say how VMs are lost";
        complaints.exclude_each_other("bag.losses", "spot", losses, label);
    }
    let bag = BagOfJobs {
        choices: Arc::new(choices(reading.file, complaints)?),
        terms: Vec::new(),
        losses_are_given: losses.is_some(),
    };
    Some((bag, setup))
}

fn table(file: &ScenarioFile) -> Option<&BagTable> {
    file.bag.as_ref().map(Spanned::get_ref)
}

impl ReadSubject for BagOfJobs {
    fn rentals<'s>(&'s self, _: &'s Setup) -> Rentals<'s> {
        Rentals::of_types(&self.choices.types, self.losses_are_given)
    }

    fn place_of(&self, file: &ScenarioFile, vm: &str) -> Option<Range<usize>> {
        let times = table(file)?.job_times.iter().flat_map(Spanned::get_ref);
        let time = times.into_iter().find(|time| time.get_ref().vm == vm);
        let time = time.map(|time| time.span());
        time.or_else(|| place_in_cluster(file, vm))
    }

    fn add_setting(&mut self, file: &ScenarioFile, setting: &Setting, _: &mut Complaints<'_>) {
        self.terms.extend(terms(file, &setting.setup));
    }
}

const MOST_CONFIGURATIONS: usize = 10_000;

/// Default seconds for which a VM without work is kept (HPDC 2020).
const KEEP_SPARES_S: f64 = 3600.0;

fn terms(file: &ScenarioFile, setup: &Setup) -> Option<Arc<Bag>> {
    let table = table(file)?;
    let time = |given: Option<Delay>| SimTime::from_seconds(given.map_or(0.0, Delay::get));
    let jobs = table.jobs.map_or(1, Machines::get);
    let share = table.sufficient_share.map_or(1.0, Fraction::get);
    // The tolerance keeps a whole number that a rounding error made larger.
    let needed = (share * f64::from(jobs) - 1e-9).ceil().max(1.0) as u32;
    let start_up = Pause::Fixed(time(file.cluster.start_up_s));
    let spot = setup.spot.as_ref();
    let loss = match (&table.losses, &setup.spot) {
        (Some(losses), _) => given(losses.get_ref()),
        (None, Some(spot)) => Loss::Preemption(spot.losses.clone()),
        (None, None) => Loss::Never,
    };
    Some(Arc::new(Bag {
        jobs,
        needed,
        job_time: UnitLogNormal::from_cv(table.job_cv.map_or(0.0, Spread::get)),
        dispatch_lag: time(table.dispatch_lag_s),
        start_stagger: time(table.start_stagger_s),
        rerun: table.rerun.unwrap_or(true),
        reuse: table.reuse,
        keep_spares: SimTime::from_seconds(table.keep_spares_s.map_or(KEEP_SPARES_S, Delay::get)),
        first_boot: spot.and_then(|spot| spot.start_up).unwrap_or(start_up),
        boot: spot.map_or(start_up, |spot| spot.recovery.replacement),
        notice: match &table.notice {
            NoticeChoice::AtOnce => Notice::AT_ONCE,
            NoticeChoice::Logged => logged_bags::notice(),
            NoticeChoice::AfterLossS(delay) => Notice::AfterLoss(time(Some(*delay))),
            NoticeChoice::AfterStartS(all) => {
                Notice::AfterStart(all.iter().map(|delay| delay.get()).collect())
            }
        },
        loss,
        surrogate: table.surrogate.as_ref().map(|surrogate| Surrogate {
            after_jobs: surrogate.after_jobs.get(),
            train_s: surrogate.train_s.get(),
            result_s: surrogate.result_s.get(),
        }),
    }))
}

fn given(losses: &GivenLosses) -> Loss {
    match losses {
        GivenLosses::Attempts(losses) => Loss::Attempts(*losses),
        GivenLosses::AtS(times) => {
            let mut times: Vec<f64> = times.iter().map(|time| time.get()).collect();
            times.sort_unstable_by(f64::total_cmp);
            Loss::At(times.into())
        }
    }
}

/// All ways to run the scenario's bag; `None` if there is none, or it is wrong.
fn choices(file: &ScenarioFile, complaints: &mut Complaints<'_>) -> Option<BagChoices> {
    let table = table(file)?;
    let before = complaints.count();
    let name = complaints.own_name(&table.name, "bag");
    if let NoticeChoice::AfterStartS(all) = &table.notice
        && all.is_empty()
    {
        let title = "`bag.notice`: `after-start-s` is an empty list";
        complaints.push(
            complaints
                .of_file(title)
                .with_help("give it a number of seconds"),
        );
    }
    let parallel = parallel(table, complaints);
    let lives = lives(file, table, complaints);
    let asked = table.job_times.as_ref();
    let times = asked.map_or(&[][..], |times| times.get_ref());
    if let Some(asked) = asked {
        complaints.not_empty("job_times", asked, &["{ vm, vms_per_job, mean_s }"]);
    }
    missing(file, complaints);
    let ways = times.len().saturating_mul(parallel.len());
    if ways > MOST_CONFIGURATIONS {
        let title = format!("`bag` can be run in {ways} ways; at most {MOST_CONFIGURATIONS}");
        let help = "give fewer `job_times` or `parallel_jobs`";
        let place = asked.map(Spanned::span).unwrap_or_default();
        complaints.refuse(place, title, "too many", help);
        // No way is created.
        return None;
    }
    let mut ways = Ways::default();
    for time in times {
        ways.add(file, time, &parallel, &lives, complaints);
    }
    let timed = times.iter().map(|time| &*time.get_ref().vm);
    chosen_have_times(file, timed, complaints);
    if complaints.count() > before || ways.sizes.is_empty() {
        return None;
    }
    let Ways {
        mut types,
        rows,
        sizes,
        ..
    } = ways;
    let levels: Vec<Arc<str>> = types.iter().map(|vm| Arc::clone(&vm.name)).collect();
    let axes = vec![
        Axis::categorical(VM, levels),
        Axis::numeric("vms_per_job", "VMs"),
        Axis::numeric("parallel_jobs", "jobs"),
    ];
    let head = table.head_vm.as_ref().map(|vm| {
        types.push(RentedVm {
            name: vm.as_str().into(),
            on_spot: Some(false),
        });
        (types.len() - 1) as u16
    });
    Some(BagChoices {
        name,
        space: Space::new(axes, rows).ok()?,
        sizes,
        types,
        head,
    })
}

/// Ways to run a bag, from its table.
#[derive(Default)]
struct Ways<'t> {
    seen: Vec<(&'t str, u32)>,
    types: Vec<RentedVm>,
    rows: Vec<[f64; 3]>,
    sizes: Vec<BagSize>,
}

impl<'t> Ways<'t> {
    /// Adds a line of `job_times`, with each number of parallel jobs.
    fn add(
        &mut self,
        file: &ScenarioFile,
        time: &'t Spanned<JobTime>,
        parallel: &[u32],
        lives: &BTreeMap<&str, Lifetime>,
        complaints: &mut Complaints<'_>,
    ) {
        let own = time.get_ref();
        if let Some(why) = not_a_name(&own.vm) {
            complaints.error_at(time.span(), "`vm` is no VM type", why);
            return;
        }
        let key = (own.vm.as_str(), own.vms_per_job.get());
        if self.seen.contains(&key) {
            let title = format!("`job_times` holds {} VMs of `{}` twice", key.1, key.0);
            complaints.error_at(time.span(), title, "remove one of the two");
            return;
        }
        self.seen.push(key);
        if !file.cluster.may_be_on(&own.vm) {
            return;
        }
        let known = self.types.iter().position(|known| *known.name == *own.vm);
        let vm = known.unwrap_or_else(|| {
            // Spot VMs are also such for prices; otherwise the policy gives the terms.
            let has_lifetimes = (file.bag.iter()).any(|bag| !bag.get_ref().lifetimes.is_empty());
            self.types.push(RentedVm {
                name: own.vm.as_str().into(),
                on_spot: (file.spot.is_some() || has_lifetimes).then_some(true),
            });
            self.types.len() - 1
        });
        for &parallel_jobs in parallel {
            let vms_per_job = own.vms_per_job.get();
            if u64::from(vms_per_job) * u64::from(parallel_jobs) > u64::from(MOST_MACHINES) {
                let title = format!("{parallel_jobs} jobs on {vms_per_job} VMs each are too many");
                let label = format!("at most {MOST_MACHINES} VMs together");
                complaints.error_at(time.span(), title, label);
                continue;
            }
            self.rows
                .push([vm as f64, f64::from(vms_per_job), f64::from(parallel_jobs)]);
            self.sizes.push(BagSize {
                vm: u16::try_from(vm).unwrap_or(u16::MAX),
                vms_per_job,
                parallel_jobs,
                job_s: own.mean_s.get(),
                life: lives.get(own.vm.as_str()).cloned(),
                vm_key: VmTypeKey::from_name(&own.vm),
            });
        }
    }
}

/// Required keys of a bag. An included file may lack them, so they are checked here.
fn missing(file: &ScenarioFile, complaints: &mut Complaints<'_>) {
    let Some(table) = &file.bag else { return };
    let own = table.get_ref();
    let keys = [
        ("jobs", own.jobs.is_none(), "say how many jobs there are"),
        (
            "job_times",
            own.job_times.is_none(),
            "say how long a job takes on which VMs: [{ vm = \"n1-highcpu-32\", vms_per_job = 2, mean_s = 831 }]",
        ),
    ];
    complaints.missing(table, "bag", "no bag without it", &keys);
}

fn parallel(table: &BagTable, complaints: &mut Complaints<'_>) -> Vec<u32> {
    let Some(axis) = &table.parallel_jobs else {
        return vec![1];
    };
    let values = complaints.numbers("parallel_jobs", &table.parallel_jobs);
    let values = values.unwrap_or_default();
    if values.is_empty() && !complaints.is_reported(&axis.span()) {
        let title = "`parallel_jobs` is an empty list";
        complaints.error_at(axis.span(), title, "expected at least one entry");
    }
    values
}

/// Every requested VM type needs a job time.
fn chosen_have_times<'t>(
    file: &ScenarioFile,
    timed: impl Iterator<Item = &'t str>,
    complaints: &mut Complaints<'_>,
) {
    let mut timed: Vec<&str> = timed.collect();
    timed.dedup();
    let places = (file.bag.iter()).flat_map(|bag| bag.get_ref().lifetimes.keys());
    for vm in file.cluster.vm.iter().chain(places) {
        if !timed.contains(&vm.get_ref().as_str()) {
            let title = format!("`bag.job_times` has no time of a job on `{}`", vm.get_ref());
            complaints.unknown(title, vm, &timed, "list vms");
        }
    }
}

fn lives<'t>(
    file: &ScenarioFile,
    table: &'t BagTable,
    complaints: &mut Complaints<'_>,
) -> BTreeMap<&'t str, Lifetime> {
    let mut lives = BTreeMap::new();
    if let (Some(losses), false) = (&table.losses, table.lifetimes.is_empty()) {
        let label = "both say how VMs are lost";
        complaints.exclude_each_other("bag.losses", "bag.lifetimes", losses, label);
    }
    for (vm, model) in &table.lifetimes {
        match spot::lifetime(model, complaints) {
            Some((Losses::Alone(life), _)) => {
                lives.insert(vm.get_ref().as_str(), life);
            }
            Some(_) => {
                let title = format!("`{}` takes several VMs at once", model.get_ref());
                let complaint =
                    complaints.mistake_at(model.span(), title, "not of one VM type alone");
                complaints.push(complaint.with_help("name it as `spot.lifetime`"));
            }
            None => {}
        }
    }
    // If some types have their own lifetimes, all others need those of `[spot]`.
    if !lives.is_empty() && file.spot.is_none() {
        for time in table.job_times.iter().flat_map(Spanned::get_ref) {
            let vm = time.get_ref().vm.as_str();
            if file.cluster.may_be_on(vm) && !lives.contains_key(vm) {
                let title = format!("nothing says how long VMs of the type `{vm}` live");
                let help = "give it one in `bag.lifetimes`, or all one in `spot.lifetime`";
                complaints.refuse(time.span(), title, "others have lives", help);
            }
        }
    }
    lives
}
