//! Costs of layers and transfers: from a profile and measured links, or by the law of layers.

use std::sync::Arc;

use super::named::{model, not_known, profile};
use super::training::Training;
use crate::complaints::Complaints;
use crate::files::Files;
use crate::parallel_table::{NodeTable, ParallelTable};
use scavsim_parallel::gpu::{self, Precision};
use scavsim_parallel::law::constants::GENERATIONS;
use scavsim_parallel::law::kernels::Device;
use scavsim_parallel::law::{GpuNode, LayerLaw};
use scavsim_parallel::runtime::{Recompute, RuntimePreset, Shard};
use scavsim_parallel::{Architecture, LayerProfile, Links, NodeKind, ReplicaSharing, library};
use scavsim_plans::{Flops, Form, Offer, PreparedForm};
use scavsim_read::input::checked::{Machines, Positive};
use scavsim_read::input::{Source, Spanned, did_you_mean, listed};

const MICRO_BATCHES: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
const MOST_MICRO_BATCH: u32 = 1_000_000;

#[derive(Debug, Default)]
pub(super) struct FoundNodes {
    pub(super) kinds: Vec<NodeKind>,
    pub(super) offers: Vec<Offer>,
    pub(super) zones: Vec<Arc<str>>,
    pub(super) sheets: Vec<Arc<str>>,
    /// The law's view of the nodes, one per GPU as kinds name it; none with a profile.
    pub(super) nodes: Vec<GpuNode>,
}

#[derive(Debug, Clone)]
pub(super) struct KnownGpu {
    pub(super) name: Arc<str>,
    /// GiB of the data sheet, if known.
    pub(super) memory_gib: Option<f64>,
    /// The GPU for the law of layers; none with a profile.
    pub(super) device: Option<Device>,
    /// Bytes per second to other GPUs of the node.
    pub(super) link_bytes_per_s: f64,
}

#[derive(Debug)]
pub(super) enum PlanSubject {
    Profile(Box<LayerProfile>),
    Model(Box<ModelSpecification>),
}

#[derive(Debug)]
pub(super) struct ModelSpecification {
    pub(super) model: Arc<Architecture>,
    pub(super) sequence: u32,
    pub(super) precision: Precision,
    pub(super) training: Training,
}

pub(super) struct Layers {
    pub(super) forms: Vec<PreparedForm>,
    pub(super) links: Links,
    pub(super) hashes: Vec<String>,
}

pub(super) fn subject(
    table: &ParallelTable,
    files: &Files,
    runtime: Option<&RuntimePreset>,
    complaints: &mut Complaints<'_>,
) -> Option<PlanSubject> {
    if let (Some(model), Some(_)) = (&table.model, &table.profile) {
        let why = "both say what layers cost";
        complaints.exclude_each_other("model", "profile", model, why);
        return None;
    }
    let Some(given) = &table.model else {
        for (key, place) in [
            ("sequence", table.sequence.as_ref().map(Spanned::span)),
            ("precision", table.precision.as_ref().map(Spanned::span)),
            ("train", table.train.as_ref().map(Spanned::span)),
            ("optimizer", table.optimizer.as_ref().map(Spanned::span)),
        ] {
            if let Some(place) = place {
                let title = format!("`parallel.{key}` needs `model`");
                complaints.error_at(place, title, "a profile has its own");
            }
        }
        return profile(table, files, complaints).map(|p| PlanSubject::Profile(Box::new(p)));
    };
    let model = model(given, files, complaints);
    let precision = match &table.precision {
        None => Precision::named(&runtime?.precision),
        asked => {
            let all = Precision::ALL.map(|known| (known.name(), known));
            complaints.one_of("precision", asked, &all)
        }
    };
    let model = model?;
    let training = Training::read(table, &model, complaints)?;
    Some(PlanSubject::Model(Box::new(ModelSpecification {
        sequence: (table.sequence.as_ref()).map_or(model.sequence, |s| s.get_ref().get()),
        precision: precision?,
        training,
        model,
    })))
}

impl PlanSubject {
    pub(super) fn train(&self, runtime: &mut RuntimePreset) {
        if let PlanSubject::Model(own) = self {
            runtime.settings.training = own.training.method;
            runtime.settings.optimizer = own.training.optimizer;
        }
    }

