/// Figures of a configuration that is a parallel plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlanMetrics {
    pub peak_gib: f64,
    /// Whether that may be more than it has: it is counted to fit, or nearly, but not by what counts may be off.
    pub may_not_fit: bool,
    /// Share of a step in which the last stage waits for others.
    pub bubble: f64,
    /// Share of a step that is communication which nothing hides; `None` where measured layers hold some of it.
    pub communication: Option<f64>,
    pub tokens_per_s: f64,
    /// Model FLOPs utilisation; `None` where only a profile of the model is known. Source: Chowdhery et al., PaLM, 2022.
    pub mfu: Option<f64>,
    /// Tokens to the target.
    pub tokens: f64,
    /// Seconds to it without luck.
    pub calm_s: f64,
    /// 10⁹ bytes of a checkpoint.
    pub checkpoint_gb: f64,
}

impl PlanMetrics {
    /// USD per 10⁹ tokens of a job at this cost; `None` where it never ends.
    pub fn usd_per_1e9_tokens(&self, cost_usd: f64) -> Option<f64> {
        let usd = cost_usd / self.tokens * 1e9;
        usd.is_finite().then_some(usd)
    }
}
