//! Limits of size, checked before anything is created: a run holds at most about a gigabyte.

use super::complaints::Complaints;
use super::file::ScenarioFile;
use scavsim_clusters::{SearchGrouping, by_vm};
use scavsim_data::configuration::Configuration;
use scavsim_data::workload::Workload;
use scavsim_read::input::Spanned;
use scavsim_read::input::checked::MOST_SAMPLES;

const MOST_TOGETHER: usize = 1_000_000;
/// Maximum number of configurations if every VM type is searched separately.
const MOST_CONFIGURATIONS: usize = 5_000_000;
const MOST_SIZES: usize = 500_000;
/// Maximum workers of all clusters that are searched together.
const MOST_WORKERS: u64 = 20_000_000;
/// Maximum number of cases: at a microsecond each they need more than a week.
const MOST_CASES: u64 = 1_000_000_000_000;

/// Reports too many configurations of a workload, and returns `None` then.
pub(super) fn configurations(
    search: SearchGrouping,
    count: usize,
    workload: &Workload,
    name: &Spanned<String>,
    complaints: &mut Complaints<'_>,
) -> Option<()> {
    let (most, help) = match search {
        SearchGrouping::All => (
            MOST_TOGETHER,
            "give fewer worker counts, batches or VM types, or set `cluster.search = \"each-vm\"`",
        ),
        SearchGrouping::EachVm => (
            MOST_CONFIGURATIONS,
            "give fewer worker counts, batches or VM types",
        ),
    };
    if count <= most {
        return Some(());
    }
    let title = format!(
        "`{}` makes {count} configurations; at most {most}",
        workload.name
    );
    complaints.push((complaints.mistake_at(name.span(), title, "too many")).with_help(help));
    None
}

/// Reports too many workers of configurations that are searched together, and too many samples in an update.
pub(super) fn workers(
    search: SearchGrouping,
    workload: &Workload,
    name: &Spanned<String>,
    all: &[Configuration],
    complaints: &mut Complaints<'_>,
) -> Option<()> {
    let of = |configurations: &[Configuration]| -> u64 {
        configurations.iter().map(|c| u64::from(c.workers)).sum()
    };
    let count = match search {
        SearchGrouping::All => of(all),
        SearchGrouping::EachVm => {
            let each = by_vm(all).into_iter().map(|range| of(&all[range]));
            each.max().unwrap_or(0)
        }
    };
    if let Some(at) = all.iter().find(|c| c.batch > MOST_SAMPLES) {
        let title = format!(
            "a global batch of {} workers has more than {MOST_SAMPLES} samples",
            at.workers
        );
        complaints.error_at(name.span(), title, "give a smaller `local_batch`");
        return None;
    }
    if count <= MOST_WORKERS {
        return Some(());
    }
    let title = format!(
        "the configurations of `{}` have {count} workers together; at most {MOST_WORKERS}",
        workload.name
    );
    let help = "give fewer or smaller worker counts";
    complaints.push((complaints.mistake_at(name.span(), title, "too many")).with_help(help));
    None
}

pub(super) fn sizes(
    file: &ScenarioFile,
    workload: &Workload,
    count: usize,
    complaints: &mut Complaints<'_>,
) -> bool {
    if count <= MOST_SIZES {
        return true;
    }
    let place = (file.elastic.as_ref().map(Spanned::span))
        .or(file.spot.as_ref().map(Spanned::span))
        .unwrap_or_default();
    let title = format!(
        "the clusters of `{}` may come to {count} sizes; at most {MOST_SIZES}",
        workload.name
    );
    let complaint = complaints.mistake_at(place, title, "changes the sizes of clusters");
    complaints.push(complaint.with_help("give fewer or smaller configurations"));
    false
}

/// Reports too many cases: settings × searches × policies × objectives × strategies × replicas.
pub(super) fn cases(file: &ScenarioFile, factors: &[u64; 6], complaints: &mut Complaints<'_>) {
    let count = (factors.iter()).fold(1u128, |count, factor| {
        count.saturating_mul(u128::from(*factor))
    });
    if count <= u128::from(MOST_CASES) {
        return;
    }
    let [
        settings,
        searches,
        policies,
        objectives,
        strategies,
        replicas,
    ] = factors;
    let settings = match settings {
        1 => String::new(),
        several => format!("settings {several} × "),
    };
    let title = format!(
        "the scenario makes {count} cases = {settings}searches {searches} × policies {policies} × objectives \
         {objectives} × strategies {strategies} × replicas {replicas}; at most {MOST_CASES}"
    );
    let place = file.workloads.as_ref().map(Spanned::span);
    let place = place.or(file.grid.as_ref().map(Spanned::span));
    let complaint = complaints.mistake_at(place.unwrap_or_default(), title, "too many");
    complaints.push(complaint.with_help("give fewer `replicas`"));
}