    /// With embedding and head.
    pub(super) fn layers(&self) -> u32 {
        match self {
            PlanSubject::Profile(profile) => profile.layers,
            PlanSubject::Model(own) => own.model.layers + 2,
        }
    }

    pub(super) fn name(&self) -> Arc<str> {
        match self {
            PlanSubject::Profile(profile) => Arc::clone(&profile.name),
            PlanSubject::Model(own) => Arc::clone(&own.model.name),
        }
    }

    pub(super) fn precision<'r>(&self, runtime: &'r RuntimePreset) -> &'r str {
        match self {
            PlanSubject::Profile(_) => &runtime.precision,
            PlanSubject::Model(own) => own.precision.name(),
        }
    }

    pub(super) fn sequence(&self) -> u32 {
        match self {
            PlanSubject::Profile(profile) => profile.sequence,
            PlanSubject::Model(own) => own.sequence,
        }
    }

    pub(super) fn gpu(
        &self,
        node: &Spanned<NodeTable>,
        table: &ParallelTable,
        complaints: &mut Complaints<'_>,
    ) -> Option<KnownGpu> {
        match self {
            PlanSubject::Profile(profile) => profiled(profile, node, complaints),
            PlanSubject::Model(own) => own.gpu(node, table, complaints),
        }
    }
}

fn profiled(
    profile: &LayerProfile,
    node: &Spanned<NodeTable>,
    complaints: &mut Complaints<'_>,
) -> Option<KnownGpu> {
    let known: Vec<&str> = profile.gpus().collect();
    let Some(given) = &node.get_ref().gpu else {
        let title = format!(
            "nothing says which GPU a `{}` has",
            node.get_ref().vm.get_ref()
        );
        let complaint = complaints.mistake_at(node.span(), title, "say its `gpu`");
        complaints.push(complaint.with_help(format!("profiled on: {}", known.join(", "))));
        return None;
    };
    let gpu = given.get_ref();
    if !known.contains(&gpu.as_str()) {
        let title = format!("`{}` was not profiled on the GPU `{gpu}`", profile.name);
        let label = did_you_mean(gpu, known.iter().copied(), "not known");
        let help = format!("profiled on: {}", listed(known));
        complaints.refuse(given.span(), title, label, help);
        return None;
    }
    Some(KnownGpu {
        name: gpu.as_str().into(),
        memory_gib: None,
        device: None,
        link_bytes_per_s: 0.0,
    })
}

impl ModelSpecification {
    fn gpu(
        &self,
        node: &Spanned<NodeTable>,
        table: &ParallelTable,
        complaints: &mut Complaints<'_>,
    ) -> Option<KnownGpu> {
        let own = node.get_ref();
        let vm = own.vm.get_ref();
        let Some(given) = &own.gpu else {
            let Some(found) = gpu::of_vm(vm).and_then(|of| of.gpu) else {
                let title = format!("nothing says which GPU a `{vm}` has");
                let help = format!("allowed here: {}", gpu::names().join(", "));
                complaints.refuse(node.span(), title, "say its `gpu`", help);
                return None;
            };
            return self.of_data_sheet(found, node, complaints);
        };
        let word = given.get_ref();
        if let Some(own) = table.gpus.get(word) {
            let generation = own
                .generation
                .as_ref()
                .map_or("hopper", |g| g.get_ref().as_str());
            let Some(generation) = GENERATIONS.iter().position(|known| *known == generation) else {
                let place = own.generation.as_ref().map_or(given.span(), Spanned::span);
                let title = format!("unknown generation of GPUs `{generation}`");
                let help = format!("allowed here: {}", GENERATIONS.join(", "));
                complaints.refuse(place, title, "not known", help);
                return None;
            };
            return Some(KnownGpu {
                name: word.as_str().into(),
                memory_gib: Some(own.memory_gib.get()),
                device: Some(Device {
                    peak_flops: own.tflops.get() * 1e12,
                    wide_flops: own.tflops.get() * 1e12
                        / match self.precision {
                            // Tensor cores do twice as many products of half the bits.
                            Precision::Fp8 => 2.0,
                            _ => 1.0,
                        },
                    memory_bytes_per_s: own.memory_gb_per_s.get() * 1e9,
                    multiprocessors: f64::from(own.multiprocessors.get()),
                    generation,
                    value_bytes: self.precision.value_bytes(),
                }),
                link_bytes_per_s: own.link_gb_per_s.get() * 0.5e9,
            });
        }
        match gpu::named(word) {
            Some(found) => self.of_data_sheet(found, node, complaints),
            None => {
                let title = format!("unknown GPU `{word}`");
                let beside = "or one of `[parallel.gpus]`";
                not_known(given, word, title, &gpu::names(), beside, complaints);
                None
            }
        }
    }

