//! `scavsim advise --deadline`: what to rent now, and when to change it, to finish a job in time. Turns an advice on demand into plans,
//! each a configuration under a policy, cheapest first.

mod answer;
mod answer_json;
mod course;
mod plan;
mod rule;
mod spot;
mod told;
mod when;

use std::sync::Arc;

use clap::Args;

use super::exit::{Failure, wrong};
use super::{terminal, units};
pub(super) use answer::DeadlineQuestion;
use answer::PlannedAnswer;
use plan::{Candidate, ON_DEMAND, Plan, Promise};
use rule::Rule;
use scavsim_base::text::words::with_commas;
use scavsim_engine::Interrupt;
use scavsim_measure::advise::offers::PriceCaps;
use scavsim_measure::advise::rental::{RentalAdvice, RentalChoice};
use scavsim_provision::policy::registry::{POLICIES, Settings};
use scavsim_provision::policy::{Net, Recipe};
use scavsim_read::input::{Diagnostic, Diagnostics, nearest_or_all};
use spot::{SpotMarket, StatedSpotTimes, SubstituteMarket};
use when::{ClockTime, Deadline, LEGAL, MOST_H};

/// Default share of runs that may be longer than planned.
const MISS: f64 = 0.05;
/// Number of configurations that are run under policies: the ones that may be the cheapest.
const CANDIDATES: usize = 8;
/// Limit on the ticks of all lives of all plans: about an hour of one thread.
const MOST_DECISIONS: f64 = 1e11;
const ANY: &str = "any";

/// Until when, and by which policies.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct DeadlineArgs {
    /// When the job shall be done: a duration, like `60h` or `2d 4h`, or a day and a time, like `Fri 18:00`; a day alone, like
    /// `2026-12-04` or `tomorrow`, means its end. Times are in UTC, or end in an offset like `+01:00`. Answers with a configuration and a policy: when to
    /// take spot machines, when to wait, when to go on demand
    #[arg(
        long,
        value_name = "WHEN",
        conflicts_with_all = ["market", "commitment", "max_time", "mean_time", "max_cost"]
    )]
    deadline: Option<String>,
    /// Policies that decide during the run, with commas; `any`: all that keep deadlines [default: any]
    #[arg(
        long,
        value_name = "POLICY",
        value_delimiter = ',',
        requires = "deadline"
    )]
    policy: Vec<String>,
    /// What counts as now, like `2026-12-01 09:00` [default: the clock]
    #[arg(long, value_name = "DATE TIME", requires = "deadline")]
    now: Option<String>,
    /// Mean hours until a spot VM is lost [default: as published; where nobody did, as one V100 of AWS in 2023]
    #[arg(long, value_name = "H", value_parser = units::hours)]
    spot_run_h: Option<f64>,
    /// Mean hours until there are spot VMs again [default: as for one V100 of AWS in 2023]
    #[arg(long, value_name = "H", requires = "deadline", value_parser = units::hours)]
    spot_pause_h: Option<f64>,
}

impl DeadlineArgs {
    /// Mean hours until a spot VM is lost, if given and valid.
    pub(super) fn stated_run_h(&self) -> Option<f64> {
        self.spot_run_h.filter(|hours| *hours > 0.0)
    }

    pub(super) fn is_given(&self) -> bool {
        self.deadline.is_some()
    }

    /// Reads the question; `None` without a deadline. Mistakes go to `wrong`.
    pub(super) fn read(
        &self,
        miss: Option<f64>,
        wrong: &mut Diagnostics,
    ) -> Option<DeadlineQuestion> {
        let before = wrong.len();
        for (option, hours) in [
            ("spot-run-h", self.spot_run_h),
            ("spot-pause-h", self.spot_pause_h),
        ] {
            if hours.is_some_and(|h| !(h > 0.0 && h <= 1e6)) {
                let title = format!("--{option} is invalid");
                wrong.push(
                    Diagnostic::general(title)
                        .with_help("expected hours above 0, at most 1,000,000"),
                );
            }
        }
        let text = self.deadline.as_deref()?;
        let now = self.now.as_deref().and_then(|text| {
            let now = ClockTime::read(text, None);
            if now.is_none() {
                let title = format!("`--now`: `{text}` is no date with a time");
                let help = "expected a date and a time, like `2026-12-01 09:00` or `2026-12-01 09:00+01:00`";
                wrong.push(Diagnostic::general(title).with_help(help));
            }
            now
        });
        let deadline = Deadline::read(text, now);
        match &deadline {
            Err(why) => {
                wrong.push(Diagnostic::general(format!("`--deadline`: {why}")).with_help(LEGAL));
            }
            Ok(deadline) if deadline.hours > MOST_H => {
                let hours = with_commas(deadline.hours as u64);
                let title = format!("`--deadline`: {hours} h from now is too far");
                let help = format!("at most {} h", with_commas(MOST_H as u64));
                wrong.push(Diagnostic::general(title).with_help(help));
            }
            Ok(_) => {}
        }
        let policies = self.policies(wrong);
        (wrong.len() == before).then_some(DeadlineQuestion {
            deadline: deadline.ok()?,
            policies,
            said: StatedSpotTimes {
                run_h: self.spot_run_h,
                pause_h: self.spot_pause_h,
            },
            miss: miss.unwrap_or(MISS),
        })
    }

