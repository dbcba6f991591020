//! Plans by which models were cut over GPUs, and measured: what a step of ours takes and holds.

use super::{Function, Given, function};
use scavsim_read::expression::Arguments;
use scavsim_read::input::Diagnostics;
use scavsim_sim::parallel::measured::{Beside, Measured, peak_memory_bytes, reduction_s};
use scavsim_sim::parallel::{PreparedPlan, Runtime};

pub(super) const FUNCTIONS: &[Function] = &[
    function!(plan_step_s ["plan"] "seconds of a step of a plan of `data/layers/sailor-measured.csv`, without luck"),
    function!(plan_peak_gb ["plan"] "10⁹ bytes on its fullest GPU"),
    function!(plan_reduction_s ["plan"] "seconds from when its first replica has its gradients until they are reduced, waiting for others included"),
    function!(plan_error_left_out ["nodes"] "mean error of a step, as a fraction, of the measured pipelines on so many nodes (0: on other sites), with seconds per message fitted on all others"),
];

const MOST_NODES: u64 = 1_000_001;

fn beside() -> Result<Beside, String> {
    let mut wrong = Diagnostics::default();
    Beside::embedded(&mut wrong).ok_or_else(|| wrong.render(false))
}

/// The plan that is named.
fn named<'b>(beside: &'b Beside, arguments: &Arguments<'_>) -> Result<&'b Measured, String> {
    let name = arguments.text("plan")?;
    beside.plan(name).ok_or_else(|| {
        let known: Vec<&str> = beside.plans().iter().map(|plan| &*plan.name).collect();
        format!("no plan `{name}` was measured; known: {}", known.join(", "))
    })
}

/// The plan that is named, prepared.
fn prepared(arguments: &Arguments<'_>) -> Result<PreparedPlan, String> {
    let beside = beside()?;
    let ours = beside.ours(named(&beside, arguments)?, &Runtime::default());
    ours.map_err(|misfit| misfit.to_string())
}

fn plan_step_s(_: &Given, arguments: &Arguments<'_>) -> Result<f64, String> {
    Ok(prepared(arguments)?.step_s())
}

fn plan_peak_gb(_: &Given, arguments: &Arguments<'_>) -> Result<f64, String> {
    Ok(peak_memory_bytes(&prepared(arguments)?) as f64 / 1e9)
}

fn plan_reduction_s(_: &Given, arguments: &Arguments<'_>) -> Result<f64, String> {
    Ok(reduction_s(&prepared(arguments)?))
}

fn plan_error_left_out(_: &Given, arguments: &Arguments<'_>) -> Result<f64, String> {
    let nodes = arguments.whole("nodes", 0..MOST_NODES)? as u32;
    let found = (beside()?.left_out(nodes)).map_err(|misfit| misfit.to_string())?;
    let found = found.ok_or_else(|| format!("no pipeline was measured on {nodes} nodes"))?;
    Ok(found.error)
}
