//! `scavsim advise`: from measurements to a recommendation, and to the next measurement.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::advise_deadline::{DeadlineArgs, DeadlineQuestion, PlanningOptions};
use super::advise_model::{self, OfModel};
use super::advise_tuning::OfTuning;
use super::exit::{Exit, Failure, refuse_existing};
use super::out::stem;
use super::profile::{EpochsArg, ProfileArgs};
use super::progress::Progress;
use super::rank::RankOrder;
use super::signals::Signals;
use super::{scenarios, terminal, units};
use scavsim_base::output::write_file;
use scavsim_data::cloud::{Catalogue, Market};
use scavsim_engine::Interrupt;
use scavsim_experiment::ranking::NoRanking;
use scavsim_import::folder::{self, Kind};
use scavsim_import::{profile, trial};
use scavsim_measure::advise::advice::{Advice, Choice};
use scavsim_measure::advise::model::ModelQuestion;
use scavsim_measure::advise::offers::{PriceCaps, strange_prices};
use scavsim_measure::advise::question::NoAdvice;
use scavsim_measure::advise::rental::RentalAdvice;
use scavsim_measure::advise::{Goal, OfferFilter, Question, advise, hand_over, json, text};
use scavsim_read::input::name::not_a_name;
use scavsim_read::input::{Diagnostic, Diagnostics};
use scavsim_search::search::Limits;

/// Arguments of `advise`.
#[derive(Debug, Args)]
#[command(
    mut_arg("file", |file| file.required(false).required_unless_present("model")),
    mut_arg("samples_per_epoch", |samples| samples.required(false).required_unless_present("model")),
    mut_arg("model", |model| model.required(false))
)]
pub struct AdviseArgs {
    #[command(flatten)]
    profile: Option<ProfileArgs>,
    #[command(flatten)]
    passes: EpochsArg,
    #[command(flatten)]
    of_model: Option<OfModel>,
    #[command(flatten)]
    tuning: OfTuning,
    /// What to look for
    #[arg(long, value_enum, default_value = "cost")]
    objective: RankOrder,
    /// Longest time in hours, or like `30m`, of 95 % of runs (--max-miss)
    #[arg(long, value_name = "H", value_parser = units::hours)]
    max_time: Option<f64>,
    /// Longest mean time of runs in hours, or like `30m`
    #[arg(long, value_name = "H", value_parser = units::hours)]
    mean_time: Option<f64>,
    /// Highest cost in USD of 95 % of runs (--max-miss)
    #[arg(long, value_name = "USD")]
    max_cost: Option<f64>,
    /// Share of runs that may be beyond a limit [default: 0.05; more where nothing keeps a limit so surely, and the answer says so]
    #[arg(long, value_name = "SHARE")]
    max_miss: Option<f64>,
    #[command(flatten)]
    in_time: DeadlineArgs,
    /// Only VM types of this provider, or `any` [default: of those that were measured]
    #[arg(long)]
    provider: Option<String>,
    /// Only VM types that were measured, none of the rest of the catalogue
    #[arg(long, conflicts_with = "model")]
    only_measured: bool,
    /// Prices of this region; `any`, of the cheapest for each VM type [default: the cheapest that has most of the VM types]
    #[arg(long)]
    region: Option<String>,
    /// Only this market; spot where both prices and lives of VMs are known
    #[arg(long, value_enum, default_value_t)]
    market: MarketChoice,
    /// VMs that are committed for this term, used or not: their price for the hours of the job
    #[arg(long, value_enum, value_name = "TERM", conflicts_with = "market")]
    commitment: Option<Term>,
    /// USD per hour on demand of a VM type, whatever the catalogue says; may be repeated
    #[arg(long, value_name = "VM=USD", value_parser = own_price)]
    usd_per_hour: Vec<(String, f64)>,
    /// USD per hour that all VMs together may cost
    #[arg(long, value_name = "USD", value_parser = usd)]
    max_usd_per_hour: Option<f64>,
    /// Highest spot price in USD per hour, of all VM types or of one; may be repeated
    #[arg(long, value_name = "[VM=]USD", value_parser = spot_cap)]
    max_spot_usd: Vec<(Option<String>, f64)>,
    /// VMs that are paid for: up to N of this type cost nothing more, further ones are on demand; may be repeated
    #[arg(long, value_name = "VM=N", value_parser = reserved)]
    reserved: Vec<(String, u32)>,
    /// Minutes until VMs train, in the job and in a measurement
    #[arg(long, value_name = "MIN", default_value_t = 5.0, value_parser = units::minutes)]
    setup_min: f64,
    /// Steps of a measurement, those before it is timed included [default: 120; 10 of a model]
    #[arg(long, value_name = "N", value_parser = units::count32::<1, 1_000_000>)]
    steps: Option<u32>,
    /// How often the job is to be trained: what a measurement saves, it saves each time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    times: u32,
    /// Simulated runs of each configuration
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(20..=100_000))]
    runs: u32,
    /// Form on stdout
    #[arg(long, value_enum, default_value_t)]
    format: AdviceFormat,
    /// Write a SkyPilot task for the recommendation to this file
    #[arg(long, value_name = "FILE")]
    sky: Option<PathBuf>,
    /// Print the commands of the provider that rent its VMs, and give them back
    #[arg(long)]
    commands: bool,
    /// Keep the workload, as `import profile` would write it, in this folder
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Write a page about the answer to this file
    #[cfg(feature = "figures")]
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Replace what `--keep` or `--sky` would write over
    #[arg(long)]
    force: bool,
    /// Threads; all cores when absent. Results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
}

