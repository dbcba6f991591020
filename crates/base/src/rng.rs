//! Randomness: one stream per random quantity, keyed by what it is and not by when it is drawn.
//!
//! A stream is xoshiro256++ (Blackman and Vigna 2021) whose four words are hashed from (seed, purpose, thing, replica): made
//! in nanoseconds, for most streams give a few numbers only. The same world meets every strategy of a replica (common random
//! numbers), and results do not depend on threads, shards or the order of cases.
//!
//! The samplers use exact operations and `libm`, whose bits are the same on every platform and with every feature set; the
//! tails of `rand_distr`'s normal are not.

mod gamma;
mod key;
mod largest;
mod ziggurat;

pub use gamma::UnitGamma;
pub use key::{
    ConfigurationKey, ModelKey, Purpose, RequestKey, StrategyKey, VmTypeKey, WorkloadKey,
};

pub use largest::LargestLogNormal;

use std::convert::Infallible;

use rand::{SeedableRng, TryRng};
use rand_distr::{Distribution, Open01};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::stats::normal;

/// The fractional part of the golden ratio: the step of SplitMix.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Mixes two words into one; a bijection in each argument, after Steele, Lea and Flood's SplitMix.
#[inline]
pub fn mix(a: u64, b: u64) -> u64 {
    let mut z = a ^ b.wrapping_mul(GOLDEN).rotate_left(32);
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

/// Replicas from here on are of no case: expectations and misses are told by them, in two sets that must share nothing.
const UNPAIRED_FROM: u64 = 1 << 63;

/// Whether a replica draws this from the luck of its pair, where there are pairs.
fn shares_luck(replica: u64, purpose: Purpose) -> bool {
    replica < UNPAIRED_FROM && purpose.is_luck()
}

/// The family of all streams of one scenario.
#[derive(Debug, Clone, Copy)]
pub struct Streams {
    pub seed: u64,
    /// Whether replicas 2r and 2r + 1 share their luck, the second mirrored.
    pairs: bool,
}

impl Streams {
    pub fn new(seed: u64) -> Self {
        Streams { seed, pairs: false }
    }

    /// Makes replicas antithetic (Hammersley and Morton 1956): 2r and 2r + 1 share the luck of a pair, the second mirrored.
    /// Halves of the variance cancel where a figure is monotone in luck; intervals are then from pairs
    /// (`experiment/units.rs`).
    pub fn antithetic(self, pairs: bool) -> Self {
        Streams { pairs, ..self }
    }

    pub fn stream(&self, replica: u64, purpose: Purpose) -> Stream {
        if self.pairs && shares_luck(replica, purpose) {
            self.paired(replica, purpose)
        } else {
            self.stream_for_purpose(replica, purpose, 0)
        }
    }

    /// The stream for one purpose in one of a pair of replicas, which mirror each other in whatever they draw.
    fn paired(&self, replica: u64, purpose: Purpose) -> Stream {
        self.stream_for_purpose(replica / 2, purpose, (replica % 2).wrapping_neg())
    }

    fn stream_for_purpose(&self, replica: u64, purpose: Purpose, mirror: u64) -> Stream {
        let (purpose, thing) = purpose.key_words();
        let key = mix(mix(self.seed, purpose), thing);
        let word = |number: u64| mix(key.wrapping_add(GOLDEN.wrapping_mul(number)), replica);
        let words = [1, 2, 3, 4].map(|number| word(number).to_le_bytes());
        let mut state = [0; 32];
        state.copy_from_slice(words.as_flattened());
        let rng = Xoshiro256PlusPlus::from_seed(state);
        Stream { rng, mirror }
    }
}

/// One stream of random numbers.
///
/// ```
/// # use scavsim_base::face as scavsim;
/// use scavsim::Stream;
///
/// let draw = |seed| Stream::seeded(seed).below(100);
/// assert_eq!(draw(7), draw(7)); // same seed, same bytes
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Stream {
    rng: Xoshiro256PlusPlus,
    /// All ones where luck is mirrored, else 0: the bits of a draw are turned by it.
    mirror: u64,
}

impl Stream {
    /// A stream by itself, to try what draws from one.
    pub fn seeded(seed: u64) -> Stream {
        Streams::new(seed).stream(0, Purpose::Strategy(StrategyKey::NOBODY))
    }

    /// This stream's luck, mirrored.
    pub fn mirrored(&self) -> Stream {
        Stream {
            rng: self.rng.clone(),
            mirror: !self.mirror,
        }
    }

    /// 64 random bits, not mirrored.
    #[inline]
    fn bits(&mut self) -> u64 {
        let Ok(bits) = self.rng.try_next_u64();
        bits
    }

    /// Uniform in the open interval (0, 1), not mirrored: what a sampler rejects by.
    #[inline]
    fn height(&mut self) -> f64 {
        Open01.sample(&mut self.rng)
    }

    /// Uniform in the open interval (0, 1).
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        Open01.sample(self)
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

/// With all bits turned, a uniform of `Open01` is exactly one less it.
impl TryRng for Stream {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.try_next_u64()? >> 32) as u32)
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.bits() ^ self.mirror)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let word = self.try_next_u64()?.to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

