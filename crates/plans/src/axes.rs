//! What a plan may be: its degrees, GPUs and markets; and all that are legal, one after the other.

use std::sync::Arc;

use crate::PreparedForm;
use scavsim_parallel::{LayerProfile, NodeKind, ReplicaSharing, Schedule};

#[derive(Debug, Clone)]
pub struct Axes {
    pub kinds: Vec<NodeKind>,
    pub offers: Vec<Offer>,
    /// Data-parallel replicas; `None`: as many as there may be.
    pub data: Option<Vec<u32>>,
    /// Stages; `None`: from one to as many as there are layers.
    pub pipeline: Option<Vec<u32>>,
    /// GPUs that share each layer; `None`: whatever was profiled.
    pub tensor: Option<Vec<u32>>,
    /// Sequences per micro-batch; `None`: whatever was profiled.
    pub micro_batch: Option<Vec<u32>>,
    pub batches: Vec<u32>,
    pub schedules: Vec<Schedule>,
    /// Virtual stages of a stage, with schedules that have any.
    pub virtual_stages: Vec<u32>,
    /// Nodes in all; `None`: any number.
    pub nodes: Option<Vec<u32>>,
    pub most_gpus: u32,
    /// Layers of each stage, for pipelines of as many stages; others are cut evenly by time.
    pub cuts: Vec<Vec<u32>>,
}

/// Nodes that stages may run on, on some terms.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// What it is called: VM types with `+` between them.
    pub name: Arc<str>,
    /// Kinds of nodes of equal parts of the pipeline, from the first stages on; several where replicas are unlike, in equal
    /// parts.
    pub lanes: Vec<Vec<u32>>,
    /// Place of the zone among the zones; 0 where nothing is said of zones.
    pub zone: u16,
    /// Whether as spot VMs; `None` where only the price says so.
    pub on_spot: Option<bool>,
}

/// A legal plan, before anybody knows whether it fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Draft {
    pub offer: u32,
    pub batch: u32,
    pub form: u16,
    pub schedule: Schedule,
    pub virtual_stages: u32,
    pub sharing: ReplicaSharing,
    pub data: u32,
    pub pipeline: u32,
    pub tensor: u32,
    pub micro_batch: u32,
}

impl Draft {
    /// Replicas of each stage: data-parallel ones, times those that share a sequence.
    pub fn replicas(&self) -> u32 {
        self.data.saturating_mul(self.sharing.context)
    }

    pub fn gpus(&self) -> u32 {
        (self.replicas().saturating_mul(self.pipeline)).saturating_mul(self.tensor)
    }
}

impl Axes {
    /// All legal plans in order: by offer, batch, schedule, virtual stages and form, then the fewest GPUs first. Legal: a tensor
    /// group lies inside a node and its degree was profiled; micro-batches of all replicas divide the batch; every kind of node
    /// is filled; with virtual stages there are two stages or more, a layer for each, and whole groups of micro-batches.
    pub fn drafts<'a>(&'a self, forms: &'a [PreparedForm]) -> impl Iterator<Item = Draft> + 'a {
        let offers = 0..self.offers.len() as u32;
        let heads = offers.flat_map(move |offer| {
            let batches = self.batches.iter();
            batches.flat_map(move |&batch| {
                let schedules = self.schedules.iter();
                schedules.map(move |&schedule| (offer, batch, schedule))
            })
        });
        heads.flat_map(move |head| {
            let virtual_stages = if head.2.has_virtual_stages() {
                &self.virtual_stages[..]
            } else {
                &[1]
            };
            virtual_stages.iter().flat_map(move |&virtual_stages| {
                let forms = (0..).zip(forms);
                forms.flat_map(move |form| self.drafts_of_form(form, virtual_stages, head))
            })
        })
    }

