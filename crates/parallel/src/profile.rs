//! The cost of a layer: seconds by GPU, tensor degree and micro-batch; parameters and activations by tensor degree.

mod load;

use std::sync::Arc;

pub use load::FILES;

use crate::law::bytes::LayerBytes;
use crate::law::layer::LayerSeconds;

/// A pass is bound by launches if it exceeds this multiple of its share of the largest profiled micro-batch.
const LAUNCH_BOUND: f64 = 1.25;

#[derive(Debug, Clone)]
pub struct LayerProfile {
    pub name: Arc<str>,
    pub model: String,
    pub source: String,
    pub licence: String,
    pub layers: u32,
    /// Tokens per sequence.
    pub sequence: u32,
    /// Width of a layer's output, in values per token.
    pub hidden: u32,
    /// Bytes of a parameter, a gradient, a value of an activation.
    pub bytes_per_value: f64,
    pub optimizer_bytes: f64,
    pub parameters: u64,
    pub hash: String,
    gpus: Vec<Gpu>,
    /// By tensor degree, rising.
    weights: Vec<Weights>,
}

#[derive(Debug, Clone)]
struct Gpu {
    name: Arc<str>,
    /// By tensor degree and micro-batch, rising.
    times: Vec<Times>,
}

/// Seconds up to each layer: entry `n` is the total of the layers before `n`.
#[derive(Debug, Clone)]
pub struct Times {
    pub tensor: u32,
    pub micro_batch: u32,
    /// Whether it was not measured: it is between measured micro-batches.
    pub is_interpolated: bool,
    forward: Vec<f64>,
    backward: Vec<f64>,
    update: Vec<f64>,
    /// Seconds in which the GPU itself is busy.
    busy_forward: Vec<f64>,
    busy_backward: Vec<f64>,
    /// Seconds of the backward pass for the gradients of weights.
    weights: Vec<f64>,
    /// Seconds of both passes in which GPUs that share layers sum their results; `None` if those are included in the measurements.
    communication: Option<Vec<f64>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Seconds {
    pub forward: f64,
    pub backward: f64,
    pub update: f64,
    /// The part of `forward` that the GPU itself computes: less if launching kernels needs longer.
    pub busy_forward: f64,
    /// The part of `backward` that the GPU itself computes.
    pub busy_backward: f64,
    /// The part of `backward` that computes the gradients of weights, which no other stage waits for.
    pub weights: f64,
    /// The part of both passes that is communication; `None` if the measurements include an unknown amount.
    pub communication: Option<f64>,
}

impl Seconds {
    pub fn add(&mut self, other: Seconds) {
        self.forward += other.forward;
        self.backward += other.backward;
        self.update += other.update;
        self.busy_forward += other.busy_forward;
        self.busy_backward += other.busy_backward;
        self.weights += other.weights;
        self.communication = (self.communication.zip(other.communication)).map(|(a, b)| a + b);
    }
}

/// Share of a measured backward pass for the gradients of weights: one of the two products for each forward product.
pub(crate) const WEIGHTS_OF_BACKWARD: f64 = 0.5;

impl Times {
    /// From the seconds of each layer in which the GPU is always busy.
    pub(crate) fn made(tensor: u32, micro_batch: u32, layers: &[LayerSeconds]) -> Times {
        let forward = sums(layers.iter().map(|layer| layer.forward));
        let backward = sums(layers.iter().map(|layer| layer.backward));
        Times {
            tensor,
            micro_batch,
            is_interpolated: false,
            busy_forward: forward.clone(),
            busy_backward: backward.clone(),
            forward,
            backward,
            update: sums(layers.iter().map(|layer| layer.update)),
            weights: sums(layers.iter().map(|layer| layer.weights)),
            communication: Some(sums(layers.iter().map(|layer| layer.communication))),
        }
    }

