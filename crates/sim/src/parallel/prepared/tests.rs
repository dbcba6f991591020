//! Theory: bubbles, bounds, and the same step by two ways.

use proptest::prelude::*;

use super::super::Activations;
use super::*;
use crate::engine::Interrupt;

fn plan(
    schedule: Schedule,
    activations: Activations,
    micro_batches: u32,
    data: usize,
    lanes: Vec<Vec<StageCost>>,
    reduction: Reduction,
) -> PreparedPlan {
    let stages = lanes[0].len();
    PreparedPlan {
        schedule,
        activations,
        overlap_gradients: false,
        stages: stages as u32,
        micro_batches,
        lane_of: (0..data).map(|r| (r % lanes.len()) as u32).collect(),
        shares: vec![Vec::new(); lanes.len()],
        virtual_stages: 1,
        lanes,
        reductions: vec![reduction; stages],
        memory: vec![0; stages],
        may_not_fit: false,
        checkpoint_bytes: 0,
    }
}

fn cost(forward: f64, backward: f64) -> StageCost {
    StageCost {
        forward,
        backward,
        busy_forward: forward,
        busy_backward: backward,
        ..StageCost::default()
    }
}

fn events(plan: &PreparedPlan, factors: &[f64]) -> f64 {
    plan.step_events(&mut |slot| factors[slot], &mut Room::default(), |_| ())
}

#[test]
fn equal_stages_wait_a_bubble_of_stages_less_one_over_micro_batches() {
    for schedule in Schedule::ALL.into_iter().filter(|s| !s.needs_overlap()) {
        for stages in 1..=16_u32 {
            for micro_batches in [1, 2, 3, 7, 16, 64, 1000] {
                let lane = vec![cost(0.3, 0.5); stages as usize];
                let plan = plan(
                    schedule,
                    Activations::Serial,
                    micro_batches,
                    1,
                    vec![lane],
                    Reduction::default(),
                );
                let bubble = f64::from(stages - 1) / f64::from(micro_batches);
                let ideal = f64::from(micro_batches) * 0.8;
                let step = plan.step_s();
                assert!(
                    (step / (ideal * (1.0 + bubble)) - 1.0).abs() < 1e-12,
                    "{schedule:?} {stages} {micro_batches}: {step}"
                );
                let breakdown = plan.breakdown();
                assert!((breakdown.bubble_s / breakdown.compute_s - bubble).abs() < 1e-9);
                assert!((breakdown.step_s() - step).abs() < 1e-9 * step);
            }
        }
    }
}

/// (p − 1)/(m v) of the ideal step: Narayanan et al., SC 2021, section 2.2.
#[test]
fn interleaved_stages_wait_a_bubble_divided_by_their_virtual_stages() {
    for stages in [2, 3, 4, 8] {
        for virtual_stages in [1, 2, 3, 4] {
            for groups in [1, 2, 5, 16] {
                let micro_batches = groups * stages;
                let lane = vec![cost(0.3, 0.5); stages as usize];
                let mut plan = plan(
                    Schedule::Interleaved,
                    Activations::Overlapped,
                    micro_batches,
                    1,
                    vec![lane],
                    Reduction::default(),
                );
                plan.virtual_stages = virtual_stages;
                let share = 1.0 / f64::from(virtual_stages);
                let one = VirtualShare {
                    forward: share,
                    backward: share,
                };
                plan.shares = vec![vec![one; (stages * virtual_stages) as usize]];
                let ideal = f64::from(micro_batches) * 0.8;
                let bubble = f64::from(stages - 1) / f64::from(micro_batches * virtual_stages);
                let what = format!("{stages} {virtual_stages} {micro_batches}");
                let step = plan.step_s();
                assert!(
                    (step / (ideal * (1.0 + bubble)) - 1.0).abs() < 1e-9,
                    "{what}: {step}"
                );
                let by_events = events(&plan, &vec![1.0; stages as usize]);
                assert!(
                    (by_events / step - 1.0).abs() < 1e-6,
                    "{what}: {by_events} {step}"
                );
            }
        }
    }
}

