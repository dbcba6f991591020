//! A configuration as records have it.

use super::record::Record;

/// A configuration that was chosen, on the axes that its space has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// VM shape; empty where those of all VM types are counted together.
    pub vm: Option<String>,
    pub workers: Option<u32>,
    pub batch: Option<u32>,
    pub other: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChosenRef<'r> {
    vm: Option<&'r str>,
    workers: Option<u32>,
    batch: Option<u32>,
    other: Option<&'r str>,
}

impl<'r> ChosenRef<'r> {
    pub(super) fn choice(record: &'r Record<'_>) -> Option<Self> {
        let seen = ChosenRef {
            vm: record.chosen_vm,
            workers: record.chosen_workers,
            batch: record.chosen_batch,
            other: record.chosen_other,
        };
        seen.is_any().then_some(seen)
    }

    pub(super) fn oracle(record: &'r Record<'_>) -> Option<Self> {
        let seen = ChosenRef {
            vm: record.oracle_vm,
            workers: record.oracle_workers,
            batch: record.oracle_batch,
            other: record.oracle_other,
        };
        seen.is_any().then_some(seen)
    }

    pub(super) fn on_any_vm(self) -> Self {
        ChosenRef {
            vm: Some(""),
            ..self
        }
    }

    fn is_any(&self) -> bool {
        self.vm.is_some() || self.workers.is_some() || self.batch.is_some() || self.other.is_some()
    }

    pub(super) fn is(&self, chosen: &Chosen) -> bool {
        (self.workers, self.batch) == (chosen.workers, chosen.batch)
            && (self.vm, self.other) == (chosen.vm.as_deref(), chosen.other.as_deref())
    }

    pub(super) fn to_owned(self) -> Chosen {
        Chosen {
            vm: self.vm.map(str::to_owned),
            workers: self.workers,
            batch: self.batch,
            other: self.other.map(str::to_owned),
        }
    }
}
