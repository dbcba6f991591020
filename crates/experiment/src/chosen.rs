//! A configuration as records have it.

use super::record::Record;

/// A configuration that was chosen, on the axes that its space has.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// VM shape; empty where those of all VM types are counted together.
    pub vm: Option<String>,
    pub workers: Option<u32>,
    pub batch: Option<u32>,
    pub other: Option<String>,
}

impl PartialEq for Chosen {
    fn eq(&self, other: &Chosen) -> bool {
        let Chosen {
            vm,
            workers,
            batch,
            other: rest,
        } = self;
        let own = ChosenRef {
            vm: vm.as_deref(),
            workers: *workers,
            batch: *batch,
            other: rest.as_deref(),
        };
        own.is(other)
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ChosenRef<'r> {
    vm: Option<&'r str>,
    workers: Option<u32>,
    batch: Option<u32>,
    other: Option<&'r str>,
}

/// Whether both are the same. An empty text has no memory: where vectors are masked, to compare its bytes takes a fault.
fn is_same(a: Option<&str>, b: Option<&str>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.len() == b.len() && (a.is_empty() || a == b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

impl<'r> ChosenRef<'r> {
    pub(super) fn choice(record: &'r Record<'_>) -> Option<Self> {
        let numbers = (record.chosen_workers, record.chosen_batch);
        ChosenRef::new(record.chosen_vm, numbers, record.chosen_other)
    }

    pub(super) fn oracle(record: &'r Record<'_>) -> Option<Self> {
        let numbers = (record.oracle_workers, record.oracle_batch);
        ChosenRef::new(record.oracle_vm, numbers, record.oracle_other)
    }

    fn new(
        vm: Option<&'r str>,
        (workers, batch): (Option<u32>, Option<u32>),
        other: Option<&'r str>,
    ) -> Option<Self> {
        let is_any = vm.is_some() || workers.is_some() || batch.is_some() || other.is_some();
        is_any.then_some(ChosenRef {
            vm,
            workers,
            batch,
            other,
        })
    }

    pub(super) fn on_any_vm(self) -> Self {
        ChosenRef {
            vm: Some(""),
            ..self
        }
    }

    pub(super) fn is(&self, chosen: &Chosen) -> bool {
        (self.workers, self.batch) == (chosen.workers, chosen.batch)
            && is_same(self.vm, chosen.vm.as_deref())
            && is_same(self.other, chosen.other.as_deref())
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
