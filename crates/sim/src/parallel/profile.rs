//! What a layer costs: seconds by GPU, tensor degree and micro-batch; parameters and activations by tensor degree.

mod load;

use std::sync::Arc;

pub use load::FILES;

use super::law::bytes::LayerBytes;

/// A pass is bound by the launches of its kernels where it takes this many times as long as its share of the largest
/// micro-batch that was profiled.
const LAUNCH_BOUND: f64 = 1.25;

/// Seconds and bytes of the layers of one model.
#[derive(Debug, Clone, Default)]
pub struct LayerProfile {
    /// What the profile is called.
    pub name: Arc<str>,
    /// The model, for people.
    pub model: String,
    /// Where it is from.
    pub source: String,
    /// Terms of use.
    pub licence: String,
    /// Layers, embedding and head included.
    pub layers: u32,
    /// Tokens per sequence.
    pub sequence: u32,
    /// Width of what a layer hands on, in values per token.
    pub hidden: u32,
    /// Bytes of a parameter, a gradient, a value of an activation.
    pub bytes_per_value: f64,
    /// Bytes of optimiser state per parameter.
    pub optimizer_bytes: f64,
    /// Parameters of the whole model.
    pub parameters: u64,
    /// Hash of its files.
    pub hash: String,
    /// By GPU, in alphabetical order.
    pub(super) gpus: Vec<Gpu>,
    /// By tensor degree, rising.
    pub(super) weights: Vec<Weights>,
}

#[derive(Debug, Clone)]
pub(super) struct Gpu {
    name: Arc<str>,
    /// By tensor degree and micro-batch, rising.
    times: Vec<Times>,
}

/// Seconds of layers at a tensor degree and a micro-batch.
#[derive(Debug, Clone)]
pub struct Times {
    /// GPUs that share a layer.
    pub tensor: u32,
    /// Sequences per micro-batch.
    pub micro_batch: u32,
    /// Whether nobody measured it: it lies between micro-batches that were.
    pub is_interpolated: bool,
    /// Up to each layer: entry `n` is of the layers before `n`.
    sums: Vec<Seconds>,
}

/// Seconds of consecutive layers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seconds {
    /// Forward of one micro-batch.
    pub forward: f64,
    /// Seconds of the backward pass.
    pub backward: f64,
    /// Applying gradients.
    pub update: f64,
    /// The part of `forward` that the GPU itself computes: less where launching kernels takes longer.
    pub busy_forward: f64,
    /// The part of `backward` that the GPU itself computes.
    pub busy_backward: f64,
    /// The part of `backward` that computes the gradients of weights, which nobody waits for.
    pub weights: f64,
    /// The part of both passes that is communication; `None` where what was measured holds it, and nobody knows how much.
    pub communication: Option<f64>,
}

impl Seconds {
    /// No layers.
    pub const NONE: Seconds = Seconds {
        forward: 0.0,
        backward: 0.0,
        update: 0.0,
        busy_forward: 0.0,
        busy_backward: 0.0,
        weights: 0.0,
        communication: Some(0.0),
    };

    /// Two passes in which the GPU is busy all the time.
    pub fn busy(forward: f64, backward: f64) -> Seconds {
        Seconds {
            forward,
            backward,
            busy_forward: forward,
            busy_backward: backward,
            ..Seconds::NONE
        }
    }

    /// What `of` makes of each of both.
    pub(super) fn with(self, other: Seconds, of: impl Fn(f64, f64) -> f64) -> Seconds {
        let communication = self.communication.zip(other.communication);
        Seconds {
            forward: of(self.forward, other.forward),
            backward: of(self.backward, other.backward),
            update: of(self.update, other.update),
            busy_forward: of(self.busy_forward, other.busy_forward),
            busy_backward: of(self.busy_backward, other.busy_backward),
            weights: of(self.weights, other.weights),
            communication: communication.map(|(a, b)| of(a, b)),
        }
    }

    /// Seconds of other layers come to them.
    pub fn add(&mut self, other: Seconds) {
        *self = self.with(other, |a, b| a + b);
    }
}

/// Part of a measured backward pass that is for the gradients of weights: of the two products for each of the forward pass one.
pub(super) const WEIGHTS_OF_BACKWARD: f64 = 0.5;

impl Times {
    /// From the seconds of each layer.
    pub(super) fn new(
        tensor: u32,
        micro_batch: u32,
        layers: impl Iterator<Item = Seconds>,
    ) -> Times {
        let mut sums = vec![Seconds::NONE];
        let mut sum = Seconds::NONE;
        sums.extend(layers.map(|own| {
            sum.add(own);
            sum
        }));
        Times {
            tensor,
            micro_batch,
            is_interpolated: false,
            sums,
        }
    }

