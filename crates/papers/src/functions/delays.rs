//! Measured delays of starts, restarts and checkpoints.

use super::draws::{draws, mean_drawn, stream};
use super::file_inputs::FileInputs;
use super::function::{Function, function};
use super::no_value::NoValue;
use scavsim_base::rng::{ModelKey, Purpose};
use scavsim_data::cloud::Market;
use scavsim_data::cloud::delays::checkpoint_write::MeasuredWrites;
use scavsim_data::cloud::delays::{CheckpointWrite, Delay, Restart, Startup};
use scavsim_read::expression::Arguments;

pub(super) const FUNCTIONS: &[Function] = &[
    function!(data startup_s ["gpu", "market", "region"] "mean seconds until a VM with a GPU runs, `on-demand` or `spot`, as measured on GCP"),
    function!(drawn_startup_s ["gpu", "market", "region", "draws"] "the same of drawn starts"),
    function!(data join_s ["model", "start"] "mean seconds until a worker trains a model, from a `cold` or `warm` start"),
    function!(drawn_join_s ["model", "start", "draws"] "the same of drawn starts"),
    function!(write_s ["model"] "seconds to write a checkpoint of a model, by the line a + b·MB"),
    function!(write_line_base_s [] "a of that line"),
    function!(write_line_s_per_mb [] "b of that line"),
    function!(drawn_write_error ["draws"] "mean |line/draw − 1| over drawn writes of all measured models, as a fraction"),
];

fn unknown<'a>(what: &str, name: &str, all: impl Iterator<Item = &'a str>) -> NoValue {
    let all: Vec<&str> = all.collect();
    NoValue::not_measured(format!("{what} of `{name}`"), name, &all)
}

/// The delay of starts and the region, which identify the draws.
fn startup<'a>(arguments: &'a Arguments<'_>) -> Result<(Delay, &'a str), NoValue> {
    let market = arguments.text("market")?;
    let market = Market::named(market).ok_or_else(|| NoValue::unknown("market", market, []))?;
    let (gpu, region) = (arguments.text("gpu")?, arguments.text("region")?);
    Startup::measured("gcp", gpu, market, region)
        .map(|startup| (startup.delay, region))
        .ok_or_else(|| NoValue::NotMeasured {
            what: format!("start of {gpu} in {region}"),
            help: String::new(),
        })
}

fn drawn(delay: Delay, name: &str, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let key = Purpose::ModelDelays(ModelKey::from_name(name));
    Ok(mean_drawn(draws(arguments)?, &[0.0], key, |_, stream| {
        delay.sample(stream)
    }))
}

fn startup_s(_: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    Ok(startup(arguments)?.0.mean_s())
}

fn drawn_startup_s(_: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let (delay, region) = startup(arguments)?;
    drawn(delay, region, arguments)
}

fn join(arguments: &Arguments<'_>) -> Result<Delay, NoValue> {
    let model = arguments.text("model")?;
    let all = Restart::embedded().0;
    let restart = all.iter().find(|r| r.model == model);
    let names = all.iter().map(|r| r.model.as_str());
    let restart = restart.ok_or_else(|| unknown("restart", model, names))?;
    match arguments.text("start")? {
        "cold" => Ok(restart.cold),
        "warm" => Ok(restart.warm),
        other => Err(NoValue::Start(other.to_owned())),
    }
}

fn join_s(_: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    Ok(join(arguments)?.mean_s())
}

fn drawn_join_s(_: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    drawn(join(arguments)?, arguments.text("model")?, arguments)
}

fn line() -> Result<CheckpointWrite, NoValue> {
    (CheckpointWrite::embedded().0).ok_or(NoValue::NoneMeasured("writes"))
}

fn write_s(_: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let model = arguments.text("model")?;
    let all = MeasuredWrites::embedded();
    let measured = all.iter().find(|m| m.model == model);
    let names = all.iter().map(|m| m.model.as_str());
    let measured = measured.ok_or_else(|| unknown("checkpoint", model, names))?;
    Ok(line()?.mean_s(measured.mb))
}

fn write_line_base_s(_: &FileInputs, _: &Arguments<'_>) -> Result<f64, NoValue> {
    Ok(line()?.base_s)
}

fn write_line_s_per_mb(_: &FileInputs, _: &Arguments<'_>) -> Result<f64, NoValue> {
    Ok(line()?.per_mb_s)
}

fn drawn_write_error(_: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let (line, draws, all) = (line()?, draws(arguments)?, MeasuredWrites::embedded());
    let mut sum = 0.0;
    for measured in all {
        let mut stream = stream(Purpose::ModelDelays(ModelKey::from_name(&measured.model)));
        let expected = line.mean_s(measured.mb);
        let off: f64 = (0..draws)
            .map(|_| (expected / measured.delay.sample(&mut stream) - 1.0).abs())
            .sum();
        sum += off / draws as f64;
    }
    Ok(sum / all.len() as f64)
}
