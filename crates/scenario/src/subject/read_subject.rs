use std::collections::BTreeSet;
use std::ops::Range;

use super::form::Reading;
use crate::complaints::Complaints;
use crate::file::ScenarioFile;
use crate::prices::{self, Rentals};
use crate::setup;
use scavsim_data::pricing::Policy;
use scavsim_data::pricing::builtin::LISTED;
use scavsim_experiment::subject::{Search, Setting, Subject};
use scavsim_sim::cluster::Setup;

/// The interface of a subject for the check of a scenario.
pub(crate) trait ReadSubject: Subject {
    /// Searches that decide for all searches whether a strategy can be used.
    fn representatives(&self) -> Vec<Search> {
        self.searches()
    }

    fn rentals<'s>(&'s self, setup: &'s Setup) -> Rentals<'s>;

    fn unnamed_policy(&self, _file: &ScenarioFile) -> &str {
        LISTED
    }

    fn check_prices(
        &self,
        policies: &[Policy],
        reading: &Reading<'_>,
        rentals: &Rentals<'_>,
        complaints: &mut Complaints<'_>,
    ) {
        let place = |vm: &str| self.place_of(reading.file, vm);
        let asked = reading.file.pricing.policies.as_ref();
        prices::all_priced(policies, asked, rentals, place, complaints);
    }

    /// Leaves out configurations on these VM types; `false`, without a change, if that is impossible.
    fn leave_out(&mut self, vms: &BTreeSet<String>, _setup: &Setup) -> bool {
        vms.is_empty()
    }

    /// Place of a VM type among those to choose from.
    fn place_of(&self, file: &ScenarioFile, vm: &str) -> Option<Range<usize>> {
        prices::place_in_cluster(file, vm)
    }

    fn setup(&self, file: &ScenarioFile, complaints: &mut Complaints<'_>) -> Setup {
        setup::read(file, &[], &[], complaints)
    }

    /// Adds one more setting, and checks everything that depends on it.
    fn add_setting(
        &mut self,
        _file: &ScenarioFile,
        _setting: &Setting,
        _complaints: &mut Complaints<'_>,
    ) {
    }
}
