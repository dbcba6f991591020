//! The speed of a training on one GPU relative to another: a law over data sheets, fitted to trainings measured on several GPUs.
//!
//! ln(seconds) of training a on GPU g is c + u − β·x + ε. x: the logarithms of the GPU's 32-bit peak (TF32 if it has that),
//! its 16-bit peak and its memory bandwidth. β: how much a depends on each of them, which differs between trainings. u: the
//! own effect of g; ε: the own effect of a on g. All are normal, so known GPUs predict the others, with an error.

use std::sync::LazyLock;

use scavsim_base::stats::field::{Field, dot};
use scavsim_parallel::gpu::{self, GpuSheet, Precision};
use scavsim_read::input::csv::Table;
use scavsim_read::input::{Diagnostics, Source};

const FILE: &str = "data/gpus/trainings.csv";
const TRAININGS: &str = include_str!("../../../../data/gpus/trainings.csv");

/// Number of data-sheet figures in the law.
const FEATURES: usize = 3;
/// Standard deviation of β between trainings, by figure: maximum likelihood for the trainings that set the law, as for the three below.
const OF_TRAININGS: [f64; FEATURES] = [0.166, 0.122, 0.058];
/// Standard deviation of u.
const OF_GPUS: f64 = 0.132;
/// Standard deviation of ε.
const OF_PAIRS: f64 = 0.086;
/// Prior mean and standard deviation of the mean of β. No measurement: wide.
const EXPECTED: (f64, f64) = (0.4, 0.5);
/// Variance of c: it is unknown.
const LEVEL: f64 = 1e4;

/// A training that was measured on several GPUs.
#[derive(Debug, Clone, PartialEq)]
pub struct Training {
    pub name: String,
    /// The source of the measurement, by a word of `data/gpus/README.md`.
    pub source: String,
    /// Whether it is used to fit the law; the others judge it.
    pub sets: bool,
    /// Speed on each GPU, in a unit that all rows of the training share.
    pub speeds: Vec<(&'static GpuSheet, f64)>,
}

pub fn trainings() -> &'static [Training] {
    static READ: LazyLock<Vec<Training>> = LazyLock::new(|| read(&mut Diagnostics::default()));
    &READ
}

fn read(d: &mut Diagnostics) -> Vec<Training> {
    let source = Source::new(FILE, TRAININGS);
    let columns = ["source", "training", "use", "gpu", "speed"];
    let table = Table::read(&source, &columns, &[], d);
    let mut all: Vec<Training> = Vec::new();
    for row in table.iter().flat_map(Table::rows) {
        let read = (
            row.text("source", d).map(str::to_owned),
            row.text("training", d).map(str::to_owned),
            row.text("use", d).map(|word| word == "set"),
            row.text("gpu", d).and_then(gpu::named),
            row.number("speed", 1e-6..=1e15, d),
        );
        let (Some(source), Some(name), Some(sets), Some(gpu), Some(speed)) = read else {
            continue;
        };
        // Rows of a training need not be adjacent.
        let known = (all.iter_mut()).find(|known| known.name == name && known.source == source);
        match known {
            Some(known) => known.speeds.push((gpu, speed)),
            None => all.push(Training {
                name,
                source,
                sets,
                speeds: vec![(gpu, speed)],
            }),
        }
    }
    all
}

fn features(gpu: &GpuSheet) -> [f64; FEATURES] {
    let peak = |precision| gpu.tflops(precision);
    let single = peak(Precision::Fp32).unwrap_or(1.0);
    let whole = peak(Precision::Tf32).unwrap_or(single);
    let half = peak(Precision::Fp16).unwrap_or(single).max(whole);
    [whole, half, gpu.memory_gb_per_s].map(libm::log)
}

