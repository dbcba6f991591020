//! scavsim: a discrete-event simulator of machine-learning training on rented clusters.
//!
//! It replays measured per-step costs and SGD-noise curves over cluster configurations and pricing
//! policies, and judges the choices of search strategies, against an oracle that
//! knows the truth. Same scenario, same seed, same bytes, for any number of cores.
//!
//! # A run
//!
//! A [`Scenario`] is the text that the program `scavsim` reads from a file; `docs/scenario.md` has every
//! key. Running it gives one [`Record`] per case, `docs/records.md` has every column.
//!
//! ```
//! use scavsim::Scenario;
//!
//! let scenario = Scenario::parse(
//!     r#"
//!     replicas = 20
//!     workloads = ["scavenger-resnet18"]
//!     variation.step_cv = 0.05
//!
//!     [search]
//!     strategies = ["oracle", "full", "random"]
//!     objectives = ["cost"]
//!     "#,
//! )?;
//! let mut regret = 0.0;
//! let finished = scenario.run(|record| {
//!     if record.strategy == "random" {
//!         regret += record.regret_cost.unwrap_or(0.0) / 20.0;
//!     }
//! })?;
//! assert_eq!((finished.cases, finished.failed), (3 * 20, 0)); // strategies × replicas
//! assert!(regret > 0.0, "drawing four of sixteen at random costs something");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # API
//!
//! This page lists the whole supported API.
//!
//! - [`Scenario`]: parse, open, run. [`Options`]: with custom strategies, prices and workloads.
//!   [`Interrupt`]: stops a run from outside. [`Mistakes`]: all mistakes in a text, with places, each a [`Diagnostic`].
//! - [`Record`] and [`OwnedRecord`]: the result of a case; [`Finished`]: of all cases.
//! - [`Strategy`], which a [`Recipe`] in a [`Registry`] builds for a [`Task`]. It searches a [`Space`] on a
//!   [`Testbed`], and leaves a [`Forecast`]. It declares what it [`Depends`] on; its use of the [`Past`] is counted.
//!   [`ConversationStrategy`]: one in another language, by a [`Conversation`] in lines of JSON.
//! - [`VmPrice`]: the price of a VM.
//!
//! - `provision`, with the feature `cli`: policies that decide during a run, including custom ones.
//!
//! `examples/` has a program for each of the four custom parts: `own_strategy`, `own_price`, `own_workload`, `own_policy`.
//!
//! # Features
//!
//! All are on by default and affect no result. `cli`: the program, and the files and tables that it writes;
//! `parquet`: records as Parquet; `arrow`: records as Arrow in memory (`RecordBatches`); `completions`: scripts for shells. A library needs none of them:
//! `default-features = false` leaves out half of all packages.
//!
//! # Modules
//!
//! In reading order; `docs/architecture.md` has more.
//!
//! - `scenario`: the user's input, checked.
//! - `experiment`: scenario → cases → parallel run → records; the oracle and the accounting.
//! - `search`: strategies, the models they fit, objectives.
//! - `testbed`: the interface through which strategies probe.
//! - `parallel`: models partitioned over GPUs, from profiles of their layers; `plans`: these as configurations.
//! - `bag`: bags of independent jobs on transient VMs.
//! - `job`: the life of a job; `cluster`: a configuration as VMs; `training`: how workers step, as
//!   events, in two fidelities.
//! - `usage`: which VMs were rented, and for which purpose.
//! - `workload`, `cloud`, `pricing`: what is trained, where, at what price.
//! - `engine`: clock and event queue; independent of machine learning.
//! - `space`: the configurations to choose from, over named axes; `grid`: real runs of them.
//! - `input`, `configuration`, `units`, `rng`, `stats`: shared vocabulary.
//!
//! With `cli`: `expression` is a small language of figures, `functions` are its functions of the model;
//! `advise` decides on measurements, with `fit` for the laws; `report` writes result
//! files and tables; `reproduce` compares published figures with ours; `cli` has one file per command.

