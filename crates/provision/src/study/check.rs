//! A file of a study, checked: names, lengths and deadlines, with every mistake at once.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::checking::Check;
use super::form::{JobTable, Several, StartsTable, StudyFile};
use super::market::Found;
use super::{Lives, Setting, Study};
use crate::forms::Form;
use crate::job::{Job, LastTick};
use crate::policy::registry::{CLAIRVOYANT, POLICIES, Settings};
use crate::policy::{Net, Recipe};
use crate::world::World;
use crate::world::process::Process;
use scavsim_read::input::checked::{Count, Delay, Interval, NonNegative};
use scavsim_read::input::{Diagnostics, Source, closest, toml};

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
            settings.extend(check.setting(&market, world, job.clone(), span.clone(), starts));
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
        let settings = settings?;
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
                let legal: Vec<&str> = all.clone().collect();
                let help = match closest(word, legal.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("legal here: {}", legal.join(", ")),
                };
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
            if let Err(why) = own.find() {
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
        let none = Several(vec![Delay::new(0.0)?]);
        let changeovers = job.changeover_s.as_ref().unwrap_or(&none);
        let mut jobs = Vec::new();
        for deadline_h in &deadline.get_ref().0 {
            for changeover in &changeovers.0 {
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

    fn setting(
        &mut self,
        market: &Found,
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
        if !job.can_be_kept(world.tick_s) {
            let least = (job.fastest_rest_s(0.0) + job.changeover_s) / 3600.0;
            let title = format!(
                "the deadline of {} h is before the fastest run ends",
                job.deadline_s / 3600.0
            );
            let label = "work and one changeover take longer";
            let help = format!(
                "on demand it takes {least:.2} h, in whole ticks of {} s",
                world.tick_s
            );
            self.wrong(deadline, title, label, &help);
            return None;
        }
        let in_time = job.deadline_ticks(world.tick_s);
        let ticks = match job.lateness_usd_per_h {
            Some(_) => in_time * LATEST,
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
                lives: Lives::Drawn(processes, replicas),
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
            lives: Lives::Traces(starts),
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
        let mut starts = Vec::new();
        for second in at_s {
            let tick = (second.get_ref().get() / world.tick_s) as usize;
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

/// Policies that are run only where they are named: those that may be late, and those that are told what comes.
const NOT_BY_DEFAULT: &[&str] = &[
    "spot-only",
    "skynomad-true-lifetimes",
    "uniform-progress-failover",
];
