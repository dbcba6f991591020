//! Default prices: each default compared with a figure from elsewhere, and remarks on prices.

use crate::sandbox::{Rows, Sandbox, repository_file, stderr, stdout};

/// USD per hour on demand in the catalogue's table for a day.
fn listed(provider: &str, vm: &str, region: &str, day: &str) -> f64 {
    let table = repository_file(&format!("data/clouds/prices/{provider}.csv"));
    let rows = table
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let mut there = rows.filter(|row| {
        row.len() > 5 && row[..3] == [vm, region, "on-demand"] && row[4] <= day && day <= row[5]
    });
    let row = there.next().expect("it is listed");
    row[3].parse().expect("a price")
}

/// With the profile of the documentation as the workload `w`.
fn profile() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox
        .import_profile(&repository_file("scenarios/example-profile.csv"), &[])
        .success();
    sandbox
}

fn close(found: f64, expected: f64, within: f64) {
    assert!(
        (found / expected - 1.0).abs() < within,
        "{found} for {expected}"
    );
}

/// Regression: billed at the paper's rate of an e2-standard-4, it was $0.06 instead of $0.80, and another machine.
#[test]
fn measurements_of_ones_own_cost_what_their_vms_are_listed_at() {
    let sandbox = profile();
    sandbox.write("s.toml", "workloads = [\"./w\"]\n");
    let run = sandbox
        .run(&["rank", "s.toml", "--objective", "cost", "--format", "csv"])
        .success();
    let rows = Rows::parse(&stdout(&run));
    let usd = |vm| listed("aws", vm, "us-east-1", "2026-07-20");
    assert_eq!([usd("g5.xlarge"), usd("g6e.xlarge")], [1.006, 1.861]);
    for row in rows.iter() {
        assert_eq!(row.text("pricing"), "list-2026");
        let bill = row.number("vms") * row.number("time_h") * usd(row.text("vm"));
        // Started seconds.
        let second = 1.1 / (3600.0 * row.number("time_h"));
        close(row.number("cost_usd"), bill, second);
    }
    let best = rows.iter().next().expect("a best one");
    assert_eq!(best.text("held"), "1 g5.xlarge");
    // 0.3152 s a step at 128 samples, 50,000 samples in each of 22.4 to 24.4 epochs.
    let hours = |epochs: f64| epochs * 50_000.0 / 128.0 * 0.3152 / 3600.0;
    let time_h = best.number("time_h");
    assert!(hours(22.0) < time_h && time_h < hours(24.4), "{time_h}");
    assert!((best.number("cost_usd") - 0.80).abs() < 0.005);
    let note = stderr(&run);
    assert!(note.contains("no pricing policy is named"), "{note}");
    assert!(note.contains("AWS us-east-1 (2026-07-20)"), "{note}");
    // By its own name, and by other names.
    let named = |policy: &str| {
        sandbox.write(
            "t.toml",
            &format!("workloads = [\"./w\"]\npricing.policies = [\"{policy}\"]\n"),
        );
        let run = sandbox.run(&["rank", "t.toml", "--objective", "cost", "--format", "csv"]);
        stdout(&run.success()).replace(policy, "POLICY")
    };
    assert_eq!(named("list-2026"), named("aws-2026-own"));
}

