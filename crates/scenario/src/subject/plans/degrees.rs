use crate::complaints::Complaints;
use crate::parallel_table::ParallelTable;
use scavsim_sim::parallel::LayerProfile;
use scavsim_sim::plans::Axes;

fn listed(values: &[u32]) -> String {
    let words: Vec<String> = values.iter().map(u32::to_string).collect();
    words.join(", ")
}

/// Requested degrees and micro-batches must be profiled on some GPU, and degrees must divide the GPUs of some VM.
pub(super) fn profiled(
    table: &ParallelTable,
    axes: &Axes,
    profile: &LayerProfile,
    complaints: &mut Complaints<'_>,
) {
    let gpus: Vec<&str> = axes.kinds.iter().map(|kind| &*kind.gpu).collect();
    let mut known: Vec<u32> = (gpus.iter())
        .flat_map(|gpu| profile.tensor_degrees(gpu))
        .collect();
    known.sort_unstable();
    known.dedup();
    let mut named = gpus.clone();
    named.sort_unstable();
    named.dedup();
    let on = named.join(", ");
    if gpus.is_empty() {
        return;
    }
    if let (Some(place), Some(asked)) = (&table.tensor, &axes.tensor) {
        for degree in asked {
            let fits = (axes.kinds.iter()).any(|kind| kind.gpus_per_node % degree == 0);
            if !known.contains(degree) {
                let title = format!(
                    "`parallel.tensor`: `{}` has no profile at tensor degree {degree} on {on}",
                    profile.name
                );
                let complaint =
                    complaints.mistake_at(place.span(), title, "a degree without a profile");
                complaints.push(complaint.with_help(format!("profiled: {}", listed(&known))));
            } else if !fits {
                let title = format!("`parallel.tensor`: no VM has a multiple of {degree} GPUs");
                complaints.error_at(place.span(), title, "a tensor group lies inside one VM");
            }
        }
    }
    let degrees = axes.tensor.as_ref().unwrap_or(&known);
    let mut sizes: Vec<u32> = (gpus.iter())
        .flat_map(|gpu| degrees.iter().map(move |degree| (gpu, degree)))
        .flat_map(|(gpu, degree)| profile.micro_batches(gpu, *degree))
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    if let (Some(place), Some(asked)) = (&table.micro_batch, &axes.micro_batch) {
        for size in asked.iter().filter(|size| !sizes.contains(size)) {
            let title = format!(
                "`parallel.micro_batch`: `{}` has no profile at micro-batch {size} on {on}",
                profile.name
            );
            let complaint = complaints.mistake_at(place.span(), title, "without a profile");
            complaints.push(complaint.with_help(format!("profiled: {}", listed(&sizes))));
        }
    }
    if let (Some(place), Some(asked)) = (&table.pipeline, &axes.pipeline) {
        for stages in asked.iter().filter(|stages| **stages > profile.layers) {
            let title = format!(
                "`parallel.pipeline`: {stages} stages for the {} layers of `{}`",
                profile.layers, profile.name
            );
            complaints.error_at(place.span(), title, "more stages than layers");
        }
    }
}
