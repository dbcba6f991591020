//! Imports of a user's own table, and every common mistake in it.

use std::fmt::Write;

use crate::sandbox::{Rows, Sandbox, repository_file, stderr, stdout};

/// What an import printed: its report, and its warnings or mistakes.
struct Told {
    sandbox: Sandbox,
    code: i32,
    report: String,
    said: String,
}

fn import(text: &str, more: &[&str]) -> Told {
    let sandbox = Sandbox::new();
    let assert = sandbox.import_profile(text, more);
    let output = assert.get_output();
    let told = Told {
        code: output.status.code().expect("it ended by itself"),
        report: String::from_utf8_lossy(&output.stdout).into_owned(),
        said: stderr(&assert),
        sandbox,
    };
    // A mistake writes nothing, a warning writes everything.
    assert_eq!(told.code == 2, told.sandbox.files(".") == ["p.csv"]);
    assert_eq!(told.code == 2, told.report.is_empty());
    told
}

impl Told {
    #[track_caller]
    fn asked(self, expected: &[&str]) -> Self {
        assert_eq!(self.code, 2, "{}{}", self.report, self.said);
        self.says(expected)
    }

    #[track_caller]
    fn warned(self, expected: &[&str]) -> Self {
        assert_eq!(self.code, 0, "{}", self.said);
        assert!(self.said.contains("warning: "), "{}", self.said);
        assert!(!self.said.contains("error: "), "{}", self.said);
        self.says(expected)
    }

    #[track_caller]
    fn silent(self) -> Self {
        // The VM types of these tables have no price, which is reported.
        let is_about_prices = |line: &&str| line.starts_with("`scavsim run` needs a price");
        let questions: Vec<&str> = self.said.lines().filter(|l| !is_about_prices(l)).collect();
        assert_eq!((self.code, questions), (0, Vec::new()));
        self
    }

    #[track_caller]
    fn says(self, expected: &[&str]) -> Self {
        // Line breaks are not tested here.
        let said = self.said.split_whitespace().collect::<Vec<_>>().join(" ");
        for expected in expected {
            assert!(said.contains(expected), "{expected}\n{}", self.said);
        }
        self
    }

    #[track_caller]
    fn reports(self, expected: &[&str]) -> Self {
        for expected in expected {
            assert!(
                self.report.contains(expected),
                "{expected}\n{}",
                self.report
            );
        }
        self
    }
}

fn example() -> String {
    repository_file("scenarios/example-profile.csv")
}

/// The rows of a job that follows a law: workers, batch and seconds.
fn rows(vm: &str, step_s: impl Fn(f64, f64) -> f64) -> String {
    let mut text = "vm,workers,batch,step_s,epochs\n".to_owned();
    for workers in [1_u32, 2, 4, 8] {
        for batch in [128_u32, 256, 512] {
            let local = f64::from(batch) / f64::from(workers);
            let step_s = step_s(f64::from(workers), local);
            let epochs = 20.0 * (1.0 + f64::from(batch) / 1000.0);
            let _ = writeln!(text, "{vm},{workers},{batch},{step_s:.5},{epochs}");
        }
    }
    text
}

fn sound(vm: &str) -> String {
    rows(vm, |k, local| 0.02 + 0.002 * local + 0.004 * k)
}

#[test]
fn parameters_of_the_model_are_kept_and_cannot_be_none() {
    let told = import(&sound("a"), &["--parameters", "25557032"]).silent();
    let head = told.sandbox.read("w/workload.toml");
    let expected = "parameters = { value = 25557032, origin = \"stated\", source = \"given when it was imported\" }";
    assert!(head.contains(expected), "{head}");
    import(&sound("a"), &["--parameters", "0"]).asked(&[
        "--parameters is invalid",
        "a whole number between 1 and 10^15",
    ]);
}

