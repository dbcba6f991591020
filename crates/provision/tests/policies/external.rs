//! Policies that are programs in Python; without Python nothing is tested, and a sentence says so.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{form, hours, job, long_job_in_three_zones, policy, seconds, zone};
use scavsim_provision::job::Job;
use scavsim_provision::policy::registry::Settings;
use scavsim_provision::policy_run::live;
use scavsim_provision::policy_run::outcome::Outcome;
use scavsim_provision::world::{Window, World};

fn without_python() -> bool {
    let missing = Command::new("python3").arg("--version").output().is_err();
    if missing {
        eprintln!("python3 is not installed: policies that are programs were not tested");
    }
    missing
}

fn lived(program: &str, settings: &str, window: Window<'_>, job: &Job) -> Outcome {
    let text = format!("[mine]\ncommand = ['python3', '-c', '''{program}''']\n{settings}");
    let own: Settings = toml::from_str(&text).unwrap();
    live(window, job, &mut *own.recipe("mine").unwrap().seeded(7))
}

/// Takes the cheapest zone, probes one zone per tick, and writes down what it is told.
const WRITES: &str = r#"
import json, sys
written = []
for line in sys.stdin:
    told = json.loads(line)
    desk = told.get("desk", {})
    written.append(line)
    say = {"number": told["number"]}
    zones = sorted(desk.get("spot_usd_per_h", {}))
    if "over" in told:
        open(life["settings"]["file"], "w").write("".join(written))
        say["ready"] = True
    elif "life" in told or not desk.get("probed") and not desk.get("refused"):
        life = told.get("life") or life
        say["probe"] = zones[desk["tick"] % len(zones)]
    elif desk["running"] or "refused" in desk:
        say["stay"] = True
    else:
        say["spot"] = zones
    print(json.dumps(say), flush=True)
"#;

fn written(world: &World, job: &Job) -> Vec<String> {
    let file = std::env::temp_dir().join(format!(
        "scavsim-lines-{:?}-{}",
        std::thread::current().id(),
        std::process::id()
    ));
    let settings = format!("settings.file = '{}'", file.display());
    let window = world.window(0, job.ticks(world.tick_s)).unwrap();
    let life = lived(WRITES, &settings, window, job);
    assert_eq!(life.failed, None);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn zones_and_job() -> (World, Job) {
    let (world, long) = long_job_in_three_zones();
    let job = Job {
        work_s: 40_000.0,
        deadline_s: 70_000.0,
        ..long
    };
    (world, job)
}

#[test]
fn another_future_changes_no_line_before_it() {
    if without_python() {
        return;
    }
    let (world, job) = zones_and_job();
    let known = written(&world, &job);
    let before = |lines: &[String], until: usize| -> Vec<String> {
        let later = format!("\"tick\":{until},");
        let lines = lines.iter().take_while(|line| !line.contains(&later));
        lines.cloned().collect()
    };
    for until in [5, 50, 100] {
        let mut other = world.clone();
        for zone in &mut other.zones {
            for tick in until..359 {
                zone.offered[tick] = 1 - zone.offered[tick];
                zone.spot_usd_per_h[tick] *= 1.7;
            }
        }
        let other = written(&other, &job);
        let first = before(&known, until);
        assert!(first.len() >= until, "{} lines", first.len());
        assert_eq!(first, before(&other, until), "{until}");
        assert_ne!(
            known[first.len()],
            other[first.len()],
            "it is seen when it comes"
        );
    }
}

/// The policy `greedy`; asked again only after events, if `until` says so.
fn greedy(until: &str) -> String {
    let program = r#"
import json, sys
region = {}
for line in sys.stdin:
    told = json.loads(line)
    say = {"number": told["number"]}
    if "life" in told:
        region = {zone["name"]: zone["region"] for zone in told["life"]["zones"]}
    if "over" in told:
        say["ready"] = True
    elif told["desk"]["running"] or "refused" in told["desk"]:
        say["stay"] = True
    else:
        price, last = told["desk"]["spot_usd_per_h"], region.get(told["desk"]["checkpoint"])
        say["spot"] = sorted(price, key=lambda zone: (region[zone] == last, price[zone]))
        UNTIL
    print(json.dumps(say), flush=True)
"#;
    program.replace("UNTIL", until)
}

#[test]
fn the_built_in_policy_as_a_program_is_the_same_to_the_last_bit() {
    if without_python() {
        return;
    }
    let (world, job) = zones_and_job();
    for start in [0, 4_000, 9_000] {
        let window = world.window(start, 359).unwrap();
        let known = live(window, &job, &mut *policy("greedy", window));
        // What a greedy policy does with machines that it has is nothing, until it has lost them.
        for until in ["", "say['until'] = 'event'", "say['until'] = 100000"] {
            assert_eq!(lived(&greedy(until), "", window, &job), known, "{until}");
        }
    }
}

/// Waits, and says when it wants to be asked again; fails where it is asked more often.
const SLEEPS: &str = r#"
import json, sys
next, times = 0, 0
for line in sys.stdin:
    told = json.loads(line)
    say = {"number": told["number"], "stay": True, "until": 7}
    if "over" in told:
        say = {"number": told["number"], "ready": True} if times else {}
    elif told["desk"]["events"]:
        say["until"] = 3
        next = told["desk"]["tick"] + 3
        times += 1
    elif told["desk"]["tick"] != next:
        say = {"number": told["number"], "fail": f"asked in {told['desk']['tick']}, not in {next}"}
    else:
        next += 7
    print(json.dumps(say), flush=True)
"#;

#[test]
fn who_says_when_is_asked_then() {
    if without_python() {
        return;
    }
    let (world, job) = zones_and_job();
    let window = world.window(0, 359).unwrap();
    // With a number of ticks, and until something happens only.
    let never = SLEEPS
        .replace("\"until\": 7", "\"until\": \"event\"")
        .replace("+= 7", "= None");
    for program in [SLEEPS, &never] {
        let life = lived(program, "", window, &job);
        assert_eq!(life.failed, None);
        assert!(life.caught && life.kept());
    }
}

#[test]
fn a_program_draws_from_the_seed_of_its_life() {
    if without_python() {
        return;
    }
    let says = r#"
import json, sys
told = json.loads(input())
print(json.dumps({"fail": f"{told['life']['seed']} {told['life']['settings']}"}), flush=True)
"#;
    let (world, job) = zones_and_job();
    let window = world.window(0, 359).unwrap();
    let life = lived(says, "settings = { a = 1, b = ['c'] }", window, &job);
    assert_eq!(life.failed.as_deref(), Some("7 {'a': 1, 'b': ['c']}"));
}

/// The flag ends the wait for a program long before its own time is over.
#[test]
fn a_flag_ends_the_wait_for_a_program() {
    if without_python() {
        return;
    }
    let text = "[mine]\ncommand = ['python3', '-c', 'import time; time.sleep(100)']\n";
    let own: Settings = toml::from_str(text).unwrap();
    let recipe = own.recipe("mine").unwrap();
    let flag = Arc::new(AtomicBool::new(false));
    let recipe = recipe.stopped_by(Some(Arc::clone(&flag))).unwrap();
    let (world, job) = zones_and_job();
    let window = world.window(0, 359).unwrap();
    let begun = Instant::now();
    let raises = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        flag.store(true, Ordering::Relaxed);
    });
    // The second one is not even started.
    for _ in 0..2 {
        let life = live(window, &job, &mut *recipe.policy());
        assert_eq!(life.failed.as_deref(), Some("interrupted"));
    }
    raises.join().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(20));
}