#[test]
fn every_door_takes_the_same_default() {
    let sandbox = profile();
    sandbox.write(
        "s.toml",
        "workloads = [\"./w\"]\n[search]\nstrategies = [\"oracle\", \"random\"]\nobjectives = [\"cost\"]\n",
    );
    let check = sandbox.run(&["check", "s.toml"]).success();
    assert!(stderr(&check).contains("`list-2026` is charged"));
    let run = sandbox.run(&["run", "s.toml", "--out", "out"]).success();
    let rows = Rows::parse(&sandbox.read("out/records.csv"));
    for row in rows.iter() {
        assert_eq!(row.text("pricing"), "list-2026");
        close(row.number("oracle_cost_usd"), 0.80, 0.01);
    }
    assert!(
        stdout(&run).contains("no pricing policy is named"),
        "{}",
        stdout(&run)
    );
    let summary = sandbox.run(&["summary", "out"]).success();
    assert!(stdout(&summary).contains("no pricing policy is named"));
    sandbox.run(&["compare", "s.toml"]).success();
    // Advice has prices of its own: equal ones for this profile.
    let advice = sandbox
        .run(&[
            "advise",
            "p.csv",
            "--samples-per-epoch",
            "50000",
            "--format",
            "json",
        ])
        .success();
    let advice: serde_json::Value = serde_json::from_str(&stdout(&advice)).expect("it is JSON");
    let best = &advice["choices"][0];
    assert_eq!(best["vm"], "g5.xlarge");
    let figure = |key: &str| best[key].as_f64().expect("a number");
    close(figure("cost_usd") / figure("time_h"), 1.006, 1e-3);
}

/// Only the paper's own workloads have the paper's rate, and only on its measured machine.
#[test]
fn the_papers_rate_is_that_of_its_own_workloads() {
    let policy = |text: &str| {
        let sandbox = profile();
        sandbox.write("s.toml", text);
        let run = sandbox.run(&["run", "s.toml", "--out", "out"]).success();
        let rows = Rows::parse(&sandbox.read("out/records.csv"));
        let row = rows.iter().next().expect("a row");
        (
            row.text("pricing").to_owned(),
            row.number("oracle_cost_usd"),
            stderr(&run),
        )
    };
    let rest = "cluster.pairs = [[8, 384]]\n[search]\nstrategies = [\"oracle\"]\nobjectives = [\"time\"]\n";
    let (name, usd, said) = policy(&format!("workloads = [\"scavenger-resnet18\"]\n{rest}"));
    assert_eq!(name, "paper-fixed");
    assert!(!said.contains("pricing policy"), "{said}");
    let (name, listed_usd, _) = policy(&format!(
        "workloads = [\"scavenger-resnet18\"]\nvm.fast = {{ like = \"e2-standard-4\" }}\n{rest}"
    ));
    assert_eq!(name, "list-2026");
    let ratio = listed("gcp", "e2-standard-4", "us-central1", "2026-07-30") / 0.13402;
    close(listed_usd / usd, ratio, 1e-4);
    // Together with a workload without a rate, all are charged the listed price.
    let both = "workloads = [\"scavenger-resnet18\", \"./w\"]\n[cluster]\noutside = \"leave-out\"\n\
                [search]\nstrategies = [\"oracle\"]\nobjectives = [\"time\"]\n";
    assert_eq!(policy(both).0, "list-2026");
}

#[test]
fn a_bag_and_plans_are_charged_what_is_listed() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "bag.toml",
        "[bag]\njobs = 4\njob_times = [{ vm = \"n1-highcpu-32\", vms_per_job = 2, mean_s = 1800 }]\n\
         [search]\nstrategies = [\"oracle\"]\nobjectives = [\"cost\"]\n",
    );
    sandbox.run(&["run", "bag.toml", "--out", "bag"]).success();
    let rows = Rows::parse(&sandbox.read("bag/records.csv"));
    let usd = listed("gcp", "n1-highcpu-32", "us-central1", "2026-07-30");
    // Four jobs of half an hour on two VMs, one after another.
    let bill = rows.iter().next().expect("a row").number("oracle_cost_usd");
    close(bill, 4.0 * 0.5 * 2.0 * usd, 1e-9);

    sandbox.write(
        "plans.toml",
        "[parallel]\nprofile = \"gpt-neo-2.7b\"\nglobal_batch = [512]\ntarget_steps = 100\nmost_gpus = 16\n\
         nodes = [{ vm = \"a2-highgpu-4g\", gpu = \"A100-40\", gpu_memory_gib = 40 }]\n\
         [search]\nobjectives = [\"cost\"]\n",
    );
    let run = sandbox
        .run(&["rank", "plans.toml", "--format", "csv"])
        .success();
    let rows = Rows::parse(&stdout(&run));
    let usd = listed("gcp", "a2-highgpu-4g", "us-central1", "2026-07-30");
    for row in rows.iter() {
        assert_eq!(row.text("pricing"), "list-2026");
        let seconds = (row.number("time_h") * 3600.0).max(60.0);
        let bill = row.number("vms") * seconds / 3600.0 * usd;
        close(row.number("cost_usd"), bill, 1.1 / seconds);
    }
}

