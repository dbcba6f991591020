//! How a job on a plan is kept going: what takes the place of a lost VM, what is saved, and when.

use crate::cluster::{Checkpoints, Keeps, Pause, Spot, Write};

#[derive(Debug, Clone)]
pub struct RecoveryTerms {
    /// From a loss until another VM runs in its place.
    pub replacement: Pause,
    /// What all need to go on from a checkpoint, beside reading it.
    pub restart: Option<Pause>,
    pub keeps: Keeps,
    pub checkpoints: Checkpoints,
    /// How long one takes to write, where its size does not tell.
    pub write: Write,
}

impl RecoveryTerms {
    pub fn of_spot(spot: &Spot) -> RecoveryTerms {
        RecoveryTerms {
            replacement: spot.replacement,
            restart: spot.warm_restart,
            keeps: spot.keeps,
            checkpoints: spot.checkpoints.clone(),
            write: spot.write,
        }
    }
}
