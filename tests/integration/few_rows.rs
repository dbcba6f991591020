//! Conclusions from a handful of measurements, in the program: right, or wide, or questioned.

use serde_json::Value;

use scavsim::workload::{Workload, library, load};

use crate::sandbox::{Sandbox, stderr, stdout};

/// One GPU, a full VM, two and four VMs, 64 samples on each GPU.
const LADDER: &str = "vm,workers,batch,step_s,epochs
g4dn.12xlarge,1,64,0.356,20.64
g4dn.12xlarge/4,4,256,0.456,22.56
g4dn.12xlarge/4,8,512,0.4974,25.12
g4dn.12xlarge/4,16,1024,0.556,30.24
";

/// Steps of a few milliseconds: one worker, and two VMs with two each.
const TWIN: &str = "vm,workers,batch,step_s,epochs
g4dn.12xlarge,1,1024,0.00866,10
g4dn.12xlarge,1,2048,0.00905,10
g4dn.12xlarge,1,4096,0.00995,10
g4dn.12xlarge/2,4,1024,0.02853,10
g4dn.12xlarge/2,4,2048,0.04042,10
g4dn.12xlarge/2,4,4096,0.02587,10
";

/// Additionally two VMs with four workers each.
const ANOTHER_SHAPE: &str = "g4dn.12xlarge/4,8,1024,0.03067,10
g4dn.12xlarge/4,8,2048,0.03805,10
g4dn.12xlarge/4,8,4096,0.03702,10
";

fn advised(table: &str, more: &[&str]) -> (Value, String) {
    let sandbox = Sandbox::new();
    sandbox.write("rows.csv", table);
    let usual = [
        "advise",
        "rows.csv",
        "--samples-per-epoch",
        "50000",
        "--format",
        "json",
    ];
    let run = sandbox.run(&[&usual[..], more].concat());
    let json = serde_json::from_str(&stdout(&run)).expect("it is JSON");
    (json, stderr(&run))
}

/// Hours and their interval of a choice.
fn hours(advice: &Value, vm: &str, workers: u64, batch: u64) -> [f64; 3] {
    let choices = advice["choices"].as_array().expect("a list");
    let own = choices
        .iter()
        .find(|c| c["vm"] == vm && c["workers"] == workers && c["batch"] == batch);
    let own = own.expect("a candidate");
    ["time_h", "time_p5_h", "time_p95_h"].map(|key| own[key].as_f64().expect("a number"))
}

#[test]
fn four_rows_say_what_more_vms_take() {
    let (advice, _) = advised(LADDER, &["--objective", "time"]);
    assert_eq!(advice["choices"][0]["workers"], 32);
    assert_eq!(advice["choices"][0]["provenance"], "extrapolated");
    let [mean, low, high] = hours(&advice, "g4dn.12xlarge/4", 32, 2048);
    // Sixteen need 0.31 h: more of them are faster, if not twice as fast.
    assert!((0.16..0.31).contains(&mean), "{mean}");
    assert!(low < 0.7 * mean && high > 1.3 * mean, "{low} {high}");
    // Configurations without a prediction are candidates for the next measurement.
    assert!(
        !advice["measurements"]
            .as_array()
            .expect("a list")
            .is_empty()
    );
}

/// Two full VMs need four times as long as one GPU, because of the network between them: a GPU on each of sixteen, where all
/// communication crosses VMs, does not avoid it.
#[test]
fn more_vms_are_no_way_around_a_slow_network() {
    let slow = "vm,workers,batch,step_s,epochs
g4dn.12xlarge,1,12,0.922,2
g4dn.12xlarge,1,4,0.455,2
g4dn.12xlarge/4,8,96,4.062,2
g4dn.12xlarge/4,8,32,3.977,2
";
    let (advice, _) = advised(slow, &["--only-measured", "--objective", "time"]);
    let best = &advice["choices"][0];
    assert_eq!(best["vm"], "g4dn.12xlarge/4", "{best}");
}

