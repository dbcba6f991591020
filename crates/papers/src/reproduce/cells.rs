//! A row of a table as text.

use super::comparison::Comparison;

/// The figure's object, the paper's value, ours, the difference and its tolerance, kind, evidence and verdict.
pub fn cells(row: &Comparison) -> [String; 8] {
    let unit = match row.unit.as_str() {
        "1" => String::new(),
        unit => format!(" {unit}"),
    };
    // A difference of percentages is in percentage points.
    let (scale, of_difference) = match (row.relative, row.unit.as_str()) {
        (true, _) => (100.0, " %"),
        (false, "%") => (1.0, " pp"),
        (false, _) => (1.0, unit.as_str()),
    };
    let tolerance = scale * row.tolerance;
    // The name of the key is redundant with its value.
    let of = row.selector.replace("workload=", "");
    let ours = significant(row.simulated);
    let ours = match row.interval {
        Some(size) if size > 0.0 => format!("{ours} ±{}", significant(size)),
        _ => ours,
    };
    let bound = match row.bound {
        "" => String::new(),
        bound => format!("{bound} "),
    };
    let decimals = if !row.bound.is_empty() {
        2
    } else if tolerance > 0.0 {
        (1.0 - tolerance.log10().floor()).clamp(0.0, 6.0) as usize
    } else {
        0
    };
    let difference = format!("{:+.decimals$}", scale * row.difference);
    let difference = match difference.trim_start_matches(['-', '+', '0', '.']) {
        "" => difference.replace('-', "+"),
        _ => difference,
    };
    [
        of,
        format!("{bound}{}{unit}", row.paper),
        format!("{ours}{unit}"),
        format!("{difference}{of_difference}"),
        format!("±{}{of_difference}", significant(tolerance)),
        row.kind.clone(),
        row.evidence.name().to_owned(),
        row.verdict.name().to_owned(),
    ]
}

pub fn bound(row: &Comparison) -> String {
    let [_, paper, _, _, tolerance, ..] = cells(row);
    if row.tolerance > 0.0 {
        format!("{paper} {tolerance}")
    } else {
        paper
    }
}

pub fn significant(value: f64) -> String {
    let magnitude = value.abs().max(1e-3).log10().floor() as i32;
    let decimals = (3 - magnitude).clamp(0, 6) as usize;
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::significant;

    #[test]
    fn four_significant_digits() {
        for (value, text) in [
            (12.3999, "12.4"),
            (0.54781, "0.5478"),
            (139.91, "139.9"),
            (-0.00000001, "0"),
            (20.0, "20"),
            (0.00005, "0.00005"),
        ] {
            assert_eq!(significant(value), text);
        }
    }
}
