//! The outline of a step: its random length, without walking its pipelines.
//!
//! A pipeline whose stage s computes f(s) times as long ends after
//!
//! Σ b(s) f(s) + (m − 1) max over s of max(h(s) f(s), b(s) f(s) + g(s)) + a constant:
//!
//! every micro-batch passes every stage once, and all but one wait for the slowest. b are seconds of a micro-batch forward
//! and backward on the GPU, h the host's seconds to launch it, g its messages of a round, which both ends wait for, m
//! micro-batches. The step ends with the last replica, and the constant makes it exact without randomness.

use super::PreparedPlan;
use super::path::PathScratch;

#[derive(Debug, Clone, Copy, PartialEq)]
struct StageOutline {
    /// Seconds of a micro-batch forward and backward on the GPU.
    busy: f64,
    /// Seconds of launching it on the host.
    host: f64,
    /// Messages of a micro-batch that delay it.
    messages: f64,
    update: f64,
}

#[derive(Debug, Clone)]
pub struct StepOutline {
    lanes: Vec<Vec<StageOutline>>,
    lane_of: Vec<u32>,
    stages: usize,
    /// Micro-batches that wait for the slowest stage.
    waiting: f64,
    /// The part without randomness.
    constant: f64,
    calm_s: f64,
}

impl PreparedPlan {
    pub fn outline(&self, scratch: &mut PathScratch) -> StepOutline {
        let serial = self.exchange_s(2, 1.0);
        let of_lane = |lane: &Vec<super::StageCost>| {
            let sent = |stage: Option<usize>| stage.map_or(0.0, |stage| lane[stage].message);
            let stages = lane.iter().enumerate();
            let each = stages.map(|(number, cost)| StageOutline {
                busy: cost.busy_forward + cost.busy_backward,
                host: cost.forward + cost.backward,
                messages: serial * (cost.message + sent(number.checked_sub(1))),
                update: cost.update,
            });
            each.collect()
        };
        let mut outline = StepOutline {
            lanes: self.lanes.iter().map(of_lane).collect(),
            lane_of: self.lane_of.clone(),
            stages: self.stages(),
            waiting: f64::from(self.micro_batches.saturating_sub(1)),
            constant: 0.0,
            calm_s: self.step_in(scratch),
        };
        let calm = outline.lanes.iter().map(|lane| outline.ends(lane, &[]));
        outline.constant = outline.calm_s - calm.fold(0.0, f64::max);
        outline
    }
}

impl StepOutline {
    pub fn slots(&self) -> usize {
        self.lane_of.len() * self.stages
    }

    /// When a pipeline ends whose stages compute `factors` times as long; missing factors are 1.
    #[inline]
    fn ends(&self, lane: &[StageOutline], factors: &[f64]) -> f64 {
        let (mut sum, mut slowest, mut update) = (0.0, 0.0_f64, 0.0_f64);
        for (number, stage) in lane.iter().enumerate() {
            let factor = factors.get(number).copied().unwrap_or(1.0);
            let busy = stage.busy * factor;
            sum += busy;
            slowest = slowest.max((busy + stage.messages).max(stage.host * factor));
            update = update.max(stage.update * factor);
        }
        sum + self.waiting * slowest + update
    }

    /// Length of a step over one without randomness, if each slot of [`PreparedPlan::step_with`] computes `factors[slot]` times as long.
    pub fn ratio(&self, factors: &[f64]) -> f64 {
        let mut last = 0.0_f64;
        let mut left = factors;
        for &lane in &self.lane_of {
            let (own, rest) = left.split_at(self.stages.min(left.len()));
            left = rest;
            last = last.max(self.ends(&self.lanes[lane as usize], own));
        }
        (last + self.constant) / self.calm_s
    }
}
