//! A pricing policy: a base price and all that changes it, before any VM type is known.

use std::collections::HashMap;

use super::base::{Base, NoPrice, Rented};
use super::billed_time::BilledTime;
use super::job_charges::JobCharges;
use super::parameter_servers::ParameterServers;
use super::reductions::Reductions;
use super::tariff::{Charge, Servers, Tariff};
use crate::cloud::Fleet;

/// A pricing policy.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Name in scenarios and results.
    pub name: String,
    /// One line for people.
    pub description: String,
    /// What is charged for.
    pub base: Base,
    /// VM type whose price is charged in place of that of the workers' own.
    pub priced_as: Option<String>,
    /// What is taken off the base price.
    pub reductions: Reductions,
    /// For how long.
    pub billed_time: BilledTime,
    /// Parameter servers on the bill.
    pub parameter_servers: Option<ParameterServers>,
    /// Egress and storage.
    pub charges: JobCharges,
}

impl Policy {
    /// What runs on VMs of the types `vms` are billed by; usage names a VM type by its index there.
    ///
    /// # Errors
    /// [`NoPrice`] for the first VM type without a price.
    pub fn tariff(&self, vms: &[Rented<'_>], fleet: &Fleet<'_>) -> Result<Tariff, NoPrice> {
        let price = match &self.base {
            Base::Sample(usd) => {
                return Ok(Tariff::per_sample(
                    usd * self.reductions.factor,
                    self.charges,
                ));
            }
            Base::Vm(price) => price,
        };
        // VM types that are charged as one share a pool and its price.
        let mut pools: HashMap<(String, Option<bool>), usize> = HashMap::new();
        let mut prices = Vec::new();
        let mut pool = |rented: Rented<'_>| {
            let vm = self.priced_as.as_deref().unwrap_or(rented.vm);
            let name = if price.is_flat() { "" } else { vm };
            let key = (name.to_owned(), rented.on_spot);
            if let Some(known) = pools.get(&key) {
                return Ok(*known);
            }
            let own = prices.len();
            let factor = match rented.on_spot {
                Some(false) => self.reductions.on_demand_factor,
                _ => self.reductions.factor,
            };
            prices.push(price.usd_per_hour(Rented { vm, ..rented }, fleet)? * factor);
            pools.insert(key, own);
            Ok(own)
        };
        let pool_of = vms
            .iter()
            .map(|rented| pool(*rented))
            .collect::<Result<Vec<usize>, NoPrice>>()?;
        let servers = match &self.parameter_servers {
            None => None,
            Some(ParameterServers { count, vm }) => {
                let own = match (vm, &pool_of[..]) {
                    (Some(vm), _) => pool(Rented::as_priced(vm))?,
                    (None, [first, rest @ ..]) if rest.iter().all(|p| p == first) => *first,
                    (None, _) => {
                        return Err(NoPrice {
                            what: "no one VM type for the billed parameter servers".to_owned(),
                            help: "name `parameter_server_vm`".to_owned(),
                        });
                    }
                };
                Some(Servers {
                    count: *count,
                    pool: own,
                })
            }
        };
        Ok(Tariff {
            charge: Charge::Vm { pool_of, prices },
            billed_time: self.billed_time,
            sustained_use: self.reductions.sustained_use.clone(),
            spot_series: self.reductions.spot_series.clone(),
            free_first_hour_if_revoked: self.reductions.free_first_hour_if_revoked,
            servers,
            charges: self.charges,
        })
    }
}