    /// Seconds of every layer on the line between two micro-batches.
    fn between(below: &Times, above: &Times, micro_batch: u32) -> Times {
        let whole = f64::from(above.micro_batch - below.micro_batch);
        let share = f64::from(micro_batch - below.micro_batch) / whole;
        let pairs = below.sums.iter().zip(&above.sums);
        Times {
            tensor: below.tensor,
            micro_batch,
            is_interpolated: true,
            sums: pairs
                .map(|(below, above)| below.with(*above, |a, b| a + share * (b - a)))
                .collect(),
        }
    }

    /// Seconds of the layers from `first` to `last`.
    pub fn of(&self, first: u32, last: u32) -> Seconds {
        let (from, to) = (self.sums[first as usize], self.sums[last as usize + 1]);
        to.with(from, |to, from| to - from)
    }
}

/// What layers weigh on one GPU, of one sequence.
#[derive(Debug, Clone)]
pub struct Weights {
    /// GPUs that share a layer.
    pub tensor: u32,
    layers: Vec<LayerBytes>,
    /// Up to each layer, as [`Times`].
    sums: Vec<LayerBytes>,
}

impl Weights {
    /// From the bytes of each layer.
    pub(super) fn made(tensor: u32, layers: Vec<LayerBytes>) -> Weights {
        let mut sums = vec![LayerBytes::default()];
        let mut sum = LayerBytes::default();
        sums.extend(layers.iter().map(|own| {
            sum = sum.with(*own, |a, b| a + b);
            sum
        }));
        Weights {
            tensor,
            layers,
            sums,
        }
    }

    /// The sums of the layers from `first` to `last`.
    pub fn of(&self, first: u32, last: u32) -> LayerBytes {
        let (from, to) = (self.sums[first as usize], self.sums[last as usize + 1]);
        to.with(from, |to, from| to - from)
    }

    /// Most bytes of activations that one layer from `first` to `last` needs to go backward with one sequence.
    pub fn largest_bytes(&self, first: u32, last: u32) -> u64 {
        let all = self.layers[first as usize..=last as usize].iter();
        all.map(|layer| layer.working).max().unwrap_or(0)
    }

    /// Most parameters of one layer from `first` to `last` on one GPU.
    pub fn largest_parameters(&self, first: u32, last: u32) -> u64 {
        let all = self.layers[first as usize..=last as usize].iter();
        all.map(|layer| layer.parameters).max().unwrap_or(0)
    }

    /// Bytes that `layer` hands to the next, of one sequence.
    pub fn output_bytes(&self, layer: u32) -> u64 {
        self.layers[layer as usize].output
    }
}

impl LayerProfile {
    /// The same with seconds and weights.
    pub(super) fn made(
        mut self,
        gpus: Vec<(Arc<str>, Vec<Times>)>,
        weights: Vec<Weights>,
    ) -> LayerProfile {
        self.gpus = (gpus.into_iter())
            .map(|(name, times)| Gpu { name, times })
            .collect();
        for gpu in &mut self.gpus {
            (gpu.times).sort_unstable_by_key(|times| (times.tensor, times.micro_batch));
        }
        self.gpus.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        self.weights = weights;
        self.weights.sort_unstable_by_key(|weights| weights.tensor);
        self
    }

    /// GPUs that it was made on, in alphabetical order.
    pub fn gpus(&self) -> impl Iterator<Item = &str> {
        self.gpus.iter().map(|gpu| &*gpu.name)
    }

    /// Number of the GPU `name` among [`LayerProfile::gpus`].
    pub fn gpu(&self, name: &str) -> Option<usize> {
        (self.gpus.binary_search_by(|gpu| (*gpu.name).cmp(name))).ok()
    }

    /// Tensor degrees profiled on `gpu`, rising.
    pub fn tensor_degrees(&self, gpu: &str) -> Vec<u32> {
        let mut degrees: Vec<u32> = self.of_gpu(gpu).iter().map(|t| t.tensor).collect();
        degrees.dedup();
        degrees
    }

    /// Micro-batches profiled on `gpu` at `tensor`, rising.
    pub fn micro_batches(&self, gpu: &str, tensor: u32) -> Vec<u32> {
        let at_degree = self.of_gpu(gpu).iter().filter(|t| t.tensor == tensor);
        at_degree.map(|t| t.micro_batch).collect()
    }

    /// Adds the micro-batches of `asked` that lie between two which were profiled, wherever they do.
    pub fn interpolate(&mut self, asked: &[u32]) {
        for gpu in &mut self.gpus {
            let degrees = gpu.times.chunk_by(|a, b| a.tensor == b.tensor);
            let added: Vec<Times> = degrees
                .flat_map(|own| {
                    asked.iter().filter_map(move |&size| {
                        let above = own.partition_point(|times| times.micro_batch < size);
                        let (below, above) = (own.get(above.checked_sub(1)?)?, own.get(above)?);
                        (above.micro_batch > size).then(|| Times::between(below, above, size))
                    })
                })
                .collect();
            gpu.times.extend(added);
            (gpu.times).sort_unstable_by_key(|times| (times.tensor, times.micro_batch));
        }
    }

