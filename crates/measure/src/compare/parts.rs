//! Random halves of the configurations: a grid that looks like another.

use scavsim_base::rng::{Purpose, Stream, Streams, WorkloadKey};
use scavsim_scenario::Scenario;

/// Minimum number of configurations for a choice.
const FEWEST: usize = 3;

/// The scenario on half of the configurations of each workload and job, with another half for each `part`.
pub(crate) fn half(scenario: &Scenario, part: u32) -> Scenario {
    let mut scenario = scenario.clone();
    let streams = Streams::new(scenario.seed);
    let stream = |name: &str| {
        let purpose = Purpose::SubGrid(WorkloadKey::from_name(name));
        streams.stream(u64::from(part), purpose)
    };
    scenario
        .subject_mut()
        .keep(&mut |name, count| kept(count, &mut stream(name)));
    scenario
}

/// Half of `count` indices, in their order.
fn kept(count: usize, stream: &mut Stream) -> Vec<usize> {
    let wanted = count.div_ceil(2).max(FEWEST).min(count);
    let mut order: Vec<usize> = (0..count).collect();
    for place in 0..wanted {
        let other = place + stream.below(count - place);
        order.swap(place, other);
    }
    order.truncate(wanted);
    order.sort_unstable();
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_has_half_of_all_each_once_and_another_draw_has_others() {
        let of = |seed| kept(69, &mut Stream::seeded(seed));
        let half = of(1);
        assert_eq!(half.len(), 35);
        assert!(half.windows(2).all(|two| two[0] < two[1]) && half[34] < 69);
        assert_ne!(half, of(2));
        assert_eq!(kept(2, &mut Stream::seeded(1)), [0, 1]);
    }
}