/// Spot VMs are charged the listed spot price, on-demand VMs with them the on-demand price.
#[test]
fn spot_vms_are_charged_a_spot_price_unasked() {
    let bill = |text: &str| {
        let sandbox = Sandbox::with(&format!(
            "workloads = [\"./own\"]\nfidelity = \"fast\"\n[cluster]\npairs = [[8, 384]]\n{text}\
             [search]\nstrategies = [\"oracle\"]\nobjectives = [\"cost\"]\n"
        ));
        sandbox.workload("own");
        sandbox.edit("own/workload.toml", "pricing = \"paper-fixed\"", "");
        sandbox
            .run(&["rank", "scenario.toml", "--format", "csv"])
            .success()
    };
    let all = |text: &str| {
        let rows = Rows::parse(&stdout(&bill(text)));
        let rows = rows.iter().map(|row| {
            let usd = row.number("cost_usd") / row.number("time_h") / row.number("vms");
            (
                row.text("pricing").to_owned(),
                row.text("vm").to_owned(),
                usd,
            )
        });
        rows.collect::<Vec<_>>()
    };
    let lives =
        "[spot]\nexponential_mean_h = 100\ncheckpoint = \"young-daly\"\ncheckpoint_write_s = 5\n";
    let [(policy, _, usd)] = &all(lives)[..] else {
        panic!("one configuration")
    };
    assert_eq!(policy, "list-2026-spot");
    // Replacements are billed while the job waits: no more than a few per cent.
    close(*usd, 0.080424, 0.05);
    let kinds = "vm = [\"calm\", \"cheap\"]\n[kind.calm]\nvm = \"e2-standard-4\"\n\
                 [kind.cheap]\nvm = \"e2-standard-4\"\nmarket = \"spot\"\n";
    let found = all(&format!("{kinds}{lives}"));
    for (policy, vm, usd) in &found {
        assert_eq!(policy, "list-2026");
        let expected = if vm == "cheap" { 0.080424 } else { 0.13402284 };
        close(*usd, expected, 0.05);
    }
    assert_eq!(found.len(), 2);
}

#[test]
fn a_type_without_a_price_is_refused_where_it_stands_with_what_to_write() {
    let sandbox = Sandbox::new();
    sandbox
        .import_profile(
            "vm,workers,batch,step_s\nmy-box,1,64,0.5\nmy-box,2,64,0.3\n",
            &["--epochs", "10"],
        )
        .success();
    for (text, place, say) in [
        (
            "seed = 1\nworkloads = [\"./w\"]\n",
            "s.toml:2:14",
            "`usd_per_hour_of = { \"my-box\" = USD }`",
        ),
        (
            "workloads = [\"./w\"]\n\n[cluster]\nvm = [\"my-box\"]\n",
            "s.toml:4:7",
            "`priced_as`",
        ),
        (
            "workloads = [\"./w\"]\n[cluster]\nvm = [\"faster\"]\n[vm.faster]\nlike = \"my-box\"\n",
            "s.toml:4:5",
            "give `usd_per_hour`",
        ),
        (
            "[bag]\njobs = 4\njob_times = [{ vm = \"my-box\", vms_per_job = 2, mean_s = 1800 }]\n",
            "s.toml:3:14",
            "`usd_per_hour_of = { \"my-box\" = USD }`",
        ),
        (
            "workloads = [\"icac19-resnet32\"]\n",
            "s.toml:1:14",
            "`usd_per_hour_of = { \"k80\" = USD }`",
        ),
    ] {
        sandbox.write("s.toml", text);
        for command in [
            &["check", "s.toml"][..],
            &["run", "s.toml"],
            &["rank", "s.toml"],
            &["compare", "s.toml"],
        ] {
            let wrong = stderr(&sandbox.run(command).code(2));
            let flat = wrong.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(wrong.contains(place), "{text}: {wrong}");
            assert!(flat.contains("no pricing policy is named"), "{wrong}");
            assert!(flat.contains(say), "{text}: {wrong}");
        }
    }
    // An explicit value is enough.
    sandbox.write(
        "s.toml",
        "workloads = [\"./w\"]\npricing.policies = [\"mine\"]\npricing.define.mine = { usd_per_hour_of = { \"my-box\" = 2 } }\n",
    );
    sandbox.run(&["check", "s.toml"]).success();
}

