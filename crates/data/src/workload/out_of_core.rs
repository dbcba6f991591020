use serde::Deserialize;

use scavsim_read::input::checked::{Machines, Positive};

/// State of which only some partitions are in memory, as a workload says it. As in Marius (OSDI 2021), swaps go on while
/// workers compute, so that an epoch takes max(compute, swapped bytes / disk bandwidth).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutOfCore {
    /// Size of the state: parameters with what the optimiser keeps of them, in GB.
    pub state_gb: Positive,
    /// p: partitions of the state.
    pub partitions: Machines,
    /// c: how many of them memory holds, at least 2: a sample touches two.
    pub in_memory: Machines,
    /// What the disk reads, or writes, at a time, in MB/s. All workers share it.
    pub disk_mb_per_s: Positive,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WrongPartitions {
    #[error("expected `in_memory` of at least 2: a sample touches two")]
    One,
    #[error("expected `in_memory` of at most `partitions`, {0}")]
    MoreThanAll(u32),
}

impl OutOfCore {
    pub fn check(&self) -> Result<(), WrongPartitions> {
        match (self.in_memory.get(), self.partitions.get()) {
            (1, _) => Err(WrongPartitions::One),
            (c, p) if c > p => Err(WrongPartitions::MoreThanAll(p)),
            _ => Ok(()),
        }
    }

    /// S: partitions that are read in an epoch beside those that are in memory first, which visits every pair of
    /// partitions once: S = (p − c) + (x + 1)((p − c) − x(c − 1)/2) with x = ⌊(p − c)/(c − 1)⌋.
    fn swaps(&self) -> f64 {
        let (p, c) = (self.partitions.get(), self.in_memory.get());
        let outside = f64::from(p.saturating_sub(c));
        let others = f64::from(c.saturating_sub(1).max(1));
        let x = (outside / others).floor();
        outside + (x + 1.0) * (outside - x * others / 2.0)
    }

    /// Seconds of disk in an epoch: each swap writes a partition and reads another.
    pub fn epoch_s(&self) -> f64 {
        let partition_mb = 1e3 * self.state_gb.get() / f64::from(self.partitions.get());
        2.0 * self.swaps() * partition_mb / self.disk_mb_per_s.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(gb: f64, partitions: u32) -> OutOfCore {
        OutOfCore {
            state_gb: Positive::new(gb).expect("above 0"),
            partitions: Machines::new(partitions).expect("at least 1"),
            in_memory: Machines::new(16).expect("at least 1"),
            disk_mb_per_s: Positive::new(400.0).expect("above 0"),
        }
    }

    /// Swaps counted one by one as the ordering makes them: all pairs of those in memory, then each of the others takes
    /// turns in one place; then the c − 1 that stood still are exchanged for as many others.
    #[test]
    fn the_number_of_swaps_is_that_of_the_ordering() {
        for (p, c) in [(6, 3), (32, 16), (100, 16), (7, 7), (9, 2)] {
            let mut counted = 0;
            let mut left = p - c;
            loop {
                counted += left;
                let exchanged = left.min(c - 1);
                counted += exchanged;
                left -= exchanged;
                if left == 0 {
                    break;
                }
            }
            let state = OutOfCore {
                in_memory: Machines::new(c).expect("at least 1"),
                ..state(1.0, p)
            };
            assert_eq!(state.swaps(), f64::from(counted), "{p} {c}");
        }
    }

    #[test]
    fn what_is_in_memory_is_not_swapped() {
        assert_eq!(state(10.0, 16).epoch_s(), 0.0);
        assert!(state(10.0, 15).check().is_err());
    }
}
