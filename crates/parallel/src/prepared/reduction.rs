use super::Reduction;
use super::costs::{Basis, sending};
use crate::Scope;
use crate::misfit::Misfit;
use crate::plan::{Replica, StageOfPlan};
use crate::runtime::Shard;

impl Basis<'_> {
    /// The all-reduce of a stage's gradients: inside of nodes first, then between them, then inside again.
    pub(super) fn reduction(&self, stage: &StageOfPlan) -> Result<Reduction, Misfit> {
        // Shards are scattered after every pass.
        if self.plan.data < 2 || self.runtime.shard == Shard::Full {
            return Ok(Reduction::default());
        }
        // Experts are reduced among fewer replicas: this is their share of the bytes of a ring over all.
        let among = |replicas: f64| (replicas - 1.0) / replicas;
        let all = f64::from(self.plan.data);
        let of_experts = among(all / f64::from(self.plan.sharing.expert)) / among(all);
        let mut bytes: f64 = 0.0;
        for replica in &stage.replicas {
            let weights = self.weights(replica.tensor)?;
            let of_parts = stage.parts();
            let parameters: f64 = of_parts
                .map(|(first, last)| {
                    let experts = weights.expert_parameters(first, last) as f64;
                    weights.parameters(first, last) as f64 - experts * (1.0 - of_experts)
                })
                .sum();
            // For all GPUs of a replica: they send at once.
            bytes =
                bytes.max(parameters * f64::from(replica.tensor) * self.profile.bytes_per_value);
        }
        let tensor = stage.replicas.iter().map(|r| r.tensor).max().unwrap_or(1);
        let buckets = (bytes / f64::from(tensor) / self.runtime.bucket_bytes.max(1.0))
            .ceil()
            .max(1.0);
        let bucket = bytes / buckets;
        let busy = sending(stage);
        // The first replica on each node, and the number of replicas on it.
        let mut nodes: Vec<(Replica, u32, u32)> = Vec::new();
        let mut place_of = vec![usize::MAX; self.plan.stages.len() * self.plan.data as usize];
        for (replica, busy) in stage.replicas.iter().zip(&busy) {
            let place = &mut place_of[replica.node as usize];
            if *place == usize::MAX {
                *place = nodes.len();
                nodes.push((*replica, 0, *busy));
            }
            nodes[*place].1 += 1;
        }
        let mut inside: f64 = 0.0;
        let mut between: f64 = 0.0;
        let count = nodes.len() as f64;
        let mut seen: Vec<[u32; 5]> = Vec::new();
        for (number, &(replica, sharing, busy)) in nodes.iter().enumerate() {
            let next = nodes[(number + 1) % nodes.len()];
            // Links of equal kinds have equal times.
            let key = [replica.kind, next.0.kind, busy, next.2, sharing];
            if seen.contains(&key) {
                continue;
            }
            seen.push(key);
            if sharing > 1 {
                let own = f64::from(sharing);
                // Each GPU of a replica has a ring of its own.
                let bytes = 2.0 * (own - 1.0) / own * bucket / f64::from(replica.tensor);
                inside = inside.max(self.link(
                    Scope::InNode,
                    (replica, replica),
                    (busy, busy),
                    bytes,
                )?);
            }
            if nodes.len() > 1 {
                let bytes = 2.0 * (count - 1.0) / count * bucket;
                let scope = self.scope(replica, next.0)?;
                between =
                    between.max(self.link(scope, (replica, next.0), (busy, next.2), bytes)?);
            }
        }
        Ok(Reduction {
            buckets: buckets as u32,
            bucket_s: inside + between,
        })
    }
}
