//! Consistency of random clusters with random lifetimes.

use proptest::prelude::*;
use scavsim::scenario::ClusterScenario as _;
use scavsim::training::log::{Fate, LogEvent, Track};
use scavsim::training::{Fidelity, UnfinishedJob};
use scavsim::units::SimTime;
use scavsim::usage::EndedBy;

use crate::live::{run, tiny};

#[derive(Debug, Clone)]
struct Life {
    text: String,
    event: bool,
    replica: u64,
}

prop_compose! {
    fn life()(
        sync in prop::sample::select(vec![
            "", "sync.backup = { spare = 1 }", "sync.ssp = { slack = 1 }", "sync.asp = { service_s = 0.01 }",
            "sync.flexible = { after_s = 2.0 }", "sync.speculative = { quantile = 0.9 }", "sync.asp = { service_s = 0 }",
        ]),
        kind in prop::sample::select(vec![
            "vm = \"slow\", market = \"spot\"",
            "vm = \"slow\", market = \"spot\", chief_market = \"on-demand\"",
            "mix = { slow = 3, quick = 3 }, market = \"spot\", servers = { vm = \"slow\", market = \"spot\" }",
            "vm = \"quick\", market = \"spot\", servers = { vm = \"slow\", vms = 2 }",
        ]),
        mean_h in prop::sample::select(vec![0.3, 1.0, 5.0]),
        market in prop::bool::weighted(0.25),
        on_loss in prop::sample::select(vec!["wait", "go-on", "shrink"]),
        keeps in prop::sample::select(vec!["steps", "checkpoint"]),
        chief in prop::sample::select(vec!["hands-over", "goes-back", "ends-the-run"]),
        checkpoint in prop::sample::select(vec!["{ periodic-s = 120 }", "\"young-daly\"", "\"none\""]),
        times in (0u32..3, 0u32..3, 0u32..3, 0u32..3),
        notice in any::<bool>(),
        cv in prop::sample::select(vec![0.0, 0.3]),
        event in any::<bool>(),
        replica in 0u64..1000,
    ) -> Life {
        let (replacement, join, write, fewest) = times;
        let lives = if market {"lifetime = \"aws-2020-p3-trace\"".to_owned()} else {format!("exponential_mean_h = {mean_h}")};
        let text = format!(
            "{sync}\ncluster.workers = [6]\nvariation.step_cv = {cv}\nkind.k = {{ {kind} }}\n\
             [spot]\n{lives}\non_loss = \"{on_loss}\"\nkeeps = \"{keeps}\"\nchief = \"{chief}\"\n\
             checkpoint = {checkpoint}\nreplacement_s = {}\ncold_join_s = {}\ncheckpoint_write_s = {}\n\
             fewest_workers = {}\ncheckpoint_on_notice = {notice}\nnotice_s = 30\n",
            replacement * 45, join * 20, write * 8, 1 + fewest,
        );
        Life { text, event, replica }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn random_lives_keep_the_books(life in life()) {
        let mut scenario = tiny(&life.text);
        // Long enough for losses, short enough for a test, even if everything is lost again and again.
        scenario.workloads_mut()[0].0.constants.samples_per_epoch.value = 8_000.0;
        let fidelity = if life.event { Fidelity::Event } else { Fidelity::Fast };
        let seen = run(&scenario, fidelity, life.replica);
        if let Err(why) = &seen.line {
            let is_said = !matches!(why, UnfinishedJob::Stalled(_));
            prop_assert!(is_said, "{why}");
        }
        let end = seen.line.as_ref().map_or_else(|why| why.ended_at(), |line| line.net_end);
        // Every VM-second is billed once, and serves one phase.
        let mut billed = 0.0;
        let mut revoked = 0;
        for i in &seen.usage.intervals {
            prop_assert!(i.from <= i.to && i.to <= end);
            billed += f64::from(i.vms) * (i.to - i.from).seconds();
            revoked += u32::from(i.ended_by == EndedBy::Provider) * i.vms;
        }
        let spans = seen.entries.iter().filter(|e| {
            matches!(e.what, LogEvent::Starting(_) | LogEvent::Running(_))
        });
        let held: f64 = spans.map(|e| (e.until - e.at).seconds()).sum();
        prop_assert!((billed - held).abs() < 1e-6 * (1.0 + billed), "{billed} billed, {held} held");
        let phases: f64 = seen.usage.phases.vm_seconds.iter().flat_map(|row| row.1).sum();
        prop_assert!((phases - billed).abs() < 1e-6 * (1.0 + billed), "{phases} of {billed}");
        if let Ok(line) = &seen.line {
            prop_assert_eq!(line.lost_vms, revoked);
        }
        // The clock never runs back; progress goes back to the saved state, and no further.
        let (mut last, mut steps, mut saved) = (SimTime::ZERO, 0, 0);
        for entry in &seen.entries {
            prop_assert!(entry.at >= last && entry.until >= entry.at && entry.until <= end);
            last = entry.at;
            match entry.what {
                LogEvent::Steps(now) if now < steps => {
                    prop_assert_eq!(now, saved, "back from {} at {:?}", steps, entry.at);
                    steps = now;
                }
                LogEvent::Steps(now) => steps = now,
                LogEvent::Write(Fate::Done) => saved = steps,
                _ => {}
            }
            prop_assert!(entry.track != Track::Job || entry.until <= end);
        }
    }
}
