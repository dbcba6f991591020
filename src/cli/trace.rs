//! `scavsim trace`: runs one case again and writes down all events.

use std::path::PathBuf;

use clap::Args;

use super::exit::{Exit, Failure, wrong};
use super::programs::ProgramsArg;
use super::progress::Progress;
use super::set::SetArgs;
use super::trace_search::write;
use super::{out, precision, scenarios, terminal, trace_search};
use scavsim_base::text::words::{plural, usd};
use scavsim_experiment::evaluate::TracedCase;
use scavsim_experiment::{Case, Evaluator, Plan};
use scavsim_provision::study::Study;
use scavsim_provision::subject::MarketPolicies;
use scavsim_read::input::checked::Count;
use scavsim_scenario::Overrides;
use scavsim_show::report::trace_names::TraceOf;
use scavsim_show::report::{OutputFolder, trace_jsonl};
use scavsim_sim::training::Fidelity;
use scavsim_sim::training::log::LogEvent;

/// Arguments of `trace`.
#[derive(Debug, Args)]
pub struct TraceArgs {
    /// Scenario file; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Number of the case, as in the column `case` of the records
    #[arg(long, value_name = "N")]
    case: u64,
    /// Write NAME-case-N.events.jsonl to this folder
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Note single worker-steps up to M entries; of the job, its VMs and checkpoints all
    #[arg(long, value_name = "M", default_value_t = 200_000)]
    max_events: u64,
    /// Replace the seed of the scenario
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Replace the number of replicas
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(1..))]
    replicas: Option<u32>,
    #[command(flatten)]
    programs: ProgramsArg,
    #[command(flatten)]
    set: SetArgs,
}

impl TraceArgs {
    pub fn run(self) -> Result<Exit, Failure> {
        let overrides = Overrides {
            seed: self.seed,
            replicas: self.replicas.and_then(Count::new),
            fidelity: None,
            set: self.set.sources()?,
        };
        let mut scenarios = scenarios::load(std::slice::from_ref(&self.file), overrides)?;
        let Some(mut scenario) = scenarios.pop() else {
            return Ok(Exit::Done);
        };
        if scenario.precision.is_some() {
            let wrong = precision::open_number(&scenario, "a case number alone");
            return Err(wrong.into());
        }
        let asked = std::mem::replace(&mut scenario.fidelity, Fidelity::Event);
        let cases = scenario.cases();
        if self.case >= cases {
            let what = format!(
                "there is no case {}: `{}` has {cases} cases, numbered from 0",
                self.case, scenario.name
            );
            return Err(wrong(
                &what,
                "the column `case` of the records has the numbers",
            ));
        }
        let progress =
            Progress::for_unbounded_work(&format!("{}, case {}", scenario.name, self.case));
        let mut plan = Plan::new(&scenario).map_err(anyhow::Error::new)?;
        let case = plan.case(self.case);
        if let Some(own) = (scenario.settings.own).get(plan.strategy(case.strategy)) {
            let program = own.program().to_string();
            self.programs.ask_of(&self.file, vec![program])?;
        }
        if plan.lives().is_some() {
            self.programs.ask_of(&self.file, scenario.programs())?;
        }
        let folder = out::writable(OutputFolder::open(&self.out))?;
        if let Some(study) = MarketPolicies::study_of(plan.subject()) {
            drop(progress);
            return TraceArgs::life(&plan, study, case, &folder);
        }
        let facts = plan.arena(case.arena).map(|arena| arena.ground.facts());
        if facts.is_ok_and(|facts| facts.rented.is_none()) {
            plan.notes_probes = true;
            trace_search::written(&plan, &scenario.settings, case, &folder, progress)?;
            return Ok(Exit::Done);
        }
        // Bags and grids have only one fidelity.
        if asked != Fidelity::Event && scenario.subject.has_fidelities() {
            terminal::note(&format!(
                "`{}` asks for fidelity `{}`; this is another draw of the same job, in `event`: its times \
                 are not those of the record",
                plan.scenario,
                asked.name()
            ));
        }
        let watched = Evaluator::new(&plan)
            .watch(case, self.max_events)
            .map_err(|why| anyhow::anyhow!("case {} has no result: {why}", self.case))?;
        drop(progress);
        if let Some(full) = watched.entries.iter().find(|e| e.what == LogEvent::Full) {
            terminal::note(&format!(
                "single worker-steps are noted up to {} entries, until {:.3} s; `--max-events` takes more",
                self.max_events,
                full.at.seconds()
            ));
        }
        TraceArgs::written(&plan, &watched, &folder)?;
        Ok(Exit::Done)
    }

    /// Writes the file of a life under a policy, and reports how it ended.
    fn life(
        plan: &Plan,
        study: &Study,
        case: Case,
        folder: &OutputFolder,
    ) -> Result<Exit, Failure> {
        let (life, seed) = (case.replica as usize, plan.terms.streams.seed);
        let watched = study.watch(case.arena, life, case.strategy, seed);
        let Some((outcome, timeline)) = watched else {
            return Err(anyhow::anyhow!("case {} has no result", case.number).into());
        };
        let of = TraceOf::new(plan, case, Fidelity::Event.name(), &[]);
        let name = of.file_name();
        write(folder, &name, |file| {
            trace_jsonl::write_life(&of, &timeline, &study.settings[case.arena], file)
        })?;
        let end = match outcome.finished {
            Some(at) => format!("done after {:.3} h", at.hours()),
            None => "not done when the market's time was over".to_owned(),
        };
        let pricing = &plan.policies[case.policy];
        let mut usd_in_all = outcome.cost_usd();
        if !pricing.is_plain_market() {
            terminal::note(&format!(
                "dollars in the file are the market's, before the rules of `{}`",
                pricing.name
            ));
            let billed_usd = Evaluator::new(plan).evaluate(case).cost_usd;
            usd_in_all = billed_usd.unwrap_or(usd_in_all);
        }
        let told = format!(
            "{of}\n{end} for {}; {}\n{}: {} entries\n",
            usd(usd_in_all),
            plural(u64::from(outcome.losses), "loss"),
            folder.file(&name).display(),
            timeline.entries.len(),
        );
        terminal::print_lines(&told)?;
        Ok(Exit::Done)
    }

    /// Writes the file of a traced job, and reports how it ended.
    fn written(
        plan: &Plan,
        watched: &TracedCase<'_>,
        folder: &OutputFolder,
    ) -> Result<(), Failure> {
        let ground = &watched.arena.ground;
        let vms = ground.facts().rented.unwrap_or_default();
        let of = TraceOf::new(plan, watched.case, Fidelity::Event.name(), vms);
        let name = of.file_name();
        write(folder, &name, |file| {
            trace_jsonl::write(&of, &watched.entries, file)
        })?;
        let line = &watched.line;
        let at = line.reached.unwrap_or(line.choice);
        let on = match watched.arena.world() {
            Ok(world) => {
                let trained = &world.truths[at].configuration;
                let (workers, vm, batch) = (trained.workers, &trained.vm, trained.batch);
                format!("{workers} workers of {vm}, batch {batch}")
            }
            Err(_) => watched.arena.space.name(at),
        };
        let when = match line.reached {
            Some(_) => " during the search",
            None => "",
        };
        let told = format!(
            "{of}\n\
             target reached{when} after {:.3} h on {on}; {} VMs lost\n\
             {}: {} entries\n",
            line.net_end.hours(),
            line.lost_vms,
            folder.file(&name).display(),
            watched.entries.len(),
        );
        terminal::print_lines(&told)?;
        Ok(())
    }
}
