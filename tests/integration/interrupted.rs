//! Losses during a pause: a settle, a restart, a checkpoint in writing.

use std::sync::mpsc;
use std::time::Duration;

use scavsim::experiment::Plan;
use scavsim::scenario::Scenario;
use scavsim::testbed::{JobTrial, SimulatedCluster};
use scavsim::training::log::{Entry, Fate, LogEvent};
use scavsim::training::{Fidelity, UnfinishedJob};
use scavsim::units::SimTime;
use scavsim::usage::{Phase, Usage};

use crate::live::{dying_at, run, tiny, vm_seconds};

/// Seconds of a run whose newest VM is lost after `lost_s`, and its VM-seconds in pauses.
fn losing_one(scenario: &Scenario, lost_s: Option<f64>) -> (f64, f64) {
    let plan = Plan::new(scenario).expect("a checked scenario");
    let world = plan.arena(0).expect("an arena").world().expect("simulated");
    let mut terms = plan.terms.clone();
    terms.fidelity = Fidelity::Event;
    let mut cluster = SimulatedCluster::new(world, &terms);
    cluster.restart(0);
    let after = lost_s.map_or(SimTime::from_seconds(f64::INFINITY), SimTime::from_seconds);
    cluster.lose_one(0, after).expect("VMs are there at once");
    let line = cluster.run_to_target(0).expect("it ends");
    let mut usage = Usage::default();
    cluster.usage_until(line.net_end, &mut usage);
    assert_eq!(line.lost_vms, u32::from(lost_s.is_some()));
    (line.net_end.seconds(), vm_seconds(&usage, Phase::Restoring))
}

/// Batches of mixed workers are set again from the beginning when a VM is lost half-way.
#[test]
fn a_settle_that_a_loss_interrupts_begins_again() {
    let scenario = tiny(
        "cluster.workers = [4]\n\
         kind.k = { mix = { slow-per-sample = 2, quick-per-sample = 2 }, market = \"spot\", batching = { dynamic = {} } }\n\
         spot = { exponential_mean_h = 1e9, replacement_s = 7 }\n",
    );
    let (whole_s, settling) = losing_one(&scenario, None);
    let settle_s = settling / 4.0;
    assert!(settle_s > 10.0, "{settle_s}");
    // Half a settle, 7 s without the VM, all of the settle, and the restart of 10 s.
    let (hit_s, _) = losing_one(&scenario, Some(0.5 * settle_s));
    let expected_s = whole_s + 0.5 * settle_s + 7.0 + 10.0;
    assert!((hit_s - expected_s).abs() < 1e-6, "{hit_s} {expected_s}");
}

/// Without a barrier the loss of a worker stops no other; but here it comes in the restart after that of the server. The
/// fifth worker came when the price fell at 45 s, ran at 145 s and so is lost at 1,045 s; all others are lost at 900 s and
/// run again at 1,000 s.
#[test]
fn a_restart_that_a_loss_interrupts_begins_again() {
    let scenario = dying_at(
        0.25,
        "sync.asp = { service_s = 0 }\ncluster.workers = [4]\n\
         spot = { exponential_mean_h = 1, keeps = \"steps\", on_loss = \"go-on\", replacement_s = 100, warm_restart_s = 100 }\n\
         elastic = { prices = [[0, 1], [0.0125, 0.4]], grow_at = 0.5, shrink_above = 1.5, most_vms = 5, fewest_vms = 4 }\n\
         kind.k = { vm = \"slow\", market = \"spot\", servers = { vm = \"slow\", market = \"spot\" } }\n",
    );
    for fidelity in [Fidelity::Fast, Fidelity::Event] {
        let seen = run(&scenario, fidelity, 0);
        let restore = |entry: &&Entry| matches!(entry.what, LogEvent::Restore(_));
        let restores: Vec<(LogEvent, f64, f64)> = (seen.entries.iter().filter(restore))
            .map(|entry| (entry.what, entry.at.seconds(), entry.until.seconds()))
            .take(2)
            .collect();
        let expected = [
            (LogEvent::Restore(Fate::GivenUp), 1000.0, 1045.0),
            (LogEvent::Restore(Fate::Done), 1045.0, 1145.0),
        ];
        assert_eq!(restores, expected, "{fidelity:?}");
    }
}

/// A checkpoint after 300 s that needs 60 s, and a VM that is lost as it is complete, or a moment before.
#[test]
fn a_checkpoint_that_is_complete_when_a_vm_is_lost_counts() {
    let scenario = tiny(
        "cluster.workers = [4]\ncluster.vm = [\"slow\"]\n\
         spot = { exponential_mean_h = 1e9, replacement_s = 30, checkpoint = { periodic-s = 300 }, checkpoint_write_s = 60 }\n",
    );
    let (whole_s, _) = losing_one(&scenario, None);
    assert!((whole_s - (1800.0 + 5.0 * 60.0)).abs() < 1e-6, "{whole_s}");
    let (hit_s, _) = losing_one(&scenario, Some(360.0));
    assert!((hit_s - (whole_s + 30.0 + 10.0)).abs() < 1e-6, "{hit_s}");
    let (hit_s, _) = losing_one(&scenario, Some(359.0));
    assert!(
        (hit_s - (whole_s + 359.0 + 30.0 + 10.0)).abs() < 1e-6,
        "{hit_s}"
    );
}

/// A checkpoint of 60 s does not begin 30 s before its loss: the others train on.
#[test]
fn a_checkpoint_that_cannot_be_complete_in_time_is_not_begun() {
    let with = |write_s: f64| {
        let scenario = tiny(&format!(
            "cluster.workers = [4]\ncluster.vm = [\"slow\"]\n\
             spot = {{ exponential_mean_h = 1e9, keeps = \"steps\", replacement_s = 30, checkpoint_write_s = {write_s}, \
             checkpoint_on_notice = true, notice_s = 30 }}\n"
        ));
        losing_one(&scenario, Some(500.0))
    };
    let (seconds, pauses) = with(60.0);
    assert!((seconds - (1800.0 + 30.0 + 10.0)).abs() < 1e-6, "{seconds}");
    assert!((pauses - 4.0 * 10.0).abs() < 1e-6, "{pauses}");
    let (seconds, _) = with(20.0);
    assert!(
        (seconds - (1800.0 + 20.0 + 30.0 + 10.0)).abs() < 1e-6,
        "{seconds}"
    );
}

/// Checkpoints without progress do not help: VMs live for 36 s and a restart needs 60 s.
#[test]
fn a_job_that_saves_without_progress_is_given_up() {
    let scenario = dying_at(
        0.01,
        "cluster.workers = [2]\ncluster.vm = [\"slow\"]\n\
         spot = { exponential_mean_h = 1, keeps = \"steps\", replacement_s = 10, warm_restart_s = 60 }\n",
    );
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        // The receiver is gone after the time limit.
        let _ = tell.send(run(&scenario, Fidelity::Fast, 0).line);
    });
    let line = told.recv_timeout(Duration::from_secs(120)).expect("an end");
    assert!(
        matches!(line, Err(UnfinishedJob::TooManyLosses { .. })),
        "{line:?}"
    );
}