    fn of_data_sheet(
        &self,
        found: &gpu::GpuSheet,
        node: &Spanned<NodeTable>,
        complaints: &mut Complaints<'_>,
    ) -> Option<KnownGpu> {
        let device = found.device(self.precision);
        if device.is_none() {
            let title = format!("a {} has no {}", found.name, self.precision.name());
            let help = format!("it has {}: say `precision`", found.precisions().join(", "));
            complaints.refuse(node.span(), title, "lacks the precision", help);
        }
        Some(KnownGpu {
            name: Arc::clone(&found.name),
            memory_gib: Some(found.memory_gib),
            device: Some(device?),
            link_bytes_per_s: found.link_bytes_per_s(),
        })
    }

    /// Tensor degrees that divide heads; requested ones must.
    fn tensors(
        &self,
        table: &ParallelTable,
        most: u32,
        is_sharded: bool,
        complaints: &mut Complaints<'_>,
    ) -> Vec<u32> {
        let divides = |degree: &u32| {
            self.model.heads.is_multiple_of(*degree) && self.model.kv_heads.is_multiple_of(*degree)
        };
        let asked = (table.tensor.as_ref()).and_then(|axis| axis.get_ref().values());
        let Some(asked) = asked else {
            let powers = std::iter::successors(Some(1_u32), |t| t.checked_mul(2));
            let all = powers.take_while(|t| *t <= most).filter(divides);
            return if is_sharded { vec![1] } else { all.collect() };
        };
        for degree in asked.iter().filter(|degree| !divides(degree)) {
            let title = format!(
                "`parallel.tensor`: {degree} GPUs cannot share the {} heads and {} key-value heads of `{}`",
                self.model.heads, self.model.kv_heads, self.model.name
            );
            let place = table.tensor.as_ref().map_or(0..0, Spanned::span);
            complaints.error_at(place, title, "heads do not divide");
        }
        asked.to_vec()
    }
}

impl PlanSubject {
    /// Whether its tokens go through only some of several experts.
    pub(super) fn has_experts(&self) -> bool {
        matches!(self, PlanSubject::Model(own) if own.model.experts.is_some())
    }

    /// FLOPs of the model and peaks of its GPUs; `None` with a profile.
    pub(super) fn flops(&self, found: &FoundNodes) -> Option<Flops> {
        let PlanSubject::Model(own) = self else {
            return None;
        };
        let peaks = found.nodes.iter();
        Some(Flops {
            per_token: (own.training.method).token_flops(&own.model, f64::from(own.sequence)),
            peaks: peaks
                .map(|node| (Arc::clone(&node.gpu), node.device.peak_flops))
                .collect(),
        })
    }

    pub(super) fn layers_on(
        self,
        table: &ParallelTable,
        files: &Files,
        (runtime, forms): (&RuntimePreset, &[Form]),
        found: &FoundNodes,
        complaints: &mut Complaints<'_>,
    ) -> Option<Layers> {
        match self {
            PlanSubject::Profile(profile) => {
                let (links, hash) = links(table, files, complaints)?;
                let hashes = [profile.hash.clone()].into_iter().chain(hash).collect();
                let profile = Arc::new(*profile);
                let again = forms.iter().any(|form| form.recompute == Recompute::Full);
                let recomputed = again.then(|| Arc::new(profile.recomputed()));
                let of_form = |form: &Form| PreparedForm {
                    form: *form,
                    profile: match (&recomputed, form.recompute) {
                        (Some(own), Recompute::Full) => Arc::clone(own),
                        _ => Arc::clone(&profile),
                    },
                    runtime: form.under(&runtime.settings),
                    usual_stages: None,
                };
                Some(Layers {
                    forms: forms.iter().map(of_form).collect(),
                    links,
                    hashes,
                })
            }
            PlanSubject::Model(own) => {
                own.layers_on(table, files, (runtime, forms), found, complaints)
            }
        }
    }
}