/// (p − 1)(F + B − W), Qi et al., ICLR 2024, table 2; but where passes for weights are the longest, those of the slower of the others.
#[test]
fn zero_bubble_stages_wait_for_forward_and_inputs_less_weights() {
    for stages in [1, 2, 3, 4, 8] {
        for micro_batches in [stages, 2 * stages, 5 * stages + 1] {
            for (forward, inputs, weights) in [
                (1.0, 1.0, 1.0),
                (0.9, 1.1, 0.7),
                (0.9, 1.7, 1.3),
                (1.1, 0.6, 1.6),
            ] {
                let each = StageCost {
                    weights,
                    ..cost(forward, inputs + weights)
                };
                let plan = plan(
                    Schedule::ZeroBubble,
                    Activations::Overlapped,
                    micro_batches,
                    1,
                    vec![vec![each; stages as usize]],
                    Reduction::default(),
                );
                let ideal = f64::from(micro_batches) * (forward + inputs + weights);
                let longest: f64 = (forward + inputs - weights).max(forward).max(inputs);
                let bubble = f64::from(stages - 1) * longest;
                let what = format!("{stages} {micro_batches} {weights}");
                let step = plan.step_s();
                assert!(
                    (step - ideal - bubble).abs() < 1e-9,
                    "{what}: {} {bubble}",
                    step - ideal
                );
                let by_events = events(&plan, &vec![1.0; stages as usize]);
                assert!(
                    (by_events / step - 1.0).abs() < 1e-6,
                    "{what}: {by_events} {step}"
                );
            }
        }
    }
}

#[test]
fn rounds_that_repeat_are_left_out() {
    // A million micro-batches: walked one by one this would take a second.
    let lane: Vec<StageCost> = [0.31, 0.5, 0.43, 0.2]
        .map(|f| StageCost {
            message: 0.01,
            ..cost(f, 2.0 * f)
        })
        .to_vec();
    for (schedule, per_micro_batch) in [
        (Schedule::OneForwardOneBackward, 1.5 + 0.04),
        (Schedule::GPipe, 0.5 + 0.02 + 1.0 + 0.02),
    ] {
        let one = plan(
            schedule,
            Activations::Serial,
            1_000_000,
            1,
            vec![lane.clone()],
            Reduction::default(),
        );
        let less = plan(
            schedule,
            Activations::Serial,
            999_999,
            1,
            vec![lane.clone()],
            Reduction::default(),
        );
        let begun = std::time::Instant::now();
        let (one, less) = (one.step_s(), less.step_s());
        assert!(begun.elapsed().as_millis() < 100);
        assert!(
            (one - less - per_micro_batch).abs() < 1e-6,
            "{schedule:?}: {}",
            one - less
        );
    }
}

#[test]
fn messages_cost_a_waiting_stage_each_and_a_computing_one_nothing() {
    // Two stages: per micro-batch each exchanges one message to and one fro.
    let lane = vec![
        StageCost {
            message: 0.1,
            ..cost(1.0, 1.0)
        };
        2
    ];
    let step = |activations| {
        let plan = plan(
            Schedule::OneForwardOneBackward,
            activations,
            100,
            1,
            vec![lane.clone()],
            Reduction::default(),
        );
        plan.step_s() / 100.0
    };
    let (serial, duplex, overlapped) = (
        step(Activations::Serial),
        step(Activations::Duplex),
        step(Activations::Overlapped),
    );
    assert!((serial - 2.2).abs() < 0.05, "{serial}");
    assert!((duplex - 2.1).abs() < 0.05, "{duplex}");
    assert!(overlapped < duplex && overlapped >= 2.0, "{overlapped}");
}