/// ```
/// use scavsim::{Conversation, Registry, Scenario, ConversationStrategy};
///
/// /// The configuration with this number, for any question.
/// struct ConstantAnswer(usize);
///
/// impl Conversation for ConstantAnswer {
///     fn answer(&mut self, _: String) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
///         Ok(format!("{{\"choose\": {}}}", self.0))
///     }
/// }
///
/// let spoken = ConversationStrategy::new(|| Ok(Box::new(ConstantAnswer(0))));
/// let scenario = Scenario::options().registry(Registry::default().with("first", spoken)).parse(
///     r#"
///     workloads = ["scavenger-resnet18"]
///     search = { strategies = ["first"], objectives = ["time"] }
///     "#,
/// )?;
/// scenario.run(|record| assert_eq!(record.chosen_workers, Some(8)))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(inline)]
pub use scavsim_scenario::face::Conversation;
/// ```
/// use scavsim::{Diagnostic, Scenario};
///
/// let mistakes = Scenario::parse("workloads = [\"scavenger-resnet19\"]").unwrap_err();
/// let first: &Diagnostic = mistakes.iter().next().expect("there is one");
/// assert_eq!((first.file(), first.line()), (Some("scenario"), Some(1)));
/// assert_eq!(first.label, "did you mean `scavenger-resnet18`?");
/// ```
#[doc(inline)]
pub use scavsim_scenario::face::Diagnostic;
/// ```
/// use scavsim::{RunEnding, Interrupt, Scenario};
///
/// let interrupt = Interrupt::default();
/// let scenario = Scenario::options().interrupt(&interrupt).parse(
///     r#"
///     workloads = ["scavenger-resnet18"]
///     search = { strategies = ["oracle"], objectives = ["time"] }
///     "#,
/// )?;
/// interrupt.raise(); // anyone who has a clone may, at any time
/// let finished = scenario.run(|_| ())?;
/// assert_eq!((finished.cases, finished.ending), (0, RunEnding::Interrupted));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(inline)]
pub use scavsim_scenario::face::Interrupt;
/// ```
/// use scavsim::Scenario;
///
/// let mistakes = Scenario::parse("workloads = [\"scavenger-resnet18\"]\nreplica = 3").unwrap_err();
/// assert_eq!(mistakes.len(), 1);
/// assert!(mistakes.to_string().contains("did you mean `replicas`?"));
/// let first = mistakes.iter().next().expect("there is one");
/// assert_eq!(first.title, "unknown key `replica`");
/// assert_eq!(first.line(), Some(2));
/// ```
#[doc(inline)]
pub use scavsim_scenario::face::Mistakes;
/// ```
/// use scavsim::{Forecast, Past, Recipe, Stop, Strategy, Stream, Task, Testbed, UnusableStrategy};
///
/// /// The configuration with this number, for any task.
/// struct ConstantChoice(usize);
///
/// impl Recipe for ConstantChoice {
///     fn summary(&self) -> &str {
///         "one configuration, without a look"
///     }
///     fn build(&self, task: &Task<'_>, _: &mut Past<'_>) -> Result<Box<dyn Strategy>, UnusableStrategy> {
///         match self.0 < task.space.len() {
///             true => Ok(Box::new(ConstantChoice(self.0))),
///             false => Err(UnusableStrategy(format!("there is no configuration {}", self.0))),
///         }
///     }
/// }
///
/// impl Strategy for ConstantChoice {
///     fn search(
///         &self,
///         _: &Task<'_>,
///         _: &mut dyn Testbed,
///         _: &mut Stream,
///         forecast: &mut Forecast,
///     ) -> Result<(), Stop> {
///         forecast.decided = Some(self.0);
///         Ok(())
///     }
/// }
///
/// let registry = scavsim::Registry::default().with("first", ConstantChoice(0));
/// let scenario = scavsim::Scenario::options().registry(registry).parse(
///     r#"
///     workloads = ["scavenger-resnet18"]
///     search = { strategies = ["first"], objectives = ["time"] }
///     "#,
/// )?;
/// scenario.run(|record| assert_eq!(record.chosen_workers, Some(8)))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(inline)]
pub use scavsim_scenario::face::Recipe;
/// ```
/// use scavsim::{Past, Recipe, Registry, Scenario, Strategy, Task, UnusableStrategy};
///
/// struct NeedsTwoConfigurations;
///
/// impl Recipe for NeedsTwoConfigurations {
///     fn summary(&self) -> &str {
///         "compares two configurations"
///     }
///     fn build(&self, task: &Task<'_>, _: &mut Past<'_>) -> Result<Box<dyn Strategy>, UnusableStrategy> {
///         Err(UnusableStrategy(format!("{} is not enough", task.space.len())))
///     }
/// }
///
/// let options = Scenario::options().registry(Registry::default().with("two", NeedsTwoConfigurations));
/// let refused = options.parse(
///     r#"
///     workloads = ["scavenger-resnet18"]
///     cluster.pairs = [[8, 384]]
///     search.strategies = ["two"]
///     "#,
/// );
/// let why = refused.unwrap_err().to_string();
/// assert!(why.contains("strategy `two` cannot be used: 1 is not enough"), "{why}");
/// ```
#[doc(inline)]
pub use scavsim_scenario::face::UnusableStrategy;
#[doc(inline)]
pub use scavsim_scenario::face::*;

