use super::draws::{draws, mean_drawn, mean_over_ages, stream};
use super::file_inputs::FileInputs;
use super::function::{Function, function};
use super::lifetime_spec::library;
use super::no_value::NoValue;
use scavsim_base::rng::{ModelKey, Purpose};
use scavsim_base::stats::kolmogorov_smirnov_against;
use scavsim_data::cloud::lifetimes::Lifetime;
use scavsim_read::expression::Arguments;
use scavsim_sim::cluster::checkpoint::{drawn, run_time};

/// The lifetime model of the argument `life`, and its name.
pub(super) fn life<'g>(
    given: &'g FileInputs,
    arguments: &'g Arguments<'_>,
) -> Result<(&'g str, &'g Lifetime), NoValue> {
    let name = arguments.text("life")?;
    let own = given.lives.get(name).map(Ok);
    Ok((name, own.unwrap_or_else(|| library(name))?))
}

/// An age in hours; 0 if absent.
pub(super) fn age_h(arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    Ok(arguments.optional_number("age_h")?.unwrap_or(0.0))
}

pub(super) const FUNCTIONS: &[Function] = &[
    function!(lost_by ["life", "age_h"] "probability that a VM is lost by an age"),
    function!(lost_during ["life", "job_h", "age_h?", "odds?"] "probability that a VM of an age is lost before a job on it is done: `exact`, or `of-new`, F(s + T) − F(s), as HPDC 2020 has it"),
    function!(drawn_lost_by ["life", "age_h", "draws"] "share of drawn lives that end by an age, those that the cap ends left out"),
    function!(drawn_lost_during ["life", "job_h", "age_h", "draws"] "share of drawn VMs of an age, or of a list of ages in turn, that are lost before a job is done"),
    function!(life_distance ["life", "lost_by_hour", "draws"] "Kolmogorov–Smirnov distance between drawn lives by whole hours and shares lost by the end of each hour"),
];

fn lost_by(given: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    Ok(life(given, arguments)?.1.cdf(arguments.number("age_h")?))
}

fn lost_during(given: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let (_, life) = life(given, arguments)?;
    let (age_h, job_h) = (age_h(arguments)?, arguments.number("job_h")?);
    match arguments.optional_text("odds")? {
        None | Some("exact") => Ok(run_time::lost_during(life, age_h, job_h)),
        Some("of-new") => Ok(run_time::lost_during_of_new(life, age_h, job_h)),
        Some(other) => {
            let legal = "neither `exact` nor `of-new`";
            Err(NoValue::Odds(other.to_owned(), legal))
        }
    }
}

fn drawn_lost_by(given: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let (name, life) = life(given, arguments)?;
    let (age_h, cap_h) = (arguments.number("age_h")?, life.cap_h());
    let key = Purpose::ModelLives(ModelKey::from_name(name));
    Ok(mean_drawn(draws(arguments)?, &[0.0], key, |_, stream| {
        let life_h = life.sample(stream);
        f64::from(u8::from(life_h <= age_h && life_h < cap_h))
    }))
}

fn drawn_lost_during(given: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let (_, life) = life(given, arguments)?;
    let job_h = arguments.number("job_h")?;
    mean_over_ages(arguments, "failure", |age_h, stream| {
        let rest_h = life.sample_rest(age_h, stream);
        f64::from(u8::from(drawn::is_shorter(rest_h, job_h)))
    })
}

fn life_distance(given: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let (name, life) = life(given, arguments)?;
    let lost = arguments.numbers("lost_by_hour")?;
    let last = lost.len() as f64;
    // Ends by the cap at the last hour are not losses: they count an hour later.
    let by_hour = |life: f64| if life < last { life.ceil() } else { last + 1.0 };
    let mut stream = stream(Purpose::ModelLives(ModelKey::from_name(name)));
    let lives: Vec<f64> = (0..draws(arguments)?)
        .map(|_| by_hour(life.sample(&mut stream)))
        .collect();
    let share = |hour: f64| match lost.get((hour - 1.0) as usize) {
        _ if hour < 1.0 => 0.0,
        Some(&share) => share,
        None => 1.0,
    };
    Ok(kolmogorov_smirnov_against(&lives, share, |h| share(h - 1.0)).distance)
}