#[test]
fn a_sound_table_raises_no_question_and_its_figures_are_told() {
    let sound = import(&sound("a"), &[]).silent();
    let sound = sound.says(&["VM type `a` is not in data/clouds/vms.csv"]);
    sound.reports(&[
        "12 configurations",
        "steps from 0.084 s (8 x a, batch 128) to 1.05 s (1 x a, batch 512)",
        "samples per second",
        "time to the target from",
        "1 to 8 VMs of a",
        "left out %",
    ]);
    let example = import(&example(), &[]).silent();
    example.reports(&[
        "steps from 0.0746 s (1 x g6e.xlarge, batch 32)",
        "24 configurations",
    ]);
}

/// Missing values are reported, or are defaults in the folder.
#[test]
fn nothing_is_assumed_in_silence() {
    let defaults = |told: &Told| -> Vec<String> {
        let head = told.sandbox.read("w/workload.toml");
        let constants = head.split("[constants]\n").nth(1).expect("there are some");
        let constants = constants.split("\n\n").next().expect("they end");
        let all = constants.lines().map(|line| {
            let (name, rest) = line.split_once(" = ").expect("a key and its value");
            assert!(rest.contains("origin = \"") && rest.contains("source = \""));
            (name.trim().to_owned(), rest)
        });
        let default = "origin = \"derived\", source = \"default of the import; no measurement\"";
        let unsaid = all.filter(|(_, rest)| rest.contains(default));
        unsaid.map(|(name, _)| name).collect()
    };
    let told = import(&sound("a"), &[]).silent().reports(&[
        "no row separates compute from communication: the whole step counts as one",
        "noise scale 1000 samples, derived: the Bn of the epochs",
    ]);
    let all = ["cold_start_steps", "probe_steps", "restore_s"];
    assert_eq!(defaults(&told), all);
    let given = import(&sound("a"), &["--restore-s", "45"]);
    assert_eq!(defaults(&given), all[..2]);
}

#[test]
fn milliseconds_are_asked_about() {
    let slow = rows("a", |k, local| 20.0 + 2.0 * local + 4.0 * k);
    import(&slow, &[]).asked(&[
        "steps take from 84 to 1048 s",
        "p.csv:11:9",
        "milliseconds?",
        "say `--unit ms` if they are, `--unit s` if not",
    ]);
    import(&slow, &["--unit", "ms"])
        .silent()
        .reports(&["steps from 0.084 s"]);
    import(&slow, &["--unit", "s"])
        .silent()
        .reports(&["steps from 84 s"]);
    let short = rows("a", |_, local| 1e-5 + 1e-7 * local);
    import(&short, &[]).asked(&["so short?", "`step_s` is in seconds"]);
}

#[test]
fn a_training_of_years_is_asked_about() {
    let sandbox = Sandbox::new();
    sandbox.write("p.csv", &sound("a"));
    let arguments = [
        "import",
        "profile",
        "p.csv",
        "--samples-per-epoch",
        "500000000000",
        "--out",
        "w",
    ];
    let told = stderr(&sandbox.run(&arguments).code(2));
    assert!(told.contains("the fastest way to the target"), "{told}");
    assert!(told.contains("look at --samples-per-epoch"), "{told}");
}

#[test]
fn seconds_beside_milliseconds_are_found() {
    let mixed: String = (sound("a").lines().enumerate())
        .map(|(i, line)| {
            let cells: Vec<&str> = line.split(',').collect();
            match i {
                // Two of twelve rows.
                5 | 9 => {
                    let step: f64 = cells[3].parse().expect("a number");
                    let (vm, k, b, e) = (cells[0], cells[1], cells[2], cells[4]);
                    format!("{vm},{k},{b},{},{e}\n", step * 1000.0)
                }
                _ => format!("{line}\n"),
            }
        })
        .collect();
    import(&mixed, &[]).asked(&[
        "the steps of `a` lie in two heaps: 10 from",
        "2 from 284 to 292 s",
        "p.csv:6:9",
        "milliseconds beside seconds?",
    ]);
}