/// How long VMs are committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Term {
    /// A year
    #[value(name = "1y")]
    OneYear,
    /// Three years
    #[value(name = "3y")]
    ThreeYears,
}

/// In which market.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum MarketChoice {
    /// On demand
    #[default]
    OnDemand,
    /// Spot
    Spot,
    /// Whichever is better
    Any,
}

/// Form of advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum AdviceFormat {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

fn usd(text: &str) -> Result<f64, &'static str> {
    let usd = text.trim().trim_start_matches('$').parse().ok();
    usd.filter(|usd| (0.0..=1e6).contains(usd))
        .ok_or("expected USD per hour from 0 to a million, like 2.50")
}

fn own_price(text: &str) -> Result<(String, f64), &'static str> {
    let pair = text
        .rsplit_once('=')
        .map(|(vm, price)| (vm.trim(), usd(price)));
    match pair {
        Some((vm, Ok(usd))) if !vm.is_empty() => Ok((vm.to_owned(), usd)),
        _ => Err("expected VM=USD, like my-box=2.50, from 0 (paid for) to a million"),
    }
}

fn spot_cap(text: &str) -> Result<(Option<String>, f64), &'static str> {
    if text.contains('=') {
        own_price(text).map(|(vm, usd)| (Some(vm), usd))
    } else {
        usd(text).map(|usd| (None, usd))
    }
}

fn reserved(text: &str) -> Result<(String, u32), &'static str> {
    let pair = text.rsplit_once('=');
    let pair = pair.and_then(|(vm, vms)| Some((vm.trim(), vms.trim().parse().ok()?)));
    match pair {
        Some((vm, vms @ 1..)) if !vm.is_empty() => Ok((vm.to_owned(), vms)),
        _ => Err("expected VM=N, like p4d.24xlarge=2"),
    }
}

impl AdviseArgs {
    pub fn run(self, signals: &Signals) -> Result<Exit, Failure> {
        if let Some(profile) = &self.profile {
            profile.refuse_scenario()?;
        }
        let mut wrong = Diagnostics::default();
        self.check(&mut wrong);
        let in_time = self.in_time.read(self.max_miss, &mut wrong);
        if self.in_time.is_given() && !wrong.is_empty() {
            return Err(Failure::Wrong(wrong));
        }
        terminal::warn(&strange_prices(
            &self.wanted().own_usd,
            Catalogue::current(),
        ));
        let profile = match (&self.of_model, &self.profile) {
            (Some(of_model), _) if wrong.is_empty() => {
                let question = self.model_question(of_model, in_time.as_ref())?;
                let is_json = self.format == AdviceFormat::Json;
                return advise_model::run(&question, self.jobs(), is_json, in_time, signals);
            }
            (None, Some(profile)) => profile,
            _ => return Err(Failure::Wrong(wrong)),
        };
        let question = self.question(profile, in_time.as_ref());
        let jobs = self.jobs();
        let interrupt = signals.raise_first()?;
        let progress = Progress::for_unbounded_work("advise");
        let advice = advise(&question, jobs, interrupt);
        drop(progress);
        let advice = match advice {
            Ok(advice) if wrong.is_empty() => advice,
            Err(NoAdvice::Failed(why)) if wrong.is_empty() => return Err(why.into()),
            Err(NoAdvice::Failed(NoRanking::Interrupted)) => return Err(Failure::Interrupted),
            Err(NoAdvice::Wrong(more)) => {
                wrong.extend(more);
                return Err(Failure::Wrong(wrong));
            }
            _ => return Err(Failure::Wrong(wrong)),
        };
        terminal::warn(advice.report.warnings());
        if let Some(out) = &self.keep {
            trial::workload(&advice.files, out).map_err(Failure::Wrong)?;
            folder::write(&advice.files, out, Kind::WORKLOAD)?;
        }
        if let Some(in_time) = &in_time {
            self.plan(in_time, &question, &advice, (jobs, interrupt))?;
            return Ok(Exit::Done);
        }
        match self.format {
            AdviceFormat::Text => terminal::print(&text::render(&advice))?,
            AdviceFormat::Json => {
                let mut value = json::value(&advice);
                if let (true, Some(best)) = (self.commands, advice.choices.first()) {
                    value["commands"] = hand_over::commands(&advice.name, best).ok().into();
                }
                terminal::print(&format!("{value:#}\n"))?;
            }
        }
        self.hand_over(&advice.name, advice.choices.first())?;
        #[cfg(feature = "figures")]
        if let Some(file) = &self.report {
            super::page::put(&scavsim_show::page::of_advice::contents(&advice), file)?;
        }
        Ok(if advice.choices.is_empty() {
            Exit::SomeCasesFailed
        } else {
            Exit::Done
        })
    }

