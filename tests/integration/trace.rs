//! The trace of a job agrees with its result, and the files with their documentation.

use std::collections::{BTreeMap, BTreeSet};

use scavsim::engine::Queue;
use scavsim::experiment::{Evaluator, Plan, TracedCase};
use scavsim::report::trace_jsonl;
use scavsim::report::trace_names::TraceOf;
use scavsim::rng::{Purpose, Streams, WorkloadKey};
use scavsim::scenario::Scenario;
use scavsim::testbed::{JobTrial, SimulatedCluster, Terms};
use scavsim::training::drift::DriftPath;
use scavsim::training::log::{Entry, Fate, Log, LogEvent, Track};
use scavsim::training::sync::{Goal, Protocol, Scratch, Stretch};
use scavsim::training::variation::{Drift, Straggler};
use scavsim::training::{Fidelity, Floor, Stepping, Variation, slowest};
use scavsim::units::SimTime;
use scavsim::usage::RentedVm;
use scavsim::usage::{Phase, Usage};
use serde_json::Value;

use crate::replay::scenario;
use crate::sandbox::{Rows, Sandbox, repository_file, stderr, stdout};

const WORKERS: u32 = 9;
const START_S: f64 = 12.5;

const PROTOCOLS: [&str; 9] = [
    "sync = 'bsp'",
    "sync.backup = { spare = 2 }",
    "sync.speculative = { quantile = 0.8, spare = 1 }",
    "sync.ssp = { slack = 0 }",
    "sync.ssp = { slack = 2 }",
    "sync.asp = { service_s = 0 }",
    "sync.asp = { servers = 2, service_s = 0.2, service = 'exponential' }",
    "sync.flexible = { after_s = 1.5 }",
    "sync.flexible = { after_s = 0.3 }",
];

fn protocol(text: &str) -> Protocol {
    let mut file: BTreeMap<String, Protocol> = toml::from_str(text).expect("a protocol");
    file.remove("sync").expect("it is there")
}

fn seconds(s: f64) -> SimTime {
    SimTime::from_seconds(s)
}

/// One stretch of nine workers from 12.5 s on, its trace, and its end.
fn stretch(
    protocol: &Protocol,
    cv: f64,
    goal: Goal,
    mut log: Log,
) -> (Stretch, Vec<Entry>, SimTime) {
    let variation = Variation {
        step_cv: cv,
        straggler: (cv > 0.0).then_some(Straggler {
            probability: 0.05,
            factor: 5.0,
        }),
        ..Variation::default()
    };
    let time = variation.worker_time();
    let stepping = Stepping {
        workers: WORKERS,
        worker_s: 1.0,
        communication_s: 0.25,
        time,
        slowest: slowest::moments(WORKERS, time),
        machines: None,
    };
    let streams = Streams::new(5);
    let drift = Drift {
        sigma: 0.5,
        period_s: 3.0,
    };
    let mut queue = Queue::new();
    queue.rest_until(seconds(START_S));
    let mut floor = Floor {
        queue: &mut queue,
        drift: &mut DriftPath::new(Some(drift), streams, 0, WorkloadKey::from_name("x")),
        stepping: &stepping,
        stream: &mut streams.stream(0, Purpose::Trial(0)),
        scratch: &mut Scratch::default(),
        log: &mut log,
    };
    let stretch = protocol.advance(&mut floor, goal).expect("no stall");
    let end = queue.now();
    (stretch, log.take_entries(end), end)
}

fn total_s<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> f64 {
    let nanoseconds: u64 = (entries.into_iter())
        .map(|entry| (entry.until - entry.at).nanoseconds())
        .sum();
    nanoseconds as f64 / 1e9
}

/// Entries by track; no span of a track begins before the last is over, and none is empty.
fn tracks(entries: &[Entry]) -> BTreeMap<Track, Vec<&Entry>> {
    let mut tracks: BTreeMap<Track, Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        assert!(entry.until >= entry.at);
        if entry.until > entry.at {
            let track = tracks.entry(entry.track).or_default();
            if let Some(last) = track.last() {
                assert!(last.until <= entry.at, "{last:?} and {entry:?}");
            }
            track.push(entry);
        }
    }
    tracks
}

fn assert_close(what: &str, seen: f64, expected: f64) {
    assert!(
        (seen - expected).abs() <= 1e-6 * expected.abs().max(1.0),
        "{what}: {seen}, expected {expected}"
    );
}

