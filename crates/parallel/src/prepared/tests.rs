//! Theory: bubbles, bounds, and one step computed in two ways.

use proptest::prelude::*;

use super::*;
use crate::Activations::{self, Duplex, Overlapped, Serial};
use scavsim_base::tests::{close, near};
use scavsim_engine::Interrupt;

/// A plan of one replica, without gradients to reduce.
fn plan(
    schedule: Schedule,
    activations: Activations,
    micro_batches: u32,
    lane: Vec<StageCost>,
) -> PreparedPlan {
    let stages = lane.len();
    PreparedPlan {
        schedule,
        activations,
        overlap_gradients: false,
        stages: stages as u32,
        micro_batches,
        lane_of: vec![0],
        shares: vec![Vec::new()],
        virtual_stages: 1,
        lanes: vec![lane],
        reductions: vec![Reduction::default(); stages],
        memory: vec![0; stages],
        may_not_fit: false,
        checkpoint_bytes: 0,
    }
}

impl PreparedPlan {
    fn with_replicas(mut self, data: usize, lanes: Vec<Vec<StageCost>>, each: Reduction) -> Self {
        self.lane_of = (0..data).map(|r| (r % lanes.len()) as u32).collect();
        self.shares = vec![Vec::new(); lanes.len()];
        self.reductions.fill(each);
        self.lanes = lanes;
        self
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
                let plan = plan(schedule, Serial, micro_batches, lane);
                let bubble = f64::from(stages - 1) / f64::from(micro_batches);
                let ideal = f64::from(micro_batches) * 0.8;
                let step = plan.step_s();
                close(step, ideal * (1.0 + bubble), 1e-12);
                let breakdown = plan.breakdown();
                near(breakdown.bubble_s / breakdown.compute_s, bubble, 1e-9);
                close(breakdown.step_s(), step, 1e-9);
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
                let mut plan = plan(Schedule::Interleaved, Overlapped, micro_batches, lane);
                plan.virtual_stages = virtual_stages;
                let forward = 1.0 / f64::from(virtual_stages);
                let backward = forward;
                let one = VirtualShare { forward, backward };
                plan.shares = vec![vec![one; (stages * virtual_stages) as usize]];
                let ideal = f64::from(micro_batches) * 0.8;
                let bubble = f64::from(stages - 1) / f64::from(micro_batches * virtual_stages);
                let step = plan.step_s();
                close(step, ideal * (1.0 + bubble), 1e-9);
                close(events(&plan, &vec![1.0; stages as usize]), step, 1e-6);
            }
        }
    }
}

/// (p − 1)(F + B − W), Qi et al., ICLR 2024, table 2; but if passes for weights are the longest, those of the slower of the others.
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
                let mut each = cost(forward, inputs + weights);
                each.weights = weights;
                let lane = vec![each; stages as usize];
                let plan = plan(Schedule::ZeroBubble, Overlapped, micro_batches, lane);
                let ideal = f64::from(micro_batches) * (forward + inputs + weights);
                let longest: f64 = (forward + inputs - weights).max(forward).max(inputs);
                let bubble = f64::from(stages - 1) * longest;
                let step = plan.step_s();
                near(step - ideal, bubble, 1e-9);
                close(events(&plan, &vec![1.0; stages as usize]), step, 1e-6);
            }
        }
    }
}

#[test]
fn rounds_that_repeat_are_left_out() {
    // A million micro-batches: walking one by one would need a second.
    let mut lane = [0.31, 0.5, 0.43, 0.2].map(|f| cost(f, 2.0 * f));
    lane.iter_mut().for_each(|stage| stage.message = 0.01);
    for (schedule, per_micro_batch) in [
        (Schedule::OneForwardOneBackward, 1.5 + 0.04),
        (Schedule::GPipe, 0.5 + 0.02 + 1.0 + 0.02),
    ] {
        let [one, less] = [1_000_000, 999_999].map(|n| plan(schedule, Serial, n, lane.to_vec()));
        let begun = std::time::Instant::now();
        let (one, less) = (one.step_s(), less.step_s());
        assert!(begun.elapsed().as_millis() < 100);
        near(one - less, per_micro_batch, 1e-6);
    }
}

#[test]
fn messages_cost_a_waiting_stage_each_and_a_computing_one_nothing() {
    // Two stages: for each micro-batch each exchanges one message in both directions.
    let mut stage = cost(1.0, 1.0);
    stage.message = 0.1;
    let [serial, duplex, overlapped] = [Serial, Duplex, Overlapped].map(|activations| {
        let lane = vec![stage; 2];
        plan(Schedule::OneForwardOneBackward, activations, 100, lane).step_s() / 100.0
    });
    near(serial, 2.2, 0.05);
    near(duplex, 2.1, 0.05);
    assert!(overlapped < duplex && overlapped >= 2.0, "{overlapped}");
}

#[test]
fn messages_hide_where_launching_takes_longer_than_computing() {
    // 50 micro-batches and a bubble of one; then 0.2 of messages per micro-batch.
    for (busy, expected) in [(0.5, 102.0), (1.0, 112.0)] {
        let stage = StageCost {
            busy_forward: busy,
            busy_backward: busy,
            message: 0.1,
            ..cost(1.0, 1.0)
        };
        let plan = plan(Schedule::OneForwardOneBackward, Serial, 50, vec![stage; 2]);
        near(plan.step_s(), expected, 1.5);
    }
}

