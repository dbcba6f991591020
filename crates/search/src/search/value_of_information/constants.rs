//! Everything in this strategy that was chosen and not derived.

use serde::{Deserialize, Serialize};

/// Mean and standard deviation of a slope: of a natural logarithm, per unit of a coordinate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Slope {
    pub(super) mean: f64,
    pub(super) sd: f64,
}

const fn slope(mean: f64, sd: f64) -> Slope {
    Slope { mean, sd }
}

/// How a logarithm goes with what configurations are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Shape {
    pub(super) cores: Slope,
    pub(super) memory: Slope,
    pub(super) nodes: Slope,
    /// How a logarithm goes with nodes where the batch is that of all nodes together.
    pub(super) nodes_alone: Slope,
    pub(super) batch: Slope,
    pub(super) rate: Slope,
    pub(super) sync: Slope,
    pub(super) number: Slope,
    pub(super) name: Slope,
    /// Deviation of what no slope tells, over machines alone.
    pub(super) machines: f64,
    /// Deviation of what no slope tells, over everything, where configurations differ in more than machines.
    pub(super) all: f64,
    /// How much longer machines take whose memory is scarce, times the square of how scarce.
    pub(super) scarce: f64,
    /// Deviation of what changes all of a sudden with the memory of all machines, as when data fit into it.
    pub(super) sudden: f64,
    /// Standard deviation that each configuration has for itself.
    pub(super) own: f64,
}

/// All constants. As JSON, studies can vary each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Constants {
    pub(super) time: Shape,
    pub(super) step: Shape,
    pub(super) steps: Shape,
    /// The prior of the seconds of a step where that is all that is looked at.
    pub(super) look: Shape,
    /// The prior of the epochs to the target where looks tell them.
    pub(super) epochs: Shape,
    /// How sure of its prior each expert is of what is looked at.
    pub(super) look_scales: Vec<f64>,
    /// How far apart values must be to tell little of each other: cores, memory, nodes, batch, rate, sync, number, name.
    pub(super) lengths: [f64; 8],
    /// How far apart, in doublings of all memory, what changes all of a sudden tells little.
    pub(super) sudden: f64,
    /// How sure of its prior each expert is.
    pub(super) scales: Vec<f64>,
    /// Odds that a run fails, before any did.
    pub(super) fails: f64,
    /// Odds that there is a cliff beyond which runs fail, the odds of a failure there, and cliffs per coordinate and direction.
    pub(super) cliff: f64,
    pub(super) fails_beyond: f64,
    pub(super) cliffs: usize,
    /// Configurations tried one after the other of which all must fail before nothing better is had.
    pub(super) fail_alike: i32,
    /// Multiples of the best value at which a run may be given up.
    pub(super) caps: Vec<f64>,
    /// Configurations whose worth is looked at closely, of each of two orders.
    pub(super) closely: usize,
    /// Configurations that may turn out to be the best.
    pub(super) hopeful: usize,
    /// An expert of less weight says nothing of what a run would teach.
    pub(super) least_weight: f64,
    /// How much of the spread of a logarithm counts for what is expected: 1 for the mean of a log-normal value, 0 for its median.
    pub(super) caution: f64,
    /// How much of the spread counts where seconds of a step and steps are believed in apart, as `caution`.
    pub(super) parts_caution: f64,
    /// How much of the spread of looks counts, as `caution`.
    pub(super) look_caution: f64,
    /// The most that counts of what a run would leave unknown of others, as `caution`: more runs can follow it.
    pub(super) caution_after: f64,
    /// Shares of the unsettled variance that jobs may have in common: each is a belief of its own, and so are the first of all and none.
    pub(super) shared: Vec<f64>,
    /// How many jobs the prior counts for where others tell how jobs differ.
    pub(super) like_jobs: f64,
}

impl Default for Constants {
    #[expect(clippy::too_many_lines, reason = "one list of constants")]
    fn default() -> Self {
        Constants {
            time: Shape {
                cores: slope(-0.55, 0.5),
                memory: slope(-0.1, 0.15),
                nodes: slope(-0.35, 0.5),
                nodes_alone: slope(-0.35, 0.5),
                batch: slope(0.0, 0.3),
                rate: slope(0.0, 1.0),
                sync: slope(0.0, 0.8),
                number: slope(0.0, 0.5),
                machines: 0.4,
                all: 1.6,
                scarce: 0.5,
                sudden: 0.5,
                own: 0.08,
                ..Shape::default()
            },
            step: Shape {
                cores: slope(-0.4, 0.55),
                nodes: slope(-0.25, 0.2),
                nodes_alone: slope(-0.4, 0.2),
                batch: slope(0.2, 0.2),
                sync: slope(0.0, 0.8),
                number: slope(0.0, 0.3),
                machines: 0.8,
                own: 0.05,
                ..Shape::default()
            },
            steps: Shape {
                nodes: slope(0.5, 0.12),
                nodes_alone: slope(0.0, 0.1),
                batch: slope(-0.3, 0.2),
                rate: slope(-0.7, 1.0),
                number: slope(0.0, 0.5),
                all: 1.2,
                own: 0.05,
                ..Shape::default()
            },
            look: Shape {
                cores: slope(0.0, 0.3),
                nodes: slope(0.1, 0.4),
                nodes_alone: slope(0.06, 0.4),
                batch: slope(0.45, 0.3),
                sync: slope(0.0, 0.3),
                number: slope(0.0, 0.3),
                name: slope(0.0, 1.0),
                all: 0.5,
                own: 0.03,
                ..Shape::default()
            },
            epochs: Shape {
                nodes: slope(0.0, 0.1),
                nodes_alone: slope(0.0, 0.1),
                batch: slope(0.0, 0.2),
                rate: slope(0.0, 0.5),
                sync: slope(0.0, 0.3),
                number: slope(0.0, 0.3),
                all: 0.15,
                own: 0.02,
                ..Shape::default()
            },
            look_scales: vec![0.4, 0.8, 1.6],
            lengths: [2.0, 2.0, 2.5, 3.0, 2.5, 1.5, 2.5, 1.5],
            sudden: 1.0,
            scales: vec![0.5, 1.0, 2.0],
            fails: 0.05,
            cliff: 0.3,
            fails_beyond: 0.9,
            cliffs: 8,
            fail_alike: 3,
            caps: vec![1.0, 1.3, 1.7, 2.5],
            closely: 12,
            hopeful: 32,
            least_weight: 0.02,
            caution: 0.6,
            parts_caution: 0.35,
            look_caution: 1.0,
            caution_after: 0.15,
            shared: vec![0.8, 0.4],
            like_jobs: 8.0,
        }
    }
}
