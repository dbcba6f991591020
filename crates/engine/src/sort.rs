//! Sorts integer keys: few, or drawn from a law without gaps, like delays of workers.

/// Sorts ascending; `spare` is memory. Per key 3 ns up to 16, 8 up to 128, 5 above, where the library needs 6 to 11.
#[inline]
pub(super) fn sort(keys: &mut [u64], spare: &mut Vec<u64>) {
    match keys.len() {
        0 | 1 => {}
        2..=4 => padded(keys, by_four),
        5..=8 => padded(keys, by_eight),
        9..=16 => padded(keys, by_sixteen),
        48..=99 => by_digits::<6, 64>(keys, spare),
        100..=BY_DIGITS_TO => by_digits::<8, 256>(keys, spare),
        _ => keys.sort_unstable(),
    }
}

/// More keys would share too few digits.
const BY_DIGITS_TO: usize = 1 << 16;

/// Sorts by the two highest digits of `BITS` bits, `VALUES` = 2^`BITS`, the lower first; neighbours that differ only in lower
/// bits are sorted afterwards. If these are many, because a few keys are far from the rest, the library sorts.
fn by_digits<const BITS: u32, const VALUES: usize>(keys: &mut [u64], spare: &mut Vec<u64>) {
    let (least, most) = (keys.iter()).fold((u64::MAX, 0), |(least, most), &key| {
        (key.min(least), key.max(most))
    });
    let bits = u64::BITS - (most - least).leading_zeros();
    let shift = bits.saturating_sub(2 * BITS);
    let digits = |key: u64| {
        let both = (key - least) >> shift;
        [both, both >> BITS].map(|digit| digit as usize & (VALUES - 1))
    };
    let mut places = [[0u32; VALUES]; 2];
    for &key in keys.iter() {
        let [low, high] = digits(key);
        places[0][low] += 1;
        places[1][high] += 1;
    }
    for table in &mut places {
        let mut before = 0;
        for place in table {
            before += std::mem::replace(place, before);
        }
    }
    spare.resize(keys.len(), 0);
    let [low, high] = &mut places;
    for &key in keys.iter() {
        let place = &mut low[digits(key)[0]];
        spare[*place as usize] = key;
        *place += 1;
    }
    for &key in spare.iter() {
        let place = &mut high[digits(key)[1]];
        keys[*place as usize] = key;
        *place += 1;
    }
    let mut moves = 4 * keys.len();
    for at in 1..keys.len() {
        let mut place = at;
        while place > 0 && keys[place - 1] > keys[place] {
            keys.swap(place - 1, place);
            place -= 1;
            moves -= 1;
            if moves == 0 {
                keys.sort_unstable();
                return;
            }
        }
    }
}

/// Sorts at most `N` keys among `N`: the remaining places have the largest value.
#[inline(always)]
fn padded<const N: usize>(keys: &mut [u64], sort: impl Fn(&mut [u64; N])) {
    if let Ok(all) = <&mut [u64; N]>::try_from(&mut *keys) {
        sort(all);
        return;
    }
    let mut all = [u64::MAX; N];
    all[..keys.len()].copy_from_slice(keys);
    sort(&mut all);
    keys.copy_from_slice(&all[..keys.len()]);
}

/// Compares and exchanges pairs of places, one after another.
macro_rules! network {
    ($all:ident: $($low:literal $high:literal),*) => {
        $(($all[$low], $all[$high]) =
            ($all[$low].min($all[$high]), $all[$low].max($all[$high]));)*
    };
}

// The smallest known networks (Knuth, volume 3, 5.3.4).

#[inline(always)]
fn by_four(all: &mut [u64; 4]) {
    network!(all: 0 1, 2 3, 0 2, 1 3, 1 2);
}

#[inline(always)]
fn by_eight(all: &mut [u64; 8]) {
    network!(all: 0 1, 2 3, 4 5, 6 7, 0 2, 1 3, 4 6, 5 7, 1 2, 5 6, 0 4, 3 7, 1 5, 2 6, 1 4, 3 6, 2 4, 3 5, 3 4);
}

#[inline(always)]
fn by_sixteen(all: &mut [u64; 16]) {
    // Green's 60.
    network!(all: 0 1, 2 3, 4 5, 6 7, 8 9, 10 11, 12 13, 14 15, 0 2, 4 6, 8 10, 12 14, 1 3, 5 7, 9 11, 13 15, 0 4, 8 12, 1 5,
        9 13, 2 6, 10 14, 3 7, 11 15, 0 8, 1 9, 2 10, 3 11, 4 12, 5 13, 6 14, 7 15, 5 10, 6 9, 3 12, 13 14, 4 8, 7 11, 1 2,
        1 4, 7 13, 2 8, 11 14, 2 4, 5 6, 9 10, 11 13, 3 8, 7 12, 6 8, 10 12, 3 5, 7 9, 3 4, 5 6, 7 8, 9 10, 11 12, 6 7, 8 9);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The 0–1 principle: a network that sorts all sequences of zeros and ones sorts everything.
    #[test]
    fn the_networks_sort() {
        for length in 0..=16usize {
            for pattern in 0..1u64 << length {
                let mut keys: Vec<u64> = (0..length).map(|at| pattern >> at & 1).collect();
                sort(&mut keys, &mut Vec::new());
                assert!(keys.is_sorted(), "{length} {pattern:b}");
                assert_eq!(keys.iter().sum::<u64>(), u64::from(pattern.count_ones()));
            }
        }
    }

    proptest! {
        /// Any number of keys, spread evenly, or in a heap with a few far away.
        #[test]
        fn many_are_sorted_as_the_library_does(
            keys in prop::collection::vec(any::<u64>(), 0..400),
            narrow in 0u32..64,
            outlier in any::<bool>(),
        ) {
            let mut keys: Vec<u64> = keys.into_iter().map(|key| key >> narrow).collect();
            if outlier {
                keys.push(u64::MAX);
            }
            let mut expected = keys.clone();
            expected.sort();
            sort(&mut keys, &mut vec![7; 3]);
            prop_assert_eq!(keys, expected);
        }
    }
}
