//! Published figures, and the files in `results/` that show them.

use std::collections::BTreeMap;

use scavsim::reproduce::{Comparison, PAPERS, Paper, Verdict, compare, render};

fn rows(paper: &Paper) -> Vec<Comparison> {
    compare(paper).unwrap_or_else(|d| panic!("{}", d.render(false)))
}

fn scavenger() -> Vec<Comparison> {
    rows(&PAPERS[0])
}

fn acsos20() -> Vec<Comparison> {
    rows(&PAPERS[1])
}

fn icdcs20() -> Vec<Comparison> {
    rows(&PAPERS[2])
}

/// Compares a file in `results/` with what the program prints now. `SCAVSIM_RENEW=1` writes it.
fn assert_current(file: &str, printed: &str) {
    let path = format!("{}/results/{file}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("SCAVSIM_RENEW").is_some() {
        std::fs::write(&path, printed).expect("results/ is writable");
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == printed,
        "results/{file} is stale; SCAVSIM_RENEW=1 cargo test writes it anew, then look at the difference"
    );
}

#[test]
fn the_reproduction_table_in_results_is_current() {
    assert_current(
        "reproduction.md",
        &render::markdown(&PAPERS[0], &scavenger()),
    );
}

#[test]
fn the_reproduction_of_unequal_workers_in_results_is_current() {
    assert_current(
        "reproduction-acsos20.md",
        &render::markdown(&PAPERS[1], &acsos20()),
    );
}

#[test]
fn the_reproduction_of_transient_gpus_in_results_is_current() {
    assert_current(
        "reproduction-icdcs20.md",
        &render::markdown(&PAPERS[2], &icdcs20()),
    );
}

/// What `scavsim run` prints for a scenario, in a form.
fn printed(scenario: &str, form: &str) -> String {
    let output = assert_cmd::Command::cargo_bin("scavsim")
        .expect("the binary is built")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["run", scenario, "--format", form])
        .output()
        .expect("it starts");
    assert!(output.status.success());
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn the_main_scenario_in_results_is_current() {
    assert_current(
        "scavenger.txt",
        &printed("scenarios/scavenger.toml", "table"),
    );
}

#[test]
fn the_choice_among_gpu_machines_in_results_is_current() {
    assert_current(
        "gpu-catalogue.txt",
        &printed("scenarios/gpu-catalogue.toml", "table"),
    );
}

#[test]
fn the_thousands_of_clusters_in_results_are_current() {
    assert_current(
        "thousands.txt",
        &printed("scenarios/thousands.toml", "table"),
    );
}

#[test]
fn the_spot_vms_in_results_are_current() {
    assert_current("spot.txt", &printed("scenarios/spot.toml", "table"));
}

/// It claims a thousand configurations of each workload.
#[test]
fn the_scenario_of_gpu_machines_chooses_among_thousands() {
    let text = include_str!("../../scenarios/gpu-catalogue.toml");
    for (workload, configurations) in super::replay::scenario(text).workloads {
        let count = configurations.len();
        assert!(count >= 1000, "{}: {count}", workload.name);
    }
}

#[test]
fn the_pricing_policies_in_results_are_current() {
    let scenario = "scenarios/pricing-policies.toml";
    assert_current("pricing-policies.txt", &printed(scenario, "policies"));
}

/// A policy that is added must be added there too, if the measured VM type has a price under it.
#[test]
fn the_scenario_of_pricing_policies_names_all_of_them() {
    let text = include_str!("../../scenarios/pricing-policies.toml");
    let mut named: Vec<String> = (super::replay::scenario(text).policies.into_iter())
        .map(|policy| policy.name)
        .collect();
    named.sort();
    let builtin = scavsim::pricing::builtin::policies().0;
    let fleet = scavsim::cloud::Fleet::listed();
    let builtin: Vec<String> = (builtin.into_iter())
        .filter(|policy| policy.tariff(&["e2-standard-4"], &fleet).is_ok())
        .map(|policy| policy.name)
        .collect();
    assert_eq!(named, builtin);
}

#[test]
fn no_published_figure_is_off_without_a_stated_reason() {
    for row in PAPERS.iter().flat_map(rows) {
        assert_ne!(row.verdict, Verdict::Outside, "{row:?}");
    }
}

