//! The measured grid of a scenario, instead of simulated workloads.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ReadSubject;
use super::form::{Form, Reading};
use super::grid_types;
use crate::axis::Exclusion;
use crate::complaints::Complaints;
use crate::file::ScenarioFile;
use crate::files::Files;
use crate::prices::Rentals;
use crate::setup;
use scavsim_data::cloud::Fleet;
use scavsim_data::configuration::vm_type;
use scavsim_data::pricing::{AS_MEASURED, NoPrice, Policy, RentedVmType};
use scavsim_grids::measured_grid::MOST_RUNS;
use scavsim_grids::subject::MeasuredJobs;
use scavsim_grids::{Grid, MeasuredGrid, library, load};
use scavsim_read::input::{Folder, Spanned, listed};
use scavsim_search::testbed::Environment;
use scavsim_sim::cluster::Setup;

pub(super) const FORM: Form = Form {
    key: "grid",
    implied_by: &[],
    is_searched: true,
    reads: &[
        "grid",
        "jobs",
        "vm",
        "cluster.exclude",
        "limits.max_workers",
        "search.known_runs",
        "search.fleet",
    ],
    why: "a measured grid has its own configurations and its own truth",
    why_spot: "",
    several: &["search.known_runs"],
    policies: || vec![Policy::as_measured()],
};

/// Reads the grid, and how VMs are rented and lost in its first setting.
pub(super) fn read(
    reading: &Reading<'_>,
    complaints: &mut Complaints<'_>,
) -> Option<(MeasuredJobs, Setup)> {
    let Reading { file, files, .. } = reading;
    let setup = setup::read(file, &[], &[], complaints);
    let name = file.grid.as_ref()?;
    let grid = grid(name, files, complaints)?;
    let places = asked_jobs(file, &grid, complaints)?;
    exclusions_known(&file.cluster.exclude, &grid, complaints);
    let mut jobs = Vec::new();
    for place in places {
        let job = &grid.jobs[place];
        let excluded = |at: usize| {
            let mut all = file.cluster.exclude.iter();
            all.any(|e| !e.get_ref().is_empty() && e.get_ref().matches_in(&job.space, at))
        };
        let most = file.limits.max_workers.as_ref();
        let too_large = |at: usize| {
            most.zip(job.space.workers(at))
                .is_some_and(|(most, workers)| workers > most.get_ref().get())
        };
        let kept: Vec<usize> = (0..job.space.len())
            .filter(|&at| !excluded(at) && !too_large(at))
            .collect();
        let last = file.cluster.exclude.last().map(Spanned::span);
        if kept.is_empty() {
            let title = format!("nothing is left of the configurations of `{}`", job.name);
            let span = last.or(most.map(Spanned::span)).unwrap_or(name.span());
            complaints.error_at(span, title, "rules out all of them");
            continue;
        }
        if job.count_runs() > MOST_RUNS {
            let title = format!("`{}` has more than {MOST_RUNS} runs", job.name);
            complaints.error_at(name.span(), title, "too many for one job");
            continue;
        }
        jobs.push(Arc::new(job.only(&kept)));
    }
    if let (Some(fleet), Some(_)) = (&file.search.fleet, file.search.known_runs)
        && *fleet.get_ref()
    {
        let title = "`search.fleet` and `search.known_runs` exclude each other";
        complaints.error_at(
            fleet.span(),
            title,
            "strategies know what they saw themselves",
        );
    }
    let types = grid_types::types(file, grid.types.clone(), &jobs, complaints);
    let measured = MeasuredJobs::new(grid, jobs, types);
    (!measured.jobs.is_empty()).then_some((measured, setup))
}

impl ReadSubject for MeasuredJobs {
    /// Rentals of the runs, which lost no VM.
    fn rentals<'s>(&'s self, _: &'s Setup) -> Rentals<'s> {
        let spaces = self.jobs.iter().map(|job| &job.space);
        let vms = spaces.flat_map(|space| (0..space.len()).filter_map(|at| space.vm(at)));
        let types: BTreeSet<&str> = vms.map(|vm| vm_type(vm)).collect();
        Rentals {
            fleet: Fleet::listed(),
            all: types.into_iter().map(RentedVmType::as_priced).collect(),
            are_lost: false,
        }
    }

