//! Checks the tables of a study, with every mistake at once.

use std::ops::Range;
use std::sync::Arc;

use super::checking::Check;
use super::form::{JobTable, MarketTable, StartsTable};
use super::market::{StatedAvailability, StatedRuns, StudyMarket};
use super::size::{MOST_BYTES, MOST_DECISIONS, MOST_HOURS, MOST_TICKS};
use super::{AvailabilitySource, NamedRecipe, Setting, Study};
use crate::forms::Form;
use crate::job::{Job, LastTick};
use crate::policy::Net;
use crate::policy::registry::{CLAIRVOYANT, POLICIES, Settings};
use crate::world::World;
use crate::world::process::Process;
use scavsim_base::text::words::{rough_size, with_commas};
use scavsim_base::units::SimTime;
use scavsim_read::input::Spanned;
use scavsim_read::input::checked::{Count, Delay, Interval, NonNegative};
use scavsim_read::input::nearest_or_all;

/// Default number of starts in traces.
const STARTS: usize = 20;
/// Most deadlines that a life may take where lateness has a price.
const LATEST: usize = 2;

#[derive(Debug, Clone, Copy)]
pub struct StudyTables<'t> {
    pub job: Option<&'t Spanned<JobTable>>,
    pub market: Option<&'t Spanned<MarketTable>>,
    pub starts: Option<&'t Spanned<StartsTable>>,
    pub policy: Option<&'t Spanned<Settings>>,
    /// Over the tables' number.
    pub replicas: Option<Count>,
}

impl StudyTables<'_> {
    /// Reads the study, with its settings and a program's own policies.
    pub fn read(self, own: &[NamedRecipe], check: &mut Check<'_>) -> Option<Study> {
        let policies = check.policies(self.policy.map(Spanned::get_ref), own);
        let job = self.job.map(Spanned::get_ref);
        let forms = match job {
            Some(job) => check.forms(job),
            None => Some(vec![Form::of_machines(1)]),
        };
        let market = check.market(self.market, (job, forms.as_deref()));
        let first = check.job(self.job, forms);
        if let (Some(job), Some(policies)) = (self.job, &policies) {
            check.lateness(job.get_ref(), job.span(), policies);
        }
        if let (Some(table), Some(market), Some((first, _))) = (self.market, &market, &first) {
            let machines = job.and_then(|job| Some(job.machines.as_ref()?.span()));
            let forms = job.and_then(|job| Some(job.form.as_ref()?.span()));
            check.offers(
                market,
                first,
                machines.or(forms).unwrap_or_else(|| table.span()),
            );
        }
        let mut study = Study {
            market: market?,
            policies: policies?,
            settings: Vec::new(),
        };
        study.add(self, first?, check);
        Some(study)
    }

    pub fn add_to(self, study: &mut Study, check: &mut Check<'_>) {
        let forms = self.job.and_then(|job| check.forms(job.get_ref()));
        if let Some(job) = check.job(self.job, forms) {
            study.add(self, job, check);
        }
    }
}

impl Study {
    fn add(&mut self, tables: StudyTables<'_>, job: (Job, Range<usize>), check: &mut Check<'_>) {
        let (job, span) = job;
        let starts = tables.starts.map(|table| (table.get_ref(), table.span()));
        for world in &self.market.worlds {
            let (job, span) = (job.clone(), span.clone());
            let setting = check.setting(
                &self.market,
                world,
                job,
                span.clone(),
                starts.clone(),
                tables.replicas,
            );
            let lives = self.market.replicas.as_ref().unwrap_or(&span);
            let is_legal = |one: &Setting| check.size(one, self.policies.len(), &span, lives);
            self.settings.extend(setting.filter(is_legal));
        }
    }
}

