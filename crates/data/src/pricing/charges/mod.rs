//! Charges for a job beside its VMs, one file each, with its keys; a new one is a file here and a line in [`CHARGES`].

pub mod charge;
pub mod egress;
pub mod fee;
pub mod keys;
pub mod storage;

use super::wrong_policy::WrongPolicy;
pub use charge::{Amount, Charge, Keys};

pub const CHARGES: &[&Charge] = &[&egress::CHARGE, &storage::CHARGE, &fee::CHARGE];

pub type PerCharge<T> = [T; CHARGES.len()];

pub fn read(keys: &Keys) -> Result<PerCharge<Amount>, WrongPolicy> {
    let mut amounts = PerCharge::default();
    for (amount, charge) in amounts.iter_mut().zip(CHARGES) {
        *amount = (charge.read)(keys)?;
    }
    Ok(amounts)
}

pub fn levied(amounts: &PerCharge<Amount>) -> impl Iterator<Item = &'static Charge> {
    let all = CHARGES.iter().zip(amounts);
    all.filter(|(_, amount)| **amount != Amount::default())
        .map(|(charge, _)| *charge)
}

pub fn all_but(some: &[&Charge], all: &PerCharge<f64>) -> f64 {
    let is_one = |charge: &Charge| {
        some.iter()
            .any(|one| one.declaration.name == charge.declaration.name)
    };
    let others = CHARGES
        .iter()
        .zip(all)
        .filter(|(charge, _)| !is_one(charge));
    // Without others 0, not the -0 of an empty sum.
    others.map(|(_, usd)| usd).fold(0.0, |sum, usd| sum + usd)
}

impl Charge {
    pub fn value_in<T: Copy + Default>(&self, all: &PerCharge<T>) -> T {
        let place = CHARGES
            .iter()
            .position(|charge| charge.declaration.name == self.declaration.name);
        place.map_or(T::default(), |place| all[place])
    }
}
