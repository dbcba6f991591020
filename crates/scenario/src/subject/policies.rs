//! Policies that decide during a run where a job continues: `[policy]`, with `[job]`, `[market]` and `[starts]`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ReadSubject;
use super::form::{Form, Reading};
use crate::complaints::Complaints;
use crate::file::ScenarioFile;
use crate::library;
use crate::prices::Rentals;
use crate::strategies;
use scavsim_data::pricing::{MARKET, Policy};
use scavsim_experiment::scenario::Scenario;
use scavsim_experiment::subject::Search;
use scavsim_experiment::subject::Setting;
use scavsim_provision::study::check::StudyTables;
use scavsim_provision::study::checking::Check;
use scavsim_provision::study::form::JobTable;
use scavsim_provision::study::job_work::{JobWork, excluded};
use scavsim_provision::subject::MarketPolicies;
use scavsim_read::input::checked::Count;
use scavsim_read::input::{Diagnostics, Source, Spanned};
use scavsim_search::search::ALL_KNOWING;
use scavsim_sim::cluster::Setup;

pub(super) static FORM: Form = Form {
    key: "policy",
    implied_by: &["job", "market", "starts"],
    is_searched: false,
    reads: &[
        "job",
        "market",
        "starts",
        "policy",
        "pricing",
        "search.strategies",
        "search.reconsider",
    ],
    several: &[
        "job.deadline_h",
        "job.changeover_s",
        "job.reconfigure_s",
        "job.work_h",
        "job.checkpoint_gb",
    ],
    why: "policies decide during a run; there is nothing to search",
    why_spot: "a market says when there are machines",
    policies: || vec![Policy::of_market()],
};

pub(super) fn read(
    reading: &Reading<'_>,
    complaints: &mut Complaints<'_>,
) -> Option<MarketPolicies> {
    let file = reading.file;
    let traces = (file.market.as_ref()).and_then(|market| market.get_ref().traces.as_ref());
    let folder = traces.map_or(Path::new("."), |traces| {
        reading.files.folder(traces.span().start)
    });
    let search = &file.search;
    let asked = (search.strategies.as_ref().map(Spanned::span))
        .or_else(|| search.reconsider.as_ref().map(Spanned::span));
    if let (Some(place), None) = (asked, asked_work(file)) {
        let title = "strategies under `[policy]` search the configurations of `job.work`";
        complaints.error_at(place, title, "no other scenario is named");
    }
    let work = match job_work(reading, complaints) {
        None if asked_work(file).is_some() => return None,
        work => work,
    };
    let job = job(file, work.as_ref());
    let mut check = Check {
        source: complaints.source,
        base: folder,
        d: complaints.diagnostics,
    };
    let tables = tables(file, job.as_ref(), reading.replicas);
    let mut study = tables.read(&reading.given.decisions, &mut check)?;
    if let Some(work) = &work {
        study.search(work);
    }
    let hashes = work.iter().map(|work| work.hash.clone());
    study.market.hashes.extend(hashes);
    let mut policies = MarketPolicies::new(study, folder.to_owned());
    (policies.replicas, policies.work) = (reading.replicas, work);
    Some(policies)
}

fn asked_work(file: &ScenarioFile) -> Option<&Spanned<String>> {
    file.job.as_ref()?.get_ref().work.as_ref()
}

/// Reads the scenario that `job.work` names; `None` without one, or after a mistake.
fn job_work(reading: &Reading<'_>, complaints: &mut Complaints<'_>) -> Option<JobWork> {
    let name = asked_work(reading.file)?;
    let job = reading.file.job.as_ref()?.get_ref();
    let Some(load) = reading.load else {
        let title = "a scenario with `job.work` cannot be the work of a job";
        complaints.error_at(name.span(), title, "it has policies of its own");
        return None;
    };
    if let Some(other) = excluded(job) {
        let label = "both say how much there is to do";
        complaints.exclude_each_other("job.work", other, name, label);
        return None;
    }
    let path = Path::new(name.get_ref());
    let folder = reading.files.folder(name.span().start);
    let (source, folder) = match library::name(path) {
        Some(known) => (library::source(known), PathBuf::from(library::PREFIX)),
        None => {
            let file = folder.join(path);
            let source = Source::read(&file, &mut Diagnostics::default());
            (source, file.parent().unwrap_or(folder).to_owned())
        }
    };
    let Some(source) = source else {
        let title = format!("there is no scenario `{}`", name.get_ref());
        let wrong = complaints.mistake_at(name.span(), title, "cannot be read");
        complaints.push(wrong.with_help(
            "paths are relative to the file that names them; `library:NAME` is one that is shipped",
        ));
        return None;
    };
    let scenario = load(&source, &folder, complaints.diagnostics)?;
    let strategies = searching(reading, &scenario, complaints)?;
    let rule = reading.file.search.reconsider.as_ref();
    if let Some(never) = rule.filter(|rule| !rule.get_ref().is_ever()) {
        let title = "`search.reconsider` names no occasion";
        let label = "expected an event in `on`, or `every_h`";
        complaints.error_at(never.span(), title, label);
        return None;
    }
    let rule = reading
        .file
        .search
        .reconsider
        .as_ref()
        .map(Spanned::get_ref);
    JobWork::of_scenario(&scenario, &strategies, rule)
        .map_err(|why| {
            let title = format!("`{}` cannot be the work of a job", name.get_ref());
            complaints.error_at(name.span(), title, why.to_string());
        })
        .ok()
}

