//! Keys that hold several values → the settings that a scenario is run in.

use super::Setting;
use super::complaints::Complaints;
use super::file::ScenarioFile;
use super::files::Files;
use super::machines::Machine;
use super::{bag, parallel, setup, sizes};
use scavsim_data::configuration::Configuration;
use scavsim_data::workload::{Reach, Workload};
use scavsim_read::input::checked::Spread;
use scavsim_sim::cluster::Setup;
use scavsim_sim::training::Variation;
use scavsim_sim::training::variation::{Drift, Straggler};

/// What all settings of a scenario share.
pub(super) struct Settings<'a> {
    pub(super) files: &'a Files,
    /// Whether the files could be read without complaint.
    pub(super) reads_well: bool,
    pub(super) workloads: &'a [(Workload, Vec<Configuration>)],
    pub(super) machines: &'a [Machine],
    pub(super) reach: &'a Reach,
}

impl Settings<'_> {
    /// All settings, each checked as if it were the only one. Of the first, `file` was read and `setup` made.
    pub(super) fn all(
        &self,
        file: &ScenarioFile,
        setup: Setup,
        is_measured: bool,
        complaints: &mut Complaints<'_>,
    ) -> Vec<Setting> {
        // After a wrong value there may seem to be other settings.
        let document = (self.files.settings()).filter(|_| self.reads_well);
        let name = |at| document.as_ref().map_or(String::new(), |d| d.name(at));
        let mut settings = vec![self.one(name(0), file, setup, is_measured, complaints)];
        let Some(document) = &document else {
            return settings;
        };
        let loaded: Vec<Option<&Workload>> = self.workloads.iter().map(|(w, _)| Some(w)).collect();
        for at in 1..document.readings() {
            let Some(file) = document.read(at, complaints.diagnostics) else {
                continue;
            };
            let setup = setup::read(&file, &loaded, self.machines, complaints);
            settings.push(self.one(name(at), &file, setup, is_measured, complaints));
        }
        settings
    }

    fn one(
        &self,
        name: String,
        file: &ScenarioFile,
        setup: Setup,
        is_measured: bool,
        complaints: &mut Complaints<'_>,
    ) -> Setting {
        let variation = variation(file);
        let bag = bag::terms(file, &setup, complaints);
        let plans = parallel::terms(file, &setup, &variation, complaints);
        if !is_measured && bag.is_none() && plans.is_none() {
            let (workloads, reach) = (self.workloads, self.reach);
            sizes::check(file, workloads, reach, &setup, &variation, complaints);
        }
        Setting {
            name,
            variation,
            setup,
            bag,
            parallel: plans,
            repeats: file.search.repeats.map(|repeats| u64::from(repeats.get())),
        }
    }
}

fn variation(file: &ScenarioFile) -> Variation {
    let v = &file.variation;
    let spread = |s: Option<Spread>| s.map_or(0.0, Spread::get);
    Variation {
        step_cv: spread(v.step_cv),
        placement_sigma: spread(v.placement_sigma),
        vm_sigma: spread(v.vm_sigma),
        noise_cv: spread(v.noise_cv),
        noise_curve: v.noise_curve,
        epoch_cv: spread(v.epoch_cv),
        drift: v.drift.as_ref().map(|d| Drift {
            sigma: d.sigma.get(),
            period_s: d.period_s.get(),
        }),
        straggler: v.straggler.as_ref().map(|s| Straggler {
            probability: s.probability.get(),
            factor: s.factor.get(),
        }),
    }
}
