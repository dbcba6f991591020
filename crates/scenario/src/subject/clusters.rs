//! Clusters that train workloads.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::ReadSubject;
use super::form::{Form, Reading};
use crate::complaints::Complaints;
use crate::configurations::Configurations;
use crate::file::{OutsideHullRule, ScenarioFile};
use crate::machines;
use crate::prices::{Rentals, place_in_cluster};
use crate::{setup, sizes, workloads};
use scavsim_clusters::machine::fleet;
use scavsim_clusters::{Clusters, LeftOut};
use scavsim_data::configuration::{Configuration, vm_type};
use scavsim_data::pricing::RentedVmType;
use scavsim_data::pricing::builtin::{LISTED, LISTED_SPOT};
use scavsim_data::workload::Workload;
use scavsim_experiment::subject::{Search, Setting};
use scavsim_sim::cluster::Setup;

pub(super) const FORM: Form = Form {
    key: "workloads",
    implied_by: &[],
    is_searched: true,
    reads: &[
        "workloads",
        "fidelity",
        "vm",
        "kind",
        "cluster",
        "sync",
        "sync_of",
        "staleness",
        "elastic",
        "spot",
        "variation",
        "search.stored",
        "limits.max_workers",
    ],
    why: "clusters that train know nothing of it",
    why_spot: "",
    several: &[],
    policies: Vec::new,
};

/// Reads the clusters, and how VMs are rented and lost in the first setting.
pub(super) fn read(
    reading: &Reading<'_>,
    complaints: &mut Complaints<'_>,
) -> Option<(Clusters, Setup)> {
    let Reading {
        file, files, given, ..
    } = reading;
    let loaded = named_workloads(reading, complaints);
    let machines = machines::read(file, &loaded, complaints);
    let known: Vec<Option<&Workload>> = loaded.iter().map(Option::as_ref).collect();
    let setup = setup::read(file, &known, &machines, complaints);
    let mut reach = machines::reach(
        &machines,
        file.cluster.outside == OutsideHullRule::Extrapolate,
    );
    setup::extend(&mut reach, &setup, &machines);
    let configurations = Configurations {
        file,
        machines: &machines,
        setup: &setup,
        reach: &reach,
    };
    let names = (file.workloads.iter()).flat_map(|asked| asked.get_ref());
    let spaces: Vec<Option<(Vec<Configuration>, LeftOut)>> = (loaded.iter().zip(names))
        .map(|(w, name)| configurations.for_workload(w.as_ref()?, name, complaints))
        .collect();
    let stored = match &file.search.stored {
        None => workloads::stored(&loaded, complaints),
        Some(names) => workloads::read("stored", names, files, &given.workloads, complaints),
    };
    let loaded: Vec<Workload> = loaded.into_iter().collect::<Option<_>>()?;
    let spaces: Vec<(Vec<Configuration>, LeftOut)> = spaces.into_iter().collect::<Option<_>>()?;
    let (spaces, left_out): (Vec<_>, Vec<_>) = spaces.into_iter().unzip();
    let clusters = Clusters {
        workloads: loaded.into_iter().zip(spaces).collect(),
        search: file.cluster.search,
        stored: stored.into_iter().collect::<Option<_>>()?,
        reach,
        left_out: left_out.into_iter().filter(|l| !l.is_empty()).collect(),
        places: (machines.iter().enumerate())
            .map(|(place, machine)| (Arc::clone(&machine.stand_in.vm), place))
            .collect(),
        machines,
    };
    Some((clusters, setup))
}

fn named_workloads(
    reading: &Reading<'_>,
    complaints: &mut Complaints<'_>,
) -> Vec<Option<Workload>> {
    if let Some(asked) = &reading.file.workloads {
        let own = &reading.given.workloads;
        return workloads::read("workloads", asked, reading.files, own, complaints);
    }
    // After a syntax error the key may only seem to be missing.
    if reading.reads_well {
        let complaint = (complaints.of_file("the key `workloads` is missing"))
            .with_help("name at least one workload; see `scavsim list workloads`");
        complaints.push(complaint);
    }
    Vec::new()
}

impl ReadSubject for Clusters {
    fn representatives(&self) -> Vec<Search> {
        Clusters::representatives(self)
    }

    fn rentals<'s>(&'s self, setup: &'s Setup) -> Rentals<'s> {
        let mut all: Vec<RentedVmType<'_>> = (self.workloads.iter())
            .flat_map(|w| w.1.chunk_by(|a, b| a.vm == b.vm))
            .filter_map(|alike| alike.first())
            .flat_map(|c| match setup.kinds.get(&c.vm) {
                Some(kind) => kind.rented().collect(),
                None => vec![RentedVmType::as_priced(vm_type(&c.vm))],
            })
            .collect();
        all.sort_unstable();
        all.dedup();
        Rentals {
            fleet: fleet(&self.machines),
            all,
            are_lost: setup.spot.is_some(),
        }
    }

    fn leave_out(&mut self, vms: &BTreeSet<String>, setup: &Setup) -> bool {
        let stays = |c: &Configuration| match setup.kinds.get(&c.vm) {
            Some(kind) => kind.rented().all(|rented| !vms.contains(rented.vm)),
            None => !vms.contains(vm_type(&c.vm)),
        };
        let can = (self.workloads.iter()).all(|(_, all)| all.is_empty() || all.iter().any(stays));
        if can {
            self.workloads
                .iter_mut()
                .for_each(|(_, all)| all.retain(stays));
        }
        can
    }

    /// The policy with which all workloads were published, on their measured VM types; otherwise the listed price.
    fn unnamed_policy(&self, file: &ScenarioFile) -> &str {
        let mut published = self.workloads.iter().map(|(w, _)| w.pricing.as_deref());
        if let (Some(Some(first)), true) = (published.next(), file.vm.is_empty())
            && published.all(|other| other == Some(first))
        {
            return first;
        }
        // A kind gives the terms of its VMs.
        if file.spot.is_some() && file.kind.is_empty() {
            LISTED_SPOT
        } else {
            LISTED
        }
    }

    fn place_of(&self, file: &ScenarioFile, vm: &str) -> Option<Range<usize>> {
        let table = file.vm.keys().find(|name| name.get_ref() == vm);
        let workload = || {
            let asked = file.workloads.as_ref()?.get_ref();
            let runs = |(_, all): &(Workload, Vec<Configuration>)| {
                all.iter().any(|c| vm_type(&c.vm) == vm)
            };
            let at = self.workloads.iter().position(runs);
            // A kind of cluster has the type among others.
            Some(asked.get(at.unwrap_or(0))?.span())
        };
        let table = table.map(|name| name.span());
        table
            .or_else(|| place_in_cluster(file, vm))
            .or_else(workload)
    }

    fn setup(&self, file: &ScenarioFile, complaints: &mut Complaints<'_>) -> Setup {
        let loaded: Vec<Option<&Workload>> = self.workloads.iter().map(|(w, _)| Some(w)).collect();
        setup::read(file, &loaded, &self.machines, complaints)
    }

    fn add_setting(
        &mut self,
        file: &ScenarioFile,
        setting: &Setting,
        complaints: &mut Complaints<'_>,
    ) {
        let terms = (&setting.setup, &setting.variation);
        sizes::check(file, &self.workloads, &self.reach, terms, complaints);
    }
}