#[test]
fn two_rows_answer_with_wide_intervals() {
    let two =
        "vm,workers,batch,step_s\ng4dn.12xlarge/4,4,256,0.456\ng4dn.12xlarge/4,8,512,0.4974\n";
    let (advice, _) = advised(two, &["--epochs", "20"]);
    let [_, low, high] = hours(&advice, "g4dn.12xlarge/4", 16, 1024);
    // The truth is 0.556 s a step, and five minutes until VMs train.
    let truth = 20.0 * 50_000.0 / 1024.0 * 0.556 / 3600.0 + 5.0 / 60.0;
    assert!(low < truth && truth < high, "{low} {truth} {high}");
    assert!(high / low > 1.3, "{low} {high}");
}

/// The truth is 0.348 h.
#[test]
fn a_measurement_of_another_shape_makes_none_sure() {
    let interval = |table: &str| {
        let (advice, _) = advised(table, &["--objective", "time"]);
        let [_, low, high] = hours(&advice, "g4dn.12xlarge/2", 8, 1024);
        (low, high)
    };
    let few = interval(TWIN);
    let more = interval(&(TWIN.to_owned() + ANOTHER_SHAPE));
    for (low, high) in [few, more] {
        assert!(high / low > 1.5, "{low} {high}");
    }
}

#[test]
fn a_batch_of_each_worker_is_asked_about_with_one_batch_too() {
    let table = "vm,workers,batch,step_s,epochs
g4dn.12xlarge/4,4,64,0.456,20
g4dn.12xlarge/4,8,64,0.4974,20
g4dn.12xlarge/4,16,64,0.556,20
";
    let sandbox = Sandbox::new();
    sandbox.write("rows.csv", table);
    let usual = ["advise", "rows.csv", "--samples-per-epoch", "50000"];
    let run = sandbox.run(&usual).code(2);
    assert!(
        stderr(&run).contains("each worker's batch?"),
        "{}",
        stderr(&run)
    );
    for whose in ["local", "global"] {
        let said = [&usual[..], &["--batch", whose]].concat();
        sandbox.run(&said).success();
    }
}

#[test]
fn steps_in_place_of_epochs_are_asked_about() {
    let table = "vm,workers,batch,step_s,epochs
g5.xlarge,1,64,0.3,7800
g5.xlarge,2,128,0.32,3950
g5.xlarge,4,256,0.36,2010
";
    let sandbox = Sandbox::new();
    sandbox.write("rows.csv", table);
    let run = sandbox.run(&["advise", "rows.csv", "--samples-per-epoch", "50000"]);
    assert!(stderr(&run.code(2)).contains("steps?"));
}

/// The truth is the median of the good repeats.
#[test]
fn a_repeat_that_went_astray_is_told_and_hardly_counts() {
    let table = "vm,workers,batch,step_s,epochs
g4dn.12xlarge/4,4,512,0.712,20
g4dn.12xlarge/4,8,512,0.300,20
g4dn.12xlarge/4,8,512,0.302,20
g4dn.12xlarge/4,8,512,0.880,20
g4dn.12xlarge/4,16,512,0.290,20
";
    let (advice, told) = advised(table, &["--batch", "global"]);
    assert!(
        told.contains("rows.csv:5:") && told.contains("2.91 times that"),
        "{told}"
    );
    let [mean, low, high] = hours(&advice, "g4dn.12xlarge/4", 8, 512);
    let truth = 20.0 * 50_000.0 / 512.0 * 0.302 / 3600.0 + 5.0 / 60.0;
    assert!((mean / truth - 1.0).abs() < 0.05, "{mean} {truth}");
    assert!(high / low < 1.3, "{low} {high}");
}

/// The first step, and the first two repeats of a configuration, include one-time work.
#[test]
fn a_warm_up_is_asked_about() {
    let asked = |table: &str| {
        let (_, told) = advised(table, &["--batch", "global"]);
        told
    };
    assert!(!asked(LADDER).contains("warm-up?"));
    let first = asked(&LADDER.replace("1,64,0.356", "1,64,1.02"));
    let title = "the first step of `g4dn.12xlarge` takes 1.02 s";
    assert!(
        first.contains("rows.csv:2:") && first.contains(title),
        "{first}"
    );
    // Another row may be arbitrarily slow.
    let later = LADDER.replace("16,1024,0.556", "16,1024,1.9");
    assert!(!asked(&later).contains("warm-up?"));
    let repeats = LADDER.to_owned()
        + "g4dn.12xlarge/2,4,256,0.9,
g4dn.12xlarge/2,4,256,0.8,
g4dn.12xlarge/2,4,256,0.46,
g4dn.12xlarge/2,4,256,0.47,
";
    let told = asked(&repeats);
    let title = "with 4 x g4dn.12xlarge/2, batch 256, the first 2 repeats take";
    assert!(
        told.contains("rows.csv:6:") && told.contains(title),
        "{told}"
    );
    assert_eq!(told.matches("warning").count(), 1, "{told}");
}