#[test]
fn messages_hide_where_launching_takes_longer_than_computing() {
    let lane = |busy: f64| {
        let stage = StageCost {
            busy_forward: busy,
            busy_backward: busy,
            message: 0.1,
            ..cost(1.0, 1.0)
        };
        vec![stage; 2]
    };
    let step = |busy| {
        let plan = plan(
            Schedule::OneForwardOneBackward,
            Activations::Serial,
            50,
            1,
            vec![lane(busy)],
            Reduction::default(),
        );
        plan.step_s()
    };
    // 50 micro-batches and a bubble of one; then 0.2 of messages per micro-batch.
    assert!((step(0.5) - 102.0).abs() < 1.5, "{}", step(0.5));
    assert!((step(1.0) - 112.0).abs() < 1.5, "{}", step(1.0));
}

#[test]
fn overlapped_gradients_are_between_all_hidden_but_one_bucket_and_none() {
    for buckets in [1, 2, 5, 20] {
        for bucket_s in [0.001, 0.1, 0.5] {
            let reduction = Reduction { buckets, bucket_s };
            let lane = vec![cost(1.0, 2.0); 3];
            let mut plan = plan(
                Schedule::OneForwardOneBackward,
                Activations::Serial,
                8,
                4,
                vec![lane],
                reduction,
            );
            let none = plan.step_s();
            plan.reductions.fill(Reduction::default());
            let all = plan.step_s();
            plan.reductions.fill(reduction);
            plan.overlap_gradients = true;
            let some = plan.step_s();
            assert!((none - all - reduction.seconds()).abs() < 1e-9);
            assert!(
                some >= all + bucket_s - 1e-9 && some <= none + 1e-9,
                "{all} {some} {none}"
            );
            if buckets > 1 {
                assert!(some < none);
            }
            let by_events = events(&plan, &[1.0; 12]);
            assert!((by_events - some).abs() < 1e-6);
        }
    }
}

#[test]
fn the_timeline_has_every_pass_once_and_no_gpu_does_two_things_at_once() {
    let lanes = vec![
        vec![
            StageCost {
                message: 0.05,
                update: 0.1,
                ..cost(1.0, 2.0)
            };
            3
        ],
        vec![
            StageCost {
                message: 0.05,
                update: 0.2,
                ..cost(1.5, 2.5)
            };
            3
        ],
    ];
    let reduction = Reduction {
        buckets: 2,
        bucket_s: 0.25,
    };
    let plan = plan(
        Schedule::OneForwardOneBackward,
        Activations::Serial,
        5,
        2,
        lanes,
        reduction,
    );
    let timeline = plan.timeline();
    let count = |work| timeline.iter().filter(|s| s.work == work).count();
    assert_eq!(
        [count(Work::Forward), count(Work::Backward)],
        [2 * 3 * 5; 2]
    );
    assert_eq!([count(Work::Reduce), count(Work::Update)], [6, 6]);
    assert_eq!(count(Work::Send), count(Work::Receive));
    let last = timeline.iter().map(|s| s.end_s).fold(0.0, f64::max);
    assert!((last - plan.step_s()).abs() < 1e-6);
    for replica in 0..2 {
        for stage in 0..3 {
            let mut own: Vec<&Span> = timeline
                .iter()
                .filter(|s| (s.replica, s.stage) == (replica, stage))
                .collect();
            own.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
            assert!(own.windows(2).all(|w| w[0].end_s <= w[1].start_s + 1e-9));
        }
    }
}

#[test]
fn an_interrupt_ends_a_step() {
    let interrupt = Interrupt::default();
    let lane = vec![cost(1.0, 1.0); 2];
    let plan = plan(
        Schedule::GPipe,
        Activations::Serial,
        8,
        1,
        vec![lane],
        Reduction::default(),
    );
    let mut room = Room::heeding(interrupt.clone());
    let whole = plan.step_events(&mut |_| 1.0, &mut room, |_| ());
    assert!((whole - 18.0).abs() < 1e-6);
    interrupt.raise();
    assert!(plan.step_events(&mut |_| 1.0, &mut room, |_| ()) < whole);
}