    /// Seconds of every layer on the line between two micro-batches.
    fn between(below: &Times, above: &Times, micro_batch: u32) -> Times {
        let whole = f64::from(above.micro_batch - below.micro_batch);
        let share = f64::from(micro_batch - below.micro_batch) / whole;
        let on_line = |a: &[f64], b: &[f64]| -> Vec<f64> {
            a.iter().zip(b).map(|(a, b)| a + share * (b - a)).collect()
        };
        Times {
            tensor: below.tensor,
            micro_batch,
            is_interpolated: true,
            forward: on_line(&below.forward, &above.forward),
            backward: on_line(&below.backward, &above.backward),
            update: on_line(&below.update, &above.update),
            busy_forward: on_line(&below.busy_forward, &above.busy_forward),
            busy_backward: on_line(&below.busy_backward, &above.busy_backward),
            weights: on_line(&below.weights, &above.weights),
            communication: (below.communication.as_ref())
                .zip(above.communication.as_ref())
                .map(|(below, above)| on_line(below, above)),
        }
    }

    pub fn seconds_between(&self, first: u32, last: u32) -> Seconds {
        let (from, to) = (first as usize, last as usize + 1);
        let between = |sums: &[f64]| sums[to] - sums[from];
        Seconds {
            forward: between(&self.forward),
            backward: between(&self.backward),
            update: between(&self.update),
            busy_forward: between(&self.busy_forward),
            busy_backward: between(&self.busy_backward),
            weights: between(&self.weights),
            communication: self.communication.as_deref().map(between),
        }
    }
}

/// Memory of layers on one GPU, for one sequence.
#[derive(Debug, Clone)]
pub struct Weights {
    pub tensor: u32,
    /// Up to each layer, like [`Times`].
    parameters: Vec<u64>,
    frozen: Vec<u64>,
    stored: Vec<u64>,
    all_reduces: Vec<u64>,
    expert_parameters: Vec<u64>,
    gathered: Vec<u64>,
    routed: Vec<u64>,
    output: Vec<u64>,
    /// For each layer: bytes during its backward pass.
    working: Vec<u64>,
}

impl Weights {
    /// Number of trained parameters.
    pub fn parameters(&self, first: u32, last: u32) -> u64 {
        self.parameters[last as usize + 1] - self.parameters[first as usize]
    }

    /// Bytes of frozen parameters.
    pub fn frozen_bytes(&self, first: u32, last: u32) -> u64 {
        self.frozen[last as usize + 1] - self.frozen[first as usize]
    }

    /// Bytes of activations that these layers keep for the backward pass of one sequence.
    pub fn stored_bytes(&self, first: u32, last: u32) -> u64 {
        self.stored[last as usize + 1] - self.stored[first as usize]
    }

    /// Maximum bytes of activations that one layer from `first` to `last` needs to go backward with one sequence.
    pub fn largest_bytes(&self, first: u32, last: u32) -> u64 {
        let working = &self.working[first as usize..=last as usize];
        working.iter().copied().max().unwrap_or(0)
    }

    /// Maximum bytes of a layer's parameters and gradients, with this number of bytes for each trained one.
    pub fn largest_weight_bytes(&self, first: u32, last: u32, per_trained: f64) -> u64 {
        let all = (first..=last).map(|layer| {
            let trained = self.parameters(layer, layer) as f64 * per_trained;
            trained as u64 + self.frozen_bytes(layer, layer)
        });
        all.max().unwrap_or(0)
    }

    pub(crate) fn made(tensor: u32, layers: &[LayerBytes]) -> Weights {
        Weights {
            tensor,
            parameters: sums(layers.iter().map(|layer| layer.parameters)),
            frozen: sums(layers.iter().map(|layer| layer.frozen)),
            stored: sums(layers.iter().map(|layer| layer.stored)),
            all_reduces: sums(layers.iter().map(|layer| layer.all_reduces)),
            expert_parameters: sums(layers.iter().map(|layer| layer.expert_parameters)),
            gathered: sums(layers.iter().map(|layer| layer.gathered)),
            routed: sums(layers.iter().map(|layer| layer.routed)),
            output: layers.iter().map(|layer| layer.output).collect(),
            working: layers.iter().map(|layer| layer.working).collect(),
        }
    }

