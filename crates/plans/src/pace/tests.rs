use super::*;
use crate::tests::ModelOnVms;
use scavsim_parallel::{Runtime, Schedule};

fn choices(gpu: &'static str, runtime: Runtime, schedule: Schedule) -> Choices {
    let plans = ModelOnVms {
        model: "gpt-neo-2.7b",
        gpu,
        memory_gib: 80.0,
        on_spot: None,
        most_gpus: 32,
        batch: 256,
        sequences: 1e5,
        runtime,
        schedule,
        virtual_stages: 2,
    };
    plans.choices()
}

/// Largest errors of a spread by outlines beside that of the steps themselves: of the mean, and of the deviation in means.
fn errors(choices: &Choices, variation: &Variation) -> (f64, f64) {
    let luck = TrialEffects::new(variation, 64);
    let (mut of_mean, mut of_deviation) = (0.0_f64, 0.0_f64);
    for at in (0..choices.ways.len()).step_by(5) {
        let plan = choices.prepared(at).expect("it fits");
        let mut scratch = PathScratch::default();
        let outline = plan.outline(&mut scratch);
        let calm_s = plan.step_s();
        let nodes = || slot_nodes(choices, at);
        let by = |ratio: &mut dyn FnMut(&[f64]) -> f64| {
            Spread::from_trials(&luck, plan.slots(), nodes, |factors| ratio(factors))
        };
        let fast = by(&mut |factors| outline.ratio(factors));
        let slow = by(&mut |factors| plan.step_with(factors, &mut scratch) / calm_s);
        of_mean = of_mean.max((fast.expected / slow.expected - 1.0).abs());
        of_mean = of_mean.max((fast.alike / slow.alike - 1.0).abs());
        of_deviation = of_deviation.max((fast.cv - slow.cv).abs());
    }
    (of_mean, of_deviation)
}

/// Where outlines are used: serial messages and little luck.
#[test]
fn outlines_tell_the_mean_and_deviation_of_steps() {
    let schedule = Schedule::OneForwardOneBackward;
    let choices = choices("A100-40", Runtime::default(), schedule);
    let variation = Variation {
        step_cv: 0.02,
        ..Variation::default()
    };
    let (mean, deviation) = errors(&choices, &variation);
    assert!(mean < 0.005 && deviation < 0.001, "{mean} {deviation}");
}
