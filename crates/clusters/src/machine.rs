use scavsim_data::cloud::{Fleet, OwnVm};
use scavsim_data::configuration::{Configuration, Shape};
use scavsim_data::workload::{SubstituteVm, Workload};

/// A VM type that was not measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    pub stand_in: SubstituteVm,
    /// Name of its table, which may make several types.
    pub table: String,
    pub memory_gib: Option<f64>,
    pub vcpu: Option<f64>,
    pub gpus: Option<u32>,
    /// USD per hour on demand.
    pub usd_per_hour: Option<f64>,
}

impl Machine {
    /// Most samples per worker and step in `memory_gib` of a VM: by the workload's memory per sample, or in proportion to the measured
    /// workers' memory.
    pub fn largest_local_batch(
        &self,
        workload: &Workload,
        memory_gib: f64,
        configuration: &Configuration,
    ) -> Option<f64> {
        let constants = &workload.constants;
        let shape = Shape::parse(&configuration.vm).ok()?;
        let vms = shape.vms(configuration.workers)?;
        let each = memory_gib / f64::from(configuration.workers.div_ceil(vms));
        if let Some(sample) = &constants.sample_memory_gib {
            let fixed = constants.fixed_memory_gib.as_ref().map_or(0.0, |f| f.value);
            return Some((each - fixed) / sample.value);
        }
        let measured = constants.worker_memory_gib.as_ref()?.value;
        let held = (workload
            .steps
            .points_of(&shape.on(&self.stand_in.like))
            .iter())
        .map(|(c, _)| c.local_batch())
        .fold(0.0, f64::max);
        Some(held * each / measured)
    }
}

pub fn fleet<'m>(machines: impl IntoIterator<Item = &'m Machine>) -> Fleet<'m> {
    Fleet::new(machines.into_iter().map(|m| {
        let own = OwnVm {
            // One table may make several types, whose names differ.
            table: &m.table,
            like: &m.stand_in.like,
            vcpu: m.vcpu,
            memory_gib: m.memory_gib,
            gpus: m.gpus,
            usd_per_hour: m.usd_per_hour,
        };
        (&*m.stand_in.vm, own)
    }))
}