/// For goals in updates and in time, with and without variation: tracing changes nothing, the spans of every worker fill the
/// stretch without a gap, and their sums are the stretch's figures.
#[test]
fn spans_of_every_protocol_fill_the_stretch_and_add_up_to_its_figures() {
    for text in PROTOCOLS {
        let protocol = protocol(text);
        let cut = seconds(START_S + 61.7);
        for (cv, goal) in [
            (0.3, Goal::updates(120)),
            (0.0, Goal::updates(30)),
            (0.3, Goal::until(cut)),
        ] {
            let unseen = stretch(&protocol, cv, goal, Log::default());
            let (seen, entries, end) = stretch(&protocol, cv, goal, Log::on(u64::MAX));
            assert_eq!((seen, end), (unseen.0, unseen.2), "{text}");
            assert!(unseen.1.is_empty());
            let elapsed_s = (end - seconds(START_S)).seconds();
            let tracks = tracks(&entries);
            let workers: Vec<_> = (tracks.iter())
                .filter(|(track, _)| matches!(track, Track::Worker(_)))
                .collect();
            assert_eq!(workers.len(), WORKERS as usize, "{text}");
            for (track, spans) in &workers {
                assert_eq!(spans[0].at, seconds(START_S), "{text} {track:?}");
                assert_eq!(spans[spans.len() - 1].until, end, "{text} {track:?}");
                let gaps = spans.windows(2).filter(|pair| pair[0].until != pair[1].at);
                assert_eq!(gaps.count(), 0, "{text} {track:?}");
            }
            let all = || workers.iter().flat_map(|(_, spans)| spans.iter().copied());
            let count =
                |wanted: &dyn Fn(LogEvent) -> bool| all().filter(|e| wanted(e.what)).count();
            let dropped = count(&|what| what == LogEvent::Compute(Fate::Dropped)) as u64;
            let done = count(&|what| {
                let done = Fate::Done;
                what == LogEvent::Compute(done)
                    || matches!(what, LogEvent::Copy { fate, .. } if fate == done)
            }) as u64;
            let communicated_s =
                total_s(all().filter(|e| {
                    matches!(e.what, LogEvent::Communication(_) | LogEvent::Update(_))
                })) / f64::from(WORKERS);
            let until_goal = goal.until != cut;
            match protocol {
                Protocol::Bsp | Protocol::Backup(_) | Protocol::Speculative(_) => {
                    let cut_short = if until_goal { 0 } else { u64::from(WORKERS) };
                    assert!((seen.gradients..=seen.gradients + cut_short).contains(&done));
                }
                // Computed, perhaps not yet communicated.
                Protocol::Ssp(_) | Protocol::Asp(_) => {
                    let under_way = u64::from(WORKERS);
                    assert!((seen.gradients..=seen.gradients + under_way).contains(&done));
                }
                // For other protocols more than a step may be given up at the end.
                _ => assert!(done >= seen.gradients),
            }
            if let Protocol::Backup(backup) = &protocol {
                let spare = u64::from(backup.spare.get());
                let cut_short = if until_goal { 0 } else { spare };
                assert!(
                    (seen.dropped..=seen.dropped + cut_short).contains(&dropped),
                    "{text}"
                );
            }
            // Figures that the stretch counts at its begin or end are at their own time in the log.
            let tolerance_s = match protocol {
                Protocol::Bsp | Protocol::Backup(_) | Protocol::Speculative(_) if until_goal => {
                    1e-6
                }
                Protocol::Flexible(_) if until_goal => 1e-6,
                _ => 2.5,
            };
            assert!(
                (communicated_s - seen.advance.communication_s).abs() <= tolerance_s,
                "{text}: {communicated_s} {}",
                seen.advance.communication_s
            );
            let servers = match protocol {
                Protocol::Asp(asp) if asp.service_s.get() > 0.0 => asp.servers.get(),
                _ => 0,
            };
            let served = tracks.iter().filter(|t| matches!(t.0, Track::Server(_)));
            let busy_s = total_s(served.flat_map(|(_, spans)| spans.iter().copied()));
            let expected_s = seen.utilisation * f64::from(servers) * elapsed_s;
            // Service after the last update is in one and not in the other.
            assert!(
                (busy_s - expected_s).abs() <= 0.05 * elapsed_s.max(1.0),
                "{text}: {busy_s} {expected_s}"
            );
            let steps = entries.iter().filter_map(|e| match e.what {
                LogEvent::Steps(steps) => Some(steps),
                _ => None,
            });
            assert_eq!(steps.max(), Some(seen.updates), "{text}");
        }
    }
}

