//! What a strategy is asked: the configurations, what to look for, what they cost, within which limits.

use super::goal::Goal;
use super::layer_model::LayerModel;
use super::objective::{Limits, Margins, Objective, Point};
use scavsim_data::cloud::Machine;
use scavsim_data::space::Space;
use scavsim_data::workload::Workload;

/// What a search depends on besides the workload and its configurations. It is part of the key under
/// which searches are shared: one that depends on nothing is run once for all prices and objectives.
///
/// ```
/// # use scavsim_search::face as scavsim;
/// use scavsim::Depends;
///
/// assert!(Depends::BOTH.objective && Depends::BOTH.prices);
/// assert_eq!(Depends::default(), Depends::NOTHING);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Depends {
    /// On the objective: it is told, and a search is run for each.
    pub objective: bool,
    /// On prices: they are told with the bill so far, and a search is run for each pricing policy.
    pub prices: bool,
}

impl Depends {
    /// On neither.
    pub const NOTHING: Depends = Depends {
        objective: false,
        prices: false,
    };
    /// On the objective alone.
    pub const OBJECTIVE: Depends = Depends {
        objective: true,
        prices: false,
    };
    /// On prices alone.
    pub const PRICES: Depends = Depends {
        objective: false,
        prices: true,
    };
    /// On both.
    pub const BOTH: Depends = Depends {
        objective: true,
        prices: true,
    };
}

/// What configurations cost, as far as everybody knows beforehand: rules, not luck.
///
/// ```
/// # use scavsim_search::face as scavsim;
/// use scavsim::Prices;
///
/// /// USD 0.10 per worker and hour, of 8 and of 16 workers.
/// struct FlatPrices;
///
/// impl Prices for FlatPrices {
///     fn run_usd(&self, configuration: usize, seconds: f64) -> Option<f64> {
///         let workers = [8.0, 16.0].get(configuration)?;
///         Some(0.10 * workers * seconds / 3600.0)
///     }
/// }
/// assert_eq!(FlatPrices.usd_per_hour(1), Some(1.6));
/// assert_eq!(FlatPrices.usd_per_hour(2), None);
/// ```
pub trait Prices {
    /// USD for so many seconds of a configuration, from the start; `None` where the price is known only after a run.
    fn run_usd(&self, configuration: usize, seconds: f64) -> Option<f64>;

    /// USD of an hour, by itself.
    fn usd_per_hour(&self, configuration: usize) -> Option<f64> {
        self.run_usd(configuration, 3600.0)
    }
}

/// What everybody knows of a workload.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkloadFacts {
    /// Samples in one epoch, D, where it has such.
    pub samples_per_epoch: Option<f64>,
    /// Epochs to the target with every batch, where they are no measurement but stated.
    pub stated_epochs: Option<f64>,
    /// Samples of a batch with which they double, where that is stated: with B they are (1 + B / it) times as many.
    pub noise_scale: Option<f64>,
    pub parameters: Option<f64>,
    /// Whether a look shows its noise.
    pub shows_noise: bool,
    /// Steps after which its noise is said to settle.
    pub cold_start_steps: u64,
    pub probe_steps: u64,
}

impl WorkloadFacts {
    pub fn from_workload(workload: &Workload) -> WorkloadFacts {
        let constants = &workload.constants;
        WorkloadFacts {
            samples_per_epoch: Some(constants.samples_per_epoch.value),
            stated_epochs: workload.stated_epochs(),
            noise_scale: None,
            parameters: constants.parameters.as_ref().map(|p| p.value),
            shows_noise: !workload.noise.is_unmeasured() || workload.noise.law().is_some(),
            // Both were checked to be whole when the workload was loaded.
            cold_start_steps: constants.cold_start_steps.value as u64,
            probe_steps: constants.probe_steps.value as u64,
        }
    }

    /// A task of such a workload, without limits, run once.
    pub fn task<'a>(&self, workload: &'a str, space: &'a Space) -> Task<'a> {
        Task {
            samples_per_epoch: self.samples_per_epoch,
            stated_epochs: self.stated_epochs,
            noise_scale: self.noise_scale,
            parameters: self.parameters,
            shows_noise: self.shows_noise,
            cold_start_steps: self.cold_start_steps,
            probe_steps: self.probe_steps,
            ..Task::new(workload, space)
        }
    }
}