    /// Plans a deadline with an advice, and prints the answer.
    fn plan(
        &self,
        in_time: &DeadlineQuestion,
        question: &Question,
        advice: &Advice,
        (jobs, interrupt): (usize, &Interrupt),
    ) -> Result<(), Failure> {
        let restore_s = question.import.restore_s.unwrap_or(profile::RESTORE_S);
        let rentals = RentalAdvice::from_measurements(advice, restore_s);
        let effort = PlanningOptions {
            setup_min: self.setup_min,
            caps: &question.wanted.caps,
            lives: question.runs,
            jobs,
            interrupt,
        };
        in_time.answer(&rentals, effort, |answer| {
            let first = answer.first().map(|(at, offer, came)| Choice {
                offer: offer.clone(),
                time_h: came.done_h,
                cost_usd: came.cost_usd,
                ..advice.choices[at].clone()
            });
            let wanted = first.as_ref().filter(|_| self.commands);
            let commands = wanted.and_then(|one| hand_over::commands(&advice.name, one).ok());
            answer.print(self.format == AdviceFormat::Json, commands)?;
            self.hand_over(&advice.name, first.as_ref())
        })
    }

    fn check(&self, wrong: &mut Diagnostics) {
        let mut refuse = |option: &str, legal: &str| {
            let title = format!("--{option} is invalid");
            wrong.push(Diagnostic::general(title).with_help(format!("expected {legal}")));
        };
        let above = |value: Option<f64>| value.is_some_and(|v| !v.is_finite() || v <= 0.0);
        if above(self.max_time) {
            refuse("max-time", "hours above 0");
        }
        if above(self.mean_time) {
            refuse("mean-time", "hours above 0");
        }
        if above(self.max_cost) {
            refuse("max-cost", "USD above 0");
        }
        if self.max_miss.is_some_and(|m| !(m > 0.0 && m < 1.0)) {
            refuse("max-miss", "a share above 0 and below 1, like 0.05");
        }
        let has_limit = self.max_time.is_some() || self.max_cost.is_some();
        if self.max_miss.is_some() && !has_limit && !self.in_time.is_given() {
            let legal = "a limit that can be missed: --max-time, --max-cost or --deadline";
            refuse("max-miss", legal);
        }
        if self.in_time.is_given() && !matches!(self.objective, RankOrder::Cost) {
            refuse("objective", "`cost` with --deadline");
        }
        #[cfg(feature = "figures")]
        if self.in_time.is_given() && self.report.is_some() {
            refuse("report", "a page of an advice without --deadline");
        }
        let is_on_demand = self.market != MarketChoice::Spot && self.commitment.is_none();
        if !self.reserved.is_empty() && !is_on_demand {
            refuse(
                "reserved",
                "it with VMs on demand: without `--market spot` and --commitment",
            );
        }
        if !self.max_spot_usd.is_empty()
            && self.market == MarketChoice::OnDemand
            && !self.in_time.is_given()
        {
            refuse(
                "max-spot-usd",
                "it with spot VMs: `--market spot`, `--market any` or --deadline",
            );
        }
        if !(0.0..=1440.0).contains(&self.setup_min) {
            refuse("setup-min", "minutes from 0 to 1440");
        }
        if let Some(path) = &self.sky {
            refuse_existing(path, self.force, wrong);
        }
        if let Some(out) = &self.keep {
            let inputs: Vec<&Path> = self.profile.iter().map(|p| p.file.as_path()).collect();
            folder::check(out, Kind::WORKLOAD, self.force, &inputs, wrong);
        }
    }

