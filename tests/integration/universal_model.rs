//! The universal model of `no-search` (`data/fits/universal.csv`): least squares over all shipped workloads that were
//! measured at several sizes, separately for machines with and without GPUs.

use scavsim::configuration::Shape;
use scavsim::input::Diagnostics;
use scavsim::workload::{Reach, library, load};

use crate::fits::rows;
use crate::sandbox::repository_file;

const WITHOUT_GPUS: [&str; 3] = [
    "scavenger-resnet18",
    "scavenger-resnet50",
    "scavenger-transformer",
];
const WITH_GPUS: [&str; 8] = [
    "pollux-bert",
    "pollux-cifar10",
    "pollux-imagenet",
    "mlperf-bert",
    "mlperf-resnet",
    "mlperf-retinanet",
    "mlperf-rnnt",
    "mlperf-stable-diffusion",
];

/// Logarithms of workers, batch and time to the target, one list per VM shape.
type Job = Vec<Vec<[f64; 3]>>;

fn job(name: &str) -> Job {
    let folder = library::embedded(name).expect("it is shipped");
    let workload = load::load(&folder, &mut Diagnostics::default()).expect("it is right");
    let is_even = |shape: &&std::sync::Arc<str>| Shape::parse(shape).is_ok_and(|s| s.is_even());
    let of_shape = |shape: &std::sync::Arc<str>| {
        let points = workload.steps.points_of(shape).iter();
        let logs = points.filter_map(|(at, cost)| {
            let replay = workload.replay(at, &Reach::default()).ok()?;
            let time_s = workload.steps_to_target(replay.epochs, at.batch) * cost.total_s();
            Some([f64::from(at.workers), f64::from(at.batch), time_s].map(f64::ln))
        });
        logs.collect::<Vec<_>>()
    };
    let shapes = workload.steps.shapes().filter(is_even).map(of_shape);
    shapes.filter(|points| points.len() > 1).collect()
}

/// The exponents of workers and batch; each shape has a level of its own, and all jobs have equal weights.
fn exponents<'j>(jobs: impl Iterator<Item = &'j Job>) -> [f64; 2] {
    let (mut squares, mut products) = ([0.0; 3], [0.0; 2]);
    for job in jobs {
        let weight = 1.0 / job.iter().map(Vec::len).sum::<usize>() as f64;
        for points in job {
            let mean = |of: usize| points.iter().map(|p| p[of]).sum::<f64>() / points.len() as f64;
            let means = [mean(0), mean(1), mean(2)];
            for point in points {
                let [k, b, t] = [0, 1, 2].map(|of| point[of] - means[of]);
                for (sum, term) in squares.iter_mut().zip([k * k, k * b, b * b]) {
                    *sum += weight * term;
                }
                for (sum, term) in products.iter_mut().zip([k * t, b * t]) {
                    *sum += weight * term;
                }
            }
        }
    }
    let [kk, kb, bb] = squares;
    let [kt, bt] = products;
    let determinant = kk * bb - kb * kb;
    [
        (bb * kt - kb * bt) / determinant,
        (kk * bt - kb * kt) / determinant,
    ]
}

/// Mean of |ln(predicted/measured)| over the smallest configuration of each shape, in percent.
fn error_pct(job: &Job, [of_workers, of_batch]: [f64; 2]) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for points in job {
        let size = |p: &&[f64; 3]| (p[0], p[1]);
        let smallest = (points.iter())
            .min_by(|a, b| size(a).partial_cmp(&size(b)).expect("numbers"))
            .expect("several points");
        for point in points.iter().filter(|point| *point != smallest) {
            let [k, b, t] = [0, 1, 2].map(|of| point[of] - smallest[of]);
            sum += (of_workers * k + of_batch * b - t).abs();
            count += 1;
        }
    }
    100.0 * sum / f64::from(count)
}

#[test]
fn the_universal_model_is_that_of_the_shipped_workloads() {
    let table = rows(&repository_file("data/fits/universal.csv"));
    for (gpus, names) in [("without", &WITHOUT_GPUS[..]), ("with", &WITH_GPUS[..])] {
        let jobs: Vec<Job> = names.iter().map(|name| job(name)).collect();
        let of_all = exponents(jobs.iter());
        let left_out = |at: usize| {
            let others = jobs.iter().enumerate().filter(|(other, _)| *other != at);
            error_pct(&jobs[at], exponents(others.map(|(_, job)| job)))
        };
        let error = (0..jobs.len()).map(left_out).sum::<f64>() / jobs.len() as f64;
        let row = (table.iter().find(|row| row["gpus"] == gpus)).expect("a row of the kind");
        let ours = [
            format!("{:.3}", of_all[0]),
            format!("{:.3}", of_all[1]),
            jobs.len().to_string(),
            format!("{error:.0}"),
        ];
        let columns = ["workers_exponent", "batch_exponent", "jobs", "error_pct"];
        assert_eq!(columns.map(|column| row[column].clone()), ours, "{gpus}");
    }
}
