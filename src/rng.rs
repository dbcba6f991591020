//! Randomness: one stream per random quantity, keyed by what it is and not by when it is drawn.
//!
//! A stream is ChaCha8 with the scenario's seed as key and a 64-bit hash of (purpose, replica,
//! thing) as stream number. The same world therefore meets every strategy of a replica (common
//! random numbers), and results do not depend on threads, shards or the order of cases.
//!
//! - `key`: purposes, each with the key of the thing it is for.
//!
//! The samplers use inverse cumulative distributions over `libm`, whose bits are the same on every
//! platform and with every feature set; the tails of `rand_distr`'s normal are not.

mod key;

pub use key::{
    ConfigurationKey, ModelKey, Purpose, RequestKey, StrategyKey, VmTypeKey, WorkloadKey,
};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Open01};

use crate::stats::normal;

/// Mixes two words into one; a bijection in each argument, after Steele, Lea and Flood's SplitMix.
pub fn mix(a: u64, b: u64) -> u64 {
    let mut z = a ^ b.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A 64-bit identity of a name, stable across versions of the compiler and the crate.
pub fn identity(name: &str) -> u64 {
    let hash = blake3::hash(name.as_bytes());
    let mut word = [0; 8];
    word.copy_from_slice(&hash.as_bytes()[..8]);
    u64::from_le_bytes(word)
}

/// The family of all streams of one scenario.
#[derive(Debug, Clone, Copy)]
pub struct Streams {
    key: [u8; 32],
}

impl Streams {
    /// The streams of a scenario with this `seed`.
    pub fn new(seed: u64) -> Self {
        let mut key = *b"________scavsim random streams 1";
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Streams { key }
    }

    /// The stream for one purpose in one replica.
    pub fn stream(&self, replica: u64, purpose: Purpose) -> Stream {
        let (purpose, thing) = purpose.words();
        let mut rng = ChaCha8Rng::from_seed(self.key);
        rng.set_stream(mix(mix(thing, replica), purpose));
        Stream { rng }
    }
}

/// One stream of random numbers.
///
/// ```
/// use scavsim::Stream;
///
/// let draw = |seed| Stream::seeded(seed).below(100);
/// assert_eq!(draw(7), draw(7)); // same seed, same bytes
/// ```
#[derive(Debug, Clone)]
pub struct Stream {
    rng: ChaCha8Rng,
}

impl Stream {
    /// A stream by itself, to try what draws from one.
    pub fn seeded(seed: u64) -> Stream {
        Streams::new(seed).stream(0, Purpose::Strategy(StrategyKey::NOBODY))
    }

    /// Uniform in the open interval (0, 1).
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        Open01.sample(&mut self.rng)
    }

    /// Standard normal.
    #[inline]
    pub fn normal(&mut self) -> f64 {
        normal::inverse_cdf(self.uniform())
    }

    /// Largest of `count` independent standard normals, in one draw: Φ⁻¹(u^(1/count)).
    #[inline]
    pub fn largest_normal(&mut self, count: u32) -> f64 {
        let log_u = libm::log(self.uniform());
        // 1 - u^(1/count) without cancellation; its lower quantile, mirrored, is the upper one.
        normal::upper_quantile(-libm::expm1(log_u / f64::from(count)))
    }

    /// Uniform whole number below `bound` (at least 1), by rejection-free scaling; the bias is
    /// below `bound`/2⁵², invisible for the list lengths it is used on.
    pub fn below(&mut self, bound: usize) -> usize {
        ((self.uniform() * bound as f64) as usize).min(bound.saturating_sub(1))
    }
}

/// A log-normal factor with mean 1: exp(σ z − σ²/2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitLogNormal {
    sigma: f64,
}

impl UnitLogNormal {
    /// From the standard deviation σ of the logarithm.
    pub fn from_sigma(sigma: f64) -> Self {
        UnitLogNormal { sigma }
    }

    /// From the coefficient of variation: σ² = ln(1 + cv²).
    pub fn from_cv(cv: f64) -> Self {
        UnitLogNormal {
            sigma: libm::log1p(cv * cv).sqrt(),
        }
    }

    /// Standard deviation of the logarithm.
    #[inline]
    pub fn sigma(self) -> f64 {
        self.sigma
    }

    /// Coefficient of variation.
    pub fn cv(self) -> f64 {
        libm::expm1(self.sigma * self.sigma).sqrt()
    }

