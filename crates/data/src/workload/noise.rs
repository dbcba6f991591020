use std::sync::Arc;

use super::grid::{Grid, Point};
use super::law::NoiseLaw;
use super::noise_scale::NoiseScale;
use super::origin::Origin;
use super::rows;
use scavsim_read::input::csv::Row;
use scavsim_read::input::{Diagnostics, Source};

#[derive(Debug, Clone)]
pub struct NoiseRow {
    pub workers: u32,
    pub batch: u32,
    /// γ/K in (1/K, 1).
    pub noise_normalised: f64,
    pub origin: Origin,
}

/// Normalised noise over (K, B): log φ linear in log B for each K, linear in K between, turned back into γ/K. Where φ was
/// measured over training, its value at the target; else by law.
#[derive(Debug, Clone)]
pub struct Noise {
    rows: Vec<NoiseRow>,
    log_scale: Grid,
    scale: NoiseScale,
    law: Option<NoiseLaw>,
}

impl Noise {
    /// From the measured rows, each inside (1/K, 1), the measured φ, and a law for the rest.
    pub fn new(mut rows: Vec<NoiseRow>, scale: NoiseScale, law: Option<NoiseLaw>) -> Self {
        rows.sort_by_key(|r| (r.workers, r.batch));
        let points: Vec<Point> = rows
            .iter()
            .map(|r| Point {
                workers: f64::from(r.workers),
                batch: f64::from(r.batch),
                value: libm::log(noise_scale(
                    r.workers,
                    f64::from(r.batch),
                    r.noise_normalised,
                )),
            })
            .collect();
        Noise {
            rows,
            log_scale: Grid::new(&points, libm::log),
            scale,
            law,
        }
    }

    /// γ/K at (`workers`, `batch`): measured at a measured point, 1 with one worker, `None` outside the hull.
    pub fn noise_at(&self, workers: u32, batch: u32) -> Option<f64> {
        if let Some(row) = self.measured(workers, batch) {
            return Some(row.noise_normalised);
        }
        // γ/K lies between 1/K and 1.
        if workers == 1 && !self.is_unmeasured() {
            return Some(1.0);
        }
        let b = f64::from(batch);
        let scale = match self.log_scale.value_at(f64::from(workers), b) {
            Some(log_scale) => libm::exp(log_scale),
            None if self.scale.covers(b) => self.scale.scale_at(b, 1.0)?,
            None => return None,
        };
        Some(normalised_noise(workers, b, scale))
    }

    /// γ/K by law, or with the φ of the nearest measured batch; `None` without either.
    pub fn by_law(&self, workers: u32, batch: u32) -> Option<f64> {
        let b = f64::from(batch);
        let scale = match self.law {
            Some(law) => law.noise_scale(b, 1.0),
            None => self.scale.scale_at(b, 1.0)?,
        };
        Some(normalised_noise(workers, b, scale))
    }

    pub fn measured(&self, workers: u32, batch: u32) -> Option<&NoiseRow> {
        let key = (workers, batch);
        let place = self
            .rows
            .binary_search_by_key(&key, |r| (r.workers, r.batch));
        place.ok().map(|place| &self.rows[place])
    }

    pub fn is_unmeasured(&self) -> bool {
        self.rows.is_empty() && self.scale.is_empty()
    }

    pub fn scale(&self) -> &NoiseScale {
        &self.scale
    }

    pub fn law(&self) -> Option<NoiseLaw> {
        self.law
    }

    pub fn rows(&self) -> &[NoiseRow] {
        &self.rows
    }
}

/// Normalised SGD noise γ/K = (B + K φ) / (K (B + φ)) of a synchronous step, in [1/K, 1], with φ = tr Σ / ‖G‖² in samples.
/// From the definitions of γ (Tyagi & Sharma 2023) and φ (McCandlish et al. 2018).
pub fn normalised_noise(workers: u32, batch: f64, noise_scale: f64) -> f64 {
    let k = f64::from(workers);
    (batch + k * noise_scale) / (k * (batch + noise_scale))
}

/// Gradient noise scale φ in samples from the normalised noise ν = γ/K:
/// φ = B (K ν − 1) / (K (1 − ν)), the inverse of [`normalised_noise`]; ν inside (1/K, 1).
pub fn noise_scale(workers: u32, batch: f64, noise_normalised: f64) -> f64 {
    let k = f64::from(workers);
    batch * (k * noise_normalised - 1.0) / (k * (1.0 - noise_normalised))
}

pub(super) fn read(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Vec<NoiseRow>> {
    let parse = |row: &Row<'_>, d: &mut Diagnostics| {
        let (workers, batch) = (
            rows::read_count(row, "workers", d),
            rows::read_count(row, "batch", d),
        );
        let noise = rows::above_zero(row, "noise_normalised", d);
        let origin = rows::origin(row, d);
        let (workers, noise) = (workers?, noise?);
        let least = 1.0 / f64::from(workers);
        if noise <= least || noise >= 1.0 {
            row.report(
                "noise_normalised",
                format!("a normalised noise of {noise} is out of range"),
                format!("γ/K lies between 1/K = {least:.4} and 1"),
                d,
            );
            return None;
        }
        Some(NoiseRow {
            workers,
            batch: batch?,
            noise_normalised: noise,
            origin: origin?,
        })
    };
    let required = ["workers", "batch", "noise_normalised", "origin", "source"];
    rows::read(source, &required, &[], diagnostics, parse, |r| {
        (r.workers, r.batch)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn noise_and_noise_scale_are_inverse(k in 2u32..64, b in 16.0f64..1e5, phi in 1.0f64..1e5) {
            let noise = normalised_noise(k, b, phi);
            prop_assert!(noise > 1.0 / f64::from(k) && noise < 1.0);
            prop_assert!((noise_scale(k, b, noise) / phi - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn the_noise_scale_of_resnet18_hardly_depends_on_the_workers() {
        let scales =
            [(8, 0.7868), (12, 0.7736), (16, 0.7692)].map(|(k, n)| noise_scale(k, 384.0, n));
        for (scale, expected) in scales.iter().zip([1192.0, 1171.0, 1176.0]) {
            assert!((scale - expected).abs() < 1.0, "{scale}");
        }
    }
}