    /// Parameters of experts on one GPU, of the layers from `first` to `last`; all are included in [`Weights::parameters`].
    pub fn expert_parameters(&self, first: u32, last: u32) -> u64 {
        self.expert_parameters[last as usize + 1] - self.expert_parameters[first as usize]
    }

    /// Bytes of keys and values of one sequence that replicas sharing it gather in these layers.
    pub fn gathered_bytes(&self, first: u32, last: u32) -> u64 {
        self.gathered[last as usize + 1] - self.gathered[first as usize]
    }

    /// Bytes of the tokens of one sequence that these layers send to experts.
    pub fn routed_bytes(&self, first: u32, last: u32) -> u64 {
        self.routed[last as usize + 1] - self.routed[first as usize]
    }

    pub fn output_bytes(&self, layer: u32) -> u64 {
        self.output[layer as usize]
    }

    /// All-reduces of activations in the forward pass of these layers.
    pub fn all_reduces(&self, first: u32, last: u32) -> u64 {
        self.all_reduces[last as usize + 1] - self.all_reduces[first as usize]
    }
}

/// The description of a profile that the law computed.
pub(crate) struct MadeProfile {
    pub(crate) name: Arc<str>,
    pub(crate) model: String,
    pub(crate) source: String,
    pub(crate) layers: u32,
    pub(crate) sequence: u32,
    pub(crate) hidden: u32,
    pub(crate) bytes_per_value: f64,
    pub(crate) parameters: u64,
}

fn sums<V: Copy + Default + std::ops::Add<Output = V>>(values: impl Iterator<Item = V>) -> Vec<V> {
    let mut sum = V::default();
    let mut all = Vec::with_capacity(1 + values.size_hint().0);
    all.push(sum);
    for value in values {
        sum = sum + value;
        all.push(sum);
    }
    all
}

impl LayerProfile {
    pub(crate) fn made(
        about: MadeProfile,
        gpus: Vec<(Arc<str>, Vec<Times>)>,
        mut weights: Vec<Weights>,
    ) -> LayerProfile {
        let mut gpus: Vec<Gpu> = (gpus.into_iter())
            .map(|(name, mut times)| {
                times.sort_unstable_by_key(|times| (times.tensor, times.micro_batch));
                Gpu { name, times }
            })
            .collect();
        gpus.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        weights.sort_unstable_by_key(|weights| weights.tensor);
        LayerProfile {
            name: about.name,
            model: about.model,
            source: about.source,
            licence: String::new(),
            layers: about.layers,
            sequence: about.sequence,
            hidden: about.hidden,
            bytes_per_value: about.bytes_per_value,
            optimizer_bytes: 0.0,
            parameters: about.parameters,
            hash: String::new(),
            gpus,
            weights,
        }
    }

    pub fn gpus(&self) -> impl Iterator<Item = &str> {
        self.gpus.iter().map(|gpu| &*gpu.name)
    }

    pub fn gpu(&self, name: &str) -> Option<usize> {
        (self.gpus.binary_search_by(|gpu| (*gpu.name).cmp(name))).ok()
    }

    pub fn tensor_degrees(&self, gpu: &str) -> Vec<u32> {
        let mut degrees: Vec<u32> = self.of_gpu(gpu).iter().map(|t| t.tensor).collect();
        degrees.dedup();
        degrees
    }

    pub fn micro_batches(&self, gpu: &str, tensor: u32) -> Vec<u32> {
        let at_degree = self.of_gpu(gpu).iter().filter(|t| t.tensor == tensor);
        at_degree.map(|t| t.micro_batch).collect()
    }

    /// Adds the micro-batches of `asked` that are between two profiled ones.
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

