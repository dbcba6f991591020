//! Measured plans of partitioned models: predicted time and memory of a step.

use super::file_inputs::FileInputs;
use super::function::{Function, function};
use super::no_value::NoValue;
use scavsim_parallel::measured_plans::{
    FIGURES, LeftOut, MeasuredParallelPlan, MeasuredPlanSet, peak_memory_bytes, reduction_s,
};
use scavsim_parallel::{PreparedPlan, Runtime};
use scavsim_read::expression::Arguments;
use scavsim_read::input::Diagnostics;

pub(super) const FUNCTIONS: &[Function] = &[
    function!(plan_step_s ["plan"] "seconds of a step of a plan of `data/layers/sailor-measured.csv`, without luck"),
    function!(plan_peak_gb ["plan"] "10⁹ bytes on its fullest GPU"),
    function!(plan_reduction_s ["plan"] "seconds from when its first replica has its gradients until they are reduced, waiting for others included"),
    function!(data plan_measured ["plan", "figure"] "what was measured of it: `iteration_s`, `gradient_sync_s` or `peak_memory_bytes`"),
    function!(plan_error_left_out ["nodes"] "mean error of a step, as a fraction, of the measured pipelines on that many nodes (0: on other sites), with seconds per message fitted on all others"),
    function!(plan_message_left_out_s ["nodes"] "seconds per message, fitted on all measured pipelines but those on that many nodes"),
];

const MOST_NODES: u64 = 1_000_001;

fn measured_plan_set() -> Result<MeasuredPlanSet, NoValue> {
    let mut wrong = Diagnostics::default();
    MeasuredPlanSet::embedded(&mut wrong).ok_or(NoValue::WrongTables(wrong))
}

fn named<'b>(
    beside: &'b MeasuredPlanSet,
    arguments: &Arguments<'_>,
) -> Result<&'b MeasuredParallelPlan, NoValue> {
    let name = arguments.text("plan")?;
    beside.plan(name).ok_or_else(|| {
        let known: Vec<&str> = beside.plans.iter().map(|plan| &*plan.name).collect();
        NoValue::not_measured(format!("plan `{name}`"), name, &known)
    })
}

fn prepared(arguments: &Arguments<'_>) -> Result<PreparedPlan, NoValue> {
    let beside = measured_plan_set()?;
    Ok(beside.ours(named(&beside, arguments)?, &Runtime::default())?)
}

fn plan_measured(_: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let beside = measured_plan_set()?;
    let name = arguments.text("figure")?;
    let figure = named(&beside, arguments)?.figure(name);
    figure.ok_or_else(|| NoValue::not_measured(format!("figure `{name}`"), name, &FIGURES))
}

fn plan_step_s(_: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    Ok(prepared(arguments)?.step_s())
}

fn plan_peak_gb(_: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    Ok(peak_memory_bytes(&prepared(arguments)?) as f64 / 1e9)
}

fn plan_reduction_s(_: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    Ok(reduction_s(&prepared(arguments)?))
}

fn left_out(arguments: &Arguments<'_>) -> Result<LeftOut, NoValue> {
    let nodes = arguments.whole_number("nodes", 0..MOST_NODES)? as u32;
    let found = measured_plan_set()?.left_out(nodes)?;
    found.ok_or_else(|| NoValue::NotMeasured {
        what: "pipeline".to_owned(),
        help: format!(" on {nodes} nodes"),
    })
}

fn plan_error_left_out(_: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    Ok(left_out(arguments)?.error)
}

fn plan_message_left_out_s(_: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    Ok(left_out(arguments)?.message_s)
}