#[test]
fn a_worker_that_waits_and_a_copy_are_seen_where_the_protocol_has_them() {
    let has = |text: &str, wanted: &dyn Fn(LogEvent) -> bool| {
        let goal = Goal::updates(120);
        let (_, entries, end) = stretch(&protocol(text), 0.3, goal, Log::on(u64::MAX));
        // Time that the end of the stretch cuts off, such as queueing at a server, is no wait.
        let is_cut_off = |entry: &Entry| entry.what == LogEvent::Wait && entry.until == end;
        (entries.iter()).any(|entry| wanted(entry.what) && !is_cut_off(entry))
    };
    let waits = |what| what == LogEvent::Wait;
    for (text, expected) in [
        ("sync = 'bsp'", true),
        ("sync.ssp = { slack = 1 }", true),
        ("sync.ssp = { slack = 1000 }", false),
        ("sync.asp = { service_s = 0.1 }", false),
        ("sync.flexible = { after_s = 1.5 }", false),
    ] {
        assert_eq!(has(text, &waits), expected, "{text}");
    }
    let speculative = "sync.speculative = { quantile = 0.8, spare = 1 }";
    for fate in [Fate::Done, Fate::Dropped] {
        assert!(has(
            speculative,
            &|what| matches!(what, LogEvent::Copy { fate: f, .. } if f == fate)
        ));
    }
    assert!(has("sync.flexible = { after_s = 0.3 }", &|what| {
        what == LogEvent::Compute(Fate::Paused)
    }));
}

#[test]
fn worker_steps_are_noted_up_to_a_limit_and_the_rest_goes_on() {
    for text in PROTOCOLS {
        let protocol = protocol(text);
        let goal = Goal::updates(120);
        let (whole, _, end) = stretch(&protocol, 0.3, goal, Log::default());
        for most in [0, 1, 100] {
            let (seen, entries, ended) = stretch(&protocol, 0.3, goal, Log::on(most));
            assert_eq!((seen, ended), (whole, end), "{text}");
            let fine = entries.iter().filter(|entry| entry.what.is_fine()).count();
            assert_eq!(fine as u64, most, "{text}");
            let full = entries.iter().filter(|entry| entry.what == LogEvent::Full);
            assert_eq!(full.count(), usize::from(most > 0), "{text}");
            tracks(&entries);
        }
    }
}

/// ResNet18 alone, with all possible events.
fn eventful(rest: &str) -> Scenario {
    let mut scenario = scenario(&format!(
        "seed = 11\nreplicas = 2\nworkloads = [\"scavenger-resnet18\"]\ncluster.start_up_s = 90\n\
         search.strategies = [\"oracle\", \"full\", \"partial\"]\nsearch.objectives = [\"time\", \"cost\"]\n\
         variation = {{ step_cv = 0.1, noise_cv = 0.1, placement_sigma = 0.03 }}\n{rest}"
    ));
    scenario.fidelity = Fidelity::Event;
    scenario
}

const SPOT: &str =
    "[spot]\nexponential_mean_h = 8\ncheckpoint = \"young-daly\"\ncheckpoint_write_s = 30\n";

/// In fidelity `event` the trace is the record's run: equal time, losses and choice.
#[test]
fn the_trace_is_of_the_run_in_the_record() {
    let keeps = format!("{SPOT}keeps = \"steps\"\n");
    for rest in ["", SPOT, &keeps] {
        let scenario = eventful(rest);
        let plan = Plan::new(&scenario).expect("a checked scenario");
        let mut evaluator = Evaluator::new(&plan);
        let mut lost = 0;
        for number in 0..plan.cases() {
            let case = plan.case(number);
            let record = evaluator.evaluate(case);
            let TracedCase { line, entries, .. } =
                Evaluator::new(&plan).watch(case, 1000).expect("a result");
            assert_eq!(record.time_h, Some(line.net_end.hours()));
            assert_eq!(record.lost_vms, Some(f64::from(line.lost_vms)));
            let revoked = entries
                .iter()
                .filter(|e| e.what == LogEvent::Revoked)
                .count();
            assert_eq!(revoked as u32, line.lost_vms);
            lost += revoked;
            let last = entries.last().expect("there are entries");
            assert_eq!((last.what, last.at), (LogEvent::Target, line.net_end));
            assert!(entries.windows(2).all(|pair| pair[0].at <= pair[1].at));
            assert!(entries.iter().all(|entry| entry.until <= line.net_end));
            let tracks = tracks(&entries);
            assert_eq!(
                total_s(tracks[&Track::Job].iter().copied()),
                line.net_end.seconds()
            );
            // Every VM comes once and goes once.
            let of = |wanted: &dyn Fn(LogEvent) -> bool| {
                let mut vms: Vec<Track> = entries
                    .iter()
                    .filter(|e| wanted(e.what))
                    .map(|e| e.track)
                    .collect();
                vms.sort_unstable();
                vms
            };
            let come = of(&|what| matches!(what, LogEvent::Requested(_)));
            assert_eq!(
                come,
                of(&|what| matches!(what, LogEvent::Released | LogEvent::Revoked))
            );
            assert!(come.windows(2).all(|pair| pair[0] != pair[1]));
        }
        assert_eq!(lost > 0, !rest.is_empty());
    }
}

