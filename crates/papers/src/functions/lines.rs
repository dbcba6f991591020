//! Fits of strategies to the measured noise and epochs of a workload of the library.

use super::file_inputs::FileInputs;
use super::function::{Function, function};
use super::no_value::NoValue;
use scavsim_base::stats::Line;
use scavsim_data::workload::{Reach, library, load};
use scavsim_read::expression::Arguments;
use scavsim_read::input::Diagnostics;
use scavsim_search::search::models::{EpochLine, NoiseLine};
use scavsim_search::search::settings::{EpochsFrom, NoiseBy};
use scavsim_search::testbed::History;

pub(super) const FUNCTIONS: &[Function] = &[
    function!(noise_line_intercept ["workload"] "a of the noise line averaged over workers, γ/K = a + s/√B"),
    function!(noise_line_slope ["workload"] "s of that line"),
    function!(epochs_by_line ["workload", "noise"] "epochs to the target at a normalised noise, by the line pooled over all measured runs"),
];

fn history(arguments: &Arguments<'_>) -> Result<History, NoValue> {
    let name = arguments.text("workload")?;
    let folder = library::embedded(name)
        .ok_or_else(|| NoValue::unknown("workload", name, library::names()))?;
    let workload = load::load(&folder, &mut Diagnostics::default());
    let workload = workload.ok_or(NoValue::WrongWorkload)?;
    Ok(History::from_workload(&workload, &Reach::default()))
}

fn noise_line(arguments: &Arguments<'_>) -> Result<Line, NoValue> {
    NoiseLine::from_history(&history(arguments)?, NoiseBy::Average)
        .and_then(|line| line.single())
        .ok_or_else(|| NoValue::NotMeasured {
            what: "noise".to_owned(),
            help: String::new(),
        })
}

fn noise_line_intercept(_: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    Ok(noise_line(arguments)?.intercept)
}

fn noise_line_slope(_: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    Ok(noise_line(arguments)?.slope)
}

fn epochs_by_line(_: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let line = EpochLine::fit(&history(arguments)?, EpochsFrom::Pooled);
    let line = line.ok_or(NoValue::NoneMeasured("epochs"))?;
    Ok(line.epochs(arguments.number("noise")?))
}
