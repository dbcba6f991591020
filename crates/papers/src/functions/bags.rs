//! Expected cost of a job of a bag, by formula.

use super::file_inputs::FileInputs;
use super::function::{Function, function};
use super::no_value::NoValue;
use scavsim_bags::formula;
use scavsim_read::expression::Arguments;

pub(super) const FUNCTIONS: &[Function] = &[
    function!(lost_to_one_of ["odds", "vms"] "probability that one of several VMs is lost, each with these odds: 1 − (1 − p)^N"),
    function!(job_cost_usd ["usd_per_vm_hour", "vms", "job_s", "odds", "lost_s"] "expected USD of a job that is run again when it is lost, with these odds and after that many seconds in the mean: (T + p·lost) for all of its VMs"),
];

const MOST_VMS: u64 = 1_000_001;

fn vms(arguments: &Arguments<'_>) -> Result<u32, NoValue> {
    Ok(arguments.whole_number("vms", 1..MOST_VMS)? as u32)
}

fn lost_to_one_of(_: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    Ok(formula::lost_to_one_of(
        arguments.number("odds")?,
        vms(arguments)?,
    ))
}

fn job_cost_usd(_: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let number = |name: &str| arguments.number(name);
    let expected_s = formula::expected_s(number("job_s")?, number("odds")?, number("lost_s")?);
    let usd = number("usd_per_vm_hour")?;
    Ok(formula::expected_usd(usd, vms(arguments)?, expected_s))
}
