use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::lifetime_spec::LifetimesByName;
use super::unequal_jobs::UnequalJobInputs;
use scavsim_read::expression::ColumnTable;
use scavsim_sim::cluster::checkpoint::{DynamicSchedule, SinceStart};
use scavsim_sim::training::Fidelity;

/// Things that a paper's file names, in addition to those of the library.
#[derive(Debug, Default)]
pub struct FileInputs {
    pub lives: LifetimesByName,
    /// Jobs, clusters and policies of mixed workers.
    pub unequal: UnequalJobInputs,
    pub tables: BTreeMap<String, Rc<ColumnTable>>,
    pub fidelity: Fidelity,
    /// Schedules of checkpoints, computed on first use.
    pub(super) schedules: RefCell<BTreeMap<String, Schedule>>,
}

impl FileInputs {
    pub fn new(
        lives: LifetimesByName,
        unequal: UnequalJobInputs,
        fidelity: Fidelity,
    ) -> FileInputs {
        FileInputs {
            lives,
            unequal,
            fidelity,
            ..FileInputs::default()
        }
    }
}

#[derive(Debug, Clone)]
pub(super) enum Schedule {
    Dynamic(Rc<DynamicSchedule>),
    SinceStart(Rc<SinceStart>),
}
