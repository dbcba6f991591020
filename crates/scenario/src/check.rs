//! Turns the file into a checked scenario; all mistakes are reported at once.

use std::path::Path;
use std::sync::Arc;

use super::complaints::Complaints;
use super::extensions::Extensions;
use super::file::ScenarioFile;
use super::file_reader;
use super::files::{Files, hash_with};
use super::measured_defaults::MeasuredDefaults;
use super::price_gaps::PriceGaps;
use super::subject::form::Reading;
use super::subject::{ReadSubject, SubjectAndSetup, SubjectKind};
use super::{axes, extent, precision, prices, scenario_warnings, settings, strategies};
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};
use scavsim_data::pricing::Policy;
use scavsim_data::pricing::builtin::LISTED;
use scavsim_experiment::effort::Effort;
use scavsim_experiment::scenario::{Scenario, ScenarioWarnings};
use scavsim_experiment::subject::Subject;
use scavsim_provision::subject::MarketPolicies;
use scavsim_read::input::checked::{Count, Delay, Positive};
use scavsim_read::input::name::not_a_name;
use scavsim_read::input::{Diagnostic, Diagnostics, Source};
use scavsim_search::search::{CLAIRVOYANT, Limits, Objective};
use scavsim_sim::cluster::Setup;
use scavsim_sim::training::Fidelity;

#[derive(Debug, Clone, Default)]
pub struct Overrides {
    pub seed: Option<u64>,
    pub replicas: Option<Count>,
    pub fidelity: Option<Fidelity>,
    /// Lines of TOML, each a key with its value; a later one wins.
    pub set: Vec<Arc<Source>>,
}

/// Checks the scenario in `source`, with relative paths from `folder`. Returns `None` exactly if something was added to `diagnostics`.
pub fn load(
    source: &Arc<Source>,
    folder: &Path,
    overrides: Overrides,
    diagnostics: &mut Diagnostics,
) -> Option<Scenario> {
    load_with(
        source,
        folder,
        overrides,
        &Extensions::default(),
        diagnostics,
    )
}

/// Like [`load`], with a program's own strategies, prices, policies and workloads.
pub fn load_with(
    source: &Arc<Source>,
    folder: &Path,
    overrides: Overrides,
    given: &Extensions,
    diagnostics: &mut Diagnostics,
) -> Option<Scenario> {
    checked(source, folder, overrides, given, false, diagnostics)
}

/// `is_work`: whether another scenario uses it as the work of its job.
fn checked(
    source: &Arc<Source>,
    folder: &Path,
    overrides: Overrides,
    given: &Extensions,
    is_work: bool,
    diagnostics: &mut Diagnostics,
) -> Option<Scenario> {
    let before = diagnostics.len();
    let (files, file) = file_reader::read(source, folder, &overrides.set, diagnostics);
    let mut file = file?;
    let mut measured = MeasuredDefaults::default();
    measured.fill(&mut file);
    for own in file.strategy.own.values_mut() {
        own.folder = files.folder(own.command.span().start).to_owned();
    }
    for own in (file.policy.iter_mut()).flat_map(|policy| policy.get_mut().own.values_mut()) {
        own.folder = files.folder(own.command.span().start).to_owned();
    }
    let mut check = Check {
        files: &files,
        given,
        is_work,
        reads_well: diagnostics.len() == before,
        complaints: Complaints {
            source: &files.source,
            diagnostics,
        },
    };
    let scenario = check.scenario(&file, measured, overrides);
    if scenario.is_none() && diagnostics.len() == before {
        let title = "the scenario is refused, and scavsim does not know why: a fault of scavsim";
        let wrong = Diagnostic::general(title).with_help("please report it with the scenario");
        diagnostics.push(wrong);
    }
    scenario.filter(|_| diagnostics.len() == before)
}

/// Leaves out policies and VM types without a listed price, and reports them.
fn leave_out_gaps(
    subject: &mut dyn ReadSubject,
    setup: &Setup,
    policies: Option<&mut Vec<Policy>>,
) -> Vec<String> {
    let Some(policies) = policies else {
        return Vec::new();
    };
    let gaps = PriceGaps::find(policies, &subject.rentals(setup));
    if !subject.leave_out(&gaps.vms, setup) {
        return Vec::new();
    }
    policies.retain(|policy| !gaps.policies.contains(&policy.name));
    gaps.sentences
}

struct Check<'a> {
    files: &'a Files,
    given: &'a Extensions,
    is_work: bool,
    reads_well: bool,
    complaints: Complaints<'a>,
}

