//! What the files do not say about a benchmark.

use super::rcp::Point;
use scavsim_data::workload::Origin;
use scavsim_read::input::{Diagnostic, Diagnostics};

/// In what a benchmark counts the way to its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressUnit {
    /// Passes over the data.
    Epochs,
    Samples,
}

#[derive(Debug)]
pub struct Benchmark {
    /// Names in RCP files; some were renamed without being changed.
    pub rcp_names: &'static [&'static str],
    /// Names in results.
    pub run_names: &'static [&'static str],
    /// First round in which results of that name are of this task.
    pub since: &'static str,
    /// What convergence is counted in.
    pub unit: ProgressUnit,
    /// D.
    pub samples_per_epoch: f64,
    /// Where D is from.
    pub samples_origin: Origin,
    /// Where exactly.
    pub samples_source: &'static str,
    pub model: &'static str,
    pub data_set: &'static str,
    pub target: &'static str,
    pub restore_s: f64,
}

const BENCHMARKS: [Benchmark; 5] = [
    Benchmark {
        rcp_names: &["resnet"],
        run_names: &["resnet"],
        since: "v0.7",
        unit: ProgressUnit::Epochs,
        samples_per_epoch: 1_281_167.0,
        samples_origin: Origin::Stated,
        samples_source: "train_samples of the result logs",
        model: "ResNet-50 v1.5",
        data_set: "ImageNet",
        target: "75.9 % top-1 accuracy",
        restore_s: 120.0,
    },
    Benchmark {
        rcp_names: &["bert"],
        run_names: &["bert"],
        since: "v0.7",
        unit: ProgressUnit::Samples,
        samples_per_epoch: 156_725_653.0,
        samples_origin: Origin::Stated,
        samples_source: "train_samples of the v1.1 logs that give the whole set; convergence is counted in samples, so any D gives the same steps",
        model: "BERT-large pre-training",
        data_set: "Wikipedia 2020-01-01",
        target: "0.72 masked-token accuracy",
        restore_s: 120.0,
    },
    Benchmark {
        rcp_names: &["rnnt"],
        run_names: &["rnnt"],
        since: "v1.0",
        unit: ProgressUnit::Epochs,
        samples_per_epoch: 278_528.0,
        samples_origin: Origin::Stated,
        samples_source: "train_samples of the v1.1 logs at batch 2048",
        model: "RNN-T",
        data_set: "LibriSpeech",
        target: "word error rate 0.058",
        restore_s: 120.0,
    },
    Benchmark {
        rcp_names: &["retinanet", "ssd"],
        run_names: &["retinanet", "ssd"],
        // Before, `ssd` was SSD-ResNet34 on COCO.
        since: "v2.0",
        unit: ProgressUnit::Epochs,
        samples_per_epoch: 1_170_301.0,
        samples_origin: Origin::Derived,
        samples_source: "recalled from the benchmark's rules, not confirmed; agrees with the 4572 steps per epoch at batch 256 of the v4.0 logs",
        model: "RetinaNet (ResNeXt-50)",
        data_set: "OpenImages",
        target: "mAP 0.34",
        restore_s: 120.0,
    },
    Benchmark {
        rcp_names: &["stable_diffusion"],
        run_names: &["stable_diffusion"],
        since: "v3.1",
        unit: ProgressUnit::Samples,
        samples_per_epoch: 6_513_144.0,
        samples_origin: Origin::Stated,
        samples_source: "train_samples of the v4.0 logs; convergence is counted in samples, so any D gives the same steps",
        model: "Stable Diffusion v2",
        data_set: "LAION-400M filtered",
        target: "FID 90 and CLIP score 0.15",
        restore_s: 120.0,
    },
];

/// The benchmark that all `points` are of.
pub fn find(points: &[Point], diagnostics: &mut Diagnostics) -> Option<&'static Benchmark> {
    let first = points.first()?;
    let of = |p: &Point| {
        BENCHMARKS
            .iter()
            .find(|b| b.rcp_names.contains(&p.benchmark.as_str()))
    };
    let found = of(first);
    let Some(found) = found else {
        let known: Vec<&str> = BENCHMARKS
            .iter()
            .flat_map(|b| b.rcp_names)
            .copied()
            .collect();
        diagnostics.push(
            first
                .complaint(format!("unknown MLPerf benchmark `{}`", first.benchmark))
                .with_help(format!("known: {}", known.join(", "))),
        );
        return None;
    };
    let stranger = points
        .iter()
        .find(|p| !found.rcp_names.contains(&p.benchmark.as_str()));
    if let Some(p) = stranger {
        let title = format!(
            "a point of `{}` among those of `{}`",
            p.benchmark, first.benchmark
        );
        let complaint: Diagnostic = p.complaint(title);
        diagnostics.push(complaint.with_help("import one benchmark at a time"));
        return None;
    }
    Some(found)
}
