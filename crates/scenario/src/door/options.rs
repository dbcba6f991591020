//! Extensions that a program adds to the names in scenarios.

use std::path::Path;
use std::sync::Arc;

use super::scenario::Scenario;
use crate::{Extensions, Overrides, load_with};
use scavsim_data::pricing::{AS_MEASURED, Policy, VmPrice};
use scavsim_engine::Interrupt;
use scavsim_provision::policy::Recipe;
use scavsim_provision::policy::registry::{CLAIRVOYANT, POLICIES};
use scavsim_read::input::name::not_a_name;
use scavsim_read::input::{Diagnostic, Diagnostics, Folder, Mistakes, Source};
use scavsim_search::search::{ALL_KNOWING, Registry};

/// Name of a scenario without a file, in messages and, unless it has a `name`, in results.
const UNNAMED: &str = "scenario";
/// Prefix of the place of a mistake in a key that was set.
const SET: &str = "set";

/// Extensions that a program adds to the names in scenarios: custom strategies, prices and workloads.
///
/// ```
/// # use scavsim_scenario::face as scavsim;
/// use scavsim::{Fleet, NoPrice, RentedVmType, Scenario, VmPrice};
///
/// /// USD 0.20 an hour for any VM.
/// #[derive(Debug)]
/// struct FlatVmPrice;
///
/// impl VmPrice for FlatVmPrice {
///     fn usd_per_hour(&self, _: RentedVmType<'_>, _: &Fleet<'_>) -> Result<f64, NoPrice> {
///         Ok(0.20)
///     }
/// }
///
/// let scenario = Scenario::options().price("twenty-cents", FlatVmPrice).parse(
///     r#"
///     workloads = ["scavenger-resnet18"]
///     pricing.policies = ["paper-fixed", "twenty-cents"]
///     search = { strategies = ["oracle"], objectives = ["time"] }
///     "#,
/// )?;
/// assert_eq!(scenario.cases(), 2); // one per policy
/// # Ok::<(), scavsim::Mistakes>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Options {
    given: Extensions,
    interrupt: Option<Interrupt>,
    set: Vec<Arc<Source>>,
    jobs: Option<usize>,
}

impl Scenario {
    /// Reads and checks a scenario. Its relative paths start at the current folder.
    ///
    /// # Errors
    /// [`Mistakes`]: all of them, with their places.
    pub fn parse(text: &str) -> Result<Scenario, Mistakes> {
        Options::default().parse(text)
    }

    /// Reads and checks a scenario file. Its relative paths start at its folder.
    ///
    /// # Errors
    /// [`Mistakes`]: all of them, with their places.
    pub fn open(path: impl AsRef<Path>) -> Result<Scenario, Mistakes> {
        Options::default().open(path)
    }

    /// Options of reading: extensions that a program adds to the names in scenarios.
    pub fn options() -> Options {
        Options::default()
    }
}

impl Options {
    /// Uses the strategies of `registry`.
    #[must_use]
    pub fn registry(mut self, registry: Registry) -> Options {
        self.given.registry = registry;
        self
    }

    /// Adds a pricing policy with the name `name`: VMs at this price, billed exactly, and nothing else on the bill. It
    /// replaces an existing policy of that name.
    #[must_use]
    pub fn price(mut self, name: &str, price: impl VmPrice + 'static) -> Options {
        let policies = &mut self.given.policies;
        policies.retain(|known| known.name != name);
        policies.push(Policy::of_price(name, Arc::new(price)));
        self
    }

    /// Adds a policy with the name `name` that decides during a run, for `policy.names`; without that list all policies are run.
    #[must_use]
    pub fn policy(mut self, name: &str, recipe: impl Recipe + 'static) -> Options {
        self.given.decisions.retain(|(known, _)| known != name);
        self.given
            .decisions
            .push((name.to_owned(), Arc::new(recipe)));
        self
    }

    /// Adds a workload with the name `name`: a workload folder in memory, as pairs of file name and text. It replaces an
    /// existing workload of that name.
    #[must_use]
    pub fn workload<N: Into<String>, T: Into<String>>(
        mut self,
        name: &str,
        files: impl IntoIterator<Item = (N, T)>,
    ) -> Options {
        let files = (files.into_iter())
            .map(|(name, text)| (name.into(), text.into()))
            .collect();
        let folder = Folder::Memory {
            name: name.to_owned(),
            files,
        };
        self.given.workloads.retain(|(known, _)| known != name);
        self.given.workloads.push((name.to_owned(), folder));
        self
    }