impl Check<'_> {
    fn scenario(
        &mut self,
        file: &ScenarioFile,
        mut measured: MeasuredDefaults,
        overrides: Overrides,
    ) -> Option<Scenario> {
        let name = self.name(file);
        let load = |source: &Arc<Source>, folder: &Path, d: &mut Diagnostics| {
            checked(source, folder, Overrides::default(), self.given, true, d)
        };
        let reading = &Reading {
            file,
            files: self.files,
            given: self.given,
            replicas: overrides.replicas,
            reads_well: self.reads_well,
            load: (!self.is_work).then_some(&load),
        };
        let complaints = &mut self.complaints;
        let kind = SubjectKind::from_files(self.files);
        let form = kind.form;
        form.report_unread(self.files, complaints);
        if !form.is_searched {
            let read = (kind.read)(reading, complaints);
            return self.policies(name, reading, read?, &mut measured, &overrides);
        }
        axes::check(&file.cluster, complaints);
        let (registry, limits) = (&self.given.registry, limits(file, complaints));
        let strategies = strategies::read(&file.search, &file.strategy, registry, complaints);
        let objectives = strategies::objectives(&file.search, complaints);
        let read = (kind.read)(reading, complaints);
        let unnamed = (read.as_ref()).map_or(LISTED, |(own, _)| own.unnamed_policy(file));
        let mut policies = prices::read(reading, form, unnamed, complaints);
        let (mut subject, setup) = read?;
        let left_out = leave_out_gaps(&mut *subject, &setup, policies.as_mut());
        let rentals = subject.rentals(&setup);
        let charged = policies.iter();
        charged.for_each(|all| subject.check_prices(all, reading, &rentals, complaints));
        let about = (&*subject, &setup);
        let strategies = strategies::usable(file, registry, about, strategies?, complaints);
        let mut remarks = (policies.as_deref())
            .map(|all| {
                scenario_warnings::of_scenario(file, all, (&*subject, &rentals), &strategies)
            })
            .unwrap_or_default();
        drop(rentals);
        let runs_in = settings::all(reading, (&mut *subject, setup), &mut measured, complaints);
        remarks
            .unasked
            .extend(left_out.into_iter().chain(measured.sentence()));
        let replicas = u64::from(overrides.replicas.or(file.replicas).map_or(1, Count::get));
        // A number on the command line replaces the precision.
        let precision = match overrides.replicas {
            None => precision::read(file, replicas, complaints),
            Some(_) => None,
        };
        let factors = [
            runs_in.len() as u64,
            subject.searches().len() as u64,
            policies.as_ref().map_or(0, Vec::len) as u64,
            objectives.len() as u64,
            strategies.len() as u64,
            precision.map_or(replicas, |wanted| wanted.most),
        ];
        extent::cases(file, &factors, complaints);
        let policies = policies?;
        Some(Scenario {
            name,
            seed: overrides.seed.unwrap_or(file.seed),
            replicas,
            antithetic: file.antithetic,
            precision,
            fidelity: overrides.fidelity.unwrap_or(file.fidelity),
            runs_in,
            start_up: SimTime::from_seconds(file.cluster.start_up_s.map_or(0.0, Delay::get)),
            hash: self.hash(file, &*subject, &policies, &strategies),
            subject: Arc::from(subject as Box<dyn Subject>),
            policies,
            objectives,
            strategies,
            remarks,
            renamed: strategies::renamed(&file.search, registry),
            settings: file.strategy.clone(),
            registry: registry.clone(),
            limits,
            effort: Effort::default(),
        })
    }

    /// A scenario of policies: they replace strategies, with the clairvoyant last.
    fn policies(
        &mut self,
        name: String,
        reading: &Reading<'_>,
        read: SubjectAndSetup,
        measured: &mut MeasuredDefaults,
        overrides: &Overrides,
    ) -> Option<Scenario> {
        let (mut subject, setup) = read;
        let complaints = &mut self.complaints;
        if overrides
            .fidelity
            .is_some_and(|asked| asked != Fidelity::default())
        {
            let wrong =
                complaints.of_file("`--fidelity` says nothing of scenarios with `[policy]`");
            complaints.push(wrong.with_help("they are run tick by tick"));
        }
        let form = SubjectKind::from_files(self.files).form;
        let unnamed = subject.unnamed_policy(reading.file);
        let policies = prices::read(reading, form, unnamed, complaints)?;
        let rentals = subject.rentals(&setup);
        subject.check_prices(&policies, reading, &rentals, complaints);
        drop(rentals);
        let runs_in = settings::all(reading, (&mut *subject, setup), measured, complaints);
        let study = Arc::clone(MarketPolicies::study_of(&*subject)?);
        let counts: Vec<usize> = study.settings.iter().map(|one| one.lives.count()).collect();
        let replicas = counts.iter().copied().max()?;
        if counts.len() != runs_in.len() * study.market.worlds.len() {
            return None; // Mistakes of a setting were reported.
        }
        if let Some(fewer) = counts.iter().find(|count| **count < replicas) {
            let title = format!("settings have different numbers of lives: {replicas} and {fewer}");
            let wrong = complaints.of_file(title);
            complaints.push(wrong.with_help(format!(
                "`starts.spread` = {fewer} or less fits into all of them"
            )));
        }
        let names = study.policies.iter().map(|(name, _)| name.clone());
        let strategies: Vec<String> = names.chain([CLAIRVOYANT.to_owned()]).collect();
        let file = reading.file;
        Some(Scenario {
            name,
            seed: overrides.seed.unwrap_or(file.seed),
            replicas: replicas as u64,
            antithetic: false,
            precision: None,
            fidelity: Fidelity::default(),
            runs_in,
            start_up: SimTime::ZERO,
            hash: self.hash(file, &*subject, &policies, &[]),
            subject: Arc::from(subject as Box<dyn Subject>),
            policies,
            objectives: vec![Objective::Cost],
            strategies,
            remarks: ScenarioWarnings::default(),
            renamed: Vec::new(),
            settings: file.strategy.clone(),
            registry: self.given.registry.clone(),
            limits: Limits::default(),
            effort: Effort::default(),
        })
    }

    fn hash(
        &self,
        file: &ScenarioFile,
        subject: &dyn Subject,
        policies: &[Policy],
        strategies: &[String],
    ) -> String {
        let tables = policies.iter().flat_map(|policy| &policy.table_hashes);
        let programs = (strategies.iter()).filter_map(|name| file.strategy.own.get(name));
        let policies = (file.policy.iter()).flat_map(|policy| policy.get_ref().own.values());
        let programs = programs.map(|own| own.program().file_hashes());
        let programs = programs.chain(policies.map(|own| own.program().file_hashes()));
        let programs: Vec<String> = programs.flatten().collect();
        let others = tables.chain(&programs).chain(subject.hashes());
        hash_with(self.files.hash(), others)
    }

    /// The scenario's name, which may become the name of a folder.
    fn name(&mut self, file: &ScenarioFile) -> String {
        let Some(name) = &file.name else {
            let stem = Path::new(&self.complaints.source.name).file_stem();
            let stem = stem.and_then(|stem| stem.to_str());
            let stem = stem.unwrap_or("scenario");
            if let Some(why) = not_a_name(stem) {
                let title = format!("the file's name is no name of a scenario: {why}");
                let complaint = self
                    .complaints
                    .of_file(title)
                    .with_help("give the scenario a `name`");
                self.complaints.push(complaint);
            }
            return stem.to_owned();
        };
        let word = name.get_ref();
        if let Some(why) = not_a_name(word) {
            self.complaints
                .error_at(name.span(), "`name` is no name", why);
        } else if word.starts_with('.') || word.contains(['/', '\\']) {
            let title = "`name` cannot be that of a folder";
            let label = "results may go to a folder of this name";
            let complaint = (self.complaints.mistake_at(name.span(), title, label)).with_help(
                "the name of a scenario has no `/` or `\\`, and does not start with `.`",
            );
            self.complaints.push(complaint);
        }
        word.clone()
    }
}

fn limits(file: &ScenarioFile, complaints: &mut Complaints<'_>) -> Limits {
    let own = &file.limits;
    if let Some(share) = &own.max_miss
        && own.max_time_h.is_none()
        && own.max_cost_usd.is_none()
    {
        let title = "`max_miss` without a limit that can be missed";
        let complaint = (complaints.mistake_at(share.span(), title, "of which limit?"))
            .with_help("give `max_time_h` or `max_cost_usd` as well, or leave it out");
        complaints.push(complaint);
    }
    Limits {
        max_time_s: own.max_time_h.map(|h| h.get() * SECONDS_PER_HOUR),
        max_cost_usd: own.max_cost_usd.map(Positive::get),
        max_miss: own.max_miss.as_ref().map(|share| share.get_ref().get()),
    }
}
