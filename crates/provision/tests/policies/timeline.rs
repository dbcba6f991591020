use crate::common::{hours, job, policy, zone};
use scavsim_provision::policy_run::timeline::TimelineEvent;
use scavsim_provision::policy_run::watch;

/// Entries as (hour, hours of work, USD, what).
fn timeline_rows(
    offered: &[u16],
    work_h: f64,
    deadline_h: f64,
) -> Vec<(f64, f64, f64, &'static str)> {
    let world = hours(vec![zone("z", offered.to_vec(), 1.0, 3.0)], 0.0);
    let job = job(work_h, deadline_h, 0.5);
    let window = world.window(0, offered.len()).expect("a window");
    let (outcome, timeline) = watch(window, &job, &mut *policy("greedy", window));
    let last = timeline.entries.last().expect("an entry");
    assert_eq!(last.spent_usd, outcome.cost_usd());
    assert_eq!(last.done_s, outcome.done.seconds());
    assert_eq!(last.what == TimelineEvent::Done, outcome.finished.is_some());
    let row = |e: &scavsim_provision::policy_run::timeline::Entry| {
        (
            e.at_s / 3600.0,
            e.done_s / 3600.0,
            e.spent_usd,
            e.what.name(),
        )
    };
    timeline.entries.iter().map(row).collect()
}

#[test]
fn starts_and_begins_of_work_and_the_end_are_noted_with_what_they_cost() {
    assert_eq!(
        timeline_rows(&[1, 1, 0, 1, 1, 1, 1], 3.0, 7.0),
        [
            (0.0, 0.0, 0.0, "spot"),
            (0.5, 0.0, 0.5, "works"),
            (2.0, 1.5, 2.0, "lost"),
            (3.0, 1.5, 2.0, "spot"),
            (3.5, 1.5, 2.5, "works"),
            (5.0, 3.0, 4.0, "done"),
        ]
    );
}

#[test]
fn the_net_is_noted_before_its_machines() {
    assert_eq!(
        timeline_rows(&[0, 0, 0, 0, 0], 2.0, 4.0),
        [
            (1.0, 0.0, 0.0, "safety-net"),
            (1.0, 0.0, 0.0, "on-demand"),
            (1.5, 0.0, 1.5, "works"),
            (3.5, 2.0, 7.5, "done"),
        ]
    );
}