#[test]
fn overlapped_gradients_are_between_all_hidden_but_one_bucket_and_none() {
    for buckets in [1, 2, 5, 20] {
        for bucket_s in [0.001, 0.1, 0.5] {
            let reduction = Reduction { buckets, bucket_s };
            let lane = vec![cost(1.0, 2.0); 3];
            let mut plan = plan(Schedule::OneForwardOneBackward, Serial, 8, lane.clone())
                .with_replicas(4, vec![lane], reduction);
            let none = plan.step_s();
            plan.reductions.fill(Reduction::default());
            let all = plan.step_s();
            plan.reductions.fill(reduction);
            plan.overlap_gradients = true;
            let some = plan.step_s();
            near(none - all, reduction.seconds(), 1e-9);
            assert!(some >= all + bucket_s - 1e-9 && some <= none + 1e-9);
            assert!(buckets == 1 || some < none);
            near(events(&plan, &[1.0; 12]), some, 1e-6);
        }
    }
}

#[test]
fn the_timeline_has_every_pass_once_and_no_gpu_does_two_things_at_once() {
    let lane = |forward, update| {
        let stage = StageCost {
            message: 0.05,
            update,
            ..cost(forward, forward + 1.0)
        };
        vec![stage; 3]
    };
    let (buckets, bucket_s) = (2, 0.25);
    let plan = plan(Schedule::OneForwardOneBackward, Serial, 5, lane(1.0, 0.1)).with_replicas(
        2,
        vec![lane(1.0, 0.1), lane(1.5, 0.2)],
        Reduction { buckets, bucket_s },
    );
    let timeline = plan.timeline();
    let count = |work| timeline.iter().filter(|s| s.work == work).count();
    let all = [Work::Forward, Work::Backward, Work::Reduce, Work::Update].map(count);
    assert_eq!(all, [30, 30, 6, 6]);
    assert_eq!(count(Work::Send), count(Work::Receive));
    let last = timeline.iter().map(|s| s.end_s).fold(0.0, f64::max);
    near(last, plan.step_s(), 1e-6);
    for replica in 0..2 {
        for stage in 0..3 {
            let own = timeline.iter();
            let own = own.filter(|s| (s.replica, s.stage) == (replica, stage));
            let mut own: Vec<&Span> = own.collect();
            own.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
            assert!(own.windows(2).all(|w| w[0].end_s <= w[1].start_s + 1e-9));
        }
    }
}

#[test]
fn an_interrupt_ends_a_step() {
    let interrupt = Interrupt::default();
    let plan = plan(Schedule::GPipe, Serial, 8, vec![cost(1.0, 1.0); 2]);
    let mut room = Room::heeding(interrupt.clone());
    let whole = plan.step_events(&mut |_| 1.0, &mut room, |_| ());
    near(whole, 18.0, 1e-6);
    interrupt.raise();
    assert!(plan.step_events(&mut |_| 1.0, &mut room, |_| ()) < whole);
}

fn any_cost() -> impl Strategy<Value = StageCost> {
    // Zeros, equal ones and launch-bound ones are all likely.
    let seconds = prop_oneof![Just(0.0), Just(0.25), 0.0..1.0_f64];
    let share = prop_oneof![Just(1.0), 0.1..1.0_f64];
    let message = prop_oneof![Just(0.0), 0.0..0.3_f64];
    let passes = (seconds.clone(), seconds, share.clone(), share);
    (passes, message, 0.0..0.1_f64).prop_map(|((forward, backward, a, b), message, update)| {
        StageCost {
            weights: 0.4 * b * backward,
            forward,
            backward,
            busy_forward: forward * a,
            busy_backward: backward * b,
            message,
            update,
            communication: None,
        }
    })
}

fn any_plan() -> impl Strategy<Value = (PreparedPlan, Vec<f64>)> {
    let shape = (1_usize..6, 1_usize..4, 1_usize..4);
    let of_schedule = (0..Schedule::ALL.len(), 0_usize..3, 1_u32..60, 1_u32..4);
    let of_gradients = (any::<bool>(), 1_u32..5, 0.0..0.2_f64);
    let options = (of_schedule, of_gradients);
    (shape, options).prop_flat_map(|((stages, data, kinds), options)| {
        let kinds = kinds.min(data);
        let lanes = prop::collection::vec(prop::collection::vec(any_cost(), stages), kinds);
        let factors = prop::collection::vec(prop_oneof![Just(1.0), 0.5..2.0_f64], stages * data);
        (lanes, factors).prop_map(move |(lanes, factors)| {
            let ((schedule, activations, mut micro_batches, virtual_stages), gradients) = options;
            let (overlap, buckets, bucket_s) = gradients;
            let schedule = Schedule::ALL[schedule];
            let at_least = if schedule.needs_overlap() { 2 } else { 0 };
            let activations = [Serial, Duplex, Overlapped][activations.max(at_least)];
            if schedule.has_virtual_stages() {
                micro_batches = micro_batches.next_multiple_of(stages as u32);
            }
            let lane = vec![StageCost::default(); stages];
            let each = Reduction { buckets, bucket_s };
            let mut plan =
                plan(schedule, activations, micro_batches, lane).with_replicas(data, lanes, each);
            plan.overlap_gradients = overlap;
            if schedule.has_virtual_stages() {
                plan.virtual_stages = virtual_stages;
                // A later virtual stage is slower, forward less so than backward.
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
