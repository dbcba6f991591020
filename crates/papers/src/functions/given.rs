//! What a file gives that functions are asked of.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::life::Lives;
use super::unequal_jobs::Unequal;
use scavsim_sim::cluster::checkpoint::{DynamicSchedule, SinceStart};
use scavsim_sim::training::Fidelity;

/// What names stand for that a file gives, beside those of the library.
#[derive(Debug, Default)]
pub struct Given {
    pub lives: Lives,
    /// Jobs, clusters and policies of unequal workers.
    pub unequal: Unequal,
    /// How finely functions simulate, where they can choose.
    pub fidelity: Fidelity,
    /// Schedules of checkpoints, made when they are first asked for.
    pub(super) schedules: RefCell<BTreeMap<String, Schedule>>,
}

impl Given {
    pub fn new(lives: Lives, unequal: Unequal, fidelity: Fidelity) -> Given {
        Given {
            lives,
            unequal,
            fidelity,
            ..Given::default()
        }
    }
}

#[derive(Debug, Clone)]
pub(super) enum Schedule {
    Dynamic(Rc<DynamicSchedule>),
    SinceStart(Rc<SinceStart>),
}