/// A flat price, and the price of another type, for machines with different prices.
#[test]
fn one_price_for_two_vm_types_does_not_pass_without_a_word() {
    let sandbox = profile();
    let told = |pricing: &str, rest: &str| {
        sandbox.write(
            "s.toml",
            &format!(
                "workloads = [\"./w\"]\n{rest}{pricing}\n[search]\nstrategies = [\"oracle\"]\n"
            ),
        );
        let run = sandbox.run(&["run", "s.toml", "--out", "out"]).success();
        let rank = sandbox.run(&["rank", "s.toml"]).success();
        let summary = sandbox.run(&["summary", "out"]).success();
        let flat = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        // Remarks below a ranking are not repeated on stderr.
        assert!(!flat(stderr(&rank)).contains("one price for"));
        let all = [stderr(&run), stdout(&run), stdout(&rank), stdout(&summary)];
        all.map(flat)
    };
    let flat = "[pricing]\npolicies = [\"mine\", \"paper-fixed\", \"aws-2026-g4dn\", \"aws-2026-own\"]\n\
                [pricing.define.mine]\nusd_per_vm_hour = 2";
    for text in told(flat, "") {
        let expected = "`mine`, `paper-fixed`, `aws-2026-g4dn` charge one price for 2 VM types: g5.xlarge, g6e.xlarge";
        assert!(text.contains(expected), "{text}");
    }
    for text in told(flat, "cluster.vm = [\"g5.xlarge\"]\n") {
        assert!(!text.contains("one price for"), "{text}");
    }
    for text in told("[pricing]\npolicies = [\"aws-2026-own\"]", "") {
        assert!(!text.contains("one price for"), "{text}");
    }
}

const WITH_SPOT: &str = "[pricing]\npolicies = [\"gcp-2026-e2\", \"gcp-2026-e2-spot\", \"gcp-2020-e2-preemptible-median\"]\n\
                         [search]\nstrategies = [\"oracle\", \"random\"]\nobjectives = [\"cost\"]\n";
const MARKS: [&str; 2] = ["gcp-2026-e2-spot†", "gcp-2020-e2-preemptible-median†"];

#[test]
fn a_spot_price_without_losses_is_marked_wherever_it_can_be_chosen() {
    let sandbox = Sandbox::with(&format!(
        "workloads = [\"scavenger-resnet18\"]\n{WITH_SPOT}"
    ));
    let run = sandbox
        .run(&["run", "scenario.toml", "--out", "out", "--report"])
        .success();
    let other = |arguments: &[&str]| stdout(&sandbox.run(arguments).success());
    let policies = other(&["run", "scenario.toml", "--format", "policies"]);
    for text in [
        &stdout(&run),
        &policies,
        &other(&["run", "scenario.toml", "--format", "clusters"]),
        &other(&["rank", "scenario.toml"]),
        &other(&["summary", "out"]),
    ] {
        for mark in MARKS {
            assert!(text.contains(mark), "{mark}: {text}");
        }
        assert!(!text.contains("gcp-2026-e2†"), "{text}");
        assert!(text.contains("nobody takes away"), "{text}");
    }
    // The headline marks it, and the cheapest available one is named.
    let names_it = |line: &str| line.contains("gcp-2026-e2-spot†  ") && line.contains("  cost  ");
    assert!(stdout(&run).lines().any(names_it), "{}", stdout(&run));
    assert!(policies.contains("cheapest: gcp-2026-e2 $"), "{policies}");
    assert!(
        policies.contains("with †: gcp-2020-e2-preemptible-median† $"),
        "{policies}"
    );
    let page = sandbox.read("out/report.html");
    assert!(
        page.contains("a spot price for VMs that nobody takes away here"),
        "the page"
    );
    let list = other(&["list", "pricing", "--format", "csv"]);
    let rows = Rows::parse(&list);
    for row in rows.iter() {
        let is_spot = row.text("further").contains("spot: goes with [spot]");
        let name = row.text("policy");
        let says = ["spot", "preemptible", "auction"]
            .iter()
            .any(|word| name.contains(word));
        assert_eq!(is_spot, says, "{name}");
    }
}