    /// Replaces a key of the scenario by a line of TOML, as in `cluster.workers = [8, 16]`; a later one wins.
    ///
    /// ```
    /// # use scavsim_scenario::face as scavsim;
    /// use scavsim::Scenario;
    ///
    /// let text = "workloads = [\"scavenger-resnet18\"]\nsearch.strategies = [\"oracle\"]\nreplicas = 3";
    /// let one = Scenario::options().set("replicas = 1");
    /// assert_eq!(3 * one.parse(text)?.cases(), Scenario::parse(text)?.cases());
    /// # Ok::<(), scavsim::Mistakes>(())
    /// ```
    #[must_use]
    pub fn set(mut self, line: &str) -> Options {
        self.set.push(Source::new(SET, line));
        self
    }

    /// Sets the threads of a run, at least 1; the default is all cores. Results do not depend on it.
    #[must_use]
    pub fn jobs(mut self, jobs: usize) -> Options {
        self.jobs = Some(jobs.max(1));
        self
    }

    /// Ends checks and runs of the scenario once `interrupt` is raised: current cases are dropped, earlier ones are returned,
    /// and a check has one mistake, the interruption.
    #[must_use]
    pub fn interrupt(mut self, interrupt: &Interrupt) -> Options {
        self.interrupt = Some(interrupt.clone());
        self
    }

    /// Reads and checks a scenario. Its relative paths start at the current folder.
    ///
    /// # Errors
    /// [`Mistakes`]: all of them, with their places.
    pub fn parse(&self, text: &str) -> Result<Scenario, Mistakes> {
        self.load(
            Some(Source::new(UNNAMED, text)),
            Path::new("."),
            Diagnostics::default(),
        )
    }

    /// Reads and checks a scenario file. Its relative paths start at its folder.
    ///
    /// # Errors
    /// [`Mistakes`]: all of them, with their places.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Scenario, Mistakes> {
        let path = path.as_ref();
        let mut diagnostics = Diagnostics::default();
        let source = Source::read(path, &mut diagnostics);
        self.load(source, path.parent().unwrap_or(Path::new(".")), diagnostics)
    }

    fn load(
        &self,
        source: Option<Arc<Source>>,
        folder: &Path,
        mut diagnostics: Diagnostics,
    ) -> Result<Scenario, Mistakes> {
        self.reserved(&mut diagnostics);
        let interrupt = self.interrupt.clone().unwrap_or(Interrupt::NEVER);
        let overrides = Overrides {
            set: self.set.clone(),
            ..Overrides::default()
        };
        let scenario = source.and_then(|source| {
            interrupt
                .during(|| load_with(&source, folder, overrides, &self.given, &mut diagnostics))
        });
        if interrupt.is_raised() {
            // Output that was cut off may be wrong in any way.
            let mut cut_off = Diagnostics::default();
            cut_off.push(Diagnostic::general(
                "interrupted while the scenario was checked",
            ));
            return Err(Mistakes::new(cut_off));
        }
        match scenario {
            Some(scenario) if diagnostics.is_empty() => {
                Ok(Scenario::new(scenario, interrupt, self.jobs))
            }
            _ => Err(Mistakes::new(diagnostics)),
        }
    }

    /// Two names cannot be replaced.
    fn reserved(&self, diagnostics: &mut Diagnostics) {
        const TAKEN: &str = "the name is taken; give yours another";
        let mut refuse = |what: &str, name: &str, help: &str| {
            let title = format!("a program cannot bring a {what} called `{name}`");
            diagnostics.push(Diagnostic::general(title).with_help(help));
        };
        let Extensions {
            registry,
            policies,
            decisions,
            workloads,
        } = &self.given;
        let names = (registry.names().map(|name| ("strategy", name)))
            .chain(policies.iter().map(|policy| ("price", &*policy.name)))
            .chain(decisions.iter().map(|(name, _)| ("policy", &**name)))
            .chain(workloads.iter().map(|(name, _)| ("workload", &**name)));
        for (what, name) in names {
            if let Some(why) = not_a_name(name) {
                refuse(what, &name.escape_debug().to_string(), why);
            }
        }
        for known in ALL_KNOWING.iter().map(|declared| declared.name) {
            if registry.names().any(|name| name == known) {
                refuse("strategy", known, TAKEN);
            }
        }
        for (name, _) in decisions {
            let is_shipped = POLICIES.iter().any(|policy| policy.name == name);
            if is_shipped || name == CLAIRVOYANT {
                refuse("policy", name, TAKEN);
            }
        }
        if policies.iter().any(|policy| policy.name == AS_MEASURED) {
            refuse("price", AS_MEASURED, TAKEN);
        }
    }
}
