//! What a job did while it held VMs: by this the bill is divided.

/// What a job does at a time.
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

/// Number of phases.
pub const PHASES: usize = 5;

/// VM-seconds and sample-seconds of each phase, in the order of [`Phase`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Phases {
    /// VM-seconds per phase, by VM type.
    pub vm_seconds: Vec<(u16, [f64; PHASES])>,
    /// ∫ B dt per phase.
    pub sample_seconds: [f64; PHASES],
}

impl Phases {
    /// Adds `workers` VMs with global batch `batch` for `seconds` of `phase`.
    pub fn add(&mut self, phase: Phase, vm: u16, workers: u32, batch: u32, seconds: f64) {
        if seconds == 0.0 {
            return;
        }
        let row = match self.vm_seconds.iter().position(|row| row.0 == vm) {
            Some(row) => row,
            None => {
                self.vm_seconds.push((vm, [0.0; PHASES]));
                self.vm_seconds.len() - 1
            }
        };
        self.vm_seconds[row].1[phase as usize] += f64::from(workers) * seconds;
        self.sample_seconds[phase as usize] += f64::from(batch) * seconds;
    }

    /// `seconds` with `vms` VMs of the type `vm` and global batch `batch` that were counted as `from` were `to`.
    pub fn relabel(
        &mut self,
        (from, to): (Phase, Phase),
        vm: u16,
        vms: u32,
        batch: u32,
        seconds: f64,
    ) {
        let shift = |all: &mut [f64; PHASES], amount: f64| {
            // Not below zero by a rounding error.
            let moved = amount.min(all[from as usize]);
            all[from as usize] -= moved;
            all[to as usize] += moved;
        };
        shift(&mut self.sample_seconds, f64::from(batch) * seconds);
        if let Some(row) = self.vm_seconds.iter_mut().find(|row| row.0 == vm) {
            shift(&mut row.1, f64::from(vms) * seconds);
        }
    }

    /// Nothing, keeping the memory.
    pub fn clear(&mut self) {
        self.vm_seconds.clear();
        self.sample_seconds = [0.0; PHASES];
    }

    /// Becomes the same as `other`, keeping the memory.
    pub fn copy_from(&mut self, other: &Phases) {
        self.vm_seconds.clone_from(&other.vm_seconds);
        self.sample_seconds = other.sample_seconds;
    }
}