#[test]
fn a_repeat_ten_times_off_is_not_averaged() {
    let off = sound("a") + "a,4,256,1.64,\n";
    import(&off, &[]).asked(&[
        "a step of 1.64 s, and of 0.164 s for the same configuration in line 9",
        "p.csv:14:9",
        "10 times apart",
    ]);
    // Among three the outlier is known.
    let odd = sound("a").replace("a,4,256,0.16400,", "a,4,256,1.64,")
        + "a,4,256,0.164,\na,4,256,0.165,\n";
    import(&odd, &[]).asked(&["a step of 1.64 s, and of 0.165 s", "p.csv:9:9"]);
    let epochs = sound("a") + "a,8,128,0.084,226\n";
    import(&epochs, &[]).asked(&["226 epochs with batch 128, and 22.56", "p.csv:14:15"]);
    import(&(sound("a") + "a,4,256,0.3,\n"), &[]).reports(&["repeats of a step differ by up to"]);
}

#[test]
fn a_local_batch_in_place_of_the_global_one_is_asked_about() {
    let local = rows("a", |_, _| 0.0)
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let Ok(batch) = cells[2].parse::<f64>() else {
                return format!("{line}\n");
            };
            let workers: f64 = cells[1].parse().expect("a number");
            let step = 0.02 + 0.002 * batch + 0.004 * workers;
            format!("a,{workers},{batch},{step:.5},{}\n", cells[4])
        })
        .collect::<String>();
    import(&local, &[]).asked(&[
        "with batch 128 a worker computes as long among 4 workers as among 2",
        "each worker's batch?",
        "say `--batch local`",
    ]);
    let told = import(
        &local
            .replace(",22.56", ",")
            .replace(",25.12", ",")
            .replace(",30.24", ","),
        &["--batch", "local", "--epochs", "20"],
    );
    let told = told.silent();
    assert!(told.sandbox.read("w/steps.csv").contains("a,8,4096,1.076"));
    import(&local, &["--batch", "global"]);
    // Fewer samples than workers are impossible.
    import("vm,workers,batch,step_s\na,4,2,0.5\n", &["--epochs", "2"])
        .asked(&["cannot be shared by 4 workers", "say `--batch local`"]);
    import(
        "vm,workers,batch,step_s\na,4000000,4000000,0.5\n",
        &["--epochs", "2", "--batch", "local"],
    )
    .asked(&["are too many samples"]);
}

#[test]
fn one_row_is_no_fit_and_two_rows_are() {
    import("vm,workers,batch,step_s,epochs\na,1,64,0.2,9\n", &[])
        .warned(&["one configuration was measured: there is nothing to choose from"])
        .reports(&[
            "1 configuration\n",
            "no law of steps on a: it takes two rows",
        ]);
    let two = import(
        "vm,workers,batch,step_s,epochs\na,1,64,0.2,9\na,2,128,0.3,\n",
        &[],
    );
    // Two are enough, with the prior of any job, and wide intervals.
    let two = two.silent();
    assert!(two.report.contains("R²"), "{}", two.report);
    let head = two.sandbox.read("w/workload.toml");
    assert!(head.contains("[laws.pooled.\"a\"]"), "{head}");
}

#[test]
fn workers_that_communicate_in_no_time_are_pointed_at() {
    let mut text = "vm,workers,batch,step_s,communication_s,epochs\n".to_owned();
    for (workers, batch) in [(1, 150), (3, 150), (15, 150), (15, 300), (3, 300), (1, 300)] {
        let step = 0.1 + 0.01 * f64::from(batch) / f64::from(workers);
        let _ = writeln!(text, "a,{workers},{batch},{step:.4},0,9");
    }
    import(&text, &[]).warned(&[
        "15 workers communicate in 0 s, and 3 rows more are alike",
        "p.csv:4:17",
        "leave the cell empty if it was not measured",
    ]);
}