fn any_cost() -> impl Strategy<Value = StageCost> {
    // Zeros, equal ones and launch-bound ones are all likely.
    let seconds = prop_oneof![Just(0.0), Just(0.25), 0.0..1.0_f64];
    let share = prop_oneof![Just(1.0), 0.1..1.0_f64];
    (
        seconds.clone(),
        seconds.clone(),
        share.clone(),
        share,
        prop_oneof![Just(0.0), 0.0..0.3_f64],
        0.0..0.1_f64,
    )
        .prop_map(|(forward, backward, a, b, message, update)| StageCost {
            weights: 0.4 * b * backward,
            forward,
            backward,
            busy_forward: forward * a,
            busy_backward: backward * b,
            message,
            update,
            communication: None,
        })
}

fn any_plan() -> impl Strategy<Value = (PreparedPlan, Vec<f64>)> {
    let shape = (1_usize..6, 1_usize..4, 1_usize..4);
    let options = (
        0..Schedule::ALL.len(),
        0_usize..3,
        any::<bool>(),
        1_u32..60,
        1_u32..5,
        0.0..0.2_f64,
        1_u32..4,
    );
    (shape, options).prop_flat_map(|((stages, data, kinds), options)| {
        let kinds = kinds.min(data);
        let lanes = prop::collection::vec(prop::collection::vec(any_cost(), stages), kinds);
        let factors = prop::collection::vec(prop_oneof![Just(1.0), 0.5..2.0_f64], stages * data);
        (lanes, factors).prop_map(move |(lanes, factors)| {
            let (
                schedule,
                activations,
                overlap,
                mut micro_batches,
                buckets,
                bucket_s,
                virtual_stages,
            ) = options;
            let schedule = Schedule::ALL[schedule];
            let activations = [
                Activations::Serial,
                Activations::Duplex,
                Activations::Overlapped,
            ][if schedule.needs_overlap() {
                2
            } else {
                activations
            }];
            if schedule.has_virtual_stages() {
                micro_batches = micro_batches.next_multiple_of(stages as u32);
            }
            let mut plan = plan(
                schedule,
                activations,
                micro_batches,
                data,
                lanes,
                Reduction { buckets, bucket_s },
            );
            plan.overlap_gradients = overlap;
            if schedule.has_virtual_stages() {
                plan.virtual_stages = virtual_stages;
                // A later virtual stage takes longer, forward less so than backward.
                let sum = f64::from(virtual_stages * (virtual_stages + 1)) / 2.0;
                let of_stage = (1..=virtual_stages).map(|own| VirtualShare {
                    forward: f64::from(virtual_stages + 1 - own) / sum,
                    backward: f64::from(own) / sum,
                });
                let of_stage: Vec<VirtualShare> = of_stage.collect();
                plan.shares = vec![of_stage.repeat(stages); plan.lanes.len()];
            }
            (plan, factors)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The critical path, with rounds left out, ends when the events do. A nanosecond per operation is rounding.
    #[test]
    fn the_critical_path_is_that_of_the_events((plan, factors) in any_plan()) {
        let rounding = 1e-9 * f64::from(plan.micro_batches * 8 + 8) * plan.stages() as f64;
        let ones = vec![1.0; plan.slots()];
        let alone = plan.step_s();
        prop_assert!((events(&plan, &ones) - alone).abs() < rounding, "{} {}", events(&plan, &ones), alone);
        prop_assert!((plan.step_with(&ones, &mut PathScratch::default()) - alone).abs() < 1e-9 * (1.0 + alone));
        let with = plan.step_with(&factors, &mut PathScratch::default());
        prop_assert!((events(&plan, &factors) - with).abs() < rounding, "{} {}", events(&plan, &factors), with);
    }

    /// Parts add up to the step and none is negative.
    #[test]
    fn the_parts_of_a_step_are_the_step((plan, _) in any_plan()) {
        let (step, parts) = (plan.step_s(), plan.breakdown());
        prop_assert!((parts.step_s() - step).abs() < 1e-9 * (1.0 + step));
        let all = [parts.compute_s, parts.bubble_s, parts.activations_s, parts.gradients_s, parts.update_s];
        prop_assert!(all.iter().all(|part| *part > -1e-9), "{parts:?}");
    }
}
