//! Everything in this strategy that was chosen and not derived.

/// Mean and standard deviation of a slope: of a natural logarithm, per unit of a coordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Slope {
    pub(super) mean: f64,
    pub(super) sd: f64,
}

const fn slope(mean: f64, sd: f64) -> Slope {
    Slope { mean, sd }
}

/// How a logarithm goes with what configurations are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shape {
    pub(super) cores: Slope,
    pub(super) memory: Slope,
    pub(super) nodes: Slope,
    /// The same where the batch is that of all nodes together.
    pub(super) nodes_alone: Slope,
    pub(super) batch: Slope,
    pub(super) rate: Slope,
    pub(super) sync: Slope,
    pub(super) number: Slope,
    pub(super) name: Slope,
    /// Deviation of what no slope tells, over machines alone.
    pub(super) machines: f64,
    /// The same over everything, where configurations differ in more than machines.
    pub(super) all: f64,
    /// How much longer machines take whose memory is scarce, times the square of how scarce.
    pub(super) scarce: f64,
    /// Standard deviation that each configuration has for itself.
    pub(super) own: f64,
}

/// All constants.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Constants {
    /// Of the time to the target.
    pub(super) time: Shape,
    /// Of the seconds of a step.
    pub(super) step: Shape,
    /// Of the steps to the target.
    pub(super) steps: Shape,
    /// Of the seconds of a step where that is all that is looked at.
    pub(super) look: Shape,
    /// How far apart values must be to tell little of each other: cores, memory, nodes, batch, rate, sync, number, name.
    pub(super) lengths: [f64; 8],
    /// How sure of its prior each expert is.
    pub(super) scales: Vec<f64>,
    /// Whether step and steps have scales of their own, so that there are as many experts as pairs.
    pub(super) pairs: bool,
    /// Odds that a run fails, before any did.
    pub(super) fails: f64,
    /// A run that failed is taken for one that takes as much longer than the longest, of the logarithm.
    pub(super) beyond: f64,
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
}

impl Constants {
    /// All numbers by name, so that each can be varied.
    pub(super) fn numbers(&mut self) -> Vec<(String, &mut f64)> {
        let mut all: Vec<(String, &mut f64)> = Vec::new();
        let shapes = [
            ("time", &mut self.time),
            ("step", &mut self.step),
            ("steps", &mut self.steps),
            ("look", &mut self.look),
        ];
        for (of, shape) in shapes {
            let slopes = [
                ("cores", &mut shape.cores),
                ("memory", &mut shape.memory),
                ("nodes", &mut shape.nodes),
                ("nodes_alone", &mut shape.nodes_alone),
                ("batch", &mut shape.batch),
                ("rate", &mut shape.rate),
                ("sync", &mut shape.sync),
                ("number", &mut shape.number),
                ("name", &mut shape.name),
            ];
            for (name, slope) in slopes {
                all.push((format!("{of}.{name}.mean"), &mut slope.mean));
                all.push((format!("{of}.{name}.sd"), &mut slope.sd));
            }
            all.push((format!("{of}.machines"), &mut shape.machines));
            all.push((format!("{of}.all"), &mut shape.all));
            all.push((format!("{of}.scarce"), &mut shape.scarce));
            all.push((format!("{of}.own"), &mut shape.own));
        }
        let axes = [
            "cores", "memory", "nodes", "batch", "rate", "sync", "number", "name",
        ];
        for (name, length) in axes.into_iter().zip(&mut self.lengths) {
            all.push((format!("length.{name}"), length));
        }
        for (place, scale) in self.scales.iter_mut().enumerate() {
            all.push((format!("scale.{place}"), scale));
        }
        for (place, cap) in self.caps.iter_mut().enumerate() {
            all.push((format!("cap.{place}"), cap));
        }
        all.push(("fails".to_owned(), &mut self.fails));
        all.push(("beyond".to_owned(), &mut self.beyond));
        all.push(("caution".to_owned(), &mut self.caution));
        all.push(("least_weight".to_owned(), &mut self.least_weight));
        all
    }
}

impl Default for Constants {
    fn default() -> Self {
        let none = slope(0.0, 0.0);
        Constants {
            time: Shape {
                cores: slope(-0.35, 0.5),
                memory: none,
                nodes: slope(-0.35, 0.5),
                nodes_alone: slope(-0.35, 0.5),
                batch: slope(0.0, 0.3),
                rate: slope(0.0, 1.0),
                sync: slope(0.0, 0.8),
                number: slope(0.0, 0.5),
                name: none,
                machines: 0.4,
                all: 1.6,
                scarce: 0.5,
                own: 0.08,
            },
            step: Shape {
                cores: slope(-0.4, 0.35),
                memory: none,
                nodes: slope(-0.4, 0.35),
                nodes_alone: slope(-0.4, 0.35),
                batch: slope(0.2, 0.3),
                rate: none,
                sync: slope(0.0, 0.8),
                number: slope(0.0, 0.3),
                name: none,
                machines: 0.5,
                all: 0.0,
                scarce: 0.0,
                own: 0.05,
            },
            steps: Shape {
                cores: none,
                memory: none,
                nodes: slope(0.3, 0.2),
                nodes_alone: slope(0.0, 0.1),
                batch: slope(-0.2, 0.2),
                rate: slope(-0.7, 1.0),
                sync: none,
                number: slope(0.0, 0.5),
                name: none,
                machines: 0.0,
                all: 1.2,
                scarce: 0.0,
                own: 0.05,
            },
            look: Shape {
                cores: slope(0.0, 0.12),
                memory: none,
                nodes: slope(0.1, 0.2),
                nodes_alone: slope(0.1, 0.2),
                batch: slope(0.45, 0.2),
                rate: none,
                sync: slope(0.0, 0.3),
                number: slope(0.0, 0.3),
                name: slope(-0.3, 0.3),
                machines: 0.0,
                all: 0.3,
                scarce: 0.0,
                own: 0.03,
            },
            lengths: [2.0, 2.0, 2.5, 3.0, 2.5, 1.5, 2.5, 1.5],
            scales: vec![0.5, 1.0, 2.0],
            pairs: false,
            fails: 0.08,
            beyond: 0.3,
            caps: vec![1.0, 1.3, 1.7, 2.5],
            closely: 20,
            hopeful: 48,
            least_weight: 0.02,
            caution: 0.25,
        }
    }
}