#[test]
fn workers_are_compared_with_the_gpus_of_their_vm() {
    import(&sound("g4dn.12xlarge"), &[]).warned(&[
        "`g4dn.12xlarge` has 4 GPUs and is taken with 1 worker on each of 2 VMs",
        "p.csv:5:1",
        "write `g4dn.12xlarge/4` if 4 workers shared a VM",
    ]);
    let one =
        "vm,workers,batch,step_s,epochs\ng4dn.12xlarge,4,256,0.3,9\ng4dn.12xlarge,4,128,0.2,9\n";
    import(one, &[])
        .warned(&[
            "on each of 4 VMs",
            "4 workers then hold 1 VM and cost as much",
        ])
        .reports(&["4 VMs of g4dn.12xlarge"]);
    import(&one.replace("g4dn.12xlarge", "g4dn.12xlarge/4"), &[])
        .silent()
        .reports(&["1 VM of g4dn.12xlarge/4"]);
    // Rows of several shapes are intended.
    import(&format!("{one}g4dn.12xlarge/4,4,256,0.3,\n"), &[]).silent();
    import(&one.replace("g4dn.12xlarge", "g4dn.xlarge/4"), &[])
        .warned(&["`g4dn.xlarge` has 1 GPU and is taken with 4 workers on it"]);
    import(&one.replace("g4dn.12xlarge", "g4dn.12xlarge/0"), &[])
        .asked(&["is not a VM type with its workers per VM", "p.csv:2:1"]);
}

#[test]
fn epochs_that_are_the_same_for_every_batch_are_a_law_of_their_own() {
    let without = |line: &str| {
        line.rsplit_once(',')
            .map_or("", |(front, _)| front)
            .to_owned()
            + "\n"
    };
    let text: String = sound("a").lines().map(without).collect();
    let told = import(&text, &["--epochs", "2"])
        .silent()
        .reports(&["2 epochs with every batch, as stated", "no noise:"]);
    let head = told.sandbox.read("w/workload.toml");
    assert!(
        head.contains("[laws.epochs]\nconstant = { epochs = 2 }")
            || head.contains("constant = { epochs = 2.0 }"),
        "{head}"
    );
    assert!(!head.contains("[laws.noise]"), "{head}");
    // Measured ones without a trend are equal, too.
    let mut level = "vm,workers,batch,step_s,epochs\n".to_owned();
    for (batch, epochs) in [(64, 30.0), (128, 31.0), (256, 30.1), (512, 30.9)] {
        let _ = writeln!(
            level,
            "a,1,{batch},{},{epochs}",
            0.1 + 0.001 * f64::from(batch)
        );
    }
    import(&level, &[])
        .silent()
        .reports(&["the same for every batch"]);
}

#[test]
fn a_poor_law_is_told_and_kept() {
    let swinging = |vm: &str| {
        rows(vm, |k, local| {
            let swing = if (k as u32 + local as u32).is_multiple_of(3) {
                2.2
            } else {
                0.6
            };
            (0.02 + 0.002 * local + 0.004 * k) * swing
        })
    };
    // Few rows may be so by chance: their intervals are wide.
    let noisy = swinging("a");
    let told = import(&noisy, &["--batch", "global"])
        .warned(&["the law of steps on a is a poor one", "intervals are wide"]);
    assert!(
        told.sandbox
            .read("w/workload.toml")
            .contains("[laws.pooled")
    );
    let (_, more) = swinging("a/2")
        .split_once('\n')
        .map(|(h, r)| (h.to_owned(), r.to_owned()))
        .expect("a head");
    let more: String = (more.lines().filter(|line| !line.starts_with("a/2,1,")))
        .map(|line| format!("{line}\n"))
        .collect();
    let told = import(&(noisy + &more), &["--batch", "global"])
        .warned(&["the law of steps on a is a poor one", "intervals are wide"]);
    assert!(
        told.sandbox
            .read("w/workload.toml")
            .contains("[laws.pooled")
    );
}