impl ModelSpecification {
    fn layers_on(
        &self,
        table: &ParallelTable,
        files: &Files,
        (runtime, forms): (&RuntimePreset, &[Form]),
        found: &FoundNodes,
        complaints: &mut Complaints<'_>,
    ) -> Option<Layers> {
        let most = found.nodes.iter().map(|node| node.gpus).max().unwrap_or(1);
        let asked = (table.micro_batch.as_ref()).and_then(|axis| axis.get_ref().values());
        let micro_batches = asked.map_or_else(|| MICRO_BATCHES.to_vec(), |asked| asked.to_vec());
        if let Some(place) = &table.micro_batch
            && micro_batches.iter().any(|micro| *micro > MOST_MICRO_BATCH)
        {
            let title = format!("`parallel.micro_batch` is above {MOST_MICRO_BATCH}");
            complaints.error_at(place.span(), title, "too many sequences");
            return None;
        }
        let constants = &runtime.prior.medians;
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("{:?}", self.model).as_bytes());
        hasher.update(format!("{:?} {constants:?} {}", found.nodes, self.sequence).as_bytes());
        let mut formed = Vec::with_capacity(forms.len());
        for (number, form) in forms.iter().enumerate() {
            let settings = form.under(&runtime.settings);
            let is_sharded = form.shard == Shard::Full;
            // Mistakes of the requested degrees are reported once.
            let before = complaints.count();
            let tensors = self.tensors(table, most, is_sharded, complaints);
            if complaints.count() > before && number == 0 {
                return None;
            }
            let law = LayerLaw {
                model: &self.model,
                sequence: self.sequence,
                sharing: form.sharing,
                runtime: &settings,
                constants,
            };
            hasher.update(format!("{settings:?} {:?}", form.sharing).as_bytes());
            formed.push(PreparedForm {
                form: *form,
                profile: Arc::new(law.profile(&found.nodes, &tensors, &micro_batches)),
                // Sharded weights leave nothing to partition.
                usual_stages: is_sharded.then(|| vec![1]),
                runtime: settings,
            });
        }
        let mut hashes = vec![hasher.finalize().to_hex().to_string()];
        let links = if table.links.is_some() {
            let (own, hash) = links(table, files, complaints)?;
            hashes.extend(hash);
            own
        } else {
            let law = LayerLaw {
                model: &self.model,
                sequence: self.sequence,
                sharing: ReplicaSharing::NONE,
                runtime: &runtime.settings,
                constants,
            };
            law.links(&found.nodes)
        };
        Some(Layers {
            forms: formed,
            links,
            hashes,
        })
    }
}

pub(super) fn gpu_node(node: &NodeTable, known: &KnownGpu, gpus: u32) -> Option<GpuNode> {
    let listed = gpu::of_vm(node.vm.get_ref()).and_then(|of| of.network_gbit_per_s);
    let network = node.network_gbit_per_s.map(Positive::get).or(listed);
    Some(GpuNode {
        gpu: Arc::clone(&known.name),
        device: known.device?,
        gpus,
        link_bytes_per_s: known.link_bytes_per_s,
        network_bytes_per_s: network.map(|gbit| gbit * 1e9 / 8.0),
    })
}

/// Number of GPUs by the table, or the catalogue.
pub(super) fn gpus_of(node: &NodeTable) -> Option<u32> {
    let listed = gpu::of_vm(node.vm.get_ref()).map(|of| of.count);
    node.gpus.map(Machines::get).or(listed)
}

/// The links, with the hash of a table of the user.
fn links(
    table: &ParallelTable,
    files: &Files,
    complaints: &mut Complaints<'_>,
) -> Option<(Links, Option<String>)> {
    let Some(name) = &table.links else {
        return Some((library::links(complaints.diagnostics)?, None));
    };
    let path = files.folder(name.span().start).join(name.get_ref());
    if !path.is_file() {
        let title = format!("there is no table of links `{}`", name.get_ref());
        let complaint = complaints.mistake_at(name.span(), title, "not a file");
        complaints.push(complaint.with_help("paths are relative to the file that names them"));
        return None;
    }
    let source = Source::read(&path, complaints.diagnostics)?;
    let hash = blake3::hash(source.text.as_bytes()).to_hex().to_string();
    Some((Links::read(&source, complaints.diagnostics)?, Some(hash)))
}
