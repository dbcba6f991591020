//! `scavsim trace` of a search on real runs: it cannot simulate them, but reports the probes.

use std::io;

use super::exit::Failure;
use super::progress::Progress;
use super::terminal;
use scavsim_base::output::PartialFile;
use scavsim_experiment::{Case, Evaluator, Plan, Status};
use scavsim_search::search::{Settings, registry};
use scavsim_show::report::OutputFolder;
use scavsim_show::report::trace_names::TraceOf;
use scavsim_show::report::trace_search::SearchTrace;

/// Evaluates a case of a plan that records probes, writes its file and reports its events.
pub(super) fn written(
    plan: &Plan,
    settings: &Settings,
    case: Case,
    folder: &OutputFolder,
    progress: Progress,
) -> Result<(), Failure> {
    let arena = plan
        .arena(case.arena)
        .map_err(|why| anyhow::anyhow!("{why}"))?;
    let mut evaluator = Evaluator::new(plan);
    let record = evaluator.evaluate(case);
    if arena.oracle[case.policy][case.objective].is_none() {
        let why = anyhow::anyhow!("case {} has no result: {}", case.number, record.reason);
        return Err(why.into());
    }
    let ends = evaluator.ends(case);
    drop(progress);
    let forecast = evaluator.forecast();
    let ended = End {
        budget: budget(plan.strategy(case.strategy), settings),
        questions: evaluator.questions().len(),
        knows_all: arena.contenders[case.strategy].strategy.is_none(),
        decided: forecast.decided.is_some(),
        predicted: forecast.time_s.iter().flatten().count(),
        chose: !evaluator.ran().is_empty(),
        failed: (record.status != Status::Ok).then_some(&record.reason),
    }
    .sentence();
    let trace = SearchTrace {
        of: TraceOf::new(plan, case, arena.ground.provenance(0), &[]),
        space: &arena.space,
        questions: evaluator.questions(),
        predicted: &forecast.time_s,
        ran: evaluator.ran(),
        ends: &ends,
        ended: &ended,
        record: &record,
    };
    let file = trace.of.file_name();
    write(folder, &file, |into| trace.write(into))?;
    let page = terminal::page();
    let place = folder.file(&file);
    let last = format!("{}: {} entries", place.display(), trace.entries());
    terminal::print(&(trace.text(&page) + &page.prose(&last, 2)))?;
    Ok(())
}

/// Writes a temporary file, then renames it.
pub(super) fn write(
    folder: &OutputFolder,
    name: &str,
    contents: impl FnOnce(&mut PartialFile) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = folder.create(name)?;
    contents(&mut file)?;
    file.close()
}

/// The limit on questions or runs of a strategy, if it has such a setting.
fn budget(name: &str, settings: &Settings) -> Option<u64> {
    if let Some((_, budget)) = name.split_once('@') {
        return budget.parse().ok();
    }
    let all = serde_json::to_value(settings).ok()?;
    let own = all.get(registry::base(name))?;
    let keys = ["probes", "budget"].into_iter();
    keys.filter_map(|key| own.get(key)?.as_u64()).next()
}

struct End<'a> {
    budget: Option<u64>,
    questions: usize,
    knows_all: bool,
    decided: bool,
    predicted: usize,
    chose: bool,
    failed: Option<&'a str>,
}

impl End<'_> {
    /// Why the search ended, as far as it is visible from outside the strategy.
    fn sentence(&self) -> String {
        let budget = match self.budget {
            _ if self.knows_all => "",
            Some(budget) if self.questions as u64 >= budget => "Its budget was used up: ",
            Some(_) => "It ended before its budget was used up: ",
            None => "It ended by its own rule: ",
        };
        match self.failed {
            Some(why) if self.chose => {
                format!("{budget}it chose, and no choice came to the target: {why}.")
            }
            Some(why) => format!("It failed: {why}."),
            None if self.knows_all => "Nothing was searched: it knows the truth.".to_owned(),
            None if self.decided => format!("{budget}it named its choice itself."),
            None => format!(
                "{budget}the objective picked from the {} times that it predicts.",
                self.predicted
            ),
        }
    }
}