/// The job's spans match the phases of the bill, second for second.
#[test]
fn phases_are_those_of_the_usage() {
    let scenario = scenario(&format!(
        "seed = 11\nworkloads = [\"scavenger-resnet18\"]\ncluster.pairs = [[8, 384]]\n\
         search.strategies = [\"oracle\"]\nvariation.step_cv = 0.1\n{SPOT}"
    ));
    let plan = Plan::new(&scenario).expect("a checked scenario");
    let world = &plan.arena(0).expect("an arena").world().expect("simulated");
    for fidelity in [Fidelity::Event, Fidelity::Fast] {
        let mut cluster = SimulatedCluster::new(
            world,
            &Terms {
                fidelity,
                ..plan.terms.clone()
            },
        );
        let mut usage = Usage::default();
        let mut lost_s = 0.0;
        for replica in 0..20 {
            cluster.watch(0);
            cluster.restart(replica);
            let line = cluster.run_to_target(0).expect("no stall");
            cluster.usage_until(line.net_end, &mut usage);
            let entries = cluster.noted_until(line.net_end);
            let spent =
                |wanted: &[LogEvent]| total_s(entries.iter().filter(|e| wanted.contains(&e.what)));
            // While VMs wait for replacements, fewer are rented.
            for (phase, spans) in [
                (Phase::Training, &[LogEvent::Phase(Phase::Training)][..]),
                (Phase::Lost, &[LogEvent::Phase(Phase::Lost)]),
                (
                    Phase::Restoring,
                    &[LogEvent::Phase(Phase::Restoring), LogEvent::Checkpoint],
                ),
            ] {
                let used = usage.phases.vm_seconds[0].1[phase as usize] / 8.0;
                let seen = spent(spans);
                // Every relabelled stretch is rounded to a microsecond.
                assert!((seen - used).abs() < 1e-3, "{phase:?} {seen} {used}");
            }
            let wrote = spent(&[LogEvent::Write(Fate::Done), LogEvent::Write(Fate::GivenUp)]);
            assert_close("writing", wrote, spent(&[LogEvent::Checkpoint]));
            lost_s += spent(&[LogEvent::Phase(Phase::Lost)]);
        }
        assert!(lost_s > 0.0);
    }
}

fn of(vms: &[RentedVm]) -> TraceOf<'_> {
    TraceOf {
        scenario: "eventful",
        setting: "",
        case: 7,
        workload: "scavenger-resnet18",
        strategy: "partial",
        replica: 1,
        pricing: "none",
        objective: "time",
        fidelity: "event",
        vms,
    }
}

/// Every name, figure and way to end in a trace is in its document.
#[test]
fn the_document_says_what_everything_is_called() {
    let document = repository_file("docs/trace.md");
    let mut entries = Vec::new();
    for text in PROTOCOLS {
        let goal = Goal::updates(50);
        entries.append(&mut stretch(&protocol(text), 0.3, goal, Log::on(1_000)).1);
    }
    let scenario = eventful(SPOT);
    let plan = Plan::new(&scenario).expect("a checked scenario");
    for number in 0..plan.cases() {
        let watched = Evaluator::new(&plan).watch(plan.case(number), 0);
        entries.append(&mut watched.expect("a result").entries);
    }
    let mut text = Vec::new();
    trace_jsonl::write(
        &of(&[RentedVm {
            name: "a".into(),
            on_spot: None,
        }]),
        &entries,
        &mut text,
    )
    .expect("it is in memory");
    let mut names = BTreeSet::new();
    for line in String::from_utf8(text).expect("UTF-8").lines() {
        let line: Value = serde_json::from_str(line).expect("every line is JSON");
        let args = line["args"].as_object().expect("they are always there");
        names.extend(line["name"].as_str().map(str::to_owned));
        names.extend(args.keys().cloned());
        names.extend(line["args"]["ended"].as_str().map(str::to_owned));
    }
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        let named = [format!("`{name}`"), format!("`ended: {name}`")];
        assert!(named.iter().any(|form| document.contains(form)), "{name}");
    }
}

