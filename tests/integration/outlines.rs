//! Outlines of runs with given lifetimes, compared with arithmetic.

use scavsim::cluster::random_effects::{RandomEffectLaws, RandomEffects};
use scavsim::experiment::Plan;
use scavsim::job::{Outlook, Sketch, SketchResult};
use scavsim::rng::{Stream, Streams};
use scavsim::stats::Welford;
use scavsim::units::SimTime;

use crate::live::tiny;

/// Two workers that train for an hour and whose VMs start after 90 s, the first for ever and the second for `life_s`; all
/// others also live for ever.
fn outline(rest: &str, life_s: f64) -> SketchResult {
    let scenario = tiny(&format!(
        "cluster.workers = [2]\ncluster.vm = [\"slow\"]\n\
         spot = {{ exponential_mean_h = 2, replacement_s = 100{rest} }}\n"
    ));
    let plan = Plan::new(&scenario).expect("a checked scenario");
    let world = plan.arena(0).expect("an arena").world().expect("simulated");
    let truth = &world.truths[0];
    let luck = RandomEffects::draw(
        truth,
        &RandomEffectLaws::from_variation(&world.variation),
        &Streams::new(1),
        0,
    );
    let mut lives_h = [f64::INFINITY, life_s / 3600.0].into_iter();
    let start_up = SimTime::from_seconds(90.0);
    let run = Sketch::default().run(&truth.cluster, &luck, start_up, |_| {
        lives_h.next().unwrap_or(f64::INFINITY)
    });
    run.expect("it has an outline")
}

#[track_caller]
fn is(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "{found} {expected}");
}

/// After half an hour a VM is lost, 100 s later it is replaced, and 10 s later the hour begins again.
#[test]
fn without_checkpoints_a_loss_begins_again_and_surprises_by_the_age_of_the_oldest() {
    is(outline("", f64::INFINITY).seconds, 90.0 + 3600.0);
    let lost = outline("", 1800.0);
    is(lost.seconds, 90.0 + 1800.0 + 110.0 + 3600.0);
    // Two VMs outlive an hour with odds of 1/e, at any age: the first attempt did not last, the second did.
    let odds = libm::exp(-1.0);
    is(lost.surprise[0], -odds + (1.0 - odds));
    is(lost.surprise[1], (1.0 - odds) * 1910.0 / 3600.0);
}

/// A checkpoint is due every 700 s, and needs 20 s: five in an hour.
#[test]
fn a_checkpoint_holds_from_when_it_is_written() {
    let with = |life_s: f64| {
        let rest = ", checkpoint = { periodic-s = 700 }, checkpoint_write_s = 20";
        outline(rest, life_s).seconds - 90.0
    };
    is(with(f64::INFINITY), 3600.0 + 5.0 * 20.0);
    is(with(690.0), 690.0 + 110.0 + 3600.0 + 5.0 * 20.0);
    is(with(710.0), 710.0 + 110.0 + 3600.0 + 5.0 * 20.0);
    is(with(730.0), 730.0 + 110.0 + 2900.0 + 4.0 * 20.0);
}

/// Memoryless lifetimes have a closed form, which is the mean of 40,000 outlines.
#[test]
fn the_mean_of_outlines_has_a_closed_form_where_lives_have_no_memory() {
    for (vms, rest) in [
        (2, "exponential_mean_h = 2, replacement_s = 100"),
        (2, "exponential_mean_h = 0.7, replacement_s = 0"),
        (
            4,
            "exponential_mean_h = 1.5, replacement_s = 1500, warm_restart_s = 400",
        ),
        (
            4,
            "exponential_mean_h = 0.9, replacement_s = 300, checkpoint = { periodic-s = 250 }, checkpoint_write_s = 20",
        ),
        (
            2,
            "exponential_mean_h = 0.8, replacement_s = 60, checkpoint = \"young-daly\", checkpoint_write_s = 9",
        ),
    ] {
        let scenario = tiny(&format!(
            "cluster.workers = [{vms}]\ncluster.vm = [\"slow\"]\nspot = {{ {rest} }}\n"
        ));
        let plan = Plan::new(&scenario).expect("a checked scenario");
        let world = plan.arena(0).expect("an arena").world().expect("simulated");
        let truth = &world.truths[0];
        let luck = RandomEffects::draw(
            truth,
            &RandomEffectLaws::from_variation(&world.variation),
            &Streams::new(1),
            0,
        );
        let (cluster, start_up) = (&truth.cluster, SimTime::from_seconds(90.0));
        let outlook =
            Outlook::new(cluster, &luck, luck.steps_to_target, start_up).expect("a closed form");
        let (mut sketch, mut stream) = (Sketch::default(), Stream::seeded(8));
        let mut seen = Welford::default();
        for _ in 0..40_000 {
            let one = sketch.run(cluster, &luck, start_up, |life| life.sample(&mut stream));
            seen.add(one.expect("it has an outline").seconds);
        }
        let off = outlook.seconds - seen.mean();
        let error = seen.standard_deviation() / 200.0;
        assert!(
            off.abs() <= 4.0 * error,
            "{rest}: {} {} ± {error}",
            outlook.seconds,
            seen.mean()
        );
    }
}
