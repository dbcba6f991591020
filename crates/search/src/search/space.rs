//! Corners and starting points of a list of configurations.

use std::collections::HashMap;

use super::settings::Start;
use scavsim_data::space::Space;

/// The configurations that differ only in workers and batch: those of one VM type, where a space has no other axes.
#[derive(Debug, Clone)]
pub struct Group {
    /// Indices of the members, by workers, then batch.
    pub members: Vec<usize>,
    /// Indices of (fewest, smallest), (fewest, largest), (most, smallest), (most, largest) workers and batch; equal ones
    /// once.
    pub corners: Vec<usize>,
}

/// Splits a space by all axes but workers and batch, in order of first appearance.
pub fn groups(space: &Space) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut places = HashMap::new();
    let mut last = None;
    for index in 0..space.len() {
        let kind = (space.vm(index).map(|vm| &**vm), space.other(index));
        // Those of a kind mostly follow each other.
        let place = match last {
            Some((of, place)) if of == kind => place,
            _ => *places.entry(kind).or_insert(groups.len()),
        };
        last = Some((kind, place));
        match groups.get_mut(place) {
            Some(group) => group.members.push(index),
            None => groups.push(Group {
                members: vec![index],
                corners: Vec::new(),
            }),
        }
    }
    for group in &mut groups {
        let workers = |&i: &usize| space.workers(i);
        let key = |&i: &usize| (space.workers(i), space.batch(i));
        group.members.sort_by_key(key);
        // A group has at least the member that opened it.
        let (first, last) = (group.members[0], group.members[group.members.len() - 1]);
        for end in [workers(&first), workers(&last)] {
            let column = || group.members.iter().filter(|i| workers(i) == end);
            for corner in [column().next(), column().next_back()]
                .into_iter()
                .flatten()
            {
                if !group.corners.contains(corner) {
                    group.corners.push(*corner);
                }
            }
        }
    }
    groups
}

/// Where a search starts: in the first group, with the fewest workers.
pub fn start(groups: &[Group], start: Start) -> Option<usize> {
    let corners = &groups.first()?.corners;
    match start {
        Start::Smallest => corners.first().copied(),
        Start::LargestBatch => corners.get(1).or(corners.first()).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_data::configuration::Configuration;

    fn list(pairs: &[(u32, u32)]) -> Space {
        let configuration = |&(workers, batch)| Configuration {
            vm: "vm".into(),
            workers,
            batch,
        };
        Space::of_clusters(&pairs.iter().map(configuration).collect::<Vec<_>>())
    }

    #[test]
    fn corners_grow_from_the_smallest_cluster_to_the_largest() {
        let square = list(&[(8, 2), (8, 1), (12, 1), (12, 2), (16, 1), (16, 2)]);
        let groups = groups(&square);
        assert_eq!(groups[0].corners, [1, 0, 4, 5]);
        assert_eq!(start(&groups, Start::Smallest), Some(1));
        assert_eq!(start(&groups, Start::LargestBatch), Some(0));
    }

    #[test]
    fn a_row_a_column_and_a_point_have_fewer_corners() {
        assert_eq!(groups(&list(&[(8, 1), (8, 2), (8, 3)]))[0].corners, [0, 2]);
        assert_eq!(groups(&list(&[(8, 1), (16, 1)]))[0].corners, [0, 1]);
        assert_eq!(groups(&list(&[(8, 1)]))[0].corners, [0]);
    }
}