    fn unnamed_policy(&self, _: &ScenarioFile) -> &str {
        AS_MEASURED
    }

    fn check_prices(
        &self,
        policies: &[Policy],
        reading: &Reading<'_>,
        _: &Rentals<'_>,
        complaints: &mut Complaints<'_>,
    ) {
        let asked = reading.file.pricing.policies.iter();
        let asked: Vec<&Spanned<String>> = asked.flat_map(|asked| asked.get_ref()).collect();
        for policy in policies {
            let mut missing: Vec<NoPrice> = (self.jobs.iter())
                .filter_map(|job| {
                    let ground = MeasuredGrid::new(Arc::clone(job), self.probe);
                    ground.tariff(policy, &Fleet::listed()).err()
                })
                .collect();
            missing.dedup();
            let named = asked.iter().find(|name| *name.get_ref() == policy.name);
            for NoPrice { what, help } in missing {
                let title = format!("pricing policy `{}`: {what}", policy.name);
                let complaint = match named {
                    Some(named) => complaints.mistake_at(named.span(), title, "cannot be charged"),
                    None => complaints.of_file(title),
                };
                complaints.push(complaint.with_help(help));
            }
        }
    }
}

/// A name is an embedded grid; a word with a `/`, or `.`, is a folder.
fn grid(name: &Spanned<String>, files: &Files, complaints: &mut Complaints<'_>) -> Option<Grid> {
    let word = name.get_ref();
    if word.contains('/') || word.starts_with('.') {
        let path = files.folder(name.span().start).join(word);
        if !path.is_dir() {
            let title = format!("there is no folder of a grid `{word}`");
            let complaint = (complaints.mistake_at(name.span(), title, "not a folder")).with_help(
                "`scavsim import grid` makes one; paths are relative to the file that names them",
            );
            complaints.push(complaint);
            return None;
        }
        return load::load(&Folder::Disk(path), complaints.diagnostics);
    }
    let names = library::names();
    if !names.contains(&word.as_str()) {
        let title = format!("unknown grid `{word}`");
        complaints.unknown(title, name, &names, "list grids");
        return None;
    }
    library::load(word, complaints.diagnostics)
}

fn asked_jobs(
    file: &ScenarioFile,
    grid: &Grid,
    complaints: &mut Complaints<'_>,
) -> Option<Vec<usize>> {
    let Some(asked) = &file.jobs else {
        return Some(grid.default_jobs.clone());
    };
    let names: Vec<&str> = grid.jobs.iter().map(|job| job.name.as_str()).collect();
    complaints.not_empty("jobs", asked, &names);
    complaints.no_duplicates("jobs", asked.get_ref());
    let mut places = Some(Vec::new());
    for name in asked.get_ref() {
        match names.iter().position(|known| known == name.get_ref()) {
            Some(place) => places = places.map(|all| [all, vec![place]].concat()),
            None => {
                let title = format!("`{}` has no job `{}`", grid.name, name.get_ref());
                complaints.unknown(title, name, &names, "list grids");
                places = None;
            }
        }
    }
    places.filter(|all: &Vec<usize>| !all.is_empty())
}

fn exclusions_known(
    exclusions: &[Spanned<Exclusion>],
    grid: &Grid,
    complaints: &mut Complaints<'_>,
) {
    let Some(space) = grid.jobs.first().map(|job| &job.space) else {
        return;
    };
    let axes: Vec<&str> = space.axes().iter().map(|axis| &*axis.name).collect();
    for exclusion in exclusions {
        for name in exclusion.get_ref().names() {
            let derived = name == "local_batch" && axes.contains(&"batch");
            if axes.contains(&name) || derived {
                continue;
            }
            let title = format!("`{}` has no axis `{name}`", grid.name);
            let help = format!("its axes: {}", listed(axes.iter().copied()));
            complaints.refuse(exclusion.span(), title, "would leave out nothing", help);
        }
    }
}