impl Check<'_> {
    fn policies(
        &mut self,
        settings: Option<&Settings>,
        given: &[NamedRecipe],
    ) -> Option<Vec<NamedRecipe>> {
        let settings = self.needed("policy", settings, "which policies are beside each other")?;
        let own = settings.own.keys().map(String::as_str);
        let own = own.filter(|name| !given.iter().any(|(known, _)| known == name));
        let own = given.iter().map(|(name, _)| name.as_str()).chain(own);
        let all = POLICIES.iter().map(|policy| policy.name).chain(own);
        let recipe = |word: &str| {
            let given = given.iter().find(|(name, _)| name == word);
            given.map_or_else(|| settings.recipe(word), |(_, own)| Some(Arc::clone(own)))
        };
        let Some(names) = &settings.names else {
            let known = |name: &str| (name.to_owned(), recipe(name));
            self.programs(settings, |_| true);
            let named = all.filter(|name| !NOT_BY_DEFAULT.contains(name)).map(known);
            return Some(
                named
                    .filter_map(|(name, recipe)| Some((name, recipe?)))
                    .collect(),
            );
        };
        let mut policies: Vec<NamedRecipe> = Vec::new();
        for name in names.get_ref() {
            let (word, span) = (name.get_ref(), name.span());
            if policies.iter().any(|(known, _)| known == word) {
                self.wrong(span, format!("`{word}` is named twice"), "named before", "");
            } else if word == CLAIRVOYANT {
                let help = "all costs are shown beside those of the clairvoyant; it needs no name";
                self.wrong(
                    span,
                    format!("`{word}` is no policy"),
                    "it knows what comes",
                    help,
                );
            } else if let Some(recipe) = recipe(word) {
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

    /// Named programs have to exist.
    fn programs(&mut self, settings: &Settings, is_named: impl Fn(&str) -> bool) {
        for (name, own) in settings.own.iter().filter(|(name, _)| is_named(name)) {
            if let Err(why) = own.program().found() {
                let title = format!("policy `{name}` cannot be used: {why}");
                self.wrong(own.command.span(), title, "", "");
            }
        }
    }

    /// Policies that may be late need a price of lateness.
    fn lateness(&mut self, job: &JobTable, at: Range<usize>, policies: &[NamedRecipe]) {
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

    fn job(
        &mut self,
        table: Option<&Spanned<JobTable>>,
        forms: Option<Vec<Form>>,
    ) -> Option<(Job, Range<usize>)> {
        let job = self.needed("job", table, "what is to be done, until when")?;
        let job = job.get_ref();
        let work = self.needed(
            "job.work_h",
            job.work_h,
            "hours of work without interruptions",
        );
        let deadline = job.deadline_h.as_ref();
        let deadline = self.needed("job.deadline_h", deadline, "hours until it shall be done");
        let (work_h, deadline, forms) = (work?, deadline?, forms?);
        let job = Job {
            work_s: work_h.get() * 3600.0,
            deadline_s: deadline.get_ref().get() * 3600.0,
            changeover_s: job.changeover_s.map_or(0.0, Delay::get),
            reconfigure_s: job.reconfigure_s.map(Delay::get),
            checkpoint_gb: job.checkpoint_gb.map_or(0.0, NonNegative::get),
            checkpoint_every_s: job.checkpoint_every_s.map(Interval::get),
            forms,
            searched: Vec::new(),
            lateness_usd_per_h: job.lateness_usd_per_h.map(NonNegative::get),
            last_tick: if job.whole_last_tick {
                LastTick::Whole
            } else {
                LastTick::Used
            },
            probe_s: job.probe_s.map_or(60.0, Delay::get),
        };
        Some((job, deadline.span()))
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
        replicas: Option<Count>,
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
        if let Some((drawn, stated)) = &market.drawn {
            if let Some((_, span)) = starts {
                let title = "`starts` says nothing of lives that are drawn".to_owned();
                let help = "leave it away; `market.replicas` is their number";
                self.wrong(span, title, "they begin when their draw does", help);
            }
            let replicas = replicas.map_or(*drawn, |count| u64::from(count.get()));
            let machines = job.forms.iter().map(|form| form.machines);
            let machines = machines.max().unwrap_or(1);
            let tick_s = world.tick_s;
            let process = |zone: usize| match stated {
                Some(StatedAvailability { runs, pause_h }) => match runs {
                    StatedRuns::MeanHours(run_h) => {
                        Process::of_means(tick_s, *run_h, *pause_h, machines)
                    }
                    StatedRuns::Lives(lives) => {
                        Process::of_lives(tick_s, lives.clone(), *pause_h, machines)
                    }
                },
                None => Process::fitted(world, zone, machines),
            };
            let processes = (0..world.zones.len()).map(process).collect();
            let lives = AvailabilitySource::Drawn(processes, replicas);
            return Some(Setting::new(job, world, lives, ticks));
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
        let starts = self.starts(starts, world, has - ticks, replicas)?;
        Some(Setting::new(
            job,
            world,
            AvailabilitySource::Traces(starts),
            ticks,
        ))
    }

    /// Ticks at which lives begin, up to `last`, which leaves time enough.
    fn starts(
        &mut self,
        table: Option<(&StartsTable, Range<usize>)>,
        world: &World,
        last: usize,
        replicas: Option<Count>,
    ) -> Option<Vec<usize>> {
        let (spread, at_s) = match (replicas, &table) {
            (Some(_), _) => (replicas, None),
            (None, Some((table, _))) => (table.spread, table.at_s.as_ref()),
            (None, None) => (None, None),
        };
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

/// Policies that run only where they are named: one may be late, one knows lifetimes, one follows an artifact, one is to compare with, one follows noise.
const NOT_BY_DEFAULT: &[&str] = &[
    "spot-only",
    "skynomad-true-lifetimes",
    "uniform-progress-failover",
    "stay",
    "follow-noise",
];
