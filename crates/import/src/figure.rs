//! Numbers with their significant digits.

pub const MEASURED: usize = 9;
pub const FITTED: usize = 6;

/// `value` with at most `digits` significant digits, without an exponent.
pub fn rounded(value: f64, digits: usize) -> String {
    nearest(value, digits).to_string()
}

pub fn nearest(value: f64, digits: usize) -> f64 {
    let written = format!("{value:.*e}", digits.saturating_sub(1));
    written.parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_significant_ones() {
        assert_eq!(rounded(0.45532354712486267, 9), "0.455323547");
        assert_eq!(rounded(576_525.0, 3), "577000");
        assert_eq!(rounded(4.581305e-7, 3), "0.000000458");
        assert_eq!(rounded(20.0, 9), "20");
    }
}