#[test]
fn workers_on_one_vm_communicate_by_another_law_than_those_on_several() {
    // Four on one VM have no network: as one line they would have an error of a half.
    let compute = |local: f64| 0.02 + 0.002 * local;
    let mut table = "vm,workers,batch,step_s,epochs\n".to_owned();
    for batch in [128_u32, 256, 512] {
        for workers in [4_u32, 8, 12, 16] {
            let k = f64::from(workers);
            let between = if workers > 4 { 0.2 + 0.01 * k } else { 0.0 };
            let step_s = compute(f64::from(batch) / k) + between;
            let epochs = 20.0 * (1.0 + f64::from(batch) / 1000.0);
            let _ = writeln!(table, "a/4,{workers},{batch},{step_s:.5},{epochs}");
        }
        let _ = writeln!(table, "a,1,{batch},{:.5},", compute(f64::from(batch)));
    }
    // Communication on one VM cannot be determined from the rest.
    let told = import(&table, &[]).warned(&["left out"]);
    let line = told.report.lines().find(|l| l.starts_with("a "));
    let line = line.expect("it has a law");
    // Mean error of the fit, in %, before R² and the hold-out error.
    let error: f64 = (line.split_whitespace().rev().nth(2))
        .and_then(|w| w.parse().ok())
        .expect("a number");
    assert!(error < 5.0, "{line}");
}

/// One VM whose four workers were measured at three batches: the law is certain about that VM, and uncertain about two.
#[test]
fn one_vm_says_little_of_several() {
    let step_s = |batch: u32| 0.02 + 0.002 * f64::from(batch) / 4.0;
    let mut table = "vm,workers,batch,step_s\n".to_owned();
    for batch in [128_u32, 256, 512] {
        let _ = writeln!(table, "a/4,4,{batch},{}", step_s(batch));
    }
    let told = import(&table, &["--epochs", "10"]).silent();
    let scenario = |workers: u32, batch: u32| {
        format!(
            "workloads = [\"./w\"]\n\
             cluster = {{ workers = [{workers}], batch = [{batch}], outside = \"extrapolate\" }}\n\
             pricing = {{ policies = [\"p\"], define = {{ p = {{ usd_per_vm_hour = 1 }} }} }}\n"
        )
    };
    told.sandbox.write("larger.toml", &scenario(4, 2048));
    let ranked = told
        .sandbox
        .run(&["rank", "larger.toml", "--format", "csv"]);
    let ranked = Rows::parse(&stdout(&ranked.success()));
    let row = ranked.iter().next().expect("one configuration");
    let steps = (10.0_f64 * 50_000.0 / 2048.0).ceil();
    let hours = steps * step_s(2048) / 3600.0;
    assert!((row.number("time_h") / hours - 1.0).abs() < 0.1);
    assert_eq!(row.text("provenance"), "extrapolated");
    let advise = [
        "advise",
        "p.csv",
        "--samples-per-epoch",
        "50000",
        "--epochs",
        "10",
    ];
    let priced = [&advise[..], &["--usd-per-hour", "a=2"]].concat();
    let advice = stdout(&told.sandbox.run(&priced).success());
    let words = advice.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("- several VMs of a: measured on one VM only"),
        "{advice}"
    );
    let json = [&priced[..], &["--format", "json"]].concat();
    let json = stdout(&told.sandbox.run(&json).success());
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    for choice in json["choices"].as_array().expect("a list") {
        let end = |key: &str| choice[key].as_f64().expect("a number");
        let wide = end("time_p95_h") / end("time_p5_h");
        if choice["workers"] == 8 {
            assert!(wide > 3.0, "{choice}");
        } else {
            assert!(wide < 2.0, "{choice}");
        }
    }
}

#[test]
fn a_table_from_a_spreadsheet_is_read() {
    let european = example()
        .replace(',', ";")
        .replace('.', ",")
        .replace("g5,x", "g5.x")
        .replace("g6e,x", "g6e.x");
    let told = import(&format!("\u{feff}{}", european.replace('\n', "\r\n")), &[]).silent();
    let usual = import(&example(), &[]);
    assert_eq!(told.report, usual.report);
    assert_eq!(told.sandbox.contents("w"), usual.sandbox.contents("w"));
    import("vm,workers,batch,step_s,epochs\na,1,64,0,2,9\n", &[]).asked(&[
        "expected 5 cells in this row, found 6",
        "put semicolons between cells",
    ]);
}
