//! Runs one scenario, or one shard of it, with the arguments of `run`.

use std::ops::Range;
use std::time::Instant;

use super::consent::{Consent, PlannedRun};
use super::exit::{Exit, Failure};
use super::progress::Progress;
use super::resume::Start;
use super::signals::Signals;
use super::{records, terminal};
use scavsim_engine::Interrupt;
use scavsim_experiment::metrics::KeptMetrics;
use scavsim_experiment::subject::Lives;
use scavsim_experiment::{
    self, Aggregated, Conduct, Finished, Gather, KeyColumns, Plan, RecordColumns, RunEnding, Shard,
    Summary, Tasks,
};
use scavsim_provision::subject::MarketPolicies;
use scavsim_scenario::{ClusterScenario as _, Scenario};
use scavsim_show::report::manifest::Identity;
use scavsim_show::report::{OutputFolder, RecordsFormat, Results, ShardFile, manifest, shard_file};

/// The format of records whose size an estimate knows.
const CSV: &str = "csv";

pub struct Runner<'a> {
    pub jobs: usize,
    /// Whether the first case without a result ends a run.
    pub fail_fast: bool,
    pub interrupt: &'a Interrupt,
    /// Is notified when work has stopped.
    pub signals: Option<&'a Signals>,
    pub formats: &'a [&'static RecordsFormat],
    /// Whether rows have columns that the scenario never fills.
    pub all_columns: bool,
    pub by: Option<&'a KeyColumns>,
    pub printed: &'static KeptMetrics,
    pub consent: Consent,
}

