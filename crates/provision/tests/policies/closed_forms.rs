//! Lives beside closed forms: exponential runs and pauses, no changeover.

use crate::common::{hours, job, policy, zone};
use scavsim_base::rng::Streams;
use scavsim_provision::clairvoyant::optimum;
use scavsim_provision::job::Job;
use scavsim_provision::policy_run::live;
use scavsim_provision::world::World;
use scavsim_provision::world::process::Process;

const RUN_H: f64 = 1.0;
const PAUSE_H: f64 = 0.25;
const WORK_H: f64 = 40.0;
const DEADLINE_H: f64 = 50.0;
const SPOT: f64 = 1.0;
const ON_DEMAND: f64 = 3.0;
const TICK_S: f64 = 15.0;

/// Odds that stretches of mean `own_h` come to at most `most_h` until those of the other kind, with mean `other_h`, came to
/// `until_h`: a Poisson number of exponential ones, and one more where it begins with one (Takács 1957).
fn within(most_h: f64, own_h: f64, until_h: f64, other_h: f64, begins_with_own: bool) -> f64 {
    let mean = until_h / other_h;
    let (mut odds, mut sum) = ((-mean).exp(), 0.0);
    // An Erlang's distribution: 1 less the odds of fewer ends.
    let rate = most_h / own_h;
    let mut erlang = 1.0;
    let mut term = (-rate).exp();
    let first = usize::from(begins_with_own);
    for _ in 0..first {
        erlang -= term;
        term *= rate;
    }
    for n in 0..2000_usize {
        sum += odds * erlang.max(0.0);
        erlang -= term;
        term *= rate / (n + first + 1) as f64;
        odds *= mean / (n + 1) as f64;
    }
    sum
}

/// Odds that pauses come to at most `most_h` until runs came to `up_h`.
fn pauses_within(most_h: f64, up_h: f64, begins_up: bool) -> f64 {
    within(most_h, PAUSE_H, up_h, RUN_H, !begins_up)
}

/// By Simpson's rule.
fn integral(from: f64, to: f64, of: impl Fn(f64) -> f64) -> f64 {
    let steps = 400;
    let h = (to - from) / f64::from(steps);
    let weight = |at: i32| match at {
        0 => 1.0,
        at if at == steps => 1.0,
        at if at % 2 == 1 => 4.0,
        _ => 2.0,
    };
    (0..=steps)
        .map(|at| weight(at) * of(from + f64::from(at) * h))
        .sum::<f64>()
        * h
        / 3.0
}

fn begins_up() -> f64 {
    RUN_H / (RUN_H + PAUSE_H)
}

/// Mean hours that pauses take beyond the slack until the deadline.
fn beyond_slack_h() -> f64 {
    let slack = DEADLINE_H - WORK_H;
    let more = |up: bool| {
        integral(slack, DEADLINE_H, |x| {
            1.0 - pauses_within(x, DEADLINE_H - x, up)
        })
    };
    begins_up() * more(true) + (1.0 - begins_up()) * more(false)
}

/// Mean hours of spot machines until the slack is used up, then on demand.
fn until_slack_is_used_h() -> f64 {
    let slack = DEADLINE_H - WORK_H;
    let more = |up: bool| integral(0.0, WORK_H, |u| 1.0 - within(u, RUN_H, slack, PAUSE_H, up));
    begins_up() * more(true) + (1.0 - begins_up()) * more(false)
}

/// Mean hours late of a job that waits for spot machines.
fn late_h() -> f64 {
    let slack = DEADLINE_H - WORK_H;
    let more = |up: bool| integral(slack, slack + 40.0, |x| 1.0 - pauses_within(x, WORK_H, up));
    begins_up() * more(true) + (1.0 - begins_up()) * more(false)
}

fn world(replica: u64, ticks: usize) -> World {
    let process = Process::of_means(TICK_S, RUN_H, PAUSE_H, 1);
    let offered = process.draw(&Streams::new(7), "zone", replica, ticks);
    World {
        tick_s: TICK_S,
        ..hours(vec![zone("zone", offered, SPOT, ON_DEMAND)], 0.0)
    }
}

#[test]
fn greedy_and_the_clairvoyant_cost_what_the_quadrature_says() {
    let job = job(WORK_H, DEADLINE_H, 0.0);
    let ticks = (DEADLINE_H * 3600.0 / TICK_S) as usize;
    let lives = 12_000;
    let (mut greedy, mut best) = (0.0, 0.0);
    for replica in 0..lives {
        let world = world(replica, ticks);
        let window = world.window(0, ticks).unwrap();
        let life = live(window, &job, &mut *policy("greedy", window));
        assert!(life.kept());
        greedy += life.cost_usd();
        best += without_changeovers(&world);
    }
    let n = lives as f64;
    let known = ON_DEMAND * WORK_H - (ON_DEMAND - SPOT) * until_slack_is_used_h();
    assert!(
        (greedy / n / known - 1.0).abs() < 1e-3,
        "greedy {} in place of {known}",
        greedy / n
    );
    let known = SPOT * WORK_H + (ON_DEMAND - SPOT) * beyond_slack_h();
    assert!(
        (best / n / known - 1.0).abs() < 1e-3,
        "at best {} in place of {known}",
        best / n
    );
}

/// Least cost with free changeovers: pauses beyond the slack are worked on demand.
fn without_changeovers(world: &World) -> f64 {
    let down = world.zones[0].offered.iter().filter(|&&n| n == 0).count() as f64 * TICK_S / 3600.0;
    SPOT * WORK_H + (ON_DEMAND - SPOT) * (down - (DEADLINE_H - WORK_H)).max(0.0)
}

#[test]
fn who_waits_is_as_late_as_the_quadrature_says() {
    let job = Job {
        lateness_usd_per_h: Some(2.0),
        ..job(WORK_H, DEADLINE_H, 0.0)
    };
    let ticks = (2.0 * DEADLINE_H * 3600.0 / TICK_S) as usize;
    let lives = 5_000;
    let (mut sum, mut squares, mut cost) = (0.0, 0.0, 0.0);
    for replica in 0..lives {
        let world = world(replica, ticks);
        let window = world.window(0, ticks).unwrap();
        let life = live(window, &job, &mut *policy("spot-only", window));
        let late_h = life.late.hours();
        sum += late_h;
        squares += late_h * late_h;
        cost += life.cost_usd();
    }
    let n = lives as f64;
    let (ours, known) = (sum / n, late_h());
    let error = ((squares / n - ours * ours) / n).sqrt();
    assert!(
        (ours - known).abs() < 3.0 * error,
        "{ours} ± {error} in place of {known}"
    );
    let known = SPOT * WORK_H + 2.0 * known;
    assert!(
        (cost / n / known - 1.0).abs() < 1e-3,
        "{} in place of {known}",
        cost / n
    );
}

#[test]
fn the_clairvoyant_way_is_that_without_changeovers() {
    let job = job(WORK_H, DEADLINE_H, 0.0);
    let ticks = (DEADLINE_H * 3600.0 / TICK_S) as usize;
    for replica in 0..6 {
        let world = world(replica, ticks);
        let window = world.window(0, ticks).unwrap();
        let best = optimum(window, &job).unwrap().bound_usd;
        let known = without_changeovers(&world);
        assert!((known - best).abs() < 1e-6, "{best}, not {known}");
    }
}