#[test]
fn a_deadline_that_nobody_surely_keeps_is_answered_by_who_likeliest_does() {
    let sandbox = Sandbox::new();
    sandbox.write("rows.csv", LADDER);
    let run = sandbox.run(&[
        "advise",
        "rows.csv",
        "--samples-per-epoch",
        "50000",
        "--max-time",
        "0.26",
        // Another GPU would meet it.
        "--only-measured",
    ]);
    let text = stdout(&run.success());
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("keeps to the limits: likely ("), "{text}");
    assert!(words.contains("32 × 2048"), "{text}");
}

fn shipped(name: &str) -> Workload {
    let folder = library::embedded(name).expect("shipped");
    load::load(&folder, &mut Default::default()).expect("sound")
}

/// Steps from a folder of Pollux, as a user's own table, in both orders.
#[test]
fn the_same_rows_have_the_same_law_whatever_their_order() {
    let own = shipped("pollux-imagenet");
    let mut rows: Vec<String> = Vec::new();
    for (at, cost) in own.steps.points() {
        rows.push(format!(
            "{},{},{},{},{}\n",
            at.vm,
            at.workers,
            at.batch,
            cost.total_s(),
            cost.communication_s
        ));
    }
    let imported = |rows: &[String]| {
        let sandbox = Sandbox::new();
        let table = format!("vm,workers,batch,step_s,communication_s\n{}", rows.concat());
        sandbox
            .import_profile(&table, &["--epochs", "20", "--batch", "global"])
            .success();
        sandbox.read("w/workload.toml")
    };
    let of = |text: &str| -> Vec<String> {
        let laws = text.lines().skip_while(|l| !l.starts_with("[laws.pooled"));
        laws.take_while(|l| !l.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let expected = of(&imported(&rows));
    rows.reverse();
    let found = of(&imported(&rows));
    assert!(expected.len() > 4, "{expected:?}");
    assert_eq!(found, expected);
}

/// Rows of one batch: other batches are candidates with assumed epochs, wider than those of the batch that was measured.
#[test]
fn epochs_of_one_batch_are_assumed_for_others() {
    let table = |rows: &str| format!("vm,workers,batch,step_s,epochs\n{rows}");
    let one = table(
        "g4dn.12xlarge/1,1,256,1.175,11\ng4dn.12xlarge/2,2,256,0.700,11\ng4dn.12xlarge/4,4,256,0.450,11\n",
    );
    let (advice, _) = advised(&one, &["--only-measured"]);
    let choices = advice["choices"].as_array().expect("a list");
    let of = |batch: u64| {
        choices
            .iter()
            .find(|c| c["batch"] == batch && c["workers"] == 4)
    };
    let (known, assumed) = (of(256).expect("measured"), of(512).expect("a candidate"));
    let number = |c: &Value, key: &str| c[key].as_f64().expect("a number");
    let width = |c| number(c, "time_p95_h") / number(c, "time_p5_h");
    assert!(width(assumed) > 1.2 * width(known), "{known} {assumed}");
    let text = {
        let sandbox = Sandbox::new();
        sandbox.write("rows.csv", &one);
        let run = sandbox.run(&[
            "advise",
            "rows.csv",
            "--samples-per-epoch",
            "50000",
            "--only-measured",
        ]);
        stdout(&run)
    };
    assert!(
        text.contains("ASSUMED: proportional to 1 + batch / 2048"),
        "{text}"
    );
    let better = "Another batch is expected to be better: 4 × 512 on 1 g4dn.12xlarge/4";
    assert!(text.replace("\n  ", " ").contains(better), "{text}");
    let sandbox = Sandbox::new();
    sandbox.import_profile(&one, &[]).success();
    let law = sandbox.read("w/workload.toml");
    assert!(law.contains("noise_scale_samples = 2048"), "{law}");
}
