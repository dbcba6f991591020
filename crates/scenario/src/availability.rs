//! Shares of workers' cores that change while they train.

use std::collections::BTreeMap;

use super::complaints::Complaints;
use super::file::AvailabilityStep;
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};
use scavsim_read::input::Spanned;
use scavsim_sim::cluster::AvailabilityLevel;

/// Maximum number of changes in one kind of cluster; each creates a cluster of its own.
const MOST_LEVELS: usize = 1000;

/// Levels of workers on `shapes` over time; empty if nothing changes.
pub(super) fn read(
    table: &BTreeMap<Spanned<String>, Spanned<Vec<AvailabilityStep>>>,
    shapes: &[&str],
    complaints: &mut Complaints<'_>,
) -> Vec<AvailabilityLevel> {
    let mut moments = vec![SimTime::ZERO];
    for (name, series) in table {
        if !shapes.contains(&name.get_ref().as_str()) {
            let title = format!("`{}` is no VM type of this kind of cluster", name.get_ref());
            complaints.unknown(title, name, shapes, "list vms");
        }
        let hours: Vec<f64> = series.get_ref().iter().map(|step| step.0.get()).collect();
        // Mistakes of a pair were reported, and left it out.
        let is_told = hours.is_empty() && complaints.is_reported(&series.span());
        if !is_told && (hours.is_empty() || !hours.is_sorted_by(|a, b| a < b)) {
            let title = "`availability` does not go on in time";
            let label = "expected hours since the job began, rising, each with a share";
            complaints.error_at(series.span(), title, label);
        }
        moments.extend(hours.iter().map(|hour| time_at_hours(*hour)));
    }
    moments.sort_unstable();
    moments.dedup();
    if moments.len() > MOST_LEVELS {
        let title = format!("`availability` changes {} times", moments.len());
        let last = table.values().next_back().map(Spanned::span);
        let label = format!("expected at most {MOST_LEVELS} moments in all");
        complaints.error_at(last.unwrap_or_default(), title, label);
        return Vec::new();
    }
    if moments.len() == 1 && table.is_empty() {
        return Vec::new();
    }
    let share = |shape: &str, now: SimTime| {
        let of_shape = table.iter().find(|(name, _)| name.get_ref() == shape);
        let steps = of_shape.map_or(&[][..], |(_, series)| series.get_ref());
        let last = steps
            .iter()
            .rev()
            .find(|step| time_at_hours(step.0.get()) <= now);
        last.map_or(1.0, |step| step.1.get())
    };
    (moments.iter())
        .map(|now| AvailabilityLevel {
            from: *now,
            shares: shapes.iter().map(|shape| share(shape, *now)).collect(),
        })
        .collect()
}

fn time_at_hours(hours: f64) -> SimTime {
    SimTime::from_seconds(hours * SECONDS_PER_HOUR)
}
