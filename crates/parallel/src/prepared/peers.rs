//! Messages between replicas of a stage, and with their hosts: shards of weights, keys and values, tokens, activations.

use super::costs::{Basis, sending};
use crate::law::kernels::norm;
use crate::misfit::Misfit;
use crate::plan::{Replica, StageOfPlan};
use crate::profile::Seconds;
use crate::runtime::Recompute;
use crate::{ReplicaSharing, Scope};

type LayersOfStage<'a> = (&'a StageOfPlan, (u32, u32));

impl Basis<'_> {
    /// Adds gathering weights before each pass, and scattering gradients after the backward pass: rings over all replicas.
    pub(super) fn gather(
        &self,
        (stage, (first, last)): LayersOfStage<'_>,
        index: usize,
        seconds: &mut Seconds,
    ) -> Result<(), Misfit> {
        if self.plan.data < 2 {
            return Ok(());
        }
        let replica = stage.replicas[index];
        let data = f64::from(self.plan.data);
        let weights = self.weights(replica.tensor)?;
        let trained = weights.parameters(first, last) as f64 * self.profile.bytes_per_value;
        let frozen = weights.frozen_bytes(first, last) as f64;
        let ring_s = |bytes: f64| -> Result<f64, Misfit> {
            let all = 0..stage.replicas.len();
            let sent = bytes * (data - 1.0) / data;
            Ok(self.ring_s(stage, index, all, sent)? * self.runtime.gather)
        };
        let gathered = ring_s(trained + frozen)?;
        // Frozen weights have no gradients to scatter; they are needed again if they have adapters.
        let back = match frozen {
            0.0 => 2.0 * gathered,
            _ if self.runtime.training.adapters().is_some() => ring_s(2.0 * trained + frozen)?,
            _ => ring_s(2.0 * trained)?,
        };
        let computed = seconds.forward + seconds.backward;
        for (pass, sent) in [
            (&mut seconds.forward, gathered),
            (&mut seconds.busy_forward, gathered),
            (&mut seconds.backward, back),
            (&mut seconds.busy_backward, back),
        ] {
            *pass = norm(*pass, sent, self.runtime.hiding);
        }
        let shown = seconds.forward + seconds.backward - computed;
        seconds.communication = seconds.communication.map(|own| own + shown);
        Ok(())
    }

    /// Seconds of a ring over replicas in which each GPU sends `bytes`, over the slower of the links in and between nodes.
    fn ring_s(
        &self,
        stage: &StageOfPlan,
        index: usize,
        among: std::ops::Range<usize>,
        bytes: f64,
    ) -> Result<f64, Misfit> {
        let replica = stage.replicas[index];
        let peers = || stage.replicas[among.clone()].iter();
        let mut slowest: f64 = 0.0;
        if peers().filter(|peer| peer.node == replica.node).count() > 1 {
            let ends = (replica, replica);
            let gpus = (replica.tensor, replica.tensor);
            slowest = self.link(Scope::InNode, ends, gpus, bytes)?;
        }
        let elsewhere = |(_, peer): &(usize, &Replica)| peer.node != replica.node;
        if let Some((number, peer)) = among.clone().zip(peers()).find(elsewhere) {
            let busy = sending(stage);
            let scope = self.scope(replica, *peer)?;
            let all = bytes * f64::from(replica.tensor);
            let between = self.link(scope, (replica, *peer), (busy[index], busy[number]), all)?;
            slowest = slowest.max(between);
        }
        Ok(slowest)
    }

    /// Adds messages of replicas that share sequences or experts in every layer: before a forward pass of attention each
    /// gathers the keys and values of the others, again in the backward pass, and their gradients are scattered; tokens go to
    /// their experts and return, as do their gradients. Recomputation sends them again. Source: Llama 3 (arXiv 2407.21783,
    /// section 3.3.2); GShard (Lepikhin et al., ICLR 2021).
    pub(super) fn share(
        &self,
        (stage, (first, last)): LayersOfStage<'_>,
        index: usize,
        seconds: &mut Seconds,
    ) -> Result<(), Misfit> {
        let ReplicaSharing { context, expert } = self.plan.sharing;
        let weights = self.weights(stage.replicas[index].tensor)?;
        let layers = f64::from(last - first + 1);
        let mut add = |peers: u32, bytes: u64, forward: f64, backward: f64| {
            if peers < 2 || bytes == 0 {
                return Ok(());
            }
            let of = f64::from(peers);
            let each = bytes as f64 * f64::from(self.plan.micro_batch) * (of - 1.0) / of / layers;
            let group = index / peers as usize * peers as usize;
            let once = layers * self.ring_s(stage, index, group..group + peers as usize, each)?;
            let again = match self.runtime.recompute {
                Recompute::Full => forward,
                _ => 0.0,
            };
            seconds.forward += forward * once;
            seconds.busy_forward += forward * once;
            seconds.backward += (backward + again) * once;
            seconds.busy_backward += (backward + again) * once;
            let sent = (forward + backward + again) * once;
            seconds.communication = seconds.communication.map(|own| own + sent);
            Ok(())
        };
        add(context, weights.gathered_bytes(first, last), 1.0, 2.0)?;
        add(expert, weights.routed_bytes(first, last), 2.0, 2.0)
    }

    /// Offloaded activations leave during the forward pass and return during the backward pass: the longer decides.
    pub(super) fn offload(
        &self,
        (first, last): (u32, u32),
        replica: Replica,
        seconds: &mut Seconds,
    ) -> Result<(), Misfit> {
        if !self.runtime.offload {
            return Ok(());
        }
        let kept = self.weights(replica.tensor)?.stored_bytes(first, last) as f64;
        let moved = kept * f64::from(self.plan.micro_batch) / self.runtime.offload_bytes_per_s;
        for pass in [
            &mut seconds.forward,
            &mut seconds.busy_forward,
            &mut seconds.backward,
            &mut seconds.busy_backward,
        ] {
            *pass = pass.max(moved);
        }
        Ok(())
    }
}
