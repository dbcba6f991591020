//! What a job did while it held VMs: by this the bill is divided.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// Waits for requested VMs, with all that it holds.
    #[default]
    Waiting,
    /// Writes or restores a checkpoint.
    Restoring,
    /// Trains in order to find a configuration: cold start and probes.
    Searching,
    /// Trains the chosen configuration to the target.
    Training,
    /// Trained what was lost with a VM.
    Lost,
}

pub const PHASES: usize = 5;

/// VM-seconds and sample-seconds of each phase, in the order of [`Phase`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Phases {
    pub vm_seconds: Vec<(u16, [f64; PHASES])>,
    /// ∫ B dt per phase.
    pub sample_seconds: [f64; PHASES],
    /// Sample-seconds that training took longer than with all VMs of its configuration; part of `sample_seconds`.
    pub slow_seconds: f64,
}

impl Phases {
    pub fn add_vms(&mut self, phase: Phase, vm: u16, vms: u32, seconds: f64) {
        if vms == 0 {
            return;
        }
        // A search that goes from type to type adds to the last ones.
        let row = match self.vm_seconds.iter().rposition(|row| row.0 == vm) {
            Some(row) => row,
            None => {
                self.vm_seconds.push((vm, [0.0; PHASES]));
                self.vm_seconds.len() - 1
            }
        };
        self.vm_seconds[row].1[phase as usize] += f64::from(vms) * seconds;
    }

    pub fn add_samples(&mut self, phase: Phase, batch: u32, seconds: f64) {
        self.sample_seconds[phase as usize] += f64::from(batch) * seconds;
    }

    /// What was counted as `from` since `before`, an earlier state of these phases, was `to`.
    pub fn relabel_since(&mut self, before: &Phases, (from, to): (Phase, Phase)) {
        let shift = |all: &mut [f64; PHASES], before: f64| {
            let since = (all[from as usize] - before).max(0.0);
            all[from as usize] -= since;
            all[to as usize] += since;
        };
        shift(
            &mut self.sample_seconds,
            before.sample_seconds[from as usize],
        );
        if from == Phase::Training {
            self.slow_seconds = before.slow_seconds;
        }
        // Rows are added at the end: those of before are the first.
        for (place, (vm, seconds)) in self.vm_seconds.iter_mut().enumerate() {
            let known = before.vm_seconds.get(place).filter(|row| row.0 == *vm);
            shift(seconds, known.map_or(0.0, |row| row.1[from as usize]));
        }
    }

    pub fn clear(&mut self) {
        self.vm_seconds.clear();
        (self.sample_seconds, self.slow_seconds) = ([0.0; PHASES], 0.0);
    }

    pub fn copy_from(&mut self, other: &Phases) {
        self.vm_seconds.clone_from(&other.vm_seconds);
        (self.sample_seconds, self.slow_seconds) = (other.sample_seconds, other.slow_seconds);
    }
}