impl Runner<'_> {
    fn plan(&self, scenario: &Scenario) -> Result<Plan, Failure> {
        let begin = Instant::now();
        let progress =
            Progress::for_unbounded_work(&format!("{}: computing expectations", scenario.name));
        let plan = Plan::on_threads(self.jobs, scenario, self.interrupt);
        drop(progress);
        terminal::detail(&format!(
            "{}: prepared in {:.2} s",
            scenario.name,
            begin.elapsed().as_secs_f64()
        ));
        if self.interrupt.is_raised() {
            // Output that was cut off may be wrong in any way.
            Err(Failure::Interrupted)
        } else {
            Ok(plan.map_err(anyhow::Error::from)?)
        }
    }

    /// The identity of a run, with the columns of its rows.
    fn identity(&self, scenario: &Scenario) -> Identity {
        let columns = if self.all_columns {
            RecordColumns::all(scenario)
        } else {
            RecordColumns::of_scenario(scenario)
        };
        manifest::with_columns(manifest::identity(scenario), &columns)
    }

    /// Asks for consent to a part of a run, if it is long or large.
    fn ask(
        &self,
        scenario: &Scenario,
        plan: &Plan,
        share: f64,
        folder: Option<&OutputFolder>,
    ) -> Result<(), Failure> {
        let has_csv = self.formats.iter().any(|format| format.name == CSV);
        self.consent.ask(&PlannedRun {
            scenario,
            plan,
            interrupt: self.interrupt,
            jobs: self.jobs,
            share,
            csv_in: folder.filter(|_| has_csv).map(OutputFolder::path),
        })
    }

    fn evaluate<G: Gather>(
        &self,
        plan: &mut Plan,
        tasks: impl IntoIterator<Item = Range<u64>>,
        progress: &Progress,
        gather: &mut G,
        known: u64,
    ) -> Result<Finished, Failure> {
        let begin = Instant::now();
        let name = plan.scenario.clone();
        let conduct = Conduct {
            jobs: self.jobs,
            fail_fast: self.fail_fast,
            known,
            progress: &progress.counter,
        };
        let finished = scavsim_experiment::gather(plan, tasks, conduct, gather)?;
        if let Some(why) = plan.lives().and_then(Lives::hopeless) {
            return Err(anyhow::anyhow!("{name}: {why}").into());
        }
        for sentence in plan.noticed() {
            terminal::note(&format!("{name}: {sentence}"));
        }
        terminal::detail(&format!(
            "{name}: {} cases on {} threads in {:.2} s",
            finished.cases,
            self.jobs,
            begin.elapsed().as_secs_f64()
        ));
        if let (RunEnding::Interrupted, Some(signals)) = (finished.ending, self.signals) {
            signals.has_stopped();
        }
        Ok(finished)
    }

    /// Runs a scenario, all of it or the rest; returns how it ended, and the summary.
    pub fn run(
        &self,
        scenario: &Scenario,
        folder: Option<&OutputFolder>,
        start: Start,
    ) -> Result<(Finished, Aggregated), Failure> {
        let mut plan = self.plan(scenario)?;
        let behind = match (start, folder) {
            // All of it if the manifest cannot be read: the reason is reported below.
            (Start::Behind, Some(folder)) => manifest::finished(folder.path()).unwrap_or(0),
            _ => 0,
        };
        let left = 1.0 - behind as f64 / plan.cases().max(1) as f64;
        self.ask(scenario, &plan, left, folder)?;
        let stale = scenario.unpriced_staleness();
        let renamed = scenario.renamed.iter().cloned();
        let left_out = scenario.subject.left_out().into_iter();
        for sentence in left_out.chain(renamed).chain(plan.fallbacks()).chain(stale) {
            terminal::note(&format!("{}: {sentence}", scenario.name));
        }
        for (arena, known) in plan.precision() {
            if known.is_cut_short {
                terminal::note(&format!(
                    "{}: {}: expectations are known to {:.1} % only (standard error) after {} runs, the most there may be",
                    scenario.name,
                    plan.arena_name(arena),
                    100.0 * known.error,
                    known.runs
                ));
            }
        }
        for sentence in plan.at_limits() {
            terminal::note(&format!("{}: {sentence}", scenario.name));
        }
        for (arena, runs) in plan.few_runs() {
            terminal::note(&format!(
                "{}: {}: how often limits are missed is counted over {runs} runs only, the most there may be",
                scenario.name,
                plan.arena_name(arena)
            ));
        }
        let tasks = Tasks::from_plan(&plan);
        let progress = Progress::start(&scenario.name, plan.cases());
        let across_vms = scenario.subject.is_across_vms();
        let summary = Summary::new(self.by, across_vms, tasks);
        let Some(folder) = folder else {
            // Unprinted summaries are not needed.
            let printed = match MarketPolicies::study_of(plan.subject()) {
                Some(_) => KeptMetrics::all(),
                None => self.printed,
            };
            let mut summary = summary.keeping(printed);
            let finished = self.evaluate(&mut plan, tasks.behind(0), &progress, &mut summary, 0)?;
            return Ok((finished, summary.finish()?));
        };
        let identity = self.identity(scenario);
        let mut known = 0;
        let (mut results, before) = match start {
            Start::Behind => {
                // Cases of the task in which it stopped are evaluated again, although already known.
                known = manifest::finished(folder.path())?;
                let progress = &progress.counter;
                Results::resume(folder, identity, self.formats, summary, &plan, progress)?
            }
            _ => (
                Results::start(folder, identity, self.formats, summary)?,
                Finished::default(),
            ),
        };
        if start == Start::Behind {
            terminal::note(&format!(
                "{}: resuming after {} of {} cases",
                scenario.name,
                before.cases,
                plan.cases()
            ));
        }
        let all = plan.cases();
        let expectations = manifest::expectations(&plan);
        let left = tasks.behind(before.cases);
        let mut finished = self.evaluate(&mut plan, left, &progress, &mut results, known)?;
        finished.cases += before.cases;
        finished.failed += before.failed;
        if finished.cases == all {
            finished.ending = RunEnding::Complete;
        }
        drop(progress);
        let summary = results.finish(&finished, expectations)?;
        Ok((finished, summary))
    }

    /// Runs one part of a scenario, unless it already exists.
    pub fn run_shard(
        &self,
        scenario: &Scenario,
        folder: &OutputFolder,
        shard: Shard,
    ) -> Result<Finished, Failure> {
        let folder = folder.subfolder(shard_file::FOLDER)?;
        let identity = self.identity(scenario);
        let (index, count) = (shard.index(), shard.count());
        if let Some(failed) = ShardFile::stored(&folder, shard, &identity) {
            terminal::note(&format!(
                "{}: shard {index} of {count} is already there",
                scenario.name
            ));
            let mut finished = Finished::default();
            finished.failed = failed;
            return Ok(finished);
        }
        if let Some(other) = shard_file::of_another_run(&folder, &identity) {
            terminal::note(&format!(
                "{}: {} is of another run; `merge` refuses both together",
                scenario.name,
                other.display()
            ));
        }
        let mut plan = self.plan(scenario)?;
        self.ask(scenario, &plan, 1.0 / count as f64, Some(&folder))?;
        let tasks = Tasks::from_plan(&plan);
        let expectations = manifest::expectations(&plan);
        let mut file = ShardFile::create(&folder, shard, &identity)?;
        let progress = Progress::start(
            &format!("{} {index}/{count}", scenario.name),
            shard
                .tasks(tasks)
                .map(|cases| cases.end - cases.start)
                .sum(),
        );
        let finished = self.evaluate(&mut plan, shard.tasks(tasks), &progress, &mut file, 0)?;
        drop(progress);
        if finished.ending == RunEnding::Complete {
            file.close(&identity, &finished, expectations)?;
        }
        Ok(finished)
    }
}

/// Output that is left after an interrupted run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterruptedOutput {
    /// Only the printed output.
    Nothing,
    Folder,
    WholeShards,
}

impl InterruptedOutput {
    pub fn new(shard: Option<Shard>, folder: Option<&OutputFolder>) -> InterruptedOutput {
        match (shard, folder) {
            (Some(_), _) => InterruptedOutput::WholeShards,
            (None, Some(_)) => InterruptedOutput::Folder,
            (None, None) => InterruptedOutput::Nothing,
        }
    }

    fn sentence(self) -> &'static str {
        match self {
            InterruptedOutput::Nothing => {
                "above is what was finished; with `--out DIR` it would be kept"
            }
            InterruptedOutput::Folder => "what was finished is kept; `--resume` goes on with it",
            InterruptedOutput::WholeShards => "a shard is written whole or not at all",
        }
    }
}

/// Reports how a run ended, if there is something to report.
pub fn judge(scenario: &Scenario, finished: &Finished, kept: InterruptedOutput) -> Exit {
    let (after, all, kept) = (finished.cases, scenario.cases(), kept.sentence());
    match finished.ending {
        RunEnding::Interrupted => {
            terminal::error(&format!("interrupted after {after} of {all} cases; {kept}"));
            return Exit::Interrupted;
        }
        RunEnding::Failed => terminal::error(&format!(
            "stopped at a case without a result, after {after} of {all} cases; {kept}"
        )),
        _ => {}
    }
    records::judge_failures(finished.failed)
}
