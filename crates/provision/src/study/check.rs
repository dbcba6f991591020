//! A file of a study, checked: names, lengths and deadlines, with every mistake at once.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::checking::Check;
use super::form::{JobTable, StartsTable, StudyFile};
use super::market::StudyMarket;
use super::size::{MOST_BYTES, MOST_DECISIONS, MOST_HOURS, MOST_TICKS};
use super::{AvailabilitySource, Setting, Study};
use crate::forms::Form;
use crate::job::{Job, LastTick};
use crate::policy::registry::{CLAIRVOYANT, POLICIES, Settings};
use crate::policy::{Net, Recipe};
use crate::world::World;
use crate::world::process::Process;
use scavsim_base::text::words::{rough_size, with_commas};
use scavsim_base::units::SimTime;
use scavsim_read::input::checked::{Count, Delay, Interval, NonNegative};
use scavsim_read::input::{Diagnostics, Source, nearest_or_all, toml};

/// Starts in traces where a file says nothing.
const STARTS: usize = 20;
/// How many deadlines a life may take where being late has a price.
const LATEST: usize = 2;

/// Reads and checks a study; every mistake goes to `diagnostics`. Folders are looked for from `base`.
pub fn load(source: &Arc<Source>, base: &Path, diagnostics: &mut Diagnostics) -> Option<Study> {
    let before = diagnostics.len();
    let mut file: StudyFile = toml::read(source, diagnostics)?;
    for own in (file.policy.iter_mut()).flat_map(|table| table.get_mut().own.values_mut()) {
        own.folder = base.to_owned();
    }
    let mut check = Check {
        source,
        base,
        d: diagnostics,
    };
    let policies = check.policies(file.policy.as_ref().map(|table| table.get_ref()));
    let job = file.job.as_ref().map(|job| job.get_ref());
    let forms = job.map(|job| check.forms(job));
    let table = file.market.as_ref().map(|table| table.get_ref());
    let forms = forms.unwrap_or_else(|| Some(vec![Form::of_machines(1)]));
    let market = check.market(table, (job, forms.as_deref()));
    let jobs = check.jobs(file.job.as_ref(), forms);
    if let (Some(job), Some(policies)) = (&file.job, &policies) {
        check.lateness(job.get_ref(), job.span(), policies);
    }
    if let (Some(table), Some(found), Some(jobs)) = (&file.market, &market, &jobs) {
        let machines = job.and_then(|job| job.machines.as_ref());
        let forms = job.and_then(|job| job.form.as_ref());
        let span = machines.map(|machines| machines.span());
        let span = span.or_else(|| forms.map(|forms| forms.span()));
        check.offers(found, jobs, span.unwrap_or_else(|| table.span()));
    }
    let mut settings = Vec::new();
    let (policies, market, jobs) = (policies?, market?, jobs?);
    for world in &market.worlds {
        for (job, span) in &jobs {
            let starts = file.starts.as_ref();
            let starts = starts.map(|table| (table.get_ref(), table.span()));
            let setting = check.setting(&market, world, job.clone(), span.clone(), starts);
            let lives = market.replicas.as_ref().unwrap_or(span);
            settings.extend(setting.filter(|one| check.size(one, policies.len(), span, lives)));
        }
    }
    let stem = Path::new(&source.name).file_stem();
    let stem = stem.map(|stem| stem.to_string_lossy().into_owned());
    (diagnostics.len() == before).then(|| Study {
        name: file.name.or(stem).unwrap_or_default(),
        about: market.about,
        source: market.source,
        seed: file.seed,
        policies,
        settings,
    })
}

