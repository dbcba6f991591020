//! First rows that are much slower than later ones: they may include work that is done once: compiling, allocating, filling caches.

use std::sync::Arc;

use super::options::ASTRAY;
use super::rows::{Key, MeasuredRow, Points};
use crate::figure::rounded;
use crate::report::Report;
use scavsim_base::stats::median_of;
use scavsim_data::configuration::{Configuration, Shape, vm_type};
use scavsim_read::input::{Diagnostic, Source};

/// A first row is unusual above this multiple of the time that others allow.
const FAR: f64 = 2.0;

/// Number of the first repeats, in row order, that are slower by half than all later ones, which are at least as many; and
/// the ratio of the fastest of them to the median of the later ones.
pub(super) fn slow_start(rows: &[MeasuredRow]) -> Option<(usize, f64)> {
    let slow = (1..=rows.len() / 2).find(|first| {
        let (slow, usual) = rows.split_at(*first);
        let least = slow.iter().map(|m| m.step_s).fold(f64::INFINITY, f64::min);
        let most = usual.iter().map(|m| m.step_s).fold(0.0, f64::max);
        libm::log(least / most) >= ASTRAY
    })?;
    let usual = median_of(rows[slow..].iter().map(|m| m.step_s))?;
    let least = rows[..slow].iter().map(|m| m.step_s);
    Some((slow, least.fold(f64::INFINITY, f64::min) / usual))
}

/// Questions the first repeats of each configuration, and the first row of each VM type.
pub(super) fn ask(source: &Arc<Source>, points: &Points, report: &mut Report) {
    let mut warn = |row: &MeasuredRow, title: String| {
        let label = "warm-up?";
        let help = "the first steps of a run hold what is done once: time the later ones, and leave these out";
        report.warn(
            Diagnostic::at_span(source, row.cells.step_s.clone(), title, label).with_help(help),
        );
    };
    for ((vm, workers, batch), rows) in points {
        let Some(((slow, times), first)) = slow_start(rows).zip(rows.first()) else {
            continue;
        };
        let which = match slow {
            1 => "the first repeat takes".to_owned(),
            n => format!("the first {n} repeats take"),
        };
        let times = rounded(times, 3);
        let what = format!("with {workers} x {vm}, batch {batch}, {which} {times} times");
        warn(first, format!("{what} what is usual there"));
    }
    for (key, row) in firsts(points) {
        let Some((most, (vm, workers, batch))) = most_s(points, key) else {
            continue;
        };
        if row.step_s / most >= FAR {
            let title = format!(
                "the first step of `{}` takes {} s, where by {workers} x {vm}, batch {batch}, {} s are the most",
                vm_type(&key.0),
                rounded(row.step_s, 4),
                rounded(most, 4),
            );
            warn(row, title);
        }
    }
}

/// The first row of each VM type, if its configuration has no other.
fn firsts(points: &Points) -> impl Iterator<Item = (&Key, &MeasuredRow)> {
    let of_type = |vm: &str| {
        let own = points
            .iter()
            .filter(move |(key, _)| vm_type(&key.0) == vm_type(vm));
        let rows = own.flat_map(|(_, rows)| rows);
        rows.map(|m| m.line.start).min()
    };
    points
        .iter()
        .filter_map(move |(key, rows)| match &rows[..] {
            [row] if of_type(&key.0) == Some(row.line.start) => Some((key, row)),
            _ => None,
        })
}

/// The longest step of a configuration that the others of its VM type allow, and the one that does. It is no longer than with
/// as many workers and VMs or more; nor longer per sample, if they have fewer samples each.
fn most_s<'p>(points: &'p Points, of: &Key) -> Option<(f64, &'p Key)> {
    let place = |(vm, workers, batch): &Key| {
        let at = Configuration {
            vm: vm.as_str().into(),
            workers: *workers,
            batch: *batch,
        };
        let vms = Shape::parse(vm).ok()?.vms(*workers)?;
        Some((vms, at.local_batch()))
    };
    let (vms, samples) = place(of)?;
    let bound = |(key, rows): (&'p Key, &Vec<MeasuredRow>)| {
        let (own_vms, own_samples) = place(key)?;
        let is_more = key != of && key.1 >= of.1 && own_vms >= vms;
        let usual = median_of(rows.iter().map(|m| m.step_s)).filter(|_| is_more)?;
        Some((usual * (samples / own_samples).max(1.0), key))
    };
    (points.iter())
        .filter(|(key, _)| vm_type(&key.0) == vm_type(&of.0))
        .filter_map(bound)
        .min_by(|a, b| a.0.total_cmp(&b.0))
}

#[cfg(test)]
mod tests {
    use super::super::rows::Cells;
    use super::*;
    use scavsim_data::workload::{library, load};

    fn row(step_s: f64) -> MeasuredRow {
        let cells = Cells {
            vm: 0..0,
            batch: 0..0,
            step_s: 0..0,
            communication: 0..0,
            epochs: 0..0,
        };
        MeasuredRow {
            step_s,
            communication_s: None,
            noise: None,
            epochs: None,
            line: 0..0,
            cells,
        }
    }

    #[test]
    fn a_slow_start_is_slower_than_all_behind_it() {
        let started = |steps: &[f64]| {
            let rows: Vec<MeasuredRow> = steps.iter().map(|s| row(*s)).collect();
            slow_start(&rows).map(|found| found.0)
        };
        assert_eq!(started(&[0.8, 0.4]), Some(1));
        assert_eq!(started(&[0.9, 0.8, 0.4, 0.41]), Some(2));
        // The later one, too little, and nothing usual after it.
        assert_eq!(started(&[0.4, 0.8]), None);
        assert_eq!(started(&[0.5, 0.4, 0.4]), None);
        assert_eq!(started(&[0.9, 0.4, 0.8]), None);
        assert_eq!(started(&[0.9]), None);
    }

    /// Each measured step is tried as the first: none was a warm-up.
    #[test]
    fn of_steps_that_were_no_warm_up_hardly_one_is_asked_about() {
        for name in ["pollux-bert", "pollux-cifar10", "pollux-imagenet"] {
            let folder = library::embedded(name).expect("shipped");
            let workload = load::load(&folder, &mut Default::default()).expect("sound");
            let of = |(at, cost): &(Configuration, _)| {
                let cost: &scavsim_data::workload::StepCost = cost;
                let key = (at.vm.to_string(), at.workers, at.batch);
                (key, vec![row(cost.total_s())])
            };
            let points: Points = workload.steps.points().map(of).collect();
            let is_far = |key: &Key, factor: f64| {
                let (most, _) = most_s(&points, key).expect("many others");
                factor * points[key][0].step_s / most >= FAR
            };
            let asked = |factor| points.keys().filter(|key| is_far(key, factor)).count();
            let (all, wrongly, rightly) = (points.len(), asked(1.0), asked(3.0));
            assert!(wrongly * 300 < all, "{name}: {wrongly} of {all}");
            // With three times the time, nearly all are.
            assert!(rightly * 10 > all * 9, "{name}: {rightly} of {all}");
        }
    }
}