/// Names of the strategies that search the configurations of the work; empty without names.
fn searching(
    reading: &Reading<'_>,
    work: &Scenario,
    complaints: &mut Complaints<'_>,
) -> Option<Vec<String>> {
    let table = &reading.file.search;
    if table.strategies.is_none() {
        if let Some(rule) = &table.reconsider {
            let title = "`search.reconsider` is of no use without `search.strategies`";
            complaints.error_at(rule.span(), title, "no strategy is named");
            return None;
        }
        return Some(Vec::new());
    }
    let strategies = strategies::read(table, &work.settings, &work.registry, complaints)?;
    let named = (reading.file.policy.iter()).filter_map(|policy| policy.get_ref().names.as_ref());
    let policies: Vec<&str> = (named.flat_map(Spanned::get_ref))
        .map(|name| name.get_ref().as_str())
        .collect();
    let mut are_right = true;
    for strategy in &strategies {
        let name = strategy.get_ref();
        let again = format!("{name}-again");
        let why = if ALL_KNOWING.iter().any(|own| own.name == *name) {
            "it knows the truth; `clairvoyant` is beside all policies"
        } else if [name, &again]
            .iter()
            .any(|own| policies.contains(&own.as_str()))
        {
            "a policy is called so"
        } else {
            continue;
        };
        are_right = false;
        let title = format!("`{name}` cannot search beside these policies");
        complaints.error_at(strategy.span(), title, why);
    }
    if !are_right {
        return None;
    }
    Some(strategies.into_iter().map(Spanned::into_inner).collect())
}

/// The job of a file, with its forms from `work`.
fn job(file: &ScenarioFile, work: Option<&JobWork>) -> Option<Spanned<JobTable>> {
    let job = file.job.as_ref()?;
    Some(work.map_or_else(|| job.clone(), |work| work.fill(job)))
}

fn tables<'t>(
    file: &'t ScenarioFile,
    job: Option<&'t Spanned<JobTable>>,
    replicas: Option<Count>,
) -> StudyTables<'t> {
    StudyTables {
        job,
        market: file.market.as_ref(),
        starts: file.starts.as_ref(),
        policy: file.policy.as_ref(),
        replicas,
    }
}

impl ReadSubject for MarketPolicies {
    fn representatives(&self) -> Vec<Search> {
        Vec::new()
    }

    fn rentals<'s>(&'s self, _: &'s Setup) -> Rentals<'s> {
        Rentals::of_types(&[], false)
    }

    fn unnamed_policy(&self, _: &ScenarioFile) -> &str {
        MARKET
    }

    fn check_prices(
        &self,
        policies: &[Policy],
        reading: &Reading<'_>,
        _: &Rentals<'_>,
        complaints: &mut Complaints<'_>,
    ) {
        let asked = reading.file.pricing.policies.iter();
        let asked = asked.flat_map(|asked| asked.get_ref());
        for name in asked {
            let mut named = policies.iter().filter(|own| own.name == *name.get_ref());
            if named.any(|own| !own.is_of_market()) {
                let title = format!(
                    "pricing policy `{}` does not take the prices of the market",
                    name.get_ref()
                );
                let wrong = complaints.mistake_at(name.span(), title, "has prices of its own");
                complaints.push(wrong.with_help(
                    "under `[policy]` name `market`, or a policy with `market_price = true`",
                ));
            }
        }
    }

    fn add_setting(
        &mut self,
        file: &ScenarioFile,
        setting: &Setting,
        complaints: &mut Complaints<'_>,
    ) {
        if setting.number == 0 {
            return; // It was read with the rest.
        }
        let mut check = Check {
            source: complaints.source,
            base: &self.folder,
            d: complaints.diagnostics,
        };
        let job = job(file, self.work.as_ref());
        let study = Arc::make_mut(&mut self.study);
        tables(file, job.as_ref(), self.replicas).add_to(study, &mut check);
        if let Some(work) = &self.work {
            study.search(work);
        }
    }
}