#[test]
fn a_spot_price_with_losses_is_not_marked_and_of_a_kind_on_demand_it_is_refused() {
    let lives =
        "[spot]\nlifetime = \"gcp-2019\"\ncheckpoint = \"young-daly\"\ncheckpoint_write_s = 5\n";
    let scenario = |kinds: &str, policies: &str| {
        format!(
            "workloads = [\"scavenger-resnet18\"]\n[cluster]\npairs = [[8, 384]]\n{kinds}{lives}{policies}"
        )
    };
    let ranked = |kinds: &str, policies: &str| {
        let sandbox = Sandbox::with(&scenario(kinds, policies));
        let rank = sandbox
            .run(&["rank", "scenario.toml", "--runs", "4"])
            .success();
        (stdout(&rank), stderr(&rank))
    };
    let (text, said) = ranked("", WITH_SPOT);
    assert!(
        !text.contains('†') && !said.contains("takes away"),
        "{text}{said}"
    );
    let kinds = "vm = [\"calm\", \"cheap\"]\n[kind.calm]\nvm = \"e2-standard-4\"\n[kind.cheap]\nvm = \"e2-standard-4\"\nmarket = \"spot\"\n";
    let sandbox = Sandbox::with(&scenario(kinds, WITH_SPOT));
    let refused = stderr(&sandbox.run(&["check", "scenario.toml"]).code(2));
    let expected =
        "pricing policy `gcp-2026-e2-spot` has spot prices alone, and `e2-standard-4` is on demand";
    assert!(refused.contains(expected), "{refused}");
    // A ratio is for spot VMs only, so no VM on demand has it.
    assert_eq!(refused.matches("error: ").count(), 1, "{refused}");
    assert!(refused.contains("scenario.toml:"), "{refused}");
    let (text, said) = ranked(kinds, &WITH_SPOT.replace("\"gcp-2026-e2-spot\", ", ""));
    assert!(
        !text.contains('†') && !said.contains("takes away"),
        "{text}{said}"
    );
}

/// Regression: its own in-sample model was "100 % right, +0.0 %" and the least cost under 24 policies of 24.
#[test]
fn one_workload_is_not_averaged_with_itself_alone() {
    let records = |stored: &str| {
        let sandbox = Sandbox::with(&format!(
            "workloads = [\"scavenger-resnet18\"]\nreplicas = 5\n[variation]\nstep_cv = 0.05\n\
             [search]\nstrategies = [\"oracle\", \"same-job\", \"no-search\", \"no-search-leave-out\"]\nobjectives = [\"time\"]\n{stored}"
        ));
        let run = sandbox
            .run(&["run", "scenario.toml", "--out", "out"])
            .success();
        (sandbox.read("out/records.csv"), stdout(&run))
    };
    let (unasked, said) = records("");
    let (asked, _) = records(
        "stored = [\"scavenger-resnet18\", \"scavenger-resnet50\", \"scavenger-transformer\"]\n",
    );
    assert_eq!(unasked, asked);
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("`no-search` averages the models of scavenger-resnet18, scavenger-resnet50, scavenger-transformer;"),
        "{said}"
    );
    let rows = Rows::parse(&unasked);
    let known = |strategy: &str| {
        let row = rows.iter().find(|row| row.text("strategy") == strategy);
        row.expect("it ran").number("known_time_h")
    };
    assert!(
        known("no-search") > 10.0 * known("same-job"),
        "{}",
        known("no-search")
    );

    // No other workload was trained on such machines: the universal model answers, from one run.
    let sandbox = profile();
    sandbox.write(
        "s.toml",
        "workloads = [\"./w\"]\nsearch.strategies = [\"oracle\", \"no-search\"]\n",
    );
    sandbox.run(&["run", "s.toml", "--out", "out"]).success();
    let rows = Rows::parse(&sandbox.read("out/records.csv"));
    for row in rows
        .iter()
        .filter(|row| row.text("strategy") == "no-search")
    {
        assert_eq!(row.number("known_runs"), 1.0);
        assert!(!row.text("chosen_vm").is_empty());
    }
    sandbox.write("s.toml", "workloads = [\"./w\"]\n");
    sandbox
        .run(&["run", "s.toml", "--overwrite", "--out", "out"])
        .success();
    assert!(sandbox.read("out/records.csv").contains("no-search"));
}