#[derive(Debug, Clone)]
pub struct Speeds {
    /// GPUs with different features.
    kinds: Vec<[f64; FEATURES]>,
    /// Mean of β, then u of each kind.
    mean: Vec<f64>,
    /// The covariance of these values, by rows.
    covariance: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SpeedPrediction {
    /// ln(seconds) on each GPU, up to the constant of the known ones.
    pub log_s: Vec<f64>,
    pub covariance: Vec<f64>,
}

impl Speeds {
    pub fn shipped() -> &'static Speeds {
        static SET: LazyLock<Speeds> =
            LazyLock::new(|| Speeds::from_trainings(trainings().iter().filter(|t| t.sets), None));
        &SET
    }

    /// The law fitted to `trainings`, without their data on `left_out`.
    pub fn from_trainings<'t>(
        trainings: impl Iterator<Item = &'t Training>,
        left_out: Option<&GpuSheet>,
    ) -> Speeds {
        let mut kinds: Vec<[f64; FEATURES]> = Vec::new();
        for own in gpu::all().iter().map(features) {
            if !kinds.contains(&own) {
                kinds.push(own);
            }
        }
        let n = FEATURES + kinds.len();
        let mut law = Speeds {
            kinds,
            mean: Vec::new(),
            covariance: Vec::new(),
        };
        let (expected, sd) = EXPECTED;
        let mut precision = vec![0.0; n * n];
        let mut pull = vec![0.0; n];
        for i in 0..n {
            let sd = if i < FEATURES { sd } else { OF_GPUS };
            precision[i * n + i] = 1.0 / (sd * sd);
            pull[i] = if i < FEATURES {
                expected / (sd * sd)
            } else {
                0.0
            };
        }
        for training in trainings {
            let known: Vec<_> = (training.speeds.iter())
                .filter(|(gpu, _)| left_out.is_none_or(|out| features(out) != features(gpu)))
                .collect();
            let places: Vec<[f64; FEATURES]> = known.iter().map(|(g, _)| features(g)).collect();
            let Some(field) =
                Field::new(places.len(), |i, j| LEVEL + of_one(&places[i], &places[j]))
            else {
                continue;
            };
            let times = field.solved(known.iter().map(|(_, speed)| -libm::log(*speed)).collect());
            let rows: Vec<Vec<f64>> = places.iter().map(|place| law.row(place)).collect();
            let columns: Vec<Vec<f64>> = (0..n)
                .map(|i| field.solved(rows.iter().map(|row| row[i]).collect()))
                .collect();
            for i in 0..n {
                pull[i] += dot(&columns[i], &times);
                for j in 0..n {
                    precision[i * n + j] += dot(&columns[i], &columns[j]);
                }
            }
        }
        let known = Field::with_least_variance(n, 1e-12, |i, j| precision[i * n + j]).precision();
        law.covariance = (0..n * n).map(|at| known.entry(at / n, at % n)).collect();
        law.mean = (law.covariance.chunks(n))
            .map(|row| dot(row, &pull))
            .collect();
        law
    }

    /// The derivatives of ln(seconds) on a GPU by the mean of β and by u.
    fn row(&self, place: &[f64; FEATURES]) -> Vec<f64> {
        let mut row: Vec<f64> = place.iter().map(|x| -x).collect();
        row.extend(
            self.kinds
                .iter()
                .map(|kind| f64::from(u8::from(kind == place))),
        );
        row
    }

    /// Predicts `asked` from measured ln(seconds) on `known` GPUs, each with the variance of its own error.
    pub fn predict(&self, known: &[(&GpuSheet, f64, f64)], asked: &[&GpuSheet]) -> SpeedPrediction {
        let places: Vec<[f64; FEATURES]> = (known.iter().map(|(gpu, ..)| features(gpu)))
            .chain(asked.iter().map(|gpu| features(gpu)))
            .collect();
        let rows: Vec<Vec<f64>> = places.iter().map(|place| self.row(place)).collect();
        let expected: Vec<f64> = rows.iter().map(|row| dot(row, &self.mean)).collect();
        let n = self.mean.len();
        let sure: Vec<Vec<f64>> = (rows.iter())
            .map(|row| {
                let by = |i: usize| dot(&self.covariance[i * n..(i + 1) * n], row);
                (0..n).map(by).collect()
            })
            .collect();
        let prior =
            |i: usize, j: usize| LEVEL + of_one(&places[i], &places[j]) + dot(&rows[i], &sure[j]);
        let field = Field::with_least_variance(known.len(), 1e-12, |i, j| {
            prior(i, j) + if i == j { known[i].2 } else { 0.0 }
        });
        let seen = field.solved((0..known.len()).map(|i| known[i].1 - expected[i]).collect());
        let to: Vec<Vec<f64>> = (known.len()..places.len())
            .map(|at| field.solved((0..known.len()).map(|i| prior(i, at)).collect()))
            .collect();
        let log_s = (to.iter().enumerate())
            .map(|(i, to)| expected[known.len() + i] + dot(to, &seen))
            .collect();
        let count = asked.len();
        let covariance = (0..count * count).map(|at| {
            let (i, j) = (at / count, at % count);
            let left = prior(known.len() + i, known.len() + j) - dot(&to[i], &to[j]);
            if i == j { left.max(0.0) } else { left }
        });
        SpeedPrediction {
            log_s,
            covariance: covariance.collect(),
        }
    }
}

