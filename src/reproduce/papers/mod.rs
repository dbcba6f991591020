//! The papers that can be reproduced. A new one is one entry here.
//!
//! Most run a scenario; those that no scenario can say bring files of their own:
//!
//! - [`acsos20`]: clusters of unequal workers, from a file of jobs and clusters.
//! - [`hpdc20`]: jobs on VMs that are taken away, from a file of lives, jobs and policies.
//! - [`icdcs20`]: asynchronous training on GPU VMs that can be revoked.

pub mod acsos20;
pub mod hpdc20;
pub mod icdcs20;

use super::compare::compare_with;
use super::paper::Paper;
use super::stage::Stage;
use acsos20::UnequalClusters;
use hpdc20::Preemptions;
use icdcs20::TransientGpus;

macro_rules! file {
    ($path:literal) => {
        ($path, include_str!(concat!("../../../", $path)))
    };
}

/// All papers.
pub const PAPERS: &[Paper] = &[
    Paper {
        name: "scavenger",
        citation: "Tyagi & Sharma, Scavenger: A Cloud Service for Optimizing Cost and Performance of ML Training, CCGrid 2023 (arXiv 2303.06659)",
        tolerances: "tolerances are reading accuracy or printed rounding, never the gap",
        source: file!("scenarios/paper/scavenger.toml"),
        expectations: file!("data/papers/scavenger.csv"),
        compare: compare_with::<Stage>,
    },
    Paper {
        name: "acsos20",
        citation: "Tyagi & Sharma, Taming Resource Heterogeneity in Distributed ML Training with Dynamic Batching, ACSOS 2020",
        tolerances: "tolerances are the 15 % aimed at before the comparison, never the gap",
        source: file!("scenarios/paper/acsos20-dynamic-batching.toml"),
        expectations: file!("data/papers/acsos20.csv"),
        compare: compare_with::<UnequalClusters>,
    },
    Paper {
        name: "hpdc20",
        citation: "Kadupitiya, Jadhao & Sharma, Modeling The Temporally Constrained Preemptions of Transient Cloud VMs, HPDC 2020 (arXiv 1911.05160)",
        tolerances: "tolerances are printed rounding, what a printed bound leaves open, or the spread of a simulation, never the gap",
        source: file!("scenarios/paper/hpdc20-bathtub.toml"),
        expectations: file!("data/papers/hpdc20.csv"),
        compare: compare_with::<Preemptions>,
    },
    Paper {
        name: "icdcs20",
        citation: "Li, Walls & Guo, Characterizing and Modeling Distributed Training with Transient Cloud GPU Servers (CM-DARE), ICDCS 2020 (arXiv 2004.03072)",
        tolerances: "tolerances are the 5 % (speeds) and 1 % (remaining time, means of delays) aimed at before the comparison, two standard deviations of what was measured, or what 40,000 draws differ by once in ten thousand, never the gap",
        source: file!("scenarios/paper/icdcs20-cmdare.toml"),
        expectations: file!("data/papers/icdcs20.csv"),
        compare: compare_with::<TransientGpus>,
    },
    Paper {
        name: "icac19",
        citation: "Li, Walls, Xu & Guo, Speeding up Deep Learning with Transient Servers, ICAC 2019 (arXiv 1903.00045)",
        tolerances: "tolerances are the 2 and 5 % aimed at before the comparison, or two standard errors of a count, never the gap",
        source: file!("scenarios/paper/icac19-transient.toml"),
        expectations: file!("data/papers/icac19.csv"),
        compare: compare_with::<Stage>,
    },
];
