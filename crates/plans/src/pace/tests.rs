use std::sync::Arc;

use super::*;
use crate::{Axes, Form, Offer, Parts, PreparedForm, Target};
use scavsim_engine::Parallelism;
use scavsim_parallel::{NodeKind, Runtime, Schedule, library};
use scavsim_read::input::Diagnostics;

fn choices(gpu: &str, runtime: Runtime, schedule: Schedule) -> Choices {
    let mut told = Diagnostics::default();
    let profile = library::profile("gpt-neo-2.7b", &mut told).expect("it is embedded");
    let links = library::links(&mut told).expect("they are embedded");
    let kind = NodeKind {
        name: "vm".into(),
        gpu: gpu.into(),
        gpus_per_node: 4,
        memory_gib: Some(80.0),
        zone: "".into(),
    };
    let axes = Axes {
        kinds: vec![kind],
        offers: vec![Offer {
            name: "vm".into(),
            lanes: vec![vec![0]],
            zone: 0,
            on_spot: None,
        }],
        data: None,
        pipeline: None,
        tensor: None,
        micro_batch: None,
        batches: vec![256],
        schedules: vec![schedule],
        virtual_stages: vec![2],
        nodes: None,
        most_gpus: 32,
        cuts: Vec::new(),
    };
    let forms = vec![PreparedForm {
        form: Form::from_runtime(&runtime),
        profile: Arc::new(profile),
        runtime,
        usual_stages: None,
    }];
    let drafts: Vec<_> = axes.drafts(&forms).collect();
    let target = Target {
        sequences: 1e5,
        noise_scale: None,
    };
    let parts = Parts {
        name: "neo".to_owned(),
        target,
        axes,
        zones: Vec::new(),
        forms,
        links: Arc::new(links),
        doubt: Default::default(),
        flops: None,
        hashes: Vec::new(),
    };
    Choices::from_drafts(parts, &drafts, Parallelism::One).expect("some fit")
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