const EACH_VM: &str = "workloads = [\"scavenger-transformer\"]\nreplicas = 2\n[vm.v]\nlike = \"e2-standard-4\"\n\
     compute_scale = [0.5, 1, 4]\nnetwork_scale = [1, 8]\n[cluster]\nvm = [\"v\"]\nsearch = \"each-vm\"\n[variation]\nstep_cv = 0.05\n\
     [pricing]\npolicies = [\"paper-fixed\", \"per-second\", \"paper-memory\"]\n\
     [search]\nstrategies = [\"oracle\", \"partial\"]\nobjectives = [\"cost\"]\n";

/// Regression: they were `none`, and no policy changed one.
#[test]
fn policies_over_each_vm_name_choices_and_say_where_they_move() {
    let sandbox = Sandbox::with(EACH_VM);
    let run = sandbox
        .run(&[
            "run",
            "scenario.toml",
            "--format",
            "policies",
            "--out",
            "out",
        ])
        .success();
    let text = stdout(&run);
    assert!(!text.contains("none"), "{text}");
    // The most frequent choice in the twelve cases of a policy, counted by hand.
    let rows = Rows::parse(&sandbox.read("out/records.csv"));
    let most = |policy: &str| {
        let mut counts: Vec<((String, String), usize)> = Vec::new();
        let own = rows
            .iter()
            .filter(|row| row.text("pricing") == policy && row.text("strategy") == "oracle");
        for row in own {
            let at = (
                row.text("chosen_workers").to_owned(),
                row.text("chosen_batch").to_owned(),
            );
            match counts.iter_mut().find(|(known, _)| *known == at) {
                Some((_, count)) => *count += 1,
                None => counts.push((at, 1)),
            }
        }
        let all: usize = counts.iter().map(|(_, count)| count).sum();
        // The first one among several.
        let (at, count) = counts
            .into_iter()
            .rev()
            .max_by_key(|(_, count)| *count)
            .expect("a choice");
        (at, 100.0 * count as f64 / all as f64)
    };
    let first = most("paper-fixed").0;
    let mut moved = 0;
    for policy in ["paper-fixed", "paper-memory"] {
        let ((workers, batch), share) = most(policy);
        let mark = if (&workers, &batch) == (&first.0, &first.1) {
            ""
        } else {
            "* "
        };
        moved += usize::from(!mark.is_empty());
        let cell = format!("{mark}{workers} × {batch} ({share:.0} %)");
        let line = text
            .lines()
            .find(|line| line.starts_with(policy))
            .expect("its line");
        assert!(line.contains(&cell), "{cell}: {text}");
    }
    assert_eq!(moved, 1, "{text}");
    // Few policies have a row each, and dollars that are a unit are not compared.
    assert!(text.contains("\nper-second "), "{text}");
    let money = text
        .lines()
        .find(|line| line.starts_with("cheapest: "))
        .expect("a line on money");
    assert!(
        money.contains("paper-fixed $") && !money.contains("paper-memory"),
        "{money}"
    );
}