/// What a strategy is asked.
///
/// ```
/// # use scavsim_search::face as scavsim;
/// use scavsim::{Axis, Space, Task};
///
/// let space = Space::new(vec![Axis::numeric("workers", "workers")], [[2.0], [4.0]])?;
/// let task = Task::new("mine", &space);
/// assert_eq!(task.space.workers(1), Some(4));
/// assert_eq!(task.objective, None); // told to those that depend on it
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Task<'a> {
    /// Name of the workload.
    pub workload: &'a str,
    /// The configurations to choose from; results refer to their order.
    pub space: &'a Space,
    /// What no choice may exceed; [`Task::keeps`] asks.
    pub limits: Limits,
    /// How far beyond its mean a run may come.
    #[doc(hidden)]
    pub margins: Margins<'a>,
    /// How often the job will be run.
    pub repeats: u64,
    /// What the VMs of each configuration have; empty where nobody says.
    #[doc(hidden)]
    pub machines: &'a [Option<Machine>],
    /// Whether a look at a few steps is charged as a whole run.
    pub looks_cost_a_run: bool,
    /// Shares of a run that its cheap versions have, from the least, all below 1: what `Extent::Fidelity` can ask for. Some
    /// configurations may lack some.
    pub fidelities: &'a [f64],
    /// What the quality of a run has to come to, where that is the target.
    #[doc(hidden)]
    pub goal: Option<Goal>,
    /// Samples in one epoch, D, where the workload has such.
    pub samples_per_epoch: Option<f64>,
    /// Epochs to the target with every batch, where they are no measurement but stated.
    pub stated_epochs: Option<f64>,
    /// Samples of a batch with which stated epochs double: with B they are (1 + B / it) times as many. `None`: they are the
    /// same with every batch.
    pub noise_scale: Option<f64>,
    /// The model of the configurations that profiles of layers make, where there is one.
    #[doc(hidden)]
    pub layer_model: Option<&'a dyn LayerModel>,
    /// Parameters of the workload's model, where they are stated.
    pub parameters: Option<f64>,
    /// Whether a look shows the noise of its gradients.
    pub shows_noise: bool,
    /// Steps after which the workload's noise is said to settle.
    pub cold_start_steps: u64,
    /// Steps that a probe of the workload takes.
    pub probe_steps: u64,
    /// What to look for; told to those that depend on it, while they search.
    pub objective: Option<Objective>,
    /// What configurations cost; told to those that depend on it, while they search.
    pub prices: Option<&'a dyn Prices>,
}

impl<'a> Task<'a> {
    /// A task without figures of its workload, without limits, run once.
    pub fn new(workload: &'a str, space: &'a Space) -> Task<'a> {
        Task {
            workload,
            space,
            limits: Limits::default(),
            margins: Margins::default(),
            repeats: 1,
            machines: &[],
            looks_cost_a_run: false,
            fidelities: &[],
            goal: None,
            samples_per_epoch: None,
            stated_epochs: None,
            noise_scale: None,
            layer_model: None,
            parameters: None,
            shows_noise: false,
            cold_start_steps: 0,
            probe_steps: 1,
            objective: None,
            prices: None,
        }
    }

    /// What a VM of a configuration has, where that is known.
    ///
    /// ```
    /// # use scavsim_search::face as scavsim;
    /// use scavsim::{Axis, Space, Task};
    ///
    /// let space = Space::new(vec![Axis::numeric("workers", "workers")], [[2.0], [4.0]])?;
    /// assert!(Task::new("mine", &space).machine(1).is_none()); // VMs of no type
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn machine(&self, configuration: usize) -> Option<Machine> {
        self.machines.get(configuration).copied().flatten()
    }

    /// Whether a configuration whose mean is predicted to be so many seconds and USD keeps to the limits: in the mean, or
    /// with `max_miss` in all but that share of runs, as everybody knows how far runs scatter. A cost that is not known
    /// is beyond any limit on it.
    ///
    /// ```
    /// # use scavsim_search::face as scavsim;
    /// use scavsim::{Axis, Space, Task};
    ///
    /// let space = Space::new(vec![Axis::numeric("workers", "workers")], [[2.0], [4.0]])?;
    /// let mut task = Task::new("mine", &space);
    /// task.limits.max_time_s = Some(3600.0);
    /// assert!(task.keeps(1, 3500.0, None) && !task.keeps(0, 3700.0, Some(1.0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn keeps(&self, configuration: usize, time_s: f64, cost_usd: Option<f64>) -> bool {
        let point = Point {
            time_s,
            cost_usd: cost_usd.unwrap_or(f64::INFINITY),
        };
        self.is_within(configuration, &point)
    }

    /// Whether a configuration that comes to `point` keeps to the limits.
    pub fn is_within(&self, configuration: usize, point: &Point) -> bool {
        (self.limits).allow(&self.margins.beyond(configuration, point))
    }

    /// This task for a strategy that depends on what `depends` names.
    pub fn restricted_to(
        self,
        depends: Depends,
        objective: Objective,
        prices: &'a dyn Prices,
    ) -> Task<'a> {
        Task {
            objective: depends.objective.then_some(objective),
            prices: depends.prices.then_some(prices),
            ..self
        }
    }
}