    /// The layers if each keeps nothing but its input and goes forward again on its way back: of the bytes that it kept, those of
    /// one layer are there at a time.
    pub fn recomputed(&self) -> LayerProfile {
        let mut all = self.clone();
        for times in all.gpus.iter_mut().flat_map(|gpu| &mut gpu.times) {
            for own in &mut times.sums {
                own.backward += own.forward;
                own.busy_backward += own.busy_forward;
            }
        }
        for weights in &mut all.weights {
            // What a layer takes in is what the one before hands on; the first takes in tokens, which weigh little.
            let mut taken = 0;
            for layer in &mut weights.layers {
                layer.stored = std::mem::replace(&mut taken, layer.output);
            }
            *weights = Weights::made(weights.tensor, std::mem::take(&mut weights.layers));
        }
        all
    }

    fn of_gpu(&self, name: &str) -> &[Times] {
        self.gpu(name).map_or(&[], |index| &self.gpus[index].times)
    }

    /// Seconds on the GPU numbered `gpu`, if profiled.
    pub fn times(&self, gpu: usize, tensor: u32, micro_batch: u32) -> Option<&Times> {
        let times = &self.gpus.get(gpu)?.times;
        let place =
            times.binary_search_by_key(&(tensor, micro_batch), |t| (t.tensor, t.micro_batch));
        place.ok().map(|index| &times[index])
    }

    /// What layers weigh at a tensor degree, if known.
    pub fn weights(&self, tensor: u32) -> Option<&Weights> {
        let place = self.weights.binary_search_by_key(&tensor, |w| w.tensor);
        place.ok().map(|index| &self.weights[index])
    }

    /// The last layers of the first one of consecutive stages, of the first two, and so on, cut so that the slowest stage is as short as can be,
    /// forward and backward; among such cuts, with the earliest layers last to come. `stages`: GPU and tensor degree of each. `None` without a
    /// profile of one of them, or with more stages than layers.
    pub fn cutting(&self, stages: &[(&str, u32)], micro_batch: u32) -> Option<Cutting> {
        let each: Vec<Vec<(&str, u32)>> = stages.iter().map(|stage| vec![*stage]).collect();
        self.cutting_among(&each, micro_batch)
    }

    /// The cuts of [`LayerProfile::cutting`] where a stage has replicas on unlike GPUs, the slowest of which decides.
    pub fn cutting_among(&self, stages: &[Vec<(&str, u32)>], micro_batch: u32) -> Option<Cutting> {
        let layers = self.layers as usize;
        if stages.is_empty() || stages.len() > layers {
            return None;
        }
        let mut times: Vec<Vec<&Times>> = Vec::with_capacity(stages.len());
        for stage in stages {
            let of = |&(gpu, tensor): &(&str, u32)| self.times(self.gpu(gpu)?, tensor, micro_batch);
            times.push(stage.iter().map(of).collect::<Option<_>>()?);
        }
        let seconds = |stage: usize, from: usize, to: usize| {
            let all = times[stage].iter().map(|times| {
                let (to, from) = (times.sums[to], times.sums[from]);
                to.forward - from.forward + to.backward - from.backward
            });
            all.fold(0.0, f64::max)
        };
        // best[n]: the slowest of the stages so far if they hold the first n layers; from[stage][n]: where its last begins.
        let mut best: Vec<f64> = (0..=layers).map(|n| seconds(0, 0, n)).collect();
        best[0] = f64::INFINITY;
        let mut from = Vec::with_capacity(stages.len());
        from.push(vec![0; layers + 1]);
        for stage in 1..stages.len() {
            let mut next = vec![f64::INFINITY; layers + 1];
            let mut begins = vec![0; layers + 1];
            for n in stage + 1..=layers {
                for (begin, before) in best.iter().enumerate().take(n).skip(stage) {
                    let slowest = before.max(seconds(stage, begin, n));
                    if slowest < next[n] {
                        (next[n], begins[n]) = (slowest, begin);
                    }
                }
            }
            best = next;
            from.push(begins);
        }
        Some(Cutting(from))
    }
}

/// Where pipelines of up to so many stages are cut: by stage and layers up to its end, where it begins.
#[derive(Debug, Clone)]
pub struct Cutting(Vec<Vec<usize>>);

impl Cutting {
    /// The last layer of each of the first `stages` stages, which hold all layers; `None` of none, or of more than it was
    /// made for.
    pub fn cuts(&self, stages: usize) -> Option<Vec<u32>> {
        let rows = self.0.get(..stages).filter(|rows| !rows.is_empty())?;
        let mut cuts = vec![0; stages];
        let mut end = rows[0].len() - 1;
        for (cut, begins) in cuts.iter_mut().zip(rows).rev() {
            *cut = end as u32 - 1;
            end = begins[end];
        }
        Some(cuts)
    }
}

#[cfg(test)]
mod tests;