/// Policies that decide during a run where a job continues: scenarios with `[policy]`, and custom policies.
///
/// ```
/// use scavsim::Scenario;
/// use scavsim::provision::{Policy, PolicyView, Recipe};
///
/// /// Waits for spot machines in the first zone; its net keeps the deadline.
/// #[derive(Debug)]
/// struct FirstZone;
///
/// impl Policy for FirstZone {
///     fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
///         view.try_spot(0);
///     }
/// }
///
/// #[derive(Debug)]
/// struct FirstZoneRecipe;
///
/// impl Recipe for FirstZoneRecipe {
///     fn policy(&self) -> Box<dyn Policy> {
///         Box::new(FirstZone)
///     }
/// }
///
/// let scenario = Scenario::options().policy("first-zone", FirstZoneRecipe).parse(
///     r#"
///     job = { work_h = 5, deadline_h = 7, changeover_s = 600 }
///     market = { run_h = 2, pause_h = 1, spot_usd_per_h = 1, on_demand_usd_per_h = 3, replicas = 10 }
///     [policy]
///     names = ["greedy", "first-zone"]
///     "#,
/// )?;
/// let mut lives = Vec::new();
/// scenario.run(|record| lives.push(record.clone().into_owned()))?;
/// // Of each life there is a record per policy, and one of the clairvoyant. In a market of one zone both do the same, in time.
/// assert!(lives.chunks(3).all(|life| life[0].cost_usd == life[1].cost_usd));
/// assert!(lives.iter().all(|life| life.kept_net == Some(1.0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "cli")]
pub mod provision {
    pub use scavsim_provision::face::*;
}

// The program: its parts are no stable API.
#[cfg(feature = "cli")]
pub mod cli;

// Only for this project's own tests and benches.
#[cfg(feature = "cli")]
#[doc(hidden)]
pub use scavsim_base::text;
#[doc(hidden)]
pub use scavsim_base::{rng, stats, units};
#[doc(hidden)]
pub use scavsim_data::{cloud, configuration, pricing, space, usage, workload};
#[doc(hidden)]
pub use scavsim_engine as engine;
#[doc(hidden)]
pub use scavsim_experiment as experiment;
#[doc(hidden)]
pub use scavsim_fit as fit;
#[doc(hidden)]
pub use scavsim_grids as grid;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub use scavsim_measure::{advise, compare, validate};
#[cfg(feature = "cli")]
#[doc(hidden)]
pub use scavsim_papers::{functions, reproduce};
#[doc(hidden)]
pub use scavsim_read::{expression, input};
pub use scavsim_scenario as scenario;
#[doc(hidden)]
pub use scavsim_search::{search, testbed};
#[cfg(feature = "cli")]
#[doc(hidden)]
pub use scavsim_show::report;
#[cfg(feature = "figures")]
#[doc(hidden)]
pub use scavsim_show::{figure, page};
#[doc(hidden)]
pub use scavsim_sim::{cluster, job, training};
#[doc(hidden)]
pub use {scavsim_bags as bag, scavsim_parallel as parallel, scavsim_plans as plans};

// The code of the page for Rust compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../docs/how-to/library.md")]
struct Page;