    fn question(&self, profile: &ProfileArgs, in_time: Option<&DeadlineQuestion>) -> Question {
        let name = match stem(&profile.file) {
            stem if not_a_name(&stem).is_none() => stem,
            // The file's name is not a valid name for results.
            _ => "profile".to_owned(),
        };
        Question {
            import: profile.options(name, self.passes.epochs),
            wanted: self.wanted(),
            goal: self.goal(in_time),
            setup_min: self.setup_min,
            steps: self.steps.unwrap_or(120),
            times: f64::from(self.times),
            runs: u64::from(self.runs),
        }
    }

    fn wanted(&self) -> OfferFilter {
        let caps = self.max_spot_usd.iter();
        OfferFilter {
            provider: self.provider.clone(),
            only_measured: self.only_measured,
            region: self.region.clone(),
            market: match self.market {
                _ if self.commitment == Some(Term::OneYear) => Some(Market::Commitment1y),
                _ if self.commitment == Some(Term::ThreeYears) => Some(Market::Commitment3y),
                MarketChoice::OnDemand => Some(Market::OnDemand),
                MarketChoice::Spot => Some(Market::Spot),
                MarketChoice::Any => None,
            },
            own_usd: self
                .usd_per_hour
                .iter()
                .cloned()
                .collect::<BTreeMap<_, _>>(),
            spot_run_h: self.in_time.stated_run_h(),
            caps: PriceCaps {
                cluster_usd: self.max_usd_per_hour,
                spot_usd: caps
                    .clone()
                    .find_map(|(vm, usd)| vm.is_none().then_some(*usd)),
                spot_usd_of: caps
                    .filter_map(|(vm, usd)| Some((vm.clone()?, *usd)))
                    .collect(),
            },
            reserved: self.reserved.iter().cloned().collect(),
        }
    }

    /// What to look for, within which limits: a deadline is one.
    fn goal(&self, in_time: Option<&DeadlineQuestion>) -> Goal {
        let deadline_h = in_time.map(DeadlineQuestion::hours);
        Goal {
            objective: self.objective.into(),
            limits: Limits {
                max_time_s: deadline_h.or(self.max_time).map(|h| 3600.0 * h),
                max_cost_usd: self.max_cost,
                max_miss: in_time.map(DeadlineQuestion::miss).or(self.max_miss),
            },
            max_mean_time_s: self.mean_time.map(|h| 3600.0 * h),
        }
    }

    fn model_question(
        &self,
        of: &OfModel,
        in_time: Option<&DeadlineQuestion>,
    ) -> Result<ModelQuestion, Failure> {
        Ok(ModelQuestion {
            model: of.model.clone(),
            tokens: of.tokens.map_or(0.0, |tokens| tokens as f64),
            data: self.tuning.samples(self.passes.epochs)?,
            tuning: self.tuning.question(),
            sequence: of.sequence,
            batch: of.global_batch,
            runtime: of.runtime.clone(),
            precision: of.precision.clone(),
            gpus: of.gpus.clone(),
            most_gpus: of.most_gpus,
            wanted: self.wanted(),
            goal: self.goal(in_time),
            setup_min: self.setup_min,
            // Steps of a large model are long and vary little.
            steps: self.steps.unwrap_or(10),
            runs: u64::from(self.runs),
        })
    }

    fn jobs(&self) -> usize {
        self.jobs.map_or_else(scenarios::available, usize::from)
    }

    fn hand_over(&self, name: &str, best: Option<&Choice>) -> Result<(), Failure> {
        let Some(best) = best else {
            return Ok(());
        };
        if let Some(path) = &self.sky {
            write_file(path, hand_over::sky(name, best).as_bytes())?;
        }
        if self.commands && self.format == AdviceFormat::Text {
            match hand_over::commands(name, best) {
                Ok(text) => terminal::print(&format!("\n{text}"))?,
                Err(why) => terminal::note(&why.to_string()),
            }
        }
        Ok(())
    }
}
