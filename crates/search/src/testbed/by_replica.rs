/// Something for each replica that was met: of few replicas all is kept for the next strategy, of too many only the last.
#[derive(Debug)]
pub struct ByReplica<T> {
    /// The first `used` of them hold something; the others keep their memory.
    each: Vec<(u64, T)>,
    used: usize,
    at: usize,
    most: usize,
}

impl<T: Default> ByReplica<T> {
    /// Nothing is known yet; there is room for so many replicas, at least one.
    pub fn new(most: usize) -> ByReplica<T> {
        ByReplica {
            each: vec![(0, T::default())],
            used: 0,
            at: 0,
            most: most.max(1),
        }
    }

    /// Turns to a replica. What is there of another that is not kept any more, `clear` empties.
    #[inline]
    pub fn turn_to(&mut self, replica: u64, clear: impl FnOnce(&mut T)) {
        // They come in turns: it is the last one, or the next.
        for at in [self.at, self.at + 1] {
            if at < self.used && self.each[at].0 == replica {
                self.at = at;
                return;
            }
        }
        self.search(replica, clear);
    }

    fn search(&mut self, replica: u64, clear: impl FnOnce(&mut T)) {
        let known = self.each[..self.used]
            .iter()
            .position(|(of, _)| *of == replica);
        if let Some(at) = known {
            self.at = at;
            return;
        }
        if self.used == self.most {
            (self.used, self.most) = (0, 1);
            self.each.truncate(1);
        }
        self.at = self.used;
        self.used += 1;
        match self.each.get_mut(self.at) {
            None => self.each.push((replica, T::default())),
            Some((of, known)) => {
                *of = replica;
                clear(known);
            }
        }
    }

    /// Knows of no replica any more; from now on there is room for so many, at least one.
    pub fn forget(&mut self, most: usize) {
        (self.used, self.most) = (0, most.max(1));
    }

    /// What is known of the replica that was turned to last.
    #[inline]
    pub fn current(&self) -> &T {
        &self.each[self.at].1
    }

    #[inline]
    pub fn here_mut(&mut self) -> &mut T {
        &mut self.each[self.at].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found of each replica when it is met, which then notes that it was.
    fn values_found(room: usize, replicas: impl IntoIterator<Item = u64>) -> Vec<Vec<u64>> {
        let mut known: ByReplica<Vec<u64>> = ByReplica::new(room);
        let meet = |replica: u64| {
            known.turn_to(replica, Vec::clear);
            let found = known.current().clone();
            known.here_mut().push(replica);
            found
        };
        replicas.into_iter().map(meet).collect()
    }

    #[test]
    fn of_few_replicas_all_is_kept_whatever_their_order() {
        let found = values_found(3, [5, 6, 8, 5, 8, 8, 6]);
        let expected: [&[u64]; 7] = [&[], &[], &[], &[5], &[8], &[8, 8], &[6]];
        assert_eq!(found, expected);
    }

    #[test]
    fn of_many_replicas_the_last_is_kept_and_never_what_another_left() {
        let found = values_found(3, [0, 1, 2, 3, 3, 0, 1, 1, 3]);
        let expected: [&[u64]; 9] = [&[], &[], &[], &[], &[3], &[], &[], &[1], &[]];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_forgotten_is_met_anew() {
        let mut known: ByReplica<Vec<u64>> = ByReplica::new(2);
        for replica in [7, 9] {
            known.turn_to(replica, Vec::clear);
            known.here_mut().push(replica);
        }
        known.forget(2);
        for replica in [9, 7] {
            known.turn_to(replica, Vec::clear);
            assert!(known.current().is_empty());
        }
    }
}