/// The largest form on the spot market, whenever it has machines for another than the present one.
const LARGEST: &str = r#"
import json, sys
for line in sys.stdin:
    told = json.loads(line)
    say, desk = {"number": told["number"]}, told.get("desk", {})
    if "life" in told:
        forms = sorted(told["life"]["forms"], key=told["life"]["forms"].get, reverse=True)
        assert told["life"]["zones"][0]["on_demand_usd_per_h_as"] == {"one": 3.0, "four": 12.0}
    if "over" in told:
        say["ready"] = True
    else:
        assert desk["speed"] == {"one": 1.0, "four": 3.0}, desk
        assert desk["spot_usd_per_h_as"] == {"one": {"a": 1.0}, "four": {"a": 4.0}}, desk
        assert (desk["form"] is None) == (desk["running"] is None), desk
        tried = tried + 1 if "refused" in desk else 0
        say.update({"spot": "a", "as": forms[tried]} if tried < len(forms) else {"stay": True})
    print(json.dumps(say), flush=True)
"#;

/// The Rust policy of `it_grows_and_shrinks_with_its_market` in the tests of forms does the same.
#[test]
fn a_program_chooses_among_the_forms_of_a_job() {
    if without_python() {
        return;
    }
    let offered = [vec![1; 2], vec![4; 2], vec![1; 8]].concat();
    let world = hours(vec![zone("a", offered, 1.0, 3.0)], 0.0);
    let job = Job {
        forms: vec![form("one", 1, 1.0), form("four", 4, 3.0)],
        ..job(9.0, 12.0, 0.5)
    };
    let life = lived(LARGEST, "", world.window(0, 12).unwrap(), &job);
    assert_eq!(life.failed, None);
    assert_eq!(life.finished, Some(seconds(3600.0 * 7.5)));
    assert_eq!(life.cost_usd(), 2.0 + 2.0 * 4.0 + 3.5);
    assert_eq!((life.launches, life.losses, life.moves), (3, 1, 0));
}