/// Covariance of ln(seconds) of one training on two GPUs, if all shared effects are known.
fn of_one(a: &[f64; FEATURES], b: &[f64; FEATURES]) -> f64 {
    let of_training: f64 = (0..FEATURES)
        .map(|i| OF_TRAININGS[i] * OF_TRAININGS[i] * a[i] * b[i])
        .sum();
    of_training + if a == b { OF_PAIRS * OF_PAIRS } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> &'static GpuSheet {
        gpu::named(name).expect("listed")
    }

    #[test]
    fn the_table_is_read_to_its_last_row() {
        let mut diagnostics = Diagnostics::default();
        let all = read(&mut diagnostics);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let rows = TRAININGS.lines().filter(|line| !line.starts_with('#'));
        let speeds: usize = all.iter().map(|t| t.speeds.len()).sum();
        assert_eq!(speeds + 1, rows.count());
        assert!(all.iter().all(|t| t.speeds.len() > 1));
        let names = all.iter().map(|t| (&t.source, &t.name));
        let names: std::collections::BTreeSet<_> = names.collect();
        assert_eq!(names.len(), all.len(), "rows of a training stand together");
    }

    /// The independent figure: the same sums by another program, which also found the constants.
    #[test]
    fn the_law_is_that_of_the_textbook() {
        let law = Speeds::shipped();
        for (found, expected) in law.mean.iter().zip([0.299, 0.072, 0.552]) {
            assert!((found - expected).abs() < 2e-3, "{:?}", &law.mean[..3]);
        }
        let told = law.predict(&[(named("T4"), 0.0, 0.0)], &[named("V100"), named("T4")]);
        assert!((libm::exp(told.log_s[0]) - 0.47).abs() < 0.01, "{told:?}");
        let sd = told.covariance[0].sqrt();
        assert!((libm::exp(1.645 * sd) - 0.72 / 0.47).abs() < 0.03, "{sd}");
        // A GPU is exactly as fast as itself.
        assert!(told.log_s[1].abs() < 1e-6 && told.covariance[3] < 1e-6);
    }

    /// A training that was measured on two GPUs shows how it depends on them, and so predicts a third one better.
    #[test]
    fn two_known_gpus_tell_more_than_one() {
        let law = Speeds::shipped();
        let (t4, a100, v100) = (named("T4"), named("A100-40"), named("V100"));
        let one = law.predict(&[(t4, 0.0, 1e-4)], &[v100]);
        let slow = law.predict(&[(t4, 0.0, 1e-4), (a100, libm::log(0.6), 1e-4)], &[v100]);
        assert!(slow.covariance[0] < 0.8 * one.covariance[0]);
        // It gained less from the A100 than others do, and will gain less from the V100.
        assert!(slow.log_s[0] > one.log_s[0]);
    }
}
