//! What a reaction costs: until those that train with a plan have met, have the state, and train.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;

use scavsim_read::input::{self, Diagnostics, Source};

const PARCAE: &str = include_str!("../../../../data/reactions/parcae.toml");

/// Costs of a reaction, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReactionCosts {
    /// Seconds of any reaction, in place of all others.
    pub pause_s: Option<f64>,
    /// Seconds until VMs that came have met the others.
    pub rendezvous_s: f64,
    /// Seconds of each group of communication when VMs came; there are data + pipeline + 1 + data × pipeline.
    pub group_added_s: f64,
    /// Seconds of each group when VMs went.
    pub group_lost_s: f64,
    /// Seconds to start a process.
    pub process_s: f64,
    /// Seconds to build a layer on its stage.
    pub layer_s: f64,
    /// 10⁹ bytes of state per second that one VM hands another; 0: at no cost.
    pub link_gb_per_s: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moves {
    /// Data-parallel replicas of the plan that goes on.
    pub data: u32,
    pub pipeline: u32,
    /// Most layers of a stage that are built; 0: none are.
    pub layers: u32,
    /// Most bytes of state that one VM is handed.
    pub bytes: f64,
    pub adds: bool,
}

impl ReactionCosts {
    pub const FILE: &str = "data/reactions/parcae.toml";

    /// The costs that were measured for Parcae. Source: Duan et al., NSDI 2024.
    pub fn parcae() -> ReactionCosts {
        static READ: LazyLock<ReactionCosts> = LazyLock::new(|| {
            let source = Source::new(ReactionCosts::FILE, PARCAE);
            let mut told = Diagnostics::default();
            input::toml::read(&source, &mut told).unwrap_or_default()
        });
        *READ
    }

    /// Seconds in which nobody trains.
    pub fn pause_s(&self, moves: &Moves) -> f64 {
        if let Some(pause_s) = self.pause_s {
            return pause_s;
        }
        let (d, p) = (f64::from(moves.data), f64::from(moves.pipeline));
        let groups = d + p + 1.0 + d * p;
        let (meeting, group) = if moves.adds {
            (self.rendezvous_s, self.group_added_s)
        } else {
            (0.0, self.group_lost_s)
        };
        let sent = if self.link_gb_per_s > 0.0 {
            moves.bytes / (self.link_gb_per_s * 1e9)
        } else {
            0.0
        };
        let built = if moves.layers > 0 {
            self.process_s + self.layer_s * f64::from(moves.layers)
        } else {
            0.0
        };
        meeting + groups * group + built + sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, from the measured values: 2 × 9 stages of 6 layers, and no state.
    #[test]
    fn the_measured_costs_add_up() {
        let costs = ReactionCosts::parcae();
        let mut moves = Moves {
            data: 2,
            pipeline: 9,
            layers: 6,
            bytes: 0.0,
            adds: true,
        };
        let added = 6.6 + 30.0 * 0.5 + 0.24 + 6.0 * 0.43;
        assert!((costs.pause_s(&moves) - added).abs() < 1e-9);
        moves.adds = false;
        moves.bytes = 2.5e9;
        let lost = 30.0 * 0.0393 + 0.24 + 6.0 * 0.43 + 2.0;
        assert!((costs.pause_s(&moves) - lost).abs() < 1e-9);
        let fixed = ReactionCosts {
            pause_s: Some(60.0),
            ..costs
        };
        assert_eq!(fixed.pause_s(&moves), 60.0);
    }
}
