//! The file → a checked scenario: what is checked in which order; all mistakes are reported at once.

use std::path::Path;
use std::sync::Arc;

use super::Scenario;
use super::complaints::Complaints;
use super::configurations::Configurations;
use super::extent;
use super::file::{Outside, ScenarioFile};
use super::files::{self, Files};
use super::given::Given;
use super::left_out::LeftOut;
use super::prices::Rentals;
use super::remarks::Remarks;
use super::settings::Settings;
use super::strategies::Simulated;
use super::{
    axes, bag, grids, machines, parallel, precision, prices, setup, strategies, workloads,
};
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};
use scavsim_data::configuration::Configuration;
use scavsim_data::workload::Workload;
use scavsim_read::input::checked::{Count, Delay, Positive};
use scavsim_read::input::name::not_a_name;
use scavsim_read::input::{Diagnostic, Diagnostics, Source};
use scavsim_search::search::Limits;
use scavsim_sim::training::Fidelity;

/// Values from the command line that replace those of the file.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// Seed.
    pub seed: Option<u64>,
    /// Replicas.
    pub replicas: Option<Count>,
    /// Fidelity.
    pub fidelity: Option<Fidelity>,
    /// Keys with their values, each a line of TOML; a later one wins.
    pub set: Vec<Arc<Source>>,
}

/// Reads and checks the scenario in `source`; `folder` is where its relative paths start.
/// `None` exactly when something was added to `diagnostics`.
pub fn load(
    source: &Arc<Source>,
    folder: &Path,
    overrides: Overrides,
    diagnostics: &mut Diagnostics,
) -> Option<Scenario> {
    load_with(source, folder, overrides, &Given::default(), diagnostics)
}

/// The same with what a program adds to what scenarios can name.
pub fn load_with(
    source: &Arc<Source>,
    folder: &Path,
    overrides: Overrides,
    given: &Given,
    diagnostics: &mut Diagnostics,
) -> Option<Scenario> {
    let before = diagnostics.len();
    let (files, file) = files::read(source, folder, &overrides.set, diagnostics);
    let mut file = file?;
    for own in file.strategy.own.values_mut() {
        own.folder = files.folder(own.command.span().start).to_owned();
    }
    let mut check = Check {
        files: &files,
        given,
        reads_well: diagnostics.len() == before,
        complaints: Complaints {
            source: &files.source,
            diagnostics,
        },
    };
    let scenario = check.scenario(&file, overrides);
    if scenario.is_none() && diagnostics.len() == before {
        let title = "the scenario is refused, and scavsim does not know why: a fault of scavsim";
        let wrong = Diagnostic::general(title).with_help("please report it with the scenario");
        diagnostics.push(wrong);
    }
    scenario.filter(|_| diagnostics.len() == before)
}

/// A check under way.
struct Check<'a> {
    files: &'a Files,
    given: &'a Given,
    /// Whether the file could be read without complaint.
    reads_well: bool,
    complaints: Complaints<'a>,
}