    /// The layers if each keeps only its input and goes forward again in its backward pass, with one layer's bytes at a time.
    pub fn recomputed(&self) -> LayerProfile {
        let mut all = self.clone();
        for times in all.gpus.iter_mut().flat_map(|gpu| &mut gpu.times) {
            let twice = |back: &mut Vec<f64>, there: &[f64]| {
                back.iter_mut()
                    .zip(there)
                    .for_each(|(back, there)| *back += there);
            };
            twice(&mut times.backward, &times.forward);
            twice(&mut times.busy_backward, &times.busy_forward);
        }
        for weights in &mut all.weights {
            // A layer's input is the output of the one before; the input of the first are tokens, which are small.
            let inputs = std::iter::once(&0).chain(&weights.output).copied();
            weights.stored = sums(inputs.take(weights.output.len()));
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

    pub fn weights(&self, tensor: u32) -> Option<&Weights> {
        let place = self.weights.binary_search_by_key(&tensor, |w| w.tensor);
        place.ok().map(|index| &self.weights[index])
    }

    /// The last layers of consecutive stages, cut so that the slowest stage is as short as possible, forward and backward;
    /// among such cuts, the last stage begins earliest, then the one before it. `stages`: GPU and tensor degree of each.
    /// `None` without a profile of one of them, or with more stages than layers.
    pub fn even_cuts(&self, stages: &[(&str, u32)], micro_batch: u32) -> Option<Vec<u32>> {
        self.cutting(stages, micro_batch)?.cuts(stages.len())
    }

    /// The cuts of [`LayerProfile::even_cuts`] for the first one of these stages, the first two, and so on.
    pub fn cutting(&self, stages: &[(&str, u32)], micro_batch: u32) -> Option<StageCuts> {
        let each: Vec<Vec<(&str, u32)>> = stages.iter().map(|stage| vec![*stage]).collect();
        self.cutting_among(&each, micro_batch)
    }

    /// The cuts of [`LayerProfile::cutting`] if a stage has replicas on mixed GPUs, the slowest of which decides.
    pub fn cutting_among(
        &self,
        stages: &[Vec<(&str, u32)>],
        micro_batch: u32,
    ) -> Option<StageCuts> {
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
            let all = times[stage]
                .iter()
                .map(|t| t.forward[to] - t.forward[from] + t.backward[to] - t.backward[from]);
            all.fold(0.0, f64::max)
        };
        // best[n]: the slowest of the stages so far if they hold the first n layers; from[stage][n]: where its last begins.
        let mut best: Vec<f64> = (0..=layers).map(|n| seconds(0, 0, n)).collect();
        best[0] = f64::INFINITY;
        let mut from = Vec::with_capacity(stages.len());
        from.push(vec![0; layers + 1]);
        // If stages are equal, more layers never end sooner, and their last stage never begins earlier.
        let is_like = |own: &Vec<&Times>| matches!((&own[..], &times[0][..]), ([one], [first]) if std::ptr::eq(*one, *first));
        let are_alike = times.iter().all(is_like);
        for stage in 1..stages.len() {
            let mut next = vec![f64::INFINITY; layers + 1];
            let mut begins = vec![0; layers + 1];
            for n in stage + 1..=layers {
                let least = if are_alike {
                    begins[n - 1].max(stage)
                } else {
                    stage
                };
                for (begin, before) in best.iter().enumerate().take(n).skip(least) {
                    if are_alike && *before >= next[n] {
                        break;
                    }
                    let slowest = before.max(seconds(stage, begin, n));
                    if slowest < next[n] {
                        (next[n], begins[n]) = (slowest, begin);
                    }
                }
            }
            best = next;
            from.push(begins);
        }
        Some(StageCuts(from))
    }
}

/// The cuts of pipelines with up to this number of stages: by stage and layers up to its end, where it begins.
#[derive(Debug, Clone)]
pub struct StageCuts(Vec<Vec<usize>>);

impl StageCuts {
    /// The last layer of each of the first `stages` stages; `None` for 0, or for more than it was made for.
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
