//! Scenarios with a target precision: reports the number of replicas before they are run.

use super::exit::Failure;
use super::progress::Progress;
use super::terminal;
use scavsim_engine::Interrupt;
use scavsim_experiment::precision::{self, NotReached};
use scavsim_read::input::Diagnostic;
use scavsim_scenario::Scenario;
use scavsim_show::report::manifest;

/// Gives `scenario` the number of replicas for its target precision, if it has one.
pub fn decide(scenario: &mut Scenario, jobs: usize, interrupt: &Interrupt) -> Result<(), Failure> {
    let Some(wanted) = scenario.precision else {
        return Ok(());
    };
    let progress = Progress::for_unbounded_work(&format!("{}: counting replicas", scenario.name));
    let reached = precision::replicas(scenario, wanted, (jobs, interrupt), &progress.counter);
    drop(progress);
    let reached = reached.map_err(|why| match why {
        NotReached::Interrupted => Failure::Interrupted,
        NotReached::Run(why) => why.into(),
        NotReached::Plan(why) => Failure::Other(why.into()),
    })?;
    scenario.replicas = reached.replicas;
    let (name, count) = (&scenario.name, reached.replicas);
    terminal::note(&match reached.half_width {
        known if known <= wanted.half_width => format!(
            "{name}: {count} replicas: net overheads are known to ±{:.2} %",
            100.0 * known
        ),
        known if known.is_finite() => format!(
            "{name}: {count} replicas, the most there may be: net overheads are known to ±{:.2} % only",
            100.0 * known
        ),
        _ => format!(
            "{name}: {count} replicas, the most there may be: a net overhead has no interval"
        ),
    });
    Ok(())
}

/// Explains why `who` needs the number of replicas.
pub fn open_number(scenario: &Scenario, who: &str) -> Diagnostic {
    let title = format!(
        "`{}` has a `precision`: {who} cannot know how many replicas that takes",
        scenario.name
    );
    Diagnostic::general(title).with_help(format!(
        "give their number by `--replicas`; {} of a whole run has it",
        manifest::FILE
    ))
}