impl Check<'_> {
    fn scenario(&mut self, file: &ScenarioFile, overrides: Overrides) -> Option<Scenario> {
        let name = self.name(file);
        axes::check(&file.cluster, &mut self.complaints);
        let limits = limits(file, &mut self.complaints);
        let measured = grids::read(file, self.files, &mut self.complaints);
        let loaded = self.workloads(file);
        let complaints = &mut self.complaints;
        let machines = machines::read(file, &loaded, complaints);
        let known: Vec<Option<&Workload>> = loaded.iter().map(Option::as_ref).collect();
        let setup = setup::read(file, &known, &machines, complaints);
        let mut reach = machines::reach(&machines, file.cluster.outside == Outside::Extrapolate);
        setup::extend(&mut reach, &setup, &machines);
        let choices = bag::choices(file, complaints);
        let plans = parallel::choices(file, self.files, &setup, complaints).map(Arc::new);
        let configurations = Configurations {
            file,
            machines: &machines,
            setup: &setup,
            reach: &reach,
        };
        let asked = (file.workloads.iter()).flat_map(|asked| asked.get_ref());
        let spaces: Vec<Option<(Vec<Configuration>, LeftOut)>> = (loaded.iter().zip(asked))
            .map(|(w, name)| configurations.of(w.as_ref()?, name, complaints))
            .collect();
        let stored = match &file.search.stored {
            None => workloads::stored(&loaded, complaints),
            Some(names) => {
                let own = &self.given.workloads;
                workloads::read("stored", names, self.files, own, complaints)
            }
        };
        let own = &self.given.policies;
        let unnamed = prices::unnamed(file, &loaded);
        let policies = match &measured {
            Some(measured) => grids::policies(file, own, measured, self.files, complaints),
            None if file.grid.is_some() => None,
            None => prices::read(&file.pricing, own, unnamed, self.files, complaints),
        };
        let registry = &self.given.registry;
        let strategies = strategies::read(&file.search, &file.strategy, registry, complaints);
        let objectives = strategies::objectives(&file.search, complaints);

        let loaded: Vec<Workload> = loaded.into_iter().collect::<Option<_>>()?;
        let spaces: Vec<(Vec<Configuration>, LeftOut)> =
            spaces.into_iter().collect::<Option<_>>()?;
        let (spaces, left_out): (Vec<_>, Vec<_>) = spaces.into_iter().unzip();
        let stored: Vec<Workload> = stored.into_iter().collect::<Option<_>>()?;
        let workloads: Vec<_> = loaded.into_iter().zip(spaces).collect();
        let rentals = match (&choices, &plans, &measured) {
            (Some(bag), ..) => {
                let is_lost = file
                    .bag
                    .as_ref()
                    .is_some_and(|b| b.get_ref().losses.is_some());
                Rentals::of_types(&bag.types, is_lost)
            }
            (_, Some(plans), _) => Rentals::of_types(&plans.types, setup.spot.is_some()),
            (.., Some(measured)) => Rentals::of_grid(measured),
            _ => Rentals::of_workloads(&machines, &setup, &workloads),
        };
        if let (Some(policies), None) = (&policies, &measured) {
            prices::all_priced(file, policies, &rentals, &workloads, complaints);
        }
        let strategies = match (&measured, &choices) {
            _ if file.parallel.is_some() => match &plans {
                Some(plans) => {
                    strategies::usable_on_plans(file, registry, plans, strategies?, complaints)
                }
                // What is wrong with them was told.
                None => return None,
            },
            (None, Some(choices)) => {
                strategies::usable_on_bag(file, registry, choices, strategies?, complaints)
            }
            // What is wrong with the bag was told.
            (None, None) if file.bag.is_some() => return None,
            (None, None) => {
                let simulated = Simulated {
                    workloads: &workloads,
                    stored: &stored,
                    reach: &reach,
                    setup: &setup,
                };
                strategies::usable(file, registry, simulated, strategies?, complaints)
            }
            (Some(measured), _) => {
                strategies::usable_on(file, registry, measured, strategies?, complaints)
            }
        };
        let remarks = (policies.as_deref())
            .map(|all| Remarks::new(file, all, &rentals, &strategies, &stored))
            .unwrap_or_default();

        let settings = Settings {
            reads_well: self.reads_well,
            files: self.files,
            workloads: &workloads,
            machines: &machines,
            reach: &reach,
        };
        let runs_in = settings.all(file, setup, measured.is_some(), complaints);
        let replicas = u64::from(overrides.replicas.or(file.replicas).map_or(1, Count::get));
        // Who says on the command line how many there are to be is not asked again.
        let precision = match overrides.replicas {
            None => precision::read(file, replicas, complaints),
            Some(_) => None,
        };
        let factors = [
            runs_in.len() as u64,
            extent::searches(file.cluster.search, &workloads, measured.as_ref())
                + u64::from(choices.is_some())
                + u64::from(plans.is_some()),
            policies.as_ref().map_or(0, Vec::len) as u64,
            objectives.len() as u64,
            strategies.len() as u64,
            precision.map_or(replicas, |wanted| wanted.most),
        ];
        extent::cases(file, &factors, complaints);

        let policies = policies?;
        let tables = policies.iter().flat_map(|policy| &policy.table_hashes);
        let programs = (strategies.iter()).filter_map(|name| file.strategy.own.get(name));
        let mut programs: Vec<String> = programs.flat_map(|own| own.file_hashes()).collect();
        programs.extend(plans.iter().flat_map(|plans| plans.hashes.clone()));
        Some(Scenario {
            name,
            seed: overrides.seed.unwrap_or(file.seed),
            replicas,
            antithetic: file.antithetic,
            precision,
            fidelity: overrides.fidelity.unwrap_or(file.fidelity),
            workloads,
            measured,
            bag: choices.map(Arc::new),
            parallel: plans,
            stored,
            machines,
            reach,
            search: file.cluster.search,
            runs_in,
            start_up: SimTime::from_seconds(file.cluster.start_up_s.map_or(0.0, Delay::get)),
            hash: files::hash_with(self.files.hash(), tables.chain(&programs)),
            policies,
            objectives,
            strategies,
            remarks,
            left_out: left_out.into_iter().filter(|l| !l.is_empty()).collect(),
            renamed: strategies::renamed(&file.search, registry),
            settings: file.strategy.clone(),
            registry: registry.clone(),
            limits,
        })
    }

    fn workloads(&mut self, file: &ScenarioFile) -> Vec<Option<Workload>> {
        if file.grid.is_some() || file.bag.is_some() || file.parallel.is_some() {
            return Vec::new();
        }
        if let Some(asked) = &file.workloads {
            let own = &self.given.workloads;
            return workloads::read("workloads", asked, self.files, own, &mut self.complaints);
        }
        // After a syntax error the key may only seem to be missing.
        if self.reads_well {
            let complaint = (self.complaints.of_file("the key `workloads` is missing"))
                .with_help("name at least one workload; see `scavsim list workloads`");
            self.complaints.push(complaint);
        }
        Vec::new()
    }

    /// The scenario's name, which may become that of a folder.
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
            let complaint = (self.complaints.at(name.span(), title, label)).with_help(
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
        let complaint = (complaints.at(share.span(), title, "of which limit?"))
            .with_help("give `max_time_h` or `max_cost_usd` as well, or leave it out");
        complaints.push(complaint);
    }
    Limits {
        max_time_s: own.max_time_h.map(|h| h.get() * SECONDS_PER_HOUR),
        max_cost_usd: own.max_cost_usd.map(Positive::get),
        max_miss: own.max_miss.as_ref().map(|share| share.get_ref().get()),
    }
}