/// The file, read back, has the properties on which readers rely.
#[test]
fn the_file_is_read_back() {
    let scenario = eventful(SPOT);
    let plan = Plan::new(&scenario).expect("a checked scenario");
    let case = plan.case(plan.cases() - 1);
    let written = || {
        let watched = Evaluator::new(&plan).watch(case, 5000).expect("a result");
        let of = of(&watched.arena.world().expect("simulated").vms);
        let mut file = Vec::new();
        trace_jsonl::write(&of, &watched.entries, &mut file).expect("it is in memory");
        String::from_utf8(file).expect("UTF-8")
    };
    let jsonl = written();
    assert_eq!(jsonl, written());

    let lines: Vec<Value> = (jsonl.lines())
        .map(|line| serde_json::from_str(line).expect("every line is JSON"))
        .collect();
    assert_eq!(lines[0]["name"], "case");
    assert_eq!(lines[lines.len() - 1]["name"], "target reached");
    let mut before = 0.0;
    let mut ends: BTreeMap<String, f64> = BTreeMap::new();
    for line in &lines {
        let at = line["at_s"].as_f64().expect("a time");
        assert!(at >= before);
        before = at;
        let track = line["track"].as_str().expect("a track");
        assert_eq!(line["kind"] == "span", line.get("for_s").is_some());
        if let Some(length) = line.get("for_s") {
            let length = length.as_f64().expect("a length");
            assert!(length > 0.0);
            let end = ends.entry(track.to_owned()).or_default();
            assert!(at >= *end - 1e-9, "{line}");
            *end = at + length;
        }
        if line["kind"] == "counter" {
            let values = line["args"].as_object().expect("figures");
            assert!(!values.is_empty() && values.values().all(Value::is_u64));
        }
    }
}

const SCENARIO: &str = r#"
name = "look"
workloads = ["scavenger-resnet18"]
replicas = 2
cluster.pairs = [[8, 384]]
variation = { step_cv = 0.05 }
search = { strategies = ["oracle"], objectives = ["cost"] }
"#;

#[test]
fn the_command_writes_the_file_and_says_what_is_left_out() {
    let sandbox = Sandbox::with(SCENARIO);
    let trace = |out: &str, more: &[&str]| {
        let arguments = ["trace", "scenario.toml", "--case", "1", "--out", out];
        sandbox.run(&[&arguments, more].concat()).success()
    };
    let first = trace("a", &["--max-events", "300"]);
    let said = stderr(&first);
    assert!(
        said.contains("fidelity `fast`") && said.contains("`--max-events`"),
        "{said}"
    );
    assert!(
        stdout(&first).contains("target reached after"),
        "{}",
        stdout(&first)
    );
    let name = "look-case-1.events.jsonl";
    assert_eq!(sandbox.files("a"), [name]);
    trace("b", &["--max-events", "300"]);
    assert_eq!(
        sandbox.read(&format!("a/{name}")),
        sandbox.read(&format!("b/{name}"))
    );
    // In `event` it is the run of the record, and nothing is reported.
    sandbox.edit(
        "scenario.toml",
        "replicas = 2",
        "replicas = 2\nfidelity = \"event\"",
    );
    assert_eq!(stderr(&trace("c", &["--max-events", "10000000"])), "");
    sandbox
        .run(&["run", "scenario.toml", "--out", "out"])
        .success();
    let records = Rows::parse(&sandbox.read("out/records.csv"));
    let time_h = records
        .iter()
        .nth(1)
        .expect("two rows")
        .text("time_h")
        .to_owned();
    let lines = sandbox.read("c/look-case-1.events.jsonl");
    let last: Value = serde_json::from_str(lines.lines().last().expect("a line")).expect("JSON");
    let seen_h = last["at_s"].as_f64().expect("a time") / 3600.0;
    assert_close("time", seen_h, time_h.parse().expect("a number"));
}

#[test]
fn a_case_that_does_not_exist_and_a_folder_that_is_none_are_refused() {
    let sandbox = Sandbox::with(SCENARIO);
    sandbox.write("file", "");
    for (arguments, said) in [
        (
            ["--case", "2", "--out", "x"],
            "there is no case 2: `look` has 2 cases, numbered from 0",
        ),
        (
            ["--case", "1", "--out", "file"],
            "cannot write to file: it is not a folder",
        ),
    ] {
        let refused = sandbox.run(&[&["trace", "scenario.toml"], &arguments[..]].concat());
        let refused = refused.code(2);
        assert!(stderr(&refused).contains(said), "{}", stderr(&refused));
        assert!(sandbox.files("x").is_empty());
    }
}
