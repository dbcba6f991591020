//! What a plan does with its GPUs, in the figures that runs are published with.

use crate::Choices;
use scavsim_search::testbed::PlanMetrics;

impl Choices {
    pub fn figures(&self, configuration: usize) -> PlanMetrics {
        let way = &self.ways[configuration];
        let tokens_of_step =
            f64::from(way.draft.batch) * f64::from(self.formed(&way.draft).profile.sequence);
        let tokens_per_s = tokens_of_step / way.step_s;
        PlanMetrics {
            peak_gib: f64::from(way.peak_gib),
            may_not_fit: way.may_not_fit,
            bubble: f64::from(way.bubble_share),
            // What is left of a step may round to less than nothing.
            communication: (way.inside_s)
                .map(|inside_s| ((way.communication_s + inside_s) / way.step_s).max(0.0)),
            tokens_per_s,
            mfu: self.peak_flops(configuration).and_then(|peak| {
                let flops = self.flops.as_ref()?;
                Some(tokens_per_s * flops.per_token / peak)
            }),
            tokens: way.steps.ceil() * tokens_of_step,
            calm_s: way.calm_s(),
            checkpoint_gb: way.state_bytes / 1e9,
        }
    }

    /// Whether the micro-batch of a plan was not profiled, on any of its GPUs, but lies between others that were.
    pub fn is_interpolated(&self, configuration: usize) -> bool {
        let draft = &self.ways[configuration].draft;
        let profile = &self.formed(draft).profile;
        let mut kinds = self.axes.kinds_of(draft.offer);
        kinds.any(|kind| {
            let gpu = profile.gpu(&kind.gpu);
            let times = gpu.and_then(|gpu| profile.times(gpu, draft.tensor, draft.micro_batch));
            times.is_some_and(|times| times.is_interpolated)
        })
    }

    /// FLOP/s of all GPUs of a plan at their peak, where that is known.
    fn peak_flops(&self, configuration: usize) -> Option<f64> {
        let flops = self.flops.as_ref()?;
        let draft = &self.ways[configuration].draft;
        let kinds = self.axes.stage_kinds(draft);
        let gpus = f64::from(draft.replicas()) * f64::from(draft.tensor) / kinds.len() as f64;
        let peak = |kind: &u32| {
            let gpu = &self.axes.kinds[*kind as usize].gpu;
            let known = flops.peaks.iter().find(|(name, _)| name == gpu);
            known.map(|(_, peak)| gpus * peak)
        };
        kinds.iter().flatten().map(peak).sum()
    }
}
