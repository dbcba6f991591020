//! Measurements of transient GPU servers (CM-DARE) compared with ours.

use std::collections::BTreeMap;

use scavsim::reproduce::{Comparison, Evidence, Verdict};

use crate::reproduction::{assert_current, figure, paper};
use crate::sandbox::{Rows, repository_file};

fn icdcs20() -> &'static [Comparison] {
    &paper("icdcs20").1
}

#[test]
fn the_reproduction_of_transient_gpus_in_results_is_current() {
    assert_current("reproduction-icdcs20.md", &paper("icdcs20").0);
}

fn of<'a>(rows: &'a [Comparison], quantity: &str) -> Vec<&'a Comparison> {
    let rows: Vec<_> = rows.iter().filter(|r| r.quantity == quantity).collect();
    assert!(!rows.is_empty(), "no {quantity}");
    rows
}

/// The aim is 5 % per curve, over all eight worker counts. Effects of the servers are met within the error of a measured
/// pace, except where no variation is possible: four workers with two servers are no slower than with constant services.
#[test]
fn speeds_of_clusters_with_parameter_servers_are_within_five_percent() {
    let rows = icdcs20();
    let curves = of(rows, "cluster_speed_error");
    assert_eq!(curves.len(), 12);
    for row in curves {
        assert!(row.simulated > 0.0 && row.simulated < 5.0, "{row:?}");
    }
    let off: Vec<&str> = (of(rows, "cluster_speed_check_error").into_iter())
        .filter(|r| r.simulated >= 5.0)
        .map(|r| r.selector.as_str())
        .collect();
    assert_eq!(off, ["curve=p100-1ps-resnet15", "curve=p100-1ps-shake-big"]);
    let calibrated = (rows.iter())
        .filter(|r| r.quantity == "cluster_speed" && r.evidence == Evidence::Calibrated)
        .map(|r| (r.selector.as_str(), r.difference.abs()));
    let calibrated: BTreeMap<&str, f64> = calibrated.collect();
    assert_eq!(calibrated.len(), 4 + 8 * 3);
    for (selector, off) in calibrated {
        let constant = selector == "curve=p100-2ps-resnet32 workers=4";
        assert!(
            off < if constant { 0.02 } else { 4e-3 },
            "{selector}: {off}"
        );
    }
    let shortfall = "curve=p100-1ps-resnet32";
    assert_eq!(figure(rows, "falls_short_from", shortfall), 4.0);
}

/// A Kolmogorov–Smirnov test at a fixed seed of forty thousand lifetimes for each of the twelve; λ = 2.2253 is exceeded by
/// chance once in ten thousand times.
#[test]
fn drawn_revocations_are_the_published_ones_by_gpu_and_region() {
    let rows = icdcs20();
    let lifetimes = of(rows, "lifetime_distance");
    assert_eq!(lifetimes.len(), 12);
    for row in lifetimes {
        assert!(row.simulated < 2.2253 / 40_000f64.sqrt(), "{row:?}");
    }
    for (gpu, percent) in [("K80", 46.15), ("P100", 54.17), ("V100", 57.5)] {
        let drawn = figure(rows, "revoked_in_all", &format!("gpu={gpu}"));
        assert!((drawn - percent).abs() < 1.0, "{gpu}: {drawn}");
    }
}

/// Compared with measurements of the remaining workers; the error of the single ResNet-15 worker exceeds the aim.
#[test]
fn the_time_that_remains_after_a_loss_is_predicted_within_three_percent() {
    let error = figure(icdcs20(), "remaining_error_measured", "loss=all");
    assert!((1.0..3.0).contains(&error), "{error}");
}

/// Speeds of held-out models, by the size of a checkpoint and by the other GPU; the authors' lines have FLOPs.
#[test]
fn the_speed_of_a_model_is_told_by_its_size() {
    let of = |selector: &str| figure(icdcs20(), "one_worker_step_error", selector);
    for (selector, expected) in [
        ("gpu=K80 fitted-on=checkpoint-size", 12.101),
        ("gpu=P100 fitted-on=checkpoint-size", 11.689),
        ("gpu=P100 fitted-on=K80-by-TFLOPS", 12.070),
    ] {
        assert!(
            (of(selector) - expected).abs() < 1e-3,
            "{selector}: {}",
            of(selector)
        );
    }
}

/// The overhead rises with the steps, and faster than if the whole cluster repeated them. Regression: a tolerance in seconds
/// accepted 46 s for 19 s.
#[test]
fn the_loss_of_a_chief_costs_what_was_measured() {
    let rows = icdcs20();
    let overheads = of(rows, "chief_overhead");
    let within: Vec<bool> = (overheads.iter())
        .map(|row| row.relative && row.difference.abs() < row.tolerance)
        .collect();
    assert_eq!(within, [false, false, true, true, true]);
}

#[test]
fn the_figures_of_transient_gpus_that_are_off_are_the_known_ones() {
    let rows = icdcs20();
    let mut off: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows.iter().filter(|r| r.verdict == Verdict::Explained) {
        *off.entry(&row.quantity).or_default() += 1;
    }
    let known = [
        ("chief_overhead", 2),
        ("cluster_speed", 8),
        ("cluster_speed_check_error", 2),
        ("falls_short_from", 3),
        ("one_worker_step", 2),
        ("one_worker_step_error", 1),
        ("remaining_error_measured", 1),
    ];
    assert_eq!(off, known.into());
}

/// Speeds and counts in the file equal those of the source, cell by cell, if the raw data are available.
#[test]
fn the_file_of_transient_gpus_holds_the_sources_figures() {
    let Some(folder) = super::fits::shared_data("cmdare/derived") else {
        return;
    };
    let read = |name: &str| {
        let text = std::fs::read_to_string(folder.join(name)).expect("it is readable");
        super::fits::rows(&text)
    };
    let own =
        |file: &str| Rows::parse(&repository_file(&format!("data/papers/icdcs20/{file}.csv")));
    let (curves, revocations) = (own("curves"), own("revoked"));
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
        let at = (curves.iter()).find(|own| {
            own.text("curve") == curve && own.number("workers") == number(&row, "workers")
        });
        let ours = at.map(|own| own.number("steps_per_s"));
        assert_eq!(ours, Some(number(&row, "steps_per_s_mean")), "{row:?}");
    }
    let models = own("models");
    assert_eq!(models.iter().count(), 40);
    let speeds = read("single_worker_speed.csv");
    for own in models.iter() {
        let has = |gpu: &str, speed: f64| {
            let same = |row: &&std::collections::HashMap<String, String>| {
                row["gpu"] == gpu && number(row, "steps_per_s_mean") == speed
            };
            speeds.iter().filter(same).count() == 1
        };
        assert!(has(own.text("gpu"), own.number("steps_per_s")));
        assert!(has("K80", own.number("k80_steps_per_s")));
    }
    for row in read("revocation_cdf.csv") {
        let name = format!("gcp-{}-{}", row["gpu"].to_lowercase(), row["region"]);
        let hour = number(&row, "age_h_upper");
        let own = (revocations.iter())
            .find(|own| own.text("lifetime") == name && own.number("by_hour") == hour);
        // The last hour is the provider's limit, not a revocation.
        if let Some(own) = own {
            let share = own.number("revoked") / own.number("vms");
            assert!((share - number(&row, "cdf")).abs() < 6e-5, "{row:?}");
        } else {
            assert_eq!(hour, 25.0, "{row:?}");
        }
    }
}
