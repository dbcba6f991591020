//! Fractions of the base price: spot and commitments.

use super::file::PolicyFile;
use super::sustained_use::SustainedUse;

/// What is left of the base price after a spot ratio or a commitment, and the bands of sustained
/// use. A unit of use gets one discount, and none on a spot price.
pub fn read(file: &PolicyFile, is_spot: bool) -> Result<(f64, Option<SustainedUse>), String> {
    let given = [
        ("a spot price", is_spot),
        ("`spot_ratio`", file.spot_ratio.is_some()),
        ("`commitment_discount`", file.commitment_discount.is_some()),
        ("`sustained_use`", file.sustained_use.is_some()),
    ];
    let given: Vec<&str> = given.iter().filter(|g| g.1).map(|g| g.0).collect();
    if let [one, other, ..] = given[..] {
        return Err(format!(
            "{one} and {other} exclude each other: one discount per unit of use"
        ));
    }
    let factor = match (file.spot_ratio, file.commitment_discount) {
        (Some(ratio), _) => ratio.get(),
        (_, Some(discount)) => 1.0 - discount.get(),
        _ => 1.0,
    };
    let sustained =
        match &file.sustained_use {
            None => None,
            Some(bands) => {
                let bands = SustainedUse::new(bands.iter().map(|b| b.get()).collect());
                Some(bands.ok_or(
                    "`sustained_use` is empty: give the fraction of each part of the month",
                )?)
            }
        };
    Ok((factor, sustained))
}