impl Check<'_> {
    fn policies(&mut self, settings: Option<&Settings>) -> Option<Vec<(String, Box<dyn Recipe>)>> {
        let settings = self.needed("policy", settings, "which policies are beside each other")?;
        let own = settings.own.keys().map(String::as_str);
        let all = POLICIES.iter().map(|policy| policy.name).chain(own);
        let Some(names) = &settings.names else {
            let known = |name: &str| (name.to_owned(), settings.recipe(name));
            self.programs(settings, |_| true);
            let named = all.filter(|name| !NOT_BY_DEFAULT.contains(name)).map(known);
            return Some(
                named
                    .filter_map(|(name, recipe)| Some((name, recipe?)))
                    .collect(),
            );
        };
        let mut policies: Vec<(String, Box<dyn Recipe>)> = Vec::new();
        for name in names.get_ref() {
            let (word, span) = (name.get_ref(), name.span());
            if policies.iter().any(|(known, _)| known == word) {
                self.wrong(span, format!("`{word}` is named twice"), "named before", "");
            } else if word == CLAIRVOYANT {
                let help = "all costs are told beside those of the clairvoyant; it needs no name";
                self.wrong(
                    span,
                    format!("`{word}` is no policy"),
                    "it knows what comes",
                    help,
                );
            } else if let Some(recipe) = settings.recipe(word) {
                policies.push((word.clone(), recipe));
            } else {
                let help = nearest_or_all(word, all.clone());
                self.wrong(
                    span,
                    format!("unknown policy `{word}`"),
                    "no such policy",
                    &help,
                );
            }
        }
        if names.get_ref().is_empty() {
            let title = "no policy is named".to_owned();
            self.wrong(names.span(), title, "expected at least one", "");
        }
        self.programs(settings, |name| policies.iter().any(|(own, _)| own == name));
        Some(policies)
    }

    /// Programs that are named have to be there.
    fn programs(&mut self, settings: &Settings, is_named: impl Fn(&str) -> bool) {
        for (name, own) in settings.own.iter().filter(|(name, _)| is_named(name)) {
            if let Err(why) = own.program().found() {
                let title = format!("policy `{name}` cannot be used: {why}");
                self.wrong(own.command.span(), title, "", "");
            }
        }
    }

    /// Policies that may be late want to know what that costs.
    fn lateness(
        &mut self,
        job: &JobTable,
        at: Range<usize>,
        policies: &[(String, Box<dyn Recipe>)],
    ) {
        if job.lateness_usd_per_h.is_some() {
            return;
        }
        for (name, recipe) in policies {
            if recipe.policy().net() == Net::None {
                let title = format!("`{name}` may be late, and being late has no price");
                let help = "set `job.lateness_usd_per_h`; 0 where it costs nothing";
                self.wrong(at.clone(), title, "no `lateness_usd_per_h` here", help);
            }
        }
    }

    fn jobs(
        &mut self,
        table: Option<&::toml::Spanned<JobTable>>,
        forms: Option<Vec<Form>>,
    ) -> Option<Vec<(Job, Range<usize>)>> {
        let job = self.needed("job", table, "what is to be done, until when")?;
        let job = job.get_ref();
        let work = self.needed(
            "job.work_h",
            job.work_h,
            "hours of work without interruptions",
        );
        let deadline = job.deadline_h.as_ref();
        let deadline = self.needed("job.deadline_h", deadline, "hours until it shall be done");
        let (work_s, deadline, forms) = (work?.get() * 3600.0, deadline?, forms?);
        let mut changeovers = vec![Delay::new(0.0)?];
        self.each_once("job.deadline_h", &deadline.get_ref().0, deadline.span());
        if let Some(several) = &job.changeover_s {
            self.each_once("job.changeover_s", &several.get_ref().0, several.span());
            changeovers.clone_from(&several.get_ref().0);
        }
        let mut jobs = Vec::new();
        for deadline_h in &deadline.get_ref().0 {
            for changeover in &changeovers {
                let job = Job {
                    work_s,
                    deadline_s: deadline_h.get() * 3600.0,
                    changeover_s: changeover.get(),
                    checkpoint_gb: job.checkpoint_gb.map_or(0.0, NonNegative::get),
                    checkpoint_every_s: job.checkpoint_every_s.map(Interval::get),
                    forms: forms.clone(),
                    lateness_usd_per_h: job.lateness_usd_per_h.map(NonNegative::get),
                    last_tick: if job.whole_last_tick {
                        LastTick::Whole
                    } else {
                        LastTick::Used
                    },
                    probe_s: job.probe_s.map_or(60.0, Delay::get),
                };
                jobs.push((job, deadline.span()));
            }
        }
        Some(jobs)
    }

    /// Refuses values that are given twice: each has a table.
    fn each_once<T: PartialEq>(&mut self, key: &str, values: &[T], at: Range<usize>) {
        let comes_again = |(at, value): (usize, &T)| values[..at].contains(value);
        if values.iter().enumerate().any(comes_again) {
            let title = format!("`{key}` has the same value twice");
            self.wrong(at, title, "each value has a table of its own", "");
        }
    }

    /// Refuses a setting that no machine can run; whether it can be.
    fn size(
        &mut self,
        setting: &Setting,
        policies: usize,
        deadline: &Range<usize>,
        lives: &Range<usize>,
    ) -> bool {
        let (decisions, bytes) = (setting.decisions(policies), setting.bytes());
        let count = setting.lives.count() as u64;
        let tick_s = setting.world.tick_s;
        let (at, title, label) = if setting.job.deadline_s > 3600.0 * MOST_HOURS {
            let hours = rounded(setting.job.deadline_s / 3600.0);
            let title = format!("the deadline of {hours} h is too late");
            (
                deadline,
                title,
                format!("at most {} h", rounded(MOST_HOURS)),
            )
        } else if setting.ticks > MOST_TICKS {
            let ticks = rounded(setting.ticks as f64);
            let title = format!("a life of up to {ticks} ticks of {tick_s} s is too long");
            let most = rounded(MOST_TICKS as f64);
            (deadline, title, format!("at most {most} ticks"))
        } else if decisions > MOST_DECISIONS {
            let ticks = rounded(setting.ticks as f64);
            let title = format!(
                "{} lives of up to {ticks} ticks under all policies are too many",
                rounded(count as f64)
            );
            let most = rounded(MOST_DECISIONS);
            (lives, title, format!("at most {most} ticks in all"))
        } else if bytes > MOST_BYTES {
            let title = format!("a life takes up to {} of memory", rough_size(bytes));
            let label = format!("at most {}", rough_size(MOST_BYTES));
            (deadline, title, label)
        } else {
            return true;
        };
        let help = "longer ticks, an earlier deadline or fewer lives";
        self.wrong(at.clone(), title, &label, help);
        false
    }

    fn setting(
        &mut self,
        market: &StudyMarket,
        world: &World,
        job: Job,
        deadline: Range<usize>,
        starts: Option<(&StartsTable, Range<usize>)>,
    ) -> Option<Setting> {
        // Forms that other zones serve say nothing of this world.
        let mut job = job;
        let is_served = |form: &Form| world.zones.iter().any(|zone| form.is_served(zone));
        job.forms.retain(is_served);
        if job.forms.is_empty() {
            return None; // the zones were refused
        }
        if !job.can_be_kept() {
            let least = job.fastest_rest(SimTime::ZERO) + job.changeover();
            let title = format!(
                "the deadline of {} h is before the fastest run ends",
                job.deadline_s / 3600.0
            );
            let label = "work and one changeover take longer";
            let help = format!("on demand it takes {} h", least.hours());
            self.wrong(deadline, title, label, &help);
            return None;
        }
        let in_time = job.ticks(world.tick_s);
        let ticks = match job.lateness_usd_per_h {
            Some(_) => in_time.saturating_mul(LATEST),
            None => in_time,
        };
        if let Some((replicas, means)) = market.drawn {
            let machines = job.forms.iter().map(|form| form.machines);
            let machines = machines.max().unwrap_or(1);
            let process = |zone: usize| match means {
                Some((run_h, pause_h)) => Process::of_means(world.tick_s, run_h, pause_h, machines),
                None => Process::fitted(world, zone, machines),
            };
            let processes = (0..world.zones.len()).map(process).collect();
            return Some(Setting {
                job,
                world: world.clone(),
                lives: AvailabilitySource::Drawn(processes, replicas),
                ticks,
            });
        }
        let has = world.ticks();
        if has < ticks {
            let hours = |ticks: usize| ticks as f64 * world.tick_s / 3600.0;
            let title = format!(
                "the traces of {:.1} h are shorter than a life of up to {:.1} h",
                hours(has),
                hours(ticks)
            );
            let label = "until this deadline";
            let help = "a shorter deadline, longer traces, or lives drawn by `market.replicas`";
            self.wrong(deadline, title, label, help);
            return None;
        }
        let starts = self.starts(starts, world, has - ticks)?;
        Some(Setting {
            job,
            world: world.clone(),
            lives: AvailabilitySource::Traces(starts),
            ticks,
        })
    }

    /// Ticks at which lives begin, of which `last` is the last that leaves time enough.
    fn starts(
        &mut self,
        table: Option<(&StartsTable, Range<usize>)>,
        world: &World,
        last: usize,
    ) -> Option<Vec<usize>> {
        let (spread, at_s) = table.as_ref().map_or((None, None), |(table, _)| {
            (table.spread, table.at_s.as_ref())
        });
        let tick = SimTime::from_seconds(world.tick_s).nanoseconds().max(1);
        let Some(at_s) = at_s else {
            let count = spread.map_or(STARTS, |count: Count| count.get() as usize);
            let count = count.min(last + 1);
            return Some(
                (0..count)
                    .map(|at| last * at / (count - 1).max(1))
                    .collect(),
            );
        };
        if spread.is_some() {
            let span = table.map_or(0..0, |(_, span)| span);
            let title = "`starts.spread` and `starts.at_s` exclude each other".to_owned();
            self.wrong(span, title, "both say where lives begin", "");
        }
        if at_s.get_ref().is_empty() {
            let title = "`starts.at_s` is empty".to_owned();
            self.wrong(at_s.span(), title, "expected at least one", "");
        }
        let mut starts = Vec::new();
        for second in at_s.get_ref() {
            let at = SimTime::from_seconds(second.get_ref().get());
            let tick = (at.nanoseconds() / tick) as usize;
            if starts.contains(&tick) {
                let title = "two lives begin in the same tick".to_owned();
                self.wrong(second.span(), title, "named before", "");
            }
            if tick > last {
                let title = format!(
                    "a life that begins at {} s outlasts the traces",
                    second.get_ref().get()
                );
                let help = format!("the last start is at {} s", last as f64 * world.tick_s);
                self.wrong(second.span(), title, "too late", &help);
            }
            starts.push(tick);
        }
        Some(starts)
    }
}

/// A large number, whole and with commas.
fn rounded(number: f64) -> String {
    with_commas(number.round() as u64)
}

/// Policies that are run only where they are named: one that may be late, one that is told how long machines stay, and one that
/// follows an artifact.
const NOT_BY_DEFAULT: &[&str] = &[
    "spot-only",
    "skynomad-true-lifetimes",
    "uniform-progress-failover",
];