    /// The policies by name, on demand first, as the reference for the others.
    fn policies(&self, wrong: &mut Diagnostics) -> Vec<(String, Arc<dyn Recipe>)> {
        let settings = Settings::default();
        let all = || POLICIES.iter().map(|policy| policy.name);
        let keeps = |name: &&str| {
            settings
                .recipe(name)
                .is_some_and(|recipe| recipe.policy().net() != Net::None)
        };
        // Policies that know the future are bounds; no one can use them.
        let legal: Vec<&str> = all()
            .filter(keeps)
            .filter(|name| {
                !name.ends_with("-true-lifetimes") && !["stay", "follow-noise"].contains(name)
            })
            .collect();
        let is_any = self.policy.is_empty() || self.policy.iter().any(|name| name == ANY);
        for name in self
            .policy
            .iter()
            .filter(|name| *name != ANY && !legal.contains(&name.as_str()))
        {
            let title = if all().any(|known| known == name) {
                format!("`--policy`: `{name}` keeps no deadline of its own")
            } else {
                format!("`--policy`: unknown policy `{name}`")
            };
            let names = legal.iter().copied().chain([ANY]);
            let help = nearest_or_all(name, names);
            wrong.push(Diagnostic::general(title).with_help(help));
        }
        let is_asked =
            |name: &&str| is_any || *name == ON_DEMAND || self.policy.iter().any(|own| own == name);
        let named = legal.into_iter().filter(is_asked);
        named
            .filter_map(|name| Some((name.to_owned(), settings.recipe(name)?)))
            .collect()
    }
}

/// Effort of an answer, and values that all machines share.
pub(super) struct PlanningOptions<'a> {
    /// Minutes until machines begin to train.
    pub(super) setup_min: f64,
    pub(super) caps: &'a PriceCaps,
    /// Number of lives of each plan.
    pub(super) lives: u64,
    pub(super) jobs: usize,
    pub(super) interrupt: &'a Interrupt,
}

impl DeadlineQuestion {
    /// Runs policies on the best configurations of an advice within the deadline, and passes the answer to `use_it`. Fails if no
    /// configuration meets the deadline, or if the run is interrupted.
    pub(super) fn answer(
        &self,
        advice: &RentalAdvice,
        effort: PlanningOptions<'_>,
        use_it: impl FnOnce(&PlannedAnswer<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut mistakes = Diagnostics::default();
        let stand_in = SubstituteMarket::read(&mut mistakes);
        let stand_in = stand_in.ok_or(Failure::Wrong(mistakes))?;
        let promise = Promise {
            deadline_h: self.deadline.hours,
            miss: self.miss,
            setup_h: effort.setup_min / 60.0,
        };
        let interrupt = effort.interrupt;
        let candidates = self.candidates(advice, &promise, &stand_in, effort.caps);
        let policies = || {
            self.policies
                .iter()
                .map(|(name, recipe)| (name.as_str(), &**recipe))
        };
        let pairs: Vec<(&Candidate<'_>, (&str, &dyn Recipe))> = candidates
            .iter()
            .flat_map(|candidate| policies().map(move |policy| (candidate, policy)))
            .collect();
        let pool = interrupt.pool(effort.jobs).map_err(anyhow::Error::from)?;
        let lives = effort.lives;
        let ticks = pairs.first().map_or(0, |&(candidate, (policy, _))| {
            candidate.job(policy, &promise).ticks(promise.tick_s())
        });
        if ticks as f64 * lives as f64 * pairs.len() as f64 > MOST_DECISIONS {
            let title = format!(
                "`--runs`: {lives} lives of {ticks} ticks in each of {} plans are too many",
                pairs.len()
            );
            let help = "fewer --runs, an earlier --deadline, or fewer policies by --policy";
            return Err(wrong(title, help));
        }
        let mut plans: Vec<Plan<'_>> = pool.install(|| {
            let run =
                |&(candidate, policy)| Plan::run(candidate, policy, &promise, lives, interrupt);
            pairs.iter().filter_map(run).collect()
        });
        if interrupt.is_raised() {
            return Err(Failure::Interrupted);
        }
        sort(&mut plans, advice, 1.0 - self.miss);
        let Some(first) = plans.first() else {
            return Err(self.too_early(advice, &promise));
        };
        let rule = Rule::for_plan(first, &promise);
        use_it(&PlannedAnswer {
            in_time: self,
            advice,
            caps: effort.caps,
            promise: &promise,
            stand_in: &stand_in,
            rule,
            plans,
            candidates: candidates.len(),
            lives,
        })
    }

