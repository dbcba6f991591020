//! The data for figures and pages of a finished run.

use std::path::PathBuf;

use clap::Args;

use super::exit::{Failure, wrong};
use super::finished::{FinishedRun, same_scenario};
use super::programs::ProgramsArg;
use super::set::SetArgs;
use super::{rank, scenarios, terminal};
use scavsim_data::workload::{Workload, library, load};
use scavsim_engine::Interrupt;
use scavsim_read::input::Diagnostics;
use scavsim_scenario::ClusterScenario as _;
use scavsim_scenario::Scenario;
use scavsim_show::figure::Material;
use scavsim_show::figure::record_digest::RecordDigest;
use scavsim_show::report::manifest::{self, Identity};

/// Up to this many configurations are all evaluated again; above that, the ones in the records are shown.
const MOST_CONFIGURATIONS: usize = 20_000;
/// Runs of each configuration where its figures are means of runs.
const RUNS: u64 = 1;

/// What is known of a run besides its folder.
#[derive(Debug, Clone, Args)]
pub struct KnownArgs {
    /// The scenario file of the run: for all configurations and for predictions, which records do not hold
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    #[command(flatten)]
    pub(super) programs: ProgramsArg,
    #[command(flatten)]
    set: SetArgs,
}

impl KnownArgs {
    pub(super) fn material(
        &self,
        run: &FinishedRun,
        interrupt: &Interrupt,
    ) -> Result<Material, Failure> {
        let set = self.set.sources()?;
        let scenario = match &self.scenario {
            Some(file) => Some(same_scenario(file, set, &run.identity, self.programs)?),
            None if !set.is_empty() => {
                let what = "`-s` replaces a key of the scenario, but none is named".to_owned();
                return Err(wrong(what, "name it with `--scenario FILE`"));
            }
            None => None,
        };
        material(run, scenario, interrupt)
    }
}

/// All data for the figures of a run and its scenario.
pub(super) fn material(
    run: &FinishedRun,
    scenario: Option<Scenario>,
    interrupt: &Interrupt,
) -> Result<Material, Failure> {
    let identity = &run.identity;
    let cases = identity.get("cases").and_then(serde_json::Value::as_u64);
    let across_vms = manifest::is_across_vms(identity);
    let mut gathered = RecordDigest::new(cases.unwrap_or(0), across_vms, run.tasks());
    run.hand_out(&mut gathered)?;
    if gathered.count == 0 {
        return Err(wrong(
            format!("the run of `{}` has no cases", run.name()),
            "its records hold the header only",
        ));
    }
    let (mut rankings, mut workloads) = (None, embedded(identity));
    if let Some(scenario) = &scenario {
        let all = scenario.subject.configurations();
        if all <= MOST_CONFIGURATIONS {
            let jobs = scenarios::available();
            rankings = Some(rank::ranked(scenario, RUNS, jobs, interrupt)?);
        } else {
            terminal::note(&format!(
                "{}: of {all} configurations those that were chosen are shown",
                scenario.name
            ));
        }
        let all = scenario.workloads().iter();
        workloads = all.map(|(workload, _)| workload.clone()).collect();
    }
    Ok(Material::new(
        identity.clone(),
        gathered,
        rankings,
        workloads,
        scenario,
    ))
}

/// The embedded workloads of a run, with the data that the run used.
fn embedded(identity: &Identity) -> Vec<Workload> {
    let all = identity.get("workloads").and_then(|all| all.as_array());
    let one = |entry: &serde_json::Value| {
        let folder = library::embedded(entry["name"].as_str()?)?;
        let workload = load::load(&folder, &mut Diagnostics::default())?;
        (entry["data_hash"] == *workload.hash).then_some(workload)
    };
    all.into_iter().flatten().filter_map(one).collect()
}