    /// Draws a factor; exactly 1 and no draw when σ = 0.
    #[inline]
    pub fn sample(self, stream: &mut Stream) -> f64 {
        if self.sigma == 0.0 {
            return 1.0;
        }
        libm::exp(self.sigma * stream.normal() - 0.5 * self.sigma * self.sigma)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Welford;

    #[test]
    fn streams_differ_by_every_part_of_their_key() {
        let first = |seed, replica, purpose| Streams::new(seed).stream(replica, purpose).uniform();
        let of = WorkloadKey::of("x").configuration(7);
        let base = first(1, 0, Purpose::Luck(of));
        assert_eq!(base, first(1, 0, Purpose::Luck(of)));
        assert_ne!(base, first(2, 0, Purpose::Luck(of)));
        assert_ne!(base, first(1, 1, Purpose::Luck(of)));
        let other = WorkloadKey::of("x").configuration(8);
        let (vm, at) = (VmTypeKey::of("x"), crate::units::SimTime::from_seconds(7.0));
        let request = |on_spot, number| RequestKey {
            vm_type: vm,
            on_spot,
            number,
        };
        let all = [
            Purpose::Luck(of),
            Purpose::Luck(other),
            Purpose::Probe(of, 0),
            Purpose::Probe(of, 1),
            Purpose::NoiseReading(of, 0),
            Purpose::Run(of),
            Purpose::Drift(WorkloadKey::of("x"), 0),
            Purpose::Strategy(StrategyKey::of("x")),
            Purpose::Machines(vm),
            Purpose::Machines(VmTypeKey::of("y")),
            Purpose::Life(vm, 0),
            Purpose::Life(vm, 1),
            Purpose::Life(VmTypeKey::of("y"), 0),
            Purpose::MarketLosses,
            Purpose::MarketHits,
            Purpose::StartUp(request(true, 0)),
            Purpose::StartUp(request(false, 0)),
            Purpose::StartUp(request(true, 1)),
            Purpose::ColdJoin(request(true, 0)),
            Purpose::Restart(at),
            Purpose::CheckpointWrite(at),
            Purpose::ModelLives(ModelKey::of("x")),
            Purpose::ModelDelays(ModelKey::of("x")),
            Purpose::OutlineLives(of),
            Purpose::Trial(0),
            Purpose::BagJobs(WorkloadKey::of("x")),
            Purpose::BagNotice(WorkloadKey::of("x")),
            Purpose::BagLosses(WorkloadKey::of("x")),
        ];
        let drawn: std::collections::BTreeSet<u64> =
            (all.iter().map(|purpose| first(1, 0, *purpose).to_bits())).collect();
        assert_eq!(drawn.len(), all.len());
    }

    /// The bits of the streams are part of the result format: a change must be deliberate.
    #[test]
    fn the_bits_of_a_stream_are_fixed() {
        let mut stream = Streams::new(2023).stream(3, Purpose::Trial(identity("x")));
        let bits: Vec<u64> = (0..3).map(|_| stream.normal().to_bits()).collect();
        insta::assert_debug_snapshot!(bits);
    }

    #[test]
    fn unit_log_normal_has_mean_one_and_the_asked_variation() {
        let factor = UnitLogNormal::from_cv(0.3);
        let mut stream = Streams::new(1).stream(0, Purpose::Trial(0));
        let mut seen = Welford::default();
        for _ in 0..200_000 {
            seen.add(factor.sample(&mut stream));
        }
        // 4 standard errors of the mean and of the standard deviation (fixed seed).
        assert!((seen.mean() - 1.0).abs() < 4.0 * 0.3 / 200_000f64.sqrt());
        assert!((seen.standard_deviation() - 0.3).abs() < 4.0 * 0.3 / 200_000f64.sqrt());
    }

    #[test]
    fn largest_normal_in_one_draw_agrees_with_drawing_them_all() {
        let mut one = Streams::new(5).stream(0, Purpose::Trial(0));
        let mut all = Streams::new(5).stream(0, Purpose::Trial(1));
        let fast: Vec<f64> = (0..4000).map(|_| one.largest_normal(16)).collect();
        let slow: Vec<f64> = (0..4000)
            .map(|_| (0..16).map(|_| all.normal()).fold(f64::MIN, f64::max))
            .collect();
        assert!(crate::stats::kolmogorov_smirnov(&fast, &slow).p_value > 0.01);
    }
}
