//! The standard normal distribution, all through `libm`: the bits do not depend on the platform's mathematics library.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Φ⁻¹(0.95): half the width of a 90 % interval in standard deviations.
pub const AT_95: f64 = 1.644_853_626_951_472_2;
/// Φ⁻¹(0.975): half the width of a 95 % interval.
pub const AT_97_5: f64 = 1.959_963_984_540_054;
/// Φ⁻¹(0.99).
pub const AT_99: f64 = 2.326_347_874_040_841;

/// Nodes, in standard deviations from the mean, and weights of the Gauss–Hermite rule of three: exact for polynomials up to the
/// fifth degree.
pub const HERMITE: [(f64, f64); 3] = [
    (-1.732_050_807_568_877_2, 1.0 / 6.0),
    (0.0, 2.0 / 3.0),
    (1.732_050_807_568_877_2, 1.0 / 6.0),
];

/// Density φ(x).
#[inline]
pub fn density(x: f64) -> f64 {
    libm::exp(-0.5 * x * x) / (2.0 * PI).sqrt()
}

/// Cumulative distribution Φ(x).
#[inline]
pub fn cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// Upper quantile: the x with 1 − Φ(x) = `q`, accurate for tiny `q`.
#[inline]
pub fn upper_quantile(q: f64) -> f64 {
    -inverse_cdf(q)
}

/// Φ⁻¹(p) for p in (0, 1), by Wichura's AS 241 (Applied Statistics 37, 1988), relative accuracy about 1e-16.
#[inline]
pub fn inverse_cdf(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180625 - q * q;
        return q * ratio(r, &CENTRE);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    let r = (-libm::log(tail)).sqrt();
    let x = if r <= 5.0 {
        ratio(r - 1.6, &NEAR_TAIL)
    } else {
        ratio(r - 5.0, &FAR_TAIL)
    };
    if q < 0.0 { -x } else { x }
}

/// Numerator and denominator coefficients, constant term first.
type Rational = ([f64; 8], [f64; 8]);

#[inline]
fn ratio(x: f64, (above, below): &Rational) -> f64 {
    let polynomial = |c: &[f64; 8]| {
        ((((((c[7] * x + c[6]) * x + c[5]) * x + c[4]) * x + c[3]) * x + c[2]) * x + c[1]) * x
            + c[0]
    };
    polynomial(above) / polynomial(below)
}

const CENTRE: Rational = (
    [
        3.387_132_872_796_366_5,
        1.331_416_678_917_843_8e2,
        1.971_590_950_306_551_3e3,
        1.373_169_376_550_946e4,
        4.592_195_393_154_987e4,
        6.726_577_092_700_87e4,
        3.343_057_558_358_813e4,
        2.509_080_928_730_122_7e3,
    ],
    [
        1.0,
        4.231_333_070_160_091e1,
        6.871_870_074_920_579e2,
        5.394_196_021_424_751e3,
        2.121_379_430_158_659_7e4,
        3.930_789_580_009_271e4,
        2.872_908_573_572_194_3e4,
        5.226_495_278_852_854e3,
    ],
);

const NEAR_TAIL: Rational = (
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
);

const FAR_TAIL: Rational = (
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        2.965_605_718_285_048_7e-1,
        2.653_218_952_657_612_4e-2,
        1.242_660_947_388_078_4e-3,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        5.998_322_065_558_88e-1,
        1.369_298_809_227_358e-1,
        1.487_536_129_085_061_5e-2,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::near;

    #[test]
    fn inverse_undoes_the_distribution_in_centre_and_tails() {
        for i in 1..400 {
            let x = -8.0 + 0.02 * f64::from(i);
            near(inverse_cdf(cdf(x)), x, 1e-12 * x.abs().max(1.0));
            near(upper_quantile(cdf(x)), -x, 1e-12 * x.abs().max(1.0));
        }
    }

    #[test]
    fn known_quantiles() {
        near(inverse_cdf(0.95), AT_95, 1e-14);
        near(inverse_cdf(0.975), AT_97_5, 1e-14);
        near(upper_quantile(1e-20), 9.262_340_089_798_408, 1e-12);
        assert_eq!(inverse_cdf(0.5), 0.0);
    }
}