    /// The best choice on demand, then the configurations that meet the deadline on demand and may cost least at their cheapest hourly
    /// price.
    fn candidates<'a>(
        &self,
        advice: &'a RentalAdvice,
        promise: &Promise,
        stand_in: &SubstituteMarket,
        caps: &PriceCaps,
    ) -> Vec<Candidate<'a>> {
        let mut all: Vec<Candidate<'a>> = (advice.choices.iter())
            .map(|choice| {
                Candidate::new(
                    choice,
                    SpotMarket::for_choice(choice, self.said, stand_in, caps),
                    promise,
                )
            })
            .collect();
        let least_usd = |one: &Candidate<'_>| one.least_usd_per_h() * one.choice.time_h[0];
        if all.len() > 1 {
            all[1..].sort_by(|a, b| least_usd(a).total_cmp(&least_usd(b)));
        }
        all.truncate(CANDIDATES);
        all
    }

    /// Reports how far the deadline is before the end of the fastest run.
    fn too_early(&self, advice: &RentalAdvice, promise: &Promise) -> Failure {
        let nearest = advice.nearest.iter().chain(&advice.choices);
        let ends = nearest.map(|choice| {
            let candidate = Candidate::new(choice, None, promise);
            (
                promise.setup_h + candidate.quantile_h(1.0 - self.miss),
                choice,
            )
        });
        let title = format!(
            "`--deadline`: in {:.2} h no configuration is done in {:.0} % of runs",
            self.deadline.hours,
            100.0 * (1.0 - self.miss)
        );
        let help = match ends.min_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((hours, choice)) => format!(
                "the fastest, {}, takes up to {hours:.2} h on demand: {:.2} h more, and is in time in {:.0} %; `--max-miss` says how often it may take longer",
                choice.name,
                hours - self.deadline.hours,
                100.0 * (1.0 - choice.miss)
            ),
            None => "no configuration can be predicted".to_owned(),
        };
        wrong(title, &help)
    }
}

impl PlannedAnswer<'_> {
    /// Prints the answer as text, or all of it as JSON including these commands.
    pub(super) fn print(&self, is_json: bool, commands: Option<String>) -> Result<(), Failure> {
        if is_json {
            let mut value = self.advice.json.clone();
            value["deadline"] = answer_json::value(self);
            if let Some(commands) = commands {
                value["commands"] = commands.into();
            }
            terminal::print(&format!("{value:#}\n"))?;
        } else {
            terminal::print(&told::render(self, &terminal::page()))?;
        }
        Ok(())
    }
}

/// Sorts plans that meet the promise first, then by cost. The first plan uses a measured GPU, unless the advice itself recommends another.
fn sort(plans: &mut [Plan<'_>], advice: &RentalAdvice, promised: f64) {
    let breaks = |plan: &Plan<'_>| plan.came.kept < promised - 1e-9;
    let cost = |plan: &Plan<'_>| plan.came.cost_usd[0];
    plans.sort_by(|a, b| breaks(a).cmp(&breaks(b)).then(cost(a).total_cmp(&cost(b))));
    let is_other = |choice: &RentalChoice| choice.is_other_gpu;
    let takes_other = advice.choices.first().is_some_and(is_other);
    let surest = plans
        .iter()
        .position(|plan| takes_other || !is_other(plan.candidate.choice));
    if let Some(place) = surest {
        plans[..=place].rotate_right(1);
    }
}
