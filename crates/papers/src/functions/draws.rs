use super::no_value::NoValue;
use scavsim_base::rng::{ModelKey, Purpose, Stream, Streams};
use scavsim_read::expression::Arguments;

pub(super) const SEED: u64 = 20;
const MOST_DRAWS: u64 = 10_000_001;

pub(super) fn stream(purpose: Purpose) -> Stream {
    Streams::new(SEED).stream(0, purpose)
}

pub(super) fn draws(arguments: &Arguments<'_>) -> Result<u64, NoValue> {
    Ok(arguments.whole_number("draws", 1..MOST_DRAWS)?)
}

/// The mean over drawn lives of a VM of an age, or of each of a list of ages.
pub(super) fn mean_over_ages(
    arguments: &Arguments<'_>,
    name: &str,
    draw: impl Fn(f64, &mut Stream) -> f64,
) -> Result<f64, NoValue> {
    let key = Purpose::ModelLives(ModelKey::from_name(name));
    let ages_h = arguments.numbers("age_h")?;
    Ok(mean_drawn(draws(arguments)?, &ages_h, key, draw))
}

/// The mean of `draws` values, or of the next number that uses each of `each` equally often.
pub(super) fn mean_drawn(
    draws: u64,
    each: &[f64],
    purpose: Purpose,
    draw: impl Fn(f64, &mut Stream) -> f64,
) -> f64 {
    let mut stream = stream(purpose);
    let rounds = draws.div_ceil(each.len().max(1) as u64);
    let (mut count, mut sum) = (0.0, 0.0);
    for _ in 0..rounds {
        for &one in each {
            sum += draw(one, &mut stream);
            count += 1.0;
        }
    }
    sum / count
}
