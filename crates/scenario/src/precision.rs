//! Target precision of net overheads, instead of a fixed number of replicas.

use super::complaints::Complaints;
use super::file::ScenarioFile;
use scavsim_experiment::scenario::WantedPrecision;
use scavsim_read::input::checked::Count;

const MOST: u64 = 100_000;

pub(super) fn read(
    file: &ScenarioFile,
    replicas: u64,
    complaints: &mut Complaints<'_>,
) -> Option<WantedPrecision> {
    let most = file.most_replicas.as_ref();
    let Some(half_width) = file.precision else {
        if let Some(most) = most {
            let title = "`most_replicas` without `precision`";
            let complaint =
                (complaints.mistake_at(most.span(), title, "of what are they the most?"))
                    .with_help("give `precision` as well, or `replicas` instead");
            complaints.push(complaint);
        }
        return None;
    };
    if let Some(asked) = most
        && u64::from(asked.get_ref().get()) < replicas
    {
        let title = format!(
            "`most_replicas` = {} is less than `replicas` = {replicas}",
            asked.get_ref().get()
        );
        let label = format!("give {replicas} at least");
        complaints.error_at(asked.span(), title, label);
    }
    let most = most.map_or(MOST.max(replicas), |most| {
        u64::from(Count::get(*most.get_ref()))
    });
    Some(WantedPrecision {
        half_width: half_width.get(),
        most,
    })
}