    fn drafts_of_form<'a>(
        &'a self,
        (form, formed): (u16, &'a PreparedForm),
        virtual_stages: u32,
        (offer, batch, schedule): (u32, u32, Schedule),
    ) -> impl Iterator<Item = Draft> + 'a {
        let profile = &*formed.profile;
        let asked = self.pipeline.as_ref().or(formed.usual_stages.as_ref());
        let is_ring = schedule.has_virtual_stages();
        let sharing = formed.form.sharing;
        let tensors = self.tensors(profile, offer);
        (1..=self.most_gpus).flat_map(move |gpus| {
            let tensors: Vec<(u32, Vec<u32>)> = tensors
                .iter()
                .filter(|(tensor, _)| gpus % tensor == 0)
                .cloned()
                .collect();
            tensors.into_iter().flat_map(move |(tensor, micro)| {
                let groups = gpus / tensor;
                let most = groups.min(profile.layers / virtual_stages);
                let pipelines = (1..=most).filter(move |stages| {
                    let is_asked = asked.is_none_or(|all| all.contains(stages));
                    let replicas = groups / stages;
                    let data = replicas / sharing.context;
                    groups % stages == 0
                        && replicas.is_multiple_of(sharing.context)
                        && replicas.is_multiple_of(sharing.expert)
                        && is_asked
                        && (!is_ring || *stages > 1)
                        && (self.data.as_ref()).is_none_or(|all| all.contains(&data))
                        && self.fills_nodes(offer, (replicas, *stages, tensor))
                });
                pipelines.flat_map(move |pipeline| {
                    let data = groups / pipeline / sharing.context;
                    let divides = move |micro_batch: &u32| {
                        data.checked_mul(*micro_batch).is_some_and(|samples| {
                            batch % samples == 0
                                && (!is_ring || (batch / samples).is_multiple_of(pipeline))
                        })
                    };
                    let micro: Vec<u32> = micro.iter().copied().filter(divides).collect();
                    micro.into_iter().map(move |micro_batch| Draft {
                        offer,
                        batch,
                        form,
                        schedule,
                        virtual_stages,
                        sharing,
                        data,
                        pipeline,
                        tensor,
                        micro_batch,
                    })
                })
            })
        })
    }

    /// Tensor degrees profiled on all GPUs of an offer that fit into its nodes, each with the profiled micro-batches.
    fn tensors(&self, profile: &LayerProfile, offer: u32) -> Vec<(u32, Vec<u32>)> {
        let kinds: Vec<&NodeKind> = self.kinds_of(offer).collect();
        let Some(first) = kinds.first() else {
            return Vec::new();
        };
        let profiled = |kind: &NodeKind, tensor: u32| {
            kind.gpus_per_node.is_multiple_of(tensor)
                && profile.tensor_degrees(&kind.gpu).contains(&tensor)
        };
        let micro = |tensor: u32| -> Vec<u32> {
            let own = profile.micro_batches(&first.gpu, tensor);
            own.into_iter()
                .filter(|size| (self.micro_batch.as_ref()).is_none_or(|all| all.contains(size)))
                .filter(|size| {
                    let mut all = kinds.iter();
                    all.all(|kind| profile.micro_batches(&kind.gpu, tensor).contains(size))
                })
                .collect()
        };
        (profile.tensor_degrees(&first.gpu).into_iter())
            .filter(|tensor| (self.tensor.as_ref()).is_none_or(|all| all.contains(tensor)))
            .filter(|&tensor| kinds.iter().all(|kind| profiled(kind, tensor)))
            .map(|tensor| (tensor, micro(tensor)))
            .collect()
    }

    pub fn kinds_of(&self, offer: u32) -> impl Iterator<Item = &NodeKind> {
        let kinds = self.offers[offer as usize].lanes.iter().flatten();
        kinds.map(|kind| &self.kinds[*kind as usize])
    }

    /// Whether a plan fills all GPUs of as many nodes as there may be.
    fn fills_nodes(&self, offer: u32, degrees: (u32, u32, u32)) -> bool {
        self.nodes_of(offer, degrees).is_some_and(|runs| {
            let nodes = runs.iter().map(|run| run.1).sum::<u32>();
            (self.nodes.as_ref()).is_none_or(|all| all.contains(&nodes))
        })
    }

    /// Kinds of nodes and how many of each (replicas, pipeline, tensor) fill; `None` where they do not.
    pub fn nodes_of(
        &self,
        offer: u32,
        (replicas, pipeline, tensor): (u32, u32, u32),
    ) -> Option<Vec<(u32, u32)>> {
        let lanes = &self.offers[offer as usize].lanes;
        let mut all: Vec<(u32, u32)> = Vec::new();
        if !replicas.is_multiple_of(lanes.len() as u32) {
            return None;
        }
        let of_lane = replicas / lanes.len() as u32;
        for kinds in lanes {
            let parts = kinds.len() as u32;
            if parts == 0 || pipeline % parts != 0 {
                return None;
            }
            let gpus = (pipeline / parts)
                .checked_mul(of_lane)?
                .checked_mul(tensor)?;
            // Neighbouring parts of one kind share nodes.
            for same in kinds.chunk_by(|a, b| a == b) {
                let gpus = gpus.checked_mul(same.len() as u32)?;
                let per_node = self.kinds[same[0] as usize].gpus_per_node;
                if gpus % per_node != 0 {
                    return None;
                }
                match all.iter_mut().find(|known| known.0 == same[0]) {
                    Some(known) => known.1 += gpus / per_node,
                    None => all.push((same[0], gpus / per_node)),
                }
            }
        }
        Some(all)
    }

    /// The kind of node of each stage, for each of the pipelines that replicas follow.
    pub fn stage_kinds(&self, draft: &Draft) -> Vec<Vec<u32>> {
        let of_lane = |kinds: &Vec<u32>| {
            let each = draft.pipeline as usize / kinds.len().max(1);
            (kinds.iter())
                .flat_map(|kind| std::iter::repeat_n(*kind, each))
                .collect()
        };
        let lanes = &self.offers[draft.offer as usize].lanes;
        lanes.iter().map(of_lane).collect()
    }
}
