//! The cost of a loss of a spot VM, for any size of the cluster.

use std::hint::black_box;
use std::path::Path as File;

use scavsim::experiment::Plan;
use scavsim::input::{Diagnostics, Source};
use scavsim::scenario::{self, Overrides};
use scavsim::testbed::{JobTrial, SimulatedCluster};

use crate::table::{Goal, Path};

/// A job on spot VMs with a loss every quarter of an hour, and a checkpoint every five minutes, in `fast`.
pub struct Fleet {
    vms: u32,
    plan: Plan,
}

/// Number of VMs, and the maximum microseconds of a loss.
const SIZES: [(u32, f64); 3] = [(64, 0.6), (1024, 1.0), (4096, 1.0)];

impl Fleet {
    /// Some sizes; the largest only if the environment has `SCAVSIM_LONG_SWEEPS`.
    pub fn each() -> Vec<Fleet> {
        let long = std::env::var_os("SCAVSIM_LONG_SWEEPS").is_some();
        let sizes = SIZES.iter().filter(|&&(vms, _)| long || vms < 4096);
        sizes.map(|&(vms, _)| Fleet::new(vms)).collect()
    }

    fn new(vms: u32) -> Fleet {
        let text = format!(
            "workloads = [\"pollux-imagenet\"]\n\
             cluster = {{ vm = [\"g4dn.12xlarge\"], pairs = [[{vms}, {}]], outside = \"extrapolate\" }}\n\
             variation = {{ step_cv = 0.1, epoch_cv = 0.02 }}\n\
             pricing = {{ policies = [\"aws-2026-own\"] }}\n\
             search = {{ strategies = [\"oracle\"], objectives = [\"time\"] }}\n\
             [spot]\nexponential_mean_h = {}\nreplacement_s = 90\n\
             checkpoint = {{ periodic-s = 300 }}\ncheckpoint_write_s = 5\n",
            vms.max(2400),
            f64::from(vms) / 4.0,
        );
        let mut diagnostics = Diagnostics::default();
        let scenario = scenario::load(
            &Source::new("losses", text),
            File::new("."),
            Overrides::default(),
            &mut diagnostics,
        );
        let scenario = scenario.unwrap_or_else(|| panic!("{}", diagnostics.render(false)));
        let plan = Plan::new(&scenario).expect("a checked scenario");
        Fleet { vms, plan }
    }

    /// Runs to the target, per loss.
    pub fn path(&self, share: u64) -> Path<'_> {
        let world = self
            .plan
            .arena(0)
            .expect("an arena")
            .world()
            .expect("simulated");
        let mut cluster = SimulatedCluster::new(world, &self.plan.terms);
        let replicas = (6_400 / u64::from(self.vms) / share).max(1);
        let mut run = move |replica| {
            cluster.restart(replica);
            cluster.run_to_target(0).expect("no stall").lost_vms
        };
        let losses: u64 = (0..replicas).map(|replica| u64::from(run(replica))).sum();
        let us = (SIZES.iter().find(|(vms, _)| *vms == self.vms)).map_or(1.0, |(_, us)| *us);
        Path::new(
            format!("run with losses, {} spot VMs", self.vms),
            (losses.max(1), "loss"),
            Goal::Microseconds(us),
            move || {
                for replica in 0..replicas {
                    black_box(run(replica));
                }
            },
        )
    }
}