/// A log-normal factor with mean 1: exp(σ z − σ²/2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitLogNormal {
    sigma: f64,
}

impl UnitLogNormal {
    pub fn from_sigma(sigma: f64) -> Self {
        UnitLogNormal { sigma }
    }

    /// From the coefficient of variation: σ² = ln(1 + cv²).
    pub fn from_cv(cv: f64) -> Self {
        UnitLogNormal {
            sigma: libm::log1p(cv * cv).sqrt(),
        }
    }

    #[inline]
    pub fn sigma(self) -> f64 {
        self.sigma
    }

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
    use crate::tests::{near, stream};

    #[test]
    fn streams_differ_by_every_part_of_their_key() {
        let first = |seed, replica, purpose| Streams::new(seed).stream(replica, purpose).uniform();
        let of = WorkloadKey::from_name("x").configuration(7);
        let base = first(1, 0, Purpose::Luck(of));
        assert_eq!(base, first(1, 0, Purpose::Luck(of)));
        assert_ne!(base, first(2, 0, Purpose::Luck(of)));
        assert_ne!(base, first(1, 1, Purpose::Luck(of)));
        let other = WorkloadKey::from_name("x").configuration(8);
        let vm = VmTypeKey::from_name("x");
        let at = crate::units::SimTime::from_seconds(7.0);
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
            Purpose::Drift(WorkloadKey::from_name("x"), 0),
            Purpose::Strategy(StrategyKey::from_name("x")),
            Purpose::Machines(vm),
            Purpose::Machines(VmTypeKey::from_name("y")),
            Purpose::Life(vm, 0),
            Purpose::Life(vm, 1),
            Purpose::Life(VmTypeKey::from_name("y"), 0),
            Purpose::MarketLosses,
            Purpose::MarketHits,
            Purpose::StartUp(request(true, 0)),
            Purpose::StartUp(request(false, 0)),
            Purpose::StartUp(request(true, 1)),
            Purpose::ColdJoin(request(true, 0)),
            Purpose::Restart(at),
            Purpose::CheckpointWrite(at),
            Purpose::ModelLives(ModelKey::from_name("x")),
            Purpose::ModelDelays(ModelKey::from_name("x")),
            Purpose::OutlineLives(of),
            Purpose::Failures,
            Purpose::Lemon(0),
            Purpose::Trial(0),
            Purpose::BagJobs(WorkloadKey::from_name("x")),
            Purpose::BagNotice(WorkloadKey::from_name("x")),
            Purpose::BagLosses(WorkloadKey::from_name("x")),
        ];
        let drawn = all.iter().map(|purpose| first(1, 0, *purpose).to_bits());
        let drawn: std::collections::BTreeSet<u64> = drawn.collect();
        assert_eq!(drawn.len(), all.len());
    }

    /// The bits of the streams are part of the result format: a change must be deliberate.
    #[test]
    fn the_bits_of_a_stream_are_fixed() {
        let mut stream = Streams::new(2023).stream(3, Purpose::Trial(identity("x")));
        let law = LargestLogNormal::new(8, 0.3).expect("a moderate sigma");
        let mut drawn: Vec<f64> = (0..3).map(|_| stream.normal()).collect();
        drawn.extend((0..2).map(|_| stream.uniform()));
        drawn.extend((0..2).map(|_| stream.largest_normal(8)));
        drawn.extend((0..2).map(|_| law.sample(&mut stream)));
        // What is rejected, and the tails, too.
        let most = |own: &mut dyn FnMut() -> f64| (0..200_000).map(|_| own()).fold(0.0, f64::max);
        drawn.push(most(&mut || stream.normal().abs()));
        drawn.push(most(&mut || law.sample(&mut stream)));
        let bits: Vec<u64> = drawn.into_iter().map(f64::to_bits).collect();
        insta::assert_debug_snapshot!(bits);
    }

    fn pair(number: u64) -> [Stream; 2] {
        [0, 1].map(|odd| Streams::new(31).paired(2 * number + odd, Purpose::MarketHits))
    }

    #[test]
    fn the_odd_stream_of_a_pair_mirrors_the_other_exactly() {
        let [mut even, mut odd] = pair(0);
        for _ in 0..300_000 {
            let (u, v) = (even.uniform(), odd.uniform());
            assert!(u > 0.0 && u < 1.0 && u + v == 1.0, "{u} {v}");
            // Tails and rejections included, as both reject the same.
            assert_eq!(even.normal(), -odd.normal());
            assert_eq!(even.below(10), 9 - odd.below(10));
        }
    }

    /// Both replicas of a pair have the same law, whatever is drawn; p < 0.001 once in 1,000 seeds for each of four.
    #[test]
    fn both_of_a_pair_have_the_same_law() {
        let law = LargestLogNormal::new(3, 0.4).expect("a moderate sigma");
        type Draw<'a> = &'a dyn Fn(&mut Stream) -> f64;
        let kinds: [Draw<'_>; 4] = [
            &Stream::uniform,
            &Stream::normal,
            &|stream| stream.largest_normal(7),
            &|stream| law.sample(stream),
        ];
        for draw in kinds {
            let drawn = [0, 1].map(|odd| -> Vec<f64> {
                // Of other pairs each, as the test takes them to be independent.
                let pairs = (0..40_000).map(|n| pair(2 * n + odd as u64)[odd].clone());
                pairs.map(|mut stream| draw(&mut stream)).collect()
            });
            let [even, odd] = &drawn;
            assert!(crate::stats::kolmogorov_smirnov(even, odd).p_value > 0.001);
        }
    }

    /// exp(0.1 z) is nearly linear in z: the mean of a pair keeps only what is not linear, a share of about 0.1²/2 of the variance.
    #[test]
    fn the_mean_of_a_pair_varies_less_where_a_figure_is_monotone() {
        let (mut one, mut two) = (Welford::default(), Welford::default());
        for number in 0..20_000 {
            let [even, odd] = pair(number).map(|mut stream| libm::exp(0.1 * stream.normal()));
            one.add(even);
            two.add(0.5 * (even + odd));
        }
        assert!(two.variance() < 0.01 * one.variance());
    }

    #[test]
    fn the_choices_of_a_strategy_and_replicas_that_no_case_has_are_not_mirrored() {
        let streams = Streams::new(1);
        assert!(shares_luck(7, Purpose::MarketHits));
        for replica in [u64::MAX - 1, u64::MAX] {
            assert!(!shares_luck(replica, Purpose::MarketHits));
        }
        let strategy = Purpose::Strategy(StrategyKey::from_name("x"));
        assert!(!strategy.is_luck() && Purpose::MarketHits.is_luck());
        let [mut even, mut odd] = [0, 1].map(|replica| streams.stream(replica, strategy));
        assert_ne!(even.uniform() + odd.uniform(), 1.0);
    }

    #[test]
    fn unit_log_normal_has_mean_one_and_the_asked_variation() {
        let factor = UnitLogNormal::from_cv(0.3);
        let mut stream = stream(1);
        let mut seen = Welford::default();
        for _ in 0..200_000 {
            seen.add(factor.sample(&mut stream));
        }
        // 4 standard errors of the mean and of the standard deviation (fixed seed).
        let errors = 4.0 * 0.3 / 200_000f64.sqrt();
        near(seen.mean(), 1.0, errors);
        near(seen.standard_deviation(), 0.3, errors);
    }

    #[test]
    fn largest_normal_in_one_draw_agrees_with_drawing_them_all() {
        let mut one = Streams::new(5).stream(0, Purpose::Trial(0));
        let mut all = Streams::new(5).stream(0, Purpose::Trial(1));
        let fast: Vec<f64> = (0..4000).map(|_| one.largest_normal(16)).collect();
        let slow = (0..4000).map(|_| (0..16).map(|_| all.normal()).fold(f64::MIN, f64::max));
        let slow: Vec<f64> = slow.collect();
        assert!(crate::stats::kolmogorov_smirnov(&fast, &slow).p_value > 0.01);
    }
}