/// The figures that are off with a reason are known one by one: a new one must not hide behind an
/// old excuse.
#[test]
fn the_figures_that_are_off_are_the_known_ones() {
    let mut off: BTreeMap<String, usize> = BTreeMap::new();
    for row in scavenger() {
        if row.verdict == Verdict::Explained {
            *off.entry(row.quantity).or_default() += 1;
        }
    }
    let known = [
        ("cold_start_share_cost", 1),
        ("epoch_line_error_mean", 3),
        ("prediction_error_mean", 34),
        ("time_with_step", 2),
    ];
    let known: BTreeMap<String, usize> = known.map(|(q, n)| (q.to_owned(), n)).into();
    assert_eq!(off, known);
}

/// Times that parameters were solved from come out as they were, to the digits of the parameters;
/// what they are not solved from is counted apart, cell by cell.
#[test]
fn calibration_and_check_of_unequal_workers_are_apart() {
    let rows = acsos20();
    let calibrated: Vec<_> = (rows.iter())
        .filter(|r| r.verdict == Verdict::Calibrated)
        .collect();
    assert_eq!(calibrated.len(), 15);
    for row in calibrated {
        assert!(
            row.kind == "calibration" && row.difference.abs() < 2e-4,
            "{row:?}"
        );
    }
    let mut off: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows.iter().filter(|r| r.verdict == Verdict::Explained) {
        *off.entry(&row.quantity).or_default() += 1;
    }
    let known = [
        ("batch_changes", 1),
        ("slow_down", 2),
        ("speed_up", 5),
        ("training_time", 9),
    ];
    assert_eq!(off, known.into());
}

fn of<'a>(rows: &'a [Comparison], quantity: &str) -> Vec<&'a Comparison> {
    let rows: Vec<_> = rows.iter().filter(|r| r.quantity == quantity).collect();
    assert!(!rows.is_empty(), "no {quantity}");
    rows
}

/// The aim is 5 % per curve, over all eight worker counts. What the law's parameters come from is met to its
/// noise, but where no sharpness can.
#[test]
fn speeds_of_clusters_with_parameter_servers_are_within_five_percent() {
    let rows = icdcs20();
    let curves = of(&rows, "cluster_speed_error");
    assert_eq!(curves.len(), 12);
    for row in curves {
        assert!(row.simulated > 0.0 && row.simulated < 5.0, "{row:?}");
    }
    let off: Vec<&str> = (of(&rows, "cluster_speed_check_error").into_iter())
        .filter(|r| r.simulated >= 5.0)
        .map(|r| r.selector.as_str())
        .collect();
    assert_eq!(off, ["curve=p100-1ps-shake-big"]);
    let calibrated = (rows.iter())
        .filter(|r| r.quantity == "cluster_speed" && r.kind == "calibration")
        .map(|r| (r.selector.as_str(), r.difference.abs()));
    let calibrated: BTreeMap<&str, f64> = calibrated.collect();
    assert_eq!(calibrated.len(), 4 + 8 * 3);
    for (selector, off) in calibrated {
        let too_sharp = selector == "curve=p100-2ps-resnet32 workers=4";
        assert!(off < if too_sharp { 6e-3 } else { 1e-3 }, "{selector}");
    }
    let shortfall = "curve=p100-1ps-resnet32";
    assert_eq!(figure(&rows, "falls_short_from", shortfall), 4.0);
}

/// A Kolmogorov–Smirnov test at a fixed seed of forty thousand lives for each of the twelve; λ = 2.2253 is exceeded by
/// chance once in ten thousand times.
#[test]
fn drawn_revocations_are_the_published_ones_by_gpu_and_region() {
    let rows = icdcs20();
    let lifetimes = of(&rows, "lifetime_distance");
    assert_eq!(lifetimes.len(), 12);
    for row in lifetimes {
        assert!(row.simulated < 2.2253 / 40_000f64.sqrt(), "{row:?}");
    }
    for (gpu, percent) in [("K80", 46.15), ("P100", 54.17), ("V100", 57.5)] {
        let drawn = figure(&rows, "revoked_in_all", &format!("gpu={gpu}"));
        assert!((drawn - percent).abs() < 1.0, "{gpu}: {drawn}");
    }
}

/// The aim is 1 % over the eleven cases.
#[test]
fn the_time_that_remains_after_a_loss_is_predicted_within_one_percent() {
    let rows = icdcs20();
    assert!(figure(&rows, "remaining_error", "loss=all") < 1.0);
    assert_eq!(of(&rows, "remaining_error").len(), 1 + 11);
}

/// The overhead rises with the steps, and faster than if the whole cluster did them again.
#[test]
fn the_loss_of_a_chief_costs_what_was_measured() {
    let rows = icdcs20();
    let overheads = of(&rows, "chief_overhead");
    assert_eq!(overheads.len(), 5);
    for row in overheads {
        assert!(row.difference.abs() < row.tolerance, "{row:?}");
    }
}

