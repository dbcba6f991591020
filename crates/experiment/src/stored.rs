//! Parts as bytes: whole numbers as LEB128, numbers by their bits, text behind its length. The reader trusts nothing.

#[derive(Debug, Default)]
pub struct Writer(pub Vec<u8>);

impl Writer {
    pub fn count(&mut self, mut count: u64) {
        while count >= 0x80 {
            self.0.push(count as u8 | 0x80);
            count >>= 7;
        }
        self.0.push(count as u8);
    }

    pub fn numbers(&mut self, numbers: &[f64]) {
        for number in numbers {
            self.0.extend_from_slice(&number.to_bits().to_le_bytes());
        }
    }

    /// Bytes behind their length.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub fn maybe<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Writer, T)) {
        self.count(u64::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }
}

/// Inverse of [`Writer`]; `None` where there is no such value.
#[derive(Debug)]
pub struct Reader<'b>(pub &'b [u8]);

impl<'b> Reader<'b> {
    fn take_bytes(&mut self, count: usize) -> Option<&'b [u8]> {
        let (first, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(first)
    }

    pub fn count(&mut self) -> Option<u64> {
        let mut count = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.take_bytes(1)?.first()?;
            let bits = u64::from(byte & 0x7f);
            count |= bits.checked_shl(shift).filter(|c| c >> shift == bits)?;
            if byte < 0x80 {
                return Some(count);
            }
        }
        None
    }

    pub fn numbers<const N: usize>(&mut self) -> Option<[f64; N]> {
        let mut numbers = [0.0; N];
        for number in &mut numbers {
            let bytes = self.take_bytes(8)?.try_into().ok()?;
            *number = f64::from_bits(u64::from_le_bytes(bytes));
        }
        Some(numbers)
    }

    pub fn list(&mut self, count: u64) -> Option<Vec<f64>> {
        let bytes = self.take_bytes(usize::try_from(count).ok()?.checked_mul(8)?)?;
        // Whole words: nothing is asked per number.
        let (words, _) = bytes.as_chunks::<8>();
        let number = |word: &[u8; 8]| f64::from_bits(u64::from_le_bytes(*word));
        Some(words.iter().map(number).collect())
    }

    pub fn bytes(&mut self) -> Option<&'b [u8]> {
        let count = usize::try_from(self.count()?).ok()?;
        self.take_bytes(count)
    }

    pub fn text(&mut self) -> Option<String> {
        Some(str::from_utf8(self.bytes()?).ok()?.to_owned())
    }

    /// An optional value: the inner `None` says that it is absent.
    pub fn maybe<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        match self.count()? {
            0 => Some(None),
            1 => read(self).map(Some),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_what_is_cut_off_is_not() {
        let counts = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        let mut to = Writer::default();
        counts.iter().for_each(|count| to.count(*count));
        to.numbers(&[0.1, -0.0, f64::NAN]);
        to.maybe(Some("é"), |to, text| to.text(text));
        to.maybe(None, |to, text: &str| to.text(text));
        let read = |bytes: &[u8]| {
            let mut from = Reader(bytes);
            for count in counts {
                assert_eq!(from.count()?, count);
            }
            let numbers = from.list(3)?;
            assert_eq!(numbers[1].to_bits(), (-0.0_f64).to_bits());
            assert!(numbers[0] == 0.1 && numbers[2].is_nan());
            assert_eq!(from.maybe(Reader::text)?.as_deref(), Some("é"));
            from.maybe(Reader::text)
        };
        assert_eq!(read(&to.0), Some(None));
        for cut in 0..to.0.len() {
            assert_eq!(read(&to.0[..cut]), None, "{cut}");
        }
        // More bits than a number has, more bytes than there are.
        assert_eq!(Reader(&[0xff; 11]).count(), None);
        assert_eq!(Reader(&[0xff, 0xff, 0xff, 0x7f, 1]).bytes(), None);
    }
}