#[test]
fn the_figures_of_transient_gpus_that_are_off_are_the_known_ones() {
    let rows = icdcs20();
    let mut off: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows.iter().filter(|r| r.verdict == Verdict::Explained) {
        *off.entry(&row.quantity).or_default() += 1;
    }
    let known = [
        ("chief_repeated_steps", 3),
        ("cluster_speed", 7),
        ("cluster_speed_check_error", 1),
        ("falls_short_from", 3),
        ("one_worker_step", 2),
        ("queue_speed", 3),
        ("queue_speed_error", 2),
        ("remaining_error", 3),
        ("remaining_error_measured", 7),
    ];
    assert_eq!(off, known.into());
}

/// Speeds and counts in the file are those of the source, cell by cell, where the raw data are.
#[test]
fn the_file_of_transient_gpus_holds_the_sources_figures() {
    let Some(folder) = super::fits::shared_data("cmdare/derived") else {
        return;
    };
    let read = |name: &str| {
        let text = std::fs::read_to_string(folder.join(name)).expect("it is readable");
        super::fits::rows(&text)
    };
    let file: toml::Table = toml::from_str(PAPERS[2].source.1).expect("it is TOML");
    let list = |table: &str, name: &str, key: &str| {
        let value = &file[table][name][key];
        value.as_array().cloned().unwrap_or_default()
    };
    let number = |row: &std::collections::HashMap<String, String>, key: &str| {
        row[key].parse::<f64>().expect("a number")
    };
    let speeds = read("cluster_speed.csv");
    assert_eq!(speeds.len(), 96);
    for row in speeds {
        let model = match row["model"].as_str() {
            "ResNet-15" => "resnet15",
            "ResNet-32" => "resnet32",
            "Shake-Shake small" => "shake-small",
            _ => "shake-big",
        };
        let curve = format!("{}-{}ps-{model}", row["gpu"].to_lowercase(), row["n_ps"]);
        let at = number(&row, "workers") as usize - 1;
        let ours = list("curves", &curve, "measured")[at].as_float();
        assert_eq!(ours, Some(number(&row, "steps_per_s_mean")), "{row:?}");
    }
    for row in read("revocation_cdf.csv") {
        let name = format!("gcp-{}-{}", row["gpu"].to_lowercase(), row["region"]);
        let hour = number(&row, "age_h_upper") as usize;
        let vms = file["lifetimes"][&name]["vms"].as_integer().unwrap_or(0) as f64;
        let revoked = list("lifetimes", &name, "revoked_by_hour");
        // The last hour is the provider's limit, no revocation.
        if let Some(revoked) = revoked.get(hour - 1).and_then(toml::Value::as_integer) {
            assert!(
                (revoked as f64 / vms - number(&row, "cdf")).abs() < 6e-5,
                "{row:?}"
            );
        } else {
            assert_eq!(hour, 25, "{row:?}");
        }
    }
}

fn figure(rows: &[Comparison], quantity: &str, selector: &str) -> f64 {
    let row = rows
        .iter()
        .find(|r| r.quantity == quantity && r.selector.starts_with(selector));
    row.unwrap_or_else(|| panic!("no {quantity} of {selector}"))
        .simulated
}

#[test]
fn published_accounting_gives_the_papers_overhead() {
    let rows = scavenger();
    let of = "workload=scavenger-resnet18";
    assert!((figure(&rows, "cold_start_time", of) - 0.827).abs() < 5e-4);
    assert!((figure(&rows, "cold_start_cost", of) - 0.886).abs() < 5e-4);
    assert!((figure(&rows, "cold_start_share_time", of) - 12.7).abs() < 0.05);
    assert!((figure(&rows, "cold_start_share_cost", of) - 8.5).abs() < 0.05);
}

#[test]
fn noise_lines_to_four_figures() {
    let rows = scavenger();
    for (workload, intercept, slope) in [
        ("resnet18", 0.5478, 4.545),
        ("resnet50", 0.7876, 1.498),
        ("transformer", 0.6613, 5.959),
    ] {
        let of = format!("workload=scavenger-{workload}");
        let (a, s) = (
            figure(&rows, "noise_line_intercept", &of),
            figure(&rows, "noise_line_slope", &of),
        );
        assert_eq!(
            format!("{a:.4} {s:.3}"),
            format!("{intercept:.4} {slope:.3}")
        );
    }
}
